"""What went on inside every head while one pair was read: queries, keys, values and weights, as plain arrays.

`core.analysis.capture` fills these from a model. Nothing here needs torch. Shape legend: `core.analysis`.
"""

from dataclasses import dataclass

from augenmerk.core.translation.result import AttentionMaps, FloatArray, MapKind


@dataclass(frozen=True, eq=False)
class HeadTrace:
    """The heads of one kind, in all layers.

    Attributes:
        queries: [L, H, Q, K].
        keys, values: [L, H, M, K]; the values of a head that is switched off are 0.
        mixing: [L, H, K, D], each head's slice of the output projection: `values @ mixing` is what a key adds to the
            output, in full width, if all weight lies on it.
        weights: [L, H, Q, M], the attention weights.
        temperatures: [L, H], what query · key / √K is divided by before the softmax; 1 unless the experiment says else.
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
        lifts_mask: whether the decoder saw later target tokens too.
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
        """The weights alone."""
        return AttentionMaps(self.encoder.weights, self.decoder.weights, self.cross.weights)
