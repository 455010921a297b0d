"""What every head is worth, and what it does, over a sample of sentences. No Qt, no torch."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from core.analysis.profiles import SampleProfiles
from core.analysis.roles import role_of
from core.model.heads import Head
from core.translation.result import MAP_KINDS, FloatArray, MapKind
from viz_app.state.progress import Awaited

SampleKind = Literal["gold", "examples", "multi30k", "file"]
Question = Literal["worth", "statistics"]
BLOCKS = "▁▂▃▄▅▆▇█"
KIND_SHORT: dict[MapKind, str] = {"encoder": "enc", "decoder": "dec", "cross": "cross"}


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


@dataclass(frozen=True, eq=False)
class HeadWorth:
    """How much worse a model predicts a sample without each head, as far as it has been read.

    Attributes:
        loss: of the whole model, in nats per target token.
        increase: [L, H] by kind: the loss without the head minus `loss`.
        num_sentences, num_tokens: read so far.
        num_skipped: pairs that the model refused.
    """

    loss: float
    increase: dict[MapKind, FloatArray]
    num_sentences: int
    num_tokens: int
    num_skipped: int

    @property
    def largest(self) -> float:
        """The largest absolute value: the end of a colour scale that is even on both sides."""
        return max(float(np.abs(array).max(initial=0.0)) for array in self.increase.values())

    def joined(self, other: "HeadWorth | None") -> "HeadWorth":
        """Both samples as one: means weighted by tokens, so that the order of reading does not matter."""
        if other is None:
            return self
        total = max(1, self.num_tokens + other.num_tokens)
        mine, theirs = self.num_tokens / total, other.num_tokens / total
        return HeadWorth(
            loss=mine * self.loss + theirs * other.loss,
            increase={
                kind: (mine * self.increase[kind] + theirs * other.increase[kind]).astype(np.float32)
                for kind in self.increase
            },
            num_sentences=self.num_sentences + other.num_sentences,
            num_tokens=self.num_tokens + other.num_tokens,
            num_skipped=self.num_skipped + other.num_skipped,
        )


class HeadsState:
    """What the tab *Heads* knows.

    Attributes:
        question: what is shown: what heads are worth, or their statistics.
        asked: the question that is being answered.
        sample: which sentences.
        num_sentences: how many of them at most.
        worth, profiles: the answers so far; None before the first.
        awaited: the answer that is to come.
    """

    def __init__(self) -> None:
        self.question: Question = "worth"
        self.asked: Question = "worth"
        self.sample = SampleChoice()
        self.num_sentences = 200
        self.worth: HeadWorth | None = None
        self.profiles: SampleProfiles | None = None
        self.awaited = Awaited()

    def forget_model(self) -> None:
        """Another model: its heads are others."""
        self.worth = self.profiles = None
        self.awaited.forget()

    def take(self, result: object) -> None:
        """Keeps an answer, or a part of one."""
        if isinstance(result, HeadWorth):
            self.worth = result
        elif isinstance(result, SampleProfiles):
            self.profiles = result

    def summary(self) -> str:
        """What the answer is about; empty while there is none."""
        if self.question == "worth" and self.worth is not None:
            found = self.worth
            skipped = f", {found.num_skipped} left out" if found.num_skipped else ""
            return (
                f"Loss {found.loss:.3f} nats per token over {found.num_sentences} sentences ({found.num_tokens:,} "
                f"tokens{skipped}). In each cell: how much it rises without the head, in thousandths of a nat. Click a "
                "cell to switch the head off."
            )
        if self.question == "statistics" and self.profiles is not None:
            about = f"Means over {self.profiles.num_sentences} sentences"
            return f"{about}; the grid goes by these roles. Click a row to see the head."
        return ""

    def rows(self) -> list[tuple[Head, tuple[str, ...]]]:
        """The statistics of every head as a line of texts."""
        if self.profiles is None:
            return []
        found: list[tuple[Head, tuple[str, ...]]] = []
        for kind in MAP_KINDS:
            of_kind = self.profiles.of_kind(kind)
            for layer, head in np.ndindex(*of_kind.entropy.shape):
                place = layer, head
                cells = (
                    f"{KIND_SHORT[kind]} {layer + 1}·{head + 1}",
                    role_of(of_kind, layer, head),
                    f"{of_kind.entropy[place]:.2f}",
                    f"{of_kind.confidence[place]:.2f}",
                    f"{of_kind.end_share[place]:.2f}",
                    blocks(of_kind.distances[place]),
                )
                found.append((Head(kind, layer, head), cells))
        return found


def blocks(shares: FloatArray) -> str:
    """Shares from 0 to 1 as a row of blocks, a full one for 1."""
    return "".join(BLOCKS[min(len(BLOCKS) - 1, max(0, round(float(share) * (len(BLOCKS) - 1))))] for share in shares)
