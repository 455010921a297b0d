"""Write charts (PNG, SVG, PDF), metrics (CSV) or the film (GIF, MP4) of a training, without the
window.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from augenmerk.core.cli.outputs import FILMS, PICTURES, STEPS, OutputFile
from augenmerk.core.errors import AnalysisError, ConfigError, TrainingError
from augenmerk.core.extensions.training.film import FilmFrame, read_film
from augenmerk.core.model.heads import ATTENTION_KINDS, KIND_TITLES, AttentionKind, Head
from augenmerk.core.quantities import counted

from ...state.head_roles import clearest_head
from ..pictures.figure_command import USER_STYLE_HELP, require_picture
from ..pictures.film import FORMATS as FILM_FORMATS
from ..pictures.film import Film, FilmHeads, save_film
from .charts.picture import (
    QUANTITY_NAMES,
    SMOOTHING_STEPS,
    ChartPicture,
    ChartSettings,
    Quantity,
    Smoothing,
    picture_of,
)
from .run_export import RunExport
from .run_files import RunComparison, RunOnDisk, read_run

PICTURE_ENDINGS = ("png", "svg", "pdf")
NO_PROVENANCE_OF_RUN = (
    "omit the origin of the file: the version, the settings of the run and, in a film, its sentence"
)
ENDINGS = (*PICTURE_ENDINGS, "csv", *FILM_FORMATS)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `charts`."""
    parser.add_argument(
        "folder", type=Path, metavar="RUN", help="the folder of a run, finished or not"
    )
    parser.add_argument(
        "--out",
        type=OutputFile(STEPS, *PICTURES, *FILMS),
        required=True,
        metavar="FILE",
        help=f"a name that ends in .{', .'.join(ENDINGS)}",
    )
    charts = parser.add_argument_group("charts")
    charts.add_argument(
        "--quantity",
        nargs="+",
        choices=QUANTITY_NAMES,
        default=("loss", "learning_rate"),
        help="what to draw, one chart for each (default: loss and learning_rate)",
    )
    charts.add_argument("--log", action="store_true", help="logarithmic scales")
    charts.add_argument(
        "--smoothing", choices=SMOOTHING_STEPS, default="medium", help="running mean (%(default)s)"
    )
    charts.add_argument(
        "--compare",
        nargs="+",
        type=Path,
        default=(),
        metavar="RUN",
        help="other runs to draw in the same charts",
    )
    charts.add_argument("--user-style", action="store_true", help=USER_STYLE_HELP)
    film = parser.add_argument_group("film")
    film.add_argument(
        "--kind", choices=ATTENTION_KINDS, default="cross", help="which attention (%(default)s)"
    )
    film.add_argument(
        "--layer", type=int, metavar="N", help="counted from 1 (default: that of the clearest head)"
    )
    film.add_argument("--head", type=int, metavar="N", help="counted from 1")
    film.add_argument(
        "--all-heads",
        action="store_true",
        help="all heads side by side: those of --layer, or of all layers",
    )
    parser.add_argument("--no-caption", action="store_true", help="omit the caption")
    parser.add_argument("--no-provenance", action="store_true", help=NO_PROVENANCE_OF_RUN)


def run(options: argparse.Namespace) -> int:
    """Reads the run, and writes the file in the format of its name. Raises `AugenmerkError`."""
    kind = options.out.suffix.lower().removeprefix(".")
    if kind not in ENDINGS:
        raise ConfigError(
            f"--out {options.out}: choose a file name that ends in .{', .'.join(ENDINGS)}."
        )
    if options.all_heads and options.head is not None:
        raise ConfigError("--all-heads and --head cannot be combined. Give one of them.")
    if not options.all_heads and (options.layer is None) != (options.head is None):
        raise ConfigError(
            "--layer and --head belong together. Give both, or neither, or --layer with "
            "--all-heads."
        )
    require_picture(options)
    run_on_disk = read_run(options.folder, with_steps=True)
    if kind == "csv":
        _export(run_on_disk, options).save_metrics(options.out)
    elif kind in PICTURE_ENDINGS:
        from ..pictures.figures import style_of_user

        charts = [_chart(run_on_disk, quantity, options) for quantity in options.quantity]
        with style_of_user(is_used=options.user_style):
            _export(run_on_disk, options, charts).save_charts(
                options.out, has_caption=not options.no_caption
            )
    else:
        save_film(_film(run_on_disk, options), options.out, _tell)
    return 0


def _export(
    run_on_disk: RunOnDisk, options: argparse.Namespace, charts: Sequence[ChartPicture] = ()
) -> RunExport:
    return RunExport(
        run_on_disk.name,
        run_on_disk.folder,
        run_on_disk.curves,
        charts,
        metrics=run_on_disk.metrics,
        settings=run_on_disk.files.run,
        has_provenance=not options.no_provenance,
    )


def _chart(run_on_disk: RunOnDisk, quantity: Quantity, options: argparse.Namespace) -> ChartPicture:
    settings = ChartSettings(quantity, smoothing=cast(Smoothing, options.smoothing))
    if options.log:
        settings.scale = "log"
    compared = RunComparison()
    for folder in options.compare:
        compared.add_folder(folder)
    return picture_of(
        run_on_disk.curves,
        settings,
        max(run_on_disk.curves.last_step, 1),
        compared.runs,
        is_live=False,
    )


def _film(run_on_disk: RunOnDisk, options: argparse.Namespace) -> Film:
    frames = read_film(run_on_disk.folder)
    if not frames:
        raise TrainingError(
            f"The run in {run_on_disk.folder} has no film. Choose a run that translated a probe "
            "sentence."
        )
    head = _head(frames, options)
    heads: FilmHeads = "head"
    if options.all_heads:
        heads = "kind" if options.layer is None else "layer"
    export = replace(_export(run_on_disk, options), frames=frames, head=head)
    film = export.film(heads, has_caption=not options.no_caption)
    assert film is not None  # there are frames and a head
    return film


def _head(frames: Sequence[FilmFrame], options: argparse.Namespace) -> Head:
    """The requested head, or the clearest one at the end. Raises `AnalysisError`."""
    kind = cast(AttentionKind, options.kind)
    maps = frames[-1].translation.maps.of_kind(kind)
    if options.layer is None:
        return Head(kind, *clearest_head(maps))
    num_layers, num_heads = maps.shape[:2]
    number = 1 if options.all_heads else options.head
    if options.layer not in range(1, num_layers + 1) or number not in range(1, num_heads + 1):
        requested = (
            f"layer {options.layer}"
            if options.all_heads
            else f"layer {options.layer}, head {number}"
        )
        raise AnalysisError(
            f"There is no {requested} in {KIND_TITLES[kind].lower()}: this run has "
            f"{counted(num_layers, 'layer')} of {counted(num_heads, 'head')}. Choose others."
        )
    return Head(kind, options.layer - 1, number - 1)


def _tell(done: int, total: int) -> None:
    """Reports progress on a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done} of {total} pictures{'' if done < total else chr(10)}")
        sys.stderr.flush()
