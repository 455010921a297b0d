"""Where the parts of the large heatmap stand, for a size of the widget and a number of tokens."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QFont, QFontMetrics

from viz_app.state.map_view import MapView
from viz_app.theme import Theme

MAX_CELL = 72.0
MAX_NARROW_CELL = 22.0
MAX_ROW_LABEL = 150
MAX_COLUMN_LABEL = 120
LABEL_GAP = 7
COLUMN_ANGLE = -55
COLUMN_SINE, COLUMN_COSINE = 0.8192, 0.5736
BAR_WIDTH, BAR_GAP, BAR_LABEL = 10, 16, 34
MIN_LABEL_PX = 10
EDGE = 6


@dataclass(frozen=True)
class HeatmapLayout:
    """Where things stand, in pixels.

    Attributes:
        map: the rectangle of the cells.
        cell: width and height of a cell.
        font: of the labels; smaller where cells are small.
        row_step, column_step: every how many rows and columns a label fits.
        row_label_width, column_label_length: room for labels; longer ones are elided.
    """

    map: QRectF
    cell: QPointF
    font: QFont
    row_step: int
    column_step: int
    row_label_width: int
    column_label_length: int


@dataclass(frozen=True)
class _Margins:
    """Room around the cells, and the longest label it has room for."""

    left: int
    top: int
    right: int
    row_label_width: int
    column_label_length: int


def lay_out(view: MapView, size: QSize, theme: Theme) -> HeatmapLayout:
    """Cells as large as fit, square where that leaves them large enough; labels thin out where cells are small."""
    font = QFont(theme.font("body"))
    margins = _margins(view, font)
    cell = _cell(view, size, margins)
    font.setPixelSize(max(MIN_LABEL_PX, min(theme.base_px, int(min(cell.x(), cell.y()) * 0.95))))
    margins = _margins(view, font)  # a smaller font leaves more room for the cells
    cell = _cell(view, size, margins)
    used = margins.left + cell.x() * len(view.columns) + margins.right
    left = margins.left + max(0.0, (size.width() - used) / 2)
    line = QFontMetrics(font).height()
    return HeatmapLayout(
        map=QRectF(left, margins.top, cell.x() * len(view.columns), cell.y() * len(view.rows)),
        cell=cell,
        font=font,
        row_step=_step(line * 0.86, cell.y()),
        column_step=_step(line * 0.95 / COLUMN_SINE, cell.x()),
        row_label_width=margins.row_label_width,
        column_label_length=margins.column_label_length,
    )


def thinned(count: int, step: int, lit: list[int]) -> list[int]:
    """Indices to label: every `step`-th, and the lit ones, which silence neighbours that are too close."""
    kept = [index for index in range(0, count, step) if all(index == each or abs(index - each) >= step for each in lit)]
    return sorted({*kept, *lit})


def _margins(view: MapView, font: QFont) -> _Margins:
    metrics = QFontMetrics(font)
    row_label_width = min(max(map(metrics.horizontalAdvance, view.row_labels)) + 1, MAX_ROW_LABEL)
    column_length = min(max(map(metrics.horizontalAdvance, view.column_labels)) + 1, MAX_COLUMN_LABEL)
    return _Margins(
        left=row_label_width + LABEL_GAP + EDGE,
        top=int(column_length * COLUMN_SINE + metrics.height() * 0.6) + LABEL_GAP,
        right=max(BAR_GAP + BAR_WIDTH + BAR_LABEL, int(column_length * COLUMN_COSINE)),
        row_label_width=row_label_width,
        column_label_length=column_length,
    )


def _cell(view: MapView, size: QSize, margins: _Margins) -> QPointF:
    """Square, or up to twice as wide as high where many rows would make the map a narrow band."""
    width = max(1.0, size.width() - margins.left - margins.right) / len(view.columns)
    height = max(1.0, size.height() - margins.top - EDGE) / len(view.rows)
    side = min(width, height, MAX_CELL)
    return QPointF(min(width, max(side, min(2 * side, MAX_NARROW_CELL))), side)


def _step(needed: float, cell: float) -> int:
    """Every how many cells a label has the room it needs."""
    return max(1, -int(-needed // max(cell, 0.1)))
