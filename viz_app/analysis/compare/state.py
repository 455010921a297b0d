"""Two sentences in one model, or one sentence in two checkpoints: what is compared, and what came of it. No Qt."""

from dataclasses import dataclass, replace
from typing import Literal

from core.analysis.comparing import MapDifference, difference
from core.analysis.selection import LabelledMap, combine
from core.errors import AnalysisError
from core.translation.result import Translation
from viz_app.analysis.compare.second_model import SecondModel
from viz_app.state.progress import Awaited
from viz_app.state.translate_state import TranslateState

Question = Literal["sentence", "checkpoint"]
SMALLEST_RANGE = 0.01
"""Colours reach at least this far: rounding errors between equal maps are not to look like a finding."""
MUCH_LEFT_OUT = 0.05


@dataclass(frozen=True, eq=False)
class Compared:
    """What the worker found out.

    Attributes:
        first: the translation that was shown.
        second: the translation of the second sentence, or by the second checkpoint.
        forced: the second sentence, or model, reading the words of `first`; None if it cannot.
        forced_problem: why it cannot; empty if it can.
        log_probability: of the words of `first` there, natural log; None if it is not known.
        is_same_vocabulary: whether both cut sentences into the same tokens.
    """

    first: Translation
    second: Translation
    forced: Translation | None
    forced_problem: str
    log_probability: float | None
    is_same_vocabulary: bool


@dataclass(frozen=True, eq=False)
class ComparedMaps:
    """The chosen head in both, and the difference.

    Attributes:
        first, second: labelled maps [Q, M], each of its own size; `second` is None if it has no such head.
        change: second minus first where both have rows and columns; None if there is none.
        problem: why there is none; empty if there is one.
        notes: what else a reader must know, one sentence each.
    """

    first: LabelledMap
    second: LabelledMap | None
    change: MapDifference | None
    problem: str
    notes: tuple[str, ...]

    @property
    def top(self) -> float:
        """The weight of the last colour, the same in both maps."""
        both = [labelled.weights.max(initial=0.0) for labelled in (self.first, self.second) if labelled is not None]
        return float(max(both)) or 1.0

    @property
    def reach(self) -> float:
        """The end of the colours of the difference, on both sides of 0."""
        return max(self.change.largest, SMALLEST_RANGE) if self.change is not None else 1.0


class CompareState:
    """What the tab *Compare* knows.

    Attributes:
        question: another sentence, or another checkpoint.
        text: the second sentence, as it was asked for last.
        model: the second checkpoint, None while none is chosen.
        candidate: a checkpoint that is being opened; it takes the place of `model` if that works.
        reads_first: whether the second is shown while it reads the words of the first translation.
        compared: the answer, None before the first.
        awaited: the answer that is to come.
    """

    def __init__(self, page: TranslateState) -> None:
        self._page = page
        self.question: Question = "sentence"
        self.text = ""
        self.model: SecondModel | None = None
        self.candidate: SecondModel | None = None
        self.reads_first = False
        self.compared: Compared | None = None
        self.awaited = Awaited()

    def forget_sentence(self) -> None:
        """Another translation is shown, or none."""
        self.compared = None
        self.awaited.forget()

    def ask_question(self, question: Question) -> None:
        """Compares something else; the second checkpoint and the second sentence are kept for later."""
        if question != self.question:
            self.question = question
            self.drop_candidate()
            self.forget_sentence()

    @property
    def has_second(self) -> bool:
        """Whether there is something to compare with."""
        return bool(self.text.strip()) if self.question == "sentence" else self.chosen_model is not None

    @property
    def chosen_model(self) -> SecondModel | None:
        """The second checkpoint, open or not; None while two sentences are compared."""
        return (self.candidate or self.model) if self.question == "checkpoint" else None

    @property
    def is_lacking(self) -> bool:
        """Whether the comparison has to be asked for."""
        return (
            self._page.translation is not None
            and self.has_second
            and self.compared is None
            and not self.awaited.is_awaiting
            and not self.awaited.problem
        )

    def try_model(self, model: SecondModel) -> None:
        """Another checkpoint is to be opened; the one before stays until that has worked."""
        self.drop_candidate()
        self.candidate = model

    def drop_candidate(self) -> None:
        """The checkpoint that was being opened is not wanted any more."""
        if self.candidate is not None:
            self.candidate.close()
            self.candidate = None

    def close_model(self) -> None:
        """Frees the second checkpoint."""
        self.drop_candidate()
        if self.model is not None:
            self.model.close()
        self.model = None
        if self.question == "checkpoint":
            self.compared = None
            self.awaited.forget()

    def take(self, compared: Compared) -> None:
        """Keeps an answer."""
        self.compared = compared
        if compared.forced is None:
            self.reads_first = False
        self._adopt()

    def fail(self) -> None:
        """There is no answer. A checkpoint that could be read at all is kept: the sentence may be to blame."""
        if self.candidate is not None and self.candidate.is_open:
            self._adopt()
            self.compared = None
        self.drop_candidate()

    def _adopt(self) -> None:
        if self.candidate is not None:
            if self.model is not None:
                self.model.close()
            self.model, self.candidate = self.candidate, None

    @property
    def second(self) -> Translation | None:
        """What the first translation is compared with."""
        if self.compared is None:
            return None
        return self.compared.forced if self.reads_first and self.compared.forced else self.compared.second

    @property
    def change_of_log_probability(self) -> float | None:
        """Of the words of the first translation, from the first to the second; None if it is not known."""
        if self.compared is None or self.compared.log_probability is None:
            return None
        return self.compared.log_probability - self.compared.first.log_probability

    def maps(self) -> ComparedMaps | None:
        """The chosen head, or the heads that are combined in the large map, in both; None before the first answer."""
        if self.compared is None or self.second is None:
            return None
        must_merge = not (self._page.merges_words or self.compared.is_same_vocabulary)
        first = self._labelled(self.compared.first, merges=must_merge)
        notes = [self._meaning()]
        if must_merge:
            notes.append("Pieces are merged into words: the two models cut words differently.")
        if self._page.measure_of_choice != "weight":
            notes.append("Compared are the weights, not the measure chosen for the large map.")
        try:
            second = self._labelled(self.second, merges=must_merge)
        except AnalysisError:
            return ComparedMaps(first, None, None, self._no_such_head(self.second), tuple(notes))
        try:
            change = difference(first, second)
        except AnalysisError as error:
            return ComparedMaps(first, second, None, str(error), tuple(notes))
        return ComparedMaps(first, second, change, "", (*notes, *_left_out(change)))

    def _labelled(self, translation: Translation, *, merges: bool) -> LabelledMap:
        page, kind = self._page, self._page.choice.kind
        maps = translation.maps.of_kind(kind)
        selection = page.selection
        if merges:
            selection = replace(selection, merge_words=True)
        heads = page.heads(page.choice, (maps.shape[0], maps.shape[1]))
        one = combine(maps, page.combination, heads)
        labelled = selection.apply(one, translation, kind)
        if labelled.weights.size:
            return labelled
        return replace(selection, hide=frozenset()).apply(one, translation, kind)

    def _no_such_head(self, second: Translation) -> str:
        choice = self._page.choice
        num_layers, num_heads = second.maps.of_kind(choice.kind).shape[:2]
        return (
            f"The second checkpoint has no {choice}: of {choice.kind} attention it has {num_layers} × {num_heads} "
            "(layers × heads). Choose a head that both have."
        )

    def _meaning(self) -> str:
        page = self._page
        columns = "target token read" if page.choice.kind == "decoder" else "source token"
        rows = "source token" if page.choice.kind == "encoder" else f"target token {page.label_mode}"
        return f"Rows: {rows}. Columns: {columns}."


def _left_out(change: MapDifference) -> tuple[str, ...]:
    if not change.note:
        return ()
    first, second = change.mass_left_out.reshape(2, -1).mean(axis=-1).tolist()
    if max(first, second) < MUCH_LEFT_OUT:
        return (change.note,)
    weight = f"On columns left out lie {first:.0%} of the first and {second:.0%} of the second map's weight."
    return change.note, weight
