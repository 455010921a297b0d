"""The changes to sentences as tensors, in the form that a model reads.

Shape legend: `core.model`.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from ..config import ModelConfig
from ..counting import Index
from ..errors import AnalysisError
from .heads import (
    AttentionKind,
    Head,
    Network,
    SentenceChanges,
    attention_shapes,
    networks_of,
)
from .interventions import NO_INTERVENTIONS, AttentionChanges, Interventions, RowOverride
from .transformer import Transformer


def compile_interventions(
    model: Transformer, sentences: Sequence[SentenceChanges]
) -> Interventions:
    """The changes to B sentences as tensors for the passes of the model.

    Raises:
        AnalysisError: the model has no such head or network.
    """
    if all(sentence.is_empty for sentence in sentences):
        return NO_INTERVENTIONS
    shapes = attention_shapes(model.config)
    touched: dict[tuple[AttentionKind, int], None] = {}
    networks: dict[Network, None] = {}
    for sentence in sentences:
        for part in (
            *sentence.factors,
            *sentence.temperatures,
            *(head for head, _ in sentence.rows),
        ):
            if isinstance(part, Network):
                _check_network(part, model.config)
                networks[part] = None
            else:
                _check_head(part, shapes)
                touched[part.kind, part.layer] = None
    like = model.output.weight
    factors = {}
    for network in networks:
        by_sentence = [sentence.factors.get(network, 1.0) for sentence in sentences]
        factors[network.side, network.layer] = like.new_tensor(by_sentence)[:, None, None]
    return Interventions(
        {
            (kind, layer): _changes_of_module(kind, layer, shapes[kind][1], sentences, like)
            for kind, layer in touched
        },
        factors,
        lifts_mask=torch.tensor([sentence.lifts_mask for sentence in sentences], device=like.device)
        if any(sentence.lifts_mask for sentence in sentences)
        else None,
    )


def _changes_of_module(
    kind: AttentionKind,
    layer: int,
    num_heads: int,
    sentences: Sequence[SentenceChanges],
    like: Tensor,
) -> AttentionChanges:
    scale = torch.ones(len(sentences), num_heads, device=like.device, dtype=like.dtype)
    temperatures = torch.ones_like(scale)
    rows: list[tuple[RowOverride, ...]] = []
    for index, sentence in enumerate(sentences):
        for part, factor in sentence.factors.items():
            if isinstance(part, Head) and (part.kind, part.layer) == (kind, layer):
                scale[index, part.head] = factor
        for head, temperature in sentence.temperatures.items():
            if (head.kind, head.layer) == (kind, layer):
                temperatures[index, head.head] = temperature
        rows.append(
            tuple(
                RowOverride(
                    head.head,
                    query,
                    torch.tensor(list(weights), device=like.device, dtype=like.dtype),
                )
                for (head, query), weights in sentence.rows.items()
                if (head.kind, head.layer) == (kind, layer)
            )
        )
    return AttentionChanges(
        scale if bool((scale != 1).any()) else None,
        tuple(rows) if any(rows) else None,
        temperatures if bool((temperatures != 1).any()) else None,
    )


def _check_head(head: Head, shapes: Mapping[AttentionKind, tuple[int, int]]) -> None:
    num_layers, num_heads = shapes.get(head.kind, (0, 0))
    if head.layer not in range(num_layers) or head.head not in range(num_heads):
        listed = ", ".join(
            f"{kind} {num_layers} × {num_heads}" for kind, (num_layers, num_heads) in shapes.items()
        )
        raise AnalysisError(
            "This model has no {head}. It has, layers × heads: {shapes}. Name one of these, "
            "counted from {first}.",
            head=head,
            shapes=listed,
            first=Index(0),
        )


def _check_network(network: Network, config: ModelConfig) -> None:
    if network not in networks_of(config):
        raise AnalysisError(
            f"This model has no {{network}}. It has {config.num_encoder_layers} encoder and "
            f"{config.num_decoder_layers} decoder layers, each with one. Name one of these, "
            "counted from {first}.",
            network=network,
            first=Index(0),
        )
