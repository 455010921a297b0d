"""The input of the model: words, their tokens and ids, and the vectors added for positions."""

from collections.abc import Mapping, Sequence

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from augenmerk.core.translation.result import FloatArray, Word

from ....theme import PANEL_MARGIN, current_theme, scaled, scales
from ....widgets.labels import label
from ....widgets.layouts import FlowLayout, add_parts
from ....worker.jobs import Job
from ...widgets.labelled_matrix import MatrixStyle
from ...widgets.line_chart import Curve, LineChart
from ..job import PositionsJob
from .figure import ChapterFigure, LearnContext, MatrixFigure

WORD_GAP = 10
FACTORS = *((size, size) for size in (2.2, 1.8, 1.5, 1.35, 1.25, 1.1, 1.0)), (1.0, 0.4)
"""Sizes of letters, in relation to other panels, and of the gaps between words."""
WAITING_FOR_ANSWER = "Answer to see its tokens."
AROUND_SIDES = 80
"""Height of heading and margins."""


class TokensFigure(ChapterFigure):
    """Both sentences, word by word; below each word its tokens and their ids.

    Letters are larger on a large page. The target begins with the token that the decoder reads
    first. Until the question is answered, the tokens of the source are hidden.

    Attributes:
        sides: a widget for each sentence.
    """

    caption = "Input and output of the model: words, tokens, ids"
    follows_style = True

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.sides: list[QWidget] = []
        self._fitted_to = (0, 0, 0)

    def fit(self) -> None:
        """Sizes the letters again if the space or the theme has changed."""
        if self._space != self._fitted_to:
            self._size_letters()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Follows the width, which settles only after the height was shared out."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self.fit)

    def redraw(self) -> None:
        """Shows the sentence with the largest letters that fit."""
        for side in self.sides:
            self.column.removeWidget(side)
            side.hide()  # at once: deletion happens later
            side.deleteLater()
        self.sides = []
        if (translation := self.translation) is None:
            return
        source, target = self.state.languages
        if self.context.answers.has(self.question, translation.source_text) or not self.question:
            read = _columns(
                translation.source_words, translation.source_tokens, translation.source_ids
            )
        else:
            read = [_column(word.text, "?", "?") for word in translation.source_words]
            read.append(label("muted", WAITING_FOR_ANSWER))
        written = [
            _column("", translation.read_tokens[:1], translation.read_ids[:1]),
            *_columns(
                translation.target_words, translation.predicted_tokens, translation.predicted_ids
            ),
        ]
        for name, columns in ((source, read), (target, written)):
            side = QWidget()
            flow = FlowLayout(scaled(WORD_GAP), side)
            for widget in (label("muted", name), *columns):
                flow.addWidget(widget)
            self.sides.append(side)
            self.column.addWidget(side)
        self._size_letters()

    @property
    def _space(self) -> tuple[int, int, int]:
        """What the size of the letters depends on, besides the sentences."""
        return self.width(), self.available_height, current_theme().base_px

    def _size_letters(self) -> None:
        self._fitted_to = self._space
        width = self.width() - 2 * scaled(PANEL_MARGIN)
        for factor, gap in FACTORS if self.available_height else FACTORS[-2:-1]:
            for side in self.sides:
                side.setStyleSheet(_letters(factor))
                for part in side.findChildren(QWidget):
                    part.updateGeometry()  # at once: Qt announces new sizes level by level, later
                flow = side.layout()
                assert isinstance(flow, FlowLayout)
                flow.setSpacing(round(scaled(WORD_GAP) * gap))
            if (
                sum(side.heightForWidth(width) for side in self.sides) + scaled(AROUND_SIDES)
                <= self.available_height
            ):
                return


def _letters(factor: float) -> str:
    """A style sheet that enlarges the labels of words, tokens and ids by a factor."""
    if factor == 1.0:
        return ""
    theme = current_theme()
    body = theme.pixel_size("body")
    sizes = {"muted": body, "sentence": theme.pixel_size("large"), "accent": body}
    return " ".join(
        f'QLabel[role="{role}"] {{ font-size: {round(size * factor)}px }}'
        for role, size in sizes.items()
    )


def _columns(
    words: tuple[Word, ...], tokens: tuple[str, ...], ids: tuple[int, ...]
) -> list[QWidget]:
    """One for each word, and for each token that belongs to none."""
    columns = []
    start = 0
    while start < len(tokens):
        word = next((word for word in words if word.start == start), None)
        end = word.end if word is not None else start + 1
        columns.append(
            _column(word.text if word is not None else "", tokens[start:end], ids[start:end])
        )
        start = end
    return columns


def _column(word: str, tokens: Sequence[str], ids: Sequence[object]) -> QWidget:
    column = QWidget()
    grid = QGridLayout(column)
    scales(grid.setContentsMargins, 4, 2, 4, 2)
    grid.setHorizontalSpacing(8)
    grid.setVerticalSpacing(1)
    title = label("sentence" if word else "muted", word or "added")
    grid.addWidget(title, 0, 0, 1, len(tokens))
    for index, (token, token_id) in enumerate(zip(tokens, ids, strict=True)):
        for row, (role, text) in enumerate((("accent", token), ("muted", str(token_id))), start=1):
            grid.addWidget(label(role, text), row, index)
    column.setToolTip(" + ".join(tokens) if len(tokens) > 1 else "")
    return column


DIMENSIONS = (4, 5, 6, 7)
"""Of 20, over 100 positions, as in The Annotated Transformer."""
NUM_DIMENSIONS = 48
"""Of the model's own vectors; the first sinusoids are the quickest."""
CHART_HEIGHTS = (140, 190)


class PositionsFigure(MatrixFigure):
    """Four waves, and below them the model's own vectors of the positions in the sentence.

    Attributes:
        chart: the waves.
    """

    caption = "Added to every embedding: a wave for each dimension (4 of 20, as an example)"
    name = "Positions of the sentence's tokens"
    matrix_style = MatrixStyle(
        colors="signed",
        cell_heights=(7, 22),
        aimed_height=200,
        legend=lambda top: (f"−{top:.1f}", "0", f"{top:.1f}"),
    )
    answer: tuple[FloatArray, FloatArray] | None

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.chart = LineChart("Sinusoidal positions", "position", "value")
        self._of_model = label("heading", wraps=True)
        add_parts(self.column, self.chart, self._of_model, self.matrix)
        self.fit()

    def fit(self) -> None:
        """Makes the chart lower first, then the cells."""
        least, most = map(scaled, CHART_HEIGHTS)
        self.chart.setFixedHeight(most)
        super().fit()
        self.chart.setFixedHeight(max(least, most - self.excess_px))
        super().fit()

    def job(self) -> Job | None:
        """The vectors of the model, independent of the sentence."""
        return PositionsJob()

    def redraw(self) -> None:
        """Shows the waves, and the vectors of all tokens."""
        translation, answer = self.translation, self.answer
        if translation is None or answer is None:
            return
        small, own = answer
        positions = np.arange(len(small), dtype=np.float64)
        self.chart.show_curves(
            [
                Curve(f"dimension {index}", positions, small[:, index].astype(np.float64))
                for index in DIMENSIONS
            ],
            x_range=(0, len(small)),
            y_range=(-1, 1),  # of a sine, even if no position meets its ends
        )
        num_tokens = min(len(translation.source_tokens), len(own))
        values = own[:num_tokens, :NUM_DIMENSIONS]
        self._of_model.setText(
            f"This model's own: a row for each of your {num_tokens} tokens, the first "
            f"{values.shape[1]} of {own.shape[1]} dimensions"
        )
        rows = [
            f"{position} {token}"
            for position, token in enumerate(translation.source_tokens[:num_tokens])
        ]
        columns = [
            str(dimension) if dimension % 8 == 0 else "" for dimension in range(values.shape[1])
        ]
        self.show_matrix(values, rows, columns, top=float(np.abs(values).max()))
