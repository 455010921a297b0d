"""Multi-head scaled dot-product attention (Vaswani et al. 2017, section 3.2). Shape legend: `core.model`."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from core.model.dropout import dropout
from core.model.products import linear

KeysAndValues = tuple[Tensor, Tensor]
WeightsHook = Callable[[Tensor], Tensor]
"""Given attention weights [B, H, Q, M], returns those to use in their place."""


class MultiHeadAttention(nn.Module):
    """H heads side by side, each attending in its own K = D / H dimensions.

    Query, key and value projections are the rows of one matrix, as in `nn.MultiheadAttention`: one multiplication
    projects all three when they come from the same sequence.

    Attributes:
        in_proj_weight, in_proj_bias: [3 D, D] and [3 D]; queries, keys, values from top to bottom.
        out_proj: mixes the heads' outputs, D to D.
        gate: [H], what each head's output is multiplied by before it is mixed; None, as usual, is 1 for all and costs
            nothing. See `core.model.gates`.
        weights_hook: sees the weights as the softmax left them, and says which are used; None, as usual, costs
            nothing. See `core.model.rows`.
    """

    gate: Tensor | None
    weights_hook: WeightsHook | None

    def __init__(self, width: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.gate = None
        self.weights_hook = None
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
        self, states: Tensor, memory: Tensor | None, mask: Tensor | None, *, need_maps: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Attends from `states` to `memory`, or to `states` themselves if there is none.

        Args:
            states: [B, Q, D].
            memory: [B, M, D], or None for self-attention.
            mask: broadcastable to [B, H, Q, M], or None if everything may be seen.
            need_maps: also return the weights, computed without dropout.

        Returns:
            The mixed values, [B, Q, D], and the maps, [B, H, Q, M], or None if they were not asked for.
        """
        if memory is None:
            queries, keys, values = self._project(states, 0, 3)
        else:
            (queries,) = self._project(states, 0, 1)
            keys, values = self._project(memory, 1, 3)
        return self._attend(queries, keys, values, mask, need_maps)

    def project_keys_values(self, memory: Tensor) -> KeysAndValues:
        """Keys and values of `memory` [B, M, D], each [B, H, M, K]: what a decoder keeps between steps."""
        keys, values = self._project(memory, 1, 3)
        return keys.contiguous(), values.contiguous()

    def step_over_past(self, states: Tensor, past: Tensor, step: int) -> Tensor:
        """Self-attention of one more position, which sees itself and all before it. Never drops anything.

        Args:
            states: [B, D], of the new position.
            past: keys and values, [B, 2, H, max steps, K], filled up to `step`; those of the new position are put in.
            step: the new position.

        Returns:
            [B, D].
        """
        parts = functional.linear(states, self.in_proj_weight, self.in_proj_bias)
        parts = parts.view(-1, 3, self.num_heads, 1, self.head_width)
        past[:, :, :, step] = parts[:, 1:, :, 0]
        seen = past[:, :, :, : step + 1]
        return self._mix_one(parts[:, 0], seen[:, 0], seen[:, 1], None)

    def step_over_memory(self, states: Tensor, memory: KeysAndValues, mask: Tensor | None) -> Tensor:
        """Cross-attention of one position, [B, D] to [B, D]. Never drops anything.

        Args:
            states: [B, D].
            memory: from `project_keys_values`.
            mask: [B, 1, 1, M], or None if everything may be seen.
        """
        width = states.size(1)
        queries = functional.linear(states, self.in_proj_weight[:width], self.in_proj_bias[:width])
        return self._mix_one(queries.view(-1, self.num_heads, 1, self.head_width), *memory, mask)

    def _mix_one(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """[B, D] for queries [B, H, 1, K], keys and values [B, H, M, K]."""
        if self.weights_hook is None:
            mixed = functional.scaled_dot_product_attention(queries, keys, values, mask)
        else:
            mixed = self._weigh(queries, keys, mask) @ values
        output: Tensor = self.out_proj(self._gated(mixed).reshape(mixed.size(0), -1))
        return output

    def _weigh(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        """The weights [B, H, Q, M] that are used: those of the softmax, unless a hook has others."""
        scores = (queries / math.sqrt(self.head_width)) @ keys.transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(dim=-1)
        return weights if self.weights_hook is None else self.weights_hook(weights)

    def _project(self, states: Tensor, first: int, last: int) -> tuple[Tensor, ...]:
        """Projections number `first` up to `last` (of query, key, value) of [B, N, D], each [B, H, N, K]."""
        batch, length, width = states.shape
        rows = slice(first * width, last * width)
        joined = linear(states, self.in_proj_weight[rows], self.in_proj_bias[rows], self.training)
        parts = joined.view(batch, length, last - first, self.num_heads, self.head_width)
        return parts.permute(2, 0, 3, 1, 4).unbind(0)

    def _attend(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, need_maps: bool
    ) -> tuple[Tensor, Tensor | None]:
        drops = self.training and self.dropout > 0
        drops_by_hand = drops and queries.device.type == "cpu"  # the fused kernel has no dropout there
        if need_maps or drops_by_hand or self.weights_hook is not None:
            maps = self._weigh(queries, keys, mask)
            mixed = dropout(maps, self.dropout, self.training) @ values
        else:
            probability = self.dropout if drops else 0.0
            mixed = functional.scaled_dot_product_attention(queries, keys, values, mask, probability)
            maps = None
        joined = self._gated(mixed).transpose(1, 2).flatten(2)
        output = linear(joined, self.out_proj.weight, self.out_proj.bias, self.training)
        return output, maps if need_maps else None

    def _gated(self, mixed: Tensor) -> Tensor:
        """The heads' outputs [B, H, Q, K], each times its gate."""
        return mixed if self.gate is None else mixed * self.gate[:, None, None]
