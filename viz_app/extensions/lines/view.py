"""One attention map as lines: queries at the left, keys at the right, the wider a line the larger
its weight.

Of a difference, lines for more are orange and lines for less are blue, as the cells of the heatmap.
"""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSlider, QWidget

from augenmerk.core.quantities import number
from augenmerk.core.translation.result import FloatArray

from ...heatmap.heatmap import LargeMap, selection_mode_of
from ...state.experiment_state import ExperimentState
from ...state.map_source import color_scale
from ...state.map_view import Band, MapView
from ...state.marks import lit_keys, lit_queries
from ...state.sentence_text import visible
from ...theme import Theme, scales
from ...widgets.labels import label
from ...widgets.layouts import VerticalScrollArea, row_of

HEADER = 24
MIN_LINE, MAX_LINE = 16.0, 34.0
MAX_LABEL = 150
MAX_SPAN = 460.0
GAP = 8
NUM_SHADES = 12
MIN_WIDTH, MAX_WIDTH = 0.7, 5.0
FAINT = 0.12
NATURAL_WIDTH, NATURAL_LINE = 640, 22
MAX_THRESHOLD_PERCENT = 60


@dataclass
class LinesPainter:
    """Paints a map as lines into a size.

    Attributes:
        state: threshold and marks.
        theme: colours and fonts.
        view: the map.
        size: of the picture; tokens are closer together in a low one.
    """

    state: ExperimentState
    theme: Theme
    view: MapView
    size: QSize

    def __post_init__(self) -> None:
        metrics = QFontMetrics(self.theme.font("body"))
        labels = (*self.view.labelled.queries.labels, *self.view.labelled.keys.labels)
        self.label_width = min(
            max(map(metrics.horizontalAdvance, map(visible, labels))) + 2,
            self.theme.scaled(MAX_LABEL),
        )
        head = self.state.selection.head
        maps = self.state.maps
        self.scale = color_scale(maps, head, self.view.weights)
        self.new_entries = maps.new_entries(head.kind)
        number = metrics.horizontalAdvance("+0.00" if self.scale.is_signed else "0.00") + GAP
        span = min(
            self.theme.scaled(MAX_SPAN),
            self.size.width() - 2 * (self.label_width + GAP) - 2 * number,
        )
        self.left = (self.size.width() - max(span, 40.0)) / 2
        self.right = self.size.width() - self.left

    @classmethod
    def of_natural_size(cls, state: ExperimentState, theme: Theme, view: MapView) -> "LinesPainter":
        """A picture in which each token has the height of a line of text."""
        count = max(*view.weights.shape)
        return cls(
            state,
            theme,
            view,
            QSize(
                theme.scaled(NATURAL_WIDTH),
                int(theme.scaled(HEADER) + theme.scaled(NATURAL_LINE) * count),
            ),
        )

    def bands(self, *, are_queries: bool) -> list[Band]:
        """The queries, which are at the left, or the keys, at the right, from top to bottom."""
        queries, keys = self.view.weights.shape
        return (
            self.view.bands_at(range(queries), ())
            if are_queries
            else self.view.bands_at((), range(keys))
        )

    def y_of(self, label: Band) -> float:
        """The middle of a token's line."""
        return self.theme.scaled(HEADER) + (label.index + 0.5) * self._step(
            are_queries=self.view.is_query(label)
        )

    def _step(self, *, are_queries: bool) -> float:
        """Pixels from one token to the next."""
        room = self.size.height() - self.theme.scaled(HEADER)
        return min(
            room / self.view.weights.shape[0 if are_queries else 1], self.theme.scaled(MAX_LINE)
        )

    def label_at(self, point: QPointF) -> Band | None:
        """The token whose label is under a point."""
        is_left = point.x() < self.left
        if not is_left and point.x() <= self.right:
            return None
        bands = self.bands(are_queries=is_left)
        index = int((point.y() - self.theme.scaled(HEADER)) // self._step(are_queries=is_left))
        return bands[index] if 0 <= index < len(bands) else None

    def strength(self) -> FloatArray:
        """[queries, keys], from 0 to 1: the strength of each line without its sign; 0: not
        drawn.
        """
        strength = self.scale.strength(self.view.weights)
        strength[strength < self.state.settings.line_threshold] = 0
        only = self._only()
        return np.where(
            only,
            strength,
            0 if self.state.selection.hovered_label is not None else strength * FAINT,
        )

    def _only(self) -> np.ndarray:
        """The lines to emphasise: of the token under the mouse, else of pinned and picked ones,
        else all.
        """
        only = np.zeros(self.view.weights.shape, dtype=bool)
        selection = self.state.selection
        label = selection.hovered_label
        kind = selection.head.kind
        if label is not None:
            only[
                (label.index, slice(None))
                if self.view.is_query(label)
                else (slice(None), label.index)
            ] = True
            return only
        if not selection.has_marks:
            return ~only
        only[self.view.labelled.queries.entries_of(lit_queries(self.state, kind))] = True
        if not only.any():
            only[:, self.view.labelled.keys.entries_of(lit_keys(self.state, kind))] = True
        return only

    def paint(self, painter: QPainter) -> None:
        """Lines, then labels."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        strength = self.strength()
        self._paint_lines(painter, strength)
        bright_queries = strength.max(axis=1) > FAINT
        bright_keys = strength.max(axis=0) > FAINT
        if not self.state.selection.has_marks and self.state.selection.hovered_label is None:
            bright_queries[:] = bright_keys[:] = False
        for are_queries, lit, new in zip(
            (True, False), (bright_queries, bright_keys), self.new_entries, strict=True
        ):
            for band in self.bands(are_queries=are_queries):
                color = "warm" if band.index in new else ""
                self._paint_label(painter, band, "accent" if lit[band.index] else color)
        self._paint_titles(painter)
        self._paint_values(painter)

    def _paint_lines(self, painter: QPainter, strength: FloatArray) -> None:
        """The faintest first, all of a shade at once."""
        lefts = [self.y_of(band) for band in self.bands(are_queries=True)]
        rights = [self.y_of(band) for band in self.bands(are_queries=False)]
        shades = np.ceil(strength * NUM_SHADES).astype(int)
        for shade in range(1, NUM_SHADES + 1):
            share = shade / NUM_SHADES
            for color, is_drawn in self._colors():
                pairs = np.argwhere((shades == shade) & is_drawn).tolist()
                lines = [
                    QLineF(self.left, lefts[query], self.right, rights[key]) for query, key in pairs
                ]
                if not lines:
                    continue
                color.setAlphaF(0.12 + 0.8 * share)
                pen = QPen(color, MIN_WIDTH + (MAX_WIDTH - MIN_WIDTH) * share)
                pen.setCapStyle(Qt.PenCapStyle.RoundCap)
                painter.setPen(pen)
                painter.drawLines(lines)

    def _colors(self) -> list[tuple[QColor, np.ndarray]]:
        """Each colour and the lines that have it."""
        if not self.scale.is_signed:
            return [(self.theme.color("accent"), np.ones(self.view.weights.shape, dtype=bool))]
        table = self.scale.table(is_dark=self.theme.is_dark).rgb.tolist()
        is_less = self.view.weights < 0
        return [(QColor(*table[0]), is_less), (QColor(*table[-1]), ~is_less)]

    def _paint_label(self, painter: QPainter, label: Band, color: str) -> None:
        text, is_query = self.view.label_of(label), self.view.is_query(label)
        font = self.theme.font("body")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(self.theme.token_color(text, color))
        x = self.left - GAP - self.label_width if is_query else self.right + GAP
        side = Qt.AlignmentFlag.AlignRight if is_query else Qt.AlignmentFlag.AlignLeft
        box = QRectF(x, self.y_of(label) - 12, self.label_width, 24)
        elided = metrics.elidedText(visible(text), Qt.TextElideMode.ElideRight, self.label_width)
        painter.drawText(box, side | Qt.AlignmentFlag.AlignVCenter, elided)

    def _paint_titles(self, painter: QPainter) -> None:
        painter.setFont(self.theme.font("small"))
        painter.setPen(self.theme.color("muted"))
        is_encoder = self.state.selection.head.kind == "encoder"
        queries = "source token" if is_encoder else f"token {self.state.settings.label_mode}"
        left, right = self.title_places(queries, "looks at")
        flags = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(left, flags | Qt.AlignmentFlag.AlignRight, queries)
        painter.drawText(right, flags | Qt.AlignmentFlag.AlignLeft, "looks at")

    def title_places(self, left: str, right: str) -> tuple[QRectF, QRectF]:
        """The places of the titles of the two columns: above them, or further in if a column is too
        narrow.
        """
        metrics = QFontMetrics(self.theme.font("small"))
        height = self.theme.scaled(HEADER) - 6
        widths = [metrics.horizontalAdvance(title) + 1 for title in (left, right)]
        x = min(self.right + GAP, self.size.width() - widths[1])
        return QRectF(0, 0, max(self.left - GAP, widths[0]), height), QRectF(
            x, 0, self.size.width() - x, height
        )

    def _paint_values(self, painter: QPainter) -> None:
        """The weights of the token under the mouse, beyond the labels of the other side."""
        label = self.state.selection.hovered_label
        if label is None:
            return
        is_query = self.view.is_query(label)
        values = self.view.weights[label.index] if is_query else self.view.weights[:, label.index]
        painter.setFont(self.theme.font("small"))
        painter.setPen(self.theme.color("muted"))
        least = max(self.state.settings.line_threshold * self.scale.top, 0.005)
        half = self.theme.scaled(12)
        reach = GAP + self.label_width + 4
        middle = Qt.AlignmentFlag.AlignVCenter
        for band, value in zip(
            self.bands(are_queries=not is_query), np.nan_to_num(values).tolist(), strict=True
        ):
            if abs(value) < least:
                continue
            y = self.y_of(band)
            text = number(value, signed=self.scale.is_signed)
            if is_query:
                painter.drawText(QRectF(self.right + reach, y - half, 100, 2 * half), middle, text)
            else:
                box = QRectF(0, y - half, self.left - reach, 2 * half)
                painter.drawText(box, middle | Qt.AlignmentFlag.AlignRight, text)


class ThresholdControl(QWidget):
    """The least weight that is drawn.

    Attributes:
        slider: in percent of the last colour's weight.
    """

    def __init__(self, state: ExperimentState) -> None:
        super().__init__()
        self._state = state
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, MAX_THRESHOLD_PERCENT)
        scales(self.slider.setFixedWidth, 110)
        self.slider.setToolTip("Weaker lines are left out")
        self.slider.setAccessibleName("Weakest line that is drawn")
        self.slider.valueChanged.connect(self._choose)
        self._caption = label("small")
        row_of(self._caption, self.slider, spacing=4, within=self)
        self._show()
        state.settings.events.line_threshold.connect(self._show, max_args=0)

    def _show(self) -> None:
        threshold = self._state.settings.line_threshold
        self._caption.setText(f"from {threshold:.2f}")
        self.slider.setValue(round(100 * threshold))

    def _choose(self, percent: int) -> None:
        self._state.settings.line_threshold = percent / 100


class LinesView(LargeMap):
    """Draws the large map of an `ExperimentState` as lines, while its settings ask for lines."""

    picture = "lines"

    def __init__(self, state: ExperimentState) -> None:
        super().__init__(state)
        self._painter: LinesPainter | None = None
        self.setAccessibleName("Attention of the chosen head, as lines")
        self.setToolTip(
            "Point at a token to see only its lines. Click to pick it; Ctrl or Shift and click "
            "to pick several."
        )
        state.settings.events.line_threshold.connect(self.update, max_args=0)
        self.show_map()

    def framed(self) -> VerticalScrollArea:
        """See `LargeMap`: there may be more tokens than fit."""
        area = VerticalScrollArea(self)
        area.setMinimumSize(320, 120)
        return area

    def make_controls(self) -> ThresholdControl:
        """See `LargeMap`."""
        return ThresholdControl(self._state)

    @classmethod
    def exported(cls, state: ExperimentState, theme: Theme, view: MapView) -> LinesPainter:
        """See `LargeMap`."""
        return LinesPainter.of_natural_size(state, theme, view)

    def rebuild(self) -> None:
        """Another map, or another size."""
        self._painter = None
        if self._view is not None:
            count = max(self._view.weights.shape)
            self.setMinimumHeight(
                int(self.theme.scaled(HEADER) + self.theme.scaled(MIN_LINE) * count)
            )
            self._painter = LinesPainter(self._state, self.theme, self._view, self.size())
        self.update()

    def queries_at(self, point: QPointF) -> tuple[int, ...]:
        """The queries of the label under a point; empty if there is none."""
        label = self._painter.label_at(point) if self._painter is not None else None
        return self._view.queries_of(label) if self._view is not None and label is not None else ()

    def resizeEvent(self, event: QEvent) -> None:
        """Tokens spread over the height."""
        self.rebuild()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Only the lines of the token under the mouse."""
        label = self._painter.label_at(event.position()) if self._painter is not None else None
        if label != self._state.selection.hovered_label:
            self.setCursor(
                Qt.CursorShape.PointingHandCursor if label else Qt.CursorShape.ArrowCursor
            )
            self._state.selection.hovered_label = label

    def leaveEvent(self, event: QEvent) -> None:
        self._state.selection.hovered_label = None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click picks a token."""
        label = self._painter.label_at(event.position()) if self._painter is not None else None
        if label is not None and event.button() == Qt.MouseButton.LeftButton:
            self.pick(label, selection_mode_of(event))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._painter is not None:
            self._painter.paint(QPainter(self))
