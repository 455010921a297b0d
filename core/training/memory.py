"""Whether a model can be trained in the memory there is, asked before it is built."""

import math

import torch

from augenmerk.core.config import ModelConfig
from augenmerk.core.errors import ConfigError, TrainingError
from augenmerk.core.memory import MemoryLimit, gigabytes, memory_limit
from augenmerk.core.model.outline import num_table_numbers, parameter_shapes

_BYTES_OF_NUMBER = 4
_COPIES_IN_TRAINING = 4
"""Weights, gradients, and Adam's two averages."""
MIN_ADDRESS_SPACE = 600_000_000
"""What libraries, threads, a corpus and a first step take beside the model: 400 to 600 MB where it was measured."""
_FEWEST_TOKENS = 5
"""Of any vocabulary: four special tokens and a word."""


def check_memory_for_training(
    config: ModelConfig, device: str, num_source_tokens: int = _FEWEST_TOKENS, num_target_tokens: int = _FEWEST_TOKENS
) -> None:
    """Refuses a model whose weights, gradients and optimiser alone are larger than the memory.

    Args:
        config: its shape.
        device: where it will be trained.
        num_source_tokens, num_target_tokens: of the vocabularies; left out, the smallest there can be.

    Raises:
        ConfigError: it cannot fit.
    """
    if config.tied_embeddings == "all":
        num_source_tokens = num_target_tokens
    shapes = parameter_shapes(config, num_source_tokens, num_target_tokens)
    num_parameters = sum(math.prod(shape) for shape in shapes.values())
    tables = 2 * num_table_numbers(config)
    on_cpu = not device.startswith("cuda")
    copies = _COPIES_IN_TRAINING if on_cpu else 1  # elsewhere the model is built here and moved
    needed = _BYTES_OF_NUMBER * (copies * num_parameters + 2 * tables)  # a table is computed in as much memory again
    _require(needed, num_parameters, config, memory_limit())
    if not on_cpu:
        needed = _BYTES_OF_NUMBER * (_COPIES_IN_TRAINING * num_parameters + tables)
        size = torch.cuda.get_device_properties(device).total_memory
        _require(needed, num_parameters, config, MemoryLimit(size, f"{device} has {gigabytes(size)}"))


def check_address_space() -> None:
    """Refuses to begin where the process may take so little memory that libraries would end it without a word.

    Raises:
        TrainingError: the limit is too low.
    """
    limit = memory_limit()
    if limit is not None and limit.num_bytes < MIN_ADDRESS_SPACE:
        raise TrainingError(
            f"There is not enough memory to train: {limit.reason}. At least {gigabytes(MIN_ADDRESS_SPACE)} were "
            "expected, beside what the program has taken already; raise the limit (ulimit -v unlimited)."
        )


def _require(needed: int, num_parameters: int, config: ModelConfig, limit: MemoryLimit | None) -> None:
    if limit is None or needed <= limit.num_bytes:
        return
    layers = f"{config.num_encoder_layers} + {config.num_decoder_layers} layers"
    raise ConfigError(
        f"The model cannot be trained here: with {layers} of width {config.width:,} (inner "
        f"{config.feed_forward_width:,}) and {config.max_positions:,} positions it has {num_parameters:,} parameters, "
        f"which take {gigabytes(needed)} with gradients and the optimiser's averages, but {limit.reason}. A model that "
        "fits was expected; lower one of these settings."
    )
