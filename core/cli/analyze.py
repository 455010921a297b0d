"""Print what every head does, as numbers: for one sentence, and on average over a sample."""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from augenmerk.core.analysis.measures import MEASURES, measure_maps
from augenmerk.core.analysis.selection import DEFAULT_LABEL_MODE, HIDDEN_KINDS, LABEL_MODES, Selection
from augenmerk.core.cli.explain import Numbers, add_options, check_options, numbers_beside, shown_maps
from augenmerk.core.cli.interventions import add_interventions, parse_head, parse_index, read_experiment
from augenmerk.core.cli.lines import STANDARD_INPUT, Refusals, arriving_lines, read_one_line, run_lines
from augenmerk.core.cli.notes import print_notes
from augenmerk.core.cli.options import add_beam, add_checkpoint, load_translator
from augenmerk.core.errors import AnalysisError, ConfigError, ExperimentError, NonFiniteError, TextError
from augenmerk.core.model.heads import Head
from augenmerk.core.storage import atomic_path, write_text
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.experiment_json import part_to_json

if TYPE_CHECKING:
    from augenmerk.core.translation.result import Translation
    from augenmerk.core.translation.translator import Translator

SUFFIXES = (".json", ".npz")
INTERVENTIONS = "interventions"
"""Name of an array of JSON texts (in JSON output: of objects), in the form of `core.translation.experiment_json`."""


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `analyze`."""
    parser = commands.add_parser(
        "analyze",
        help="print what every head does, as numbers",
        description=__doc__,
        epilog="measures: " + "; ".join(f"{name}: {found.meaning}" for name, found in MEASURES.items()),
    )
    parser.add_argument(
        "text",
        help="the sentence; - reads one per line from standard input and prints a line of JSON for each",
    )
    parser.add_argument("--target", metavar="TEXT", help="analyze this translation (default: the model's own)")
    parser.add_argument("--measure", choices=MEASURES, default="weight", help="what a cell is (default: %(default)s)")
    parser.add_argument(
        "--rows",
        choices=LABEL_MODES,
        default=DEFAULT_LABEL_MODE,
        help="name rows by the token read or predicted (default: %(default)s)",
    )
    parser.add_argument("--words", action="store_true", help="merge subwords into words")
    parser.add_argument("--hide", nargs="+", choices=HIDDEN_KINDS, default=(), help="hide these tokens and renormalize")
    parser.add_argument(
        "--query-key",
        nargs=3,
        metavar=("HEAD", "QUERY", "KEY"),
        help="add the products behind one weight: a head, and the positions of query and key, counted from 1",
    )
    add_options(parser)
    add_interventions(parser)
    add_beam(parser)
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="an .npz or .json file (default: JSON to standard output)"
    )
    add_checkpoint(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compute and write the numbers. Raises `AugenmerkError`."""
    if options.out is not None and options.out.suffix not in SUFFIXES:
        raise ConfigError(f"--out {options.out}: choose a file name that ends in {' or '.join(SUFFIXES)}.")
    check_options(options)
    about_one = options_about_one(options)
    is_stream = options.text == STANDARD_INPUT and not about_one
    text = "" if is_stream else read_one_line(options.text, about_one)
    translator = load_translator(options)
    request = read_experiment(options, text, translator.checkpoint.codecs.target)
    if is_stream:
        return _print_json_lines(translator, request, options)
    translation = translator.run(request)
    print_notes([translation])
    write_numbers(_all_numbers(translator, translation, options), options.out)
    return 0


def options_about_one(options: argparse.Namespace) -> str:
    """The names of the options in use that apply to one sentence or to a sample."""
    given = {
        "--target": options.target,
        "--out": options.out,
        "--statistics": options.statistics,
        "--sample": options.sample,
    }
    return " and ".join(name for name, value in given.items() if value is not None)


def read_sentence(translator: "Translator", options: argparse.Namespace) -> "Translation":
    """The result for one sentence, or for all of standard input if the text is “-”. Prints notes to standard error."""
    text = sys.stdin.read() if options.text == STANDARD_INPUT else options.text
    translation = translator.run(read_experiment(options, text, translator.checkpoint.codecs.target))
    print_notes([translation])
    return translation


def _print_json_lines(translator: "Translator", request: Experiment, options: argparse.Namespace) -> int:
    """Print one line of JSON for each line of standard input as soon as it is done."""
    refusals = Refusals()
    for outcome in run_lines(translator, arriving_lines(sys.stdin), request, need_maps=True):
        text = ""
        if outcome.translation is not None:
            try:
                text = _json_text(_all_numbers(translator, outcome.translation, options))
                print_notes([outcome.translation], f"line {outcome.number}: ")
            except (AnalysisError, ExperimentError, TextError) as error:  # an option does not fit this sentence
                outcome = replace(outcome, translation=None, error=error)
        refusals.add(outcome)
        if outcome.error is not None:
            text = json.dumps({"source": outcome.text, "error": str(outcome.error)}, ensure_ascii=False)
        print(text, flush=True)
    return refusals.exit_status()


def _all_numbers(translator: "Translator", translation: "Translation", options: argparse.Namespace) -> Numbers:
    numbers = numbers_of_sentence(translator, translation, options)
    numbers |= numbers_beside(translator, translation, options)
    for name, array in numbers.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise NonFiniteError(f"“{name}”")
    return numbers


def numbers_of_sentence(translator: "Translator", translation: "Translation", options: argparse.Namespace) -> Numbers:
    """The maps of one sentence in the requested measure, their labels, and the tokens' probabilities."""
    from augenmerk.core.analysis.capture import trace_translation
    from augenmerk.core.analysis.query_key import query_key_detail

    trace = trace_translation(translator, translation)
    experiment = translation.experiment
    changes = [part_to_json(each) for each in experiment.interventions]
    numbers: Numbers = {
        "source": np.array(translation.source_text),
        "translation": np.array(translation.text),
        "measure": np.array(options.measure),
        INTERVENTIONS: np.array([json.dumps(each) for each in changes], dtype=str),
        "predicted_tokens": np.array(translation.predicted_tokens),
        "log_probabilities": np.array(translation.log_probabilities),
    }
    selection = Selection(options.rows, options.words, frozenset(options.hide))
    for kind in MEASURES[options.measure].kinds:
        shown = shown_maps(selection, measure_maps(trace, options.measure, kind), translation, kind)
        numbers |= {
            kind: shown.weights,
            f"{kind}_hidden_mass": shown.hidden_mass,
            f"{kind}_rows": np.array(shown.queries.labels, dtype=str),
            f"{kind}_rows_are": np.array(shown.queries.meaning),
            f"{kind}_columns": np.array(shown.keys.labels, dtype=str),
            f"{kind}_columns_are": np.array(shown.keys.meaning),
        }
    if options.query_key:
        detail = query_key_detail(trace, *_cell(*options.query_key))
        for name in ("query_vector", "key_vector", "products", "logit", "weight"):
            numbers[f"query_key_{name}"] = np.array(getattr(detail, name))
    return numbers


def _cell(head: str, query: str, key: str) -> tuple[Head, int, int]:
    try:
        return parse_head(head), _place(query, "query"), _place(key, "key")
    except argparse.ArgumentTypeError as error:
        raise ConfigError(f"--query-key needs a head, a query and a key, such as cross:2:5 3 4: {error}.") from error


def _place(typed: str, name: str) -> int:
    try:
        return parse_index(typed)
    except ValueError as error:
        raise ConfigError(
            f"--query-key: the {name} cannot be used: {error}. Use positions as in cross:2:5 3 4."
        ) from None


def write_numbers(numbers: Numbers, path: Path | None) -> None:
    """Write NPZ (readable without pickle) or JSON atomically, or print JSON if there is no path.

    Raises:
        StorageError: the file cannot be written.
    """
    if path is not None and path.suffix == ".npz":
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **numbers)  # type: ignore[arg-type]
        return
    text = _json_text(numbers)
    if path is None:
        print(text)
    else:
        write_text(path, text + "\n")


def _json_text(numbers: Numbers) -> str:
    values = {name: _as_json(array) for name, array in numbers.items()}
    values[INTERVENTIONS] = [json.loads(each) for each in values.get(INTERVENTIONS, [])]
    return json.dumps(values, ensure_ascii=False, allow_nan=False)


def _as_json(array: "np.ndarray[Any, np.dtype[Any]]") -> Any:
    """Nested lists, with numbers rounded to the seven decimal places of single precision."""
    return np.round(array.astype(np.float64), 7).tolist() if array.dtype.kind == "f" else array.tolist()
