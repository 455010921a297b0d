"""Changing what attention heads do, for each sentence of a batch, without touching the model.

A head's output can be multiplied by a factor before the output projection mixes it with the others (Michel et al. 2019,
"Are Sixteen Heads Really Better than One?", equation 2; 0 is the same as deleting its columns there), and rows of its
attention weights can be set (Bau et al. 2019, "Identifying and Controlling Important Neurons in Neural Machine
Translation", and many after them). Shape legend: `core.model`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from augenmerk.core.errors import AnalysisError
from augenmerk.core.model.attention import AttentionChanges, MultiHeadAttention, RowOverride
from augenmerk.core.model.heads import AttentionKind, Head
from augenmerk.core.model.transformer import Interventions, Transformer


@dataclass(frozen=True)
class SentenceChanges:
    """What is changed for one sentence of a batch.

    Attributes:
        factors: what the outputs of heads are multiplied by.
        rows: weights that are used in place of the softmax's, by head and query position, one weight for each key that
            the query sees. Rows of positions that are never reached change nothing.
        temperatures: what the scores of heads are divided by before the softmax.
        lifts_mask: whether the decoder's self-attention sees later target tokens too.
    """

    factors: Mapping[Head, float] = field(default_factory=dict)
    rows: Mapping[tuple[Head, int], Sequence[float]] = field(default_factory=dict)
    temperatures: Mapping[Head, float] = field(default_factory=dict)
    lifts_mask: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is changed."""
        return not (self.factors or self.rows or self.temperatures or self.lifts_mask)


def compile_interventions(model: Transformer, sentences: Sequence[SentenceChanges]) -> Interventions | None:
    """What is changed for each of B sentences, as the model's passes take it; None if nothing is.

    Raises:
        AnalysisError: the model has no such head.
    """
    if all(sentence.is_empty for sentence in sentences):
        return None
    modules = attentions_of(model)
    touched: dict[tuple[AttentionKind, int], None] = {}
    for sentence in sentences:
        for head in (*sentence.factors, *sentence.temperatures, *(head for head, _ in sentence.rows)):
            _check(head, modules)
            touched[head.kind, head.layer] = None
    like = model.output.weight
    return Interventions(
        {
            (kind, layer): _changes_of_module(kind, layer, modules[kind][layer].num_heads, sentences, like)
            for kind, layer in touched
        },
        lifts_mask=torch.tensor([sentence.lifts_mask for sentence in sentences], device=like.device)
        if any(sentence.lifts_mask for sentence in sentences)
        else None,
    )


def compile_head_factors(model: Transformer, factors: Mapping[Head, float], num_sentences: int) -> Interventions | None:
    """The same heads scaled for each of so many sentences. Raises `AnalysisError` if the model has no such head."""
    return compile_interventions(model, [SentenceChanges(factors, {})] * num_sentences)


def _changes_of_module(
    kind: AttentionKind, layer: int, num_heads: int, sentences: Sequence[SentenceChanges], like: Tensor
) -> AttentionChanges:
    scale = torch.ones(len(sentences), num_heads, device=like.device, dtype=like.dtype)
    temperatures = torch.ones_like(scale)
    rows: list[tuple[RowOverride, ...]] = []
    for index, sentence in enumerate(sentences):
        for head, factor in sentence.factors.items():
            if (head.kind, head.layer) == (kind, layer):
                scale[index, head.head] = factor
        for head, temperature in sentence.temperatures.items():
            if (head.kind, head.layer) == (kind, layer):
                temperatures[index, head.head] = temperature
        rows.append(
            tuple(
                RowOverride(head.head, query, torch.tensor(list(weights), device=like.device, dtype=like.dtype))
                for (head, query), weights in sentence.rows.items()
                if (head.kind, head.layer) == (kind, layer)
            )
        )
    return AttentionChanges(
        scale if bool((scale != 1).any()) else None,
        tuple(rows) if any(rows) else None,
        temperatures if bool((temperatures != 1).any()) else None,
    )


def attentions_of(model: Transformer) -> dict[AttentionKind, list[MultiHeadAttention]]:
    """The attention modules of each kind, layer by layer."""
    return {
        "encoder": [layer.self_attention for layer in model.encoder_layers],  # type: ignore[misc]
        "decoder": [layer.self_attention for layer in model.decoder_layers],  # type: ignore[misc]
        "cross": [layer.cross_attention for layer in model.decoder_layers],  # type: ignore[misc]
    }


def all_heads(model: Transformer) -> list[Head]:
    """Every head: encoder, decoder, cross; from the first layer up."""
    return [
        Head(kind, layer, head)
        for kind, modules in attentions_of(model).items()
        for layer, module in enumerate(modules)
        for head in range(module.num_heads)
    ]


def _check(head: Head, modules: dict[AttentionKind, list[MultiHeadAttention]]) -> None:
    layers = modules.get(head.kind, [])
    if head.layer not in range(len(layers)) or head.head not in range(layers[head.layer].num_heads):
        shapes = ", ".join(f"{kind} {len(found)} × {found[0].num_heads}" for kind, found in modules.items())
        raise AnalysisError(
            f"This model has no {head}. It has, layers × heads: {shapes}. Name one of these, counted from 1."
        )
