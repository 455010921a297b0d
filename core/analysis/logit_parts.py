"""The parts of each word's logit: direct logit attribution. No torch. Shape legend: `core.analysis`.

The vector at a position of the decoder is a sum: the embedding of the token that is read and its position, the output
of every head of self- and cross-attention, the outputs of the feed-forward networks, and biases. Norms are linear maps
once their deviation is known, and a logit is a dot product with that vector. So every logit is a sum with one part for
each of these (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"). A constant added to all logits
changes no probability. Therefore two tokens are compared: the predicted one and its rival, the next most probable one.

A part is the *direct* effect alone. Later layers also read a head's output; that effect is among their parts.
`core.analysis.logit_attribution` computes it.
"""

from dataclasses import dataclass
from typing import Literal

from augenmerk.core.translation.result import Alternative, FloatArray, Translation, read_only


@dataclass(frozen=True, eq=False)
class LogitParts:
    """For each step of one translation: the predicted token's logit − its rival's, and the parts of the difference.

    Attributes:
        translation: the translation with these T steps.
        rivals: for each step, the most probable token besides the predicted one.
        differences: [T], in nats: the logarithm of the ratio of both probabilities; positive if the predicted token is
            more probable.
        embedding: [T], from the token that is read and its position.
        decoder, cross: [L, H, T], from the heads of self-attention and of cross-attention.
        feed_forward: [L, T], from the feed-forward networks.
        bias: [T], from the biases after heads, of norms and of the output layer.
    """

    translation: Translation
    rivals: tuple[Alternative, ...]
    differences: FloatArray
    embedding: FloatArray
    decoder: FloatArray
    cross: FloatArray
    feed_forward: FloatArray
    bias: FloatArray

    def __post_init__(self) -> None:
        for each in (self.differences, self.embedding, self.decoder, self.cross, self.feed_forward, self.bias):
            read_only(each)

    def of_kind(self, kind: Literal["decoder", "cross"]) -> FloatArray:
        """The parts of the heads of one kind, [L, H, T]."""
        return self.decoder if kind == "decoder" else self.cross
