"""One weight end to end: query, keys, scores, softmax, and the sum of weighted values, with the real numbers."""

import math
from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QSlider, QWidget

from core.analysis.trace import Trace
from core.text.subwords import WORD_MARK
from core.translation.experiment import SoftmaxTemperature
from core.translation.result import FloatArray, Translation
from viz_app.heatmap.map_image import map_image, signed_ramp_of
from viz_app.learn.actions import set_temperature, strongest_pair
from viz_app.learn.figures.figure import LearnContext, StationFigure
from viz_app.learn.values import percent
from viz_app.learn.weight_steps import WeightSteps, weight_steps
from viz_app.state.map_view import Pair
from viz_app.theme import current_theme, scaled
from viz_app.widgets.parts import label
from viz_app.worker.jobs import TraceJob

LINE, LEAST_LINE, GAP, HEADER = 22, 17, 12, 20
"""A line is lower where the page is."""
MAX_TOKEN, MAX_STRIP = 100, 190
NUMBER_WIDTH, LEAST_BAR = 52, 46
TEMPERATURES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0)


class OneWeightFigure(StationFigure):
    """A line for each key: its vector, its score, its weight, and its value times the weight; and a temperature.

    The pinned query is shown; a click on a line pins its key.

    Attributes:
        table: the lines.
        temperature: a slider over `TEMPERATURES`.
    """

    caption = "From a query to what the head gives"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self._trace: Trace | None = None
        self._traced: Translation | None = None
        self._limit = 0
        self.table = WeightTable()
        self.table.key_clicked.connect(self._pin_key)
        self.temperature = QSlider(Qt.Orientation.Horizontal)
        self.temperature.setRange(0, len(TEMPERATURES) - 1)
        self.temperature.setPageStep(1)
        self.temperature.setProperty("role", "film")
        self.temperature.setAccessibleName("Softmax temperature")
        self.temperature.valueChanged.connect(self._on_temperature)
        self._temperature_text = label("small")
        row = QHBoxLayout()
        name = label("muted")
        name.setText("temperature")
        row.addWidget(name)
        row.addWidget(self.temperature, 1)
        row.addWidget(self._temperature_text)
        self.column.addWidget(self.table)
        self.column.addLayout(row)

    def set_limit(self, height: int) -> None:
        """A low page has lower lines."""
        self._limit = height
        self._fit()

    def _fit(self) -> None:
        self.table.set_line(scaled(LINE))
        if self._limit > 0 and self.table.num_lines > 0:
            excess = max(0, self.column.totalHeightForWidth(self.width()) - self._limit)
            self.table.set_line(max(scaled(LEAST_LINE), scaled(LINE) - math.ceil(excess / self.table.num_lines)))

    def refresh(self) -> None:
        """Asks for queries, keys and values of the translation that is shown."""
        translation = self.translation
        self._show_temperature()
        if translation is None or self.state.is_of_earlier_model:
            return
        if self.state.selection.pinned is None:
            self.state.selection.pinned = strongest_pair(self.state)
        if self._traced is translation:
            self.redraw()
            return

        def take(trace: object) -> None:
            assert isinstance(trace, Trace)
            self._trace, self._traced = trace, translation
            self.redraw()

        self.controller.ask(TraceJob(translation), self.request, take)

    def redraw(self) -> None:
        """Another pair is pinned, another head chosen, or other numbers have come."""
        translation, pinned, head = self.translation, self.state.selection.pinned, self.state.selection.head
        self._show_temperature()
        if translation is None or self._trace is None or self._traced is not translation or pinned is None:
            return
        num_queries, num_keys = translation.maps.of_kind(head.kind).shape[-2:]
        if pinned.query >= num_queries or pinned.key >= num_keys:
            return
        keys = translation.read_tokens if head.kind == "decoder" else translation.source_tokens
        queries = translation.source_tokens if head.kind == "encoder" else translation.predicted_tokens
        verb = "reads" if head.kind == "encoder" else "predicts"
        query = queries[pinned.query].replace(WORD_MARK, "")
        self.title.setText(f"{head.title}, where it {verb} “{query}”: from the query to the output of the head")
        steps = weight_steps(self._trace, head, pinned.query)
        self.table.show_steps(steps, tuple(token.replace(WORD_MARK, "") for token in keys), query, pinned.key)
        self._fit()

    def _pin_key(self, key: int) -> None:
        pinned = self.state.selection.pinned
        if pinned is not None:
            self.state.selection.pinned = Pair(pinned.query, key)

    def _show_temperature(self) -> None:
        head = self.state.selection.head
        found = next((each.temperature for each in self.state.experiment.temperatures if each.head == head), 1.0)
        nearest = min(range(len(TEMPERATURES)), key=lambda place: abs(math.log(TEMPERATURES[place] / found)))
        self.temperature.blockSignals(True)
        self.temperature.setValue(nearest)
        self.temperature.blockSignals(False)
        self._temperature_text.setText(f"{found:g}")

    def _on_temperature(self, place: int) -> None:
        head = self.state.selection.head
        wanted = TEMPERATURES[place]
        if SoftmaxTemperature(head, wanted) not in self.state.experiment.temperatures:
            set_temperature(self.state, str(wanted))


class WeightTable(QWidget):
    """Draws `WeightSteps`.

    Signals:
        key_clicked(int): the line of a key was clicked.
    """

    key_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._steps: WeightSteps | None = None
        self._tokens: tuple[str, ...] = ()
        self._query, self._key = "", 0
        self._line = scaled(LINE)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Scores, weights and weighted values of one query")
        self.setToolTip("Click a line: pin this key")

    def show_steps(self, steps: WeightSteps, tokens: tuple[str, ...], query: str, key: int) -> None:
        """Another query, or other numbers.

        Args:
            steps: the numbers.
            tokens: M, of the keys.
            query: the word of the query.
            key: the pinned one.
        """
        self._steps, self._tokens, self._query, self._key = steps, tokens, query, key
        described = (f"{token} {percent(float(share))}" for token, share in zip(tokens, steps.weights, strict=True))
        self.setAccessibleDescription(", ".join(described))
        self.setFixedHeight(self._content_height())
        self.update()

    @property
    def num_lines(self) -> int:
        """Of the query, the keys and the sum; 0 while nothing is shown."""
        return len(self._tokens) + 2 if self._tokens else 0

    def set_line(self, height: int) -> None:
        """Another height of lines, in pixels."""
        self._line = height
        if self._tokens:
            self.setFixedHeight(self._content_height())
            self.update()

    def _content_height(self) -> int:
        return scaled(HEADER) + self.num_lines * self._line + 4

    def sizeHint(self) -> QSize:
        """As wide as the layout likes."""
        return QSize(460, self._content_height())

    def line_of(self, key: int) -> QRectF:
        """Where a key's line is drawn."""
        return QRectF(0, scaled(HEADER) + (key + 1) * self._line, self.width(), self._line)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a line."""
        key = int((event.position().y() - scaled(HEADER)) // self._line) - 1
        if event.button() == Qt.MouseButton.LeftButton and 0 <= key < len(self._tokens):
            self.key_clicked.emit(key)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The lines, the query above them, the sum below."""
        steps, theme = self._steps, current_theme()
        if steps is None:
            return
        painter = QPainter(self)
        places = _Columns(self.width(), self._tokens, theme.font("body"))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("muted"))
        headings = ("", "query · keys k", "score q·k/√K", "weight (softmax)", "weight · value v")
        if steps.temperature != 1:
            headings = (*headings[:2], f"q·k/√K/{steps.temperature:g}", *headings[3:])
        for left, width, heading in zip(places.lefts, places.widths, headings, strict=True):
            fitting = painter.fontMetrics().elidedText(heading, Qt.TextElideMode.ElideRight, int(width))
            painter.drawText(QPointF(left, scaled(HEADER) - 6), fitting)
        strips = max(float(np.abs(steps.query).max()), float(np.abs(steps.keys).max())), _largest(steps)
        self._draw_name(painter, places, -1, self._query, theme.font("body", bold=True))
        self._draw_strip(painter, places, 1, -1, steps.query, strips[0])
        finite = steps.scores[np.isfinite(steps.scores)]
        reach = max(float(np.abs(finite).max()), 1e-9)
        for key, token in enumerate(self._tokens):
            line = self.line_of(key)
            if key == self._key:
                painter.fillRect(line, theme.color("raised"))
            self._draw_name(painter, places, key, token, theme.font("body", bold=key == self._key))
            self._draw_strip(painter, places, 1, key, steps.keys[key], strips[0])
            self._draw_score(painter, places, key, float(steps.scores[key]), reach)
            self._draw_weight(painter, places, key, float(steps.weights[key]))
            self._draw_strip(painter, places, 4, key, steps.weighted[key], strips[1])
        last = len(self._tokens)
        painter.setPen(theme.color("border"))
        painter.drawLine(QPointF(0, self.line_of(last).top() + 1), QPointF(self.width(), self.line_of(last).top() + 1))
        total = QRectF(places.lefts[3], self.line_of(last).top() + 2, places.widths[3], self._line)
        painter.setPen(theme.color("muted"))
        painter.drawText(total, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), "sum: output")
        self._draw_strip(painter, places, 4, last, steps.output, strips[1])

    def _draw_name(self, painter: QPainter, places: "_Columns", key: int, text: str, font: QFont) -> None:
        line = self.line_of(key)
        painter.setFont(font)
        painter.setPen(current_theme().color("accent" if key < 0 else "text"))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, int(places.widths[0]))
        area = QRectF(0, line.top(), places.widths[0], self._line)
        painter.drawText(area, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), shown)
        painter.setFont(current_theme().font("small"))

    def _draw_strip(
        self, painter: QPainter, places: "_Columns", column: int, key: int, vector: FloatArray, top: float
    ) -> None:
        line = self.line_of(key)
        image = map_image(vector[None], signed_ramp_of(current_theme()), top)
        area = QRectF(places.lefts[column], line.top() + 4, places.widths[column], self._line - 7)
        painter.drawImage(area, image)

    def _draw_score(self, painter: QPainter, places: "_Columns", key: int, score: float, reach: float) -> None:
        theme, line = current_theme(), self.line_of(key)
        left, width = places.lefts[2], places.widths[2] - scaled(NUMBER_WIDTH)
        text = "hidden" if math.isinf(score) else f"{score:.2f}".replace("-", "−")
        if not math.isinf(score):
            middle = left + width / 2
            length = width / 2 * score / reach
            bar = QRectF(middle, line.top() + self._line / 3, length, self._line * 0.4).normalized()
            painter.fillRect(bar, theme.color("warm" if score > 0 else "accent", 0.75))
            painter.fillRect(QRectF(middle, line.top() + 3, 1, self._line - 6), theme.color("border"))
        self._draw_number(painter, places, 2, line, text)

    def _draw_weight(self, painter: QPainter, places: "_Columns", key: int, weight: float) -> None:
        theme, line = current_theme(), self.line_of(key)
        left, width = places.lefts[3], places.widths[3] - scaled(NUMBER_WIDTH)
        top, height = line.top() + self._line / 3, self._line * 0.4
        painter.fillRect(QRectF(left, top, width, height), theme.color("raised"))
        painter.fillRect(QRectF(left, top, width * weight, height), theme.color("accent"))
        self._draw_number(painter, places, 3, line, percent(weight).replace("less than", "<").replace("more than", ">"))

    def _draw_number(self, painter: QPainter, places: "_Columns", column: int, line: QRectF, text: str) -> None:
        painter.setPen(current_theme().color("text"))
        right = places.lefts[column] + places.widths[column]
        area = QRectF(right - scaled(NUMBER_WIDTH), line.top(), scaled(NUMBER_WIDTH), self._line)
        painter.drawText(area, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), text)


class _Columns:
    """Where the five columns stand: tokens, key vectors, scores, weights, weighted values."""

    def __init__(self, width: int, tokens: tuple[str, ...], font: QFont) -> None:
        metrics = QFontMetrics(font)
        token = min(max((metrics.horizontalAdvance(each) for each in tokens), default=0) + 8, scaled(MAX_TOKEN))
        left_over = width - token - 4 * scaled(GAP)
        bars = max(left_over * 0.23, scaled(NUMBER_WIDTH) + scaled(LEAST_BAR))
        strip = min(max((left_over - 2 * bars) / 2, 20), scaled(MAX_STRIP))
        bars = (left_over - 2 * strip) / 2
        self.widths = (float(token), strip, bars, bars, strip)
        self.lefts = [0.0]
        for each in self.widths[:-1]:
            self.lefts.append(self.lefts[-1] + each + scaled(GAP))


def _largest(steps: WeightSteps) -> float:
    return max(float(np.abs(steps.weighted).max()), float(np.abs(steps.output).max()), 1e-9)
