"""Keyboard focus that stays where it was, as nearly as that is possible."""

from PySide6.QtWidgets import QWidget


def set_visible(widget: QWidget, is_visible: bool, focus_to: QWidget) -> None:
    """Shows or hides a widget. Focus that was in it goes to another one: else Qt chooses the next of the window."""
    focused = widget.window().focusWidget()  # also of a window that is not active now
    if not is_visible and focused is not None and (focused is widget or widget.isAncestorOf(focused)):
        focus_to.setFocus()
    widget.setVisible(is_visible)
