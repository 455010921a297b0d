"""Padded batches of sentence pairs.

Shape legend: B sentence pairs, S and T lengths of source and target.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ....config import TrainingConfig
from ....padding import pad
from ..legacy import NumericExample, iterator_batches
from .prepared import EncodedPairs


@dataclass(frozen=True, eq=False)
class Batch:
    """Padded ids.

    Attributes:
        source: [B, S].
        target: [B, T], start token first; the decoder reads all but the last column and predicts
            all but the first.
        num_target_tokens: number of predictions, without padding.
    """

    source: Tensor
    target: Tensor
    num_target_tokens: int

    def to(self, device: str | torch.device) -> "Batch":
        """The same batch on another device."""
        return Batch(self.source.to(device), self.target.to(device), self.num_target_tokens)

    def split(self, max_tokens: int, padding_id: int) -> "list[Batch]":
        """Micro-batches with at most `max_tokens` of padded source and target each, or of one pair;
        in order.

        A batch that is small enough is returned unchanged; unnecessary padding is removed.
        """
        rows = max(1, max_tokens // max(self.source.size(1), self.target.size(1)))
        if rows >= len(self.source):
            return [self]
        starts = range(0, len(self.source), rows)
        return [self.rows(slice(first, first + rows), padding_id) for first in starts]

    def rows(self, chosen: slice | Tensor, padding_id: int) -> "Batch":
        """The chosen pairs, without unnecessary padding."""
        source, target = (
            _without_padding(ids[chosen], padding_id) for ids in (self.source, self.target)
        )
        return Batch(source, target, int((target[:, 1:] != padding_id).sum()))


def regrouped(
    batches: Sequence[Batch], max_tokens: int, tokens_per_pass: float, padding_id: int
) -> list[Batch]:
    """The same pairs in micro-batches of similar lengths, which together take the least time.

    The time of a micro-batch is that of its padded tokens, source and target, and that of a pass.
    Pairs are ordered by length, then cut into the cheapest ranges. A batch that is best computed
    whole is returned unchanged.

    Args:
        batches: of one optimizer step.
        max_tokens: padded tokens of source or target in a micro-batch, unless it is a single pair.
            It has no more than the largest batch either: smaller batches, more of which are
            accumulated, must need less memory.
        tokens_per_pass: number of tokens that take as long as a pass does by itself.
        padding_id: of both sides.
    """
    max_tokens = min(
        max_tokens, max(max(batch.source.numel(), batch.target.numel()) for batch in batches)
    )
    source, target = (
        _joined([getattr(batch, side) for batch in batches], padding_id)
        for side in ("source", "target")
    )
    source_lengths, target_lengths = (
        (ids != padding_id).sum(dim=1).numpy() for ids in (source, target)
    )
    order = np.lexsort((source_lengths, target_lengths))
    ranges = _cheapest_ranges(
        source_lengths[order], target_lengths[order], max_tokens, tokens_per_pass
    )
    is_trimmed = source.size(1) == source_lengths.max() and target.size(1) == target_lengths.max()
    if len(batches) == len(ranges) == 1 and is_trimmed:
        return list(batches)
    pairs = Batch(source, target, 0)
    return [
        pairs.rows(torch.from_numpy(np.sort(order[start:end])), padding_id) for start, end in ranges
    ]


def _cheapest_ranges(
    source_lengths: NDArray[np.int64],
    target_lengths: NDArray[np.int64],
    max_tokens: int,
    tokens_per_pass: float,
) -> list[tuple[int, int]]:
    """The half-open ranges of pairs whose micro-batches take the least time, in order.

    Dynamic programming over the number of pairs. `least_times[end]` is the least time of the first
    `end` pairs: that of their last micro-batch, which begins at `start`, and the least time of the
    pairs before it.

        least_times[0] = 0
        least_times[end] = min(least_times[start] + time(start, end) for start in range(end))
        time(start, end) = (end - start) * (longest source + longest target - 1) + tokens_per_pass

    The time is infinite for several pairs that together have more than `max_tokens` of padded
    source or target. One token of a target is not read, hence - 1. Among equal times, the shortest
    last micro-batch is chosen.

    Args:
        source_lengths, target_lengths: of the pairs, in the order in which they are cut into
            ranges.
        max_tokens, tokens_per_pass: see `regrouped`.
    """
    num_pairs = len(source_lengths)
    least_times = np.zeros(num_pairs + 1)
    best_starts = np.zeros(num_pairs + 1, dtype=np.int64)
    for end in range(1, num_pairs + 1):
        backwards = slice(end - 1, None, -1)  # from start = end - 1 down to start = 0
        sizes = np.arange(1, end + 1)  # end - start
        longest_sources = np.maximum.accumulate(source_lengths[backwards])
        longest_targets = np.maximum.accumulate(target_lengths[backwards])
        times = (
            least_times[backwards]
            + sizes * (longest_sources + longest_targets - 1)
            + tokens_per_pass
        )
        is_too_large = sizes * np.maximum(longest_sources, longest_targets) > max_tokens
        is_too_large[0] = False  # a single pair is always allowed
        times[is_too_large] = np.inf
        best = int(times.argmin())
        least_times[end] = times[best]
        best_starts[end] = end - sizes[best]
    ranges = []
    end = num_pairs
    while end > 0:
        start = int(best_starts[end])
        ranges.append((start, end))
        end = start
    return ranges[::-1]


def _joined(parts: Sequence[Tensor], padding_id: int) -> Tensor:
    """The rows of all parts [B, N], padded to the longest."""
    longest = max(ids.size(1) for ids in parts)
    return torch.cat(
        [nn.functional.pad(ids, (0, longest - ids.size(1)), value=padding_id) for ids in parts]
    )


def training_batches(pairs: EncodedPairs, config: TrainingConfig, epoch: int) -> list[list[int]]:
    """The indices of the pairs in each batch of an epoch: shuffled in each epoch, reproducible by
    the seed.
    """
    return _batches(pairs, config, f"{config.seed}-{epoch}")


def validation_batches(pairs: EncodedPairs, config: TrainingConfig) -> list[list[int]]:
    """The indices of the pairs in each batch, sorted by length, never shuffled."""
    return _batches(pairs, config, None)


def _batches(
    pairs: EncodedPairs, config: TrainingConfig, shuffle_seed: str | None
) -> list[list[int]]:
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


def collate(
    pairs: EncodedPairs, indices: Sequence[int], padding_id: int, pad_to: int | None = None
) -> Batch:
    """Pads the chosen pairs to the longest of them, or to `pad_to` if that is longer."""
    target = [pairs.target[index] for index in indices]
    return Batch(
        source=pad([pairs.source[index] for index in indices], padding_id, pad_to),
        target=pad(target, padding_id, pad_to),
        num_target_tokens=sum(len(ids) - 1 for ids in target),
    )


def _without_padding(ids: Tensor, padding_id: int) -> Tensor:
    """[B, N] without the columns on the right that are all padding."""
    is_filled = (ids != padding_id).any(dim=0)
    return ids[:, : int(is_filled.nonzero().max()) + 1] if bool(is_filled.any()) else ids
