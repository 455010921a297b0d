"""One query and the attention of each head in a layer: sharp, but at different places."""

from collections.abc import Mapping

import numpy as np
from PySide6.QtWidgets import QWidget

from augenmerk.core.model.heads import KIND_TITLES, Head
from augenmerk.core.quantities import percent_in_words
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.translation.result import FloatArray
from augenmerk.viz_app.heatmap.labelled_matrix import LabelledMatrix, Matrix, MatrixCell, MatrixStyle
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.theme import current_theme

SHARP = 0.5
"""A head looks at one place if it gives it this much of its weight."""
CELLS, AIMED_HEIGHT, LEAST_HEIGHT = (9, 18), 120, 81


class OneQueryFigure(ChapterFigure):
    """A row for each head of the chosen head's layer, and their mean below; a click on a row chooses its head.

    The query is the pinned one; while nothing is pinned, the one for which the heads differ most.

    Attributes:
        matrix: the rows.
        query: which; counted from 0.
    """

    caption = "One query, all heads of a layer"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.query = 0
        style = MatrixStyle(
            colors="sequential",
            cell_heights=CELLS,
            aimed_height=AIMED_HEIGHT,
            is_clickable=True,
            legend=lambda top: ("0%", "", "100%"),
        )
        self.matrix = LabelledMatrix("Weights of one query in all heads of a layer", style)
        self.matrix.tip_of = self._tip_of
        self.matrix.clicked.connect(self._choose)
        self.column.addWidget(self.matrix)

    def shrink(self) -> None:
        """A low page has lower rows."""
        self.matrix.set_heights(AIMED_HEIGHT, CELLS[1])
        excess = self.excess_px / current_theme().scale
        self.matrix.set_heights(max(LEAST_HEIGHT, round(AIMED_HEIGHT - excess)), CELLS[1])

    def redraw(self) -> None:
        """Another sentence, head or query."""
        translation, head, pinned = self.translation, self.state.selection.head, self.state.selection.pinned
        if translation is None:
            return
        layer = translation.maps.of_kind(head.kind)[head.layer]
        num_heads, num_queries = layer.shape[:2]
        is_pinned = pinned is not None and pinned.query < num_queries
        self.query = (
            pinned.query
            if pinned is not None and is_pinned
            else most_different(layer, first=int(head.kind == "encoder"))
        )
        weights = layer[:, self.query]
        queries = translation.source_tokens if head.kind == "encoder" else translation.predicted_tokens
        keys = translation.read_tokens if head.kind == "decoder" else translation.source_tokens
        verb = "reads" if head.kind == "encoder" else "predicts"
        query = queries[self.query].replace(WORD_MARK, "")
        why = f"all {num_heads} heads, and their mean" if is_pinned else f"the {num_heads} heads differ most here"
        self.title.setText(f"{KIND_TITLES[head.kind]}, layer {head.layer + 1}, where it {verb} “{query}”: {why}")
        rows = (*(f"head {index + 1}" for index in range(num_heads)), "mean")
        values = np.concatenate([weights, weights.mean(axis=0, keepdims=True)])
        columns = tuple(token.replace(WORD_MARK, "") for token in keys)
        self.matrix.show_matrices((Matrix(values, rows, columns),), top=1.0)
        self.matrix.mark([MatrixCell(0, head.head, int(weights[head.head].argmax()))])

    def _tip_of(self, cell: MatrixCell) -> str:
        (matrix,) = self.matrix.matrices
        weight = percent_in_words(float(matrix.values[cell.row, cell.column]))
        return f"{matrix.row_labels[cell.row]}: {weight} on “{matrix.column_labels[cell.column]}”"

    def _choose(self, cell: MatrixCell) -> None:
        head = self.state.selection.head
        if cell.row < self.translation.maps.of_kind(head.kind).shape[1]:  # type: ignore[union-attr]
            self.state.intents.choose_head(Head(head.kind, head.layer, cell.row))


def most_different(layer: FloatArray, first: int) -> int:
    """The query for which heads look sharply at the most keys; of several, that with the flattest mean.

    Args:
        layer: [H, Q, M].
        first: of the queries that stand for words, 1 in an encoder; the last one, of the end, stands for none.
    """

    def difference(query: int) -> tuple[int, float]:
        weights = layer[:, query]
        sharp = {int(head.argmax()) for head in weights if head.max() >= SHARP}
        return len(sharp), -float(weights.mean(axis=0).max())

    return max(range(first, max(first + 1, layer.shape[1] - 1)), key=difference)
