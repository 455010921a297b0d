"""The causal mask: the tokens visible to the decoder at each prediction."""

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.viz_app.heatmap.labelled_matrix import LabelledMatrix, Matrix, MatrixCell, MatrixStyle
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.theme import current_theme
from augenmerk.viz_app.widgets.buttons import flat_button
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import row_of

NUM_PUBLISHED = 20
MATRIX_HEIGHT, LEAST_MATRIX_HEIGHT, MAX_CELL = 230, 140, 26
PUBLISHED_TIP = "Show the mask of 20 positions from The Annotated Transformer instead of your sentence's"


class MaskFigure(ChapterFigure):
    """A row for each token that is predicted, a column for each that might be seen for it: seen, or hidden.

    Attributes:
        matrix: 1 where a token is seen, 0 where it is hidden.
        published: shows the mask of 20 positions in its place, as The Annotated Transformer prints it.
        says: for the cell under the mouse, what it means.
    """

    caption = "The mask of the decoder"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        style = MatrixStyle(
            colors="sequential",
            cell_heights=(7, MAX_CELL),
            aimed_height=MATRIX_HEIGHT,
            legend=lambda top: ("hidden", "", "seen"),
        )
        self.matrix = LabelledMatrix("Causal mask", style)
        self.matrix.hovered.connect(self._say)
        self.says = label("small", wraps=True)
        self.published = flat_button("20 positions", PUBLISHED_TIP)
        self.published.setCheckable(True)
        self.published.toggled.connect(self._on_published)
        self.column.addWidget(self.matrix)
        self.column.addLayout(row_of((self.says, 1), (self.published, 0, Qt.AlignmentFlag.AlignTop)))
        self._say(None)

    def shrink(self) -> None:
        """A low page has lower cells."""
        self.matrix.set_heights(MATRIX_HEIGHT, MAX_CELL)
        excess = round(self.excess_px / current_theme().scale)
        self.matrix.set_heights(max(LEAST_MATRIX_HEIGHT, MATRIX_HEIGHT - excess), MAX_CELL)

    def redraw(self) -> None:
        """Another translation, or the mask was lifted or put back."""
        translation = self.translation
        if translation is None:
            return
        is_lifted = translation.experiment.lifts_mask
        if self.published.isChecked():
            places = tuple(str(place + 1) for place in range(NUM_PUBLISHED))
            self.title.setText(f"The same mask over {NUM_PUBLISHED} positions, as in The Annotated Transformer")
            seen = np.tril(np.ones((NUM_PUBLISHED, NUM_PUBLISHED), dtype=np.float32))
            self.matrix.show_matrices((Matrix(seen, places, places),), top=1.0)
            self.shrink()
            return
        tokens = tuple(token.replace(WORD_MARK, "") for token in translation.read_tokens)
        predicted = tuple(token.replace(WORD_MARK, "") for token in translation.predicted_tokens)
        seen = np.ones((len(tokens), len(tokens)), dtype=np.float32)
        self.title.setText("The mask is lifted: the decoder sees everything" if is_lifted else self.caption)
        self.matrix.show_matrices((Matrix(seen if is_lifted else np.tril(seen), predicted, tokens),), top=1.0)
        self.shrink()

    def _on_published(self) -> None:
        self.redraw()
        self._say(None)

    def _say(self, cell: MatrixCell | None) -> None:
        translation = self.translation
        if self.published.isChecked():
            if cell is None:
                self.says.setText("Rows: the position that is read. Columns: the positions it may look at.")
            else:
                may = "may" if cell.column <= cell.row else "may not"
                self.says.setText(f"Position {cell.row + 1} {may} look at position {cell.column + 1}.")
            return
        if cell is None or translation is None:
            self.says.setText("Each row: what the decoder may look at while it predicts that token. Point at a cell.")
            return
        read, seen = (translation.read_tokens[place].replace(WORD_MARK, "") for place in (cell.row, cell.column))
        predicted = translation.predicted_tokens[cell.row].replace(WORD_MARK, "")
        may = "may" if cell.column <= cell.row or translation.experiment.lifts_mask else "may not"
        self.says.setText(f"Having read “{read}”, to predict “{predicted}”, the decoder {may} look at “{seen}”.")
