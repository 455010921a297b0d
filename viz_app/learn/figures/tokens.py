"""The input of the model: words, their tokens and ids, and the vectors added for positions."""

from collections.abc import Mapping

import numpy as np
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from augenmerk.core.translation.result import Translation, Word
from augenmerk.viz_app.heatmap.labelled_matrix import LabelledMatrix, Matrix, MatrixStyle
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.learn.job import PositionsJob, PositionTables
from augenmerk.viz_app.theme import PANEL_MARGIN, current_theme, scaled, scales
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import FlowLayout
from augenmerk.viz_app.widgets.line_chart import Curve, LineChart
from augenmerk.viz_app.worker.inference import Job

WORD_GAP = 10
MAX_FACTOR = 2.2
"""Letters are at most so much larger than elsewhere."""
NUM_TRIES = 4


class TokensFigure(ChapterFigure):
    """Both sentences, word by word; below each word its tokens and their ids."""

    caption = "What the model reads and writes: words, tokens, ids"
    follows_style = True

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.sides: list[QWidget] = []
        self._available_height, self._base_px = 0, current_theme().base_px
        self._sides = QWidget()
        self._column = QGridLayout(self._sides)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setVerticalSpacing(14)
        self.column.addWidget(self._sides)

    def set_available_height(self, height: int) -> None:
        """Larger letters on a large page, as long as both sentences fit."""
        base_px = current_theme().base_px
        if (height, base_px) != (self._available_height, self._base_px):
            self._available_height, self._base_px = height, base_px
            self.redraw()

    def redraw(self) -> None:
        """Another sentence."""
        self._draw(1.0)
        if not self.sides or not self._available_height:
            return
        taken = self._taken_at(1.0)
        factor = min(MAX_FACTOR, (self._available_height / max(taken, 1)) ** 0.5)
        for _ in range(NUM_TRIES):
            if factor < 1.05:
                self._draw(1.0)
                return
            self._draw(factor)
            if self._taken_at(factor) <= self._available_height:
                return
            factor *= 0.88
        self._draw(1.0)

    def _taken_at(self, factor: float) -> int:
        """The height that the figure needs as it is drawn now."""
        width = self.width() - 2 * scaled(PANEL_MARGIN)
        layouts = [side.layout() for side in self.sides]
        lines = sum(layout.heightForWidth(width) for layout in layouts if layout is not None)
        around = scaled(70) + self._column.verticalSpacing() * (len(layouts) - 1)
        return lines + around

    def _draw(self, factor: float) -> None:
        for side in self.sides:
            self._column.removeWidget(side)
            side.hide()  # at once: what is deleted later is drawn until then
            side.deleteLater()
        self.sides = []
        translation = self.translation
        if translation is None:
            return
        for row, (name, words, tokens, ids) in enumerate(_sides(translation, self.state.languages)):
            side = QWidget()
            flow = FlowLayout(round(scaled(WORD_GAP) * factor), side)
            title = _label("muted", name, factor)
            flow.addWidget(title)
            for column in _columns(words, tokens, ids, factor):
                flow.addWidget(column)
            self.sides.append(side)
            self._column.addWidget(side, row, 0)


def _sides(
    translation: Translation, languages: tuple[str, str]
) -> list[tuple[str, tuple[Word, ...], tuple[str, ...], tuple[int, ...]]]:
    return [
        (languages[0], translation.source_words, translation.source_tokens, translation.source_ids),
        (languages[1], translation.target_words, translation.predicted_tokens, translation.predicted_ids),
    ]


def _label(role: str, text: str, factor: float) -> QLabel:
    """A label with letters enlarged by a factor."""
    shown = label(role)
    shown.setText(text)
    if factor != 1.0:
        shown.ensurePolished()
        shown.setStyleSheet(f"font-size: {round(shown.font().pixelSize() * factor)}px")
    return shown


def _columns(words: tuple[Word, ...], tokens: tuple[str, ...], ids: tuple[int, ...], factor: float) -> list[QWidget]:
    """One for each word, and for each token that belongs to none."""
    columns, place = [], 0
    while place < len(tokens):
        word = next((word for word in words if word.start == place), None)
        end = word.end if word is not None else place + 1
        columns.append(_column(word.text if word is not None else "", tokens[place:end], ids[place:end], factor))
        place = end
    return columns


def _column(word: str, tokens: tuple[str, ...], ids: tuple[int, ...], factor: float) -> QWidget:
    column = QWidget()
    grid = QGridLayout(column)
    scales(grid.setContentsMargins, 4, 2, 4, 2)
    grid.setHorizontalSpacing(8)
    grid.setVerticalSpacing(1)
    title = _label("sentence" if word else "muted", word or "mark", factor)
    grid.addWidget(title, 0, 0, 1, len(tokens))
    for place, (token, token_id) in enumerate(zip(tokens, ids, strict=True)):
        for row, (role, text) in enumerate((("accent", token), ("small", str(token_id))), start=1):
            grid.addWidget(_label(role, text, factor), row, place)
    column.setToolTip(" + ".join(tokens) if len(tokens) > 1 else "")
    return column


DIMENSIONS = (4, 5, 6, 7)
"""Of 20, over 100 positions: the figure of The Annotated Transformer."""
NUM_DIMENSIONS = 48
"""Of the model's own, the first ones: of sinusoids the quickest."""
CHART_HEIGHTS, MATRIX_HEIGHT, LEAST_MATRIX_HEIGHT, MAX_CELL = (125, 190), 200, 100, 22


class PositionsFigure(ChapterFigure):
    """Four waves, and below them the model's own vectors of the positions that the sentence has.

    Attributes:
        chart: the waves.
        matrix: a row for each source token, a column for each dimension.
        tables: what both show; None while nothing is known.
    """

    caption = "What is added to every embedding: one wave for each dimension (4 to 7 of 20)"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.tables: PositionTables | None = None
        self.chart = LineChart("Sinusoidal positions", "position", "value")
        self._of_model = label("heading", wraps=True)
        style = MatrixStyle(
            colors="signed",
            cell_heights=(7, MAX_CELL),
            aimed_height=MATRIX_HEIGHT,
            legend=lambda top: (f"−{top:.1f}", "0", f"{top:.1f}"),
        )
        self.matrix = LabelledMatrix("Positions of the sentence's tokens", style)
        self.column.addWidget(self.chart)
        self.column.addWidget(self._of_model)
        self.column.addWidget(self.matrix)
        self.shrink()

    def shrink(self) -> None:
        """Shrinks the chart first, then the cells."""
        num_rows = sum(len(matrix.row_labels) for matrix in self.matrix.matrices)
        chart, cells = CHART_HEIGHTS[1], min(MATRIX_HEIGHT, MAX_CELL * num_rows)
        self.chart.setFixedHeight(scaled(chart))
        self.matrix.set_heights(cells, MAX_CELL)
        excess = round(self.excess_px / current_theme().scale)
        lower = min(excess, CHART_HEIGHTS[1] - CHART_HEIGHTS[0])
        self.chart.setFixedHeight(scaled(chart - lower))
        if excess > lower:
            self.matrix.set_heights(max(cells - (excess - lower), min(cells, LEAST_MATRIX_HEIGHT)), MAX_CELL)

    def to_ask(self) -> tuple[object, Job] | None:
        """The tables are the model's, whatever the sentence."""
        return "model", PositionsJob()

    def take(self, answer: PositionTables) -> None:
        """Keeps the answer."""
        self.tables = answer

    def redraw(self) -> None:
        """Waves, and the vectors of as many positions as there are tokens."""
        translation, tables = self.translation, self.tables
        if translation is None or tables is None:
            return
        places = np.arange(len(tables.small), dtype=np.float64)
        self.chart.show_curves(
            [Curve(f"dimension {each}", places, tables.small[:, each].astype(np.float64)) for each in DIMENSIONS],
            x_range=(0, len(tables.small)),
            y_range=(-1, 1),  # of a sine, even where no position meets its ends
        )
        num_tokens = min(len(translation.source_tokens), len(tables.own))
        values = tables.own[:num_tokens, :NUM_DIMENSIONS]
        self._of_model.setText(
            f"This model's own: a row for each of your {num_tokens} tokens, the first {values.shape[1]} of "
            f"{tables.own.shape[1]} dimensions"
        )
        rows = tuple(f"{place} {token}" for place, token in enumerate(translation.source_tokens[:num_tokens]))
        columns = tuple(str(dimension) if dimension % 8 == 0 else "" for dimension in range(values.shape[1]))
        top = float(np.abs(values).max())
        self.matrix.show_matrices((Matrix(values, rows, columns),), top=top)
        self.shrink()
