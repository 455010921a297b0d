"""The window as it was before one of its views filled the screen."""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QMainWindow, QSplitter, QWidget
from shiboken6 import isValid

from ...widgets.layouts import PageStack


class WindowBefore:
    """The current page of a window, its state, focus and splitters, which `restore` brings back."""

    def __init__(self, window: QMainWindow, pages: PageStack) -> None:
        self._window, self._pages = window, pages
        page = pages.currentWidget()
        assert page is not None
        self._page, self._focus, self._state = page, window.focusWidget(), window.windowState()
        self._splitters = [
            (splitter, splitter.saveState()) for splitter in page.findChildren(QSplitter)
        ]

    def replace_by(self, page: QWidget) -> None:
        """Shows another page, on the full screen."""
        self._pages.setCurrentWidget(page)
        self._window.setWindowState(self._state | Qt.WindowState.WindowFullScreen)
        self._window.activateWindow()

    def restore(self) -> None:
        """Shows the window as it was."""
        self._window.setWindowState(self._state)
        self._pages.setCurrentWidget(self._page)  # last: then it is laid out once
        QTimer.singleShot(0, self._window, self._restore_splitters)
        if self._focus is not None and self._focus.isVisible():
            self._focus.setFocus()

    def _restore_splitters(self) -> None:
        """Larger letters have moved them."""
        for splitter, state in self._splitters:
            if isValid(splitter):
                splitter.restoreState(state)
