"""The shapes of a model's parameters before it is built, and building it without random numbers."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import init
from torch.overrides import TorchFunctionMode

from ..config import ModelConfig
from .transformer import Transformer

MAX_TABLE_NUMBERS = 2**23
"""Maximum size of a table of sinusoidal positions, which no file holds, in numbers.

It takes 32 MiB: 16,384 positions of width 512.
"""
_STACKS = {"encoder_layers": "num_encoder_layers", "decoder_layers": "num_decoder_layers"}


class NoRandomNumbers(TorchFunctionMode):
    """Skips random initialization, because weights will be loaded.

    On "meta" it would import half of torch.
    """

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Calls every other function unchanged."""
        keywords = kwargs or {}
        if func in _DRAWING:
            return args[0] if args else keywords["tensor"]
        return func(*args, **keywords)


_DRAWING = (
    Tensor.uniform_,
    Tensor.normal_,
    init.uniform_,
    init.normal_,
    init.kaiming_uniform_,
    init.xavier_uniform_,
)


def parameter_shapes(
    config: ModelConfig, num_source_tokens: int, num_target_tokens: int
) -> dict[str, tuple[int, ...]]:
    """The shape of every parameter by its name, in the order of `Transformer.named_parameters`.

    Shared ones occur once.

    Only one layer of each stack is outlined, without memory: the others have the same shapes.

    Raises:
        ConfigError: all embeddings are tied, but the vocabularies differ in size.
    """
    one_layer = replace(config, num_encoder_layers=1, num_decoder_layers=1)
    shapes: dict[str, tuple[int, ...]] = {}
    layers: dict[str, dict[str, tuple[int, ...]]] = {stack: {} for stack in _STACKS}
    for name, shape in _outlined(one_layer, num_source_tokens, num_target_tokens):
        stack, _, rest = name.partition(".0.")
        if stack in _STACKS:
            layers[stack][rest] = shape
        else:
            shapes[name] = shape
    for stack, setting in _STACKS.items():
        for index in range(getattr(config, setting)):
            shapes |= {f"{stack}.{index}.{name}": shape for name, shape in layers[stack].items()}
    return shapes


# torch keeps 100 small objects for ever for each outline: a window opens many models alike
@lru_cache(maxsize=16)
def _outlined(
    config: ModelConfig, num_source_tokens: int, num_target_tokens: int
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    with NoRandomNumbers(), torch.device("meta"):
        outline = Transformer(config, num_source_tokens, num_target_tokens, padding_id=0)
    return tuple((name, tuple(parameter.shape)) for name, parameter in outline.named_parameters())


def num_table_numbers(config: ModelConfig) -> int:
    """Numbers in each of the two tables of sinusoidal positions; 0 for learned positions."""
    return 0 if config.positions == "learned" else config.max_positions * config.width
