"""`augenmerk analyze`: what every head does, as numbers: for one sentence, and on average over a sample."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.analysis.measures import MEASURES, measure_maps
from core.analysis.selection import DEFAULT_LABEL_MODE, HIDDEN_KINDS, LABEL_MODES, Selection
from core.cli.explain import Numbers, add_options, check_options, numbers_beside, shown_maps
from core.cli.options import add_checkpoint
from core.errors import ConfigError
from core.model.heads import ATTENTION_KINDS, Head
from core.storage import atomic_path, write_text
from core.translation.experiment import Experiment, GivenTarget, Greedy, heads_switched_off

if TYPE_CHECKING:
    from core.translation.result import Translation
    from core.translation.translator import Translator

SUFFIXES = (".json", ".npz")


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds `analyze`."""
    parser = commands.add_parser(
        "analyze",
        help="what every head does, as numbers",
        description=__doc__,
        epilog="measures: " + "; ".join(f"{name}: {found.meaning}" for name, found in MEASURES.items()),
    )
    parser.add_argument("text", help="the German sentence; - reads it from standard input")
    parser.add_argument("--target", metavar="TEXT", help="read this translation (left out: the model's own)")
    parser.add_argument("--measure", choices=MEASURES, default="weight", help="what the maps hold (%(default)s)")
    parser.add_argument(
        "--rows", choices=LABEL_MODES, default=DEFAULT_LABEL_MODE, help="rows: token read or predicted (%(default)s)"
    )
    parser.add_argument("--words", action="store_true", help="merge subwords into words")
    parser.add_argument("--hide", nargs="+", choices=HIDDEN_KINDS, default=(), help="leave out, and renormalise")
    parser.add_argument(
        "--off",
        nargs="+",
        type=parse_head,
        default=(),
        metavar="HEAD",
        help="switch heads off; cross:2:5 is layer 2, head 5",
    )
    parser.add_argument(
        "--query-key", nargs=3, metavar=("HEAD", "ROW", "COLUMN"), help="the products behind one weight; rows from 0"
    )
    add_options(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help=".npz or .json (left out: JSON to standard output)")
    add_checkpoint(parser)
    parser.set_defaults(run=run)


def parse_head(text: str) -> Head:
    """The head that kind:layer:head names, counted from 1. Raises `argparse.ArgumentTypeError`."""
    kind, *places = text.split(":")
    if kind not in ATTENTION_KINDS or len(places) != 2 or not all(place.isdecimal() and int(place) for place in places):
        raise argparse.ArgumentTypeError(
            f"{text!r} names no head. Expected kind:layer:head, the kind one of {', '.join(ATTENTION_KINDS)}, the "
            "others counted from 1: cross:2:5"
        )
    return Head(next(known for known in ATTENTION_KINDS if known == kind), int(places[0]) - 1, int(places[1]) - 1)


def run(options: argparse.Namespace) -> int:
    """Computes and writes. Raises `AugenmerkError`."""
    from core.translation.translator import Translator

    if options.out is not None and options.out.suffix not in SUFFIXES:
        raise ConfigError(
            f"--out is {options.out}. A file that ends in {' or '.join(SUFFIXES)} was expected; name one."
        )
    check_options(options)
    translator = Translator.load(options.checkpoint, options.device)
    translation = read_sentence(translator, options)
    numbers = numbers_of_sentence(translator, translation, options) | numbers_beside(translator, translation, options)
    write_numbers(numbers, options.out)
    return 0


def read_sentence(translator: "Translator", options: argparse.Namespace) -> "Translation":
    """The sentence with the model's own translation, or with the given one; its notes go to standard error."""
    text = sys.stdin.read() if options.text == "-" else options.text
    output = Greedy() if options.target is None else GivenTarget(options.target)
    translation = translator.run(Experiment(text, output, heads_switched_off(options.off)))
    for note in translation.notes:
        print(f"augenmerk: note: {note}", file=sys.stderr)
    return translation


def numbers_of_sentence(translator: "Translator", translation: "Translation", options: argparse.Namespace) -> Numbers:
    """The maps of one sentence in the measure asked for, their labels, and the tokens' probabilities."""
    from core.analysis.capture import trace_translation
    from core.analysis.query_key import query_key_detail

    trace = trace_translation(translator, translation)
    numbers: Numbers = {
        "source": np.array(translation.source_text),
        "translation": np.array(translation.text),
        "measure": np.array(options.measure),
        "heads_off": np.array([str(head) for head in options.off], dtype=str),
        "predicted_tokens": np.array(translation.predicted_tokens),
        "log_probabilities": np.array(translation.log_probabilities),
    }
    selection = Selection(options.rows, options.words, frozenset(options.hide))
    for kind in MEASURES[options.measure].kinds:
        shown = shown_maps(selection, measure_maps(trace, options.measure, kind), translation, kind)
        numbers |= {
            kind: shown.weights,
            f"{kind}_hidden_mass": shown.hidden_mass,
            f"{kind}_rows": np.array(shown.rows.labels, dtype=str),
            f"{kind}_rows_are": np.array(shown.rows.meaning),
            f"{kind}_columns": np.array(shown.columns.labels, dtype=str),
            f"{kind}_columns_are": np.array(shown.columns.meaning),
        }
    if options.query_key:
        detail = query_key_detail(trace, *_cell(*options.query_key))
        for name in ("query_vector", "key_vector", "products", "logit", "weight"):
            numbers[f"query_key_{name}"] = np.array(getattr(detail, name))
    return numbers


def _cell(head: str, row: str, column: str) -> tuple[Head, int, int]:
    try:
        return parse_head(head), int(row), int(column)
    except (argparse.ArgumentTypeError, ValueError) as error:
        raise ConfigError(f"--query-key expects a head, a row and a column, such as cross:2:5 3 4: {error}.") from error


def write_numbers(numbers: Numbers, path: Path | None) -> None:
    """As NPZ (no pickle is needed to read it) or JSON, atomically; without a path, JSON to standard output.

    Raises:
        StorageError: the file cannot be written.
    """
    if path is not None and path.suffix == ".npz":
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **numbers)  # type: ignore[arg-type]
        return
    text = json.dumps({name: _as_json(array) for name, array in numbers.items()}, ensure_ascii=False, allow_nan=False)
    if path is None:
        print(text)
    else:
        write_text(path, text + "\n")


def _as_json(array: "np.ndarray[Any, np.dtype[Any]]") -> Any:
    """Lists; numbers to seven decimal places, which is all that single precision has."""
    return np.round(array.astype(np.float64), 7).tolist() if array.dtype.kind == "f" else array.tolist()
