"""Maps in figures of one's own, with the labels, colours and marks of the window."""

from dataclasses import dataclass, replace
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from augenmerk.core.arguments import checks_arguments
from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses.alignment_ranking import Aligner
from augenmerk.core.extensions.provenance import (
    DRAWN_BY,
    Provenance,
    facts_of_maps,
    figure_options,
    with_provenance,
)
from augenmerk.core.extensions.provenance import provenance as provenance_of
from augenmerk.core.maps.measure import MeasureName
from augenmerk.core.maps.measures import MEASURES, measure_maps
from augenmerk.core.maps.model_pass import Pass
from augenmerk.core.maps.selection import Selection, combine
from augenmerk.core.model.heads import KIND_TITLES, AttentionKind, Head
from augenmerk.core.storage import atomic_path
from augenmerk.core.translation.experiment_file import SavedExperiment
from augenmerk.core.translation.result import FloatArray, Translation
from augenmerk.core.translation.translator import Translator

from ...heatmap.drawing import Drawing
from ...state.color_scale import ColorScale
from ...state.map_view import MapView
from ...state.marks import marks_of_experiment
from ..pictures.figures import (
    CELL_INCHES,
    FORMATS,
    MAX_INCHES,
    choose_fonts,
    draw_map,
    escaped,
    own_style,
    style_of_user,
)
from ..pictures.figures import save_figure as write_figure

LABELS_INCHES, MIN_INCHES = 1.2, 4.2
"""Room for labels on one side of a new figure, and its least width, for the title."""
_ORIGIN = "_augenmerk_origin"
"""Attribute of the cells of a map: its provenance, None if that is private or unknown.

A figure asks its cells when it is saved, because a map may be cleared, replaced or joined by others
after it was drawn.
"""


@checks_arguments
def plot_map(  # noqa: PLR0913 - all but the first five are options by name
    translation: Translation,
    kind: AttentionKind = "cross",
    layer: int | None = None,
    head: int | None = None,
    ax: Axes | None = None,
    *,
    measure: MeasureName | Aligner = "weight",
    translator: Translator | None = None,
    selection: Selection | None = None,
    provenance: bool = True,
) -> Axes:
    """Draws one map as the window does, in the style of the axes.

    `ax.figure.colorbar(ax.collections[0], ax=ax)` adds the scale of colours.

    Args:
        translation: whose map it is.
        kind: of the map.
        layer, head: counted from 0; without one of them, the mean of all.
        ax: to draw on; None for a new figure of pyplot.
        measure: its name; or an aligner, which names measure, layer, head and labels itself.
        translator: the model of the translation; needed for other measures than the weight.
        selection: labels, merged words and hidden tokens; None for tokens, named as predicted.
        provenance: whether PNG, SVG and PDF files of a new figure hold what `map_provenance` says
            about the maps that it shows when it is saved: about all of them or, if one is drawn
            without provenance, about none. For a figure of yours, see `save_figure`.

    Returns:
        The axes.

    Raises:
        AnalysisError: there is no such map, every token is hidden, the translator is missing or has
            not made the translation, or the aligner reads another map.
        NonFiniteError: a value is NaN or infinite.
    """
    request = _requested(translation, kind, layer, head, measure, translator, selection)
    layer, head = request.layer, request.head
    name, chosen = request.measure, request.selection
    maps = _maps_of(translation, kind, name, translator)
    heads = [
        (layer_index, head_index)
        for layer_index in (range(maps.shape[0]) if layer is None else [layer])
        for head_index in (range(maps.shape[1]) if head is None else [head])
    ]
    view = MapView(chosen.apply(combine(maps, "mean", heads), translation, kind))
    if not view.values.size:
        raise AnalysisError("Nothing is left to draw: every token is hidden. Hide fewer kinds.")
    is_share = MEASURES[name].rows_sum_to_one
    drawing = Drawing(
        view.values,
        view.row_labels,
        view.column_labels,
        ColorScale(1.0 if is_share else float(view.values.max(initial=0.0)) or 1.0),
        title=_title(kind, heads, layer, head, name),
        marks=marks_of_experiment(view, translation, kind, heads, chosen.label_mode),
    )
    with style_of_user(), own_style():
        axes = _new_axes(view) if ax is None else ax
        cells = draw_map(axes, drawing)
        vars(cells)[_ORIGIN] = request.provenance if provenance else None
        axes.set_aspect("equal")
        axes.set_title(escaped(drawing.title), fontsize="medium")
        for text in (axes.title, *axes.xaxis.findobj(Text), *axes.yaxis.findobj(Text)):
            assert isinstance(text, Text)
            text.set_usetex(False)  # words are no TeX, whatever the axes were made for
        choose_fonts(axes)
    return axes


@checks_arguments
def map_provenance(
    translation: Translation,
    kind: AttentionKind = "cross",
    layer: int | None = None,
    head: int | None = None,
    *,
    measure: MeasureName | Aligner = "weight",
    translator: Translator | None = None,
    selection: Selection | None = None,
) -> SavedExperiment | None:
    """What the file of a map says about its origin: see `save_figure`.

    It is the experiment with its sentence, the digest of the model, its name if that is known, the
    options of the map, and the versions.

    Args:
        translation, kind, layer, head, measure, selection: as for `plot_map`.
        translator: the model of the translation, for its name.

    Returns:
        The origin; None for a translation of unknown origin.

    Raises:
        AnalysisError: the translator has not made the translation, or the aligner reads another
            map.
    """
    return _requested(translation, kind, layer, head, measure, translator, selection).provenance


@checks_arguments
def save_figure(figure: Figure, target: Path | str, origin: SavedExperiment | None = None) -> None:
    """Saves a figure of yours as PNG (200 dots per inch), SVG or PDF, by the name's ending.

    The same figure gives the same bytes each time. Characters that the font lacks are drawn in an
    installed font that has them.

    Args:
        figure: with maps by `plot_map` or anything else.
        target: the file.
        origin: what `augenmerk info` prints about the file: see `map_provenance`. Without it, a
            new figure by `plot_map` tells of its maps.

    Raises:
        StorageError: the ending is another, or the file cannot be written.
    """
    own = _origin_of(figure) if isinstance(figure, _MapFigure) else None
    with style_of_user():
        write_figure(figure, Path(target), own if origin is None else origin)


@dataclass(frozen=True)
class _MapRequest:
    """A map to draw; the choices of an aligner replace those of the caller.

    Attributes:
        translation: whose map it is.
        kind: of the map.
        layer: counted from 0; None for all.
        head: counted from 0; None for all.
        measure: the measure of the cells.
        model: its name; empty if it is not known.
        selection: labels, merged words and hidden tokens.
    """

    translation: Translation
    kind: AttentionKind
    layer: int | None
    head: int | None
    measure: MeasureName
    model: str
    selection: Selection

    @property
    def provenance(self) -> SavedExperiment | None:
        """What a file says about its origin; None for a translation of unknown origin."""
        options = figure_options(
            kind=self.kind,
            layer=None if self.layer is None else self.layer + 1,
            head=None if self.head is None else self.head + 1,
            measure=self.measure,
            label=self.selection.label_mode,
            words=self.selection.merge_words,
            hide=sorted(self.selection.hide),
            user_style=True,
        )
        return provenance_of(self.translation, self.model, {**options, DRAWN_BY: "plot_map"})


def _requested(
    translation: Translation,
    kind: AttentionKind,
    layer: int | None,
    head: int | None,
    measure: MeasureName | Aligner,
    translator: Translator | None,
    selection: Selection | None,
) -> _MapRequest:
    """The map. Raises `AnalysisError` if the arguments contradict each other."""
    chosen = Selection() if selection is None else selection
    name = measure
    if isinstance(measure, Aligner):
        _require_map_of(measure, kind, layer, head)
        name, layer, head = measure.measure, measure.layer, measure.head
        chosen = replace(chosen, label_mode=measure.label_mode)
    assert isinstance(name, str)
    if translator is not None and not translator.has_made(translation):
        raise AnalysisError(
            f"The model {translator.name} has not made this translation: its digest is "
            f"{translator.digest[:12]}, not {translation.model_digest[:12]}. Translate the "
            "sentence again, as a model that was changed since is another one."
        )
    model = "" if translator is None else translator.name
    return _MapRequest(translation, kind, layer, head, name, model, chosen)


def _require_map_of(
    aligner: Aligner, kind: AttentionKind, layer: int | None, head: int | None
) -> None:
    """Raises `AnalysisError` if a map is asked for that an aligner does not read."""
    if kind == aligner.kind and layer in (None, aligner.layer) and head in (None, aligner.head):
        return
    raise AnalysisError(
        f"The aligner reads {aligner.kind} maps, layer {aligner.layer}, head {aligner.head} (None "
        f"for the mean), not {kind} maps, layer {layer}, head {head}. Leave out kind, layer and "
        "head."
    )


def _maps_of(
    translation: Translation,
    kind: AttentionKind,
    name: MeasureName,
    translator: Translator | None,
) -> FloatArray:
    """The maps of a kind in a measure; those that the translation has need no model."""
    if name == "weight" and translation.attention is not None:
        return translation.attention.of_kind(kind)
    if translator is None:
        raise AnalysisError(
            f"The measure “{name}” of this translation is computed by its model. Pass it as "
            "`translator`."
        )
    return measure_maps(Pass.of(translator, translation), name, kind)


def _title(
    kind: AttentionKind,
    heads: list[tuple[int, int]],
    layer: int | None,
    head: int | None,
    name: MeasureName,
) -> str:
    """A description, in which layers and heads count from 0."""
    if len(heads) == 1:
        title = str(Head(kind, *heads[0]).title)
    elif head is not None:
        title = f"{KIND_TITLES[kind]} · head {head} · mean of {len(heads)} layers"
    else:
        of_layer = "" if layer is None else f" · layer {layer}"
        title = f"{KIND_TITLES[kind]}{of_layer} · mean of {len(heads)} heads"
    return title if name == "weight" else f"{title} · {MEASURES[name].name}"


class _MapFigure(Figure):
    """A figure that saves the provenance of its maps with the picture."""

    def savefig(self, fname: Any, *, transparent: bool | None = None, **named: Any) -> None:
        """See `Figure.savefig`."""
        path = Path(fspath(fname)) if isinstance(fname, str | PathLike) else None
        suffix = "" if path is None else path.suffix[1:]
        kind = str(named.get("format") or suffix or rcParams["savefig.format"]).lower()
        origin = _origin_of(self)
        if kind not in FORMATS or origin is None:
            super().savefig(fname, transparent=transparent, **named)
            return
        picture = BytesIO()
        super().savefig(picture, transparent=transparent, **{**named, "format": kind})
        content = with_provenance(picture.getvalue(), origin)
        if path is None:
            fname.write(content)
            return
        target = path if suffix or named.get("format") else path.with_name(f"{path.name}.{kind}")
        with atomic_path(target) as temporary:
            temporary.write_bytes(content)


def _origin_of(figure: Figure) -> Provenance | None:
    """What a file says about the maps that a figure shows now; None without maps, or if one of
    them has no provenance.
    """
    maps = figure.findobj(lambda part: _ORIGIN in vars(part) and _is_visible(part))
    origins = [vars(cells)[_ORIGIN] for cells in maps]
    if not origins or None in origins:
        return None
    return origins[0] if len(origins) == 1 else facts_of_maps(origins)


def _is_visible(part: Artist) -> bool:
    return part.get_visible() and (part.axes is None or part.axes.get_visible())


def _new_axes(view: MapView) -> Axes:
    """Axes of a new figure in which a cell has the size that it has in exported figures."""
    import matplotlib.pyplot as plt  # only here: a program may not want it

    num_rows, num_columns = view.values.shape
    width, height = (
        min(num_cells * CELL_INCHES + LABELS_INCHES, MAX_INCHES)
        for num_cells in (num_columns, num_rows)
    )
    figure = plt.figure(
        figsize=(max(width, MIN_INCHES), height), layout="constrained", FigureClass=_MapFigure
    )
    return figure.add_subplot()
