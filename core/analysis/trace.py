"""Queries, keys, values and weights of every head for one pair, as plain arrays.

`core.analysis.capture` fills these from a model. No torch here. Shape legend: `core.analysis`.
"""

from dataclasses import dataclass

from augenmerk.core.translation.result import AttentionMaps, FloatArray, MapKind


@dataclass(frozen=True, eq=False)
class HeadTrace:
    """The heads of one kind, in all layers.

    Attributes:
        queries: [L, H, Q, K].
        keys, values: [L, H, M, K]; the values of a head that is switched off are 0.
        mixing: [L, H, K, D], each head's slice of the output projection: `values @ mixing` is the full-width vector
            that a key adds to the output at weight 1.
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
class Trace:
    """All heads, for one pair: M and Q are S and S for the encoder, T and T for the decoder, S and T for cross.

    Attributes:
        encoder, decoder, cross: the heads of each kind.
        lifts_mask: whether the decoder also saw later target tokens.
    """

    encoder: HeadTrace
    decoder: HeadTrace
    cross: HeadTrace
    lifts_mask: bool = False

    def of_kind(self, kind: MapKind) -> HeadTrace:
        """The heads of one kind."""
        return {"encoder": self.encoder, "decoder": self.decoder, "cross": self.cross}[kind]

    @property
    def maps(self) -> AttentionMaps:
        """Only the weights."""
        return AttentionMaps(self.encoder.weights, self.decoder.weights, self.cross.weights)
