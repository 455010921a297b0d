"""What a model computes: logits and maps, and encodings of sources. Shape legend: `core.model`."""

from dataclasses import dataclass, replace

from torch import Tensor

from .interventions import NO_INTERVENTIONS, Interventions


@dataclass(frozen=True, eq=False)
class ModelOutput:
    """The result of one parallel pass over a batch of pairs.

    Attributes:
        logits: [B, T, V].
        encoder_maps: [B, L, H, S, S], without dropout; None unless requested.
        decoder_maps: [B, L, H, T, T], likewise.
        cross_maps: [B, L, H, T, S], likewise.
    """

    logits: Tensor
    encoder_maps: Tensor | None = None
    decoder_maps: Tensor | None = None
    cross_maps: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Encoding:
    """A batch of sources as the decoder sees it.

    Attributes:
        source: ids, [B, S].
        states: the encoder's output, [B, S, D].
        mask: [B, 1, 1, S], True at real tokens; None if everything may be seen.
        maps: [B, L, H, S, S], without dropout; None unless requested.
        interventions: for each of the B sentences, in the decoder too; None for nothing.
    """

    source: Tensor
    states: Tensor
    mask: Tensor | None
    maps: Tensor | None = None
    interventions: Interventions = NO_INTERVENTIONS

    def select(self, batch: Tensor) -> "Encoding":
        """Keeps (or repeats, or reorders) the sentences with these indices [B']."""
        return Encoding(
            self.source[batch],
            self.states[batch],
            None if self.mask is None else self.mask[batch],
            None if self.maps is None else self.maps[batch],
            self.interventions.select(batch),
        )

    def with_interventions(self, interventions: Interventions) -> "Encoding":
        """The same sources with other changes in the decoder."""
        return replace(self, interventions=interventions)
