"""The decoder's predictions: after each layer (logit lens), and as a sum of parts."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from PySide6.QtWidgets import QToolButton, QWidget

from augenmerk.core.extensions.analyses.parts import Component, Origin
from augenmerk.core.extensions.analyses.parts_of_words import WordParts
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.quantities import number, percent_in_words

from ....widgets.buttons import tab_button
from ....widgets.labels import label
from ....widgets.layouts import FlowLayout, add_parts
from ...widgets.labelled_matrix import MatrixCell, MatrixStyle
from ...words.jobs import LensJob
from ...words.lens_table import short_name
from ...words.word_parts import PartBars, lead_text
from ..job import LogitPartsJob
from ..values import plain, whole_percent
from .figure import ChapterFigure, LearnContext, MatrixFigure

if TYPE_CHECKING:  # torch belongs to the worker thread
    from augenmerk.core.extensions.analyses.logit_lens import Depth, LogitLens

NUM_IN_TIP = 5
POINT_AT_CELL = "Point at a cell for the predictions there."
FRAMED = f"Framed: the token takes the lead for good. {POINT_AT_CELL}"
WAITING_FOR_ANSWER = f"Answer the question to see the earlier layers. {POINT_AT_CELL}"


class LayersFigure(MatrixFigure):
    """A row for each depth, a column for each predicted token; a cell is the probability of the
    token there.

    A frame marks the depth from which on the token stays the most probable. The chapter asks where
    that is. Until the reader has answered, only the last row, the translation itself, has cells.

    Attributes:
        has_sublayers: whether there is a row after each sublayer; else after each layer.
        says: the decoder's prediction at the cell under the mouse.
    """

    needs_answer = True
    caption = "If the decoder stopped here: the probability of the word it predicts in the end"
    question = "decided-at"
    job_type = LensJob
    name = "Logit lens"
    matrix_style = MatrixStyle(
        colors="sequential",
        cell_heights=(30, 130),
        aimed_height=520,
        cell_text=whole_percent,
        legend=lambda top: ("0%", "", "100%"),
    )
    has_sublayers: ClassVar[bool] = False
    answer: "LogitLens | None"

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.matrix.tip_of = self._tip_of
        self.says = label("muted", wraps=True)
        self.matrix.hovered.connect(self._show_candidates)
        add_parts(self.column, self.matrix, self.says)

    def take(self, answer: "LogitLens") -> None:
        """Keeps the rows that are shown."""
        self.answer = answer if self.has_sublayers else answer.whole_layers

    def redraw(self) -> None:
        """Shows the table."""
        lens = self.answer
        if lens is None or lens.translation is not self.translation:
            return
        values = np.exp(lens.log_probabilities).astype(np.float32)
        if not self._is_answered:
            values[:-1] = np.nan
        self._show_candidates(None)
        self.show_matrix(
            values, list(map(self._row_name, lens.depths)), plain(lens.translation.predicted_tokens)
        )
        if self._is_answered:
            decided = map(lens.decided_at, range(values.shape[1]))
            self.matrix.mark(
                [MatrixCell(0, row, step) for step, row in enumerate(decided) if row is not None]
            )

    def _row_name(self, depth: "Depth") -> str:
        if depth.layer is None:
            return depth.sublayer
        return short_name(depth) if self.has_sublayers else f"layer {depth.layer + 1}"

    @property
    def _is_answered(self) -> bool:
        lens, question = self.answer, self.question
        return lens is not None and (
            not question or self.context.answers.has(question, lens.translation.source_text)
        )

    def _show_candidates(self, cell: MatrixCell | None) -> None:
        if cell is None:
            self.says.setText(FRAMED if self._is_answered else WAITING_FOR_ANSWER)
        else:
            self.says.setText(self._tip_of(cell).replace("\n", " · "))

    def _tip_of(self, cell: MatrixCell) -> str:
        assert self.answer is not None
        candidates = self.answer.candidates[cell.row][cell.column][:NUM_IN_TIP]
        tokens = plain(candidate.token for candidate in candidates)
        shares = (percent_in_words(candidate.probability) for candidate in candidates)
        return "\n".join(f"{token} {share}" for token, share in zip(tokens, shares, strict=True))


class SublayersFigure(LayersFigure):
    """The logit lens after each sublayer, which shows the effect of each feed-forward network."""

    caption = "The logit lens after each part of a decoder layer"
    question = ""
    matrix_style = replace(LayersFigure.matrix_style, cell_heights=(13, 60), aimed_height=400)
    has_sublayers = True


NUM_PARTS_SHOWN = 6
CHIP_SPACING = 2


class WordPartsFigure(ChapterFigure):
    """A word and its foil: the difference of their logits as a sum of parts, all on one scale.

    Attributes:
        step: of the displayed word.
        words: one button for each token of the translation.
        says: the lead of the word.
        sums: the sums of the parts by kind of module.
        bars: the parts, the largest first.
    """

    needs_answer = True
    caption = "Why this word: the parts of its logit. Click another word"
    job_type = LogitPartsJob
    answer: tuple[WordParts, ...] | None

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self._unchanged: tuple[WordParts, ...] | None = None
        self.step = 0
        self.words: list[QToolButton] = []
        self._flow = FlowLayout(CHIP_SPACING)
        self.says = label("accent", wraps=True)
        self.sums = label("muted", wraps=True)
        self.bars = PartBars(self.state, NUM_PARTS_SHOWN)
        add_parts(self.column, self._flow, self.says, self.sums, self.bars)

    def take(self, answer: tuple[WordParts, ...]) -> None:
        """Keeps the parts. With a head off, the word stays the same."""
        before = self.answer
        self.answer = answer
        translation = answer[0].translation
        if not translation.experiment.interventions:
            self._unchanged = answer
        if before is None or translation.predicted_ids != before[0].translation.predicted_ids:
            self.step = int(np.argmax([parts.keys.sum() for parts in answer]))
            self._offer_words(plain(translation.predicted_tokens))

    def redraw(self) -> None:
        """Shows the parts of the word."""
        if self.answer is None or self.answer[0].translation is not self.translation:
            return
        parts = self.answer[self.step]
        before = parts_before(parts, self._unchanged)
        for step, button in enumerate(self.words):
            button.setChecked(step == self.step)
        without = (
            f" Without changes: {number(before.difference, signed=True)}."
            if before is not None
            else ""
        )
        self.says.setText(f"{lead_text(parts)}{without}")
        self.sums.setText(sums_text(parts))
        self.bars.show_parts(parts, before=before)

    def _offer_words(self, tokens: tuple[str, ...]) -> None:
        for button in self.words:
            self._flow.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.words = [tab_button(token) for token in tokens]
        for step, button in enumerate(self.words):
            button.clicked.connect(partial(self._show_step, step))
            self._flow.addWidget(button)

    def _show_step(self, step: int) -> None:
        self.step = step
        self.redraw()


def parts_before(parts: WordParts, unchanged: tuple[WordParts, ...] | None) -> WordParts | None:
    """The parts of the same word and foil without changes; None if there are no changes or no such
    parts.
    """
    now = parts.translation
    if unchanged is None or not now.experiment.interventions:
        return None
    before = unchanged[0].translation
    if (now.source_ids, now.predicted_ids) != (before.source_ids, before.predicted_ids):
        return None
    same_step = unchanged[parts.step]
    return same_step if same_step.foil.entry == parts.foil.entry else None


def sums_text(parts: WordParts) -> str:
    """The sums of the parts by kind: “Cross-attention +5.59, self-attention +0.17, …”."""
    sums: dict[str, float] = {}
    for component, value in zip(parts.components, parts.values.tolist(), strict=True):
        kind = _kind_of(component)
        sums[kind] = sums.get(kind, 0.0) + value
    text = ", ".join(
        f"{kind} {number(value, signed=True)}" for kind, value in sorted(sums.items(), key=_by_size)
    )
    return f"Together: {text}."


def _by_size(named: tuple[str, float]) -> float:
    return -abs(named[1])


def _kind_of(component: Component) -> str:
    match component:
        case Head(kind):
            return "cross-attention" if kind == "cross" else "self-attention"
        case Network():
            return "feed-forward networks"
        case _:
            return "biases" if component is Origin.BIAS else "token read"
