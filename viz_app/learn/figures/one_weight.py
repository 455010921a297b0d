"""One weight end to end: query, keys, scores, softmax, and the sum of weighted values, with the real numbers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QSlider, QToolTip, QWidget

from augenmerk.core.analysis.trace import Trace
from augenmerk.core.model.heads import Head
from augenmerk.core.quantities import percent_in_words
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.translation.experiment import SoftmaxTemperature
from augenmerk.core.translation.result import FloatArray, Translation
from augenmerk.viz_app.heatmap.drawing import color_table
from augenmerk.viz_app.heatmap.map_image import map_image
from augenmerk.viz_app.learn.actions import set_temperature, strongest_pair
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.theme import current_theme, scaled
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import add_parts, row_of
from augenmerk.viz_app.worker.inference import Job, TraceJob

LINE, LEAST_LINE, GAP, HEADER = 22, 12, 12, 20
"""A line is lower where the page is."""
NUMBERS_LINE, NUMBERS_GAP, NUMBERS_NAME = 16, 8, 150
IN_TIP = 8
"""Numbers in a line of a tool tip."""
MAX_TOKEN, MAX_STRIP = 100, 190
TEXT_OF_LINE = 0.9
"""Of the height of a line, the most that letters take."""
NUMBER_WIDTH, LEAST_BAR = 52, 46
CLICK_TIP = "Click a line: pin this key. Point at a strip of colours: its numbers"
TEMPERATURES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0)


@dataclass(frozen=True, eq=False)
class WeightSteps:
    """The steps of the attention of one query in one head.

    Attributes:
        query: [K].
        keys: [M, K].
        scores: [M], query · key / √K, divided by the temperature; −∞ where the mask hides a key.
        weights: [M], what the softmax makes of them; they sum to 1.
        values: [M, K].
        weighted: [M, K], each value times its weight.
        output: [K], their sum: what the head gives at this position.
        temperature: of the softmax.
    """

    query: FloatArray
    keys: FloatArray
    scores: NDArray[np.float64]
    weights: FloatArray
    values: FloatArray
    weighted: FloatArray
    output: FloatArray
    temperature: float

    def products(self, key: int) -> NDArray[np.float64]:
        """[K], query times key, number by number; their sum is the dot product."""
        return np.asarray(self.query.astype(np.float64) * self.keys[key].astype(np.float64))


def weight_steps(trace: Trace, head: Head, query: int) -> WeightSteps:
    """The steps that lead to one row of a map.

    Args:
        trace: of the pair.
        head: which.
        query: its position.
    """
    heads = trace.of_kind(head.kind)
    place = head.layer, head.head
    vector, keys, weights = heads.queries[(*place, query)], heads.keys[place], heads.weights[(*place, query)]
    temperature = float(heads.temperatures[place])
    scores = keys.astype(np.float64) @ vector.astype(np.float64) / np.sqrt(len(vector)) / temperature
    if head.kind == "decoder" and not trace.lifts_mask:
        scores[query + 1 :] = -np.inf
    values = heads.values[place]
    weighted = weights[:, None] * values
    return WeightSteps(vector, keys, scores, weights, values, weighted, weighted.sum(axis=0), temperature)


class OneWeightFigure(ChapterFigure):
    """A line for each key: its vector, its score, its weight, and its value times the weight; and a temperature.

    The pinned query is shown; a click on a line pins its key.

    Attributes:
        numbers: query, key and value of the pinned pair in numbers, as many as fit, and what becomes of them.
        table: the lines.
        temperature: a slider over `TEMPERATURES`.
    """

    caption = "From a query to what the head gives"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self._trace: Trace | None = None
        self._traced: Translation | None = None
        self.numbers = PinnedNumbers()
        self.table = WeightTable()
        self.table.key_clicked.connect(self._pin_key)
        self.temperature = QSlider(Qt.Orientation.Horizontal)
        self.temperature.setRange(0, len(TEMPERATURES) - 1)
        self.temperature.setPageStep(1)
        self.temperature.setProperty("role", "film")
        self.temperature.setAccessibleName("Softmax temperature")
        self.temperature.valueChanged.connect(self._on_temperature)
        self._temperature_text = label("small")
        row = row_of(label("muted", "temperature"), (self.temperature, 1), self._temperature_text)
        add_parts(self.column, self.numbers, self.table, row)

    def shrink(self) -> None:
        """A low page has lower lines."""
        self.table.set_line(scaled(LINE))
        if self.table.num_lines > 0:
            lower = math.ceil(self.excess_px / self.table.num_lines)
            self.table.set_line(max(scaled(LEAST_LINE), scaled(LINE) - lower))

    def to_ask(self) -> tuple[object, Job] | None:
        """Queries, keys and values of the translation that is shown."""
        return self.about(self.translation, TraceJob)

    def take(self, answer: Trace) -> None:
        """Keeps the numbers."""
        self._trace, self._traced = answer, self.translation

    def refresh(self) -> None:
        """While nothing is pinned, a large weight is."""
        self._show_temperature()
        if self.state.current is not None and self.state.selection.pinned is None:
            self.state.selection.pinned = strongest_pair(self.state)
        super().refresh()

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
        self.title.setText(f"Where it {verb} “{query}”: from the query to the output of the head")
        steps = weight_steps(self._trace, head, pinned.query)
        tokens = tuple(token.replace(WORD_MARK, "") for token in keys)
        self.numbers.show_steps(steps, tokens, query, pinned.key)
        self.table.show_steps(steps, tokens, query, pinned.key)
        self.shrink()

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


class PinnedNumbers(QWidget):
    """Query, key and value of one pair, number below number: as many as fit, the others in the tool tip.

    Attributes:
        names, rows: what stands in its lines that have numbers: query, key, their products, value.
        equation: from the products to the weight.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.names: tuple[str, ...] = ()
        self.rows: tuple[NDArray[np.float64], ...] = ()
        self.equation = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Query, key and value of the pinned pair in numbers")

    def show_steps(self, steps: WeightSteps, tokens: tuple[str, ...], query: str, key: int) -> None:
        """Another pair, or other numbers; see `WeightTable.show_steps`."""
        token, products = tokens[key], steps.products(key)
        self.names = (f"q  {query}", f"k  {token}", "q times k", f"v  {token}")
        vectors = steps.query, steps.keys[key], products, steps.values[key]
        self.rows = tuple(np.asarray(vector, dtype=np.float64) for vector in vectors)
        self.equation = equation_of(steps, key)
        self.setToolTip("\n\n".join(map(all_numbers, self.names, self.rows)))
        self.setAccessibleDescription(self.equation)
        self.setFixedHeight(self._content_height())
        self.update()

    def num_shown(self) -> int:
        """The number of vector components that fit."""
        metrics = QFontMetrics(current_theme().font("small"))
        left_over = self.width() - self._name_width(metrics) - metrics.horizontalAdvance(self._rest(0)) - scaled(GAP)
        return max(1, min(int(left_over // self._cell(metrics)), self._num_numbers))

    def sizeHint(self) -> QSize:
        """As wide as the layout likes."""
        return QSize(460, self._content_height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """A line for each vector, the equation above the value."""
        if not self.rows:
            return
        theme, painter = current_theme(), QPainter(self)
        painter.setFont(theme.font("small"))
        metrics, line, number = painter.fontMetrics(), scaled(NUMBERS_LINE), self.num_shown()
        left, cell = self._name_width(metrics), self._cell(metrics)
        centered = Qt.AlignmentFlag.AlignVCenter
        for row, (name, vector) in enumerate(zip(self.names, self.rows, strict=True)):
            top = line * (row + (row == len(self.rows) - 1))
            painter.setPen(theme.color("muted"))
            shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, left - scaled(NUMBERS_GAP))
            painter.drawText(QRectF(0, top, left, line), int(centered), shown)
            painter.setPen(theme.color("text"))
            for place, value in enumerate(vector[:number]):
                area = QRectF(left + place * cell, top, cell - scaled(NUMBERS_GAP), line)
                painter.drawText(area, int(centered | Qt.AlignmentFlag.AlignRight), signed(float(value)))
            painter.setPen(theme.color("muted"))
            rest = QRectF(left + number * cell, top, self.width(), line)
            painter.drawText(rest, int(centered), self._rest(number if row else 0))
        painter.setPen(theme.color("accent"))
        top = line * (len(self.rows) - 1)
        shown = metrics.elidedText(self.equation, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(QRectF(0, top, self.width(), line), int(centered), shown)

    @property
    def _num_numbers(self) -> int:
        return len(self.rows[0]) if self.rows else 0

    def _rest(self, number: int) -> str:
        """Behind the numbers that are shown; of the first line, how many there are in all."""
        return "…" if number else f"… {self._num_numbers} in all"

    def _name_width(self, metrics: QFontMetrics) -> int:
        widest = max(map(metrics.horizontalAdvance, self.names), default=0)
        return min(widest + 2, scaled(NUMBERS_NAME)) + scaled(NUMBERS_GAP)

    def _cell(self, metrics: QFontMetrics) -> int:
        widest = max((abs(float(value)) for row in self.rows for value in row), default=0.0)
        return metrics.horizontalAdvance(signed(-widest)) + scaled(NUMBERS_GAP)

    def _content_height(self) -> int:
        return scaled(NUMBERS_LINE) * (len(self.rows) + 1) if self.rows else 0


def equation_of(steps: WeightSteps, key: int) -> str:
    """From the products of query and key to the weight, in numbers."""
    products, score = steps.products(key), float(steps.scores[key])
    first = " + ".join(signed(float(value)) if value >= 0 else f"({signed(float(value))})" for value in products[:2])
    divisor = f"√{len(products)}" if steps.temperature == 1 else f"(√{len(products)} · {steps.temperature:g})"
    found = f"q·k = {first} + … = {signed(float(products.sum()))};  q·k / {divisor} = "
    if math.isinf(score):
        return f"{found}… hidden by the mask: −∞ → softmax → 0"
    return f"{found}{signed(score)} → softmax → {float(steps.weights[key]):.3f}"


def signed(value: float) -> str:
    """With two decimals and a typographic minus."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def all_numbers(name: str, vector: NDArray[np.float64] | FloatArray) -> str:
    """A vector in lines of a tool tip."""
    numbers = [signed(float(value)) for value in vector]
    lines = ("  ".join(numbers[first : first + IN_TIP]) for first in range(0, len(numbers), IN_TIP))
    return "\n".join((f"{name}, {len(numbers)} numbers:", *lines))


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
        self.setToolTip(CLICK_TIP)

    def show_steps(self, steps: WeightSteps, tokens: tuple[str, ...], query: str, key: int) -> None:
        """Another query, or other numbers.

        Args:
            steps: the numbers.
            tokens: M, of the keys.
            query: the word of the query.
            key: the pinned one.
        """
        self._steps, self._tokens, self._query, self._key = steps, tokens, query, key
        described = (
            f"{token} {percent_in_words(float(share))}" for token, share in zip(tokens, steps.weights, strict=True)
        )
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

    def tip_at(self, place: QPointF) -> str:
        """All numbers of the vector under a point; elsewhere, what a click does."""
        steps, key = self._steps, self._line_at(place)
        columns = _Columns(self.width(), self._tokens, current_theme().font("body"))
        if steps is None or not -1 <= key <= len(self._tokens):
            return CLICK_TIP
        under = [left <= place.x() < left + width for left, width in zip(columns.lefts, columns.widths, strict=True)]
        if under[1] and key < len(self._tokens):
            name, vector = (f"q of {self._query}", steps.query) if key < 0 else ("k of", steps.keys[key])
            return all_numbers(name if key < 0 else f"{name} {self._tokens[key]}", vector)
        if under[4] and key >= 0:
            is_sum = key == len(self._tokens)
            name = "output: the sum" if is_sum else f"weight · v of {self._tokens[key]}"
            return all_numbers(name, steps.output if is_sum else steps.weighted[key])
        return CLICK_TIP

    def event(self, event: QEvent) -> bool:
        """Vectors tell their numbers."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tip_at(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def _line_at(self, place: QPointF) -> int:
        """−1 for the query, then keys, then the sum."""
        return int((place.y() - scaled(HEADER)) // self._line) - 1

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a line."""
        key = self._line_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and 0 <= key < len(self._tokens):
            self.key_clicked.emit(key)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The lines, the query above them, the sum below."""
        steps, theme = self._steps, current_theme()
        if steps is None:
            return
        painter = QPainter(self)
        places = _Columns(self.width(), self._tokens, theme.font("body"))
        small = theme.font("small")
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        headings = ("", "query · keys k", "score q·k/√K", "weight (softmax)", "weight · value v")
        if steps.temperature != 1:
            headings = (*headings[:2], f"q·k/√K/{steps.temperature:g}", *headings[3:])
        for left, width, heading in zip(places.lefts, places.widths, headings, strict=True):
            if painter.fontMetrics().horizontalAdvance(heading) > width:
                heading = heading.removesuffix(" (softmax)")
            fitting = painter.fontMetrics().elidedText(heading, Qt.TextElideMode.ElideRight, int(width))
            painter.drawText(QPointF(left, scaled(HEADER) - 6), fitting)
        painter.setFont(self._fitting(small))
        strips = max(float(np.abs(steps.query).max()), float(np.abs(steps.keys).max())), _largest(steps)
        self._draw_name(painter, places, -1, self._query, self._fitting(theme.font("body", bold=True)))
        self._draw_strip(painter, places, 1, -1, steps.query, strips[0])
        finite = steps.scores[np.isfinite(steps.scores)]
        reach = max(float(np.abs(finite).max()), 1e-9)
        for key, token in enumerate(self._tokens):
            line = self.line_of(key)
            if key == self._key:
                painter.fillRect(line, theme.color("raised"))
            self._draw_name(painter, places, key, token, self._fitting(theme.font("body", bold=key == self._key)))
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
        painter.setFont(self._fitting(current_theme().font("small")))

    def _fitting(self, font: QFont) -> QFont:
        """Of a size at which lines do not touch."""
        fitting = QFont(font)
        fitting.setPixelSize(min(font.pixelSize(), int(self._line * TEXT_OF_LINE)))
        return fitting

    def _draw_strip(
        self, painter: QPainter, places: "_Columns", column: int, key: int, vector: FloatArray, top: float
    ) -> None:
        line = self.line_of(key)
        image = map_image(vector[None], color_table(is_dark=current_theme().is_dark, is_signed=True), top)
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
        self._draw_number(
            painter, places, 3, line, percent_in_words(weight).replace("less than", "<").replace("more than", ">")
        )

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
