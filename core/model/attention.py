"""Multi-head scaled dot-product attention (Vaswani et al. 2017). Shape legend: `core.model`."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from .interventions import NO_CHANGES, AttentionChanges

Keep = Callable[[str, Tensor], Tensor]
"""Takes the name of a value inside attention and the value. Returns the value to continue with."""

_FEW_QUERIES = 8
"""Queries of each sentence, such as hypotheses, up to which a batch is faster in steps."""


def attend(  # noqa: PLR0913 - all but the first five are options by name
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None,
    changes: AttentionChanges = NO_CHANGES,
    *,
    need_maps: bool = False,
    first_query: int = 0,
    dropout: float = 0.0,
    keep: Keep | None = None,
) -> tuple[Tensor, Tensor | None]:
    """softmax(Q Kᵀ / √K) V for every head, for training, translating and reading values inside.

    Args:
        queries: [B, H, Q, K].
        keys, values: [B, H, M, K].
        mask: broadcastable to [B, H, Q, M], or None if everything may be seen.
        changes: interventions for each of the B sentences.
        need_maps: also return the weights, without dropout; they include rows that are set.
        first_query: position of the first query in its sequence.
        dropout: the share of weights to drop.
        keep: receives "query", "key", "value" and "score", and replaces them by what it returns.

    Returns:
        The heads' outputs times their factors, [B, H, Q, K], and the weights, [B, H, Q, M], or None
            if not requested.
    """
    has_steps = (
        need_maps
        or keep is not None
        or changes.rows is not None
        or _is_faster_in_steps(queries, dropout)
    )
    if keep is not None:
        queries, keys, values = keep("query", queries), keep("key", keys), keep("value", values)
    queries = changes.tempered(queries)
    if not has_steps:  # the same in one kernel, which keeps no weights
        mixed = functional.scaled_dot_product_attention(queries, keys, values, mask, dropout)
        return changes.scaled(mixed), None
    scores = attention_scores(queries, keys, mask)
    if keep is not None:
        scores = keep("score", scores)
    weights = changes.with_rows(functional.softmax(scores, dim=-1), first_query)  # [B, H, Q, M]
    mixed = functional.dropout(weights, dropout) @ values
    return changes.scaled(mixed), weights if need_maps else None


def attention_scores(queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
    """Q Kᵀ / √K, [B, H, Q, M]; −∞ where the mask is False."""
    # one kernel multiplies and divides
    scale = 1 / math.sqrt(queries.size(-1))
    no_sum = queries.new_zeros(1)
    products = torch.baddbmm(
        no_sum, queries.flatten(0, 1), keys.flatten(0, 1).transpose(1, 2), beta=0, alpha=scale
    )
    scores = products.view(*queries.shape[:3], -1)
    return scores if mask is None else scores.masked_fill_(~mask, float("-inf"))


def _is_faster_in_steps(queries: Tensor, dropout: float) -> bool:
    """Whether PyTorch's one kernel is slower: on a CPU with dropout, or few queries of many."""
    return (
        dropout > 0 or (len(queries) > 1 and queries.size(2) <= _FEW_QUERIES)
    ) and queries.device.type == "cpu"


class MultiHeadAttention(nn.Module):
    """H heads side by side, each attending in its own K = D / H dimensions.

    Query, key and value projections are the rows of one matrix, as in `nn.MultiheadAttention`: one
    multiplication projects all three when they come from the same sequence.

    Attributes:
        in_proj_weight: [3 D, D]; queries, keys, values from top to bottom.
        in_proj_bias: [3 D], likewise.
        out_proj: mixes the heads' outputs, D to D.
        keep: receives values inside `attend`, where hooks cannot reach; set by `core.model.sites`
            during a pass.
    """

    def __init__(self, width: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.head_width = width // num_heads
        self.dropout = dropout
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * width))
        self.out_proj = nn.Linear(width, width)
        self.keep: Keep | None = None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Xavier uniform on each projection: on the joined matrix its range would be narrower."""
        for part in self.in_proj_weight.chunk(3):
            nn.init.xavier_uniform_(part)
        bound = 1 / math.sqrt(self.in_proj_weight.size(1))
        nn.init.uniform_(self.in_proj_bias, -bound, bound)

    def forward(
        self,
        states: Tensor,
        memory: Tensor | None,
        mask: Tensor | None,
        *,
        need_maps: bool = False,
        changes: AttentionChanges = NO_CHANGES,
    ) -> tuple[Tensor, Tensor | None]:
        """Attends from `states` to `memory`, or to `states` themselves if there is none.

        Args:
            states: [B, Q, D].
            memory: [B, M, D], or None for self-attention.
            mask: broadcastable to [B, H, Q, M], or None if everything may be seen.
            need_maps: also return the weights, computed without dropout; they include rows that are
                set.
            changes: interventions for each of the B sentences.

        Returns:
            The mixed values, [B, Q, D], and the maps, [B, H, Q, M], or None if they were not
                requested.
        """
        width = states.size(-1)
        if memory is None:
            queries, keys, values = self.project(states, 0, 3 * width)  # each [B, H, Q, K]
        else:
            (queries,) = self.project(states, 0, width)  # [B, H, Q, K]
            keys, values = self.project(memory, width, 3 * width)  # [B, H, M, K]
        dropout = self.dropout if self.training else 0.0
        mixed, maps = attend(
            queries,
            keys,
            values,
            mask,
            changes,
            need_maps=need_maps,
            dropout=dropout,
            keep=self.keep,
        )
        return self.out_proj(mixed.transpose(1, 2).flatten(2)), maps

    @property
    def mixing(self) -> Tensor:
        """Each head's part of the output projection, which multiplies its output: [H, K, D]."""
        return self.out_proj.weight.t().unflatten(0, (self.num_heads, -1))

    def project(self, states: Tensor, first: int, last: int) -> tuple[Tensor, ...]:
        """Queries, keys and values, or some of them: [B, N, D] to [B, H, N, K] each.

        The joined matrix has their rows one below the other.
        """
        projected = functional.linear(
            states, self.in_proj_weight[first:last], self.in_proj_bias[first:last]
        )
        heads = projected.unflatten(2, (-1, self.num_heads, self.head_width))  # [B, N, parts, H, K]
        return heads.permute(2, 0, 3, 1, 4).unbind()
