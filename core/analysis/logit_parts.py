"""What the score of each word is the sum of: direct logit attribution. No torch here. Shape legend: `core.analysis`.

The vector at a position of the decoder is a sum: the embedding of the token that is read and its position, the output
of every head of self- and cross-attention, the outputs of the feed-forward networks, and biases. Norms are linear maps
once the deviation that they divided by is known, and a logit is a dot product with that vector. So every logit is a sum
with one part for each of these (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"). What is
added to all logits alike changes no probability. That is why two tokens are compared: the one that was predicted,
and its rival, the most probable one beside it.

A part is the *direct* effect alone. What a head gives is also read by later layers; that effect is among their parts.
`core.analysis.logit_attribution` computes it.
"""

from dataclasses import dataclass
from typing import Literal

from augenmerk.core.translation.result import Alternative, FloatArray, Translation, read_only


@dataclass(frozen=True, eq=False)
class LogitParts:
    """For each step of one translation: logit of the predicted token − logit of its rival, and what it is the sum of.

    Attributes:
        translation: whose steps these are.
        rivals: the most probable token beside the predicted one, T of them.
        differences: [T]; above 0 where the predicted token is the more probable one: the natural logarithm of how many
            times as probable it is.
        embedding: [T], by the token that is read, and its position.
        decoder, cross: [L, H, T], by the heads of self- and of cross-attention.
        feed_forward: [L, T], by the feed-forward networks.
        bias: [T], by the biases behind heads, of norms and of the output layer.
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
