"""Places things side by side, in lines that wrap: rectangles that a widget paints, or widgets in a layout."""

from collections.abc import Iterable

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLayout, QWidget
from shiboken6 import isValid


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


class FlowLayout(QHBoxLayout):
    """Every widget gets the size of its hint, in the middle of its line; lines are added before one is squeezed.

    A box layout whose widgets are placed in another way: its items are Qt's from beginning to end. Those of a layout
    written in Python are never freed, or, made by Python, freed twice.
    """

    def __init__(self, spacing: int, parent: QWidget | None = None) -> None:
        super().__init__()
        self._widgets: list[QWidget] = []
        self._sizes: list[QSize] | None = None
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        if parent is not None:
            parent.setLayout(self)

    def addWidget(self, widget: QWidget) -> None:  # type: ignore[override]  # a line that wraps has no stretch
        """Adds a widget at the end."""
        self._widgets.append(widget)
        super().addWidget(widget)

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
        QLayout.setGeometry(self, rect)  # not the box layout's, which would place the widgets too
        places = self._flow(rect.width())
        heights: dict[int, int] = {}
        for place in places:
            heights[place.top()] = max(place.height(), heights.get(place.top(), 0))
        for widget, place in zip(self._shown(), places, strict=True):
            lower = (heights[place.top()] - place.height()) // 2
            widget.setGeometry(place.translated(rect.left(), rect.top() + lower))

    def sizeHint(self) -> QSize:
        """One line."""
        sizes = self._sizes_shown()
        width = sum(size.width() for size in sizes) + self.spacing() * max(len(sizes) - 1, 0)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        """The widest widget alone on its line."""
        sizes = self._sizes_shown()
        return QSize(max((size.width() for size in sizes), default=0), max((s.height() for s in sizes), default=0))

    def _shown(self) -> list[QWidget]:
        self._widgets = [each for each in self._widgets if isValid(each) and self.indexOf(each) >= 0]
        return [widget for widget in self._widgets if not widget.isHidden()]

    def _flow(self, width: int) -> list[QRect]:
        spacing = self.spacing()
        return flow(self._sizes_shown(), width, spacing=spacing, line_spacing=spacing)

    def _sizes_shown(self) -> list[QSize]:
        """Asked for many times while a page is laid out; known until something in it changes."""
        if self._sizes is None:
            self._sizes = [_size(widget) for widget in self._shown()]
        return self._sizes


def _size(widget: QWidget) -> QSize:
    """What it asks for, within its limits, as for any layout."""
    asked = widget.sizeHint().expandedTo(widget.minimumSizeHint())
    return asked.boundedTo(widget.maximumSize()).expandedTo(widget.minimumSize())
