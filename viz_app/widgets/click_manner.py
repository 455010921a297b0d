"""How the modifier keys change the effect of a click."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent

from viz_app.state.picking import Manner


def manner_of(event: QMouseEvent) -> Manner:
    """Ctrl adds one item to the selection, Shift all items up to the clicked one."""
    if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
        return "also"
    return "through" if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else "alone"
