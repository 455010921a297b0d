"""Reading queries, keys, values and weights out of a model, by hooks that last for one pass.

The model itself knows nothing of it, and translating costs what it did before. Shape legend: `core.analysis`.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from core.analysis.trace import HeadTrace, Trace
from core.model.attention import AttentionChanges, MultiHeadAttention
from core.model.finite import require_finite
from core.model.interventions import attentions_of
from core.model.transformer import Interventions, Transformer
from core.translation.compilation import interventions_of
from core.translation.result import Translation, read_only
from core.translation.translator import Translator


def trace_translation(translator: Translator, translation: Translation) -> Trace:
    """What went on inside every head of `translator` while this pair was read. One more pass over the pair.

    Heads and rows are changed as the translation's experiment says. The translation may come from another model with
    the same vocabularies: it is then read as a given one. Not for a model that another thread is using.

    Raises:
        AnalysisError: the experiment changes a head that this model has not.
    """
    interventions = interventions_of(translator.model, translation.experiment)
    return trace_pair(translator.model, translation.source_ids, translation.read_ids, interventions)


@torch.inference_mode()
def trace_pair(
    model: Transformer,
    source_ids: Sequence[int],
    read_ids: Sequence[int],
    interventions: Interventions | None = None,
) -> Trace:
    """The same for ids: S of the source, and T that the decoder reads, the start token first.

    Args:
        model: in evaluation mode.
        source_ids, read_ids: without padding.
        interventions: for one sentence.
    """
    attentions = attentions_of(model)
    caught: dict[nn.Module, HeadTrace] = {}

    def catch(
        module: nn.Module,
        inputs: tuple[Tensor, Tensor | None, Tensor | None],
        options: Mapping[str, Any],
        output: tuple[Tensor, Tensor],
    ) -> None:
        assert isinstance(module, MultiHeadAttention)
        caught[module] = _head_trace(module, inputs[0], inputs[1], output[1], options["changes"])

    with ExitStack() as hooks:
        for module in (module for layers in attentions.values() for module in layers):
            hooks.callback(module.register_forward_hook(catch, with_kwargs=True).remove)
        device = model.output.weight.device
        source, read = torch.tensor([source_ids], device=device), torch.tensor([read_ids], device=device)
        encoding = model.encode(source, need_maps=True, interventions=interventions)
        logits = model.decode(encoding, read, need_maps=True).logits
    require_finite(model, encoding, read, logits)
    stacked = {kind: _stack([caught[module] for module in layers]) for kind, layers in attentions.items()}
    return Trace(**stacked, lifts_mask=interventions is not None and interventions.lifts_mask is not None)


def _head_trace(
    module: MultiHeadAttention,
    states: Tensor,
    memory: Tensor | None,
    maps: Tensor,
    changes: AttentionChanges | None,
) -> HeadTrace:
    """One layer: arrays without the leading L."""
    weight, bias = module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3)

    def heads(part: int, of: Tensor) -> Tensor:
        return functional.linear(of[0], weight[part], bias[part]).unflatten(1, (module.num_heads, -1)).transpose(0, 1)

    read = states if memory is None else memory
    values = heads(2, read)
    if changes is not None:
        values = changes.scaled(values[None])[0]
    mixing = module.out_proj.weight.t().unflatten(0, (module.num_heads, -1))
    temperatures = torch.ones(module.num_heads, device=states.device)
    if changes is not None and changes.temperatures is not None:
        temperatures = changes.temperatures[0]
    arrays = (heads(0, states), heads(1, read), values, mixing, maps[0], temperatures)
    return HeadTrace(*(array.float().cpu().numpy() for array in arrays))  # made read-only when stacked


def _stack(layers: Sequence[HeadTrace]) -> HeadTrace:
    return HeadTrace(
        *(read_only(np.stack([getattr(layer, name) for layer in layers])) for name in HeadTrace.__annotations__)
    )
