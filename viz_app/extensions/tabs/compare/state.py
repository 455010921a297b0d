"""Comparison of two sentences in one model, or of one experiment in two checkpoints. No Qt."""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from augenmerk.core.counting import display_text
from augenmerk.core.errors import AnalysisError
from augenmerk.core.maps.comparing import MapDifference, NothingInCommonError, difference
from augenmerk.core.maps.selection import LabelledMap
from augenmerk.core.quantities import counted, percent
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.translation.experiment import (
    Experiment,
    GivenTarget,
    Greedy,
    SourceWordReplaced,
)
from augenmerk.core.translation.result import ExperimentResult, Translation

from ....state.experiment_editor import open_experiment
from ....state.experiment_state import ExperimentState
from ....state.map_source import LEAST_DIFFERENCE
from ....state.sentence_text import word_ranges
from ....state.tab_contents import content
from .questions import CompareQuestion

if TYPE_CHECKING:
    from augenmerk.core.translation.translator import Translator


class SecondModel:
    """A second checkpoint, opened in the worker thread at its first use, and freed when it is
    closed.

    Attributes:
        path: the file; None for the bundled model.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._translator: Translator | None = None
        self._is_closed = False

    @property
    def name(self) -> str:
        """The name shown to the user, with the folder if the name alone is ambiguous."""
        path = self.path or bundled_model_path()
        name = path.name.removesuffix(".safetensors")
        return f"{path.absolute().parent.name}/{name}" if name in ("best", "last") else name

    @property
    def is_open(self) -> bool:
        """Whether the file was read, and is not closed yet."""
        return self._translator is not None

    def translator(self, device: str) -> "Translator":
        """The model, opened now if it is not. For the worker's thread alone.

        Raises:
            CheckpointError: the file cannot be used.
        """
        translator = self._translator
        if translator is None:
            from augenmerk.core.translation.translator import Translator

            translator = Translator.load(self.path, device)
            with self._lock:
                self._translator = None if self._is_closed else translator
        return translator

    def close(self) -> None:
        """Free the memory, at the latest after the current answer."""
        with self._lock:
            self._is_closed = True
            self._translator = None


READS_FIRST = "Use the first translation for both"
"""The label of the choice that forces the first translation on the second."""
MUCH_LEFT_OUT = 0.05


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of a comparison.

    Attributes:
        first: the current result.
        second: that of the second sentence, or by the second checkpoint.
        forced: the second sentence, or model, with the words of the first translation; None if that
            is impossible.
        forced_problem: the reason if that is impossible; else empty.
        log_probability: of the words of the first translation there, natural log; None if unknown.
        is_same_vocabulary: whether both cut sentences into the same tokens.
    """

    first: ExperimentResult
    second: ExperimentResult
    forced: ExperimentResult | None
    forced_problem: str
    log_probability: float | None
    is_same_vocabulary: bool


@dataclass(frozen=True, eq=False)
class ComparedMaps:
    """The chosen head in both, and the difference.

    Attributes:
        first: labelled map [Q, M].
        second: labelled map of its own size; None if it has no such head.
        change: second minus first where both have queries and keys; None if there is none.
        problem: the reason if there is no difference; else empty.
        notes: further remarks for the reader, one sentence each.
    """

    first: LabelledMap
    second: LabelledMap | None
    change: MapDifference | None
    problem: str
    notes: tuple[str, ...]

    @property
    def top(self) -> float:
        """The weight of the last colour, the same in both maps."""
        both = [
            labelled.weights.max(initial=0.0)
            for labelled in (self.first, self.second)
            if labelled is not None
        ]
        return float(max(both)) or 1.0

    @property
    def change_top(self) -> float:
        """The end of the colours of the difference, on both sides of 0."""
        return max(self.change.largest, LEAST_DIFFERENCE) if self.change is not None else 1.0


class CompareState:
    """The state of the tab *Compare*.

    Attributes:
        first: the experiment of the page.
        state: the same.
        second: the experiment to compare with.
        question: the choice between another sentence and another checkpoint.
        text: the second sentence of the last request.
        model: the second checkpoint; None if none is chosen.
        candidate: a checkpoint that is being opened; it replaces `model` if that succeeds.
        reads_first: whether the second is shown with the words of the first translation.
        comparison: the result; None before the first.
    """

    question: CompareQuestion = content("compare_question")
    text: str = content("compare_text")
    reads_first: bool = content("compare_reads_first")

    def __init__(self, first: ExperimentState) -> None:
        self.first = first
        self.second = ExperimentState()
        self.state = first
        self.model: SecondModel | None = None
        self.candidate: SecondModel | None = None
        self.comparison: Comparison | None = None

    def forget_result(self) -> None:
        """Forget the comparison."""
        self.comparison = None
        if self.second.result is not None:
            self.second.clear()

    def ask_question(self, question: CompareQuestion) -> None:
        """Change the question; the second checkpoint and the second sentence are kept."""
        if question != self.question:
            self.question = question
            self.drop_candidate()
            self.forget_result()

    @property
    def has_second(self) -> bool:
        """Whether there is something to compare with."""
        return (
            bool(self.text.strip())
            if self.question == "sentence"
            else self.chosen_model is not None
        )

    @property
    def chosen_model(self) -> SecondModel | None:
        """The second checkpoint, open or not; None while two sentences are compared."""
        return (self.candidate or self.model) if self.question == "checkpoint" else None

    def second_experiment(self) -> Experiment:
        """The second experiment: the same interventions, and the same output unless that is given.

        A given translation and removed or replaced words belong to their sentence. Another sentence
        is read as typed, and translated by the model.
        """
        assert self.first.result is not None
        experiment = self.first.result.experiment  # never a refused one
        if self.question == "checkpoint":
            return experiment
        output = Greedy() if isinstance(experiment.output, GivenTarget) else experiment.output
        return Experiment(
            self.text, output, experiment.without(*experiment.source_edits).interventions
        )

    def try_model(self, model: SecondModel) -> None:
        """Open another checkpoint; the previous one stays until that has succeeded."""
        self.drop_candidate()
        self.candidate = model

    def drop_candidate(self) -> None:
        """Close the checkpoint that is being opened."""
        if self.candidate is not None:
            self.candidate.close()
            self.candidate = None

    def close_model(self) -> None:
        """Free the second checkpoint."""
        self.drop_candidate()
        if self.model is not None:
            self.model.close()
        self.model = None
        if self.question == "checkpoint":
            self.forget_result()

    def take(self, comparison: Comparison) -> None:
        """Store a result."""
        self.comparison = comparison
        if comparison.forced is None:
            self.reads_first = False
        self._adopt()
        self._show_second()

    def fail(self) -> None:
        """Handle a failure.

        A checkpoint that could be read is kept: the sentence may be the cause. The comparison with
        the previous checkpoint is kept, too; that with the previous sentence is outdated.
        """
        if self.question == "sentence":
            self.forget_result()
        if self.candidate is not None and self.candidate.is_open:
            self._adopt()
            self.forget_result()
        self.drop_candidate()

    def show_reading(self, reads_first: bool) -> None:
        """Show the second with the first translation, or with its own."""
        self.reads_first = reads_first
        self._show_second()

    def _show_second(self) -> None:
        if self.comparison is not None:
            forced = self.comparison.forced if self.reads_first else None
            result = forced or self.comparison.second
            self.second.submit(open_experiment(result.experiment, forgets_history=True), asks=False)
            self.second.accept(result)

    def _adopt(self) -> None:
        if self.candidate is not None:
            if self.model is not None:
                self.model.close()
            self.model = self.candidate
            self.candidate = None

    @property
    def change_of_log_probability(self) -> float | None:
        """The change for the words of the first translation, from the first to the second; None if
        unknown.
        """
        if self.comparison is None or self.comparison.log_probability is None:
            return None
        return self.comparison.log_probability - self.comparison.first.changed.log_probability

    @property
    def dropped(self) -> str:
        """A sentence about the interventions that the second lacks; empty if it has all."""
        if self.comparison is None:
            return ""
        first = self.comparison.first.experiment
        second = self.comparison.second
        considered = (*second.dropped, *second.experiment.interventions)
        parts = [
            (
                ", which is read as typed",
                [edit for edit in first.source_edits if edit not in considered],
            ),
            (", because it does not fit", second.dropped),
        ]
        return " ".join(
            f"Left out of the second{why}: {', '.join(map(display_text, dropped))}."
            for why, dropped in parts
            if dropped
        )

    @property
    def notes_on_second_sentence(self) -> tuple[str, ...]:
        """What the second sentence would be told on the Translate page, as that it is English."""
        second = self.second.translation
        return () if second is None or self.question != "sentence" else second.all_notes

    def maps(self) -> ComparedMaps | None:
        """The chosen head, or the heads that are combined in the large map, in both; None before
        the first answer.
        """
        comparison = self.comparison
        if comparison is None or self.second.result is None:
            return None
        must_merge = not (self.first.settings.merges_words or comparison.is_same_vocabulary)
        notes = [_meaning(self.first)]
        if must_merge:
            notes.append(
                "Pieces are merged into words, because the two models split words differently."
            )
        if self.first.maps.shown_measure(self.first.selection.head.kind) != "weight":
            notes.append("This compares the weights, not the measure of the large map.")
        if self.first.maps.shown == "difference":
            notes.append(
                "This compares the changed maps, not their difference from the original maps."
            )
        first = _labelled(self.first, comparison.first, merges=must_merge)
        assert first is not None
        second = _labelled(self.first, self.second.result, merges=must_merge)
        if second is None:
            return ComparedMaps(
                first,
                None,
                None,
                _no_such_head(self.first, self.second.result.changed),
                tuple(notes),
            )
        try:
            change = difference(first, second)
        except NothingInCommonError as error:
            return ComparedMaps(first, second, None, self._nothing_in_common(error), tuple(notes))
        except AnalysisError as error:
            return ComparedMaps(first, second, None, display_text(error), tuple(notes))
        return ComparedMaps(first, second, change, "", (*notes, *_left_out(change)))

    def _nothing_in_common(self, error: NothingInCommonError) -> str:
        """The message for maps without a common token.

        For two checkpoints it adds advice: only translations differ.
        """
        if self.question == "sentence":
            return display_text(error)
        advice = []
        if self.first.selection.head.kind != "encoder":
            if (
                self.comparison is not None
                and self.comparison.forced is not None
                and not self.reads_first
            ):
                advice.append(f"Tick “{READS_FIRST}”, or choose")
            else:
                advice.append("Choose")
            advice.append("a head of the encoder: both then have the same words.")
        return " ".join((error.reason, *advice))


def _labelled(
    page: ExperimentState, result: ExperimentResult, *, merges: bool
) -> LabelledMap | None:
    """The large map of a result; None if its model has no such head."""
    maps = page.maps.with_settings(
        measure="weight",
        shown="original" if page.maps.shown == "original" else "changed",
        merges_words=page.settings.merges_words or merges,
    )
    maps.show(result)
    num_layers, num_heads = maps.shape(page.selection.head.kind)
    if any(layer >= num_layers or head >= num_heads for layer, head in _needed_heads(page)):
        return None
    view = maps.view()
    return view.labelled if view is not None else None


def _needed_heads(page: ExperimentState) -> list[tuple[int, int]]:
    """Layer and head of the heads that the map requires.

    A whole layer requires its first head, a whole kind none.
    """
    scope = page.settings.scope
    if scope == "all":
        return []
    return [(page.selection.head.layer, 0)] if scope == "layer" else page.maps.heads()


def _no_such_head(page: ExperimentState, second: Translation) -> str:
    head = page.selection.head
    num_layers, num_heads = second.maps.of_kind(head.kind).shape[:2]
    return (
        f"The second checkpoint has no {display_text(head)}, only {counted(num_layers, 'layer')} × "
        f"{counted(num_heads, 'head')} of {head.kind} attention. Choose a head that both have."
    )


def _meaning(page: ExperimentState) -> str:
    head = page.selection.head
    mode = page.settings.label_mode
    columns = "target token read" if head.kind == "decoder" else "source token"
    rows = "source token" if head.kind == "encoder" else f"target token {mode}"
    return f"Rows: {rows}. Columns: {columns}."


def _left_out(change: MapDifference) -> tuple[str, ...]:
    if not change.note:
        return ()
    first, second = change.mass_left_out.reshape(2, -1).mean(axis=-1).tolist()
    if max(first, second) < MUCH_LEFT_OUT:
        return (change.note,)
    weight = (
        f"The omitted columns have {percent(first)} of the first and {percent(second)} of the "
        "second map's weight."
    )
    return change.note, weight


def source_as_read(result: ExperimentResult) -> str:
    """The sentence as the model read it, without removed words and with replaced ones."""
    text = result.original.source_text
    ranges = word_ranges(result.original)
    edits = {edit.place: edit for edit in result.experiment.source_edits}
    parts: list[str] = []
    position = 0
    for index, word in zip(
        result.original.source_places, result.original.source_words, strict=True
    ):
        if index not in edits or word not in ranges:
            continue
        edit = edits[index]
        (start, end) = ranges[word]
        before = text[position:start]
        parts.append(
            before + edit.text if isinstance(edit, SourceWordReplaced) else before.rstrip()
        )
        position = end
    return ("".join(parts) + text[position:]).strip()
