"""Draw attention maps as a picture (PNG, SVG, PDF) or as one HTML page, without the window."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from augenmerk.core.cli.command import OptionParser
from augenmerk.core.cli.lines import print_note
from augenmerk.core.cli.options import (
    EXPERIMENT_HELP,
    add_beam,
    add_checkpoint,
    add_experiment,
    add_interventions,
    add_into,
    load_translator,
    require_text,
    take_experiment,
)
from augenmerk.core.cli.outputs import PICTURES, WEB_PAGE, OutputFile
from augenmerk.core.counting import display_text, joined
from augenmerk.core.errors import AnalysisError, ConfigError, ExperimentFileError
from augenmerk.core.extensions.analyses.cli.analyze import read_sentence
from augenmerk.core.extensions.analyses.cli.options import check_target
from augenmerk.core.extensions.provenance import (
    DRAWN_BY,
    VERSIONS,
    figure_options,
    provenance,
    read_provenance,
    versions,
)
from augenmerk.core.maps.measure import MeasureName
from augenmerk.core.maps.measures import MEASURES, measure_maps, measures_of
from augenmerk.core.maps.model_pass import Pass
from augenmerk.core.maps.selection import (
    COMBINATIONS,
    DEFAULT_LABEL_MODE,
    HIDDEN_KINDS,
    LABEL_MODES,
    Combination,
    Selection,
    combine,
)
from augenmerk.core.model.heads import ATTENTION_KINDS, KIND_TITLES, AttentionKind, Head
from augenmerk.core.quantities import counted, percent
from augenmerk.core.translation.experiment_file import SavedExperiment
from augenmerk.core.translation.result import FloatArray, Translation

from ...heatmap.drawing import Drawing
from ...state.color_scale import ColorScale
from ...state.languages import language_names
from ...state.map_text import KIND_NAMES
from ...state.map_view import MapView
from ...state.marks import marks_of_experiment
from .printed_maps import DrawingBlock

if TYPE_CHECKING:
    from augenmerk.core.translation.translator import Translator

DRAWN = (".png", ".svg", ".pdf")
SUFFIXES = (*DRAWN, ".html")
USER_STYLE_HELP = (
    "draw in the style of your matplotlibrc, such as its fonts and frames (default: the same "
    "style on every computer)"
)
_OPTIONS: Mapping[str, Callable[[object], bool]] = {
    "kind": lambda value: value in ATTENTION_KINDS,
    "layer": lambda value: value is None or type(value) is int,
    "head": lambda value: value is None or type(value) is int,
    "combine": lambda value: value in COMBINATIONS,
    "grid": lambda value: type(value) is bool,
    "measure": lambda value: isinstance(value, str) and value in MEASURES,
    "label": lambda value: value in LABEL_MODES,
    "words": lambda value: type(value) is bool,
    "hide": lambda value: isinstance(value, tuple) and set(value) <= set(HIDDEN_KINDS),
    "own_scale": lambda value: type(value) is bool,
    "user_style": lambda value: type(value) is bool,
}
"""The options that a picture depends on, by name, and whether a value in a file is valid."""
_BESIDE_AGAIN = ("again", "out", "no_provenance", "checkpoint", "device", "run")


@dataclass(frozen=True, eq=False)
class Measured:
    """One translation and its maps in one measure.

    Attributes:
        model: its name.
        translation: of the sentence.
        measure: the meaning of a cell.
        maps: [L, H, Q, M] by kind, for the kinds that the measure exists for.
    """

    model: str
    translation: Translation
    measure: MeasureName
    maps: Mapping[AttentionKind, FloatArray]
    languages: tuple[str, str]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `figure`."""
    parser.epilog = "measures: " + "; ".join(
        f"{name}: {measure.meaning}" for name, measure in MEASURES.items()
    )
    parser.add_argument("--text", help="the German sentence; - reads it from standard input")
    parser.add_argument(
        "--target",
        metavar="TEXT",
        help="draw the maps of this translation (default: the model's own)",
    )
    parser.add_argument(
        "--kind", choices=ATTENTION_KINDS, default="cross", help="which attention (%(default)s)"
    )
    parser.add_argument(
        "--layer",
        type=int,
        metavar="N",
        help="layer, counted from 1 (default: all layers combined)",
    )
    parser.add_argument(
        "--head",
        type=int,
        metavar="N",
        help="head, counted from 1 (default: all heads of the layer combined)",
    )
    parser.add_argument(
        "--combine", choices=COMBINATIONS, default="mean", help="of several heads (%(default)s)"
    )
    parser.add_argument(
        "--grid", action="store_true", help="draw all heads as small maps instead of one large map"
    )
    parser.add_argument(
        "--measure",
        choices=MEASURES,
        default="weight",
        help="what a cell is (default: %(default)s)",
    )
    parser.add_argument(
        "--rows",
        "--label",
        dest="label",
        choices=LABEL_MODES,
        default=DEFAULT_LABEL_MODE,
        help="name rows by the token read or predicted (default: %(default)s)",
    )
    parser.add_argument("--words", action="store_true", help="merge subwords into words")
    parser.add_argument(
        "--hide", nargs="+", choices=HIDDEN_KINDS, default=(), help="leave out, and renormalise"
    )
    parser.add_argument(
        "--own-scale",
        action="store_true",
        help="scale the colours of each map to its largest value instead of 1",
    )
    add_experiment(parser, EXPERIMENT_HELP)
    add_interventions(parser)
    add_beam(parser)
    parser.add_argument(
        "--out",
        type=OutputFile(WEB_PAGE, *PICTURES),
        required=True,
        metavar="FILE",
        help="a name that ends in " + ", ".join(SUFFIXES),
    )
    parser.add_argument("--user-style", action="store_true", help=USER_STYLE_HELP)
    parser.add_argument(
        "--again",
        type=Path,
        metavar="FILE",
        help="draw this picture by `augenmerk figure` again, as it was; with the same versions, "
        "the same bytes",
    )
    parser.add_argument(
        "--no-provenance",
        action="store_true",
        help="write only the picture (default: with the sentence, the changes, the model's digest "
        "and these options in its metadata, for --again)",
    )
    add_checkpoint(parser)
    add_into(parser)


def run(options: argparse.Namespace) -> int:
    """Translates, measures, draws and saves. Raises `AugenmerkError`."""
    saved = take_again(options) if options.again is not None else None
    if saved is None:
        check_target(options)
        take_experiment(options)
        require_text(options, "--text with a sentence")
    if options.out.suffix.lower() not in SUFFIXES:
        raise ConfigError(
            f"--out {options.out}: choose a file name that ends in one of {', '.join(SUFFIXES)}."
        )
    if saved is None and options.head is not None and options.layer is None:
        raise ConfigError(f"--head {options.head} needs a layer. Add --layer.")
    require_picture(options)
    if options.out.suffix.lower() != ".html":
        import_module("matplotlib")  # a missing package is reported before anything is computed
    if saved is None:
        translator = load_translator(options)
        translation = read_sentence(translator, options)
    else:
        translator = same_translator(saved, options)
        note_differences(saved, options)
        translation = translator.run(saved.experiment)
    measurement = measured(translator, translation, options)
    if options.kind not in measurement.maps:
        measure_names = ", ".join(measures_of(options.kind))
        raise AnalysisError(
            f"There is no measure {options.measure!r} for {options.kind} maps. Choose from "
            f"{measure_names}."
        )
    heads = chosen_heads(measurement.maps[options.kind], options)
    if options.out.suffix.lower() == ".html":
        save_html(measurement, heads, options)
    else:
        save_picture(measurement, heads, options)
    return 0


def take_again(options: argparse.Namespace) -> SavedExperiment:
    """The provenance of `--again`, whose options of the figure replace those of the command.

    Raises:
        ExperimentFileError: the file cannot be drawn again.
        ConfigError: other options of the figure are set.
    """
    parser = OptionParser()
    add_options(parser)
    names = [
        name
        for name, value in vars(options).items()
        if name not in _BESIDE_AGAIN and value != parser.get_default(name)
    ]
    if names:
        raise ConfigError(
            f"--again draws {options.again} as it was. Omit --{names[0].replace('_', '-')}, or "
            "omit --again."
        )
    saved = read_provenance(options.again)
    drawing = {
        name: value for name, value in saved.view.items() if name not in (VERSIONS, DRAWN_BY)
    }
    if not drawing:
        raise ExperimentFileError(
            f"{options.again} was not drawn by `augenmerk figure`, so it cannot be drawn again. "
            "Export or draw it once more where it was made, in the window or in Python."
        )
    if drawing.keys() != _OPTIONS.keys() or not all(
        is_valid(drawing[name]) for name, is_valid in _OPTIONS.items()
    ):
        raise ExperimentFileError(
            f"{options.again} was drawn with options that this version does not know. Update "
            "Augenmerk."
        )
    for name, value in drawing.items():
        setattr(options, name, value)
    return saved


def note_differences(saved: SavedExperiment, options: argparse.Namespace) -> None:
    """Tells why the new file may differ from that of `--again`."""
    if DRAWN_BY in saved.view:
        print_note(
            f"{options.again} was drawn in Python by {saved.view[DRAWN_BY]}. The new file has the "
            "same map in the layout of `augenmerk figure`."
        )
    if saved.view["user_style"]:
        print_note(
            f"{options.again} was drawn in the style of a matplotlibrc, which it does not hold. The "
            "new file has the style of yours, so it may differ."
        )
    before = saved.view.get(VERSIONS)
    if before != versions():
        origin = f"was drawn with {before}" if before else "does not name the versions that drew it"
        print_note(f"{options.again} {origin}. This is {versions()}, so the new file may differ.")


def same_translator(saved: SavedExperiment, options: argparse.Namespace) -> "Translator":
    """The model that a picture was drawn with, by the name it had then: that of `--checkpoint`, the
    bundled one, or one next to the picture.

    Raises `ExperimentFileError` if it is another one.
    """
    translator = load_translator(options)
    from augenmerk.core.checkpoint.file import find_checkpoint  # torch is imported by now

    if translator.digest != saved.model.digest and options.checkpoint is None:
        neighbours = sorted(options.again.absolute().parent.glob("*.safetensors"))
        options.checkpoint = find_checkpoint(saved.model.digest, neighbours)
        if options.checkpoint is not None:
            translator = load_translator(options)
    if translator.digest != saved.model.digest:
        raise ExperimentFileError(
            f"{options.again} was drawn with the model “{saved.model.name}” (digest "
            f"{saved.model.digest[:12]}), not with {translator.name} ({translator.digest[:12]}). "
            "Add --checkpoint with its file. A model that was changed or hooked in Python cannot "
            "be found."
        )
    # the file may have been renamed, but the picture is to be the same
    translator.name = saved.model.name or translator.name
    return translator


def require_picture(options: argparse.Namespace) -> None:
    """Raises `ConfigError` for `--user-style` next to a file that matplotlib does not draw."""
    if options.user_style and options.out.suffix.lower() not in DRAWN:
        raise ConfigError(f"--user-style has no effect on {options.out.suffix} files. Omit it.")


def measured(
    translator: "Translator", translation: Translation, options: argparse.Namespace
) -> Measured:
    """The maps of a translation. Raises `AugenmerkError`."""
    model_pass = Pass.of(translator, translation)
    maps = {
        kind: np.broadcast_to(
            measure_maps(model_pass, options.measure, kind), translation.maps.of_kind(kind).shape
        )
        for kind in MEASURES[options.measure].kinds
    }
    return Measured(
        translator.name, translation, options.measure, maps, language_names(translator.run_config)
    )


def chosen_heads(maps: FloatArray, options: argparse.Namespace) -> list[tuple[int, int]]:
    """Layer and head, counted from 0, of all heads that go into the large map.

    Raises `AnalysisError`.
    """
    num_layers, num_heads = maps.shape[:2]
    for name, number, count in (
        ("layer", options.layer, num_layers),
        ("head", options.head, num_heads),
    ):
        if number is not None and number not in range(1, count + 1):
            raise AnalysisError(
                f"There is no {name} {number} in {KIND_TITLES[options.kind].lower()}: this model "
                f"has {counted(num_layers, 'layer')} of {counted(num_heads, 'head')}. Choose a "
                f"{name} from 1 to {count}."
            )
    layers = range(num_layers) if options.layer is None else [options.layer - 1]
    heads = range(num_heads) if options.head is None else [options.head - 1]
    return [(layer, head) for layer in layers for head in heads]


def save_picture(
    measurement: Measured, heads: Sequence[tuple[int, int]], options: argparse.Namespace
) -> None:
    """One map, or all as a grid. Raises `AugenmerkError`."""
    from .figures import grid_figure, map_figure, save_figure, style_of_user

    with style_of_user(is_used=options.user_style):
        figure = (
            grid_figure(blocks_of(measurement, options), caption(measurement, "all heads", options))
            if options.grid
            else map_figure(drawing_of(measurement, heads, options))
        )
        save_figure(figure, options.out, _provenance(measurement, options))


def drawing_of(
    measurement: Measured, heads: Sequence[tuple[int, int]], options: argparse.Namespace
) -> Drawing:
    """The large map."""
    title = title_of(options.kind, heads, measurement.maps[options.kind].shape[1], options.combine)
    weights = combine(measurement.maps[options.kind], options.combine, heads)
    view = _view(weights, measurement, options.kind, options)
    words = f"{percent(view.labelled.hidden_share, 1)} of the attention" if options.hide else ""
    return Drawing(
        view.values,
        view.row_labels,
        view.column_labels,
        ColorScale(_top(view.values, measurement.measure, options)),
        title=title,
        caption=caption(measurement, title, options, rows=view.axes[0].meaning, hidden=words),
        marks=marks_of_experiment(
            view, measurement.translation, options.kind, heads, options.label
        ),
    )


def blocks_of(measurement: Measured, options: argparse.Namespace) -> list[DrawingBlock]:
    """All heads of every kind that the measure exists for."""
    blocks = []
    for kind, whole in measurement.maps.items():
        view = _view(whole, measurement, kind, options)
        maps = view.values

        def drawing(
            layer: int, head: int, kind: AttentionKind = kind, view: MapView = view
        ) -> Drawing:
            values = view.values[layer, head]
            top = _top(values if options.own_scale else view.values, measurement.measure, options)
            marks = marks_of_experiment(
                view, measurement.translation, kind, [(layer, head)], options.label
            )
            return Drawing(values, scale=ColorScale(top), marks=marks)

        lines = [
            [drawing(layer, head) for head in range(maps.shape[1])]
            for layer in range(maps.shape[0])
        ]
        blocks.append(DrawingBlock(KIND_NAMES[kind], lines))
    return blocks


def save_html(
    measurement: Measured, heads: Sequence[tuple[int, int]], options: argparse.Namespace
) -> None:
    """Saves the page with every head, opened at the first one. Raises `AugenmerkError`."""
    from .html_page import PageContent, save_web_page

    for kind, maps in measurement.maps.items():
        _view(maps, measurement, kind, options)
    facts = {"model": measurement.model} | _experiment(measurement.translation)
    shown = Head(options.kind, *heads[0])
    content = PageContent(
        measurement.translation,
        measurement.maps,
        measurement.measure,
        _selection(options),
        facts,
        shown,
        languages=measurement.languages,
    )
    save_web_page(content, options.out, _provenance(measurement, options))


def _provenance(measurement: Measured, options: argparse.Namespace) -> SavedExperiment | None:
    """What the file says about its origin; None if it should not."""
    if options.no_provenance:
        return None
    drawing = figure_options(**{name: getattr(options, name) for name in _OPTIONS})
    return provenance(measurement.translation, measurement.model, drawing)


def title_of(
    kind: AttentionKind, heads: Sequence[tuple[int, int]], num_heads: int, how: Combination
) -> str:
    """A description of the large map."""
    if len(heads) == 1:
        return f"{KIND_TITLES[kind]} · layer {heads[0][0] + 1} · head {heads[0][1] + 1}"
    layers = {layer for layer, _ in heads}
    if len({head for _, head in heads}) == 1:
        where = f"head {heads[0][1] + 1}"
        return f"{KIND_TITLES[kind]} · {where} · {how} of {len(layers)} layers"
    where = f"layer {heads[0][0] + 1}" if len(layers) == 1 else f"{len(layers)} layers"
    return f"{KIND_TITLES[kind]} · {where} · {how} of {len(heads)} heads"


def caption(
    measurement: Measured,
    title: str,
    options: argparse.Namespace,
    *,
    rows: str = "",
    hidden: str = "",
) -> str:
    """Model, sentence, map, measure, label mode and changes, in one line."""
    facts = {
        "model": measurement.model,
        "sentence": measurement.translation.source_text,
        "translation": measurement.translation.text
        + (" (given)" if measurement.translation.is_given else ""),
        "map": title,
        "measure": MEASURES[measurement.measure].name,
        "rows": rows or f"token {options.label}, in encoder maps source token",
    }
    if hidden or options.hide:
        facts["hidden"] = (
            f"{', '.join(options.hide)} ({hidden or 'rows'}, scaled up to their former sum)"
        )
    if options.words:
        facts["words"] = "pieces merged: keys summed, queries averaged"
    return " · ".join(
        f"{name}: {value}" for name, value in (facts | _experiment(measurement.translation)).items()
    )


def _view(
    maps: FloatArray, measurement: Measured, kind: AttentionKind, options: argparse.Namespace
) -> MapView:
    """Maps [..., Q, M] as drawn. Raises `AnalysisError` if every token is hidden."""
    view = MapView(_selection(options).apply(maps, measurement.translation, kind))
    if not view.values.size:
        raise AnalysisError("Nothing is left to draw: every token is hidden. Hide fewer kinds.")
    return view


def _experiment(translation: Translation) -> dict[str, str]:
    """A description of the changes; empty without any."""
    interventions = translation.experiment.interventions
    return {"experiment": display_text(joined(interventions, "; "))} if interventions else {}


def _selection(options: argparse.Namespace) -> Selection:
    return Selection(options.label, options.words, frozenset(options.hide))


def _top(weights: FloatArray, measure: MeasureName, options: argparse.Namespace) -> float:
    """The value of the last colour."""
    if MEASURES[measure].rows_sum_to_one and not options.own_scale:
        return 1.0
    return float(weights.max(initial=0.0)) or 1.0
