"""Names of attention heads and feed-forward networks. No torch here: a window names them before torch is imported."""

from dataclasses import dataclass
from typing import Literal

AttentionKind = Literal["encoder", "decoder", "cross"]
ATTENTION_KINDS: tuple[AttentionKind, ...] = ("encoder", "decoder", "cross")
KIND_TITLES: dict[AttentionKind, str] = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Cross-attention",
}
Side = Literal["encoder", "decoder"]
SIDES: tuple[Side, ...] = ("encoder", "decoder")


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
        """The head for display, counted from 1."""
        return f"{self.kind} layer {self.layer + 1} head {self.head + 1}"

    @property
    def title(self) -> str:
        """The same as a heading."""
        return f"{KIND_TITLES[self.kind]} · layer {self.layer + 1} · head {self.head + 1}"

    @property
    def short_name(self) -> str:
        """“cross 2·5”: layer 2, head 5."""
        return f"{self.kind} {self.layer + 1}·{self.head + 1}"

    @property
    def side(self) -> Side:
        """The stack that the head belongs to."""
        return "encoder" if self.kind == "encoder" else "decoder"


@dataclass(frozen=True, order=True)
class Network:
    """One feed-forward network of a Transformer.

    Attributes:
        side: encoder or decoder.
        layer: counted from 0.
    """

    side: Side
    layer: int

    def __str__(self) -> str:
        """The network for display, counted from 1."""
        return f"{self.side} layer {self.layer + 1} feed-forward"

    @property
    def title(self) -> str:
        """The same as a heading."""
        return f"Feed-forward network · {self.side} layer {self.layer + 1}"

    @property
    def short_name(self) -> str:
        """“feed-forward decoder 3”."""
        return f"feed-forward {self.side} {self.layer + 1}"
