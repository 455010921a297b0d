"""Translate one text or many, and print all numbers of the translations on request."""

import argparse
import json
import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..counting import display_text
from ..errors import ConfigError
from ..folder_lock import FolderLock
from ..maps.left_out import left_out_words
from ..model.heads import ATTENTION_KINDS
from ..plain_text import one_line
from ..process import collector_paused, compute_on
from ..quantities import counted, percent
from ..storage import cannot_write, check_writable
from ..translation.experiment import CausalMaskLifted, Experiment, GivenTarget, Output
from ..translation.experiment_file import part_to_json
from .command import tell
from .lines import (
    STANDARD_INPUT,
    Refusals,
    options_in_use,
    print_json_lines,
    print_notes,
    read_all_lines,
    read_one_line,
    run_lines,
)
from .options import (
    EXPERIMENT_HELP,
    add_beam,
    add_checkpoint,
    add_experiment,
    add_interventions,
    add_into,
    arriving_sentences,
    into_language,
    load_translator,
    read_interventions,
    read_output,
    require_text,
    take_experiment,
)
from .outputs import ARRAYS, OutputFile
from .values import origin_values, token_values, translation_arrays, write_arrays

if TYPE_CHECKING:
    from ..translation.result import Translation, Word
    from ..translation.translator import Translator

_LINES = "lines.jsonl"
"""The file in a folder of maps that has the lines of JSON, so that a run can be continued."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `translate`."""
    parser.add_argument(
        "text",
        nargs="?",
        help="the text; - reads one sentence per line from standard input, in UTF-8",
    )
    parser.add_argument(
        "--target",
        metavar="TEXT",
        help="also score this translation; --json puts its numbers under “given”",
    )
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument(
        "--json", action="store_true", help="print tokens, probabilities and alternatives as JSON"
    )
    formats.add_argument(
        "--jsonl",
        action="store_true",
        help="print one line of JSON per sentence, as soon as it is done",
    )
    parser.add_argument(
        "--attention",
        type=OutputFile(ARRAYS),
        metavar="FILE.npz",
        help="write all attention maps and their tokens to this file (with --target: those of "
        "the given pair; with --jsonl: one file per sentence to this folder, which must not "
        "hold other NPZ files)",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue an interrupted run with --jsonl and --attention: leave out the lines of "
        f"the same input that are in {_LINES} in the folder",
    )
    add_experiment(parser, EXPERIMENT_HELP)
    add_interventions(parser)
    add_beam(parser)
    add_checkpoint(parser)
    add_into(parser)


def run(options: argparse.Namespace) -> int:
    """Translate and print. Raises `AugenmerkError`."""
    with collector_paused(for_good=True):
        compute_on(1)  # the steps of one sentence are too small for several threads
    take_experiment(options)
    require_text(options)
    read_output(options)  # fails before the model is loaded
    if options.jsonl and options.target is not None:
        raise ConfigError("--target applies to one sentence, --jsonl to many. Use --json instead.")
    if options.resume and not (options.jsonl and options.attention):
        raise ConfigError("--resume continues the files of --jsonl with --attention. Add both.")
    if options.attention:
        check_writable(_file_of(options, 1))
    if not (options.attention and options.jsonl):
        return _translate(options)
    with closing(FolderLock(options.attention, "translation")):
        for temporary in options.attention.glob(".*.npz.*.part"):
            temporary.unlink()  # a killed process was writing it
        if not options.resume:
            _require_no_other_maps(options.attention)
        return _translate(options)


def _translate(options: argparse.Namespace) -> int:
    about_one = options_in_use(options, "attention", "target")
    is_stream = options.text == STANDARD_INPUT and (options.jsonl or not about_one)
    text = "" if is_stream else read_one_line(options.text, about_one)
    translator = load_translator(options)
    output = read_output(options)
    interventions = read_interventions(options, translator.checkpoint.codecs.target)
    if options.target is not None:  # first, because --lift-mask needs the given translation
        request = Experiment(
            into_language(options, text), GivenTarget(options.target), interventions
        )
        return _print_one(translator, request, output, options)
    request = Experiment(into_language(options, text), output, interventions)
    if options.jsonl:
        return _print_json_lines(translator, request, options, is_stream=is_stream)
    if not is_stream:
        return _print_one(translator, request, output, options)
    if options.json:
        return _print_json_list(translator, request, options)
    return _print_lines(translator, request, options)


def _print_one(
    translator: "Translator",
    experiment: Experiment,
    own_decoding: Output,
    options: argparse.Namespace,
) -> int:
    """Print one sentence, and a given translation next to the model's own."""
    experiments = [experiment]
    if options.target is not None:
        # only a given translation can do without the mask
        masked = experiment.without(CausalMaskLifted())
        experiments.insert(0, replace(masked, output=own_decoding))
    compiled = map(translator.compile, experiments)
    translations = list(translator.run_many(compiled, need_maps=options.attention is not None))
    translation = translations[0]
    given_translation = translations[1] if len(translations) > 1 else None
    if options.attention:
        save_attention(translator, given_translation or translation, options.attention)
    if options.json:
        values = as_dict(translator, translation)
        if given_translation is not None:
            values["given"] = as_dict(translator, given_translation)
        print(json.dumps(values, ensure_ascii=False, indent=2))
        return 0
    print(one_line(translation.text), flush=True)
    if given_translation is not None:
        print_probabilities(translation, given_translation)
    print_notes(translations, left_out=left_out_words(translator, translation))
    return 0


def _print_lines(translator: "Translator", request: Experiment, options: argparse.Namespace) -> int:
    """Print a line for each line of standard input; it is empty for an empty or refused one."""
    refusals = Refusals(ignore_empty=True)
    for outcome in run_lines(translator, arriving_sentences(options), request):
        refusals.add(outcome)
        if outcome.translation is not None:
            print(one_line(outcome.translation.text), flush=True)
            print_notes(
                [outcome.translation],
                f"line {outcome.number}: ",
                left_out=outcome.left_out,
            )
        else:
            print(flush=True)
            if not outcome.is_empty:
                tell(f"line {outcome.number}: {display_text(outcome.error)}")
    if refusals.num_empty == refusals.num_lines:
        translator.compile(request)  # raises: there is nothing to translate
    return refusals.exit_status()


def _print_json_list(
    translator: "Translator", request: Experiment, options: argparse.Namespace
) -> int:
    """Print an object for one line of standard input, or a list with null for empty lines."""
    lines = [into_language(options, line) for line in read_all_lines(STANDARD_INPUT)]
    if len(lines) == 1:
        (translation,) = translator.run_many(
            [translator.compile(replace(request, source_text=lines[0]))], need_maps=False
        )
        print(json.dumps(as_dict(translator, translation), ensure_ascii=False, indent=2))
        return 0
    refusals = Refusals(ignore_empty=True)
    values = []
    for outcome in run_lines(translator, [lines], request):
        refusals.add(outcome)
        value = (
            outcome.refusal
            if outcome.translation is None
            else as_dict(translator, outcome.translation, outcome.left_out)
        )
        values.append(None if outcome.is_empty else value)
    print(json.dumps(values, ensure_ascii=False, indent=2))
    return refusals.exit_status()


def _print_json_lines(
    translator: "Translator", request: Experiment, options: argparse.Namespace, *, is_stream: bool
) -> int:
    """Print a line of JSON for each text, and save the maps of each if requested."""

    def as_json(number: int, translation: "Translation", left_out: "Sequence[Word]") -> str:
        values = as_dict(translator, translation, left_out)
        if options.attention is not None:
            path = _file_of(options, number)
            save_attention(translator, translation, path)
            values["attention"] = str(path)
        return json.dumps(values, ensure_ascii=False)

    arriving = arriving_sentences(options) if is_stream else [[request.source_text]]
    if options.attention is None:
        return print_json_lines(translator, arriving, request, as_json)
    path = options.attention / _LINES
    earlier = _earlier_lines(translator, request, path) if options.resume else []
    with path.open("ab") as file:

        def record(line: str) -> None:
            try:
                file.write(f"{line}\n".encode("utf-8", "surrogatepass"))
                file.flush()
            except OSError as error:
                raise cannot_write(path, error) from error

        return print_json_lines(
            translator, arriving, request, as_json, earlier=earlier, record=record
        )


def _earlier_lines(translator: "Translator", request: Experiment, path: Path) -> list[str]:
    """The sentences of an earlier run that wrote its lines of JSON to `path`; none without it.

    A last line that was not written in full is removed.

    Raises `ConfigError` if the run was by another model, with other changes or not of this command.
    """
    if not path.exists():
        _require_no_other_maps(path.parent)
        return []
    sentences: list[str] = []
    last: dict[str, Any] = {}
    try:
        with path.open("rb+") as file:
            end = 0
            for line in file:
                if not line.endswith(b"\n"):
                    break
                values = json.loads(line.decode("utf-8", "surrogatepass"))
                sentences.append(str(values["source"]))
                end += len(line)
                last = values if "translation" in values else last
            file.truncate(end)
        digest = last["model"]["digest"] if last else translator.digest
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path} is not a file of an earlier run, so nothing can be continued. Choose an empty "
            "or new folder."
        ) from error
    if digest != translator.digest:
        raise ConfigError(
            f"{path} is by another model than {translator.name}. Add --checkpoint with the model "
            "of the earlier run, or choose another folder."
        )
    changes = json.loads(json.dumps(_changes_of(request)))
    if last and any(last.get(name) != value for name, value in changes.items()):
        raise ConfigError(
            f"{path} was written with other options for decoding or other changes. Repeat the "
            "options of the earlier run, or choose another folder."
        )
    return sentences


def _changes_of(experiment: Experiment) -> dict[str, Any]:
    """The decoding and the interventions as JSON-ready values."""
    return {
        "output": part_to_json(experiment.output),
        "interventions": [part_to_json(intervention) for intervention in experiment.interventions],
    }


def _file_of(options: argparse.Namespace, number: int) -> Path:
    """The file for the maps of a sentence, counted from 1."""
    path: Path = options.attention
    return path / f"{number:06d}.npz" if options.jsonl else path


def _require_no_other_maps(folder: Path) -> None:
    """Raises `ConfigError` if the folder contains maps, which would look like those of this run."""
    names = sorted(path.name for path in folder.iterdir())
    maps = [name for name in names if name.lower().endswith(".npz") or name == _LINES]
    if maps:
        raise ConfigError(
            f"{folder} already contains {maps[0]}, perhaps the maps of another run. Continue an "
            "interrupted one with --resume, choose an empty or new folder, or remove its NPZ files."
        )


def print_probabilities(own: "Translation", given_translation: "Translation") -> None:
    """Print the given translation and both probabilities, of the whole and per token."""
    print(one_line(given_translation.text))
    for name, translation in (("own", own), ("given", given_translation)):
        num_tokens = len(translation.log_probabilities)
        print(
            f"{name + ':':<7}log-probability {translation.log_probability:8.3f} nats, "
            f"{counted(num_tokens, 'token')}, "
            f"{percent(math.exp(translation.log_probability / num_tokens), 1)} a token "
            "(geometric mean)"
        )


def save_attention(translator: "Translator", translation: "Translation", path: Path) -> None:
    """Write the maps of all heads and the tokens of their rows and columns as NPZ, atomically.

    Arrays: `encoder` [L, H, S, S], `decoder` [L, H, T, T], `cross` [L, H, T, S]; `source_tokens`
    [S], `read_tokens` and `predicted_tokens` [T]; and those of `translation_arrays`. The file is
    readable without pickle. Raises `StorageError`.
    """
    tokens = {
        name: np.array(getattr(translation, name)) for name in ("source_tokens", "read_tokens")
    }
    maps = {kind: translation.maps.of_kind(kind) for kind in ATTENTION_KINDS}
    write_arrays(translation_arrays(translator, translation) | maps | tokens, path)


def as_dict(
    translator: "Translator", translation: "Translation", left_out: "Sequence[Word] | None" = None
) -> dict[str, Any]:
    """The translation as JSON-ready values without maps. Interventions count from 0.

    `left_out` are its `left_out_words`, if known.

    `rare_words`, `respelled_words` and `is_unlike_training` are None if the model's file has no
    word counts.
    """
    coverage = translation.coverage
    if left_out is None:
        left_out = left_out_words(translator, translation)
    return {
        "source": translation.source_text,
        "translation": translation.text,
        **_changes_of(translation.experiment),
        "unreached": [part_to_json(intervention) for intervention in translation.unreached],
        "log_probability": translation.log_probability,
        "source_tokens": translation.source_tokens,
        "read_tokens": translation.read_tokens,
        "predicted_tokens": translation.predicted_tokens,
        "log_probabilities": translation.log_probabilities,
        **token_values(translator, translation),
        "alternatives": [[vars(choice) for choice in step] for step in translation.alternatives],
        "source_words": [vars(word) for word in translation.source_words],
        "target_words": [vars(word) for word in translation.target_words],
        "unknown_source_positions": translation.unknown_source_positions,
        "rare_words": None if coverage is None else [asdict(word) for word in coverage.rare_words],
        "respelled_words": None
        if coverage is None
        else [asdict(word) for word in coverage.respelled_words],
        "is_unlike_training": None if coverage is None else coverage.is_unlike_training,
        "left_out_words": [asdict(word) for word in left_out],
        "ignored_text": translation.ignored_text,
        "notes": translation.all_notes,
        "seconds": translation.seconds,
        **origin_values(translator, translation.model_digest),
    }
