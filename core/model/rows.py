"""Watching and replacing attention weights for a while, without a copy of the model. Shape legend: `core.model`.

Bau et al. 2019 ("Identifying and Controlling Important Neurons in Neural Machine Translation") and many after them set
a part of a model by hand to see what hangs on it; here that part is one row of one head's cross-attention.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from core.model.attention import MultiHeadAttention, WeightsHook
from core.model.gates import attentions_of
from core.model.heads import FixedRow
from core.model.transformer import DecoderState, Transformer


@dataclass(frozen=True, eq=False)
class ObservedStep:
    """What one decoding step gave, and the rows that it used.

    Attributes:
        logits: [B, V] of the next token.
        self_rows: weights on the tokens read so far, this one included, [B, L, H, step + 1].
        cross_rows: weights on the source, [B, L, H, S].
    """

    logits: Tensor
    self_rows: Tensor
    cross_rows: Tensor


@contextmanager
def weights_hooked(hooks: Mapping[MultiHeadAttention, WeightsHook]) -> Iterator[None]:
    """Inside the block these modules use what their hooks return; afterwards everything is as before.

    Not while another thread uses the model. Blocks for the same module replace each other.
    """
    before = {module: module.weights_hook for module in hooks}
    try:
        for module, hook in hooks.items():
            module.weights_hook = hook
        yield
    finally:
        for module, earlier in before.items():
            module.weights_hook = earlier


@contextmanager
def rows_fixed(model: Transformer, rows: Sequence[FixedRow]) -> Iterator[None]:
    """Inside the block a parallel pass of the decoder uses these rows; its maps show them. See `weights_hooked`."""

    def fix(rows_of_layer: Sequence[FixedRow], weights: Tensor) -> Tensor:
        return _with_rows(weights, [(row, row.step) for row in rows_of_layer])

    modules = attentions_of(model)["cross"]
    hooks = {
        module: partial(fix, [row for row in rows if row.layer == layer])
        for layer, module in enumerate(modules)
        if any(row.layer == layer for row in rows)
    }
    with weights_hooked(hooks):
        yield


def observed_step(
    model: Transformer, tokens: Tensor, state: DecoderState, fixed: Sequence[FixedRow] = ()
) -> ObservedStep:
    """`Transformer.step` with the rows that it used; those of `fixed` that belong to this step are used as given.

    Args:
        model: in evaluation mode.
        tokens: ids [B].
        state: changed, as by `Transformer.step`.
        fixed: rows of any step; for all B alike.
    """
    modules = attentions_of(model)
    self_rows: list[Tensor] = []
    cross_rows: list[Tensor] = []
    step = state.step

    def keep_self(weights: Tensor) -> Tensor:
        self_rows.append(weights[:, :, 0])
        return weights

    def keep_cross(layer: int, weights: Tensor) -> Tensor:
        weights = _with_rows(weights, [(row, 0) for row in fixed if row.layer == layer and row.step == step])
        cross_rows.append(weights[:, :, 0])
        return weights

    hooks: dict[MultiHeadAttention, WeightsHook] = dict.fromkeys(modules["decoder"], keep_self)
    hooks |= {module: partial(keep_cross, layer) for layer, module in enumerate(modules["cross"])}
    with weights_hooked(hooks):
        logits = model.step(tokens, state)
    return ObservedStep(logits, torch.stack(self_rows, dim=1), torch.stack(cross_rows, dim=1))


def _with_rows(weights: Tensor, rows: Sequence[tuple[FixedRow, int]]) -> Tensor:
    """[B, H, Q, M] with these rows at these places of Q; those that lie beyond Q are left out."""
    if not rows:
        return weights
    weights = weights.clone()
    for row, place in rows:
        if place < weights.size(2):
            weights[:, row.head, place] = weights.new_tensor(row.weights)
    return weights
