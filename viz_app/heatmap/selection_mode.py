"""How the modifier keys change the effect of a click."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent

from augenmerk.viz_app.state.picked_tokens import SelectionMode


def selection_mode_of(event: QMouseEvent) -> SelectionMode:
    """Ctrl adds one item to the selection, Shift all items up to the clicked one."""
    if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
        return "also"
    return "through" if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else "alone"
