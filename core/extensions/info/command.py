"""Describe a checkpoint (settings, parameters by module, history), the size of a model, or the
origin of a picture or of numbers.
"""

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from ...cli.lines import print_note
from ...cli.options import add_checkpoint, load_translator
from ...config import ModelConfig
from ...errors import CheckpointError, ConfigError
from ...plain_text import one_line
from ...quantities import percent
from ...text.languages import language_name
from ...text.word_counts import RARE_BELOW
from ...translation.typed_text import encode_source
from ..provenance import EXPORTS, read_provenance_values
from ..run_settings.presets import PRESETS, preset
from .number_files import first_index, is_number_file, origin_of_numbers
from .origin import origin_lines
from .size import MODULES, Size, preset_vocabulary_sizes, size_rows, total

NUM_TOKENS = 20
"""Default number of source and target tokens."""

if TYPE_CHECKING:
    from ...checkpoint.history import EpochRecord
    from ...model.transformer import Transformer
    from ...text.word_counts import WordCounts
    from ...translation.translator import Translator


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `info`."""
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="the same as --checkpoint; or a picture, film, page or numbers by Augenmerk, to "
        "print which model, experiment or training they show",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the origin of a picture, film, page or numbers as JSON",
    )
    add_checkpoint(parser)
    parser.add_argument(
        "--words",
        nargs="?",
        const="",
        metavar="TEXT",
        help="print only how often the training data contain each word of TEXT, in the spelling "
        "the model reads; without TEXT, all their words by frequency",
    )
    size = parser.add_argument_group("size only")
    size.add_argument(
        "--size",
        action="store_true",
        help="print parameters and floating-point operations for one sentence pair, by module; "
        "only matrix products count, and a multiplication with its addition counts as two "
        "operations",
    )
    size.add_argument(
        "--preset", choices=PRESETS, help="the size of this preset on its own data; implies --size"
    )
    size.add_argument(
        "--source-tokens",
        type=int,
        default=NUM_TOKENS,
        metavar="S",
        help=f"tokens in the source (default: {NUM_TOKENS})",
    )
    size.add_argument(
        "--target-tokens",
        type=int,
        default=NUM_TOKENS,
        metavar="T",
        help=f"tokens in the target (default: {NUM_TOKENS})",
    )


def run(options: argparse.Namespace) -> int:
    """Print the description. Raises `AugenmerkError`."""
    if options.file is not None:
        if options.checkpoint is not None:
            raise ConfigError(
                f"There are two checkpoints: {options.file} and {options.checkpoint}. Omit one "
                "of them."
            )
        if options.file.suffix.lower() in EXPORTS or is_number_file(options.file):
            _print_origin(options.file, as_json=options.json)
            return 0
        options.checkpoint = options.file
    if options.json:
        raise ConfigError("--json prints the origin of a picture, film, page or numbers. Name one.")
    if options.size or options.preset is not None:
        return _print_size(options)
    translator = load_translator(options)
    if options.words is not None:
        return _print_words(translator, options.words)
    return _print_description(translator)


def _print_origin(file: Path, *, as_json: bool) -> None:
    is_picture = file.suffix.lower() in EXPORTS
    values = read_provenance_values(file) if is_picture else origin_of_numbers(file)
    if as_json:
        print(json.dumps(values, ensure_ascii=False, indent=2))
        return
    print(one_line(file))
    first = 1 if is_picture else first_index(file)
    if first == 0:
        print("layers, heads and steps count from 0, as in the file")
    for line in origin_lines(values, first=first):
        print(line)


def _print_description(translator: "Translator") -> int:
    checkpoint = translator.checkpoint
    print(one_line(translator.path))
    print(
        one_line(f"preset      {translator.run_config.preset}: {translator.run_config.description}")
    )
    data = translator.run_config.data
    origin = checkpoint.origin
    if not translator.run_config.is_copy_task:
        print(
            f"languages   {language_name(data.source_language)} to "
            f"{language_name(data.target_language)}"
        )
    if translator.target_codes:
        print(one_line(f"codes       {' '.join(translator.target_codes)}"))
    if origin is not None:
        revision = f", revision {origin.revision}" if origin.revision else ""
        licence = f", licence {origin.licence}" if origin.licence else ""
        print(one_line(f"imported    {origin.source} ({origin.format}{revision}{licence})"))
    if checkpoint.corpus:
        print(one_line(f"trained on  {checkpoint.corpus}"))
    if checkpoint.word_counts is not None:
        print(one_line(f"knows       {_in_short(checkpoint.word_counts)}"))
    print(one_line(f"written by  Augenmerk {checkpoint.written_by}"))
    print(f"device      {translator.device.name} ({translator.device.reason})")
    if origin is not None:
        print("\ndecoding")
        for name, value in checkpoint.decoding.to_dict().items():
            print(f"  {name:26} {value}")
    was_trained_here = origin is None or translator.run_config.training.initial_model is not None
    for part in ("model", "data", "training") if was_trained_here else ("model", "data"):
        print(f"\n{part}")
        for name, value in getattr(translator.run_config, part).to_dict().items():
            print(one_line(f"  {name:26} {value}"))
    _print_parameters(translator.model)
    _print_history(translator.history)
    return 0


def _in_short(counts: "WordCounts") -> str:
    """“picture captions: 18,662 source words, 3,548 of them 5 times or more”."""
    kind = f"{counts.kind}: " if counts.kind else ""
    return (
        f"{kind}{len(counts.counts):,} source words, {counts.num_frequent:,} of them "
        f"{RARE_BELOW} times or more"
    )


def _print_words(translator: "Translator", text: str) -> int:
    """Print lines of a count, a tab and a word.

    A tab and a note follow a respelled or rare word.

    Raises:
        CheckpointError: the file has no counts.
        TextError: the text cannot be read.
    """
    counts = translator.checkpoint.word_counts
    if counts is None:
        raise CheckpointError(
            f"{translator.path} does not contain the word counts of its training data. Choose a "
            "model trained by this version."
        )
    if not text:
        for word, number in sorted(counts.counts.items(), key=lambda item: (-item[1], item[0])):
            print(number, one_line(word), sep="\t")
        return 0
    source = encode_source(text, translator.checkpoint.codecs.source, translator.run_config)
    coverage = translator.coverage(text)
    assert coverage is not None
    respelled = {word.start: word for word in coverage.respelled_words}
    rare = {word.start: word for word in coverage.rare_words}
    for typed, encoded in zip(source.words, source.encoded, strict=True):
        notes = [
            one_line(words[typed.start].explanation)
            for words in (respelled, rare)
            if typed.start in words
        ]
        print(counts.of(encoded.spelling), one_line(typed.text), *notes, sep="\t")
    if notice := source.hint or coverage.notice:
        print_note(notice)
    return 0


def _print_size(options: argparse.Namespace) -> int:
    name, config, sizes = _sized(options)
    lengths = options.source_tokens, options.target_tokens
    if min(lengths) < 1 or max(lengths) > config.max_positions:
        raise ConfigError(
            f"The model reads 1 to {config.max_positions:,} tokens on each side. Choose "
            f"--source-tokens (now {lengths[0]}) and --target-tokens (now {lengths[1]}) in this "
            "range."
        )
    rows = size_rows(config, *sizes, *lengths)
    whole = total(rows)
    print(one_line(name))
    print(
        f"vocabularies of {sizes[0]:,} and {sizes[1]:,}; {lengths[0]:,} source and "
        f"{lengths[1]:,} target tokens"
    )
    print(f"\n{'module':26} {'parameters':>14} {'':>6} {'FLOPs':>18}")
    for module in MODULES:
        shared = next(
            (row.shared_with for row in rows if row.module == module and row.shared_with), None
        )
        note = f"   shared with the {shared}" if shared else ""
        print(_size_line(module, total(rows, module), whole) + note)
    print(_size_line("all", whole, whole))
    return 0


def _sized(options: argparse.Namespace) -> tuple[str, ModelConfig, tuple[int, int]]:
    """The name of the model, its settings, and the sizes of its vocabularies."""
    if options.preset is None:
        translator = load_translator(options)
        return str(translator.path), translator.run_config.model, translator.vocabulary_sizes
    if options.checkpoint is not None:
        raise ConfigError("A checkpoint and --preset cannot be combined. Omit one of them.")
    run = preset(options.preset)
    sizes = preset_vocabulary_sizes(run)
    assert sizes is not None, "a preset has data"
    return f"preset {run.preset}: {run.description}", run.model, sizes


def _size_line(name: str, size: Size, whole: Size) -> str:
    shares = [
        percent(part / of_all, decimals=1)
        for part, of_all in (
            (size.num_parameters, whole.num_parameters),
            (size.num_flops, whole.num_flops),
        )
    ]
    return f"{name:26} {size.num_parameters:14,} {shares[0]:>7} {size.num_flops:18,} {shares[1]:>7}"


def parameters_by_module(model: "Transformer") -> Counter[str]:
    """The number of parameters of each part of the model.

    A shared matrix counts once, at its first use.
    """
    counts: Counter[str] = Counter()
    for name, parameter in model.named_parameters():
        parts = name.split(".")
        counts[".".join(parts[:2]) if parts[0].endswith("_layers") else parts[0]] += (
            parameter.numel()
        )
    return counts


def _print_parameters(model: "Transformer") -> None:
    print("\nparameters")
    for name, count in parameters_by_module(model).items():
        print(f"  {_in_words(name):26} {count:>12,}")
    print(f"  {'all':26} {model.num_parameters:>12,}")


def _in_words(module: str) -> str:
    """“encoder layer 1” for `encoder_layers.0`: output counts from 1."""
    name, _, layer = module.partition("_layers.")
    return f"{name} layer {int(layer) + 1}" if layer.isdecimal() else module


def _print_history(history: "tuple[EpochRecord, ...]") -> None:
    if not history:
        return
    print(
        "\nhistory\n  epoch     step   training   validation   (batch mean)        rate   seconds"
    )
    for record in history:
        print(
            f"  {record.epoch:5d} {record.step:8d} {record.training_loss:10.4f} "
            f"{record.validation_loss:12.4f} {record.validation_loss_batch_mean:14.4f} "
            f"{record.learning_rate:11.2e} {record.seconds:9.1f}"
        )
