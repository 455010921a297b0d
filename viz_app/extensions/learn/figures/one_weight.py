"""One weight end to end: query, keys, scores, softmax, and the sum of weighted values, with the
real numbers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import starmap

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QSlider, QToolTip, QWidget

from augenmerk.core.maps.trace import Trace
from augenmerk.core.model.heads import Head
from augenmerk.core.quantities import number, percent, percent_in_words
from augenmerk.core.translation.result import FloatArray

from ....heatmap.map_image import map_image
from ....state.color_scale import color_table
from ....state.map_view import Pair
from ....theme import current_theme, scaled
from ....widgets.labels import label
from ....widgets.layouts import add_parts, row_of
from ....worker.jobs import TraceJob
from ..actions import move_row, set_temperature, strongest_pair
from ..values import pair_tokens
from .figure import ChapterFigure, LearnContext

LINE, GAP, HEADER = 22, 12, 20
"""On a low page, a line is as low as its text."""
IN_TIP = 8
"""Numbers in a line of a tool tip."""
MAX_TOKEN, MAX_STRIP = 100, 190
NUMBER_WIDTH, LEAST_BAR = 52, 46
NAMES_AND_REST, CELL = 190, 46
"""Widths in the table of numbers: of both outer columns together, and of a number."""
HEADINGS = (
    ("",),
    ("query · keys k", "q · keys k"),
    ("attention score", "score"),
    ("weight",),
    ("weight · value", "weight · v"),
)
"""Headings of the columns; where the first form does not fit, the next one is shown."""
CLICK_TIP = "Click a line: pin this key. Point at a strip of colours: its numbers"
TEMPERATURES = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0)


@dataclass(frozen=True, eq=False)
class WeightSteps:
    """The steps of the attention of one query in one head.

    Attributes:
        query: [K].
        keys: [M, K].
        scores: [M], query · key / √K, divided by the temperature; −∞ where the mask hides a key.
        weights: [M], the softmax of the scores; they sum to 1.
        values: [M, K].
        weighted: [M, K], each value times its weight.
        output: [K], their sum: the output of the head at this position.
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
        head: the head.
        query: position of the query.
    """
    heads = trace.of_kind(head.kind)
    layer, head_index = head.layer, head.head
    vector = heads.queries[layer, head_index, query]
    weights = heads.weights[layer, head_index, query]
    keys = heads.keys[layer, head_index]
    values = heads.values[layer, head_index]
    temperature = float(heads.temperatures[layer, head_index])
    scores = (
        keys.astype(np.float64) @ vector.astype(np.float64) / np.sqrt(len(vector)) / temperature
    )
    if head.kind == "decoder" and not trace.lifts_mask:
        scores[query + 1 :] = -np.inf
    weighted = weights[:, None] * values
    return WeightSteps(
        vector, keys, scores, weights, values, weighted, weighted.sum(axis=0), temperature
    )


class OneWeightFigure(ChapterFigure):
    """A line for each key: its vector, its score, its weight, and its value times the weight; and a
    temperature.

    It shows the pinned query; a click on a line pins its key.

    Attributes:
        numbers: a table of query, key, their products and the value of the pinned pair; the tool
            tip has all of them.
        equation: from the products to the weight.
        table: the lines.
        temperature: a slider over `TEMPERATURES`.
        move_button: gives the pinned key the whole row.
    """

    needs_answer = True
    caption = "From a query to what the head gives"
    job_type = TraceJob
    answer: Trace

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.numbers = QLabel()
        self.numbers.setAccessibleName("Query, key and value of the pinned pair in numbers")
        self.numbers.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._rows: dict[str, FloatArray] = {}
        self.equation = label("accent", wraps=True)
        self.table = WeightTable()
        self.table.key_clicked.connect(self._pin_key)
        self.temperature = QSlider(Qt.Orientation.Horizontal)
        self.temperature.setRange(0, len(TEMPERATURES) - 1)
        self.temperature.setPageStep(1)
        self.temperature.setProperty("role", "film")
        self.temperature.setAccessibleName("Softmax temperature")
        self.temperature.valueChanged.connect(
            lambda index: set_temperature(self.state, str(TEMPERATURES[index]))
        )
        self._temperature_text = label("muted")
        self.move_button = QPushButton("Move the whole row here")
        self.move_button.setToolTip(
            "Give all weight of this row to the pinned key, and translate again"
        )
        self.move_button.clicked.connect(lambda: move_row(self.state, "pinned"))
        row = row_of(
            label("muted", "temperature"),
            (self.temperature, 1),
            self._temperature_text,
            self.move_button,
        )
        add_parts(self.column, self.numbers, self.equation, self.table, row)

    def fit(self) -> None:
        """Makes lines lower on a low page."""
        self.table.set_line(scaled(LINE))
        if self.table.num_lines > 0:
            lower = math.ceil(self.excess_px / self.table.num_lines)
            least = QFontMetrics(current_theme().font("body")).height()
            self.table.set_line(max(least, scaled(LINE) - lower))

    def refresh(self) -> None:
        """Pins a large weight if nothing is pinned."""
        self._show_temperature()
        selection = self.state.selection
        if self.state.current is not None and selection.pinned is None:
            selection.pinned = strongest_pair(self.state.current.changed, selection.head)
        super().refresh()

    def redraw(self) -> None:
        """Shows the pinned pair in the chosen head."""
        translation = self.translation
        pinned = self.state.selection.pinned
        head = self.state.selection.head
        self._show_temperature()
        if translation is None or pinned is None or not self.has_answer:
            return
        queries, keys = pair_tokens(translation, head.kind)
        if pinned.query >= len(queries) or pinned.key >= len(keys):
            return
        query = queries[pinned.query]
        self.title.setText(self._title_for(pinned, query))
        steps = weight_steps(self.answer, head, pinned.query)
        self._rows = pinned_vectors(steps, query, keys[pinned.key], pinned.key)
        self.numbers.setToolTip("\n\n".join(starmap(all_numbers, self._rows.items())))
        self._show_numbers()
        rows = translation.experiment.attention_rows
        is_set = any((row.head, row.row) == (head, pinned.query) for row in rows)
        self.equation.setText(equation_of(steps, pinned.key, is_set=is_set))
        self.move_button.setText(f"Move the whole row to “{keys[pinned.key]}”")
        self.table.show_steps(steps, keys, query, pinned.key)
        self.fit()

    def _title_for(self, pinned: Pair, query: str) -> str:
        """What the figure is about; with the word that the original has there, if it is another,
        because questions name that one.
        """
        kind, original = self.state.selection.head.kind, self.state.original
        assert original is not None, "it comes with the result that is shown"
        queries = pair_tokens(original, kind)[0]
        before = queries[pinned.query] if pinned.query < len(queries) else query
        title = f"Where it {'reads' if kind == 'encoder' else 'predicts'} “{query}”"
        if before != query:
            return f"{title} (before the change: “{before}”)"
        return f"{title}: from the query to the output of the head"

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shows the numbers that fit."""
        super().resizeEvent(event)
        self._show_numbers()

    def _show_numbers(self) -> None:
        num_fitting = (self.contentsRect().width() - scaled(NAMES_AND_REST)) // scaled(CELL)
        self.numbers.setText(numbers_in_html(self._rows, max(1, num_fitting)))

    def _pin_key(self, key: int) -> None:
        pinned = self.state.selection.pinned
        if pinned is not None:
            self.state.selection.pinned = Pair(pinned.query, key)

    def _show_temperature(self) -> None:
        head = self.state.selection.head
        changes = self.state.experiment.temperatures
        temperature = next((change.temperature for change in changes if change.head == head), 1.0)
        nearest = min(
            range(len(TEMPERATURES)),
            key=lambda index: abs(math.log(TEMPERATURES[index] / temperature)),
        )
        with QSignalBlocker(self.temperature):
            self.temperature.setValue(nearest)
        self._temperature_text.setText(f"{temperature:g}")


def pinned_vectors(steps: WeightSteps, query: str, token: str, key: int) -> dict[str, FloatArray]:
    """Query, key, their products and the value by name, [K] each."""
    return {
        f"q {query}": steps.query,
        f"k {token}": steps.keys[key],
        "q times k": steps.products(key).astype(np.float32),
        f"v {token}": steps.values[key],
    }


def numbers_in_html(rows: Mapping[str, FloatArray], num_shown: int) -> str:
    """A table of the first numbers of each vector, number below number."""
    gap = f'style="padding-left: {scaled(8)}px"'
    lines = ""
    for index, (name, vector) in enumerate(rows.items()):
        cells = "".join(
            f'<td align="right" {gap}>{number(float(value))}</td>' for value in vector[:num_shown]
        )
        rest = ""
        if len(vector) > num_shown:
            rest = "…" if index else f"… {len(vector)} in all"
        lines += f"<tr><td>{escape(name)}</td>{cells}<td {gap}>{rest}</td></tr>"
    return f'<table cellspacing="0">{lines}</table>' if lines else ""


def equation_of(steps: WeightSteps, key: int, *, is_set: bool = False) -> str:
    """From the products of query and key to the weight, in numbers.

    A row that `is_set` by hand has other weights.
    """
    products = steps.products(key)
    score = float(steps.scores[key])
    first = " + ".join(
        number(value) if value >= 0 else f"({number(value)})" for value in map(float, products[:2])
    )
    divisor = (
        f"√{len(products)}"
        if steps.temperature == 1
        else f"(√{len(products)} · {steps.temperature:g})"
    )
    equation = (
        f"q·k = {first} + … = {number(float(products.sum()))};  attention score q·k / {divisor} = "
    )
    if math.isinf(score):
        return f"{equation}… hidden by the mask: −∞ → softmax → 0"
    if is_set:
        return f"{equation}{number(score)}. The row is set by hand: {float(steps.weights[key]):.3f}"
    return f"{equation}{number(score)} → softmax → {float(steps.weights[key]):.3f}"


def all_numbers(name: str, vector: Sequence[float] | FloatArray) -> str:
    """A vector in lines of a tool tip."""
    numbers = [number(float(value)) for value in vector]
    lines = ("  ".join(numbers[first : first + IN_TIP]) for first in range(0, len(numbers), IN_TIP))
    return "\n".join((f"{name}, {len(numbers)} numbers:", *lines))


class WeightTable(QWidget):
    """Draws `WeightSteps`: a line for the query, one for each key, and one for the sum of the
    weighted values.

    Signals:
        key_clicked(int): the line of a key was clicked.
    """

    key_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._steps: WeightSteps | None = None
        self._tokens: tuple[str, ...] = ()
        self._query = ""
        self._key = 0
        self._line = scaled(LINE)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Scores, weights and weighted values of one query")
        self.setToolTip(CLICK_TIP)

    def show_steps(self, steps: WeightSteps, tokens: tuple[str, ...], query: str, key: int) -> None:
        """Shows the steps of a query.

        Args:
            steps: the numbers.
            tokens: M, of the keys.
            query: the word of the query.
            key: the pinned one.
        """
        self._steps, self._tokens, self._query, self._key = steps, tokens, query, key
        shares = map(percent_in_words, steps.weights.tolist())
        self.setAccessibleDescription(", ".join(map(" ".join, zip(tokens, shares, strict=True))))
        self.set_line(self._line)

    @property
    def num_lines(self) -> int:
        """Number of lines; 0 before the first query."""
        return len(self._tokens) + 2 if self._tokens else 0

    def set_line(self, height: int) -> None:
        """Sets the height of lines, in pixels."""
        self._line = height
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as the layout likes."""
        return QSize(460, scaled(HEADER) + self.num_lines * self._line + 4)

    def line_of(self, key: int) -> QRectF:
        """The area of a key's line."""
        return QRectF(0, scaled(HEADER) + (key + 1) * self._line, self.width(), self._line)

    def headings(self) -> list[tuple[QRectF, str]]:
        """The headings of the columns, in the longest form that fits, and their places."""
        metrics = QFontMetrics(current_theme().font("body"))
        headings = []
        for cell, forms in zip(self._cells(-2), HEADINGS, strict=True):
            box = cell.adjusted(0, 0, scaled(GAP) - 4, 0)
            fitting = (form for form in forms if metrics.horizontalAdvance(form) <= box.width())
            headings.append((box, next(fitting, forms[-1])))
        return headings

    def tip_at(self, position: QPointF) -> str:
        """All numbers of the vector under a point; elsewhere, the effect of a click."""
        steps = self._steps
        key = self._line_at(position)
        last = len(self._tokens)
        x = position.x()
        cells = self._cells(key)
        column = next(
            (index for index, cell in enumerate(cells) if cell.left() <= x < cell.right()), None
        )
        if steps is not None and column == 1 and -1 <= key < last:
            if key < 0:
                return all_numbers(f"q of {self._query}", steps.query)
            return all_numbers(f"k of {self._tokens[key]}", steps.keys[key])
        if steps is not None and column == 4 and 0 <= key <= last:
            if key == last:
                return all_numbers("output: the sum", steps.output)
            return all_numbers(f"weight · v of {self._tokens[key]}", steps.weighted[key])
        return CLICK_TIP

    def event(self, event: QEvent) -> bool:
        """Shows the numbers of a vector."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tip_at(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        key = self._line_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and 0 <= key < len(self._tokens):
            self.key_clicked.emit(key)

    def paintEvent(self, event: QPaintEvent) -> None:
        steps = self._steps
        theme = current_theme()
        if steps is None:
            return
        painter, last = QPainter(self), len(self._tokens)
        painter.setFont(theme.font("body"))
        for box, heading in self.headings():
            self._paint_text(painter, box, heading, "muted", Qt.AlignmentFlag.AlignLeft)
        key_reach = float(max(np.abs(steps.query).max(), np.abs(steps.keys).max()))
        value_reach = float(max(np.abs(steps.weighted).max(), np.abs(steps.output).max(), 1e-9))
        score_reach = float(max(np.abs(steps.scores[np.isfinite(steps.scores)]).max(), 1e-9))
        for key in range(-1, last + 1):
            name, key_strip, score, weight, value_strip = self._cells(key)
            if key == self._key:
                painter.fillRect(self.line_of(key), theme.color("raised"))
            if key < last:
                text, color = (self._query, "accent") if key < 0 else (self._tokens[key], "text")
                painter.setFont(theme.font("body", bold=key in (-1, self._key)))
                self._paint_text(painter, name, text, color)
                self._paint_strip(
                    painter, key_strip, steps.query if key < 0 else steps.keys[key], key_reach
                )
            painter.setFont(theme.font("body"))
            if 0 <= key < last:
                self._paint_score(painter, score, float(steps.scores[key]), score_reach)
                self._paint_weight(painter, weight, float(steps.weights[key]))
            if key >= 0:
                vector = steps.output if key == last else steps.weighted[key]
                self._paint_strip(painter, value_strip, vector, value_reach)
            if key == last:
                painter.fillRect(QRectF(0, name.top(), self.width(), 1), theme.color("border"))
                self._paint_text(painter, weight, "sum: output", "muted")

    def _paint_text(
        self,
        painter: QPainter,
        cell: QRectF,
        text: str,
        color: str,
        side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignRight,
    ) -> None:
        painter.setPen(current_theme().color(color))
        elided = painter.fontMetrics().elidedText(
            text, Qt.TextElideMode.ElideRight, int(cell.width())
        )
        painter.drawText(cell, side | Qt.AlignmentFlag.AlignVCenter, elided)

    def _paint_strip(self, painter: QPainter, cell: QRectF, vector: FloatArray, top: float) -> None:
        colors = color_table(is_dark=current_theme().is_dark, is_signed=True)
        painter.drawImage(cell.adjusted(0, 4, 0, -3), map_image(vector[None], colors, top))

    def _paint_score(self, painter: QPainter, cell: QRectF, score: float, reach: float) -> None:
        theme = current_theme()
        bar = self._bar(cell)
        if math.isfinite(score):
            half = bar.width() / 2
            filled = QRectF(
                bar.left() + half, bar.top(), half * score / reach, bar.height()
            ).normalized()
            painter.fillRect(filled, theme.color("warm" if score > 0 else "accent", 0.75))
            painter.fillRect(
                QRectF(bar.left() + half, cell.top() + 3, 1, self._line - 6), theme.color("border")
            )
        self._paint_text(painter, cell, number(score) if math.isfinite(score) else "hidden", "text")

    def _paint_weight(self, painter: QPainter, cell: QRectF, weight: float) -> None:
        theme = current_theme()
        bar = self._bar(cell)
        painter.fillRect(bar, theme.color("raised"))
        painter.fillRect(
            QRectF(bar.left(), bar.top(), bar.width() * weight, bar.height()), theme.color("accent")
        )
        self._paint_text(painter, cell, percent(weight), "text")

    def _bar(self, cell: QRectF) -> QRectF:
        return QRectF(
            cell.left(),
            cell.top() + self._line / 3,
            cell.width() - scaled(NUMBER_WIDTH),
            self._line * 0.4,
        )

    def _line_at(self, position: QPointF) -> int:
        """−1 for the query, then keys, then the sum."""
        return int((position.y() - scaled(HEADER)) // self._line) - 1

    def _cells(self, key: int) -> list[QRectF]:
        """The cells of a line: token, key vector, score, weight, weighted value.

        Key −2 is the line of headings.
        """
        line = self.line_of(key) if key >= -1 else QRectF(0, 0, self.width(), scaled(HEADER))
        metrics = QFontMetrics(current_theme().font("body"))
        token = min(
            max(map(metrics.horizontalAdvance, self._tokens), default=0) + 8, scaled(MAX_TOKEN)
        )
        left_over = self.width() - token - 4 * scaled(GAP)
        bars = max(left_over * 0.23, scaled(NUMBER_WIDTH) + scaled(LEAST_BAR))
        strip = min(max((left_over - 2 * bars) / 2, 20), scaled(MAX_STRIP))
        bars = (left_over - 2 * strip) / 2
        cells = []
        left = 0.0
        for width in (token, strip, bars, bars, strip):
            cells.append(QRectF(left, line.top(), width, line.height()))
            left += width + scaled(GAP)
        return cells
