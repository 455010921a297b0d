"""How the large heatmap is painted: cells, labels, colour bar, marks, the sum of rows, the value under the mouse."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QLinearGradient, QPainter, QPen

from viz_app.heatmap.colormap import NUM_COLORS, Ramp, SignedRamp, color_table, signed_color_table
from viz_app.heatmap.heatmap_layout import (
    BAR_GAP,
    BAR_LABEL,
    BAR_WIDTH,
    COLUMN_ANGLE,
    LABEL_GAP,
    SIGN_WIDTH,
    HeatmapLayout,
    elided,
    thinned,
)
from viz_app.heatmap.map_image import draw_map, map_image, ramp_of, signed_ramp_of
from viz_app.state import map_text
from viz_app.state.experiment_state import ExperimentState
from viz_app.state.map_view import MapView, Pair
from viz_app.state.marks import lit_keys, lit_queries, queries_of_word
from viz_app.state.picked_tokens import QuerySum
from viz_app.theme import Theme

HATCH_STEP = 6.0
"""Pixels between two lines of a hatching."""


@dataclass
class HeatmapPainter:
    """Paints one map as a state has it.

    Attributes:
        state: for the marks and the scale.
        theme: colours and fonts.
        view: the map.
        layout: where its parts stand.
        image: its cells.
        top: the value of the last colour.
        total: the sum of the picked queries, if any.
    """

    state: ExperimentState
    theme: Theme
    view: MapView
    layout: HeatmapLayout
    image: QImage
    top: float
    total: QuerySum | None

    def frames(self, other: "HeatmapPainter") -> bool:
        """Whether all that stands around the cells, the numbers at the bar apart, is as another painter has it."""
        labels = (self.view.row_labels, self.view.column_labels) == (other.view.row_labels, other.view.column_labels)
        is_same = self.theme is other.theme and self.layout == other.layout and self.total is other.total
        return labels and is_same and self.new_entries == other.new_entries

    @property
    def cells_and_bar(self) -> QRect:
        """The window, and what is at its right: where no label of a row or column is touched."""
        window = self.layout.window
        right = BAR_GAP + BAR_WIDTH + BAR_LABEL + SIGN_WIDTH * self.is_signed
        return window.adjusted(-2, 0, right, 2).toAlignedRect()

    def paint(self, painter: QPainter, size: QSize, clip: QRect) -> None:
        """Everything that lies in `clip`, in a widget of this size."""
        layout = self.layout
        painter.save()
        painter.setClipRect(layout.window)
        draw_map(painter, layout.map, self.image)
        if self.is_signed:
            self._hatch_missing(painter)
        painter.restore()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.theme.color("border"), 1))
        painter.drawRect(layout.window)
        selection = self.state.selection
        shown = selection.hovered or selection.pinned
        if not self.cells_and_bar.contains(clip):
            self._paint_labels(painter, shown)
        self._paint_bar(painter)
        self._paint_strip(painter)
        painter.save()
        painter.setClipRect(layout.window.adjusted(-2, -2, 2, 2))
        self._paint_lit(painter)
        self._paint_step(painter)
        if selection.pinned is not None and selection.pinned != shown:
            self._paint_cell_frame(painter, selection.pinned)
        if shown is not None and self.cell_rect(shown) is not None:
            self._paint_cross_hair(painter, shown)
        painter.restore()
        self._paint_value(painter, shown, size)

    @cached_property
    def _font_key(self) -> str:
        return self.layout.font.toString()

    @cached_property
    def is_signed(self) -> bool:
        """Whether values lie on both sides of 0."""
        return self.state.maps.is_signed(self.state.selection.head.kind)

    @cached_property
    def new_entries(self) -> tuple[frozenset[int], frozenset[int]]:
        """Rows and columns of tokens that the original translation does not have."""
        return self.state.maps.new_entries(self.state.selection.head.kind)

    def cell_rect(self, pair: Pair) -> QRectF | None:
        """Where a query and a key are drawn; None if one of them is hidden."""
        place = self.view.place_of(pair)
        if place is None:
            return None
        size = self.layout.cell
        x, y = self.layout.map.left() + place.column * size.x(), self.layout.map.top() + place.row * size.y()
        return QRectF(x, y, size.x(), size.y())

    def _lit_rows(self) -> set[int]:
        """Rows of the view that a hovered word or a picked token stands for."""
        state, selection = self.state, self.state.selection
        queries = set(lit_queries(state, selection.head.kind)) if selection.picked.tokens else set()
        if selection.hovered_word is not None:
            queries.update(queries_of_word(state, selection.hovered_word))
        return _present(map(self.view.row_of, queries))

    def _lit_columns(self) -> set[int]:
        state, selection = self.state, self.state.selection
        keys = lit_keys(state, selection.head.kind) if selection.picked_key.tokens else ()
        return _present(map(self.view.column_of, keys))

    def _paint_labels(self, painter: QPainter, shown: Pair | None) -> None:
        view, layout = self.view, self.layout
        shown_row = {view.row_of(shown.query)} if shown else set()
        shown_column = {view.column_of(shown.key)} if shown else set()
        lit_rows = sorted(self._lit_rows() | _present(shown_row))
        lit_columns = sorted(self._lit_columns() | _present(shown_column))
        new_rows, new_columns = self.new_entries
        painter.setFont(layout.font)
        for index in thinned(view.num_rows, layout.row_step, lit_rows):
            if index in layout.rows_in_sight:
                is_marked = index in lit_rows or index in new_rows
                self._paint_row_label(painter, index, view.row_labels[index], is_marked)
        for index in thinned(view.num_columns, layout.column_step, lit_columns):
            if index in layout.columns_in_sight:
                is_marked = index in lit_columns or index in new_columns
                self._paint_column_label(painter, index, view.column_labels[index], is_marked)
        self._mark_new(painter)

    def _mark_new(self, painter: QPainter) -> None:
        """A short bar beside the rows and above the columns of new tokens: their labels may be thinned out."""
        layout, accent = self.layout, self.theme.color("accent")
        rows, columns = self.new_entries
        for row in rows & frozenset(layout.rows_in_sight):
            y = layout.map.top() + row * layout.cell.y()
            painter.fillRect(QRectF(layout.window.left() - 6, y + 1, 3, layout.cell.y() - 2), accent)
        for column in columns & frozenset(layout.columns_in_sight):
            x = layout.map.left() + column * layout.cell.x()
            painter.fillRect(QRectF(x + 1, layout.window.top() - 5, layout.cell.x() - 2, 3), accent)

    def _hatch_missing(self, painter: QPainter) -> None:
        """Cells without a value, each run of them in a row at once."""
        layout, size = self.layout, self.layout.cell
        painter.setPen(QPen(self.theme.color("muted", 0.7), 1))
        for row in layout.rows_in_sight:
            for first, last in _runs(np.isnan(self.view.values[row])):
                hatch(
                    painter,
                    QRectF(
                        layout.map.left() + first * size.x(),
                        layout.map.top() + row * size.y(),
                        (last - first) * size.x(),
                        size.y(),
                    ),
                )

    def _paint_row_label(self, painter: QPainter, index: int, label: str, is_lit: bool) -> None:
        layout = self.layout
        center = layout.map.top() + (index + 0.5) * layout.cell.y()
        self._paint_left_label(painter, center, label, self._label_color(label, is_lit))

    def _paint_left_label(self, painter: QPainter, center: float, label: str, color: QColor) -> None:
        layout = self.layout
        text = elided(label, self._font_key, layout.row_label_width)
        painter.setPen(color)
        right = layout.window.left() - LABEL_GAP
        place = QRectF(right - layout.row_label_width - 4, center - 12, layout.row_label_width + 4, 24)
        painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_column_label(self, painter: QPainter, index: int, label: str, is_lit: bool) -> None:
        layout, metrics = self.layout, QFontMetrics(self.layout.font)
        text = elided(label, self._font_key, layout.column_label_length)
        painter.save()
        painter.translate(layout.map.left() + (index + 0.5) * layout.cell.x(), layout.window.top() - LABEL_GAP)
        painter.rotate(COLUMN_ANGLE)
        painter.setPen(self._label_color(label, is_lit))
        painter.drawText(QPointF(0, metrics.ascent() * 0.38), text)
        painter.restore()

    def _label_color(self, label: str, is_lit: bool) -> QColor:
        is_special = label.startswith("<") and label.endswith(">")
        return self.theme.color("accent" if is_lit else "muted" if is_special else "text")

    def _paint_bar(self, painter: QPainter) -> None:
        window = self.layout.window
        bar = QRectF(window.right() + BAR_GAP, window.top(), BAR_WIDTH, window.height())
        gradient = QLinearGradient(bar.bottomLeft(), bar.topLeft())
        gradient.setStops(_signed_stops(signed_ramp_of(self.theme)) if self.is_signed else _stops(ramp_of(self.theme)))
        painter.fillRect(bar, gradient)
        painter.setPen(QPen(self.theme.color("border"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar)
        painter.setPen(self.theme.color("muted"))
        painter.setFont(self.theme.font("small"))
        ascent = QFontMetrics(painter.font()).ascent()
        number = "1" if self.top == 1 else f"{self.top:.2f}"
        ends = (f"+{number}", f"−{number}") if self.is_signed else (number, "0")
        painter.drawText(QPointF(bar.right() + 5, bar.top() + ascent - 2), ends[0])
        painter.drawText(QPointF(bar.right() + 5, bar.bottom()), ends[1])
        if self.is_signed:
            painter.drawText(QPointF(bar.right() + 5, bar.center().y() + ascent / 2 - 1), "0")

    def _paint_strip(self, painter: QPainter) -> None:
        """The sum of the picked rows under the map; its last colour is its own largest value, or the map's."""
        strip, total, layout = self.layout.strip, self.total, self.layout
        if strip is None or total is None:
            return
        top = max(self.top, float(total.weights.max(initial=0.0)))
        image = map_image(np.ascontiguousarray(total.weights[None, :]), ramp_of(self.theme), top)
        frame = QRectF(layout.window.left(), strip.top(), layout.window.width(), strip.height())
        painter.save()
        painter.setClipRect(frame)
        draw_map(painter, strip, image)
        painter.restore()
        painter.setPen(QPen(self.theme.color("accent"), 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(frame)
        painter.setFont(layout.font)
        count = len(total.entries)
        label = total.query_labels[0] if count == 1 else f"Σ {count} rows"
        self._paint_left_label(painter, frame.center().y(), label, self.theme.color("accent"))
        painter.setFont(self.theme.font("small"))
        painter.setPen(self.theme.color("muted"))
        painter.drawText(
            QPointF(frame.right() + BAR_GAP, frame.center().y() + 4), f"≤ {float(total.weights.max()):.2f}"
        )

    def _paint_lit(self, painter: QPainter) -> None:
        layout = self.layout
        painter.setPen(QPen(self.theme.color("accent"), 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for row in self._lit_rows():
            y = layout.map.top() + row * layout.cell.y()
            painter.drawRect(QRectF(layout.window.left(), y, layout.window.width(), layout.cell.y()))
        for column in self._lit_columns():
            x = layout.map.left() + column * layout.cell.x()
            painter.drawRect(QRectF(x, layout.window.top(), layout.cell.x(), layout.window.height()))

    def _paint_step(self, painter: QPainter) -> None:
        """The query of the decoding step that is looked at."""
        layout, selection = self.layout, self.state.selection
        is_there = selection.step is not None and selection.head.kind != "encoder"
        row = self.view.row_of(selection.step) if is_there and selection.step is not None else None
        if row is not None:
            painter.setPen(QPen(self.theme.color("warm"), 2.4))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            y = layout.map.top() + row * layout.cell.y()
            painter.drawRect(QRectF(layout.window.left(), y, layout.window.width(), layout.cell.y()))

    def _paint_cell_frame(self, painter: QPainter, pair: Pair) -> None:
        place = self.cell_rect(pair)
        if place is not None:
            painter.setPen(QPen(self.theme.color("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(place)

    def _paint_cross_hair(self, painter: QPainter, pair: Pair) -> None:
        place, window = self.cell_rect(pair), self.layout.window
        assert place is not None
        painter.setPen(QPen(self.theme.color("accent"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(window.left(), place.top(), window.width(), place.height()))
        painter.drawRect(QRectF(place.left(), window.top(), place.width(), window.height()))
        self._paint_cell_frame(painter, pair)

    def _paint_value(self, painter: QPainter, shown: Pair | None, size: QSize) -> None:
        """A box beside the cell: below and to the left if there is room, so that the row's end stays in sight."""
        strip, total, column = self.layout.strip, self.total, self.state.selection.hovered_sum
        if strip is not None and total is not None and column is not None and column < len(total.weights):
            x = strip.left() + column * self.layout.cell.x()
            place: QRectF | None = QRectF(x, strip.top(), self.layout.cell.x(), strip.height())
            title = f"{total.title.rpartition(':')[0] or total.title} → {total.key_labels[column]}"
            lines: tuple[str, str] | None = (title, f"{map_text.value_name(self.state)} {total.weights[column]:.3f}")
        else:
            place = self.cell_rect(shown) if shown is not None else None
            lines = map_text.describe(self.state, shown) if shown is not None else None
        if place is None or lines is None or not _is_in_sight(place, self.layout):
            return
        theme, metrics = self.theme, QFontMetrics(self.theme.font("body"))
        tokens = metrics.elidedText(lines[0], Qt.TextElideMode.ElideMiddle, max(size.width() - 40, 60))
        width = max(metrics.horizontalAdvance(tokens), metrics.horizontalAdvance(lines[1])) + 22
        height = 2 * metrics.height() + 14
        x = min(max(place.center().x() - width / 2, 2), size.width() - width - 2)
        below = place.bottom() + 8
        y = below if below + height < size.height() - 2 else place.top() - height - 8
        box = QRectF(x, y, width, height)
        painter.setPen(QPen(theme.color("border"), 1))
        painter.setBrush(theme.color("panel"))
        painter.drawRoundedRect(box, 6, 6)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text"))
        painter.drawText(QPointF(x + 11, y + 7 + metrics.ascent()), tokens)
        painter.setPen(theme.color("muted"))
        painter.drawText(QPointF(x + 11, y + 7 + metrics.height() + metrics.ascent()), lines[1])


def _present(indices: Iterable[int | None]) -> set[int]:
    return {index for index in indices if index is not None}


def _is_in_sight(place: QRectF, layout: HeatmapLayout) -> bool:
    """Whether the middle of a cell of the map can be seen; the strip below always can, sideways scrolling apart."""
    middle = place.center()
    is_beside = layout.window.left() <= middle.x() <= layout.window.right()
    return (
        is_beside
        and (middle.y() >= layout.window.top())
        and (middle.y() <= layout.window.bottom() or (layout.strip is not None and layout.strip.contains(middle)))
    )


@cache
def _stops(ramp: Ramp) -> list[tuple[float, QColor]]:
    """Of the colour bar's gradient, from 0 to 1."""
    colors = color_table(ramp)
    return [(index / (NUM_COLORS - 1), QColor.fromRgba(colors[index])) for index in range(0, NUM_COLORS, 15)]


@cache
def _signed_stops(ramp: SignedRamp) -> list[tuple[float, QColor]]:
    """The same from −1 to 1: 0 stands exactly in the middle."""
    colors = signed_color_table(ramp)[:-1]
    indices = sorted({*range(0, len(colors), 12), len(colors) // 2, len(colors) - 1})
    return [(index / (len(colors) - 1), QColor.fromRgba(colors[index])) for index in indices]


def hatch(painter: QPainter, place: QRectF) -> None:
    """Slanted lines, drawn one by one: writers of vector pictures do not know hatched brushes."""
    width, height = place.width(), place.height()
    count = int((width + height) / HATCH_STEP)
    lines = []
    for number in range(1, count + 1):
        reach = number * HATCH_STEP
        right, down = min(reach, width), min(reach, height)
        start, end = QPointF(right, reach - right), QPointF(reach - down, down)
        lines.append(QLineF(place.topLeft() + start, place.topLeft() + end))
    if lines:
        painter.drawLines(lines)


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The stretches that are true, half-open."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]
