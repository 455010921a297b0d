"""Buttons that the second click of a double click leaves alone."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QAbstractButton, QWidget


class SingleClick(QObject):
    """An event filter: the second click of a double click does nothing.

    For buttons that another one replaces when they are pressed. The second click would press that
    one, since Qt sends it to whatever is below the pointer by then.
    """

    def watch_buttons_in(self, part: QWidget) -> None:
        """Watches all buttons that the part has now, except those that stay and are toggled."""
        for button in part.findChildren(QAbstractButton):
            if not button.isCheckable():
                button.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt presses a button by this event, in place of a second press."""
        is_second = event.type() == QEvent.Type.MouseButtonDblClick
        return is_second or super().eventFilter(watched, event)
