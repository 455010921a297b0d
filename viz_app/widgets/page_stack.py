"""Pages of which one is shown; only that one says how large the stack must be."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QStackedLayout, QWidget


class _CurrentPageLayout(QStackedLayout):
    """Asks the current page alone: what is hidden may be laid out for another width or scale until it is shown.

    It asks the widget, not the layout's item: Python's wrapper of an item can outlive the item, and then stands for a
    widget that Qt creates at the same address.
    """

    def hasHeightForWidth(self) -> bool:
        """Whether the current page has."""
        page = self.currentWidget()
        return page is not None and page.hasHeightForWidth()

    def heightForWidth(self, width: int) -> int:
        """Of the current page."""
        page = self.currentWidget()
        return page.heightForWidth(width) if page is not None else -1

    def minimumSize(self) -> QSize:
        """Of the current page."""
        page = self.currentWidget()
        return page.minimumSizeHint().expandedTo(page.minimumSize()) if page is not None else QSize()

    def sizeHint(self) -> QSize:
        """Of the current page."""
        page = self.currentWidget()
        return page.sizeHint().expandedTo(self.minimumSize()) if page is not None else QSize()


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
