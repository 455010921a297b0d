"""Checks before a training: it fits into memory, and the corpus fits the settings."""

import math
from collections.abc import Iterator, Sequence

import torch

from ...config import ModelConfig, RunConfig
from ...errors import ConfigError, Misfit, TrainingError
from ...model.shapes import num_table_numbers, parameter_shapes
from ...quantities import counted
from ..memory_limits import MemoryLimit, gigabytes, memory_limit
from ..run_settings.dotted import with_dotted
from .corpora.prepared import EncodedPairs, PreparedCorpus, within_length
from .events import MisfitError, Proposal
from .session import ORIGINAL_DATA

_MARKS = 2
"""Start and end token of a sentence, which `DataConfig.max_length` does not count."""
_BATCH_SIZE = "training.batch_size"
_BYTES_OF_NUMBER = 4
_COPIES_IN_TRAINING = 4
"""Weights, gradients, and Adam's two averages."""
MIN_ADDRESS_SPACE = 600_000_000
"""Bytes for libraries, threads, a corpus and a first step, in addition to the model: 400 to 600 MB
were measured."""
_FEWEST_TOKENS = 5
"""The smallest vocabulary: four special tokens and a word."""


def check_corpus_fits(
    run: RunConfig,
    corpus: PreparedCorpus,
    misfits: Sequence[Misfit] = (),
    *,
    resume: bool = False,
    keeps_model: bool = False,
    problem: str = "",
) -> None:
    """Check that every sentence fits the model's positions, and the corpus at least one batch.

    Args:
        run: all settings, with values that fit instead of those of `misfits`.
        corpus: the training data.
        misfits: settings with which it could not be prepared.
        resume: whether a run is continued, whose settings are fixed.
        keeps_model: whether a model is trained further, whose architecture is fixed.
        problem: the beginning of the message for such a run, if the data are not its own.

    Raises:
        MisfitError: it does not fit; all misfits are named, with settings that fit.
        ConfigError: a split is empty, or all its sentences are longer than a model whose
            architecture is fixed allows.
    """
    for split, pairs in (("training", corpus.train), ("validation", corpus.validation)):
        if not len(pairs):
            raise ConfigError(
                f"{corpus.name} has no {split} pairs. Both splits are required: use a corpus "
                "that has both, or files "
                f"{'train' if split == 'training' else 'val'}.{run.data.source_language} and "
                f".{run.data.target_language} in one folder."
            )
    misfits = [*misfits, *_misfits(run, corpus, keeps_model=keeps_model)]
    if not misfits:
        return
    problems = " ".join(dict.fromkeys(misfit.problem for misfit in misfits))
    if resume:
        raise MisfitError(f"{problem and f'{problem}. '}{problems} {ORIGINAL_DATA}")
    # the last value of a setting fits all of its misfits
    by_setting = {misfit.name: misfit for misfit in misfits}
    *first, last = (misfit.words for misfit in by_setting.values())
    words = f"{', '.join(first)} and {last}" if first else last
    options = " ".join(f"--set {name}={misfit.value}" for name, misfit in by_setting.items())
    settings = {name: misfit.value for name, misfit in by_setting.items()}
    raise MisfitError(f"{problems} Use {words}: {options}", Proposal(words, settings=settings))


def with_fitting_batches(run: RunConfig, corpus: PreparedCorpus) -> RunConfig:
    """The run with batches that fit the corpus, for a batch size that nobody has chosen."""
    sizes = [
        misfit.value
        for misfit in _misfits(run, corpus, keeps_model=True)
        if misfit.name == _BATCH_SIZE
    ]
    return run.with_training(batch_size=sizes[0]) if sizes else run


def _misfits(run: RunConfig, corpus: PreparedCorpus, *, keeps_model: bool) -> Iterator[Misfit]:
    train = corpus.train
    if run.is_copy_task:
        positions = run.model.max_positions
        if (length := run.data.copy_length) > positions:
            problem = (
                f"The sequences of the copy task have {counted(length, 'symbol')}, but the model "
                f"has {counted(positions, 'position')}."
            )
            yield Misfit(
                problem,
                "data.copy_length",
                positions,
                f"sequences of {counted(positions, 'symbol')}",
            )
    else:
        for misfit in _long_sentences(run, corpus, keeps_model=keeps_model):
            yield misfit
            run = with_dotted(run, [f"{misfit.name}={misfit.value}"])
        train = train.take(within_length(train, run.data))
    pad_to = run.training.pad_to
    positions = run.model.max_positions
    if pad_to is not None and pad_to > positions:
        problem = (
            f"pad_to is {counted(pad_to, 'token')}, but the model has only "
            f"{counted(positions, 'position')}."
        )
        yield Misfit(
            problem,
            "training.pad_to",
            positions,
            f"sequences padded to {counted(positions, 'token')}",
        )
    size = run.training.batch_size
    is_pairs = run.training.batch_unit == "sentences"
    if is_pairs:
        available = len(train)
    else:  # as `legacy.iterator_batches` counts
        sides = (train.source, 0), (train.target, 2)
        available = max(len(side) * (max(map(len, side)) + extra) for side, extra in sides)
    if size > available:
        unit = "sentence pair" if is_pairs else "token"
        fitting = max(1, available // 10)
        problem = (
            f"batch_size is {counted(size, unit)}, but the training split of {corpus.name} has "
            f"only {available:,}."
        )
        yield Misfit(problem, _BATCH_SIZE, fitting, f"batches of {counted(fitting, unit)}")


def _long_sentences(
    run: RunConfig, corpus: PreparedCorpus, *, keeps_model: bool
) -> Iterator[Misfit]:
    """Misfits of sentences that are longer than the model has positions: more positions if no pair
    would be left.

    Raises `ConfigError` if the model cannot have more.
    """
    splits = {"training": corpus.train, "validation": corpus.validation}
    positions = run.model.max_positions
    for split, pairs in splits.items():
        if _num_long(pairs, positions) and not within_length(
            pairs, run.data.replace(max_length=_limit(positions))
        ):
            positions = max(positions, *map(len, pairs.source), *map(len, pairs.target))
            problem = f"{_longest(run, corpus, split)}, and every {split} pair is longer."
            if keeps_model:
                raise ConfigError(
                    f"{problem} Use shorter sentences, or another model, which has more positions."
                )
            yield Misfit(
                problem,
                "model.max_positions",
                positions,
                f"a model with {counted(positions, 'position')}",
            )
    limit = _limit(positions)
    for split, pairs in splits.items():
        if _num_long(pairs, positions):
            num_long = _num_long(pairs, run.model.max_positions)
            others = f" ({num_long:,} of {len(pairs):,} pairs are too long)" if num_long > 1 else ""
            problem = f"{_longest(run, corpus, split)}{others}."
            yield Misfit(
                problem, "data.max_length", limit, f"sentences of at most {counted(limit, 'token')}"
            )


def _limit(positions: int) -> int:
    return max(1, positions - _MARKS)


def _num_long(pairs: EncodedPairs, positions: int) -> int:
    return len(pairs) - len(pairs.within(positions, positions))


def _longest(run: RunConfig, corpus: PreparedCorpus, split: str) -> str:
    """“Line 57 of the training text has 675 tokens, but the model has 256 positions”."""
    pairs = corpus.train if split == "training" else corpus.validation
    lengths = [
        max(len(source), len(target))
        for source, target in zip(pairs.source, pairs.target, strict=True)
    ]
    longest = max(range(len(lengths)), key=lengths.__getitem__)
    which = f"Pair {longest + 1:,} of the {split} split"
    if pairs.lines:
        is_held_out = split == "validation" and corpus.left_out.held_out
        text = "training text, held out for validation," if is_held_out else f"{split} text"
        which = f"Line {pairs.lines[longest]:,} of the {text}"
    has, room = counted(lengths[longest], "token"), counted(run.model.max_positions, "position")
    return f"{which} has {has}, but the model has {room}"


def check_memory_for_training(
    config: ModelConfig,
    device: str,
    num_source_tokens: int = _FEWEST_TOKENS,
    num_target_tokens: int = _FEWEST_TOKENS,
) -> None:
    """Refuses a model whose weights, gradients and optimizer alone are larger than the memory.

    Args:
        config: its shape.
        device: the device for the training.
        num_source_tokens, num_target_tokens: of the vocabularies; left out, the smallest there can
            be.

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
    # a table is computed in as much memory again
    needed = _BYTES_OF_NUMBER * (copies * num_parameters + 2 * tables)
    limits = [(needed, memory_limit())]
    if not on_cpu:
        size = torch.cuda.get_device_properties(device).total_memory
        needed = _BYTES_OF_NUMBER * (_COPIES_IN_TRAINING * num_parameters + tables)
        limits.append((needed, MemoryLimit(size, f"{device} has {gigabytes(size)}")))
    for needed, limit in limits:
        if limit is not None and needed > limit.num_bytes:
            layers = f"{config.num_encoder_layers} + {config.num_decoder_layers} layers"
            raise ConfigError(
                f"The model cannot be trained here: with {layers} of width {config.width:,} "
                f"(inner {config.feed_forward_width:,}) and {config.max_positions:,} positions "
                f"it has {num_parameters:,} parameters, which take {gigabytes(needed)} with "
                f"gradients and the optimizer's averages, but {limit.reason}. Lower one of these "
                "settings."
            )


def check_address_space() -> None:
    """Refuses to start if the process has so little memory that libraries would crash it without a
    message.

    Raises:
        TrainingError: the limit is too low.
    """
    limit = memory_limit()
    if limit is not None and limit.num_bytes < MIN_ADDRESS_SPACE:
        raise TrainingError(
            f"There is not enough memory to train: {limit.reason}. Training needs another "
            f"{gigabytes(MIN_ADDRESS_SPACE)} at least; raise the limit (ulimit -v unlimited)."
        )
