"""Layouts of widgets: rows and columns, each in one expression, lines that wrap, and pages of which one is shown.

Lengths in rows and columns are at 100% and follow the scale of the interface.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget
from shiboken6 import isValid

from augenmerk.viz_app.theme import scales


@dataclass(frozen=True)
class Space:
    """Empty space of this many pixels, between the parts of a row or column."""

    pixels: int


Part = QWidget | QLayout | Space | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]
"""Of a row or column: a widget or layout, with its stretch and alignment if they matter; a number is empty space that
stretches by it."""
Margins = tuple[int, int, int, int]
NO_MARGINS: Margins = (0, 0, 0, 0)
Box = TypeVar("Box", bound=QBoxLayout)


def row_of(
    *parts: Part, spacing: int | None = None, margins: Margins = NO_MARGINS, within: QWidget | None = None
) -> QHBoxLayout:
    """A row of these parts, from left to right.

    Args:
        parts: see `Part`.
        spacing: pixels between them; None for that of the style.
        margins: pixels left, above, right and below.
        within: the widget that is laid out; None for a layout inside another one.
    """
    return _filled(QHBoxLayout() if within is None else QHBoxLayout(within), parts, spacing, margins)


def column_of(
    *parts: Part, spacing: int | None = None, margins: Margins = NO_MARGINS, within: QWidget | None = None
) -> QVBoxLayout:
    """A column of these parts, from top to bottom; see `row_of`."""
    return _filled(QVBoxLayout() if within is None else QVBoxLayout(within), parts, spacing, margins)


def _filled(layout: Box, parts: tuple[Part, ...], spacing: int | None, margins: Margins) -> Box:
    if margins == NO_MARGINS:
        layout.setContentsMargins(*margins)
    else:
        scales(layout.setContentsMargins, *margins)
    if spacing is not None:
        scales(layout.setSpacing, spacing)
    add_parts(layout, *parts)
    return layout


def add_parts(layout: QBoxLayout, *parts: Part) -> None:
    """Adds parts to a row or column that is there already."""
    for part in parts:
        if isinstance(part, int):
            layout.addStretch(part)
        elif isinstance(part, Space):
            layout.addSpacing(part.pixels)
        elif isinstance(part, QLayout):
            layout.addLayout(part)
        elif isinstance(part, QWidget):
            layout.addWidget(part)
        elif isinstance(part[0], QLayout):
            layout.addLayout(part[0], part[1])
        else:
            layout.addWidget(part[0], part[1], *part[2:])


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


def wrapping_row(widgets: Iterable[QWidget], *, spacing: int) -> QWidget:
    """A widget with these widgets in lines that wrap, as high as its lines are at its width."""
    row = QWidget()
    flow_layout = FlowLayout(spacing, row)
    for widget in widgets:
        flow_layout.addWidget(widget)
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    row.setSizePolicy(policy)
    return row


def _size(widget: QWidget) -> QSize:
    """What it asks for, within its limits, as for any layout."""
    asked = widget.sizeHint().expandedTo(widget.minimumSizeHint())
    return asked.boundedTo(widget.maximumSize()).expandedTo(widget.minimumSize())


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
