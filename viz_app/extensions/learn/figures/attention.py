"""Figures of attention weights: the map of a head, the three kinds, the causal mask, and one query
in all heads.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QPushButton, QToolButton, QWidget

from augenmerk.core.model.heads import ATTENTION_KINDS, KIND_TITLES, AttentionKind, Head
from augenmerk.core.quantities import percent, percent_in_words
from augenmerk.core.text.vocabulary import PADDING
from augenmerk.core.translation.result import FloatArray, Translation

from ....heatmap.head_grid import HeadGrid, HeadGridArea
from ....heatmap.heatmap import MANY_ROWS, Heatmap, least_height
from ....state import map_text
from ....state.map_view_settings import on_redraw
from ....theme import scaled
from ....widgets.buttons import flat_button
from ....widgets.labels import label
from ....widgets.layouts import add_parts, row_of
from ....worker.jobs import Job
from ...widgets.labelled_matrix import MatrixCell, MatrixStyle
from ..job import NUM_PADDING, PaddingJob
from ..values import pair_tokens, plain
from .figure import ChapterFigure, LearnContext, MatrixFigure

MIN_HEIGHT = 170
ROW_GAP = 3.2
"""Pixels between the labels of two rows, beyond the least that can be read."""


class MapFigure(ChapterFigure):
    """One large map; with the option `grid`, all heads above it as thumbnails to choose from.

    With `unnamed`, the title does not name the head, for chapters before layers and heads are
    explained.

    Attributes:
        grid: the thumbnails; None without the option.
        map: the large map.
        value: of the cell under the mouse, or the pinned one.
    """

    caption = "Attention"
    takes_height = True
    options_known = frozenset({"grid", "unnamed"})

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.grid = HeadGrid(self.state) if "grid" in options else None
        if self.grid is not None:
            self._grid_area = HeadGridArea(self.grid)
            self.column.addWidget(self._grid_area, 2)
            on_redraw(self.state.settings, ("maps", "grid"), self.redraw_in_sight)
        self.map = Heatmap(self.state)
        self.value = label("accent", " ")
        self.map.set_presented(True)
        self.column.addWidget(self.map, 1)
        self.column.addWidget(self.value)
        self.state.selection.events.hovered.connect(self._show_value, max_args=0)

    def redraw(self) -> None:
        """Names the head in the caption, and leaves room for all labels, and for all heads if they
        are presented.
        """
        if self.grid is not None and self.translation is not None:
            self._grid_area.setMinimumHeight(
                self.grid.least_height() if self.theme.is_presented else 0
            )
        view = self.state.maps.view()
        num_rows = min(len(view.row_labels), MANY_ROWS) if view is not None else 0
        least = least_height(view) + scaled(round(num_rows * ROW_GAP))
        self.map.setMinimumHeight(max(scaled(MIN_HEIGHT), least))
        self._show_value()
        if self.translation is not None:
            parts = map_text.meaning_of_query(self.state), map_text.off_note(self.state)
            name = self.caption if "unnamed" in self.options else map_text.title(self.state)
            self.title.setText(f"{name}. {' '.join(parts).rstrip()}")

    def _show_value(self) -> None:
        selection = self.state.selection
        pair = selection.hovered or selection.pinned
        value = (
            map_text.describe(self.state, pair)
            if pair is not None and self.translation is not None
            else None
        )
        self.value.setText(": ".join(value) if value is not None else " ")


HEADINGS = ("", "queries from", "keys and values from", "mask", "each map: rows × columns")
ORIGINS: dict[AttentionKind, tuple[str, str, str]] = {
    "encoder": ("source", "source", "none"),
    "decoder": ("translation, so far", "translation, so far", "causal"),
    "cross": ("translation, so far", "the encoder's output", "none"),
}
"""Of each kind: queries, keys and values, mask."""


class KindsFigure(ChapterFigure):
    """A table with a line for each kind; a click shows a head of that kind.

    Attributes:
        buttons: one for each kind.
        shapes: the shapes of the maps of this sentence, as text.
    """

    caption = "Three kinds of attention"

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.buttons = {kind: QPushButton(KIND_TITLES[kind]) for kind in ATTENTION_KINDS}
        self.shapes = {kind: label("number") for kind in ATTENTION_KINDS}
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(6)
        for column, heading in enumerate(HEADINGS):
            grid.addWidget(label("muted", heading, wraps=True), 0, column)
        for row, kind in enumerate(ATTENTION_KINDS, start=1):
            button = self.buttons[kind]
            button.setCheckable(True)
            button.setProperty("role", "chapter")
            button.setToolTip("Show a head of this kind below")
            button.clicked.connect(partial(self._choose, kind))
            origins = [label("number", text, wraps=True) for text in ORIGINS[kind]]
            for column, widget in enumerate((button, *origins, self.shapes[kind])):
                grid.addWidget(widget, row, column)
        grid.setColumnStretch(len(HEADINGS) - 1, 1)
        self.column.addLayout(grid)

    def redraw(self) -> None:
        """Shows the shapes of the maps and the kind of the chosen head."""
        chosen = self.state.selection.head.kind
        for kind, button in self.buttons.items():
            button.setChecked(kind == chosen)
            if self.translation is not None:
                num_rows, num_columns = self.translation.maps.of_kind(kind).shape[-2:]
                self.shapes[kind].setText(f"{num_rows} × {num_columns}")

    def _choose(self, kind: AttentionKind) -> None:
        head = self.state.selection.head
        self.state.intents.choose_head(Head(kind, head.layer, head.head))
        self.redraw()


NUM_PUBLISHED = 20
PUBLISHED_TIP = (
    "Show the mask of 20 positions from The Annotated Transformer instead of your sentence's"
)


PADDING_TIP = "Show what the padding mask hides: <pad> after your sentence, in the encoder"
PADDING_TITLE = "Your sentence with padding: its attention in the encoder, the mean of all heads"


class MaskFigure(MatrixFigure):
    """A row for each predicted token, a column for each token that is visible to the decoder, or
    hidden.

    Attributes:
        padding: shows the attention to a filled-up sentence instead, with the padding mask and
            without.
        published: shows the mask of 20 positions instead, as The Annotated Transformer prints it.
        says: explains the cell under the mouse.
    """

    caption = "The mask of the decoder"
    name = "Causal mask"
    matrix_style = MatrixStyle(
        colors="sequential",
        cell_heights=(7, 26),
        aimed_height=230,
        legend=lambda top: ("hidden", "", "seen") if top == 1 else ("0%", "", percent(top)),
    )
    job_type = PaddingJob
    answer: FloatArray

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.matrix.hovered.connect(self._say)
        self.says = label("muted", wraps=True)
        self.published = flat_button("20 positions", PUBLISHED_TIP)
        self.padding = flat_button("Padding", PADDING_TIP)
        buttons = self.padding, self.published
        for button, other in zip(buttons, reversed(buttons), strict=True):
            button.setCheckable(True)
            button.toggled.connect(partial(self._on_other_mask, other))
        top = Qt.AlignmentFlag.AlignTop
        below = row_of((self.says, 1), (self.padding, 0, top), (self.published, 0, top))
        add_parts(self.column, self.matrix, below)
        self._say(None)

    def job(self) -> Job | None:
        """Only padding needs the model."""
        return super().job() if self.padding.isChecked() else None

    def redraw(self) -> None:
        """Shows the mask of the translation, padding, or the published mask."""
        translation = self.translation
        if translation is None:
            return
        if self.padding.isChecked():
            self._show_padding(translation)
            return
        rows, columns = pair_tokens(translation, "decoder")
        title = self.caption
        lifts_mask = translation.experiment.lifts_mask
        if lifts_mask:
            title = "The mask is lifted: the decoder sees everything"
        if self.published.isChecked():
            title = f"The same mask over {NUM_PUBLISHED} positions, as in The Annotated Transformer"
            lifts_mask = False
            rows = columns = tuple(str(index + 1) for index in range(NUM_PUBLISHED))
        self.title.setText(title)
        seen = np.ones((len(rows), len(rows)), dtype=np.float32)
        self.show_matrix(seen if lifts_mask else np.tril(seen), rows, columns)

    def _show_padding(self, translation: Translation) -> None:
        if not self.has_answer:
            return
        self.title.setText(PADDING_TITLE)
        columns = *plain(translation.source_tokens), *[PADDING] * NUM_PADDING
        top = float(self.answer.max())
        self.show_matrix(self.answer, ("with the mask", "without it"), columns, top)
        self._say(None)

    def _on_other_mask(self, other: QToolButton, is_shown: bool) -> None:
        if is_shown:
            other.setChecked(False)
        self.refresh()
        self._say(None)

    def _say_padding(self, cell: MatrixCell | None) -> None:
        if not self.has_answer:
            self.says.setText("")
        elif cell is None:
            share = percent_in_words(float(self.answer[1, -NUM_PADDING:].sum()))
            self.says.setText(
                f"Without the mask, the {NUM_PADDING} {PADDING} get {share} of the attention. "
                "With it, they get none, and nothing depends on them."
            )
        else:
            share = percent_in_words(float(self.answer[cell.row, cell.column]))
            (matrix,) = self.matrix.matrices
            token, which = matrix.column_labels[cell.column], matrix.row_labels[cell.row]
            self.says.setText(f"“{token}” gets {share} {which}.")

    def _say(self, cell: MatrixCell | None) -> None:
        translation = self.translation
        if self.padding.isChecked():
            self._say_padding(cell)
        elif self.published.isChecked():
            if cell is None:
                self.says.setText(
                    "Rows: the position that is read. Columns: the positions it may look at."
                )
            else:
                may = "may" if cell.column <= cell.row else "may not"
                self.says.setText(
                    f"Position {cell.row + 1} {may} look at position {cell.column + 1}."
                )
        elif cell is None or translation is None:
            self.says.setText(
                "Each row: what the decoder may look at while it predicts that token. Point at a "
                "cell."
            )
        else:
            predicted, read = pair_tokens(translation, "decoder")
            may = (
                "may" if cell.column <= cell.row or translation.experiment.lifts_mask else "may not"
            )
            self.says.setText(
                f"Having read “{read[cell.row]}”, to predict “{predicted[cell.row]}”, the "
                f"decoder {may} look at “{read[cell.column]}”."
            )


SHARP = 0.5
"""A head looks sharply at a place that has at least this share of its weight."""


class OneQueryFigure(MatrixFigure):
    """A row for each head of the chosen head's layer, and their mean below; a click on a row
    chooses its head.

    The query is the pinned one. If nothing is pinned, it is the query for which the heads differ
    most.

    Attributes:
        query: its position, counted from 0.
    """

    caption = "One query, all heads of a layer"
    name = "Weights of one query in all heads of a layer"
    matrix_style = MatrixStyle(
        colors="sequential",
        cell_heights=(9, 18),
        aimed_height=120,
        is_clickable=True,
        legend=None,  # that of the map above
    )

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.query = 0
        self.matrix.tip_of = self._tip_of
        self.matrix.clicked.connect(self._choose)
        self.column.addWidget(self.matrix)

    def redraw(self) -> None:
        """Shows the weights of the query in all heads."""
        translation = self.translation
        head = self.state.selection.head
        pinned = self.state.selection.pinned
        if translation is None:
            return
        layer = translation.maps.of_kind(head.kind)[head.layer]
        num_heads, num_queries = layer.shape[:2]
        if pinned is not None and pinned.query < num_queries:
            self.query = pinned.query
            why = f"all {num_heads} heads, and their mean"
        else:
            self.query = most_different(layer, first=int(head.kind == "encoder"))
            why = f"the {num_heads} heads differ most here"
        queries, keys = pair_tokens(translation, head.kind)
        verb = "reads" if head.kind == "encoder" else "predicts"
        kind = KIND_TITLES[head.kind]
        self.title.setText(
            f"{kind}, layer {head.layer + 1}, where it {verb} “{queries[self.query]}”: {why}"
        )
        weights = layer[:, self.query]
        values = np.concatenate([weights, weights.mean(axis=0, keepdims=True)])
        self.show_matrix(
            values, [*(f"head {index + 1}" for index in range(num_heads)), "mean"], keys
        )
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
    """The query for which heads look sharply at the most keys; of several, that with the flattest
    mean.

    Args:
        layer: [H, Q, M].
        first: the first query of a word, 1 in an encoder. The last query, of the end, belongs to no
            word.
    """

    def difference(query: int) -> tuple[int, float]:
        weights = layer[:, query]
        sharp = {int(head.argmax()) for head in weights if head.max() >= SHARP}
        return len(sharp), -float(weights.mean(axis=0).max())

    return max(range(first, max(first + 1, layer.shape[1] - 1)), key=difference)
