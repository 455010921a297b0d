"""The importance of every head, and what it does, over a sample of sentences. No Qt, no torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from augenmerk.core.analysis.profiles import SampleProfiles
from augenmerk.core.analysis.roles import role_of
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import HeadScaled
from augenmerk.core.translation.result import MAP_KINDS, FloatArray
from augenmerk.viz_app.state.experiment_state import ExperimentState

if TYPE_CHECKING:  # it imports torch, which is of the worker's thread
    from augenmerk.core.analysis.importance import HeadImportance

SampleKind = Literal["gold", "examples", "multi30k", "file"]
Question = Literal["importance", "behaviour"]
BLOCKS = "▁▂▃▄▅▆▇█"
MAX_NAMED = 3


@dataclass(frozen=True)
class SampleChoice:
    """Which sentences.

    Attributes:
        kind: "gold": the shipped pairs of the validation split; "examples": the shipped examples; "multi30k": the
            validation split in the user's cache; "file": a text file.
        path: of the file.
    """

    kind: SampleKind = "gold"
    path: Path | None = None

    @property
    def what(self) -> str:
        """What its sentences are, to stand after their number."""
        if self.kind == "file" and self.path is not None:
            return f"sentences of {self.path.name}"
        return "example sentences" if self.kind == "examples" else "pairs of the validation split"


class HeadsState:
    """What the tab *Heads* knows.

    Attributes:
        state: the experiment that is shown: its head scalings hold while a sample is measured.
        question: what is shown: the importance of heads, or their behaviour.
        sample: which sentences.
        num_sentences: how many of them at most.
        importance, behaviour: the answers so far; None before the first.
    """

    def __init__(self, state: ExperimentState) -> None:
        self.state = state
        self.question: Question = "importance"
        self.sample = SampleChoice()
        self.num_sentences = 200
        self.importance: HeadImportance | None = None
        self.behaviour: SampleProfiles | None = None

    def forget_model(self) -> None:
        """Another model: its heads are others."""
        self.importance = self.behaviour = None

    @property
    def has_answer(self) -> bool:
        """Whether there is something to show."""
        return self.measured_scalings is not None

    @property
    def measured_scalings(self) -> tuple[HeadScaled, ...] | None:
        """The head scalings with which the answer that is shown was measured; None if there is none."""
        found = self.importance if self.question == "importance" else self.behaviour
        return found.scalings if found is not None else None

    @property
    def is_outdated(self) -> bool:
        """Whether the answer that is shown was measured with other heads scaled or off than the experiment has."""
        measured = self.measured_scalings
        return measured is not None and measured != self.state.experiment.head_scalings

    def importance_of(self, head: Head) -> float:
        """By how much the loss rises without a head, in nats per token."""
        assert self.importance is not None
        return float(self.importance.of_kind(head.kind)[head.layer, head.head])

    def summary(self) -> str:
        """What the answer is about; empty while there is none."""
        if self.question == "importance" and self.importance is not None:
            found = self.importance
            skipped = f", {found.num_skipped} left out" if found.num_skipped else ""
            return (
                f"Loss {found.loss:.3f} nats per token over {found.num_sentences} sentences ({found.num_tokens:,} "
                f"tokens{skipped}), {in_words(found.scalings)}. Cells: the increase without each head, in thousandths "
                "of a nat. Click a cell to switch the head off."
            )
        if self.question == "behaviour" and self.behaviour is not None:
            return (
                f"Means over {self.behaviour.num_sentences} sentences, {in_words(self.behaviour.scalings)}; the "
                "thumbnails use these roles. Click a row to show the head."
            )
        return ""

    def warning(self) -> str:
        """That the answer does not belong to the experiment as it is now; empty if it does."""
        if not self.is_outdated:
            return ""
        return f"The experiment now has {in_words(self.state.experiment.head_scalings).removeprefix('with ')}."

    def rows(self) -> list[tuple[Head, tuple[str, ...]]]:
        """The statistics of every head as a line of texts."""
        if self.behaviour is None:
            return []
        found: list[tuple[Head, tuple[str, ...]]] = []
        for kind in MAP_KINDS:
            of_kind = self.behaviour.of_kind(kind)
            for layer, head in np.ndindex(*of_kind.entropy.shape):
                place = layer, head
                cells = (
                    Head(kind, layer, head).short_name,
                    role_of(of_kind, layer, head),
                    f"{of_kind.entropy[place]:.2f}",
                    f"{of_kind.confidence[place]:.2f}",
                    f"{of_kind.end_share[place]:.2f}",
                    blocks(of_kind.distances[place]),
                )
                found.append((Head(kind, layer, head), cells))
        return found


def in_words(scalings: Sequence[HeadScaled]) -> str:
    """With which heads scaled or off: "with every head on", "with cross 2·5 off"."""
    if not scalings:
        return "with every head on"
    named = ", ".join(map(str, scalings[:MAX_NAMED]))
    more = len(scalings) - MAX_NAMED
    return f"with {named}" + (f" and {more} more" if more > 0 else "")


def blocks(shares: FloatArray) -> str:
    """Shares from 0 to 1 as a row of blocks, a full one for 1."""
    return "".join(BLOCKS[min(len(BLOCKS) - 1, max(0, round(float(share) * (len(BLOCKS) - 1))))] for share in shares)
