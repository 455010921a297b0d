"""A decoder that guesses next tokens at a third of the cost: its matrices are rounded to 8 bits.

A decoding step of one sentence is spent on reading matrices from memory, of which those of 8 bits take a quarter, and
in the interpreter and on the way to PyTorch's operators, which are spared here if possible. The guesses are checked
by the model itself (`core.translation.speculation`), so a difference to `Transformer.step` costs time and nothing else.
CPU only.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from augenmerk.core.model.attention import AttentionChanges
from augenmerk.core.model.layers import DecoderLayer, LayerCache, activate
from augenmerk.core.model.transformer import DecoderState, Transformer, decoder_changes

Product = Callable[[Tensor], Tensor]
_attend = functional.scaled_dot_product_attention


class Steps(Protocol):
    """What reads one more token of each row."""

    def step(self, tokens: Tensor, state: DecoderState) -> Tensor:
        """See `Transformer.step`."""
        ...


def make_drafter(model: Transformer) -> "Drafter | None":
    """A drafter for a model; None where there are no products of 8 bits."""
    like = model.output.weight
    if like.device.type != "cpu" or like.dtype != torch.float32 or not has_packed_products():
        return None
    return Drafter(model)


class Drafter:
    """Reads and continues the model's own `DecoderState`, under its interventions. Without gradients."""

    def __init__(self, model: Transformer) -> None:
        embedding = model.target_embedding
        # a copy, as the model's own may lie column by column; of 16 bits, as memory is what it costs
        self._tokens = (embedding.tokens.weight.detach() * embedding.scale).bfloat16().contiguous()
        self._positions = embedding.positions
        self._layers = [_Layer(layer) for layer in model.decoder_layers]  # type: ignore[arg-type]
        self._norm = _plain_norm(model.decoder_norm)
        self._output = PackedProduct(model.output.weight, model.output.bias)

    def step(self, tokens: Tensor, state: DecoderState) -> Tensor:
        """About what `Transformer.step` would return, and about what it would leave in `state`."""
        # one row is looked up by its number: the operator for many takes five times as long
        vectors = self._tokens[int(tokens)].unsqueeze(0) if len(tokens) == 1 else self._tokens[tokens]
        states = vectors.float().add_(self._positions[state.step])
        for index, (layer, layer_cache) in enumerate(zip(self._layers, state.layers, strict=True)):
            states = layer.step(states, layer_cache, state, *decoder_changes(state.interventions, index))
        state.step += 1
        return self._output(self._norm(states))


class _Layer:
    """`DecoderLayer.step` with what it needs at hand."""

    def __init__(self, layer: DecoderLayer) -> None:
        own, cross, inner = layer.self_attention, layer.cross_attention, layer.feed_forward
        width = cross.in_proj_weight.size(1)
        self._own, self._cross = own, cross
        residuals = (layer.self_residual, layer.cross_residual, layer.feed_forward_residual)
        self._norms = [_plain_norm(each.norm) for each in residuals]
        self._is_pre = layer.self_residual.is_pre
        self._activation = inner.activation
        self._project = PackedProduct(own.in_proj_weight, own.in_proj_bias)
        self._query = PackedProduct(cross.in_proj_weight[:width], cross.in_proj_bias[:width])
        self._own_out, self._cross_out, self._expand = (
            PackedProduct(each.weight, each.bias) for each in (own.out_proj, cross.out_proj, inner.expand)
        )
        # what ReLU gives of a multiple is the same multiple, so that those of the first product can be the second's
        self._has_joint_scales = self._activation == "relu"
        columns = self._expand.scales if self._has_joint_scales else 1.0
        self._contract = PackedProduct(inner.contract.weight.detach() * columns, inner.contract.bias)
        self._heads = (1, cross.num_heads, 1, cross.head_width)

    def step(
        self,
        states: Tensor,
        cache: LayerCache,
        state: DecoderState,
        self_changes: AttentionChanges | None,
        cross_changes: AttentionChanges | None,
    ) -> Tensor:
        """[B, D] to [B, D]."""
        step, is_pre = state.step, self._is_pre
        self_norm, cross_norm, inner_norm = self._norms
        is_one = len(states) == 1
        parts = self._project(self_norm(states) if is_pre else states)
        if is_one and self_changes is None:
            mixed = self._mix_over_past(parts, cache.past, step)
        else:
            mixed = self._own.mix_over_past(parts, cache.past, step, self_changes)
        states = self._own_out.add_to(states, mixed)
        if not is_pre:
            states = self_norm(states)
        queries = self._query(cross_norm(states) if is_pre else states)
        if is_one and cross_changes is None and state.source_mask is None:
            mixed = _attend(queries.view(self._heads), *cache.memory).view(1, -1)
        else:
            queries = queries.view(-1, *self._heads[1:])
            mixed = self._cross.mix_one(queries, *cache.memory, state.source_mask, step, cross_changes)
        states = self._cross_out.add_to(states, mixed)
        if not is_pre:
            states = cross_norm(states)
        inner = inner_norm(states) if is_pre else states
        inner = self._expand.multiples(inner) if self._has_joint_scales else self._expand(inner)
        states = self._contract.add_to(states, activate(inner, self._activation, in_place=True))
        return states if is_pre else inner_norm(states)

    def _mix_over_past(self, parts: Tensor, past: Tensor, step: int) -> Tensor:
        """`MultiHeadAttention.mix_over_past` for one row of which nothing is changed: half as many operators."""
        queries, new = parts.view(3, *self._heads).split_with_sizes((1, 2))
        past.narrow(3, step, 1).copy_(new)
        keys, values = past.narrow(3, 0, step + 1).unbind()
        return _attend(queries[0], keys, values).view(1, -1)


def _plain_norm(norm: nn.Module) -> Product:
    """What the module computes, without the interpreter's way through a module where it is PyTorch's own."""
    if not isinstance(norm, nn.LayerNorm):
        return norm
    shape, weight, bias, epsilon = list(norm.normalized_shape), norm.weight.detach(), norm.bias.detach(), norm.eps
    return lambda states: torch.layer_norm(states, shape, weight, bias, epsilon)


class PackedProduct:
    """What multiplies [B, N] by a matrix [M, N] that is rounded to 8 bits, each row by a scale of its own, and adds.

    Attributes:
        scales: [M].

    Args:
        weight, bias: of a linear layer.
        reduce_range: whether the matrix is rounded to 7 bits instead of 8; None for what the processor needs.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, *, reduce_range: bool | None = None) -> None:
        if reduce_range is None:
            reduce_range = _sums_overflow()
        weight = weight.detach()
        self.scales = weight.abs().amax(dim=1).clamp(min=1e-8) / (63 if reduce_range else 127)
        rounded = (weight / self.scales[:, None]).round_().to(torch.int8).contiguous()
        sums = rounded.sum(dim=1, dtype=torch.int32)
        shift = torch.zeros_like(self.scales) if bias is None else bias.detach() / self.scales
        with warnings.catch_warnings():  # where a later PyTorch has it no more, nothing is packed
            warnings.filterwarnings("ignore", message="fbgemm_.* is deprecated", category=UserWarning)
            self._multiply: Any = torch.fbgemm_linear_int8_weight_fp32_activation
            self._matrix = (rounded, torch.fbgemm_pack_quantized_matrix(rounded), sums, 1.0, 0, shift)
            self.multiples(torch.zeros_like(weight[:1]))

    def multiples(self, states: Tensor) -> Tensor:
        """The product [B, M], each column divided by its scale."""
        result: Tensor = self._multiply(states, *self._matrix)
        return result

    def __call__(self, states: Tensor) -> Tensor:
        """The product [B, M]."""
        result: Tensor = self._multiply(states, *self._matrix).mul_(self.scales)
        return result

    def add_to(self, summand: Tensor, states: Tensor) -> Tensor:
        """summand [B, M] + the product, which takes one operator less."""
        return torch.addcmul(summand, self._multiply(states, *self._matrix), self.scales)


@cache
def _sums_overflow() -> bool:
    """Whether this processor adds products of two times 8 bits in 16 bits, which then overflow (x86 without VNNI)."""
    found = PackedProduct(torch.ones(32, 64), None, reduce_range=False)(torch.ones(1, 64))
    return bool((found - 64).abs().max() > 1)


@cache
def has_packed_products() -> bool:
    """Whether this PyTorch multiplies so on this processor, and right."""
    weight = torch.arange(12.0).view(3, 4).cos()
    states = torch.arange(8.0).view(2, 4).sin()
    try:
        found = PackedProduct(weight, None)(states)
    except (AttributeError, RuntimeError, TypeError):
        return False
    return bool((found - states @ weight.t()).abs().max() < 0.1)
