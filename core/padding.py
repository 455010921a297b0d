"""Sentences of different lengths as one tensor."""

from collections.abc import Sequence

import torch
from torch import Tensor


def pad(sentences: Sequence[Sequence[int]], padding_id: int, pad_to: int | None = None) -> Tensor:
    """Ids as one tensor [B, longest], padded on the right."""
    longest = max(max(map(len, sentences)), pad_to or 0)
    return torch.tensor(
        [[*ids, *[padding_id] * (longest - len(ids))] for ids in sentences], dtype=torch.long
    )
