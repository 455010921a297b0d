"""Where the parts of the large heatmap stand, for a size of the widget, a number of tokens and a zoom."""

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetrics

from augenmerk.viz_app.state.map_view import Band, MapView, Place
from augenmerk.viz_app.state.sentence_text import visible
from augenmerk.viz_app.state.zoom import AUTO, FIT, LEGIBLE_PX, MIN_LEGIBLE_PX, Zoom
from augenmerk.viz_app.theme import Theme

MAX_CELL = 72.0
MAX_NARROW_CELL = 22.0
MAX_ROW_LABEL = 150
MAX_COLUMN_LABEL = 120
MIN_COLUMN_LABEL = 36
MAX_LABEL_SHARE = 0.26  # of the height: a low map has short labels
LABEL_GAP = 7
COLUMN_ANGLE = -55
COLUMN_SINE, COLUMN_COSINE = 0.8192, 0.5736
BAR_WIDTH, BAR_GAP, BAR_LABEL, SIGN_WIDTH = 10, 16, 34, 10
MIN_LABEL_PX = 10
EDGE = 6
STRIP_GAP, MIN_STRIP, MAX_STRIP = 7, 14.0, 24.0
SCROLL_BAR = 10


@dataclass(frozen=True)
class HeatmapLayout:
    """Where things stand, in pixels.

    Attributes:
        window: the part of the widget in which cells show; smaller than `map` where the map scrolls.
        map: the rectangle of all cells, in sight or not.
        strip: where the sum of the picked rows is drawn, under the window, in sight or not; None if there is none.
        cell: width and height of a cell.
        font: of the labels; smaller where cells are small.
        row_step, column_step: every how many rows and columns a label fits.
        row_label_width, column_label_length: room for labels; longer ones are elided.
        hidden: how much wider and higher the map is than the window; 0 where all of it fits.
    """

    window: QRectF
    map: QRectF
    strip: QRectF | None
    cell: QPointF
    font: QFont
    row_step: int
    column_step: int
    row_label_width: int
    column_label_length: int
    hidden: QSizeF

    @property
    def rows_in_sight(self) -> range:
        """Indices of rows of which the middle is in the window."""
        return _in_sight(self.window.top() - self.map.top(), self.window.height(), self.cell.y(), self.map.height())

    @property
    def columns_in_sight(self) -> range:
        """Indices of columns of which the middle is in the window."""
        return _in_sight(self.window.left() - self.map.left(), self.window.width(), self.cell.x(), self.map.width())

    def is_in_sight(self, band: Band) -> bool:
        """Whether the middle of a row or column is in the window."""
        return band.index in (self.rows_in_sight if band.is_row else self.columns_in_sight)

    def cell_rect(self, place: Place) -> QRectF:
        """Where a cell stands, in sight or not."""
        x, y = self.map.left() + place.column * self.cell.x(), self.map.top() + place.row * self.cell.y()
        return QRectF(x, y, self.cell.x(), self.cell.y())

    def band_rect(self, band: Band) -> QRectF:
        """Where a row or column stands, as far as the window shows it."""
        cell, window = self.cell_rect(Place(band.index, band.index)), self.window
        if band.is_row:
            return QRectF(window.left(), cell.top(), window.width(), cell.height())
        return QRectF(cell.left(), window.top(), cell.width(), window.height())

    def place_at(self, point: QPointF) -> Place | None:
        """The cell under a point."""
        if not self.window.contains(point):
            return None
        column = int((point.x() - self.map.left()) / self.cell.x())
        row = int((point.y() - self.map.top()) / self.cell.y())
        is_inside = row < round(self.map.height() / self.cell.y()) and column < round(self.map.width() / self.cell.x())
        return Place(row, column) if is_inside else None

    def label_at(self, point: QPointF) -> Band | None:
        """The row or column whose label is under a point; labels of columns are slanted."""
        window, x, y = self.window, point.x(), point.y()
        if 0 <= x < window.left() and window.top() <= y < window.bottom():
            return Band(int((y - self.map.top()) / self.cell.y()), is_row=True)
        if not 0 <= y < window.top():
            return None
        x -= (window.top() - y) * COLUMN_COSINE / COLUMN_SINE
        if not window.left() <= x < window.right():
            return None
        return Band(int((x - self.map.left()) / self.cell.x()), is_row=False)

    def sum_rect(self, entry: int) -> QRectF | None:
        """Where the strip shows an entry of the keys; None if there is no strip."""
        if self.strip is None:
            return None
        return QRectF(self.strip.left() + entry * self.cell.x(), self.strip.top(), self.cell.x(), self.strip.height())

    def sum_at(self, point: QPointF) -> int | None:
        """The entry of the keys that the strip shows under a point."""
        if self.strip is None or not self.strip.contains(point):
            return None
        is_in_sight = self.window.left() <= point.x() < self.window.right()
        return int((point.x() - self.strip.left()) / self.cell.x()) if is_in_sight else None

    @property
    def bar(self) -> QRectF:
        """The colour bar, at the right of the window."""
        return QRectF(self.window.right() + BAR_GAP, self.window.top(), BAR_WIDTH, self.window.height())

    @property
    def strip_frame(self) -> QRectF | None:
        """The part of the strip that is in sight."""
        if self.strip is None:
            return None
        return QRectF(self.window.left(), self.strip.top(), self.window.width(), self.strip.height())


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
    zoom: Zoom = AUTO,
    scroll: QPointF | None = None,
    *,
    has_strip: bool = False,
    is_signed: bool = False,
) -> HeatmapLayout:
    """Cells as large as fit, square where that leaves them large enough; labels thin out where cells are small.

    Args:
        view: the map.
        size: of the widget.
        theme: for its font.
        zoom: see `viz_app.state.zoom`.
        scroll: how far the map is scrolled; clipped to what there is.
        has_strip: whether the sum of rows is shown below.
        is_signed: whether the numbers at the colour bar have signs.
    """
    font = QFont(theme.font("body"))
    margins = _margins(view, font, size, theme, has_strip=has_strip, is_signed=is_signed)
    cell = _cell(view, size, margins, zoom, theme)
    font.setPixelSize(max(theme.scaled(MIN_LABEL_PX), min(theme.base_px, int(min(cell.x(), cell.y()) * 0.95))))
    margins = _margins(
        view, font, size, theme, has_strip=has_strip, is_signed=is_signed
    )  # a smaller font leaves more room for the cells
    cell = _cell(view, size, margins, zoom, theme)
    content = QSizeF(cell.x() * len(view.column_labels), cell.y() * len(view.row_labels))
    room = _room(size, margins)
    fits_high, fits_wide = content.height() <= room.height() + 0.5, content.width() <= room.width() + 0.5
    room = QSizeF(room.width(), room.height() - (0 if fits_wide else SCROLL_BAR))
    fits_high = fits_high and content.height() <= room.height() + 0.5
    shown = QSizeF(min(content.width(), room.width()), min(content.height(), room.height()))
    left = margins.left + max(0.0, (size.width() - margins.left - shown.width() - margins.right) / 2)
    window = QRectF(left, margins.top, shown.width(), shown.height())
    hidden = QSizeF(
        0.0 if fits_wide else content.width() - shown.width(), 0.0 if fits_high else content.height() - shown.height()
    )
    moved = scroll or QPointF()
    origin = window.topLeft() - QPointF(
        min(max(moved.x(), 0.0), hidden.width()), min(max(moved.y(), 0.0), hidden.height())
    )
    line = QFontMetrics(font).height()
    strip_top = window.bottom() + STRIP_GAP + (0 if fits_wide else SCROLL_BAR)
    strip = QRectF(origin.x(), strip_top, content.width(), min(max(cell.y(), MIN_STRIP), MAX_STRIP))
    return HeatmapLayout(
        window=window,
        map=QRectF(origin, content),
        strip=strip if has_strip else None,
        cell=cell,
        font=font,
        row_step=_step(line * 0.86, cell.y()),
        column_step=_step(line * 0.95 / COLUMN_SINE, cell.x()),
        row_label_width=margins.row_label_width,
        column_label_length=margins.column_label_length,
        hidden=hidden,
    )


def thinned(count: int, step: int, lit: list[int]) -> list[int]:
    """Indices to label: every `step`-th, and the lit ones, which silence neighbours that are too close."""
    kept = [index for index in range(0, count, step) if all(index == each or abs(index - each) >= step for each in lit)]
    return sorted({*kept, *lit})


def _margins(view: MapView, font: QFont, size: QSize, theme: Theme, *, has_strip: bool, is_signed: bool) -> _Margins:
    metrics, key = QFontMetrics(font), font.toString()
    row_label_width = min(_longest(view.row_labels, key) + 1, theme.scaled(MAX_ROW_LABEL))
    if has_strip:
        row_label_width = max(row_label_width, metrics.horizontalAdvance(f"Σ 100 {view.axes.query}s"))
    column_length = min(_longest(view.column_labels, key) + 1, theme.scaled(MAX_COLUMN_LABEL))
    column_length = max(theme.scaled(MIN_COLUMN_LABEL), min(column_length, int(size.height() * MAX_LABEL_SHARE)))
    return _Margins(
        left=row_label_width + LABEL_GAP + EDGE,
        top=int(column_length * COLUMN_SINE + metrics.height() * 0.6) + LABEL_GAP,
        right=max(
            BAR_GAP + BAR_WIDTH + theme.scaled(BAR_LABEL + SIGN_WIDTH * is_signed), int(column_length * COLUMN_COSINE)
        ),
        bottom=EDGE + (STRIP_GAP + MAX_STRIP if has_strip else 0),
        row_label_width=row_label_width,
        column_label_length=column_length,
    )


@lru_cache(maxsize=512)
def elided(label: str, font: str, width: int) -> str:
    """A label with what does not fit left out. Kept, as labels stay while heads and scales change.

    Args:
        label: whole.
        font: as `QFont.toString` has it.
        width: in pixels.
    """
    return _metrics(font).elidedText(visible(label), Qt.TextElideMode.ElideRight, width)


@lru_cache(maxsize=64)
def _longest(labels: tuple[str, ...], font: str) -> int:
    """The width of the widest of these labels."""
    return max(map(_metrics(font).horizontalAdvance, map(visible, labels)))


def _metrics(font: str) -> QFontMetrics:
    wanted = QFont()
    wanted.fromString(font)
    return QFontMetrics(wanted)


def _room(size: QSize, margins: _Margins) -> QSizeF:
    return QSizeF(
        max(1.0, size.width() - margins.left - margins.right), max(1.0, size.height() - margins.top - margins.bottom)
    )


def _cell(view: MapView, size: QSize, margins: _Margins, zoom: Zoom, theme: Theme) -> QPointF:
    """Square, or up to twice as wide as high where many rows would make the map a narrow band."""
    room = _room(size, margins)
    width, height = room.width() / len(view.column_labels), room.height() / len(view.row_labels)
    legible, widest = theme.scaled(MIN_LEGIBLE_PX), theme.scaled(MAX_NARROW_CELL)
    fitting = min(width, height, theme.scaled(MAX_CELL))
    if zoom == AUTO:
        side = fitting if fitting >= legible else theme.scaled(LEGIBLE_PX)
    else:
        side = fitting if zoom == FIT else max(fitting, zoom)
    if zoom == AUTO and side > fitting and width >= legible:
        return QPointF(min(width, max(side, min(2 * side, widest))), side)  # it need not scroll sideways, too
    if side > fitting:
        return QPointF(max(side, min(width, 2 * side, widest)), side)
    return QPointF(min(width, max(side, min(2 * side, widest))), side)


def _step(needed: float, cell: float) -> int:
    """Every how many cells a label has the room it needs."""
    return max(1, -int(-needed // max(cell, 0.1)))


def _in_sight(offset: float, window: float, cell: float, content: float) -> range:
    count = round(content / cell)
    first = max(0, int(offset / cell + 0.5))
    return range(first, min(count, int((offset + window) / cell + 0.5)))
