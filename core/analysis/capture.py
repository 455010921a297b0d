"""Sublayers of a model in one pass: their inputs and outputs, queries, keys, values and weights; and frozen norms.

`core.model.sites` reads the values, so the user's own hooks take effect. Shape legend: `core.analysis`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from augenmerk.core.analysis.trace import HeadTrace, Trace
from augenmerk.core.model.attention import MultiHeadAttention
from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind
from augenmerk.core.model.interventions import AttentionChanges, Interventions
from augenmerk.core.model.layers import AnnotatedLayerNorm, Residual
from augenmerk.core.model.sites import STEPS, sites_of, sublayers_of, trace_sites
from augenmerk.core.model.transformer import Transformer, attentions_of
from augenmerk.core.translation.compilation import interventions_of
from augenmerk.core.translation.result import Translation, read_only
from augenmerk.core.translation.translator import Translator


def trace_translation(translator: Translator, translation: Translation) -> Trace:
    """The queries, keys, values and weights of every head of `translator` for this pair. Takes one more pass.

    The translation's experiment applies. The translation may come from another model with the same vocabularies; it is
    then read by teacher forcing. Not thread-safe with other uses of the model.

    Raises:
        AnalysisError: the experiment changes a head that this model lacks.
    """
    interventions = interventions_of(translator.model, translation.experiment)
    return trace_pair(translator.model, translation.source_ids, translation.read_ids, interventions)


def trace_pair(
    model: Transformer,
    source_ids: Sequence[int],
    read_ids: Sequence[int],
    interventions: Interventions | None = None,
) -> Trace:
    """The trace of one pair of ids: S of the source, and T read by the decoder, beginning with the start token.

    Args:
        model: in evaluation mode.
        source_ids, read_ids: without padding.
        interventions: for one sentence.
    """
    layers: dict[AttentionKind, list[HeadTrace]] = {kind: [] for kind in ATTENTION_KINDS}

    def keep(sublayer: SublayerPass) -> None:
        if sublayer.attention is not None:
            layers[sublayer.attention.kind].append(_head_trace(sublayer.attention))

    trace_sublayers(model, source_ids, read_ids, keep, interventions)
    stacked = {kind: _stack(found) for kind, found in layers.items()}
    return Trace(**stacked, lifts_mask=interventions is not None and interventions.lifts_mask is not None)


@dataclass(frozen=True, eq=False)
class AttentionPass:
    """Inputs and weights of an attention module in one pass over one sentence.

    Attributes:
        kind: encoder, decoder or cross.
        module: the attention module.
        queries_of: the input of the query projection, [1, Q, D].
        memory: the input of the key and value projections of cross-attention, [1, M, D]; None for self-attention.
        maps: weights, [1, H, Q, M].
        changes: see `MultiHeadAttention.forward`.
        joined: the outputs of all heads, [1, Q, D], before the output projection mixes them.
    """

    kind: AttentionKind
    module: MultiHeadAttention
    queries_of: Tensor
    memory: Tensor | None
    maps: Tensor
    changes: AttentionChanges | None
    joined: Tensor

    def projected(self, part: Literal[0, 1, 2]) -> Tensor:
        """The unchanged queries (0), keys (1) or values (2): [H, N, K]."""
        states, width = self.queries_of if part == 0 or self.memory is None else self.memory, self.joined.size(-1)
        return self.module.project(states, part * width, (part + 1) * width)[0][0]

    @property
    def values(self) -> Tensor:
        """The values [H, M, K], times the factors of their heads."""
        values = self.projected(2)
        return values if self.changes is None else self.changes.scaled(values[None])[0]


@dataclass(frozen=True, eq=False)
class SublayerPass:
    """Inputs and outputs of a sublayer with its residual connection in one pass over one sentence.

    Attributes:
        residual: the residual connection.
        states: the input, [1, N, D].
        added: the sublayer's output, [1, N, D].
        output: the output of the connection, [1, N, D].
        attention: the sublayer; None for a feed-forward network.
    """

    residual: Residual
    states: Tensor
    added: Tensor
    output: Tensor
    attention: AttentionPass | None


@torch.inference_mode()
def trace_sublayers(
    model: Transformer,
    source_ids: Sequence[int],
    read_ids: Sequence[int],
    on_sublayer: Callable[[SublayerPass], None],
    interventions: Interventions | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Calls `on_sublayer` for each sublayer of encoder and decoder, in order, after one pass over a pair.

    Args:
        model: in evaluation mode.
        source_ids, read_ids: without padding.
        on_sublayer: receives the inputs and outputs.
        interventions: for one sentence.

    Returns:
        The encoder's output [S, D], the decoder's before the output layer [T, D], and the logits [T, V].

    Raises:
        NonFiniteError: the model's states are not finite.
    """
    attentions = attentions_of(model).items()
    kinds = {module: (kind, layer) for kind, modules in attentions for layer, module in enumerate(modules)}
    sites = [site for site in sites_of(model) if site.rpartition(".")[2] not in STEPS]
    found = trace_sites(model, source_ids, read_ids, sites, interventions)
    for place, module, residual in sublayers_of(model):
        states, added, output = (found[f"{place}.{value}"] for value in ("before", "output", "after"))
        attention = None
        if isinstance(module, MultiHeadAttention):
            kind, layer = kinds[module]
            read, memory, weights = found[f"{place}.input"], found.get(f"{place}.memory"), found[f"{place}.weight"]
            changes = None if interventions is None else interventions.of(kind, layer)
            attention = AttentionPass(kind, module, read, memory, weights, changes, found[f"{place}.joined"])
        on_sublayer(SublayerPass(residual, states, added, output, attention))
    return found["encoder.output"][0], found["decoder.output"][0], found["logits"][0]


def _head_trace(attention: AttentionPass) -> HeadTrace:
    """The trace of one layer: arrays without the leading L."""
    module, changes = attention.module, attention.changes
    mixing = module.out_proj.weight.t().unflatten(0, (module.num_heads, -1))
    temperatures = torch.ones(module.num_heads, device=attention.maps.device)
    if changes is not None and changes.temperatures is not None:
        temperatures = changes.temperatures[0]
    queries, keys, values = attention.projected(0), attention.projected(1), attention.values
    arrays = queries, keys, values, mixing, attention.maps[0], temperatures
    return HeadTrace(*(array.float().cpu().numpy() for array in arrays))  # made read-only when stacked


def _stack(layers: Sequence[HeadTrace]) -> HeadTrace:
    return HeadTrace(
        *(read_only(np.stack([getattr(layer, name) for layer in layers])) for name in HeadTrace.__annotations__)
    )


def linear_norm(norm: nn.Module, parts: Tensor, whole: Tensor) -> Tensor:
    """A norm without its bias, of `parts` [..., D] that sum to `whole`: γ ⊙ (part − mean(part)) / σ(whole).

    In double precision. The results for all parts and the norm's bias sum to the norm's output for `whole`. An
    identity, which replaces the final norm of a model without one, changes nothing.
    """
    if isinstance(norm, nn.Identity):
        return parts
    return _weight_of(norm) * (parts - parts.mean(dim=-1, keepdim=True)) / _deviation(norm, whole)


def transposed_norm(norm: nn.Module, directions: Tensor, whole: Tensor) -> Tensor:
    """The transpose of `linear_norm`: its dot product with any parts is that of `directions` with their norm.

    Args:
        norm: the norm.
        directions: [..., D], in double precision.
        whole: the norm's input.
    """
    if isinstance(norm, nn.Identity):
        return directions
    weighted = _weight_of(norm) * directions / _deviation(norm, whole)
    return weighted - weighted.mean(dim=-1, keepdim=True)


def bias_of(norm: nn.Module) -> Tensor:
    """β, in double precision; 0 for an identity."""
    if isinstance(norm, nn.Identity):
        return torch.zeros((), dtype=torch.float64)
    assert isinstance(norm, nn.LayerNorm | AnnotatedLayerNorm)
    return norm.bias.double()


def _weight_of(norm: nn.Module) -> Tensor:
    assert isinstance(norm, nn.LayerNorm | AnnotatedLayerNorm)
    return norm.weight.double()


def _deviation(norm: nn.Module, whole: Tensor) -> Tensor:
    """σ of a norm that reads `whole` [..., D]: [..., 1]."""
    if isinstance(norm, AnnotatedLayerNorm):
        return whole.std(dim=-1, keepdim=True) + norm.epsilon
    assert isinstance(norm, nn.LayerNorm)
    return (whole.var(dim=-1, keepdim=True, unbiased=False) + norm.eps).sqrt()
