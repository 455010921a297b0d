"""Importance and behaviour of every head over a sample of sentences. No Qt, no torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.analyses.alignment import read_gold
from augenmerk.core.extensions.analyses.samples import require_languages_of_sample
from augenmerk.core.extensions.training.corpora.multi30k import cache_path
from augenmerk.core.extensions.training.corpora.parallel import read_pair, read_sentences
from augenmerk.core.maps.roles import SampleProfiles, role_of
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.quantities import counted
from augenmerk.core.resources import example_sentences
from augenmerk.core.text.languages import sentence_with_code
from augenmerk.core.translation.experiment import General
from augenmerk.core.translation.result import FloatArray

from ....state.experiment_editor import named
from ....state.experiment_state import ExperimentState
from ....state.languages import CHOOSE_TARGET
from ....state.tab_contents import content
from .meanings import HeadsQuestion, SampleKind

if TYPE_CHECKING:
    from augenmerk.core.extensions.analyses.importance import HeadImportance
    from augenmerk.core.translation.translator import Translator


BLOCKS = "▁▂▃▄▅▆▇█"
MAX_NAMED = 3


@dataclass(frozen=True)
class SampleChoice:
    """A choice of sentences.

    Attributes:
        kind: "gold": the shipped pairs of the validation split; "examples": the shipped examples;
            "multi30k": the validation split in the user's cache; "file": a text file.
        path: of the file.
    """

    kind: SampleKind = "gold"
    path: Path | None = None

    @property
    def what(self) -> str:
        """A phrase for its sentences, which follows their number."""
        if self.kind == "file" and self.path is not None:
            return f"sentences of {self.path.name}"
        return "example sentences" if self.kind == "examples" else "pairs of the validation split"


class HeadsState:
    """The state of the tab *Heads*.

    Attributes:
        state: the current experiment, whose head changes apply while a sample is measured.
        question: the choice between importance and behaviour.
        sample: the choice of sentences.
        num_sentences: their greatest number.
        importance: the importance of the heads so far; None before the first.
        behaviour: their behaviour, likewise.
    """

    question: HeadsQuestion = content("heads_question")

    def __init__(self, state: ExperimentState) -> None:
        self.state = state
        self._file: Path | None = None
        self.num_sentences = 200
        self.importance: HeadImportance | None = None
        self.behaviour: SampleProfiles | None = None

    @property
    def sample(self) -> SampleChoice:
        """The choice of sentences; the shipped pairs instead of a file that is not known here."""
        kind = self.state.tabs["heads_sample"]
        if kind != "file":
            return SampleChoice(kind)
        return SampleChoice("file", self._file) if self._file is not None else SampleChoice()

    @sample.setter
    def sample(self, choice: SampleChoice) -> None:
        self._file, self.state.tabs["heads_sample"] = choice.path, choice.kind

    def forget_model(self) -> None:
        """Forget the results of the previous model."""
        self.importance = self.behaviour = None

    @property
    def has_answer(self) -> bool:
        """Whether there is something to show."""
        return self.measured_changes is not None

    @property
    def measured_changes(self) -> tuple[General, ...] | None:
        """The head changes of the result; None if there is no result."""
        answer = self.importance if self.question == "importance" else self.behaviour
        return answer.changes if answer is not None else None

    @property
    def is_outdated(self) -> bool:
        """Whether the result was measured with other changes than those of the experiment."""
        measured = self.measured_changes
        return measured is not None and measured != self.state.experiment.general

    def summary(self) -> str:
        """A summary of the result; empty if there is none."""
        if self.question == "importance" and self.importance is not None:
            importance = self.importance
            skipped = f", {importance.num_skipped} left out" if importance.num_skipped else ""
            return (
                f"Loss {importance.before:.3f} nats per token over "
                f"{counted(importance.num_sentences, 'sentence')} ("
                f"{counted(importance.num_tokens, 'token')}{skipped}), "
                f"{in_words(importance.changes)}. Cells: the loss without each head or network "
                "minus this loss, in thousandths of a nat. Click a cell to switch it off."
            )
        if self.question == "behaviour" and self.behaviour is not None:
            return (
                f"Means over {counted(self.behaviour.num_sentences, 'sentence')}, "
                f"{in_words(self.behaviour.changes)}; the thumbnails use these roles. Click a "
                "row to show the head."
            )
        return ""

    def notes(self) -> str:
        """Notes on the sentences of the result; empty if there are none."""
        answer = self.importance if self.question == "importance" else self.behaviour
        return "\n".join(map(display_text, answer.notes)) if answer is not None else ""

    def warning(self) -> str:
        """A sentence if the result belongs to other changes; else empty."""
        changes = in_words(self.state.experiment.general).removeprefix("with ")
        return f"The experiment now has {changes}." if self.is_outdated else ""

    def rows(self) -> list[tuple[Head, tuple[str, ...]]]:
        """The statistics of every head as a line of texts."""
        if self.behaviour is None:
            return []
        rows: list[tuple[Head, tuple[str, ...]]] = []
        for kind in ATTENTION_KINDS:
            of_kind = self.behaviour.of_kind(kind)
            for layer, head in np.ndindex(*of_kind.entropy.shape):
                cells = (
                    display_text(Head(kind, layer, head).short_name),
                    role_of(of_kind, layer, head),
                    f"{of_kind.entropy[layer, head]:.2f}",
                    f"{of_kind.confidence[layer, head]:.2f}",
                    f"{of_kind.end_share[layer, head]:.2f}",
                    blocks(of_kind.distances[layer, head]),
                )
                rows.append((Head(kind, layer, head), cells))
        return rows


def in_words(changes: Sequence[General]) -> str:
    """The scaled heads as a phrase: "with every head on", "with cross 2·5 off"."""
    if not changes:
        return "with every head on"
    return f"with {named(changes, MAX_NAMED)}"


def blocks(shares: FloatArray) -> str:
    """Shares from 0 to 1 as a row of blocks, a full one for 1."""
    return "".join(
        BLOCKS[min(len(BLOCKS) - 1, max(0, round(float(share) * (len(BLOCKS) - 1))))]
        for share in shares
    )


class Sample(NamedTuple):
    """Sentences, and their translations; None for the model's own."""

    sources: tuple[str, ...]
    targets: tuple[str, ...] | None


def multi30k_files() -> tuple[Path, Path]:
    """The paths of the downloaded validation split."""
    folder = cache_path() / "multi30k"
    return folder / "val.de.gz", folder / "val.en.gz"


def check_sample(
    choice: SampleChoice, translator: "Translator", target_code: str | None = None
) -> None:
    """Raises `AnalysisError` unless the sample is of the languages of the model."""
    if choice.kind != "file":
        advice = "Choose your own file as the sample."
        needs_target = choice.kind != "examples"
        require_languages_of_sample(
            translator, advice, CHOOSE_TARGET, needs_target=needs_target, target_code=target_code
        )


def read_sample(
    choice: SampleChoice,
    num_sentences: int,
    target_code: str | None = None,
    languages: tuple[str, str] = ("de", "en"),
) -> Sample:
    """The first sentences of a sample, each with the target language if a code `>>xx<<` is given,
    or with its own code.

    Raises as `_read`.
    """
    sample = _read(choice, num_sentences, languages)
    sources = (sentence_with_code(source, target_code, keeps_own=True) for source in sample.sources)
    return sample._replace(sources=tuple(sources))


def _read(choice: SampleChoice, num_sentences: int, languages: tuple[str, str]) -> Sample:
    """The unchanged sentences of a sample.

    Raises:
        CorpusError: a file cannot be read, or holds no sentence.
        AnalysisError: the shipped pairs cannot be read.
    """
    if choice.kind == "examples":
        return Sample(example_sentences()[:num_sentences], None)
    if choice.kind == "gold":
        pairs = read_gold()[:num_sentences]
        return Sample(
            tuple(pair.source_text for pair in pairs), tuple(pair.target_text for pair in pairs)
        )
    if choice.kind == "multi30k":
        corpus = read_pair(*multi30k_files())
        return Sample(corpus.source[:num_sentences], corpus.target[:num_sentences])
    assert choice.path is not None
    return Sample(*read_sentences(choice.path, num_sentences, languages=languages))
