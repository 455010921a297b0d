"""Figures of attention weights: the map of a head, the three kinds, the causal mask, and one query in all heads."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from augenmerk.core.model.heads import KIND_TITLES, Head
from augenmerk.core.quantities import percent_in_words
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.translation.result import MAP_KINDS, FloatArray, MapKind
from augenmerk.viz_app.heatmap.head_grid import HeadGrid, HeadGridArea
from augenmerk.viz_app.heatmap.heatmap import Heatmap
from augenmerk.viz_app.heatmap.labelled_matrix import LabelledMatrix, Matrix, MatrixCell, MatrixStyle
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.theme import current_theme, scales
from augenmerk.viz_app.widgets.buttons import flat_button
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import row_of

MIN_HEIGHT = 230


class MapFigure(ChapterFigure):
    """One large map; with the option `grid`, all heads above it as thumbnails to choose from.

    The option `height` gives its least height, where another figure needs the rest; with `unnamed` the title does not
    say which head it is, where layers and heads are not explained yet.
    """

    caption = "Attention"
    takes_height = True
    options_known = frozenset({"grid", "height", "unnamed"})

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.grid = HeadGrid(self.state) if "grid" in options else None
        if self.grid is not None:
            self.column.addWidget(HeadGridArea(self.grid), 1)
        self.map = Heatmap(self.state)
        scales(self.map.setMinimumHeight, int(options.get("height", MIN_HEIGHT)))
        self.column.addWidget(self.map, 1)

    def redraw(self) -> None:
        """Another head: the map follows by itself, the caption here."""
        if self.translation is not None:
            parts = map_text.meaning_of_query(self.state), map_text.off_note(self.state)
            name = self.caption if "unnamed" in self.options else map_text.title(self.state)
            self.title.setText(f"{name}. {' '.join(parts).rstrip()}")


HEADINGS = ("", "queries from", "keys and values from", "mask", "each map: rows × columns")


class KindsFigure(ChapterFigure):
    """A table with a line for each kind; a click shows a head of that kind.

    Attributes:
        buttons: one for each kind.
        shapes: the shapes of the maps of this sentence, in words.
    """

    caption = "Three kinds of attention"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.buttons: dict[MapKind, QPushButton] = {}
        self.shapes = {kind: label("number") for kind in MAP_KINDS}
        source, target = "source", "translation"
        origins = {
            "encoder": (source, source, "none"),
            "decoder": (f"{target}, so far", f"{target}, so far", "causal"),
            "cross": (f"{target}, so far", "the encoder's output", "none"),
        }
        table = QWidget()
        grid = QGridLayout(table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(6)
        for column, heading in enumerate(HEADINGS):
            shown = label("muted", heading, wraps=True)
            grid.addWidget(shown, 0, column)
        for row, kind in enumerate(MAP_KINDS, start=1):
            button = QPushButton(KIND_TITLES[kind])
            button.setCheckable(True)
            button.setProperty("role", "chapter")
            button.setToolTip("Show a head of this kind below")
            button.clicked.connect(partial(self._choose, kind))
            self.buttons[kind] = button
            grid.addWidget(button, row, 0)
            for column, text in enumerate(origins[kind], start=1):
                shown = label("number", text, wraps=True)
                grid.addWidget(shown, row, column)
            grid.addWidget(self.shapes[kind], row, len(HEADINGS) - 1)
        grid.setColumnStretch(len(HEADINGS) - 1, 1)
        self.column.addWidget(table)

    def redraw(self) -> None:
        """Another sentence has other shapes; another head may be of another kind."""
        chosen = self.state.selection.head.kind
        for kind, button in self.buttons.items():
            button.setChecked(kind == chosen)
            if self.translation is not None:
                num_rows, num_columns = self.translation.maps.of_kind(kind).shape[-2:]
                self.shapes[kind].setText(f"{num_rows} × {num_columns}")

    def _choose(self, kind: MapKind) -> None:
        head = self.state.selection.head
        self.state.intents.choose_head(Head(kind, head.layer, head.head))
        self.redraw()


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
