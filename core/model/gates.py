"""Switching heads off for a while, without a copy of the model.

The head's output is multiplied by 0 before the output projection mixes it with the others (Michel et al. 2019, "Are
Sixteen Heads Really Better than One?", equation 2): the same as deleting its columns there. Shape legend: `core.model`.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import torch

from core.errors import AnalysisError
from core.model.attention import MultiHeadAttention
from core.model.heads import AttentionKind, Head
from core.model.transformer import Transformer


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


@contextmanager
def heads_off(model: Transformer, heads: Collection[Head]) -> Iterator[None]:
    """Inside the block these heads give nothing to their layers; afterwards everything is as before.

    Blocks can be nested: what is off outside stays off inside. With no heads at all nothing is touched. Not
    while another thread uses the model: it would miss these heads too.

    Args:
        model: changed inside the block, its parameters never.
        heads: any number, all of a layer too (the path around the attention remains).

    Raises:
        AnalysisError: the model has no such head.
    """
    modules = attentions_of(model)
    for head in heads:
        _check(head, modules)
    touched = {modules[head.kind][head.layer] for head in heads}
    before = {module: module.gate for module in touched}
    try:
        for module in touched:
            gate = module.gate
            module.gate = (
                torch.ones_like(module.out_proj.bias[: module.num_heads].detach()) if gate is None else gate.clone()
            )
        for head in heads:
            gate = modules[head.kind][head.layer].gate
            assert gate is not None
            gate[head.head] = 0
        yield
    finally:
        for module, gate in before.items():
            module.gate = gate


def _check(head: Head, modules: dict[AttentionKind, list[MultiHeadAttention]]) -> None:
    layers = modules.get(head.kind, [])
    if head.layer not in range(len(layers)) or head.head not in range(layers[head.layer].num_heads):
        shapes = ", ".join(f"{kind} {len(found)} × {found[0].num_heads}" for kind, found in modules.items())
        raise AnalysisError(
            f"This model has no {head}. It has, layers × heads: {shapes}. Name one of these, counted from 1."
        )
