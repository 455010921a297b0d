"""Decoding step by step by the modules of the model itself. Shape legend: `core.model`."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from .outputs import Encoding, ModelOutput


@dataclass
class DecoderState:
    """Step-by-step decoding of a batch.

    All tokens are read again at each step, by all modules of the model.

    Attributes:
        decode: `Transformer.decode` of the model, which is in evaluation mode.
        encoding: of the sources.
        prefix: ids [B, T]; the first `step` of them have been read.
    """

    decode: Callable[..., ModelOutput]
    encoding: Encoding
    prefix: Tensor
    step: int = 0

    def read(self, tokens: Tensor) -> Tensor:
        """Reads one more token of each row, ids [B]; returns the logits [B, V] of the next."""
        prefix = torch.cat([self.prefix[:, : self.step], tokens[:, None]], dim=1)
        # a hook may keep the logits, and searches write to these
        return self.read_all(prefix).logits[:, -1].clone()

    def guess(self, tokens: Tensor) -> Tensor:
        """Like `read`, but may be approximate. `read_all` corrects the state."""
        return self.read(tokens)

    def read_hypotheses(self, prefixes: Tensor, parents: Tensor) -> Tensor:
        """The logits [B, R, V] of the tokens after R hypotheses of each of B sentences.

        Args:
            prefixes: ids [B, R, T]; all but the last of each were read by earlier calls.
            parents: [B, R], the hypothesis of the last call that each continues; zeros at first.
        """
        rows = torch.arange(len(prefixes), device=prefixes.device)
        encoding = self.encoding.select(rows.repeat_interleave(prefixes.size(1)))
        logits = self.decode(encoding, prefixes.flatten(0, 1)).logits[:, -1].clone()
        return logits.unflatten(0, prefixes.shape[:2])

    def read_all(self, target: Tensor, *, need_maps: bool = False) -> ModelOutput:
        """Teacher forcing of the ids [B, T]; `read` then continues from any `step` up to T."""
        self.prefix = target
        self.step = target.size(1)
        return self.decode(self.encoding, target, need_maps=need_maps)

    def select(self, rows: Tensor) -> None:
        """Keeps (or repeats, or reorders) the batch rows with these indices [B']."""
        self.encoding = self.encoding.select(rows)
        self.prefix = self.prefix[rows]

    def restarted(self) -> "DecoderState":
        """A state of the same rows at the start.

        Selecting rows in it does not affect this one; reading may.
        """
        return replace(self, step=0)
