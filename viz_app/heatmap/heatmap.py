"""One attention map, large: labels, colour bar, cross-hair and the value under the mouse, drawn
natively.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from math import ceil, cos, degrees, radians, sin, tan
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QImage,
    QLinearGradient,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QScrollBar, QSizePolicy, QWidget

from ..state import map_text
from ..state.color_scale import ColorTable
from ..state.experiment_state import ExperimentState
from ..state.map_drawings import DrawingName
from ..state.map_source import Cache
from ..state.map_view import (
    MARKS,
    Band,
    MapView,
    Marks,
    Pair,
    Place,
    SelectionMode,
    token_shift_of_queries,
)
from ..state.map_view_settings import FIT, Zoom, on_redraw, zoomed
from ..state.sentence_text import visible
from ..theme import Theme, current_theme
from ..widgets.canvas import Canvas
from .drawing import (
    Box,
    Drawing,
    large_map,
    mark_shapes,
    marked_labels,
)
from .map_image import draw_map, hatch, map_image, paint_shapes


class PaintedMap(Protocol):
    """A map that paints itself into its size."""

    size: QSize

    def paint(self, painter: QPainter) -> None:
        """Paints it."""


class LargeMap(Canvas):
    """Shows the large map of an `ExperimentState` in one way to draw it; subclasses override what
    they need.

    Attributes:
        picture: the name of that way in `DRAWINGS`.
    """

    picture: ClassVar[DrawingName]

    def __init__(self, state: ExperimentState) -> None:
        super().__init__()
        self._state = state
        self._view: MapView | None = None
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        state.result_changed.connect(self.show_map)
        state.measuring.changed.connect(self.show_map)
        on_redraw(state.settings, ("maps", "large map"), self.show_map)
        state.selection.events.head.connect(self.show_map, max_args=0)
        for mark in MARKS:
            getattr(state.selection.events, mark).connect(self.show_marks, max_args=0)

    def show_marks(self) -> None:
        """Draws other marks; subclasses first update the parts that depend on them."""
        self.update()

    def pick(self, band: Band, mode: SelectionMode) -> None:
        """A click on a row, or on a column."""
        selection = self._state.selection
        label_mode = self._state.settings.label_mode
        if self._view is not None and self._view.is_query(band):
            shift = token_shift_of_queries(selection.head.kind, label_mode)
            selection.pick_queries(self._view.queries_of(band), shift, mode)
        elif self._view is not None:
            selection.pick_keys(self._view.keys_of(band))

    def show_map(self) -> None:
        """Shows the current map, or nothing while the settings ask for another drawing."""
        had_view = self._view is not None
        is_shown = self._state.settings.known_picture == self.picture
        view = self._state.maps.view() if is_shown else None
        if self._view is not None and (view is None or _labels(view) != _labels(self._view)):
            # the mouse is over a place of the previous drawing
            self._state.selection.clear_hovered()
        self._view = view
        if is_shown or had_view:
            self.rebuild()

    def rebuild(self) -> None:
        """Draws another map."""
        raise NotImplementedError

    def framed(self) -> QWidget:
        """The map, or a widget around it that scrolls."""
        return self

    def make_controls(self) -> QWidget | None:
        """Makes what is shown below the map while it is drawn in this way; None for nothing."""
        return None

    def queries_at(self, point: QPointF) -> tuple[int, ...]:
        """The queries that a point stands for; empty if there is none."""
        return ()

    def pair_at(self, point: QPointF) -> Pair | None:
        """The query and the key of the value at a point; None if there is none."""
        return None

    @classmethod
    def exported(cls, state: ExperimentState, theme: Theme, view: MapView) -> PaintedMap | None:
        """The map for a file; None for a heatmap."""
        return None


def selection_mode_of(event: QMouseEvent) -> SelectionMode:
    """Ctrl adds one item to the selection, Shift all items up to the clicked one."""
    if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
        return "also"
    return "through" if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else "alone"


MAX_CELL = 72.0
MAX_NARROW_CELL = 22.0
MAX_ROW_LABEL = 150
MAX_COLUMN_LABEL = 120
MIN_COLUMN_LABEL = 36
# of the height: a low map has short labels, and shorter ones if its rows need the room
MAX_LABEL_SHARE = 0.26
LABEL_GAP = 7
COLUMN_ANGLES = 55, 75  # of labels, in degrees; steeper over narrow columns
BAR_WIDTH, BAR_GAP, BAR_LABEL, SIGN_WIDTH = 10, 16, 34, 10
MIN_LABEL_PX = 12
MANY_ROWS = 20  # beyond, labels may thin out
LINE_SHARE = 0.84  # of a font's height that labels need next to each other
TIGHT_LINE_SHARE = 0.78  # in the smallest font
EDGE = 6
SUMS_GAP = 7
MIN_SUMS = 14.0
MAX_SUMS = 24.0
SCROLL_BAR = 10


@dataclass(frozen=True)
class HeatmapLayout:
    """Places of the parts, in pixels.

    Attributes:
        window: the part of the widget in which cells show; smaller than `map` where the map
            scrolls.
        map: the rectangle of all cells, in sight or not.
        sums: the place of the sum of the picked rows, below the window, in sight or not; None if
            there is none.
        cell: width and height of a cell.
        font: of the labels; smaller where cells are small.
        angle: of the labels of columns, in radians.
        row_step: every how many rows a label fits.
        column_step: every how many columns a label fits.
        row_label_width: room for labels of rows; longer ones are elided.
        column_label_length: room for labels of columns, likewise.
        hidden: the excess of the map's width and height over the window's; 0 where all of it fits.
    """

    window: QRectF
    map: QRectF
    sums: QRectF | None
    cell: QPointF
    font: QFont
    angle: float
    row_step: int
    column_step: int
    row_label_width: int
    column_label_length: int
    hidden: QSizeF

    @property
    def rows_in_sight(self) -> range:
        """Indices of the rows whose middle is in the window."""
        return _in_sight(
            self.window.top() - self.map.top(),
            self.window.height(),
            self.cell.y(),
            self.map.height(),
        )

    @property
    def columns_in_sight(self) -> range:
        """Indices of the columns whose middle is in the window."""
        return _in_sight(
            self.window.left() - self.map.left(),
            self.window.width(),
            self.cell.x(),
            self.map.width(),
        )

    def is_in_sight(self, band: Band) -> bool:
        """Whether the middle of a row or column is in the window."""
        return band.index in (self.rows_in_sight if band.is_row else self.columns_in_sight)

    def cell_rect(self, cell: Place) -> QRectF:
        """The place of a cell, in sight or not."""
        x = self.map.left() + cell.column * self.cell.x()
        y = self.map.top() + cell.row * self.cell.y()
        return QRectF(x, y, self.cell.x(), self.cell.y())

    def band_rect(self, band: Band) -> QRectF:
        """The visible part of a row or column."""
        cell = self.cell_rect(Place(band.index, band.index))
        window = self.window
        if band.is_row:
            return QRectF(window.left(), cell.top(), window.width(), cell.height())
        return QRectF(cell.left(), window.top(), cell.width(), window.height())

    def place_at(self, point: QPointF) -> Place | None:
        """The cell under a point."""
        if not self.window.contains(point):
            return None
        column = int((point.x() - self.map.left()) / self.cell.x())
        row = int((point.y() - self.map.top()) / self.cell.y())
        is_inside = row < round(self.map.height() / self.cell.y()) and column < round(
            self.map.width() / self.cell.x()
        )
        return Place(row, column) if is_inside else None

    def label_at(self, point: QPointF) -> Band | None:
        """The row or column whose label is under a point; labels of columns are slanted."""
        window = self.window
        x = point.x()
        y = point.y()
        if 0 <= x < window.left() and window.top() <= y < window.bottom():
            return Band(int((y - self.map.top()) / self.cell.y()), is_row=True)
        if not 0 <= y < window.top():
            return None
        x -= (window.top() - y) / tan(self.angle)
        if not window.left() <= x < window.right():
            return None
        return Band(int((x - self.map.left()) / self.cell.x()), is_row=False)

    def band_at(self, point: QPointF, view: MapView) -> Band | None:
        """The row or column whose label is under a point, or that of the query of a cell of
        `view`.
        """
        cell = self.place_at(point)
        return view.query_band(cell) if cell is not None else self.label_at(point)

    def sum_rect(self, entry: int) -> QRectF | None:
        """The place of a key in the row of sums; None if there is no row of sums."""
        if self.sums is None:
            return None
        return QRectF(
            self.sums.left() + entry * self.cell.x(),
            self.sums.top(),
            self.cell.x(),
            self.sums.height(),
        )

    def sum_at(self, point: QPointF) -> int | None:
        """The entry of the keys that the row of sums shows under a point."""
        if self.sums is None or not self.sums.contains(point):
            return None
        is_in_sight = self.window.left() <= point.x() < self.window.right()
        return int((point.x() - self.sums.left()) / self.cell.x()) if is_in_sight else None

    @property
    def bar(self) -> QRectF:
        """The colour bar, at the right of the window."""
        return QRectF(
            self.window.right() + BAR_GAP, self.window.top(), BAR_WIDTH, self.window.height()
        )

    @property
    def sums_frame(self) -> QRectF | None:
        """The part of the row of sums that is in sight."""
        if self.sums is None:
            return None
        return QRectF(self.window.left(), self.sums.top(), self.window.width(), self.sums.height())


@dataclass(frozen=True)
class _Margins:
    """Room around the cells, and the longest label it has room for."""

    left: int
    top: int
    right: int
    bottom: float
    row_label_width: int
    column_label_length: int


def lay_out(
    view: MapView,
    size: QSize,
    theme: Theme,
    zoom: Zoom = FIT,
    scroll: QPointF | None = None,
    *,
    has_sums: bool = False,
    is_signed: bool = False,
) -> HeatmapLayout:
    """Cells as large as fit, square where that leaves labels legible; labels thin out where cells
    are smaller.

    Args:
        view: the map.
        size: of the widget.
        theme: for its font.
        zoom: see `viz_app.state.map_view_settings.Zoom`.
        scroll: the scrolled distance, limited to the map.
        has_sums: whether the sum of rows is shown below.
        is_signed: whether the numbers at the colour bar have signs.
    """
    for font in label_fonts(theme):  # a smaller one leaves more room for the cells
        line, slanted = row_height(font), ink_height(view.column_labels, font.toString())
        for angle in map(radians, COLUMN_ANGLES):
            margins = _margins(
                view, font, angle, size, theme, has_sums=has_sums, is_signed=is_signed
            )
            cell = _cell(view, size, margins, zoom, theme)
            if cell.x() * sin(angle) >= slanted:
                break
        if cell.x() * sin(angle) >= slanted and cell.y() >= line:
            break
    content = QSizeF(cell.x() * len(view.column_labels), cell.y() * len(view.row_labels))
    room = _room(size, margins)
    fits_high = content.height() <= room.height() + 0.5
    fits_wide = content.width() <= room.width() + 0.5
    room = QSizeF(room.width(), room.height() - (0 if fits_wide else SCROLL_BAR))
    fits_high = fits_high and content.height() <= room.height() + 0.5
    shown = QSizeF(min(content.width(), room.width()), min(content.height(), room.height()))
    left = margins.left + max(
        0.0, (size.width() - margins.left - shown.width() - margins.right) / 2
    )
    window = QRectF(left, margins.top, shown.width(), shown.height())
    hidden = QSizeF(
        0.0 if fits_wide else content.width() - shown.width(),
        0.0 if fits_high else content.height() - shown.height(),
    )
    moved = scroll or QPointF()
    origin = window.topLeft() - QPointF(
        min(max(moved.x(), 0.0), hidden.width()), min(max(moved.y(), 0.0), hidden.height())
    )
    sums_top = window.bottom() + SUMS_GAP + (0 if fits_wide else SCROLL_BAR)
    sums = QRectF(origin.x(), sums_top, content.width(), min(max(cell.y(), MIN_SUMS), MAX_SUMS))
    return HeatmapLayout(
        window=window,
        map=QRectF(origin, content),
        sums=sums if has_sums else None,
        cell=cell,
        font=font,
        angle=angle,
        row_step=label_step(line, cell.y()),
        column_step=label_step(slanted, cell.x() * sin(angle)),
        row_label_width=margins.row_label_width,
        column_label_length=margins.column_label_length,
        hidden=hidden,
    )


def label_fonts(theme: Theme) -> list[QFont]:
    """Fonts of labels, the largest first."""
    fonts = []
    smallest = theme.base_px if theme.is_presented else theme.scaled(MIN_LABEL_PX)
    for pixels in range(theme.base_px, smallest - 1, -1):
        fonts.append(QFont(theme.font("body")))
        fonts[-1].setPixelSize(pixels)
    return fonts


def row_height(font: QFont) -> float:
    """The least height of rows that all have labels in this font."""
    is_smallest = font.pixelSize() <= current_theme().scaled(MIN_LABEL_PX)
    return QFontMetrics(font).height() * (TIGHT_LINE_SHARE if is_smallest else LINE_SHARE)


def least_height(view: MapView | None) -> int:
    """The height of a map in which all rows, or as many as it should always show, have labels."""
    theme = current_theme()
    font = label_fonts(theme)[-1]
    if view is None:
        return 0
    labels = min(_longest(view.column_labels, font.toString()) + 1, theme.scaled(MIN_COLUMN_LABEL))
    rows = min(len(view.row_labels), MANY_ROWS) * row_height(font)
    return ceil(rows + labels + QFontMetrics(font).height() * 0.6 + LABEL_GAP + EDGE)


def thinned(count: int, step: int, lit: list[int]) -> list[int]:
    """Indices to label: lit ones, then every `step`-th that is not too close to another."""
    labelled = list[int]()
    for index in (*lit, *range(0, count, step)):
        if all(abs(index - other) >= step for other in labelled):
            labelled.append(index)
    return sorted(labelled)


def _margins(
    view: MapView,
    font: QFont,
    angle: float,
    size: QSize,
    theme: Theme,
    *,
    has_sums: bool,
    is_signed: bool,
) -> _Margins:
    metrics = QFontMetrics(font)
    key = font.toString()
    row_label_width = min(_longest(view.row_labels, key) + 1, theme.scaled(MAX_ROW_LABEL))
    if has_sums:
        row_label_width = max(row_label_width, metrics.horizontalAdvance("Σ 100 rows"))
    column_length = min(_longest(view.column_labels, key) + 1, theme.scaled(MAX_COLUMN_LABEL))
    above = metrics.height() * 0.6 + LABEL_GAP
    below = EDGE + (SUMS_GAP + MAX_SUMS if has_sums else 0)
    free = int(
        (size.height() - above - below - len(view.row_labels) * row_height(font)) / sin(angle)
    )
    most = max(theme.scaled(MIN_COLUMN_LABEL), min(int(size.height() * MAX_LABEL_SHARE), free))
    column_length = min(column_length, most)
    return _Margins(
        left=row_label_width + LABEL_GAP + EDGE,
        top=int(column_length * sin(angle) + above),
        right=max(
            BAR_GAP + BAR_WIDTH + theme.scaled(BAR_LABEL + SIGN_WIDTH * is_signed),
            int(column_length * cos(angle)),
        ),
        bottom=below,
        row_label_width=row_label_width,
        column_label_length=column_length,
    )


@lru_cache(maxsize=512)
def elided(label: str, font: str, width: int) -> str:
    """A label shortened to fit. Kept, as labels stay while heads and scales change.

    Args:
        label: whole.
        font: as text of `QFont.toString`.
        width: in pixels.
    """
    return _metrics(font).elidedText(visible(label), Qt.TextElideMode.ElideRight, width)


def _labels(view: MapView) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of rows and columns. If they are equal, a place means the same in two drawings."""
    return view.row_labels, view.column_labels


@lru_cache(maxsize=64)
def ink_height(labels: tuple[str, ...], font: str) -> float:
    """The height in which these labels do not touch others above or below, or if slanted beside
    them.

    That of the letters in them alone: rows, whose labels end at one place, need less.
    """
    boxes = [_metrics(font).tightBoundingRect(visible(label)) for label in labels]
    return max(box.bottom() for box in boxes) - min(box.top() for box in boxes) + 1.0


@lru_cache(maxsize=64)
def _longest(labels: tuple[str, ...], font: str) -> int:
    """The width of the widest of these labels."""
    return max(map(_metrics(font).horizontalAdvance, map(visible, labels)))


def _metrics(font: str) -> QFontMetrics:
    parsed_font = QFont()
    parsed_font.fromString(font)
    return QFontMetrics(parsed_font)


def _room(size: QSize, margins: _Margins) -> QSizeF:
    return QSizeF(
        max(1.0, size.width() - margins.left - margins.right),
        max(1.0, size.height() - margins.top - margins.bottom),
    )


def _cell(view: MapView, size: QSize, margins: _Margins, zoom: Zoom, theme: Theme) -> QPointF:
    """A square, or up to twice as wide if many rows would make the map a narrow band; higher if
    labels need it.
    """
    room = _room(size, margins)
    width = room.width() / len(view.column_labels)
    height = room.height() / len(view.row_labels)
    legible = row_height(label_fonts(theme)[-1])
    widest = theme.scaled(MAX_NARROW_CELL)
    side = max(zoom, min(height, max(width, legible), theme.scaled(MAX_CELL)))
    least = zoom if zoom > width else 0.0
    return QPointF(max(least, min(width, max(side, min(2 * side, widest)))), side)


def label_step(needed: float, cell: float) -> int:
    """Every how many cells a label has the room it needs."""
    return max(1, -int(-needed // max(cell, 0.1)))


def _in_sight(offset: float, window: float, cell: float, content: float) -> range:
    count = round(content / cell)
    first = max(0, int(offset / cell + 0.5))
    return range(first, min(count, int((offset + window) / cell + 0.5)))


VALUE_GAP = 8
"""Pixels between a cell and the box with its value."""
BESIDE_TEXT = 22
"""Free pixels next to the text of such a box, left and right together."""


@dataclass
class HeatmapPainter:
    """Paints the large map of a state.

    Attributes:
        state: provides the item under the mouse.
        theme: colours and fonts.
        view: the map.
        drawing: the map, its marks and its row of sums.
        layout: places of its parts.
        image: its cells.
        shows_value: whether the value of the cell under the mouse, or of the pinned one, stands in
            a box.
    """

    state: ExperimentState
    theme: Theme
    view: MapView
    drawing: Drawing
    layout: HeatmapLayout
    image: QImage
    shows_value: bool = True

    def __post_init__(self) -> None:
        selection = self.state.selection
        self.shown = selection.hovered or selection.pinned
        self.place = self.view.place_of(self.shown) if self.shown is not None else None

    def frames(self, other: "HeatmapPainter") -> bool:
        """Whether another painter draws the same around the cells, apart from the numbers at the
        bar.
        """
        has_more = self.place or other.place or self.drawing.sums is not None
        return (
            not has_more
            and self.layout is other.layout
            and self.drawing.marks == other.drawing.marks
        )

    def has_same_bar(self, other: Drawing) -> bool:
        """Whether the colour bar and the numbers at it are those of another drawing."""
        return self.drawing.scale == other.scale

    @cached_property
    def cells(self) -> QRect:
        """The window, without labels and colour bar."""
        return self.layout.window.adjusted(-2, 0, 2, 2).toAlignedRect()

    @cached_property
    def bar_and_numbers(self) -> QRectF:
        """The area right of the window: colour bar, its numbers, a scroll bar."""
        window = self.layout.window
        numbers = self.theme.scaled(BAR_LABEL + SIGN_WIDTH * self.drawing.scale.is_signed)
        return QRectF(
            window.topRight(), QPointF(self.layout.bar.right() + numbers, window.bottom())
        )

    @cached_property
    def cells_and_bar(self) -> QRect:
        """The window and the area right of it, without the labels of rows and columns."""
        return self.layout.window.united(self.bar_and_numbers).adjusted(-2, 0, 0, 2).toAlignedRect()

    def paint(self, painter: QPainter, size: QSize, clip: QRect) -> None:
        """Everything that lies in `clip`, in a widget of this size."""
        layout = self.layout
        marks = self.drawing.marks
        painter.save()
        painter.setClipRect(layout.window)
        draw_map(painter, layout.map, self.image)
        if self.drawing.scale.is_signed:
            self._hatch_missing(painter)
        painter.restore()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._frame(painter, layout.window, 1, "border")
        if not self.cells_and_bar.contains(clip):
            self._paint_labels(painter, replace(marks, pinned=self.place))
        if not self.cells.contains(clip):
            self._paint_bar(painter)
        self._paint_sums(painter)
        window = layout.window.translated(-layout.map.topLeft())
        box = Box(window.left(), window.top(), window.width(), window.height())
        shapes = mark_shapes(marks, (layout.cell.x(), layout.cell.y()), box)
        paint_shapes(
            painter,
            [shape for shape in shapes if shape.is_beside],
            layout.map.topLeft(),
            self.theme,
        )
        painter.save()
        # nothing above the window, which marks alone do not repaint: labels may reach there
        painter.setClipRect(self.cells)
        inside = layout.window.adjusted(-2, 1, 2, 2)
        paint_shapes(
            painter,
            [shape for shape in shapes if not shape.is_beside],
            layout.map.topLeft(),
            self.theme,
        )
        for band in self._step_bands():
            self._frame(painter, layout.band_rect(band) & inside, 2.4)
        if self.place is not None:
            self._frame(painter, layout.band_rect(Band(self.place.row, is_row=True)), 1)
            self._frame(painter, layout.band_rect(Band(self.place.column, is_row=False)), 1)
            self._frame(painter, layout.cell_rect(self.place) & inside, 2)
        painter.restore()
        if self.shows_value:
            self._paint_value(painter, size)

    def _step_bands(self) -> list[Band]:
        """The query of the current decoding step."""
        chosen = self.state.selection
        return (
            []
            if chosen.step is None or chosen.head.kind == "encoder"
            else self.view.bands(queries=[chosen.step])
        )

    def _frame(self, painter: QPainter, box: QRectF, width: float, color: str = "accent") -> None:
        painter.setPen(QPen(self.theme.color(color), width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box)

    @cached_property
    def _font_key(self) -> str:
        return self.layout.font.toString()

    def _paint_labels(self, painter: QPainter, marks: Marks) -> None:
        drawing, layout = self.drawing, self.layout
        painter.setFont(layout.font)
        for is_row, labels, step in (
            (True, drawing.row_labels, layout.row_step),
            (False, drawing.column_labels, layout.column_step),
        ):
            roles = marked_labels(marks, len(labels), is_row=is_row)
            for index in thinned(
                len(labels), step, [index for index, role in enumerate(roles) if role == "accent"]
            ):
                if not layout.is_in_sight(Band(index, is_row)):
                    continue
                color = self.theme.token_color(labels[index], roles[index])
                if is_row:
                    center = layout.map.top() + (index + 0.5) * layout.cell.y()
                    self._paint_left_label(painter, center, labels[index], color)
                else:
                    self._paint_column_label(painter, index, labels[index], color)

    def _hatch_missing(self, painter: QPainter) -> None:
        """Cells without a value, each run of them in a row at once."""
        layout = self.layout
        size = self.layout.cell
        painter.setPen(QPen(self.theme.color("muted", 0.7), 1))
        for row in layout.rows_in_sight:
            for first, last in _runs(np.isnan(self.drawing.values[row])):
                hatch(
                    painter,
                    QRectF(
                        layout.map.left() + first * size.x(),
                        layout.map.top() + row * size.y(),
                        (last - first) * size.x(),
                        size.y(),
                    ),
                )

    def _paint_left_label(
        self, painter: QPainter, center: float, label: str, color: QColor
    ) -> None:
        layout = self.layout
        text = elided(label, self._font_key, layout.row_label_width)
        painter.setPen(color)
        right = layout.window.left() - LABEL_GAP
        half = self.theme.scaled(12)
        label_box = QRectF(
            right - layout.row_label_width - 4, center - half, layout.row_label_width + 4, 2 * half
        )
        painter.drawText(
            label_box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text
        )

    def _paint_column_label(self, painter: QPainter, index: int, label: str, color: QColor) -> None:
        layout = self.layout
        metrics = QFontMetrics(self.layout.font)
        text = elided(label, self._font_key, layout.column_label_length)
        painter.save()
        painter.translate(
            layout.map.left() + (index + 0.5) * layout.cell.x(), layout.window.top() - LABEL_GAP
        )
        painter.rotate(-degrees(layout.angle))
        painter.setPen(color)
        painter.drawText(QPointF(0, metrics.ascent() * 0.38), text)
        painter.restore()

    def _paint_bar(self, painter: QPainter) -> None:
        bar = self.layout.bar
        gradient = QLinearGradient(bar.bottomLeft(), bar.topLeft())
        scale = self.drawing.scale
        gradient.setStops(_stops(scale.table(is_dark=self.theme.is_dark)))
        painter.fillRect(bar, gradient)
        self._frame(painter, bar, 1, "border")
        painter.setPen(self.theme.color("muted"))
        painter.setFont(self.theme.font("small"))
        ascent = QFontMetrics(painter.font()).ascent()
        number = "1" if scale.top == 1 else f"{scale.top:.2f}"
        ends = (f"+{number}", f"−{number}") if scale.is_signed else (number, "0")
        painter.drawText(QPointF(bar.right() + 5, bar.top() + ascent - 2), ends[0])
        painter.drawText(QPointF(bar.right() + 5, bar.bottom()), ends[1])
        if scale.is_signed:
            painter.drawText(QPointF(bar.right() + 5, bar.center().y() + ascent / 2 - 1), "0")

    def _paint_sums(self, painter: QPainter) -> None:
        """Paints the sum of the picked rows under the map; see `Drawing.sums_scale`."""
        sums_box = self.layout.sums
        sums = self.drawing.sums
        layout = self.layout
        frame = self.layout.sums_frame
        if sums_box is None or frame is None or sums is None:
            return
        scale = self.drawing.sums_scale
        image = map_image(sums.values, scale.table(is_dark=self.theme.is_dark), scale.top)
        painter.save()
        painter.setClipRect(frame)
        draw_map(painter, sums_box, image)
        painter.restore()
        self._frame(painter, frame, 1.4)
        painter.setFont(layout.font)
        self._paint_left_label(painter, frame.center().y(), sums.label, self.theme.color("accent"))
        painter.setFont(self.theme.font("small"))
        painter.setPen(self.theme.color("muted"))
        painter.drawText(
            QPointF(frame.right() + BAR_GAP, frame.center().y() + 4), f"≤ {sums.largest:.2f}"
        )

    def _paint_value(self, painter: QPainter, size: QSize) -> None:
        """Paints the value in a box beside the cell's row and column if there is room."""
        sums = self.drawing.sums
        entry = self.state.selection.hovered_sum
        if sums is not None and entry is not None and entry < sums.values.size:
            cell = self.layout.sum_rect(entry)
            title = f"{sums.title} → {self.view.labelled.keys.labels[entry]}"
            lines: tuple[str, str] | None = (
                title,
                f"{map_text.value_name(self.state)} {sums.values.flat[entry]:.3f}",
            )
        else:
            cell = self.layout.cell_rect(self.place) if self.place is not None else None
            lines = map_text.describe(self.state, self.shown) if self.shown is not None else None
        if cell is None or lines is None or not _is_in_sight(cell, self.layout):
            return
        theme = self.theme
        metrics = QFontMetrics(self.theme.font("body"))
        window = self.layout.window
        beside = self.bar_and_numbers
        free = free_areas(QSizeF(size), window, beside)
        number_width = metrics.horizontalAdvance(lines[1])
        height = 2 * metrics.height() + 14
        # shorter, where it covers labels or bar
        for room in (size.width() - 40, int(free[0].width()) - BESIDE_TEXT):
            tokens = metrics.elidedText(
                lines[0], Qt.TextElideMode.ElideMiddle, max(room, number_width)
            )
            width = max(metrics.horizontalAdvance(tokens), number_width) + BESIDE_TEXT
            box = value_place(cell, QSizeF(width, height), QSizeF(size), window, beside)
            if any(area.contains(box) for area in free):
                break
        x, y = box.left(), box.top()
        painter.setPen(QPen(theme.color("border"), 1))
        painter.setBrush(theme.color("panel"))
        painter.drawRoundedRect(box, 6, 6)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text"))
        painter.drawText(QPointF(x + 11, y + 7 + metrics.ascent()), tokens)
        painter.setPen(theme.color("muted"))
        painter.drawText(QPointF(x + 11, y + 7 + metrics.height() + metrics.ascent()), lines[1])


def value_place(cell: QRectF, box: QSizeF, widget: QSizeF, cells: QRectF, bar: QRectF) -> QRectF:
    """Returns the box of a value: beside the colour bar if it fits, else diagonal to its cell.

    On a small map it covers other cells of the column rather than labels or the colour bar.

    Args:
        cell: the cell that has the value.
        box: its size.
        widget: the size of the whole.
        cells: the area of the map, below the labels of columns and right of those of rows.
        bar: the area at its right.
    """
    left = cell.left() - VALUE_GAP - box.width()
    right = cell.right() + VALUE_GAP
    above = cell.top() - VALUE_GAP - box.height()
    below = cell.bottom() + VALUE_GAP
    over_cells, behind_bar = free_areas(widget, cells, bar)
    first = over_cells.left()
    last = over_cells.right() - box.width()
    far = behind_bar.left()
    # most maps are darkest from the upper left to the lower right: these corners come last
    aslant = (left, below), (right, above), (right, below)
    over_column = (last, above), (first, below), (left, above), (first, above), (last, below)
    tried = (
        (behind_bar, ((far, below), (far, above))),
        (over_cells, aslant),
        (over_cells, over_column),
        (_whole(widget), (*aslant, (left, above))),
    )
    for area, corners in tried:
        for x, y in corners:
            if area.contains(value_box := QRectF(QPointF(x, y), box)):
                return value_box
    middle = cell.center().x() - box.width() / 2
    x = min(max(middle, 2), widget.width() - box.width() - 2)
    return QRectF(QPointF(x, below if below + box.height() < widget.height() - 2 else above), box)


def free_areas(widget: QSizeF, cells: QRectF, bar: QRectF) -> tuple[QRectF, QRectF]:
    """Areas that a box may cover: the cells down to the lower edge, and the space right of the
    bar.
    """
    bottom_right = _whole(widget).bottomRight()
    over_cells = QRectF(cells.topLeft(), QPointF(cells.right(), bottom_right.y()))
    return over_cells, QRectF(bar.topRight(), bottom_right)


def _whole(widget: QSizeF) -> QRectF:
    """The largest area that a box may cover."""
    return QRectF(QPointF(0, 0), widget).adjusted(2, 2, -2, -2)


def _is_in_sight(cell: QRectF, layout: HeatmapLayout) -> bool:
    """Whether the middle of a cell of the map, or of the row of sums, can be seen."""
    middle = cell.center()
    frame = layout.sums_frame
    return layout.window.contains(middle) or (frame is not None and frame.contains(middle))


@cache
def _stops(colors: ColorTable) -> list[tuple[float, QColor]]:
    """Stops of the colour bar from 0 to 1; a signed table has 0 exactly in the middle."""
    positions = np.linspace(0, 1, 23)
    indices = np.rint(positions * (len(colors.rgb) - 1)).astype(int)
    shades = [QColor.fromRgb(*map(int, colors.rgb[index])) for index in indices]
    return list(zip(positions, shades, strict=True))


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The stretches that are true, half-open."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]


WHEEL_STEP = 120
NUM_KEPT = 16
"""Layouts and images of cells that are kept."""


class MapScrollBars:
    """The scroll bars of a map that is larger than its widget.

    Attributes:
        across: the horizontal bar, hidden where the whole width fits.
        down: the vertical bar, hidden where the whole height fits.
    """

    def __init__(self, widget: QWidget, on_scrolled: Callable[[], None]) -> None:
        self.across, self.down = (
            QScrollBar(Qt.Orientation.Horizontal, widget),
            QScrollBar(Qt.Orientation.Vertical, widget),
        )
        for bar in (self.across, self.down):
            bar.hide()
            bar.valueChanged.connect(lambda _: on_scrolled())

    @property
    def offset(self) -> QPointF:
        """The scrolled distance."""
        return QPointF(self.across.value(), self.down.value())

    def fit(self, layout: HeatmapLayout | None) -> None:
        """Places each bar next to the window of a layout if the map is larger; hides both without a
        layout.
        """
        if layout is None:
            self.across.hide()
            self.down.hide()
            return
        window = layout.window.toRect()
        self.across.setGeometry(window.left(), window.bottom() + 3, window.width(), SCROLL_BAR)
        self.down.setGeometry(window.right() + 3, window.top(), SCROLL_BAR, window.height())
        sizes = (layout.hidden.width(), window.width()), (layout.hidden.height(), window.height())
        for bar, (hidden, page) in zip((self.across, self.down), sizes, strict=True):
            bar.blockSignals(True)
            bar.setRange(0, round(hidden))
            bar.setPageStep(page)
            bar.setSingleStep(20)
            bar.blockSignals(False)
            bar.setVisible(hidden > 0)

    def show_cell(self, cell: QRectF, window: QRectF) -> None:
        """Brings a cell to the middle of the window if it is out of sight."""
        if cell.top() < window.top() or cell.bottom() > window.bottom():
            self.down.setValue(round(self.down.value() + cell.center().y() - window.center().y()))
        if cell.left() < window.left() or cell.right() > window.right():
            self.across.setValue(
                round(self.across.value() + cell.center().x() - window.center().x())
            )

    def turn_wheel(self, event: QWheelEvent) -> None:
        """Scrolls, with Shift sideways; at its end the event is left to what is around."""
        delta = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or delta.x():
            bar, turned = self.across, delta.x() or delta.y()
        else:
            bar, turned = self.down, delta.y()
        before = bar.value()
        bar.setValue(before - turned // 2)
        event.setAccepted(bar.value() != before)


class Heatmap(LargeMap):
    """Draws the large map of an `ExperimentState` as cells; a larger map than the widget scrolls
    under its labels.

    The mouse hovers, pins and picks cells, rows and columns of the state's selection.
    """

    picture = "heatmap"

    def __init__(self, state: ExperimentState) -> None:
        super().__init__(state)
        self._is_presented = False
        self._painter: HeatmapPainter | None = None
        self._kept = Cache(NUM_KEPT)
        self._scroll_bars = MapScrollBars(self, self.lay_out)
        self.across, self.down = self._scroll_bars.across, self._scroll_bars.down
        # otherwise every change also repaints the page below
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Attention of the chosen head")
        state.settings.events.zoom.connect(self.lay_out, max_args=0)
        state.experiment_changed.connect(self.lay_out, max_args=0)
        state.selection.events.pinned.connect(self._show_pinned, max_args=0)
        self.show_map()

    def set_presented(self, is_presented: bool) -> None:
        """Presented, or in a chapter, the whole map is in sight at any zoom, and values stand
        outside it.
        """
        self._is_presented = is_presented
        self.lay_out()

    def rebuild(self) -> None:
        """Updates the picture: the maps, the head or the theme changed."""
        old = self._painter
        if self._view is not None:
            self.setAccessibleDescription(
                f"{map_text.title(self._state)}. {map_text.meaning_of_query(self._state)}"
            )
        self.lay_out()
        if self._view is not None and (
            old is None or old.view.values.shape != self._view.values.shape
        ):
            self._show_pinned()

    def show_marks(self) -> None:
        """Only what changes is painted."""
        self.lay_out()

    def lay_out(self) -> None:
        """Updates the picture: another map, other marks, another size or zoom."""
        old = self._painter
        self._painter = None
        view = self._view
        drawing = large_map(self._state) if view is not None else None
        if view is not None and drawing is not None:
            colors = drawing.scale.table(is_dark=self.theme.is_dark)
            top = drawing.scale.top
            image = self._kept.kept(
                (view, colors, top), lambda: map_image(view.values, colors, top)
            )
            layout = self._layout_of(view, drawing)
            self._painter = HeatmapPainter(
                self._state, self.theme, view, drawing, layout, image, not self._is_presented
            )
        self._scroll_bars.fit(self.layout_now)
        if old is None or self._painter is None or not self._painter.frames(old):
            self.update()
        else:
            self.update(
                self._painter.cells
                if self._painter.has_same_bar(old.drawing)
                else self._painter.cells_and_bar
            )

    def _layout_of(self, view: MapView, drawing: Drawing) -> HeatmapLayout:
        """The layout, kept while its inputs stay the same: other weights move nothing."""
        scroll = self._scroll_bars.offset
        others = {"has_sums": drawing.sums is not None, "is_signed": drawing.scale.is_signed}
        zoom = FIT if self._is_presented else self._state.settings.zoom
        size = self.size().toTuple()
        key = (*_labels(view), size, self.theme, zoom, scroll.toTuple(), *others.values())
        return self._kept.kept(
            key, lambda: lay_out(view, self.size(), self.theme, zoom, scroll, **others)
        )

    @property
    def layout_now(self) -> HeatmapLayout | None:
        """Places of the parts; None while nothing is shown."""
        return self._painter.layout if self._painter is not None else None

    def minimumSizeHint(self) -> QSize:
        """Small enough for small screens."""
        return QSize(320, 150)

    def cell_rect(self, pair: Pair) -> QRectF | None:
        """The cell of a query and a key; None if one of them is hidden."""
        cell = self._view.place_of(pair) if self._view is not None else None
        return (
            self.layout_now.cell_rect(cell)
            if self.layout_now is not None and cell is not None
            else None
        )

    def pair_at(self, point: QPointF) -> Pair | None:
        """The query and the key of the cell under a point."""
        cell = self.layout_now.place_at(point) if self.layout_now is not None else None
        return self._view.pair_at(cell) if self._view is not None and cell is not None else None

    def queries_at(self, point: QPointF) -> tuple[int, ...]:
        """The queries whose label or one of whose cells is under a point; empty if there is
        none.
        """
        view, layout = self._view, self.layout_now
        band = layout.band_at(point, view) if layout is not None and view is not None else None
        return view.queries_of(band) if view is not None and band is not None else ()

    def resizeEvent(self, event: QEvent) -> None:
        self.lay_out()
        self._show_pinned()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position()
        selection = self._state.selection
        layout = self.layout_now
        pair = self.pair_at(point)
        is_on_label = layout is not None and layout.label_at(point) is not None
        shapes = Qt.CursorShape
        beside = shapes.PointingHandCursor if is_on_label else shapes.ArrowCursor
        self.setCursor(shapes.CrossCursor if pair else beside)
        selection.hovered_sum = layout.sum_at(point) if layout is not None else None
        if pair is not None:
            selection.hovered_word = None
        selection.hovered = pair

    def leaveEvent(self, event: QEvent) -> None:
        """Removes the cross-hair; a pinned cell stays."""
        self._state.selection.hovered = None
        self._state.selection.hovered_sum = None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a cell pins it, or unpins it; on a label it picks the row or column.

        With Ctrl or Shift on a cell or its query's label, the query joins those picked.
        """
        view, layout = self._view, self.layout_now
        if event.button() != Qt.MouseButton.LeftButton or view is None or layout is None:
            return
        pair = self.pair_at(event.position())
        mode = selection_mode_of(event)
        if pair is not None and mode == "alone":
            self._state.selection.pin(pair)
        elif (band := layout.band_at(event.position(), view)) is not None:
            self.pick(band, mode)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolls; with Shift sideways; with Ctrl it zooms, and the cell under the mouse stays
        there.
        """
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_about(event.position(), event.angleDelta().y() / WHEEL_STEP)
            event.accept()
        else:
            self._scroll_bars.turn_wheel(event)

    def zoom_about(self, point: QPointF, num_steps: float) -> None:
        """Zooms by a number of steps, out if negative, about a fixed point."""
        before = self.layout_now
        if before is None:
            return
        x = (point.x() - before.map.left()) / before.cell.x()
        y = (point.y() - before.map.top()) / before.cell.y()
        self._state.settings.zoom = zoomed(before.cell.y(), num_steps)
        after = self.layout_now
        if after is not None:
            self.across.setValue(round(x * after.cell.x() - (point.x() - after.window.left())))
            self.down.setValue(round(y * after.cell.y() - (point.y() - after.window.top())))

    def tip_at(self, position: QPointF) -> str | None:
        """The whole label under the mouse, and the effect of a click on it."""
        view, layout = self._view, self.layout_now
        if view is None or layout is None:
            return None
        band = layout.label_at(position)
        return map_text.label_tip(view, band) if band is not None else ""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), self.theme.color("panel"))
        if self._painter is not None:
            self._painter.paint(painter, self.size(), event.rect())

    def _show_pinned(self) -> None:
        """Scrolls the pinned cell into view: an example, a lesson or a step may refer to it."""
        pinned = self._state.selection.pinned
        layout = self.layout_now
        cell = self.cell_rect(pinned) if pinned is not None else None
        if cell is None or layout is None:
            return
        self._scroll_bars.show_cell(cell, layout.window)
