"""Whatever leaves the app as a picture: matplotlib without Qt, for the window, notebooks and papers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from core.errors import StorageError
from core.storage import atomic_path
from core.translation.result import FloatArray
from viz_app.colormap import PAPER, rgb_table

FORMATS = ("png", "svg", "pdf")
CELL_INCHES, MIN_INCHES, MAX_INCHES = 0.28, 2.4, 24.0
DOTS_PER_INCH = 200


@dataclass(frozen=True, eq=False)
class MapPicture:
    """One map to be drawn.

    Attributes:
        weights: [Q, M].
        row_labels, column_labels: Q and M.
        title: a few words.
        caption: what it shows: model, sentence, layer, head, measure, label mode.
        top: the value of the last colour.
    """

    weights: FloatArray
    row_labels: Sequence[str]
    column_labels: Sequence[str]
    title: str
    caption: str
    top: float = 1.0


@dataclass(frozen=True, eq=False)
class KindPicture:
    """All heads of a kind to be drawn.

    Attributes:
        title: the kind.
        maps: [L, H, Q, M].
        tops: the values of the last colours, L rows of H.
    """

    title: str
    maps: FloatArray
    tops: Sequence[Sequence[float]]


def map_figure(picture: MapPicture) -> Figure:
    """One labelled map with its colour bar and its caption."""
    num_rows, num_columns = picture.weights.shape
    width, height = (min(max(count * CELL_INCHES, MIN_INCHES), MAX_INCHES) for count in (num_columns, num_rows))
    figure = Figure(figsize=(width + 2.4, height + 2.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    image = axes.imshow(picture.weights, cmap=_colors(), vmin=0, vmax=picture.top, interpolation="nearest")
    size = 9 if max(num_rows, num_columns) <= 60 else 5
    axes.set_xticks(range(num_columns), _plain(picture.column_labels), rotation=55, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(num_rows), _plain(picture.row_labels))
    axes.tick_params(length=0, labelsize=size, top=True, labeltop=True, bottom=False, labelbottom=False)
    figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02).ax.tick_params(labelsize=8)
    figure.suptitle(_escaped(picture.title), fontsize=10, fontweight="bold", x=0.02, ha="left")
    figure.supxlabel(_escaped(picture.caption), fontsize=7, color="0.35", wrap=True)
    return figure


def grid_figure(kinds: Sequence[KindPicture], caption: str) -> Figure:
    """All heads as small maps without labels: a row for each layer, kind under kind."""
    num_layers, num_heads = sum(kind.maps.shape[0] for kind in kinds), max(kind.maps.shape[1] for kind in kinds)
    figure = Figure(figsize=(num_heads * 0.95 + 1.6, num_layers * 0.95 + 1.0), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(num_layers, num_heads, squeeze=False)
    rows = [(kind, layer) for kind in kinds for layer in range(kind.maps.shape[0])]
    for line, (kind, layer) in zip(grid, rows, strict=True):
        for head, axes in enumerate(line):
            axes.set_xticks([])
            axes.set_yticks([])
            if head >= kind.maps.shape[1]:
                axes.set_axis_off()
                continue
            axes.imshow(kind.maps[layer, head], cmap=_colors(), vmin=0, vmax=kind.tops[layer][head], aspect="auto")
        line[0].set_ylabel(f"{kind.title}\nlayer {layer + 1}", fontsize=7)
    for head, axes in enumerate(grid[0]):
        axes.set_title(str(head + 1), fontsize=8)
    figure.supxlabel(_escaped(caption), fontsize=7, color="0.35", wrap=True)
    return figure


def save_figure(figure: Figure, target: Path) -> None:
    """Writes a figure as PNG, SVG or PDF, by the name's ending; text stays text in the latter two.

    Raises:
        StorageError: the ending is another, or the file cannot be written.
    """
    kind = target.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise StorageError(f"{target.name} ends in none of .png, .svg, .pdf. Give the picture one of these endings.")
    with atomic_path(target) as temporary, matplotlib.rc_context({"svg.fonttype": "none", "pdf.fonttype": 42}):
        figure.savefig(temporary, format=kind, dpi=DOTS_PER_INCH)


def _colors() -> ListedColormap:
    return ListedColormap(rgb_table(PAPER) / 255)


def _plain(labels: Sequence[str]) -> list[str]:
    return [_escaped(label) for label in labels]


def _escaped(text: str) -> str:
    """A dollar sign means a formula to matplotlib."""
    return text.replace("$", r"\$")
