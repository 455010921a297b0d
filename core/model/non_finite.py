"""Whether numbers are finite, and the search for the layer where they overflow."""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from ..counting import Index
from ..errors import NonFiniteError
from .outputs import Encoding
from .transformer import Transformer

_PARTS = {
    "self_attention": "self-attention",
    "cross_attention": "cross-attention",
    "feed_forward": "feed-forward network",
    "attention_residual": "norm of the self-attention",
    "self_residual": "norm of the self-attention",
    "cross_residual": "norm of the cross-attention",
    "feed_forward_residual": "norm of the feed-forward network",
}


def is_finite(values: Tensor) -> bool:
    """Whether no value is NaN or infinite.

    Compares the extremes, in a thirtieth of the time of `isfinite`.
    """
    return not values.numel() or all(
        math.isfinite(float(edge)) for edge in torch.aminmax(values.detach())
    )


def require_finite(model: Transformer, encoding: Encoding, read: Tensor, logits: Tensor) -> None:
    """Raises `NonFiniteError` if a logit [B, T, V] after the ids [B, T] is NaN or infinite."""
    if not is_finite(logits):
        row = next(row for row, of_row in enumerate(logits) if not is_finite(of_row))
        raise non_finite(model, encoding, row, read[row].tolist())


@torch.inference_mode()
def non_finite(
    model: Transformer, encoding: Encoding, row: int, read_ids: Sequence[int]
) -> NonFiniteError:
    """The error that names the first layer whose output is not finite.

    The model runs again to find it.

    Args:
        model: in evaluation mode.
        encoding: of the sources.
        row: the sentence.
        read_ids: the ids that the decoder read, the start token first.
    """
    places: list[tuple[str, dict[str, object]]] = []

    def watch(name: str, module: nn.Module) -> Any:
        def note(module: nn.Module, inputs: Any, output: Any) -> None:
            if not places and not all(map(is_finite, _tensors(output))):
                places.append(_place(name))

        return module.register_forward_hook(note)

    with ExitStack() as hooks:
        for name, module in model.named_modules():
            if name:
                hooks.callback(watch(name, module).remove)
        one = encoding.select(torch.tensor([row], device=encoding.states.device))
        read = torch.tensor([list(read_ids)], device=encoding.states.device)
        # attention is computed in different ways, which overflow differently
        for need_maps in (True, False):
            model(one.source, read, need_maps=need_maps, interventions=one.interventions)
    location, values = places[0] if places else ("the logits", {})
    return NonFiniteError(location, **values)


def _tensors(output: Any) -> Iterator[Tensor]:
    for value in output if isinstance(output, tuple) else (output,):
        if isinstance(value, Tensor) and value.is_floating_point():
            yield value


def _place(name: str) -> tuple[str, dict[str, object]]:
    """A module's name, for people, and its values: see `NonFiniteError`."""
    match = re.match(r"(encoder|decoder)_layers\.(\d+)(?:\.(\w+))?", name)
    if match is None:
        return f"the {name.partition('.')[0].replace('_', ' ')}", {}
    stack, index, part = match.groups()
    suffix = f", {_PARTS.get(part, part.replace('_', ' '))}" if part else ""
    return f"{stack} layer {{layer}}{suffix}", {"layer": Index(index)}
