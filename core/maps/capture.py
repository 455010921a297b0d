"""What sublayers read and add in one pass, with queries, keys, values and weights; frozen norms.

`core.model.sites` reads the values, so the user's own hooks take effect. Shape legend: `core.maps`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from ..model.attention import MultiHeadAttention
from ..model.heads import ATTENTION_KINDS, AttentionKind
from ..model.interventions import AttentionChanges
from ..model.layers import AnnotatedLayerNorm, Residual
from ..model.sites import STEPS, PairPass, attentions_of, sites_of, sublayers_of, trace_sites
from ..translation.result import Translation, read_only
from ..translation.translator import Translator
from .trace import HeadTrace, Trace


def trace_translation(translator: Translator, translation: Translation) -> Trace:
    """The queries, keys, values and weights of every head of `translator` for this pair.

    Takes one more pass.

    See `Translator.pass_over`.
    """
    return trace_pair(translator.pass_over(translation))


@torch.inference_mode()
def trace_pair(pair: PairPass) -> Trace:
    """The queries, keys, values and weights of every head."""
    layers: dict[AttentionKind, list[HeadTrace]] = {kind: [] for kind in ATTENTION_KINDS}
    for sublayer in trace_sublayers(pair)[0]:
        if sublayer.attention is not None:
            layers[sublayer.attention.kind].append(_head_trace(sublayer.attention))
    stacked = {kind: _stack(traces) for kind, traces in layers.items()}
    return Trace(**stacked, lifts_mask=pair.interventions.lifts_mask is not None)


@dataclass(frozen=True, eq=False)
class AttentionPass:
    """Inputs and weights of an attention module in one pass over one sentence.

    Attributes:
        kind: encoder, decoder or cross.
        module: the attention module.
        queries_of: the input of the query projection, [1, Q, D].
        memory: the input of the key and value projections of cross-attention, [1, M, D]; None for
            self-attention.
        weights: [1, H, Q, M].
        changes: see `MultiHeadAttention.forward`.
        joined: the outputs of all heads, [1, Q, D], before the output projection mixes them.
    """

    kind: AttentionKind
    module: MultiHeadAttention
    queries_of: Tensor
    memory: Tensor | None
    weights: Tensor
    changes: AttentionChanges
    joined: Tensor

    @property
    def queries(self) -> Tensor:
        """[H, Q, K]."""
        return self._projected(0)

    @property
    def keys(self) -> Tensor:
        """[H, M, K]."""
        return self._projected(1)

    def _projected(self, part: Literal[0, 1, 2]) -> Tensor:
        """The unchanged queries (0), keys (1) or values (2): [H, N, K]."""
        states = self.queries_of if part == 0 or self.memory is None else self.memory
        width = self.joined.size(-1)
        return self.module.project(states, part * width, (part + 1) * width)[0][0]

    @property
    def values(self) -> Tensor:
        """The values [H, M, K], times the factors of their heads."""
        return self.changes.scaled(self._projected(2)[None])[0]


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
def trace_sublayers(pair: PairPass) -> tuple[list[SublayerPass], Tensor, Tensor, Tensor]:
    """The sublayers of encoder and decoder, in order.

    Returns:
        The sublayers, the encoder's output [S, D], the decoder's before the output layer [T, D],
            and the logits [T, V].

    Raises:
        NonFiniteError: the model's states are not finite.
    """
    attentions = attentions_of(pair.model).items()
    kinds = {
        module: (kind, layer)
        for kind, modules in attentions
        for layer, module in enumerate(modules)
    }
    sites = [site for site in sites_of(pair.model) if site.rpartition(".")[2] not in STEPS]
    values = trace_sites(pair, sites)
    sublayers = []
    for name, module, residual in sublayers_of(pair.model):
        states, added, output = (
            values[f"{name}.{value}"] for value in ("before", "output", "after")
        )
        attention = None
        if isinstance(module, MultiHeadAttention):
            kind, layer = kinds[module]
            read = values[f"{name}.input"]
            memory = values.get(f"{name}.memory")
            weights = values[f"{name}.weight"]
            changes = pair.interventions.of(kind, layer)
            attention = AttentionPass(
                kind, module, read, memory, weights, changes, values[f"{name}.joined"]
            )
        sublayers.append(SublayerPass(residual, states, added, output, attention))
    return sublayers, values["encoder.output"][0], values["decoder.output"][0], values["logits"][0]


def _head_trace(attention: AttentionPass) -> HeadTrace:
    """The trace of one layer: arrays without the leading L, made read-only when stacked."""
    module = attention.module
    temperatures = torch.ones(module.num_heads, device=attention.weights.device)
    if attention.changes.temperatures is not None:
        temperatures = attention.changes.temperatures[0]
    tensors = {
        "queries": attention.queries,
        "keys": attention.keys,
        "values": attention.values,
        "mixing": module.mixing,
        "weights": attention.weights[0],  # of the only sentence, as the others are
        "temperatures": temperatures,
    }
    return HeadTrace(**{name: tensor.float().cpu().numpy() for name, tensor in tensors.items()})


def _stack(layers: Sequence[HeadTrace]) -> HeadTrace:
    return HeadTrace(
        *(
            read_only(np.stack([getattr(layer, name) for layer in layers]))
            for name in HeadTrace.__annotations__
        )
    )


def linear_norm(norm: nn.Module, parts: Tensor, whole: Tensor) -> Tensor:
    """A norm without its bias, of `parts` [..., D] of `whole`: γ ⊙ (part − mean(part)) / σ(whole).

    In double precision. The results for all parts and the norm's bias sum to the norm's output for
    `whole`. An identity, which replaces the final norm of a model without one, changes nothing.
    """
    if isinstance(norm, nn.Identity):
        return parts
    return _weight_of(norm) * (parts - parts.mean(dim=-1, keepdim=True)) / _deviation(norm, whole)


def transposed_norm(norm: nn.Module, directions: Tensor, whole: Tensor) -> Tensor:
    """The transpose of `linear_norm`: g − mean(g) with g = γ ⊙ directions / σ(whole).

    For any parts, `transposed_norm(d) · parts = d · linear_norm(parts)`: it carries directions
    backwards through a norm.

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
