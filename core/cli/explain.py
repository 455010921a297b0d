"""The numbers of `augenmerk analyze` other than maps: contributions, occlusion, a comparison, statistics."""

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from augenmerk.core.analysis.selection import LabelledMap, Selection
from augenmerk.core.errors import AnalysisError, ConfigError
from augenmerk.core.model.heads import ATTENTION_KINDS
from augenmerk.core.resources import example_sentences
from augenmerk.core.translation.experiment import Experiment, HeadScaled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from augenmerk.core.translation.result import FloatArray, MapKind, Translation
    from augenmerk.core.translation.translator import Translator

Numbers = dict[str, "np.ndarray[Any, np.dtype[Any]]"]
STATISTICS = ("entropy", "relative_entropy", "confidence", "start_share", "end_share", "distances", "coverage")
LEAVE_OUT = "-"
"""As an argument of --without-words: leave the word out without a replacement."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add `--source-share`, `--without-words`, `--compare`, `--statistics`, `--sample` and the options for them."""
    parser.add_argument(
        "--source-share",
        action="store_true",
        help="add how much of each output word comes from each source word and from the words before it (ALTI+, "
        "Ferrando et al. 2022)",
    )
    parser.add_argument(
        "--without-words",
        nargs="?",
        const=LEAVE_OUT,
        metavar="WORD",
        help="leave out each source word in turn, or replace it by WORD (<unk>: an unknown word), translate again, and "
        "report what the old translation loses",
    )
    parser.add_argument(
        "--compare", metavar="TEXT", help="add the maps of this sentence minus those of the first, where words match"
    )
    parser.add_argument(
        "--statistics",
        nargs="?",
        const=Path(),
        type=Path,
        metavar="FILE",
        help="add statistics and roles of all heads over source lines and their translations by the model (without "
        "FILE: over the example sentences)",
    )
    parser.add_argument(
        "--sample",
        nargs=2,
        type=Path,
        metavar="FILE",
        help="the same over source lines and given translations",
    )
    parser.add_argument(
        "--num-sentences", type=int, default=200, metavar="N", help="size of the sample (default: %(default)s)"
    )
    parser.add_argument("--importance", action="store_true", help="add the loss on the sample without each head (slow)")


def check_options(options: argparse.Namespace) -> None:
    """Raise `ConfigError` if options contradict each other."""
    if options.importance and options.sample is None:
        raise ConfigError("--importance needs a sample. Add --sample with a file of sources and one of translations.")
    if options.statistics is not None and options.sample is not None:
        raise ConfigError("--statistics and --sample cannot be combined. Use one of them.")
    if options.num_sentences < 1:
        raise ConfigError(f"--num-sentences {options.num_sentences} is too small. Use at least 1.")


def numbers_beside(translator: "Translator", translation: "Translation", options: argparse.Namespace) -> Numbers:
    """Everything requested by these options for a translation. Raises `AugenmerkError`."""
    numbers: Numbers = {}
    if options.source_share:
        numbers |= _source_share(translator, translation, options)
    if options.without_words is not None:
        numbers |= _without_words(translator, translation, options)
    if options.compare is not None:
        numbers |= _comparison(translator, translation, options)
    if options.sample is not None or options.statistics is not None:
        numbers |= _statistics(translator, translation.experiment.head_scalings, options)
    return numbers


def _source_share(translator: "Translator", translation: "Translation", options: argparse.Namespace) -> Numbers:
    from augenmerk.core.analysis.alti import contributions_of
    from augenmerk.core.analysis.contributions import METHOD, share_warnings

    found = contributions_of(translator, translation)
    source, prefix = found.of_source(words=options.words), found.of_prefix(words=options.words)
    warnings = [warning.message for warning in share_warnings(found)]
    for message in warnings:
        print(f"augenmerk: note: {message}", file=sys.stderr)
    return {
        "contribution_method": np.array(METHOD),
        "contribution_of_source": source.weights,
        "contribution_of_prefix": prefix.weights,
        "contribution_rows": np.array(source.queries.labels, dtype=str),
        "contribution_source_columns": np.array(source.keys.labels, dtype=str),
        "contribution_prefix_columns": np.array(prefix.keys.labels, dtype=str),
        "source_share": source.weights.sum(axis=1),
        "source_share_warnings": np.array(warnings, dtype=str),
    }


def _without_words(translator: "Translator", translation: "Translation", options: argparse.Namespace) -> Numbers:
    from augenmerk.core.analysis.occlusion import occlude_source_words

    replacement = None if options.without_words == LEAVE_OUT else options.without_words
    with show_progress(" words") as show:
        found = occlude_source_words(translator, translation, replacement=replacement, on_progress=show)
    return {
        "without_words": np.array([occluded.word.text for occluded in found.words], dtype=str),
        "without_left_out": np.array([str(row) for row in found.left_out], dtype=str),
        "without_translations": np.array([occluded.text for occluded in found.words], dtype=str),
        "without_changes": np.array([found.change_of(occluded) for occluded in found.words]),
        "without_effects": found.effects,
        "without_effect_rows": np.array([*(word.text for word in translation.target_words), "<eos>"], dtype=str),
    }


def shown_maps(selection: Selection, maps: "FloatArray", translation: "Translation", kind: "MapKind") -> LabelledMap:
    """The selection applied to maps [..., Q, M]. Raises `AnalysisError` if no row or no column remains."""
    shown = selection.apply(maps, translation, kind)
    if not shown.weights.size:
        tokens = translation.source_tokens if kind == "encoder" else translation.predicted_tokens
        raise AnalysisError(
            f"--hide {' '.join(sorted(selection.hide))} hides every row or every column of the {kind} maps of "
            f"{translation.source_text!r} ({' '.join(tokens)}). Hide fewer kinds of tokens."
        )
    return shown


def _comparison(translator: "Translator", translation: "Translation", options: argparse.Namespace) -> Numbers:
    """Differences of the attention weights, independent of the measure of the maps."""
    from augenmerk.core.analysis.comparing import difference

    other = translator.run(Experiment(options.compare, interventions=translation.experiment.head_scalings))
    selection = Selection(options.rows, options.words, frozenset(options.hide))
    numbers: Numbers = {"compared_with": np.array(other.source_text), "compared_translation": np.array(other.text)}
    for kind in ATTENTION_KINDS:
        maps = (shown_maps(selection, each.maps.of_kind(kind), each, kind) for each in (translation, other))
        found = difference(*maps)
        numbers |= {
            f"difference_{kind}": found.values,
            f"difference_{kind}_rows": np.array(found.queries.labels, dtype=str),
            f"difference_{kind}_columns": np.array(found.keys.labels, dtype=str),
        }
        if found.note:
            print(f"augenmerk: note: {kind}: {found.note}", file=sys.stderr)
    return numbers


def _statistics(translator: "Translator", scalings: Sequence[HeadScaled], options: argparse.Namespace) -> Numbers:
    """Statistics, roles and (if requested) importance of every head over the sample, with the given scalings."""
    from augenmerk.core.analysis.profiles import profile_heads
    from augenmerk.core.analysis.roles import roles_of

    sources, targets = _read_sample(options)
    with show_progress(" sentences") as show:
        found = profile_heads(
            translator, sources, targets, scalings=scalings, on_progress=lambda done: show(done, len(sources))
        )
    numbers: Numbers = {"sample_sentences": np.array(found.num_sentences)}
    for kind in ATTENTION_KINDS:
        profiles = found.of_kind(kind)
        numbers |= {f"{kind}_{name}": getattr(profiles, name) for name in STATISTICS}
        numbers[f"{kind}_roles"] = np.array(roles_of(profiles))
    if options.importance and targets is not None:
        from augenmerk.core.analysis.importance import head_importance

        with show_progress(" heads") as show:
            importance = head_importance(translator, sources, targets, scalings=scalings, on_progress=show)
        numbers["sample_loss"] = np.array(importance.loss)
        numbers |= {f"{kind}_importance": importance.of_kind(kind) for kind in ATTENTION_KINDS}
    return numbers


def _read_sample(options: argparse.Namespace) -> tuple[Sequence[str], Sequence[str] | None]:
    """Source lines, and their translations if they are given. Raises `CorpusError`."""
    from augenmerk.core.corpora.parallel import read_line_pairs, read_lines

    count = options.num_sentences
    if options.sample is None:
        lines = example_sentences() if options.statistics == Path() else read_lines(options.statistics)
        return lines[:count], None
    sources, targets = read_line_pairs(*options.sample)
    return sources[:count], targets[:count]


@contextmanager
def show_progress(unit: str) -> "Iterator[Callable[[int, int], None]]":
    """A progress bar on standard error if that is a terminal. The function takes how much is done, and the total."""
    from tqdm import tqdm

    with tqdm(unit=unit, disable=None, leave=False) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show
