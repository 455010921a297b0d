"""How the large heatmap is painted: cells, labels, colour bar, marks, the sum of rows, the value under the mouse."""

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QLinearGradient, QPainter, QPen

from augenmerk.viz_app.heatmap.colormap import NUM_COLORS, Ramp, SignedRamp, color_table, signed_color_table
from augenmerk.viz_app.heatmap.drawing import Box, Drawing, mark_shapes, marked_labels
from augenmerk.viz_app.heatmap.heatmap_layout import (
    BAR_GAP,
    BAR_LABEL,
    COLUMN_ANGLE,
    LABEL_GAP,
    SIGN_WIDTH,
    HeatmapLayout,
    elided,
    thinned,
)
from augenmerk.viz_app.heatmap.map_image import draw_map, hatch, map_image, paint_shapes, ramp_of, signed_ramp_of
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Band, MapView, Marks, Pair, Place
from augenmerk.viz_app.state.marks import marks_of_large_map
from augenmerk.viz_app.theme import Theme

VALUE_GAP = 8
"""Pixels between a cell and the box with its value."""
BESIDE_TEXT = 22
"""Pixels of such a box that its text leaves free, left and right together."""


@dataclass
class HeatmapPainter:
    """Paints one map as a state has it.

    Attributes:
        state: for what is under the mouse.
        theme: colours and fonts.
        view: the map.
        drawing: the map, its marks and its strip.
        layout: where its parts stand.
        image: its cells.
    """

    state: ExperimentState
    theme: Theme
    view: MapView
    drawing: Drawing
    layout: HeatmapLayout
    image: QImage

    def frames(self, other: "HeatmapPainter") -> bool:
        """Whether all that stands around the cells, the numbers at the bar apart, is as another painter has it."""
        one, two = self.drawing, other.drawing
        is_same = (one.row_labels, one.column_labels, one.marks) == (two.row_labels, two.column_labels, two.marks)
        return is_same and self.theme is other.theme and self.layout == other.layout and one.strip is two.strip is None

    def has_same_bar(self, other: Drawing) -> bool:
        """Whether the colour bar and the numbers at it are those of another drawing."""
        return (self.drawing.top, self.drawing.is_signed) == (other.top, other.is_signed)

    @cached_property
    def cells(self) -> QRect:
        """The window: where neither a label nor the colour bar is touched."""
        return self.layout.window.adjusted(-2, 0, 2, 2).toAlignedRect()

    @cached_property
    def bar_and_numbers(self) -> QRectF:
        """All that is at the right of the window: colour bar, its numbers, a scroll bar."""
        window, numbers = self.layout.window, self.theme.scaled(BAR_LABEL + SIGN_WIDTH * self.drawing.is_signed)
        return QRectF(window.topRight(), QPointF(self.layout.bar.right() + numbers, window.bottom()))

    @cached_property
    def cells_and_bar(self) -> QRect:
        """The window, and what is at its right: where no label of a row or column is touched."""
        return self.layout.window.united(self.bar_and_numbers).adjusted(-2, 0, 0, 2).toAlignedRect()

    def cell_rect(self, pair: Pair) -> QRectF | None:
        """Where a query and a key are drawn; None if one of them is hidden."""
        place = self.view.place_of(pair)
        return self.layout.cell_rect(place) if place is not None else None

    def paint(self, painter: QPainter, size: QSize, clip: QRect) -> None:
        """Everything that lies in `clip`, in a widget of this size."""
        layout, selection = self.layout, self.state.selection
        painter.save()
        painter.setClipRect(layout.window)
        draw_map(painter, layout.map, self.image)
        if self.drawing.is_signed:
            self._hatch_missing(painter)
        painter.restore()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.theme.color("border"), 1))
        painter.drawRect(layout.window)
        marks = marks_of_large_map(self.state, self.view)
        shown = selection.hovered or selection.pinned
        place = self.view.place_of(shown) if shown is not None else None
        if not self.cells_and_bar.contains(clip):
            self._paint_labels(painter, replace(marks, pinned=place))
        if not self.cells.contains(clip):
            self._paint_bar(painter)
        self._paint_strip(painter)
        window = layout.window.translated(-layout.map.topLeft())
        box = Box(window.left(), window.top(), window.width(), window.height())
        shapes = mark_shapes(marks, (layout.cell.x(), layout.cell.y()), box)
        paint_shapes(painter, [shape for shape in shapes if shape.is_beside], layout.map.topLeft(), self.theme)
        painter.save()
        painter.setClipRect(layout.window.adjusted(-2, -2, 2, 2))
        paint_shapes(painter, [shape for shape in shapes if not shape.is_beside], layout.map.topLeft(), self.theme)
        self._paint_step(painter)
        if place is not None:
            self._paint_cross_hair(painter, place)
        painter.restore()
        self._paint_value(painter, shown, size)

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
            for index in thinned(len(labels), step, [index for index, role in enumerate(roles) if role == "accent"]):
                if not layout.is_in_sight(Band(index, is_row)):
                    continue
                color = self._label_color(labels[index], roles[index])
                if is_row:
                    center = layout.map.top() + (index + 0.5) * layout.cell.y()
                    self._paint_left_label(painter, center, labels[index], color)
                else:
                    self._paint_column_label(painter, index, labels[index], color)

    def _hatch_missing(self, painter: QPainter) -> None:
        """Cells without a value, each run of them in a row at once."""
        layout, size = self.layout, self.layout.cell
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

    def _paint_left_label(self, painter: QPainter, center: float, label: str, color: QColor) -> None:
        layout = self.layout
        text = elided(label, self._font_key, layout.row_label_width)
        painter.setPen(color)
        right = layout.window.left() - LABEL_GAP
        half = self.theme.scaled(12)
        place = QRectF(right - layout.row_label_width - 4, center - half, layout.row_label_width + 4, 2 * half)
        painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_column_label(self, painter: QPainter, index: int, label: str, color: QColor) -> None:
        layout, metrics = self.layout, QFontMetrics(self.layout.font)
        text = elided(label, self._font_key, layout.column_label_length)
        painter.save()
        painter.translate(layout.map.left() + (index + 0.5) * layout.cell.x(), layout.window.top() - LABEL_GAP)
        painter.rotate(COLUMN_ANGLE)
        painter.setPen(color)
        painter.drawText(QPointF(0, metrics.ascent() * 0.38), text)
        painter.restore()

    def _label_color(self, label: str, role: str) -> QColor:
        """New tokens have the colour that changed words have everywhere."""
        is_special = label.startswith("<") and label.endswith(">")
        return self.theme.color(role or ("muted" if is_special else "text"))

    def _paint_bar(self, painter: QPainter) -> None:
        bar = self.layout.bar
        gradient = QLinearGradient(bar.bottomLeft(), bar.topLeft())
        is_signed = self.drawing.is_signed
        gradient.setStops(_signed_stops(signed_ramp_of(self.theme)) if is_signed else _stops(ramp_of(self.theme)))
        painter.fillRect(bar, gradient)
        painter.setPen(QPen(self.theme.color("border"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar)
        painter.setPen(self.theme.color("muted"))
        painter.setFont(self.theme.font("small"))
        ascent = QFontMetrics(painter.font()).ascent()
        number = "1" if self.drawing.top == 1 else f"{self.drawing.top:.2f}"
        ends = (f"+{number}", f"−{number}") if is_signed else (number, "0")
        painter.drawText(QPointF(bar.right() + 5, bar.top() + ascent - 2), ends[0])
        painter.drawText(QPointF(bar.right() + 5, bar.bottom()), ends[1])
        if is_signed:
            painter.drawText(QPointF(bar.right() + 5, bar.center().y() + ascent / 2 - 1), "0")

    def _paint_strip(self, painter: QPainter) -> None:
        """The sum of the picked rows under the map; its last colour is its own largest value, or the map's."""
        place, strip, layout, frame = self.layout.strip, self.drawing.strip, self.layout, self.layout.strip_frame
        if place is None or frame is None or strip is None:
            return
        image = map_image(strip.values, ramp_of(self.theme), strip.top(self.drawing.top))
        painter.save()
        painter.setClipRect(frame)
        draw_map(painter, place, image)
        painter.restore()
        painter.setPen(QPen(self.theme.color("accent"), 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(frame)
        painter.setFont(layout.font)
        self._paint_left_label(painter, frame.center().y(), strip.label, self.theme.color("accent"))
        painter.setFont(self.theme.font("small"))
        painter.setPen(self.theme.color("muted"))
        painter.drawText(QPointF(frame.right() + BAR_GAP, frame.center().y() + 4), f"≤ {strip.largest:.2f}")

    def _paint_step(self, painter: QPainter) -> None:
        """The query of the decoding step that is looked at, framed as in the line of tokens; changes are warm."""
        view, selection = self.view, self.state.selection
        if selection.step is None or selection.head.kind == "encoder":
            return
        for band in view.query_bands(view.query_entries([selection.step])):
            painter.setPen(QPen(self.theme.color("accent"), 2.4))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.layout.band_rect(band))

    def _paint_cross_hair(self, painter: QPainter, place: Place) -> None:
        painter.setPen(QPen(self.theme.color("accent"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(self.layout.band_rect(Band(place.row, is_row=True)))
        painter.drawRect(self.layout.band_rect(Band(place.column, is_row=False)))
        painter.setPen(QPen(self.theme.color("accent"), 2))
        painter.drawRect(self.layout.cell_rect(place))

    def _paint_value(self, painter: QPainter, shown: Pair | None, size: QSize) -> None:
        """A box near the cell, where it covers neither the cell's row nor its column if there is such a place."""
        strip, entry = self.drawing.strip, self.state.selection.hovered_sum
        if strip is not None and entry is not None and entry < strip.values.size:
            place = self.layout.sum_rect(entry)
            title = f"{strip.title} → {self.view.labelled.keys.labels[entry]}"
            lines: tuple[str, str] | None = (title, f"{map_text.value_name(self.state)} {strip.values.flat[entry]:.3f}")
        else:
            place = self.cell_rect(shown) if shown is not None else None
            lines = map_text.describe(self.state, shown) if shown is not None else None
        if place is None or lines is None or not _is_in_sight(place, self.layout):
            return
        theme, metrics = self.theme, QFontMetrics(self.theme.font("body"))
        window, beside = self.layout.window, self.bar_and_numbers
        free = free_areas(QSizeF(size), window, beside)
        number_width, height = metrics.horizontalAdvance(lines[1]), 2 * metrics.height() + 14
        for room in (size.width() - 40, int(free[0].width()) - BESIDE_TEXT):  # shorter, where it covers labels or bar
            tokens = metrics.elidedText(lines[0], Qt.TextElideMode.ElideMiddle, max(room, number_width))
            width = max(metrics.horizontalAdvance(tokens), number_width) + BESIDE_TEXT
            box = value_place(place, QSizeF(width, height), QSizeF(size), window, beside)
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
    """Where the box of a value stands: aslant from its cell, as row and column are to stay in sight.

    On a small map it covers other cells of the column rather than labels or the colour bar.

    Args:
        cell: what it is about.
        box: its size.
        widget: the size of the whole.
        cells: where the map is; what is above are the labels of columns, what is at the left those of rows.
        bar: what is at its right.
    """
    left, right = cell.left() - VALUE_GAP - box.width(), cell.right() + VALUE_GAP
    above, below = cell.top() - VALUE_GAP - box.height(), cell.bottom() + VALUE_GAP
    over_cells, behind_bar = free_areas(widget, cells, bar)
    first, last, far = over_cells.left(), over_cells.right() - box.width(), behind_bar.left()
    # most maps are darkest from the upper left to the lower right: there it stands last
    aslant = (left, below), (right, above), (right, below)
    over_column = (last, above), (first, below), (left, above), (first, above), (last, below)
    tried = (
        (over_cells, aslant),
        (behind_bar, ((far, below), (far, above))),
        (over_cells, over_column),
        (_whole(widget), (*aslant, (left, above))),
    )
    for area, corners in tried:
        for x, y in corners:
            if area.contains(place := QRectF(QPointF(x, y), box)):
                return place
    middle = cell.center().x() - box.width() / 2
    x = min(max(middle, 2), widget.width() - box.width() - 2)
    return QRectF(QPointF(x, below if below + box.height() < widget.height() - 2 else above), box)


def free_areas(widget: QSizeF, cells: QRectF, bar: QRectF) -> tuple[QRectF, QRectF]:
    """What a box may cover: the cells and what is below them, and the place behind the bar; neither labels nor bar."""
    bottom_right = _whole(widget).bottomRight()
    over_cells = QRectF(cells.topLeft(), QPointF(cells.right(), bottom_right.y()))
    return over_cells, QRectF(bar.topRight(), bottom_right)


def _whole(widget: QSizeF) -> QRectF:
    """What a box may cover at all."""
    return QRectF(QPointF(0, 0), widget).adjusted(2, 2, -2, -2)


def _is_in_sight(place: QRectF, layout: HeatmapLayout) -> bool:
    """Whether the middle of a cell of the map, or of the strip, can be seen."""
    middle, frame = place.center(), layout.strip_frame
    return layout.window.contains(middle) or (frame is not None and frame.contains(middle))


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


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The stretches that are true, half-open."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return [(int(first), int(last)) for first, last in edges.reshape(-1, 2)]
