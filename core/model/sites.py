"""Named values inside the model, read by hooks during one pass. Shape legend: `core.model`.

A site names a place in the model and a value there, such as "decoder.1.cross_attention.query";
layers count from 0. Every tensor lies on the way to the logits, so gradients reach it. The user's
own hooks take effect.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from ..errors import AnalysisError
from ..short_repr import ShortRepr
from .attention import MultiHeadAttention
from .heads import SIDES, AttentionKind, Side
from .interventions import NO_INTERVENTIONS, Interventions
from .layers import Residual
from .non_finite import require_finite
from .transformer import Transformer

Sublayer = Literal["self_attention", "cross_attention", "feed_forward"]
SUBLAYERS: Mapping[Side, Mapping[Sublayer, str]] = {
    "encoder": {"self_attention": "attention_residual", "feed_forward": "feed_forward_residual"},
    "decoder": {
        "self_attention": "self_residual",
        "cross_attention": "cross_residual",
        "feed_forward": "feed_forward_residual",
    },
}
"""Names of the modules of a layer's sublayers, in order, each with its residual connection."""
STEPS = ("query", "key", "value", "score", "head_output")
"""Values inside an attention module that hooks of its own do not see."""
ATTENTION_VALUES = ("query", "key", "value", "score", "weight", "joined", "head_output")
ReadValue = Callable[[tuple[Any, ...], Any], Tensor]
"""Picks a value from the inputs and the output of a module."""


def sites_of(model: Transformer) -> tuple[str, ...]:
    """The names of all sites of a model; docs/python.md explains them."""
    return tuple(_places(model))


@dataclass(frozen=True, eq=False)
class PairPass(ShortRepr):
    """One pass of a model over a sentence pair, by teacher forcing.

    Not thread-safe with other uses of the model.

    Attributes:
        model: in evaluation mode.
        source_ids: S ids, without padding.
        read_ids: the T ids that the decoder reads, the start token first.
        interventions: for one sentence.
    """

    model: Transformer
    source_ids: Sequence[int]
    read_ids: Sequence[int]
    interventions: Interventions = NO_INTERVENTIONS


def trace_sites(pair: PairPass, sites: Iterable[str]) -> dict[str, Tensor]:
    """The values at these sites, each with a leading dimension of 1, the batch.

    Sites are names from `sites_of`. Gradients are recorded unless the caller has disabled them.

    Raises:
        AnalysisError: the model has no such site.
        NonFiniteError: the logits are not finite.
    """
    model = pair.model
    sites = tuple(sites)
    values: dict[str, Tensor] = {}
    places = _places(model)
    check_sites(model, sites)
    sites_inside: dict[nn.Module, dict[str, str]] = {}
    with ExitStack() as hooks:
        for site in sites:
            module, read = places[site]
            if read is None:
                sites_inside.setdefault(module, {})[site.rpartition(".")[2]] = site
            else:
                hooks.callback(_keep(module, read, site, values).remove)
        for module, names in sites_inside.items():
            hooks.enter_context(_reading_inside(module, names, values))
        device = model.output.weight.device
        source, read_ids = (
            torch.tensor([ids], device=device) for ids in (pair.source_ids, pair.read_ids)
        )
        need_maps = any(site.endswith(".weight") for site in sites)
        encoding = model.encode(source, need_maps=need_maps, interventions=pair.interventions)
        logits = model.decode(encoding, read_ids, need_maps=need_maps).logits
    require_finite(model, encoding, read_ids, logits)
    unread = next((site for site in sites if site not in values), None)
    if unread is not None:
        raise AnalysisError(
            f"The pass did not reach {unread}, because a module of this model was replaced by "
            "one that computes in its own way. Choose another site, or put the module back."
        )
    return {site: values[site] for site in sites}


def check_sites(model: Transformer, sites: Iterable[str]) -> None:
    """Raises `AnalysisError`, which explains the names, for a site that the model lacks."""
    known = sites_of(model)
    for site in sites:
        if site not in known:
            raise AnalysisError(
                f"This model has no site “{site}”. Choose encoder.embedding, encoder.output, "
                "decoder.embedding, decoder.output, logits, or SIDE.LAYER.SUBLAYER.VALUE, such "
                "as decoder.0.cross_attention.query. Layers are 0 to "
                f"{len(model.encoder_layers) - 1} in the encoder and 0 to "
                f"{len(model.decoder_layers) - 1} in the decoder. Sublayers are self_attention, "
                "cross_attention (decoder) and feed_forward. Values are before, input, output "
                f"and after, and for attention {', '.join(ATTENTION_VALUES)} and (of "
                "cross-attention) memory."
            )


def sublayers_of(model: Transformer) -> Iterator[tuple[str, nn.Module, Residual]]:
    """Each sublayer with the beginning of its sites and its residual connection, in order."""
    for side, index, layer in _layers_of(model):
        for name, residual in SUBLAYERS[side].items():
            yield f"{side}.{index}.{name}", getattr(layer, name), getattr(layer, residual)


def attentions_of(model: Transformer) -> dict[AttentionKind, list[MultiHeadAttention]]:
    """The attention modules of each kind, layer by layer."""
    return {
        "encoder": [layer.self_attention for layer in model.encoder_layers],  # type: ignore[misc]
        "decoder": [layer.self_attention for layer in model.decoder_layers],  # type: ignore[misc]
        "cross": [layer.cross_attention for layer in model.decoder_layers],  # type: ignore[misc]
    }


def _layers_of(model: Transformer) -> Iterator[tuple[Side, int, nn.Module]]:
    for side in SIDES:
        for index, layer in enumerate(
            model.encoder_layers if side == "encoder" else model.decoder_layers
        ):
            yield side, index, layer


def _places(model: Transformer) -> dict[str, tuple[nn.Module, ReadValue | None]]:
    """The module of each site, and how to read its value; None for a step of attention."""
    places: dict[str, tuple[nn.Module, ReadValue | None]] = {
        "encoder.embedding": (model.source_embedding, _output),
        "decoder.embedding": (model.target_embedding, _output),
    }
    for name, sublayer, residual in sublayers_of(model):
        places[f"{name}.before"] = residual, _first_input
        places[f"{name}.input"] = sublayer, _first_input
        if isinstance(sublayer, MultiHeadAttention):
            places |= {f"{name}.{value}": (sublayer, None) for value in STEPS}
            places[f"{name}.weight"] = sublayer, lambda _, output: output[1]
            places[f"{name}.joined"] = sublayer.out_proj, _first_input
        if name.endswith("cross_attention"):
            places[f"{name}.memory"] = sublayer, _second_input
        places[f"{name}.output"] = residual, _second_input
        places[f"{name}.after"] = residual, _output
    # a hook may change what a layer's last sublayer leaves
    for side, index, layer in _layers_of(model):
        places[f"{side}.{index}.feed_forward.after"] = layer, lambda _, output: output[0]
    return {
        **places,
        "encoder.output": (model.encoder_norm, _output),
        "decoder.output": (model.decoder_norm, _output),
        "logits": (model, lambda _, output: output.logits),
    }


def _first_input(inputs: tuple[Any, ...], output: Any) -> Tensor:
    value: Tensor = inputs[0]
    return value


def _second_input(inputs: tuple[Any, ...], output: Any) -> Tensor:
    value: Tensor = inputs[1]
    return value


def _output(inputs: tuple[Any, ...], output: Any) -> Tensor:
    value: Tensor = output
    return value


def _keep(
    module: nn.Module, read: ReadValue, site: str, values: dict[str, Tensor]
) -> RemovableHandle:
    def keep(_module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        values[site] = read(inputs, output)

    return module.register_forward_hook(keep)


@contextmanager
def _reading_inside(
    module: nn.Module, sites: Mapping[str, str], values: dict[str, Tensor]
) -> Iterator[None]:
    """A context in which an attention module puts the `STEPS` named by `sites` into `values`.

    If the heads' outputs are among them, the output of its projection is their sum.
    """
    assert isinstance(module, MultiHeadAttention)

    def keep(name: str, value: Tensor) -> Tensor:
        if name in sites:
            values[sites[name]] = value
        return value

    def sum_heads(projection: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> Tensor:
        assert isinstance(projection, nn.Linear)
        if "head_output" not in sites:
            return output
        by_head = inputs[0].unflatten(2, (module.num_heads, -1)).transpose(1, 2)  # [1, H, Q, K]
        outputs = by_head @ module.mixing  # [1, H, Q, D]
        return keep("head_output", outputs).sum(dim=1) + projection.bias

    module.keep = keep
    handle = module.out_proj.register_forward_hook(sum_heads, prepend=True)
    try:
        yield
    finally:
        module.keep = None
        handle.remove()
