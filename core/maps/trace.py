"""Queries, keys, values and weights of every head for one pair. No torch.

`core.maps.capture` reads them from a model. Shape legend: `core.maps`.
"""

from dataclasses import dataclass

from ..model.heads import ByKind
from ..translation.result import AttentionMaps, FloatArray, ReadOnlyArrays


@dataclass(frozen=True, eq=False)
class HeadTrace(ReadOnlyArrays):
    """The heads of one kind, in all layers.

    Attributes:
        queries: [L, H, Q, K].
        keys: [L, H, M, K].
        values: [L, H, M, K]; those of a head that is switched off are 0.
        mixing: [L, H, K, D], each head's slice of the output projection: `values @ mixing` is the
            full-width vector that a key adds to the output at weight 1.
        weights: [L, H, Q, M], the attention weights.
        temperatures: [L, H], divisors of query · key / √K before the softmax, by default 1.
    """

    queries: FloatArray
    keys: FloatArray
    values: FloatArray
    mixing: FloatArray
    weights: FloatArray
    temperatures: FloatArray


@dataclass(frozen=True, eq=False)
class Trace(ByKind["HeadTrace"]):
    """All heads, for one pair of S and T tokens.

    M and Q are S and S for the encoder, T and T for the decoder, S and T for cross.

    Attributes:
        encoder: the encoder's heads.
        decoder: the heads of the decoder's self-attention.
        cross: the heads of cross-attention.
        lifts_mask: whether the decoder also saw later target tokens.
    """

    encoder: HeadTrace
    decoder: HeadTrace
    cross: HeadTrace
    lifts_mask: bool = False

    @property
    def maps(self) -> AttentionMaps:
        """Only the weights."""
        return AttentionMaps(self.encoder.weights, self.decoder.weights, self.cross.weights)
