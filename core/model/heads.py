"""Names of heads and feed-forward networks, and changes to them.

No torch: a window names them early.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from ..arguments import CheckedFields, checks_arguments
from ..config import ModelConfig
from ..counting import Counted, CountedText, Index
from ..short_repr import ShortRepr
from ..text.phrases import PHRASES, phrase

AttentionKind = Literal["encoder", "decoder", "cross"]
ATTENTION_KINDS: tuple[AttentionKind, ...] = ("encoder", "decoder", "cross")
KIND_TITLES: dict[AttentionKind, str] = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Cross-attention",
}
Side = Literal["encoder", "decoder"]
SIDES: tuple[Side, ...] = ("encoder", "decoder")
OfKind = TypeVar("OfKind", covariant=True)


class ByKind(Generic[OfKind]):
    """Base of results that have a value for each kind of attention, under its name."""

    @checks_arguments
    def of_kind(self, kind: AttentionKind) -> OfKind:
        """The value for one kind. Raises `ArgumentError` if there is no such kind."""
        value: OfKind = getattr(self, kind)
        return value


@dataclass(frozen=True, order=True)
class Head(Counted, CheckedFields):
    """One head of a Transformer.

    Attributes:
        kind: encoder self-attention, decoder self-attention, or cross-attention of the decoder.
        layer: counted from 0.
        head: counted from 0.
    """

    kind: AttentionKind
    layer: int
    head: int

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        return f"{self.kind} layer {self.layer + first} head {self.head + first}"

    @property
    def title(self) -> CountedText:
        """“Cross-attention · layer 2 · head 5”."""
        numbers = {"layer": Index(self.layer), "head": Index(self.head)}
        return CountedText(f"{KIND_TITLES[self.kind]} · layer {{layer}} · head {{head}}", **numbers)

    @property
    def short_name(self) -> CountedText:
        """“cross 2·5”."""
        return CountedText(
            PHRASES["change_head"], kind=self.kind, layer=Index(self.layer), head=Index(self.head)
        )

    @property
    def side(self) -> Side:
        """The stack that the head belongs to."""
        return "encoder" if self.kind == "encoder" else "decoder"


@dataclass(frozen=True)
class HeadGroup(Counted):
    """All heads of a kind, of one of its layers, or of one column: the same head in all layers.

    Attributes:
        kind: of the heads.
        layer: counted from 0; None for all.
        head: counted from 0; None for all.
    """

    kind: AttentionKind
    layer: int | None = None
    head: int | None = None

    @property
    def side(self) -> Side:
        """The stack that the heads belong to."""
        return "encoder" if self.kind == "encoder" else "decoder"

    def __contains__(self, head: Head) -> bool:
        return (
            head.kind == self.kind
            and self.layer in (None, head.layer)
            and self.head in (None, head.head)
        )

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        if self.layer is not None and self.head is not None:
            return Head(self.kind, self.layer, self.head).short_name.text_from(first)
        if self.layer is not None:
            return phrase("change_layer", kind=self.kind, layer=self.layer + first)
        if self.head is not None:
            return phrase("change_column", kind=self.kind, head=self.head + first)
        return phrase("change_all", kind=KIND_TITLES[self.kind].lower())

    @property
    def in_words(self) -> CountedText:
        """The heads in words, for a sentence."""
        name = KIND_TITLES[self.kind].lower()
        if self.head is not None:
            return CountedText(f"head {{head}} of {name} in all layers", head=Index(self.head))
        if self.layer is not None:
            return CountedText(f"all heads of {name} layer {{layer}}", layer=Index(self.layer))
        return CountedText(f"all heads of {name}")


@dataclass(frozen=True, order=True)
class Network(Counted, CheckedFields):
    """One feed-forward network of a Transformer.

    Attributes:
        side: encoder or decoder.
        layer: counted from 0.
    """

    side: Side
    layer: int

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        return f"feed-forward network of {self.side} layer {self.layer + first}"

    @property
    def title(self) -> CountedText:
        """“Feed-forward network of decoder layer 3”."""
        return CountedText(
            f"Feed-forward network of {self.side} layer {{layer}}", layer=Index(self.layer)
        )

    @property
    def short_name(self) -> CountedText:
        """“feed-forward decoder 3”."""
        return CountedText(PHRASES["change_network"], side=self.side, layer=Index(self.layer))


@dataclass(frozen=True)
class SentenceChanges(ShortRepr):
    """The changes to one sentence of a batch.

    Attributes:
        factors: multipliers of the outputs of heads and feed-forward networks.
        rows: weights that replace the softmax's, by head and query position; one for each key that
            the query sees. Rows beyond the last position change nothing.
        temperatures: divisors of the heads' scores before the softmax.
        lifts_mask: whether the decoder's self-attention sees later target tokens too.
    """

    factors: Mapping[Head | Network, float] = field(default_factory=dict)
    rows: Mapping[tuple[Head, int], Sequence[float]] = field(default_factory=dict)
    temperatures: Mapping[Head, float] = field(default_factory=dict)
    lifts_mask: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is changed."""
        return not (self.factors or self.rows or self.temperatures or self.lifts_mask)


def attention_shapes(config: ModelConfig) -> dict[AttentionKind, tuple[int, int]]:
    """The numbers of layers and of heads in each, by kind."""
    decoder = config.num_decoder_layers, config.decoder_heads
    return {
        "encoder": (config.num_encoder_layers, config.num_heads),
        "decoder": decoder,
        "cross": decoder,
    }


def heads_of(config: ModelConfig) -> tuple[Head, ...]:
    """Every head of a model: encoder, decoder, cross; from the first layer up."""
    return tuple(
        head for kind, shape in attention_shapes(config).items() for head in heads_in(kind, *shape)
    )


def heads_in(kind: AttentionKind, num_layers: int, num_heads: int) -> tuple[Head, ...]:
    """The heads of one kind, from the first layer up."""
    return tuple(
        Head(kind, layer, head) for layer in range(num_layers) for head in range(num_heads)
    )


def networks_of(config: ModelConfig) -> tuple[Network, ...]:
    """Every feed-forward network of a model: encoder, decoder; from the first layer up."""
    layers = dict(zip(SIDES, (config.num_encoder_layers, config.num_decoder_layers), strict=True))
    return tuple(
        Network(side, layer) for side, num_layers in layers.items() for layer in range(num_layers)
    )
