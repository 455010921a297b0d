"""How the large heatmap is painted: cells, labels, colour bar, marks, the sum of rows, the value under the mouse."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QLinearGradient, QPainter, QPen

from viz_app.heatmap.colormap import NUM_COLORS, Ramp, color_table
from viz_app.heatmap.heatmap_layout import (
    BAR_GAP,
    BAR_LABEL,
    BAR_WIDTH,
    COLUMN_ANGLE,
    LABEL_GAP,
    HeatmapLayout,
    elided,
    thinned,
)
from viz_app.heatmap.map_image import draw_map, map_image, ramp_of
from viz_app.state.map_view import MapView
from viz_app.state.marking import Cell
from viz_app.state.picking import RowSum
from viz_app.state.translate_state import TranslateState
from viz_app.theme import Theme


@dataclass
class HeatmapPainter:
    """Paints one map as a state has it.

    Attributes:
        state: for the marks and the scale.
        theme: colours and fonts.
        view: the map.
        layout: where its parts stand.
        image: its cells.
        total: the sum of the picked rows, if any.
    """

    state: TranslateState
    theme: Theme
    view: MapView
    layout: HeatmapLayout
    image: QImage
    total: RowSum | None

    def frames(self, other: "HeatmapPainter") -> bool:
        """Whether all that stands around the cells, the numbers at the bar apart, is as another painter has it."""
        labels = (self.view.row_labels, self.view.column_labels) == (other.view.row_labels, other.view.column_labels)
        return labels and self.theme is other.theme and self.layout == other.layout and self.total is other.total

    @property
    def cells_and_bar(self) -> QRect:
        """The window, and what is at its right: where no label of a row or column is touched."""
        window = self.layout.window
        return window.adjusted(-2, 0, BAR_GAP + BAR_WIDTH + BAR_LABEL, 2).toAlignedRect()

    def paint(self, painter: QPainter, size: QSize, clip: QRect) -> None:
        """Everything that lies in `clip`, in a widget of this size."""
        layout = self.layout
        painter.save()
        painter.setClipRect(layout.window)
        draw_map(painter, layout.map, self.image)
        painter.restore()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.theme.color("border"), 1))
        painter.drawRect(layout.window)
        shown = self.state.hovered or self.state.pinned
        if not self.cells_and_bar.contains(clip):
            self._paint_labels(painter, shown)
        self._paint_bar(painter)
        self._paint_strip(painter)
        painter.save()
        painter.setClipRect(layout.window.adjusted(-2, -2, 2, 2))
        self._paint_lit(painter)
        self._paint_step_row(painter)
        if self.state.pinned is not None and self.state.pinned != shown:
            self._paint_cell_frame(painter, self.state.pinned)
        if shown is not None and self.cell_rect(shown) is not None:
            self._paint_cross_hair(painter, shown)
        painter.restore()
        self._paint_value(painter, shown, size)

    @cached_property
    def _font_key(self) -> str:
        return self.layout.font.toString()

    def cell_rect(self, cell: Cell) -> QRectF | None:
        """Where a cell of the whole map is drawn; None if it is hidden."""
        row, column = self.view.row_of(cell.row), self.view.column_of(cell.column)
        if row is None or column is None:
            return None
        size = self.layout.cell
        x, y = self.layout.map.left() + column * size.x(), self.layout.map.top() + row * size.y()
        return QRectF(x, y, size.x(), size.y())

    def _lit_rows(self) -> set[int]:
        """Rows of the view that a hovered word or a picked token stands for."""
        state = self.state
        positions = set(state.lit_rows(state.choice.kind)) if state.picked.tokens else set()
        if state.highlighted_word is not None:
            positions.update(state.rows_of_word(state.highlighted_word))
        return _present(map(self.view.row_of, positions))

    def _lit_columns(self) -> set[int]:
        state = self.state
        columns = state.lit_columns(state.choice.kind) if state.picked_key.tokens else ()
        return _present(map(self.view.column_of, columns))

    def _paint_labels(self, painter: QPainter, shown: Cell | None) -> None:
        view, layout = self.view, self.layout
        shown_row = {view.row_of(shown.row)} if shown else set()
        shown_column = {view.column_of(shown.column)} if shown else set()
        lit_rows = sorted(self._lit_rows() | _present(shown_row))
        lit_columns = sorted(self._lit_columns() | _present(shown_column))
        painter.setFont(layout.font)
        for index in thinned(len(view.rows), layout.row_step, lit_rows):
            if index in layout.rows_in_sight:
                self._paint_row_label(painter, index, view.row_labels[index], index in lit_rows)
        for index in thinned(len(view.columns), layout.column_step, lit_columns):
            if index in layout.columns_in_sight:
                self._paint_column_label(painter, index, view.column_labels[index], index in lit_columns)

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
        gradient.setStops(_stops(ramp_of(self.theme)))
        painter.fillRect(bar, gradient)
        painter.setPen(QPen(self.theme.color("border"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar)
        painter.setPen(self.theme.color("muted"))
        painter.setFont(self.theme.font("small"))
        ascent = QFontMetrics(painter.font()).ascent()
        top = self.state.top_weight(self.view.weights)
        painter.drawText(QPointF(bar.right() + 5, bar.top() + ascent - 2), "1" if top == 1 else f"{top:.2f}")
        painter.drawText(QPointF(bar.right() + 5, bar.bottom()), "0")

    def _paint_strip(self, painter: QPainter) -> None:
        """The sum of the picked rows under the map; its last colour is its own largest value, or the map's."""
        strip, total, layout = self.layout.strip, self.total, self.layout
        if strip is None or total is None:
            return
        top = max(self.state.top_weight(self.view.weights), float(total.weights.max(initial=0.0)))
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
        label = total.row_labels[0] if count == 1 else f"Σ {count} rows"
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

    def _paint_step_row(self, painter: QPainter) -> None:
        """The row of the decoding step that the laboratory looks at."""
        layout, step = self.layout, self.state.step_row
        row = self.view.row_of(step) if step is not None and self.state.choice.kind != "encoder" else None
        if row is not None:
            painter.setPen(QPen(self.theme.color("warm"), 2.4))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            y = layout.map.top() + row * layout.cell.y()
            painter.drawRect(QRectF(layout.window.left(), y, layout.window.width(), layout.cell.y()))

    def _paint_cell_frame(self, painter: QPainter, cell: Cell) -> None:
        place = self.cell_rect(cell)
        if place is not None:
            painter.setPen(QPen(self.theme.color("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(place)

    def _paint_cross_hair(self, painter: QPainter, cell: Cell) -> None:
        place, window = self.cell_rect(cell), self.layout.window
        assert place is not None
        painter.setPen(QPen(self.theme.color("accent"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(window.left(), place.top(), window.width(), place.height()))
        painter.drawRect(QRectF(place.left(), window.top(), place.width(), window.height()))
        self._paint_cell_frame(painter, cell)

    def _paint_value(self, painter: QPainter, shown: Cell | None, size: QSize) -> None:
        """A box beside the cell: below and to the left if there is room, so that the row's end stays in sight."""
        strip, total, column = self.layout.strip, self.total, self.state.hovered_sum
        if strip is not None and total is not None and column is not None and column < len(total.weights):
            x = strip.left() + column * self.layout.cell.x()
            place: QRectF | None = QRectF(x, strip.top(), self.layout.cell.x(), strip.height())
            title = f"{total.title.rpartition(':')[0] or total.title} → {total.column_labels[column]}"
            lines: tuple[str, str] | None = (title, f"{self.state.value_name()} {total.weights[column]:.3f}")
        else:
            place = self.cell_rect(shown) if shown is not None else None
            lines = self.state.describe(shown) if shown is not None else None
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
