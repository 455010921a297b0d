"""The logit lens as a table: the decoder's prediction after each layer."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QWidget

from augenmerk.core.quantities import percent_in_words
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.viz_app.heatmap.labelled_matrix import LabelledMatrix, Matrix, MatrixCell, MatrixStyle
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.learn.job import LensJob
from augenmerk.viz_app.theme import scaled
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.worker.inference import Job

if TYPE_CHECKING:  # torch belongs to the worker thread
    from augenmerk.core.analysis.logit_lens import LogitLens

NUM_IN_TIP = 5
CELL_HEIGHTS, AIMED_HEIGHT, LEAST_HEIGHT, LARGEST_CELL = (30, 54), 260, 120, 130
AROUND_CELLS = 190
"""Of the height of the figure, what its words, labels and legend take."""
POINT_AT_CELL = "Point at a cell to see what the decoder would predict there."
WAITING_FOR_ANSWER = "Answer the question, and the layers before the last are drawn too."


class LayersFigure(ChapterFigure):
    """A row for each depth, a column for each token that is predicted; a cell is the probability of that token there.

    At which depth the tokens are decided is a question of the chapter: until it was answered, only the last row, which
    is the translation itself, has cells.

    Attributes:
        matrix: the table.
        lens: what it shows; None while nothing is known.
        says: for the cell under the mouse, what the decoder would say there.
    """

    caption = "If the decoder stopped here: the probability of the word it predicts in the end"
    question = "decided-at"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.lens: LogitLens | None = None
        style = MatrixStyle(
            colors="sequential",
            cell_heights=CELL_HEIGHTS,
            aimed_height=AIMED_HEIGHT,
            cell_text=lambda value: f"{value * 100:.0f}",
            legend=lambda top: ("0%", "", "100%"),
        )
        self.matrix = LabelledMatrix("Logit lens", style)
        self.matrix.tip_of = self._tip_of
        self.says = label("small", wraps=True)
        self.matrix.hovered.connect(self._show_candidates)
        self.column.addWidget(self.matrix)
        self.column.addWidget(self.says)

    def set_available_height(self, height: int) -> None:
        """Higher cells on a high page."""
        aimed = max(LEAST_HEIGHT, round(height / scaled(1.0)) - AROUND_CELLS)
        self.matrix.set_heights(aimed, min(LARGEST_CELL, max(CELL_HEIGHTS[1], aimed // 4)))

    def to_ask(self) -> tuple[object, Job] | None:
        """The lens of the translation that is shown."""
        return self.about(self.translation, LensJob)

    def take(self, answer: "LogitLens") -> None:
        """Keeps the lens."""
        self.lens = answer

    def redraw(self) -> None:
        """The table."""
        lens = self.lens
        if lens is None or lens.translation is not self.translation:
            return
        depths = ["embedding", *(f"layer {layer + 1}" for layer in range(len(lens.ranks) - 1))]
        tokens = tuple(token.replace(WORD_MARK, "") for token in lens.translation.predicted_tokens)
        values = np.exp(lens.log_probabilities).astype(np.float32)
        if not self._is_answered:
            values[:-1] = np.nan
        self.matrix.show_matrices((Matrix(values, tuple(depths), tokens),), top=1.0)
        self._show_candidates(None)

    @property
    def _is_answered(self) -> bool:
        return self.lens is not None and self.context.answers.has(self.question, self.lens.translation.source_text)

    def _show_candidates(self, cell: MatrixCell | None) -> None:
        if self.lens is None:
            return
        if cell is None:
            self.says.setText(POINT_AT_CELL if self._is_answered else f"{WAITING_FOR_ANSWER} {POINT_AT_CELL}")
        else:
            self.says.setText(self._tip_of(cell).replace("\n", " · "))

    def _tip_of(self, cell: MatrixCell) -> str:
        assert self.lens is not None
        found = self.lens.candidates[cell.row][cell.column][:NUM_IN_TIP]
        return "\n".join(f"{each.token.replace(WORD_MARK, '')} {percent_in_words(each.probability)}" for each in found)
