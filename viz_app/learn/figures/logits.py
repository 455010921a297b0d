"""The decoder's predictions: after each layer (logit lens), and as a sum of parts."""

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QToolButton, QWidget

from augenmerk.core.model.heads import Head
from augenmerk.core.quantities import percent_in_words
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.viz_app.heatmap.labelled_matrix import LabelledMatrix, Matrix, MatrixCell, MatrixStyle
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.learn.job import LensJob, LogitPartsJob
from augenmerk.viz_app.theme import GAP, scaled
from augenmerk.viz_app.widgets.bars import Bar, BarList
from augenmerk.viz_app.widgets.buttons import tab_button
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import FlowLayout, column_of, row_of
from augenmerk.viz_app.worker.inference import Job

if TYPE_CHECKING:  # torch belongs to the worker thread
    from augenmerk.core.analysis.logit_attribution import LogitParts
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


NUM_HEADS_SHOWN = 6
CHIP_SPACING = 2
ALL_TIP = "These sum to the difference of the two logits"
HEADS_TIP = "Click a head to choose it; the button at the left switches it off"
READ_TIP = "The vector of the token that the decoder reads, and of its position"
BIAS_TIP = "Learned constants, added whatever the sentence"


class WordPartsFigure(ChapterFigure):
    """A word and its rival: the difference of their scores as a sum, and the heads that have most to do with it.

    Attributes:
        parts: what is drawn; None while nothing is known.
        step: of the word that is shown.
        words: one button for each token of the translation.
        says: by how much the word is ahead.
        all_parts: bars of all kinds of modules; below 0 they are orange.
        heads: bars of the heads with the largest parts, `shown_heads`.
    """

    caption = "Why this word: the parts of its logit. Click another word"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.parts: LogitParts | None = None
        self._unchanged: LogitParts | None = None
        self.step = 0
        self.shown_heads: tuple[Head, ...] = ()
        self.words: list[QToolButton] = []
        self._flow = FlowLayout(CHIP_SPACING)
        self.says = label("accent", wraps=True)
        self.all_parts = BarList("The parts of the difference", ALL_TIP)
        self.heads = BarList("Heads with the largest parts", HEADS_TIP)
        self.heads.label_clicked.connect(self._choose)
        self.heads.bar_clicked.connect(lambda index, _: self._choose(index))
        self._heads_title = label("muted")
        all_parts = column_of(label("muted", "all parts"), self.all_parts, 1, spacing=2)
        heads = column_of(self._heads_title, self.heads, 1, spacing=2)
        self.column.addLayout(self._flow)
        self.column.addWidget(self.says)
        self.column.addLayout(row_of((all_parts, 1), (heads, 1), spacing=2 * GAP))

    def to_ask(self) -> tuple[object, Job] | None:
        """The parts of the translation that is shown."""
        return self.about(self.translation, LogitPartsJob)

    def take(self, answer: "LogitParts") -> None:
        """Keeps the parts; with a head off, the reader still asks about the same word."""
        before, self.parts = self.parts, answer
        if not answer.translation.experiment.interventions:
            self._unchanged = answer
        if before is None or answer.translation.predicted_ids != before.translation.predicted_ids:
            self.step = int(answer.cross.sum(axis=(0, 1)).argmax())
            self._offer_words()

    def redraw(self) -> None:
        """Another word, another head is chosen, or other parts have come."""
        parts = self.parts
        if parts is None or parts.translation is not self.translation:
            return
        for step, button in enumerate(self.words):
            button.setChecked(step == self.step)
        self.says.setText(f"{said_of(parts, self.step)}{said_of_before(parts, self._unchanged, self.step)}")
        sums = sums_of(parts, self.step)
        reach = max(1e-9, *(abs(value) for _, value, _ in sums))
        bars = [_bar(name, value, reach, tip) for name, value, tip in sums]
        bars.append(_bar("together", float(parts.differences[self.step]), reach, "", is_lit=True))
        self.all_parts.show_bars(bars)
        heads = heads_of(parts, self.step)
        self.shown_heads = tuple(head for head, _ in heads[:NUM_HEADS_SHOWN])
        largest = max(1e-9, abs(heads[0][1]))
        chosen = self.state.selection.head
        self._heads_title.setText(f"the {len(self.shown_heads)} largest of {len(heads)} heads (layer·head)")
        self.heads.show_bars(
            [
                _bar(head.short_name, value, largest, f"{head.title}. {HEADS_TIP}", is_lit=head == chosen)
                for head, value in heads[:NUM_HEADS_SHOWN]
            ]
        )

    def _offer_words(self) -> None:
        assert self.parts is not None
        for button in self.words:
            self._flow.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.words = []
        for step, token in enumerate(self.parts.translation.predicted_tokens):
            button = tab_button(token.replace(WORD_MARK, ""))
            button.clicked.connect(partial(self._show_step, step))
            self._flow.addWidget(button)
            self.words.append(button)

    def _show_step(self, step: int) -> None:
        self.step = step
        self.redraw()

    def _choose(self, index: int) -> None:
        self.state.intents.choose_head(self.shown_heads[index])


def said_of(parts: "LogitParts", step: int) -> str:
    """The word's lead over its rival, as a logit difference and as a ratio of probabilities."""
    difference = float(parts.differences[step])
    word = parts.translation.predicted_tokens[step].replace(WORD_MARK, "")
    rival = parts.rivals[step].token.replace(WORD_MARK, "")
    times = math.exp(abs(difference))
    told = f"{times:,.0f}" if times >= 10 else f"{times:.1f}"
    if difference < 0:
        return f"The logit of “{word}” is {-difference:.2f} below that of “{rival}”: {told} times less probable."
    return (
        f"The logit of “{word}” is {difference:.2f} above that of “{rival}”, the next best: {told} times as probable."
    )


def said_of_before(parts: "LogitParts", unchanged: "LogitParts | None", step: int) -> str:
    """The word's lead over the same rival without changes; empty if the two cannot be compared."""
    if unchanged is None or not parts.translation.experiment.interventions:
        return ""
    if unchanged.translation.source_ids != parts.translation.source_ids:
        return ""
    if unchanged.translation.predicted_ids != parts.translation.predicted_ids:
        return ""
    if unchanged.rivals[step].token != parts.rivals[step].token:
        return ""
    return f" Without changes: {float(unchanged.differences[step]):.2f}.".replace("-", "−")


def sums_of(parts: "LogitParts", step: int) -> list[tuple[str, float, str]]:
    """All parts, those of a kind together: name, sum, and what is said about it."""
    cross, decoder, networks = (each[..., step] for each in (parts.cross, parts.decoder, parts.feed_forward))
    return [
        ("all cross", float(cross.sum()), f"The {cross.size} heads of cross-attention"),
        ("all decoder", float(decoder.sum()), f"The {decoder.size} heads of self-attention in the decoder"),
        ("feed-forward", float(networks.sum()), f"The {networks.size} feed-forward networks, one in each layer"),
        ("token read", float(parts.embedding[step]), READ_TIP),
        ("biases", float(parts.bias[step]), BIAS_TIP),
    ]


def heads_of(parts: "LogitParts", step: int) -> list[tuple[Head, float]]:
    """All heads of the decoder with their parts, the largest first, whatever its sign."""
    found = [
        (Head(kind, layer, head), float(parts.of_kind(kind)[layer, head, step]))
        for kind in ("cross", "decoder")
        for layer in range(parts.of_kind(kind).shape[0])
        for head in range(parts.of_kind(kind).shape[1])
    ]
    return sorted(found, key=lambda each: -abs(each[1]))


def _bar(name: str, value: float, reach: float, tip: str, *, is_lit: bool = False) -> Bar:
    text = f"{value:+.2f}".replace("-", "−")
    return Bar(name, min(1.0, abs(value) / reach), text, is_lit=is_lit, is_changed=value < 0, tip=tip)
