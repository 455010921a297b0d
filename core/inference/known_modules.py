"""The modules that the compiled form of a model was written for.

It reads their parameters instead of calling them, so it would not notice what another module adds.
Whoever teaches it another part of a module adds the part here.
"""

from collections.abc import Mapping

from torch import nn

from ..model.attention import MultiHeadAttention
from ..model.layers import (
    AnnotatedLayerNorm,
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    Residual,
    TokenAndPosition,
)
from ..model.transformer import Transformer

_NORMS = (nn.LayerNorm, AnnotatedLayerNorm)
_TENSOR = ()
_PARTS: Mapping[type[nn.Module], Mapping[str, tuple[type[nn.Module], ...]]] = {
    Transformer: {
        "source_embedding": (TokenAndPosition,),
        "target_embedding": (TokenAndPosition,),
        "encoder_layers": (nn.ModuleList,),
        "decoder_layers": (nn.ModuleList,),
        "encoder_norm": (*_NORMS, nn.Identity),
        "decoder_norm": (*_NORMS, nn.Identity),
        "output": (nn.Linear,),
    },
    EncoderLayer: {
        "self_attention": (MultiHeadAttention,),
        "feed_forward": (FeedForward,),
        "attention_residual": (Residual,),
        "feed_forward_residual": (Residual,),
    },
    DecoderLayer: {
        "self_attention": (MultiHeadAttention,),
        "cross_attention": (MultiHeadAttention,),
        "feed_forward": (FeedForward,),
        "self_residual": (Residual,),
        "cross_residual": (Residual,),
        "feed_forward_residual": (Residual,),
    },
    TokenAndPosition: {"tokens": (nn.Embedding,), "positions": _TENSOR, "dropout": (nn.Dropout,)},
    MultiHeadAttention: {
        "in_proj_weight": _TENSOR,
        "in_proj_bias": _TENSOR,
        "out_proj": (nn.Linear,),
    },
    FeedForward: {"expand": (nn.Linear,), "contract": (nn.Linear,), "dropout": (nn.Dropout,)},
    Residual: {"norm": _NORMS, "dropout": (nn.Dropout,)},
    AnnotatedLayerNorm: {"weight": _TENSOR, "bias": _TENSOR},
    nn.LayerNorm: {"weight": _TENSOR, "bias": _TENSOR},
    nn.Linear: {"weight": _TENSOR, "bias": _TENSOR},
    nn.Embedding: {"weight": _TENSOR},
    nn.Dropout: {},
    nn.Identity: {},
}
"""The parts of each type of module by name, with the types that a part may have."""
_SETTINGS: Mapping[type[nn.Module], tuple[str, ...]] = {
    Transformer: ("padding_id",),
    TokenAndPosition: ("scale",),
    FeedForward: ("activate",),
    nn.Embedding: ("max_norm", "norm_type"),
    MultiHeadAttention: ("num_heads", "head_width", "keep"),
    Residual: ("is_pre",),
    AnnotatedLayerNorm: ("epsilon",),
    nn.LayerNorm: ("eps", "normalized_shape"),
}
"""By the type of a module, the attributes that the compiled form reads once."""
_FORWARDS = [(kind, kind.forward) for kind in _PARTS]


def is_known(module: nn.Module) -> bool:
    """Whether the compiled form reads all parts of this module itself, known or not."""
    layers = dict.fromkeys(module._modules, (EncoderLayer, DecoderLayer))
    parts = layers if type(module) is nn.ModuleList else _PARTS.get(type(module))
    return (
        parts is not None
        and module._parameters.keys() <= parts.keys()
        and module._buffers.keys() <= {"positions"}
        and all(map(_is_plain, module._parameters.values()))
        and all(type(part) in parts.get(name, ()) for name, part in module._modules.items())
        and getattr(module, "keep", None) is None
    )


def settings_of(module: nn.Module) -> list[object]:
    """The values that decide how a module computes, besides its parameters; see `_SETTINGS`."""
    return [getattr(module, name) for name in _SETTINGS.get(type(module), ())]


def _is_plain(parameter: nn.Parameter | None) -> bool:
    """Whether PyTorch's functions treat it as any other tensor."""
    return (
        parameter is None or type(parameter).__torch_function__ is nn.Parameter.__torch_function__
    )


def are_as_written() -> bool:
    """Whether no `forward` of these types was replaced."""
    return all(kind.forward is forward for kind, forward in _FORWARDS)
