"""Print what every head does, as numbers: for one sentence, and on average over a sample."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....cli.lines import (
    STANDARD_INPUT,
    options_in_use,
    print_json_lines,
    print_note,
    print_notes,
    read_one_line,
    show_progress,
)
from ....cli.options import (
    CHOOSE_TARGET,
    EXPERIMENT_HELP,
    add_beam,
    add_checkpoint,
    add_experiment,
    add_interventions,
    add_into,
    arriving_sentences,
    into_language,
    load_translator,
    parse_head,
    parse_index,
    read_general,
    require_text,
    take_experiment,
)
from ....cli.outputs import ARRAYS, NUMBERS, OutputFile
from ....cli.values import INTERVENTIONS, Numbers, origin_arrays, translation_arrays, write_arrays
from ....errors import AnalysisError, ConfigError, CorpusError, NonFiniteError
from ....maps.left_out import left_out_words
from ....maps.measures import MEASURES, measure_maps
from ....maps.model_pass import Pass
from ....maps.selection import (
    DEFAULT_LABEL_MODE,
    HIDDEN_KINDS,
    LABEL_MODES,
    Axis,
    LabelledMap,
    Selection,
)
from ....model.heads import ATTENTION_KINDS, SIDES, Head
from ....resources import example_sentences
from ....storage import check_writable, write_text
from ....translation.experiment import Experiment, General
from ..samples import require_languages_of_sample
from .explanations import (
    add_explanations,
    check_explanations,
    explanations,
    query_key_numbers,
)
from .options import (
    CHANGES_OF_A_SENTENCE,
    OneOrTwo,
    check_target,
    check_without_sentence,
    read_experiment,
    read_text,
)

if TYPE_CHECKING:
    from ....model.heads import AttentionKind
    from ....translation.result import FloatArray, Translation, Word
    from ....translation.translator import Translator
    from ..importance import HeadImportance

SUFFIXES = (".json", ".npz")
STATISTICS = (
    "entropy",
    "relative_entropy",
    "confidence",
    "start_share",
    "end_share",
    "distances",
    "coverage",
)
METRICS = ("loss", DIFFERENCE := "difference")
SAMPLE_SIZE = 200
LEAVE_OUT = "-"
"""As an argument of --without-words: leave the word out without a replacement."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `analyze`."""
    parser.epilog = "measures: " + "; ".join(
        f"{name}: {measure.meaning}" for name, measure in MEASURES.items()
    )
    parser.add_argument(
        "text",
        nargs="?",
        help="the sentence; - reads one per line from standard input and prints a line of JSON "
        "for each. Omit it for a sample alone, or for the sentence of --experiment. With "
        "--metric difference: a file of word pairs",
    )
    add_experiment(parser, EXPERIMENT_HELP)
    parser.add_argument(
        "--target", metavar="TEXT", help="analyze this translation (default: the model's own)"
    )
    parser.add_argument(
        "--out",
        type=OutputFile(ARRAYS, NUMBERS),
        metavar="FILE",
        help="an .npz or .json file (default: JSON to standard output)",
    )
    _add_maps(parser.add_argument_group("maps"))
    _add_dependence(parser.add_argument_group("what the words depend on"))
    add_explanations(parser)
    _add_samples(parser.add_argument_group("samples"))
    add_interventions(parser)
    add_beam(parser)
    add_checkpoint(parser)
    add_into(parser)


def _add_maps(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--measure",
        choices=MEASURES,
        default="weight",
        help="what a cell is (default: %(default)s)",
    )
    group.add_argument(
        "--rows",
        choices=LABEL_MODES,
        default=DEFAULT_LABEL_MODE,
        help="name rows by the token read or predicted (default: %(default)s)",
    )
    group.add_argument("--words", action="store_true", help="merge subwords into words")
    group.add_argument(
        "--hide",
        nargs="+",
        choices=HIDDEN_KINDS,
        default=(),
        help="hide these tokens and renormalize",
    )
    group.add_argument(
        "--query-key",
        nargs=3,
        metavar=("HEAD", "QUERY", "KEY"),
        help="add the products that make up one weight, and the attention score, their sum: a "
        "head, and the positions of query and key, counted from 1",
    )
    group.add_argument(
        "--compare",
        metavar="TEXT",
        help="add the maps of this sentence minus those of the first, where words match",
    )


def _add_dependence(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--source-share",
        action="store_true",
        help="add how much of each output word comes from each source word and from the words "
        "before it (ALTI+, Ferrando et al. 2022)",
    )
    group.add_argument(
        "--without-words",
        nargs="?",
        const=LEAVE_OUT,
        metavar="WORD",
        help="leave out each source word in turn, or replace it by WORD (<unk>: an unknown "
        "word), translate again, and report the change of the old translation's "
        "log-probability",
    )


def _add_samples(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--statistics",
        nargs="?",
        const=Path(),
        type=Path,
        metavar="FILE",
        help="add statistics and roles of all heads over source lines, or the sources of pairs, "
        "and their translations by the model (without FILE: over the German example "
        "sentences)",
    )
    group.add_argument(
        "--sample",
        nargs="+",
        action=OneOrTwo,
        type=Path,
        metavar="FILE",
        help="the same over source lines and given translations, in two files or one of pairs "
        "(columns separated by a tab, or JSON lines)",
    )
    group.add_argument(
        "--num-sentences",
        type=int,
        metavar="N",
        help=f"size of the sample (default: {SAMPLE_SIZE} sentences, or all word pairs)",
    )
    group.add_argument(
        "--importance",
        action="store_true",
        help="with --sample: add the loss without each head and feed-forward network minus the "
        "loss with it (slow)",
    )
    group.add_argument(
        "--metric",
        choices=METRICS,
        default=METRICS[0],
        help="loss: of the sample; difference: log P(word) − log P(foil) over a file of lines "
        "of sentence, tab, beginning of the translation (may be empty), tab, word, tab, "
        "foil. Prints its mean and its parts by component; with --importance, its mean "
        "without each head and network minus its mean with it",
    )


def run(options: argparse.Namespace) -> int:
    """Compute and write the numbers. Raises `AugenmerkError`."""
    _check(options)
    if options.metric == DIFFERENCE:
        return _run_pairs(options)
    if options.text and options.text.endswith(".tsv") and Path(options.text).is_file():
        raise ConfigError(
            f"{options.text} is a file. For its word pairs add --metric difference; or pass a "
            "sentence."
        )
    if (
        options.text is None
        and options.experiment is None
        and (options.sample or options.statistics)
    ):
        check_without_sentence(
            options, add_options, OF_A_SENTENCE, "A sample cannot be combined with"
        )
    take_experiment(options)
    if options.importance and options.sample is None:
        raise ConfigError(
            "--importance needs a sample. Add --sample with a file of sources and one of "
            "translations, or one of pairs."
        )
    if options.text is None and (options.sample or options.statistics):
        return _run_sample(options)
    require_text(options)
    check_explanations(options)
    about_one = options_in_use(options, "target", "out", "statistics", "sample")
    is_stream = options.text == STANDARD_INPUT and not about_one
    text = "" if is_stream else read_one_line(options.text, about_one)
    translator = load_translator(options)
    request = read_experiment(options, text, translator.checkpoint.codecs.target)
    if is_stream:

        def as_json(number: int, translation: "Translation", left_out: "Sequence[Word]") -> str:
            where = f"line {number}: "
            return _json_text(_all_numbers(translator, translation, left_out, options, where))

        return print_json_lines(translator, arriving_sentences(options), request, as_json)
    translation = translator.run(request)
    left_out = left_out_words(translator, translation)
    write_numbers(_all_numbers(translator, translation, left_out, options), options.out)
    return 0


def _check(options: argparse.Namespace) -> None:
    """Raises `ConfigError` for options that do not fit together.

    Sets the default size of a sample.
    """
    if options.out is not None and options.out.suffix not in SUFFIXES:
        raise ConfigError(
            f"--out {options.out}: choose a file name that ends in {' or '.join(SUFFIXES)}."
        )
    if options.statistics is not None and options.sample is not None:
        raise ConfigError("--statistics and --sample cannot be combined. Use one of them.")
    if options.num_sentences is None:
        options.num_sentences = None if options.metric == DIFFERENCE else SAMPLE_SIZE
    elif options.num_sentences < 1:
        raise ConfigError(f"--num-sentences {options.num_sentences} is too small. Use at least 1.")
    elif not (options.sample or options.statistics or options.metric == DIFFERENCE):
        raise ConfigError("--num-sentences needs a sample. Add --statistics or --sample.")
    check_target(options)
    if options.out is not None:
        check_writable(options.out)


def _run_sample(options: argparse.Namespace) -> int:
    """Write the numbers of a sample alone."""
    translator, changes = _model_and_changes(options)
    numbers = origin_arrays(translator, changes) | _statistics(translator, changes, options)
    write_numbers(_finite(numbers), options.out)
    return 0


def _run_pairs(options: argparse.Namespace) -> int:
    """Write the numbers of a file of word pairs."""
    if options.text is None or options.sample or options.statistics is not None:
        raise ConfigError(
            "--metric difference needs a file of word pairs, and no other sample: analyze "
            "pairs.tsv."
        )
    check_without_sentence(
        options, add_options, OF_A_SENTENCE, "A file of word pairs cannot be combined with"
    )
    take_experiment(options)
    from ..pairs import attribute_pairs, pairs_importance, read_pairs

    try:
        lines = read_pairs(Path(options.text))[: options.num_sentences]
    except CorpusError as error:
        raise CorpusError(f"--metric difference reads a file of word pairs. {error}") from error
    translator, changes = _model_and_changes(options)
    lines = tuple(replace(pair, source=into_language(options, pair.source)) for pair in lines)
    with show_progress(" pairs") as show:
        attribution = attribute_pairs(translator, lines, changes=changes, on_progress=show)
    for note in attribution.notes:
        print_note(note)
    numbers = origin_arrays(translator, changes) | {
        "metric": np.array(DIFFERENCE),
        "pairs": np.array(len(lines)),
        "notes": np.array(attribution.notes, dtype=str),
        "differences": attribution.differences,
        "mean_difference": np.array(attribution.differences.mean()),
        "parts/components": np.array([str(component) for component in attribution.components]),
        "parts/values": attribution.parts.mean(axis=0),
        "parts/explained": np.array(attribution.explained.mean()),
        "parts/remainder": np.array(
            attribution.explained.mean() - attribution.parts.sum(axis=1).mean()
        ),
    }
    if options.importance:
        with show_progress(" passes") as show:
            numbers |= _importance(
                pairs_importance(translator, lines, changes=changes, on_progress=show),
                "mean difference",
            )
    write_numbers(_finite(numbers), options.out)
    return 0


OF_A_SENTENCE = (
    *(
        "target",
        "measure",
        "rows",
        "words",
        "hide",
        "query_key",
        "compare",
        "source_share",
        "without_words",
    ),
    *("lens", "decoder_lens", "parts", "word", "foil", *CHANGES_OF_A_SENTENCE),
)
"""Options without effect on samples."""


def _model_and_changes(options: argparse.Namespace) -> "tuple[Translator, tuple[General, ...]]":
    translator = load_translator(options)
    changes = read_general(options)
    translator.check(Experiment("", interventions=changes))
    return translator, changes


def read_sentence(translator: "Translator", options: argparse.Namespace) -> "Translation":
    """The result for one sentence, or for all of standard input if the text is “-”.

    Prints notes to standard error.
    """
    experiment = read_experiment(
        options, read_text(options.text), translator.checkpoint.codecs.target
    )
    translation = translator.run(experiment)
    print_notes([translation], left_out=left_out_words(translator, translation))
    return translation


def _all_numbers(
    translator: "Translator",
    translation: "Translation",
    left_out: "Sequence[Word]",
    options: argparse.Namespace,
    where: str = "",
) -> Numbers:
    """The requested numbers. Prints notes to standard error, each after `where`."""
    print_notes([translation], where, left_out=left_out)
    numbers = numbers_of_sentence(translator, translation, options)
    numbers["left_out_words"] = np.array([word.text for word in left_out], dtype=str)
    numbers |= explanations(translator, translation, options)
    if options.source_share:
        numbers |= _source_share(translator, translation, options)
    if options.without_words is not None:
        numbers |= _without_words(translator, translation, options)
    if options.compare is not None:
        numbers |= _comparison(translator, translation, options)
    if options.sample is not None or options.statistics is not None:
        numbers |= _statistics(translator, translation.experiment.general, options)
    return _finite(numbers)


def _finite(numbers: Numbers) -> Numbers:
    """The same numbers. Raises `NonFiniteError`."""
    for name, array in numbers.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise NonFiniteError(f"“{name}”")
    return numbers


def numbers_of_sentence(
    translator: "Translator", translation: "Translation", options: argparse.Namespace
) -> Numbers:
    """The maps of one sentence in the requested measure, their labels, and the tokens'
    probabilities.
    """
    from ..weight_origin import query_key_detail

    model_pass = Pass.of(translator, translation)
    numbers = translation_arrays(translator, translation) | {"measure": np.array(options.measure)}
    selection = Selection(options.rows, options.words, frozenset(options.hide))
    for kind in MEASURES[options.measure].kinds:
        shown = shown_maps(
            selection, measure_maps(model_pass, options.measure, kind), translation, kind
        )
        numbers |= {kind: shown.weights, f"{kind}_hidden_mass": shown.hidden_mass}
        for name, axis in (("rows", shown.queries), ("columns", shown.keys)):
            numbers |= {
                f"{kind}_{name}": labels_of(axis),
                f"{kind}_{name}_are": np.array(axis.meaning),
            }
    if options.query_key:
        cell = _cell(*options.query_key)
        detail = query_key_detail(model_pass.trace, *cell)
        for name in ("query_vector", "key_vector", "products", "score", "temperature", "weight"):
            numbers[f"query_key_{name}"] = np.array(getattr(detail, name))
        numbers |= query_key_numbers(translator, translation, *cell)
    return numbers


def labels_of(axis: Axis) -> "np.ndarray[Any, np.dtype[Any]]":
    """The labels of queries or keys as an array of texts."""
    return np.array(axis.labels, dtype=str)


def _cell(head: str, query: str, key: str) -> tuple[Head, int, int]:
    try:
        return parse_head(head), _place(query, "query"), _place(key, "key")
    except argparse.ArgumentTypeError as error:
        raise ConfigError(
            f"--query-key needs a head, a query and a key, such as cross:2:5 3 4: {error}."
        ) from error


def _place(typed: str, name: str) -> int:
    try:
        return parse_index(typed)
    except ValueError as error:
        raise ConfigError(
            f"--query-key: the {name} cannot be used: {error}. Use positions as in cross:2:5 3 4."
        ) from None


def _source_share(
    translator: "Translator", translation: "Translation", options: argparse.Namespace
) -> Numbers:
    from ..alti import contributions_of
    from ..contributions import METHOD, share_warnings

    contributions = contributions_of(translator, translation)
    source = contributions.of_source(words=options.words)
    prefix = contributions.of_prefix(words=options.words)
    warnings = [warning.message for warning in share_warnings(contributions)]
    for message in warnings:
        print_note(message)
    return {
        "contribution_method": np.array(METHOD),
        "contribution_of_source": source.weights,
        "contribution_of_prefix": prefix.weights,
        "contribution_rows": labels_of(source.queries),
        "contribution_source_columns": labels_of(source.keys),
        "contribution_prefix_columns": labels_of(prefix.keys),
        "source_share": source.weights.sum(axis=1),
        "source_share_warnings": np.array(warnings, dtype=str),
    }


def _without_words(
    translator: "Translator", translation: "Translation", options: argparse.Namespace
) -> Numbers:
    from ..occlusion import occlude_source_words

    replacement = None if options.without_words == LEAVE_OUT else options.without_words
    with show_progress(" words") as show:
        occlusion = occlude_source_words(
            translator, translation, replacement=replacement, on_progress=show
        )
    return {
        "without_words": np.array([occluded.word.text for occluded in occlusion.words], dtype=str),
        "without_left_out": np.array([str(row) for row in occlusion.left_out], dtype=str),
        "without_translations": np.array(
            [occluded.translation.text for occluded in occlusion.words], dtype=str
        ),
        "without_changes": np.array(
            [occlusion.change_of(occluded) for occluded in occlusion.words]
        ),
        "without_effects": occlusion.effects,
        "without_effects_are": np.array(
            "log P of a target word without the source word − log P with it, in nats"
        ),
        "without_effect_rows": np.array(
            [*(word.text for word in translation.target_words), "<eos>"], dtype=str
        ),
    }


def shown_maps(
    selection: Selection, maps: "FloatArray", translation: "Translation", kind: "AttentionKind"
) -> LabelledMap:
    """The selection applied to maps [..., Q, M].

    Raises `AnalysisError` if no row or no column remains.
    """
    shown = selection.apply(maps, translation, kind)
    if not shown.weights.size:
        tokens = translation.source_tokens if kind == "encoder" else translation.predicted_tokens
        raise AnalysisError(
            f"--hide {' '.join(sorted(selection.hide))} hides every row or every column of the "
            f"{kind} maps of {translation.source_text!r} ({' '.join(tokens)}). Hide fewer kinds "
            "of tokens."
        )
    return shown


def _comparison(
    translator: "Translator", translation: "Translation", options: argparse.Namespace
) -> Numbers:
    """Differences of the attention weights, independent of the measure of the maps."""
    from ....maps.comparing import difference

    text = into_language(options, options.compare)
    other = translator.run(Experiment(text, interventions=translation.experiment.general))
    print_notes([other], "compared sentence: ", left_out=left_out_words(translator, other))
    selection = Selection(options.rows, options.words, frozenset(options.hide))
    numbers: Numbers = {
        "compared_with": np.array(other.source_text),
        "compared_translation": np.array(other.text),
    }
    for kind in ATTENTION_KINDS:
        maps = (
            shown_maps(selection, compared.maps.of_kind(kind), compared, kind)
            for compared in (translation, other)
        )
        difference_map = difference(*maps)
        numbers |= {
            f"difference_{kind}": difference_map.values,
            f"difference_{kind}_rows": labels_of(difference_map.queries),
            f"difference_{kind}_columns": labels_of(difference_map.keys),
        }
        if difference_map.note:
            print_note(f"{kind}: {difference_map.note}")
    return numbers


def _statistics(
    translator: "Translator", changes: Sequence[General], options: argparse.Namespace
) -> Numbers:
    """Statistics and roles of every head over the sample, and importance if requested."""
    from ....maps.roles import roles_of
    from ..head_profiles import profile_heads

    sources, targets = _read_sample(translator, options)
    with show_progress(" sentences") as show:
        profiles_of_heads = profile_heads(
            translator,
            sources,
            targets,
            changes=changes,
            on_progress=lambda done: show(done, len(sources)),
        )
    for note in profiles_of_heads.notes:
        print_note(note)
    numbers: Numbers = {
        "sample_sentences": np.array(profiles_of_heads.num_sentences),
        "sample_skipped": np.array(profiles_of_heads.num_skipped),
        "sample_notes": np.array(profiles_of_heads.notes, dtype=str),
    }
    for kind in ATTENTION_KINDS:
        profiles = profiles_of_heads.of_kind(kind)
        numbers |= {f"{kind}_{name}": getattr(profiles, name) for name in STATISTICS}
        numbers[f"{kind}_roles"] = np.array(roles_of(profiles))
    if options.importance and targets is not None:
        from ..importance import head_importance

        with show_progress(" passes") as show:
            importance = head_importance(
                translator, sources, targets, changes=changes, on_progress=show
            )
        numbers |= {"sample_loss": np.array(importance.before), **_importance(importance, "loss")}
    return numbers


def _importance(importance: "HeadImportance", value: str) -> Numbers:
    """The effects of switching off each head and network on a value of this name."""
    return {
        "importance_is": np.array(
            f"{value} without the head or network − {value} with it, in nats"
        ),
        **{f"{kind}_importance": importance.of_kind(kind) for kind in ATTENTION_KINDS},
        **{f"{side}_feed_forward_importance": importance.of_networks(side) for side in SIDES},
    }


def _read_sample(
    translator: "Translator", options: argparse.Namespace
) -> tuple[Sequence[str], Sequence[str] | None]:
    """Source lines, and their translations if they are given.

    Raises:
        CorpusError: a file cannot be read.
        AnalysisError: no file is given, and the model does not read the language of the example
            sentences.
    """
    from ...training.corpora.parallel import read_line_pairs, read_sentences

    languages = translator.run_config.data.languages
    count = options.num_sentences
    sources: Sequence[str]
    targets: Sequence[str] | None = None
    if options.sample is not None:
        sources, targets = read_line_pairs(*options.sample, languages=languages)
    elif options.statistics != Path():
        sources, _ = read_sentences(options.statistics, count, languages=languages)
    else:
        advice = "Name a file of its sentences: --statistics FILE."
        require_languages_of_sample(
            translator, advice, CHOOSE_TARGET, needs_target=False, target_code=options.into
        )
        sources = example_sentences()
    return [
        into_language(options, source) for source in sources[:count]
    ], None if targets is None else targets[:count]


def write_numbers(numbers: Numbers, path: Path | None) -> None:
    """Write NPZ (readable without pickle) or JSON atomically, or print JSON if there is no path.

    Raises:
        StorageError: the file cannot be written.
    """
    if path is not None and path.suffix == ".npz":
        write_arrays(numbers, path)
        return
    text = _json_text(numbers)
    if path is None:
        print(text)
    else:
        write_text(path, text + "\n")


def _json_text(numbers: Numbers) -> str:
    values: dict[str, Any] = {}
    for name, array in numbers.items():
        *objects, member = name.split("/")
        parent = values
        for key in objects:
            parent = parent.setdefault(key, {})
        parent[member] = _as_json(array)
    values[INTERVENTIONS] = [json.loads(text) for text in values.get(INTERVENTIONS, [])]
    return json.dumps(values, ensure_ascii=False, allow_nan=False)


def _as_json(array: "np.ndarray[Any, np.dtype[Any]]") -> Any:
    """Nested lists, with numbers rounded to the seven decimal places of single precision."""
    return (
        np.round(array.astype(np.float64), 7).tolist()
        if array.dtype.kind == "f"
        else array.tolist()
    )
