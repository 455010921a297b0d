"""Checks before a training: it fits into memory, and the corpus fits the settings."""

import math

import torch

from augenmerk.core.config import ModelConfig, RunConfig
from augenmerk.core.corpora.prepared import PreparedCorpus
from augenmerk.core.errors import ConfigError, TrainingError
from augenmerk.core.memory import MemoryLimit, gigabytes, memory_limit
from augenmerk.core.model.transformer import num_table_numbers, parameter_shapes

_BYTES_OF_NUMBER = 4
_COPIES_IN_TRAINING = 4
"""Weights, gradients, and Adam's two averages."""
MIN_ADDRESS_SPACE = 600_000_000
"""Bytes for libraries, threads, a corpus and a first step, in addition to the model: 400 to 600 MB were measured."""
_FEWEST_TOKENS = 5
"""The smallest vocabulary: four special tokens and a word."""


def check_corpus_fits(run: RunConfig, corpus: PreparedCorpus) -> None:
    """Raises `ConfigError` unless every sentence fits the model's positions, and the corpus fills a batch."""
    positions = run.model.max_positions
    if run.training.pad_to is not None and run.training.pad_to > positions:
        raise ConfigError(
            f"pad_to is {run.training.pad_to} tokens, but the model has only {positions} positions. Lower pad_to, or "
            "raise max_positions."
        )
    for split, pairs in (("training", corpus.train), ("validation", corpus.validation)):
        if not len(pairs):
            raise ConfigError(
                f"{corpus.name} has no {split} pairs. Both splits are required: use a corpus that has both, or files "
                f"{'train' if split == 'training' else 'val'}.{run.data.source_language} and "
                f".{run.data.target_language} in one folder."
            )
        longest = max(map(len, [*pairs.source, *pairs.target]))
        if longest > positions:
            raise ConfigError(
                f"The longest {split} sentence of {corpus.name} has {longest} tokens, but the model has {positions} "
                "positions. Remove the sentence from the corpus, or choose a preset with more positions "
                "(max_positions)."
            )
    _check_batch(run, corpus)


def _check_batch(run: RunConfig, corpus: PreparedCorpus) -> None:
    """Raises `ConfigError` if one batch would hold more than the corpus."""
    size = run.training.batch_size
    if run.training.batch_unit == "sentences":
        available = len(corpus.train)
    else:  # as `core.text.legacy.iterator_batches` counts
        sides = (corpus.train.source, 0), (corpus.train.target, 2)
        available = max(len(side) * (max(map(len, side)) + extra) for side, extra in sides)
    if size > available:
        unit = "sentence pairs" if run.training.batch_unit == "sentences" else "tokens"
        raise ConfigError(
            f"training: batch_size is {size:,} {unit}, but the training split of {corpus.name} has only {available:,}. "
            f"Set batch_size to about {max(1, available // 10):,}, or use a larger corpus."
        )


def check_memory_for_training(
    config: ModelConfig, device: str, num_source_tokens: int = _FEWEST_TOKENS, num_target_tokens: int = _FEWEST_TOKENS
) -> None:
    """Refuses a model whose weights, gradients and optimizer alone are larger than the memory.

    Args:
        config: its shape.
        device: the device for the training.
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
    limits = [(needed, memory_limit())]
    if not on_cpu:
        size = torch.cuda.get_device_properties(device).total_memory
        needed = _BYTES_OF_NUMBER * (_COPIES_IN_TRAINING * num_parameters + tables)
        limits.append((needed, MemoryLimit(size, f"{device} has {gigabytes(size)}")))
    for needed, limit in limits:
        if limit is not None and needed > limit.num_bytes:
            layers = f"{config.num_encoder_layers} + {config.num_decoder_layers} layers"
            raise ConfigError(
                f"The model cannot be trained here: with {layers} of width {config.width:,} (inner "
                f"{config.feed_forward_width:,}) and {config.max_positions:,} positions it has {num_parameters:,} "
                f"parameters, which take {gigabytes(needed)} with gradients and the optimizer's averages, but "
                f"{limit.reason}. Lower one of these settings."
            )


def check_address_space() -> None:
    """Refuses to start if the process has so little memory that libraries would crash it without a message.

    Raises:
        TrainingError: the limit is too low.
    """
    limit = memory_limit()
    if limit is not None and limit.num_bytes < MIN_ADDRESS_SPACE:
        raise TrainingError(
            f"There is not enough memory to train: {limit.reason}. Training needs another "
            f"{gigabytes(MIN_ADDRESS_SPACE)} at least; raise the limit (ulimit -v unlimited)."
        )
