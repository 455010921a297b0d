"""Buttons that take the place of others, and ignore the clicks that were meant for those."""

import time

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

REACTION_MS = 200
"""From seeing another button to not pressing it, for a person who was about to click."""


def guard_ms() -> int:
    """How long a button that appeared by itself ignores the mouse."""
    return QApplication.doubleClickInterval() + REACTION_MS


class LateClickFilter(QObject):
    """An event filter: a click that was meant for the button before does nothing.

    For buttons that replace another one when the work in the background has come to an end. Who has
    not yet seen the change clicks on what is there by then; so a button ignores the mouse for a
    moment after it appeared. Of double clicks takes care `clicks.part`.

    Args:
        page: holds the buttons. They take clicks at once when all of it is shown.
    """

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self._page = page
        self._appeared: dict[QObject, float] = {}
        self._is_answering = False
        page.installEventFilter(self)

    def watch_buttons_in(self, part: QWidget) -> None:
        """Watches all buttons that the part has now, except those that stay and are toggled."""
        for button in part.findChildren(QAbstractButton):
            if not button.isCheckable():
                button.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt sends a double click in place of a second press."""
        kind = event.type()
        if watched is self._page:
            if kind == QEvent.Type.Show:  # comes after those of the buttons
                self._appeared.clear()
        elif kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
            return self._has_just_appeared(watched)
        elif kind == QEvent.Type.MouseButtonRelease:
            # what a click shows at once is expected
            self._is_answering = True
            QTimer.singleShot(0, self, self._end_answer)
        elif kind == QEvent.Type.Show and not self._is_answering:
            self._appeared[watched] = time.monotonic()
        return super().eventFilter(watched, event)

    def _end_answer(self) -> None:
        self._is_answering = False

    def _has_just_appeared(self, button: QObject) -> bool:
        appeared = self._appeared.get(button)
        return appeared is not None and 1000 * (time.monotonic() - appeared) < guard_ms()
