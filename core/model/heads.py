"""Which head, and which row of it. No torch here: a window can name heads before torch is imported."""

from dataclasses import dataclass
from typing import Literal

AttentionKind = Literal["encoder", "decoder", "cross"]
ATTENTION_KINDS: tuple[AttentionKind, ...] = ("encoder", "decoder", "cross")


@dataclass(frozen=True, order=True)
class Head:
    """One head of a Transformer.

    Attributes:
        kind: encoder self-attention, decoder self-attention, or cross-attention of the decoder.
        layer, head: counted from 0.
    """

    kind: AttentionKind
    layer: int
    head: int

    def __str__(self) -> str:
        """Counted from 1, as people are shown it."""
        return f"{self.kind} layer {self.layer + 1} head {self.head + 1}"


@dataclass(frozen=True)
class FixedRow:
    """One row of cross-attention that is used in place of what the softmax gives.

    Attributes:
        layer, head: counted from 0.
        step: the row, that is the decoding step.
        weights: S shares that sum to 1.
    """

    layer: int
    head: int
    step: int
    weights: tuple[float, ...]
