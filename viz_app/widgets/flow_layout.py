"""Places things side by side, in lines that wrap: rectangles that a widget paints, or widgets in a layout."""

from collections.abc import Iterable

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


def flow(
    sizes: Iterable[QSize], available_width: int, *, spacing: int, line_spacing: int, inset: int = 0
) -> list[QRect]:
    """A place for each size, from left to right in lines that wrap; one wider than a line has a line of its own.

    Args:
        sizes: in pixels, like all that follows.
        available_width: of a line.
        spacing: between two places of a line.
        line_spacing: between two lines.
        inset: where each line begins.
    """
    places, x, y, line_height = [], inset, 0, 0
    for size in sizes:
        if x > inset and x + size.width() > available_width:
            x, y, line_height = inset, y + line_height + line_spacing, 0
        places.append(QRect(x, y, size.width(), size.height()))
        x += size.width() + spacing
        line_height = max(line_height, size.height())
    return places


class FlowLayout(QLayout):
    """Every widget gets the size of its hint, in the middle of its line; lines are added before one is squeezed.

    Its items are made by Qt. Those of Python would be freed twice: Qt deletes the item of a widget that is deleted.
    """

    def __init__(self, spacing: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._sizes: list[QSize] | None = None
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        """Adds an item at the end."""
        self._items.append(item)

    def count(self) -> int:
        """Number of widgets."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """A widget's item; None beyond the last."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Removes an item; None beyond the last."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def invalidate(self) -> None:
        """Something in it has another size."""
        self._sizes = None
        super().invalidate()

    def expandingDirections(self) -> Qt.Orientation:
        """Takes no more than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """The narrower, the higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Of all lines."""
        return max((place.bottom() + 1 for place in self._flow(width)), default=0)

    def setGeometry(self, rect: QRect) -> None:
        """Puts every widget in its place."""
        super().setGeometry(rect)
        places = self._flow(rect.width())
        heights: dict[int, int] = {}
        for place in places:
            heights[place.top()] = max(place.height(), heights.get(place.top(), 0))
        for item, place in zip(self._shown(), places, strict=True):
            lower = (heights[place.top()] - place.height()) // 2
            item.setGeometry(place.translated(rect.left(), rect.top() + lower))

    def sizeHint(self) -> QSize:
        """One line."""
        sizes = self._sizes_shown()
        width = sum(size.width() for size in sizes) + self.spacing() * max(len(sizes) - 1, 0)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        """The widest widget alone on its line."""
        sizes = self._sizes_shown()
        return QSize(max((size.width() for size in sizes), default=0), max((s.height() for s in sizes), default=0))

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _flow(self, width: int) -> list[QRect]:
        spacing = self.spacing()
        return flow(self._sizes_shown(), width, spacing=spacing, line_spacing=spacing)

    def _sizes_shown(self) -> list[QSize]:
        """Asked for many times while a page is laid out; known until something in it changes."""
        if self._sizes is None:
            self._sizes = [item.sizeHint() for item in self._shown()]
        return self._sizes
