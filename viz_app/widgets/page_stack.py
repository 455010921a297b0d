"""Pages of which one is shown; only that one says how large the stack must be."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLayoutItem, QStackedLayout, QWidget


class _CurrentPageLayout(QStackedLayout):
    """Asks the current page alone: what is hidden may be laid out for another width or scale until it is shown."""

    def hasHeightForWidth(self) -> bool:
        """Whether the current page has."""
        item = self._current
        return item is not None and item.hasHeightForWidth()

    def heightForWidth(self, width: int) -> int:
        """Of the current page."""
        item = self._current
        return item.heightForWidth(width) if item is not None else -1

    def minimumSize(self) -> QSize:
        """Of the current page."""
        item = self._current
        return item.minimumSize() if item is not None else QSize()

    def sizeHint(self) -> QSize:
        """Of the current page."""
        item = self._current
        return item.sizeHint() if item is not None else QSize()

    @property
    def _current(self) -> QLayoutItem | None:
        return self.itemAt(self.currentIndex()) if self.currentIndex() >= 0 else None


class PageStack(QWidget):
    """Pages of which one is shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stack = _CurrentPageLayout(self)

    def addWidget(self, page: QWidget) -> None:
        """One more page; the first is shown."""
        self._stack.addWidget(page)

    def setCurrentWidget(self, page: QWidget) -> None:
        """Shows a page."""
        self._stack.setCurrentWidget(page)
        self._stack.invalidate()
        self.updateGeometry()

    def currentWidget(self) -> QWidget | None:
        """The page that is shown; None while there is none."""
        return self._stack.currentWidget()
