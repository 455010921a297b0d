"""Multi-head scaled dot-product attention (Vaswani et al. 2017, section 3.2). Shape legend: `core.model`."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from augenmerk.core.model.interventions import NO_CHANGES, AttentionChanges


class MultiHeadAttention(nn.Module):
    """H heads side by side, each attending in its own K = D / H dimensions.

    Query, key and value projections are the rows of one matrix, as in `nn.MultiheadAttention`: one multiplication
    projects all three when they come from the same sequence.

    Attributes:
        in_proj_weight, in_proj_bias: [3 D, D] and [3 D]; queries, keys, values from top to bottom.
        out_proj: mixes the heads' outputs, D to D.
    """

    def __init__(self, width: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.head_width = width // num_heads
        self.dropout = dropout
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * width))
        self.out_proj = nn.Linear(width, width)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Xavier uniform on each of the three projections apart: on the joined matrix its range would be narrower."""
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
            need_maps: also return the weights, computed without dropout; they include rows that are set.
            changes: interventions for each of the B sentences.

        Returns:
            The mixed values, [B, Q, D], and the maps, [B, H, Q, M], or None if they were not requested.
        """
        width = states.size(-1)
        if memory is None:
            queries, keys, values = self.project(states, 0, 3 * width)  # each [B, H, Q, K]
        else:
            (queries,) = self.project(states, 0, width)  # [B, H, Q, K]
            keys, values = self.project(memory, width, 3 * width)  # [B, H, M, K]
        queries, maps = changes.tempered(queries), None
        dropout = self.dropout if self.training else 0.0
        if need_maps or changes.rows is not None:
            maps = changes.with_rows(self.scores(queries, keys, mask).softmax(dim=-1))  # [B, H, Q, M]
            mixed = functional.dropout(maps, dropout) @ values  # [B, H, Q, K]
        else:  # the same in one kernel, which keeps no weights
            mixed = functional.scaled_dot_product_attention(queries, keys, values, mask, dropout)
        joined = changes.scaled(mixed).transpose(1, 2).flatten(2)  # [B, Q, D]
        return self.out_proj(joined), maps if need_maps else None

    @property
    def mixing(self) -> Tensor:
        """Each head's part of the output projection, by which its output is multiplied: [H, K, D]."""
        return self.out_proj.weight.t().unflatten(0, (self.num_heads, -1))

    def project(self, states: Tensor, first: int, last: int) -> tuple[Tensor, ...]:
        """Queries, keys and values, or some of them, by rows of the joined matrix: [B, N, D] to [B, H, N, K] each."""
        projected = functional.linear(states, self.in_proj_weight[first:last], self.in_proj_bias[first:last])
        heads = projected.unflatten(2, (-1, self.num_heads, self.head_width))  # [B, N, parts, H, K]
        return heads.permute(2, 0, 3, 1, 4).unbind()

    def scores(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        """Q Kᵀ / √K, [B, H, Q, M]; −∞ where the mask is False."""
        scores = queries @ keys.transpose(2, 3) / math.sqrt(self.head_width)  # [B, H, Q, M]
        return scores if mask is None else scores.masked_fill(~mask, float("-inf"))
