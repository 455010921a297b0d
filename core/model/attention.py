"""Multi-head scaled dot-product attention (Vaswani et al. 2017, section 3.2). Shape legend: `core.model`."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from augenmerk.core.model.dropout import dropout
from augenmerk.core.model.products import Linear, linear

KeysAndValues = tuple[Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class RowOverride:
    """One row of weights that is used in place of what the softmax gives.

    Attributes:
        head: which, counted from 0.
        query: position of the query.
        weights: of the keys from the first on; those after them get 0.
    """

    head: int
    query: int
    weights: Tensor


@dataclass(frozen=True, eq=False)
class AttentionChanges:
    """What is changed in one attention module, for each of B sentences.

    Attributes:
        scale: [B, H], what each head's output is multiplied by; None for 1.
        rows: rows that are set, for each sentence; None if there are none.
        temperatures: [B, H], what each head's scores are divided by before the softmax; None for 1.
    """

    scale: Tensor | None
    rows: tuple[tuple[RowOverride, ...], ...] | None
    temperatures: Tensor | None = None

    def select(self, batch: Tensor) -> "AttentionChanges":
        """Those of the sentences with these indices [B']."""
        return AttentionChanges(
            None if self.scale is None else self.scale[batch],
            None if self.rows is None else tuple(self.rows[index] for index in batch.tolist()),
            None if self.temperatures is None else self.temperatures[batch],
        )

    def tempered(self, queries: Tensor) -> Tensor:
        """Queries [B, H, Q, K] of which the products with keys are those divided by the heads' temperatures."""
        return queries if self.temperatures is None else queries / self.temperatures[:, :, None, None]

    def with_rows(self, weights: Tensor, first_query: int = 0) -> Tensor:
        """Weights [B, H, Q, M] of the queries from `first_query` on, with the rows that are set among them."""
        if self.rows is None:
            return weights
        end = first_query + weights.size(2)
        found = [(index, row) for index, rows in enumerate(self.rows) for row in rows if first_query <= row.query < end]
        if not found:
            return weights
        changed = weights.clone()
        for index, row in found:
            place = changed[index, row.head, row.query - first_query]
            place.zero_()[: len(row.weights)] = row.weights
        return changed

    def scaled(self, outputs: Tensor) -> Tensor:
        """The heads' outputs [B, H, Q, K], each times its factor."""
        return outputs if self.scale is None else outputs * self.scale[:, :, None, None]


_WIDE_ROW = 16
"""Numbers of a row from which on PyTorch's softmax takes many at a time on a CPU."""
_MANY_SCORES = 512
"""Scores from which on filling short rows up takes less time than it saves."""


def _softmax(scores: Tensor) -> Tensor:
    """The softmax of the rows of [..., M]. Short ones are filled up on a CPU, which saves most of the time."""
    missing = _WIDE_ROW - scores.size(-1)
    is_worth_it = missing > 0 and scores.numel() >= _MANY_SCORES and scores.device.type == "cpu"
    if not is_worth_it or torch.compiler.is_compiling():
        return scores.softmax(dim=-1)
    filled = functional.pad(scores, (0, missing), value=float("-inf"))
    return filled.softmax(dim=-1)[..., :-missing]


_SMALL_PRODUCT = 400
"""Multiplications below which PyTorch computes each product of a batch on a CPU in a plain loop, number by number."""
_MANY_PRODUCTS = 128
"""Products from which on another way takes less time than that loop."""


def _weighted_sums(weights: Tensor, values: Tensor) -> Tensor:
    """[N, 1, K]: the values [N, M, K], each times its weight of [N, 1, M], added up."""
    num_products, num_values, width = values.shape
    if num_products < _MANY_PRODUCTS or num_values * width >= _SMALL_PRODUCT:
        return torch.bmm(weights, values)
    return (weights.transpose(1, 2) * values).sum(dim=1, keepdim=True)


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
        self.out_proj = Linear(width, width)
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
        memory: Tensor | KeysAndValues | None,
        mask: Tensor | None,
        *,
        need_maps: bool = False,
        changes: AttentionChanges | None = None,
        past: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Attends from `states` to `memory`, or to `states` themselves if there is none.

        Args:
            states: [B, Q, D].
            memory: [B, M, D], or what `project_keys_values` makes of it, or None for self-attention.
            mask: broadcastable to [B, H, Q, M], or None if everything may be seen.
            need_maps: also return the weights, computed without dropout; rows that are set stand in them.
            changes: what is changed for each of the B sentences; None for nothing, which costs nothing.
            past: [2, B, H, Q or more, K], where keys and values of self-attention are put, from the left.

        Returns:
            The mixed values, [B, Q, D], and the maps, [B, H, Q, M], or None if they were not asked for.
        """
        if memory is None:
            parts = self._project(states, 0, 3)
            queries, keys, values = parts.unbind()
            if past is not None:
                past.narrow(3, 0, keys.size(2)).copy_(parts[1:])
        else:
            (queries,) = self._project(states, 0, 1)
            keys, values = memory if isinstance(memory, tuple) else self._project(memory, 1, 3)
        return self._attend(queries, keys, values, mask, need_maps, changes)

    def project_keys_values(self, memory: Tensor) -> KeysAndValues:
        """Keys and values of `memory` [B, M, D], each [B, H, M, K]: what a decoder keeps between steps."""
        keys, values = self._project(memory, 1, 3).contiguous()
        return keys, values

    def step_over_past(
        self, states: Tensor, past: Tensor, step: int, changes: AttentionChanges | None = None
    ) -> Tensor:
        """Self-attention of one more position, which sees itself and all before it. Never drops anything.

        Args:
            states: [B, D], of the new position.
            past: keys and values, [2, B, H, max steps, K], filled up to `step`; those of the new position are put in.
            step: the new position.
            changes: see `forward`.

        Returns:
            [B, D].
        """
        parts = linear(states, self.in_proj_weight, self.in_proj_bias, self.training)
        joined = self.mix_over_past(parts, past, step, changes)
        return linear(joined, self.out_proj.weight, self.out_proj.bias, self.training)

    def mix_over_past(self, parts: Tensor, past: Tensor, step: int, changes: AttentionChanges | None = None) -> Tensor:
        """Between the projections of `step_over_past`: [B, 3 D] (query, key, value of the new position) to [B, D]."""
        parts = parts.view(-1, 3, self.num_heads, self.head_width)
        past.select(3, step).copy_(parts.narrow(1, 1, 2).transpose(0, 1))
        keys, values = past.narrow(3, 0, step + 1).unbind()
        return self.mix_one(parts.select(1, 0).unsqueeze(2), keys, values, None, step, changes)

    def step_over_memory(
        self,
        states: Tensor,
        memory: KeysAndValues,
        mask: Tensor | None,
        step: int = 0,
        changes: AttentionChanges | None = None,
    ) -> Tensor:
        """Cross-attention of one position, [B, D] to [B, D]. Never drops anything.

        Args:
            states: [B, D].
            memory: from `project_keys_values`.
            mask: [B, 1, 1, M], or None if everything may be seen.
            step: the position.
            changes: see `forward`.
        """
        width = states.size(1)
        queries = linear(states, self.in_proj_weight, self.in_proj_bias, self.training, (0, width))
        queries = queries.view(-1, self.num_heads, 1, self.head_width)
        joined = self.mix_one(queries, *memory, mask, step, changes)
        return linear(joined, self.out_proj.weight, self.out_proj.bias, self.training)

    def mix_one(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None,
        step: int,
        changes: AttentionChanges | None,
    ) -> Tensor:
        """The outputs of the heads side by side, [B, D], for queries [B, H, 1, K], keys and values [B, H, M, K]."""
        if changes is not None:
            queries = changes.tempered(queries)
        if queries.device.type != "cpu" and (changes is None or changes.rows is None):
            mixed = functional.scaled_dot_product_attention(queries, keys, values, mask)
        else:  # for one query, the fused kernel of the CPU takes longer than its parts
            weights = self._weigh(queries, keys, mask)
            if changes is not None:
                weights = changes.with_rows(weights, step)
            mixed = _weighted_sums(weights.flatten(0, 1), values.flatten(0, 1)).view_as(queries)
        if changes is not None:
            mixed = changes.scaled(mixed)
        return mixed.flatten(1)

    def _weigh(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        """The weights [B, H, Q, M] of the softmax."""
        keys = keys.flatten(0, 1).transpose(1, 2)
        unused = queries.new_empty(1)
        products = torch.baddbmm(unused, queries.flatten(0, 1), keys, beta=0, alpha=1 / math.sqrt(self.head_width))
        scores = products.view(*queries.shape[:3], -1)
        if mask is not None:
            scores.masked_fill_(~mask, float("-inf"))
        return _softmax(scores)

    def _project(self, states: Tensor, first: int, last: int) -> Tensor:
        """Projections number `first` up to `last` (of query, key, value) of [B, N, D]: [last - first, B, H, N, K]."""
        batch, length, width = states.shape
        part = None if (first, last) == (0, 3) else (first * width, last * width)
        joined = linear(states, self.in_proj_weight, self.in_proj_bias, self.training, part)
        parts = joined.view(batch, length, last - first, self.num_heads, self.head_width)
        return parts.permute(2, 0, 3, 1, 4)

    def _attend(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None,
        need_maps: bool,
        changes: AttentionChanges | None,
    ) -> tuple[Tensor, Tensor | None]:
        if changes is not None:
            queries = changes.tempered(queries)
        drops = self.training and self.dropout > 0
        is_on_cpu = queries.device.type == "cpu"
        drops_by_hand = drops and is_on_cpu  # the fused kernel has no dropout there
        has_many_short = is_on_cpu and len(queries) > 1 and keys.size(2) < _WIDE_ROW  # takes twice as long as its parts
        is_by_parts = drops_by_hand or (has_many_short and not torch.is_grad_enabled())
        if need_maps or is_by_parts or (changes is not None and changes.rows is not None):
            maps = self._weigh(queries, keys, mask)
            if changes is not None:
                maps = changes.with_rows(maps)
            weights = dropout(maps, self.dropout, True) if drops else maps
            mixed = torch.bmm(weights.flatten(0, 1), values.flatten(0, 1)).view_as(queries)
        else:
            probability = self.dropout if drops else 0.0
            mixed = functional.scaled_dot_product_attention(queries, keys, values, mask, probability)
            maps = None
        if changes is not None:
            mixed = changes.scaled(mixed)
        output = self.out_proj(mixed.transpose(1, 2).flatten(2))
        return output, maps if need_maps else None
