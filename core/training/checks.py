"""Checks before a training: it fits into memory, and the corpus fits the settings."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from augenmerk.core.config import ModelConfig, RunConfig
from augenmerk.core.corpora.prepared import PreparedCorpus
from augenmerk.core.errors import ConfigError, TrainingError
from augenmerk.core.memory import MemoryLimit, gigabytes, memory_limit
from augenmerk.core.model.shapes import num_table_numbers, parameter_shapes
from augenmerk.core.text.subwords import VocabularySizeError
from augenmerk.core.training.events import MisfitError, Proposal

_MARKS = 2
"""Start and end token of a sentence, which `DataConfig.max_length` does not count."""
_BYTES_OF_NUMBER = 4
_COPIES_IN_TRAINING = 4
"""Weights, gradients, and Adam's two averages."""
MIN_ADDRESS_SPACE = 600_000_000
"""Bytes for libraries, threads, a corpus and a first step, in addition to the model: 400 to 600 MB were measured."""
_FEWEST_TOKENS = 5
"""The smallest vocabulary: four special tokens and a word."""


@dataclass(frozen=True)
class _Misfit:
    """A setting that does not fit the corpus.

    Attributes:
        problem: one sentence.
        name: of the setting, dotted.
        value: one that fits.
        words: the value in words.
    """

    problem: str
    name: str
    value: int
    words: str


def check_corpus_fits(
    run: RunConfig, corpus: PreparedCorpus, vocabulary: VocabularySizeError | None = None, *, resume: bool = False
) -> None:
    """Check that the vocabulary can be learned, that every sentence fits the model's positions, and one batch.

    Args:
        run: all settings.
        corpus: the training data; if its vocabulary could not be learned, with one of a size that fits.
        vocabulary: the reason in this case.
        resume: whether a run is continued, whose settings are fixed.

    Raises:
        MisfitError: it does not fit; all misfits are named, with settings that fit.
        ConfigError: a split is empty, or all its sentences are too long.
    """
    for split, pairs in (("training", corpus.train), ("validation", corpus.validation)):
        if not len(pairs):
            raise ConfigError(
                f"{corpus.name} has no {split} pairs. Both splits are required: use a corpus that has both, or files "
                f"{'train' if split == 'training' else 'val'}.{run.data.source_language} and "
                f".{run.data.target_language} in one folder."
            )
    misfits = list(_misfits(run, corpus))
    if vocabulary is not None:
        fitting = vocabulary.fitting
        misfits.insert(0, _Misfit(vocabulary.problem, "data.num_subwords", fitting, f"{fitting:,} subwords"))
    if not misfits:
        return
    settings = {misfit.name: misfit.value for misfit in misfits}
    problems = " ".join(dict.fromkeys(misfit.problem for misfit in misfits))
    if resume:
        raise MisfitError(f"{problems} Resume with the original data, or start a new run in another folder.")
    *first, last = dict.fromkeys(misfit.words for misfit in misfits)
    words = f"{', '.join(first)} and {last}" if first else last
    options = " ".join(f"--set {name}={value}" for name, value in settings.items())
    raise MisfitError(f"{problems} Use {words}: {options}", Proposal(words, settings=settings))


def _misfits(run: RunConfig, corpus: PreparedCorpus) -> Iterator[_Misfit]:
    positions, pad_to = run.model.max_positions, run.training.pad_to
    if pad_to is not None and pad_to > positions:
        problem = f"pad_to is {pad_to} tokens, but the model has only {positions} positions."
        yield _Misfit(problem, "training.pad_to", positions, f"sequences padded to {positions} tokens")
    train = corpus.train
    if run.is_copy_task:
        if (length := run.data.copy_length) > positions:
            problem = f"The sequences of the copy task have {length} symbols, but the model has {positions} positions."
            yield _Misfit(problem, "data.copy_length", positions, f"sequences of {positions} symbols")
    else:
        yield from _long_sentences(corpus, positions)
        train = train.take(train.within(positions, positions))
    size, is_pairs = run.training.batch_size, run.training.batch_unit == "sentences"
    if is_pairs:
        available = len(train)
    else:  # as `core.text.legacy.iterator_batches` counts
        sides = (train.source, 0), (train.target, 2)
        available = max(len(side) * (max(map(len, side)) + extra) for side, extra in sides)
    if size > available:
        unit, fitting = "sentence pairs" if is_pairs else "tokens", max(1, available // 10)
        problem = f"batch_size is {size:,} {unit}, but the training split of {corpus.name} has only {available:,}."
        yield _Misfit(problem, "training.batch_size", fitting, f"batches of {fitting:,} {unit}")


def _long_sentences(corpus: PreparedCorpus, positions: int) -> Iterator[_Misfit]:
    """A misfit for each split with a sentence longer than the model has positions. Raises `ConfigError` if all are."""
    limit = max(1, positions - _MARKS)
    for split, pairs in (("training", corpus.train), ("validation", corpus.validation)):
        lengths = [max(len(source), len(target)) for source, target in zip(pairs.source, pairs.target, strict=True)]
        longest = max(range(len(lengths)), key=lengths.__getitem__)
        num_long = sum(length > positions for length in lengths)
        if not num_long:
            continue
        which = f"Pair {longest + 1:,} of the {split} split"
        if pairs.lines:
            is_held_out = split == "validation" and corpus.left_out.held_out
            text = "training text, held out for validation," if is_held_out else f"{split} text"
            which = f"Line {pairs.lines[longest]:,} of the {text}"
        problem = f"{which} has {lengths[longest]:,} tokens, but the model has {positions:,} positions"
        if num_long == len(pairs):
            raise ConfigError(
                f"{problem}, and every {split} pair is longer. Use shorter sentences, or a model with more positions "
                f"(model.max_positions={lengths[longest]})."
            )
        others = f" ({num_long:,} of {len(pairs):,} pairs are too long)" if num_long > 1 else ""
        yield _Misfit(f"{problem}{others}.", "data.max_length", limit, f"sentences of at most {limit:,} tokens")


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
