"""Padded batches of sentence pairs. Shape legend: B sentence pairs, S and T lengths of source and target."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from augenmerk.core.config import TrainingConfig
from augenmerk.core.corpora.prepared import EncodedPairs
from augenmerk.core.text.legacy import NumericExample, iterator_batches


@dataclass(frozen=True, eq=False)
class Batch:
    """Padded ids.

    Attributes:
        source: [B, S].
        target: [B, T], start token first; the decoder reads all but the last column and predicts all but the first.
        num_target_tokens: number of predictions, without padding.
    """

    source: Tensor
    target: Tensor
    num_target_tokens: int

    def to(self, device: str | torch.device) -> "Batch":
        """The same batch on another device."""
        return Batch(self.source.to(device), self.target.to(device), self.num_target_tokens)

    def split(self, max_tokens: int, padding_id: int) -> "list[Batch]":
        """Micro-batches with at most `max_tokens` of padded source and target each, or of one pair; in order.

        A batch that is small enough is returned unchanged; unnecessary padding is removed.
        """
        rows = max(1, max_tokens // max(self.source.size(1), self.target.size(1)))
        if rows >= len(self.source):
            return [self]
        starts = range(0, len(self.source), rows)
        return [self.rows(slice(first, first + rows), padding_id) for first in starts]

    def rows(self, chosen: slice, padding_id: int) -> "Batch":
        """The chosen pairs, without unnecessary padding."""
        source, target = (_without_padding(ids[chosen], padding_id) for ids in (self.source, self.target))
        return Batch(source, target, int((target[:, 1:] != padding_id).sum()))


def training_batches(pairs: EncodedPairs, config: TrainingConfig, epoch: int) -> list[list[int]]:
    """The indices of the pairs in each batch of an epoch: shuffled in each epoch, reproducible by the seed."""
    return _batches(pairs, config, f"{config.seed}-{epoch}")


def validation_batches(pairs: EncodedPairs, config: TrainingConfig) -> list[list[int]]:
    """The indices of the pairs in each batch, sorted by length, never shuffled."""
    return _batches(pairs, config, None)


def _batches(pairs: EncodedPairs, config: TrainingConfig, shuffle_seed: str | None) -> list[list[int]]:
    return iterator_batches(
        numeric_examples(pairs),
        config.batch_size,
        count_tokens=config.batch_unit == "tokens",
        batching=config.batching,
        shuffle_seed=shuffle_seed,
    )


def numeric_examples(pairs: EncodedPairs) -> list[NumericExample]:
    """The pairs in the form that torchtext expects."""
    both = zip(pairs.source, pairs.target, strict=True)
    return [NumericExample(index, source, target) for index, (source, target) in enumerate(both)]


def collate(pairs: EncodedPairs, indices: Sequence[int], padding_id: int, pad_to: int | None = None) -> Batch:
    """Pads the chosen pairs to the longest of them, or to `pad_to` if that is longer."""
    target = [pairs.target[index] for index in indices]
    return Batch(
        source=pad([pairs.source[index] for index in indices], padding_id, pad_to),
        target=pad(target, padding_id, pad_to),
        num_target_tokens=sum(len(ids) - 1 for ids in target),
    )


def pad(sentences: Sequence[Sequence[int]], padding_id: int, pad_to: int | None = None) -> Tensor:
    """Ids as one tensor [B, longest], padded on the right."""
    longest = max(max(map(len, sentences)), pad_to or 0)
    return torch.tensor([[*ids, *[padding_id] * (longest - len(ids))] for ids in sentences], dtype=torch.long)


def _without_padding(ids: Tensor, padding_id: int) -> Tensor:
    """[B, N] without the columns on the right that are all padding."""
    is_filled = (ids != padding_id).any(dim=0)
    return ids[:, : int(is_filled.nonzero().max()) + 1] if bool(is_filled.any()) else ids
