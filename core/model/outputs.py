"""What a model computes: logits and maps, and encodings of sources. Shape legend: `core.model`."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional

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

    def first_rows(self, num_rows: int) -> "ModelOutput":
        """The rows of the first target tokens, which see no later ones."""
        decoder_maps, cross_maps = self.decoder_maps, self.cross_maps
        if decoder_maps is not None and cross_maps is not None:
            decoder_maps = decoder_maps[..., :num_rows, :num_rows]
            cross_maps = cross_maps[..., :num_rows, :]
        return ModelOutput(self.logits[:, :num_rows], self.encoder_maps, decoder_maps, cross_maps)

    def followed_by(self, rest: "ModelOutput") -> "ModelOutput":
        """These rows and those of the target tokens after them."""
        decoder_maps, cross_maps = self.decoder_maps, self.cross_maps
        if decoder_maps is not None and cross_maps is not None:
            assert rest.decoder_maps is not None
            assert rest.cross_maps is not None
            unseen = rest.decoder_maps.size(-1) - decoder_maps.size(-1)
            decoder_maps = torch.cat(
                [functional.pad(decoder_maps, (0, unseen)), rest.decoder_maps], dim=-2
            )
            cross_maps = torch.cat([cross_maps, rest.cross_maps], dim=-2)
        logits = torch.cat([self.logits, rest.logits], dim=1)
        return ModelOutput(logits, self.encoder_maps, decoder_maps, cross_maps)


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
