"""Layouts of widgets: rows and columns in one expression, lines that wrap, stacked pages.

Lengths in rows and columns are at 100% and follow the scale of the interface.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLayout,
    QScrollArea,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from ..theme import scaled, scales


@dataclass(frozen=True)
class Space:
    """Empty space of this many pixels, between the parts of a row or column."""

    pixels: int


Part = (
    QWidget
    | QLayout
    | Space
    | int
    | tuple[QWidget | QLayout, int]
    | tuple[QWidget, int, Qt.AlignmentFlag]
)
"""Part of a row or column: a widget or layout with stretch and alignment, or a number.

A number is empty space that stretches by it.
"""
Margins = tuple[int, int, int, int]
NO_MARGINS: Margins = (0, 0, 0, 0)
Box = TypeVar("Box", bound=QBoxLayout)


def row_of(
    *parts: Part,
    spacing: int | None = None,
    margins: Margins = NO_MARGINS,
    within: QWidget | None = None,
) -> QHBoxLayout:
    """A row of these parts, from left to right.

    Args:
        parts: see `Part`.
        spacing: pixels between them; None for that of the style.
        margins: pixels left, above, right and below.
        within: the widget that is laid out; None for a layout inside another one.
    """
    return _filled(
        QHBoxLayout() if within is None else QHBoxLayout(within), parts, spacing, margins
    )


def column_of(
    *parts: Part,
    spacing: int | None = None,
    margins: Margins = NO_MARGINS,
    within: QWidget | None = None,
) -> QVBoxLayout:
    """A column of these parts, from top to bottom; see `row_of`."""
    return _filled(
        QVBoxLayout() if within is None else QVBoxLayout(within), parts, spacing, margins
    )


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
    """Adds parts to an existing row or column."""
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
    """A place for each size, from left to right in lines that wrap; wide ones have their own line.

    Args:
        sizes: in pixels, like all that follows.
        available_width: of a line.
        spacing: between two places of a line.
        line_spacing: between two lines.
        inset: the beginning of each line.
    """
    places = []
    x = inset
    y = 0
    line_height = 0
    for size in sizes:
        if x > inset and x + size.width() > available_width:
            x = inset
            y = y + line_height + line_spacing
            line_height = 0
        places.append(QRect(x, y, size.width(), size.height()))
        x += size.width() + spacing
        line_height = max(line_height, size.height())
    return places


class FlowLayout(QHBoxLayout):
    """Gives each widget its size hint in lines that wrap: more lines come before squeezing.

    Each is in the middle of its line. A hidden one keeps its place if its size policy says so.

    A box layout whose widgets are placed in another way: its items are Qt's from beginning to end.
    Those of a layout written in Python are never freed, or, made by Python, freed twice.
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
        self._widgets.append(widget)
        super().addWidget(widget)

    def invalidate(self) -> None:
        """Drops the cached sizes."""
        self._sizes = None
        super().invalidate()

    def expandingDirections(self) -> Qt.Orientation:
        """Takes no more than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """True: a narrower layout is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        return max((box.bottom() + 1 for box in self._flow(width)), default=0)

    def minimumHeightForWidth(self, width: int) -> int:
        """The minimum height of all lines: the box layout's may be that of a single one."""
        return self.heightForWidth(width)

    def setGeometry(self, rect: QRect) -> None:
        QLayout.setGeometry(self, rect)  # not the box layout's, which would place the widgets too
        places = self._flow(rect.width())
        heights: dict[int, int] = {}
        for box in places:
            heights[box.top()] = max(box.height(), heights.get(box.top(), 0))
        for widget, box in zip(self._shown(), places, strict=True):
            lower = (heights[box.top()] - box.height()) // 2
            widget.setGeometry(box.translated(rect.left(), rect.top() + lower))

    def sizeHint(self) -> QSize:
        sizes = self._sizes_shown()
        width = sum(size.width() for size in sizes) + self.spacing() * max(len(sizes) - 1, 0)
        return QSize(width, self.minimumSize().height())

    def minimumSize(self) -> QSize:
        """The widest widget alone on its line."""
        return reduce(QSize.expandedTo, self._sizes_shown(), QSize(0, 0))

    def _shown(self) -> list[QWidget]:
        self._widgets = [
            widget for widget in self._widgets if isValid(widget) and self.indexOf(widget) >= 0
        ]
        return [
            widget
            for widget in self._widgets
            if not widget.isHidden() or widget.sizePolicy().retainSizeWhenHidden()
        ]

    def _flow(self, width: int) -> list[QRect]:
        spacing = self.spacing()
        return flow(self._sizes_shown(), width, spacing=spacing, line_spacing=spacing)

    def _sizes_shown(self) -> list[QSize]:
        """The sizes of the visible widgets, cached because a layout reads them many times."""
        if self._sizes is None:
            self._sizes = [_size(widget) for widget in self._shown()]
        return self._sizes


def wrapping_row(
    widgets: Iterable[QWidget], *, spacing: int, within: QWidget | None = None
) -> QWidget:
    """A widget, a new one or `within`, that shows these widgets in lines that wrap."""
    row = within or QWidget()
    flow_layout = FlowLayout(spacing, row)
    for widget in widgets:
        flow_layout.addWidget(widget)
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    row.setSizePolicy(policy)
    return row


def _size(widget: QWidget) -> QSize:
    """The size hint of a widget within its limits."""
    asked = widget.sizeHint().expandedTo(widget.minimumSizeHint())
    return asked.boundedTo(widget.maximumSize()).expandedTo(widget.minimumSize())


class _CurrentPageLayout(QStackedLayout):
    """Uses the current page's size alone: hidden ones may be laid out for another width or scale.

    It reads the widget, not the layout's item: Python's wrapper of an item can outlive the item,
    and then refers to a widget that Qt creates at the same address.
    """

    def hasHeightForWidth(self) -> bool:
        page = self.currentWidget()
        return page is not None and page.hasHeightForWidth()

    def heightForWidth(self, width: int) -> int:
        page = self.currentWidget()
        return page.heightForWidth(width) if page is not None else -1

    def minimumSize(self) -> QSize:
        page = self.currentWidget()
        return (
            page.minimumSizeHint().expandedTo(page.minimumSize()) if page is not None else QSize()
        )

    def sizeHint(self) -> QSize:
        page = self.currentWidget()
        return page.sizeHint().expandedTo(self.minimumSize()) if page is not None else QSize()


class PageStack(QWidget):
    """Pages of which one is shown."""

    def __init__(self) -> None:
        super().__init__()
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


def keep_room(widget: QWidget, *, is_kept: bool = True) -> None:
    """A hidden widget leaves its room empty, so that others stay in place; or gives it to them."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(is_kept)
    widget.setSizePolicy(policy)


def replace_widgets(layout: QLayout, old: Iterable[QWidget], new: Iterable[QWidget]) -> None:
    """Deletes the old widgets of a layout, and adds new ones, which are visible at once."""
    for widget in old:
        layout.removeWidget(widget)
        widget.hide()
        widget.deleteLater()
    for widget in new:
        layout.addWidget(widget)
        widget.setVisible(True)  # the layout would show it only later, and counts no hidden one


def take_out(widget: QWidget) -> None:
    """Takes a widget out of its layout, before it is put into another one.

    Qt would do that itself, but Python's wrapper of the layout's item would stay, and later refer
    to a widget that Qt creates at the same address.
    """
    parent = widget.parentWidget()
    if parent is not None and (outer := parent.layout()) is not None:
        for layout in (outer, *outer.findChildren(QLayout)):
            if layout.indexOf(widget) >= 0:
                layout.removeWidget(widget)


def set_visible(widget: QWidget, is_visible: bool, focus_to: QWidget) -> None:
    """Shows or hides a widget.

    Focus that was in it goes to another one: else Qt chooses the next of the window.
    """
    focused = widget.window().focusWidget()  # also of a window that is not active now
    if (
        not is_visible
        and focused is not None
        and (focused is widget or widget.isAncestorOf(focused))
    ):
        focus_to.setFocus()
    widget.setVisible(is_visible)


class GeometryWatch(QObject):
    """An event filter that reports moves and resizes of a widget."""

    def __init__(self, on_change: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._on_change = on_change

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            self._on_change()
        return super().eventFilter(watched, event)


class ScrollArea(QScrollArea):
    """Has no frame, and can keep a widget in sight while the layouts around it change."""

    def __init__(self, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kept: QWidget | None = None
        self._kept_margin = 0
        self._watch = GeometryWatch(self._scroll_to_kept, self)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        content.setAutoFillBackground(False)
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._scroll_to_kept)
        bar.actionTriggered.connect(self._on_user_scrolls)

    def keep_in_sight(self, widget: QWidget | None, margin: int = 0) -> None:
        """Scrolls to a widget now and whenever it is moved or resized, until the user scrolls.

        A widget whose content has just changed gets its new geometry only later, and after how many
        events depends on the layouts around it.

        Args:
            widget: in the layout of the content; None forgets the kept one.
            margin: pixels above and below it that stay visible; of a widget that is higher than the
                area, only above.
        """
        if self._kept is not None:
            self._kept.removeEventFilter(self._watch)
        self._kept, self._kept_margin = widget, margin
        if widget is not None:
            widget.installEventFilter(self._watch)
            self._scroll_to_kept()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keeps the widget in sight."""
        super().resizeEvent(event)
        self._scroll_to_kept()

    def hideEvent(self, event: QHideEvent) -> None:
        """Forgets the kept widget."""
        super().hideEvent(event)
        if not event.spontaneous():
            self.keep_in_sight(None)

    def focusNextPrevChild(self, is_next: bool) -> bool:
        """The keyboard focus goes elsewhere, and the area scrolls there."""
        self.keep_in_sight(None)
        return super().focusNextPrevChild(is_next)

    def _on_user_scrolls(self) -> None:
        self.keep_in_sight(None)

    def _scroll_to_kept(self) -> None:
        if self._kept is None:
            return
        self.ensureWidgetVisible(self._kept, 0, self._kept_margin)
        # Qt shows its middle
        if self._kept.height() + 2 * self._kept_margin > self.viewport().height():
            top = (
                self._kept.mapTo(self.viewport(), QPoint(0, 0)).y()
                + self.verticalScrollBar().value()
            )
            self.verticalScrollBar().setValue(top - self._kept_margin)


def keep_in_sight(widget: QWidget, margin: int = 0) -> None:
    """Every scroll area around a widget keeps it in sight; see `ScrollArea.keep_in_sight`."""
    around = widget.parentWidget()
    while around is not None:
        if isinstance(around, ScrollArea):
            around.keep_in_sight(widget, margin)
        around = around.parentWidget()


class VerticalScrollArea(ScrollArea):
    """Shows a widget as wide as itself, with a transparent background.

    Args:
        content: the widget.
        takes_keys: whether it is scrolled with the keyboard, too; else keys are left to the page.
    """

    def __init__(
        self, content: QWidget, parent: QWidget | None = None, *, takes_keys: bool = False
    ) -> None:
        super().__init__(content, parent)
        self._takes_keys = takes_keys
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if takes_keys else Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See `takes_keys`. If all of it is in sight, the area around it scrolls instead."""
        if not self._takes_keys:
            event.ignore()
            return
        around = area_around(self)
        if self.verticalScrollBar().maximum() > 0 or around is None:
            super().keyPressEvent(event)
        else:
            around.scroll_by_key(event)


def area_around(widget: QWidget) -> "WindowScrollArea | None":
    """The scroll area of the window that a widget is in; None if it is in none."""
    around = widget.parentWidget()
    while around is not None and not isinstance(around, WindowScrollArea):
        around = around.parentWidget()
    return around


class ContentHeightScrollArea(VerticalScrollArea):
    """As high as its content needs at this width, up to a greatest height; then it scrolls.

    Args:
        content: has a height for its width.
        max_height: the greatest height in pixels; called at each `fit`.
    """

    def __init__(self, content: QWidget, max_height: Callable[[], int]) -> None:
        self._content, self._max_height = content, max_height
        super().__init__(content)

    def fit(self) -> None:
        """Takes the height of the content now; changes of it are followed later, on their own."""
        needed, most = self.content_height(), self._max_height()
        # once there, a scroll bar that Qt shows as needed stays where only its own width makes it
        # needed
        policies = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policies.ScrollBarAsNeeded if needed > most else policies.ScrollBarAlwaysOff
        )
        self.setFixedHeight(max(1, min(needed, most)))

    def content_height(self) -> int:
        """The height of the content at this width, but no less than its minimum height."""
        return max(self._content.heightForWidth(self.width()), self._content.minimumHeight())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.fit()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def showEvent(self, event: QShowEvent) -> None:
        """The style is known now."""
        super().showEvent(event)
        self.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.fit()


class LinesScrollArea(ContentHeightScrollArea):
    """Shows the first lines of its content; the others scroll.

    Args:
        content: has a height for its width.
        line_height: the distance from one line to the next, in pixels.
        max_lines: the greatest number of lines in sight.
        spacing: the part of this distance that lies between two lines.
    """

    def __init__(
        self, content: QWidget, line_height: Callable[[], int], max_lines: int, spacing: int = 0
    ) -> None:
        self._max_lines = max_lines
        super().__init__(content, lambda: self._max_lines * line_height() - spacing)

    def set_max_lines(self, max_lines: int) -> None:
        """Sets the greatest number of lines in sight."""
        if max_lines != self._max_lines:
            self._max_lines = max_lines
            self.fit()


class WindowScrollArea(ScrollArea):
    """Shows the whole content of a window, scrolling if it cannot be as small as the window.

    In a window that is narrower than its smallest width the content becomes narrower: its parts are
    in one column then, and it scrolls up and down.

    Args:
        content: the widget; as high as its parts need, at least.
        size: the smallest at 100%.
        narrow_size: the smallest at 100% in a narrow window.
    """

    def __init__(
        self, content: QWidget, size: tuple[int, int], narrow_size: tuple[int, int]
    ) -> None:
        self._content, self._least, self._least_if_narrow = content, size, narrow_size
        super().__init__(content)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._set_least()
        super().resizeEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follows the height of the content."""
        if watched is self._content and event.type() == QEvent.Type.LayoutRequest:
            self._set_least()
        return super().eventFilter(watched, event)

    def _set_least(self) -> None:
        is_narrow = self.width() < scaled(self._least[0])
        width, height = map(scaled, self._least_if_narrow if is_narrow else self._least)
        layout = self._content.layout()
        if layout is not None:  # a fixed size overrides that of the layout
            height = max(height, layout.totalMinimumSize().height())
        self._content.setMinimumSize(width, height)

    def scroll_by_key(self, event: QKeyEvent) -> None:
        """Scrolls as a page does that has the keyboard; other keys are left."""
        super().keyPressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leaves keys to the window: arrows walk through heads."""
        event.ignore()
