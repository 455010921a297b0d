"""Figures by matplotlib, without Qt, for the window, notebooks and papers."""

import io
import math
import textwrap
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PatchCollection, QuadMesh
from matplotlib.colors import Colormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.patches import Ellipse, Rectangle
from matplotlib.text import Text
from matplotlib.textpath import text_to_path

from augenmerk.core import __version__
from augenmerk.core.errors import StorageError
from augenmerk.core.extensions.provenance import Provenance, with_provenance
from augenmerk.core.plain_text import one_line
from augenmerk.core.storage import atomic_path
from augenmerk.core.translation.result import FloatArray

from ...heatmap.drawing import (
    DIMMED_OPACITY,
    SMALL_SCALE,
    Box,
    Drawing,
    Shape,
    mark_shapes,
    marked_labels,
)
from ...state.color_scale import ColorScale
from ...state.map_view import NO_MARKS, Sums
from ...state.sentence_text import visible
from .printed_maps import PRINT_COLORS, DrawingBlock

FORMATS = ("png", "svg", "pdf")
CELL_INCHES, THUMBNAIL_INCHES, KIND_GAP_INCHES = 0.28, 0.85, 0.12
MIN_INCHES, MIN_PLOT_INCHES, MAX_INCHES = 3.8, 1.0, 24.0
MARGIN_INCHES, BAR_INCHES, CAPTION_INCHES = 0.2, 0.65, 0.135
TITLE_POINTS, LABEL_POINTS, CAPTION_POINTS, LABEL_PAD_POINTS = 10, 9, 7, 6
COLUMN_DEGREES = 55
OFF_VEIL = 0.82
PIXELS_PER_INCH = 96
"""Of the window's pixels, in which marks are measured."""
SUMS_GAP = 0.35
"""Between map and sums, in cells."""
POINTS_PER_INCH = 72
DOTS_PER_INCH = 200
SEAM_POINTS = 0.3
_NOT_SOUGHT = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
"""Categories that look alike in all fonts, or mean something else in each."""
_LAST_RESORT = "Last Resort"  # matplotlib's own font, whose glyphs are boxes
_PROGRAM = f"Augenmerk {__version__}"
_METADATA = {
    "png": {"Software": _PROGRAM},
    "svg": {"Creator": _PROGRAM, "Date": None},
    "pdf": {"Creator": _PROGRAM, "CreationDate": None},
}
"""The program, and no date, which would differ each time."""


_has_own_style = ContextVar("_has_own_style", default=True)


@contextmanager
def own_style() -> Iterator[None]:
    """Within the block, matplotlib draws in its own style, whatever the user's `matplotlibrc` says.

    A decorator, too.

    Everything that makes or draws a part of a figure needs it: each part takes the style of that
    moment. Within `style_of_user` it is the user's style.
    """
    with matplotlib.rc_context():
        if _has_own_style.get():
            matplotlib.rcdefaults()
            # text stays text
            matplotlib.rcParams.update({"svg.fonttype": "none", "pdf.fonttype": 42})
        # words are no TeX, and the names inside an SVG file are the same each time
        matplotlib.rcParams.update({"text.usetex": False, "svg.hashsalt": "augenmerk"})
        yield


@contextmanager
def style_of_user(*, is_used: bool = True) -> Iterator[None]:
    """Within the block, figures have the style of the user's `matplotlibrc` and `rcParams`, except
    `text.usetex`.

    Sizes, colours and fonts that a figure sets itself stay.
    """
    token = _has_own_style.set(not is_used)
    try:
        yield
    finally:
        _has_own_style.reset(token)


@own_style()
def map_figure(drawing: Drawing) -> Figure:
    """One labelled map with its marks, its row of sums, its colour bar and its caption."""
    num_rows, num_columns = drawing.values.shape
    sums = drawing.sums
    cell = min(CELL_INCHES, MAX_INCHES / max(num_rows, num_columns, 1))
    size = min(LABEL_POINTS, 0.75 * cell * POINTS_PER_INCH)
    row_labels, column_labels = (
        list(map(visible, labels)) for labels in (drawing.row_labels, drawing.column_labels)
    )
    beside = [*row_labels, visible(sums.label)] if sums is not None else row_labels
    left = MARGIN_INCHES + max((_width_inches(text, size) for text in beside), default=0)
    widths = [_width_inches(text, size) for text in column_labels]
    slant = math.radians(COLUMN_DEGREES)
    top = 0.45 + max(widths, default=0) * math.sin(slant) + size / POINTS_PER_INCH
    plot_width = num_columns * cell
    plot_height = num_rows * cell
    overhang = max(
        (width * math.cos(slant) - (num_columns - n) * cell for n, width in enumerate(widths)),
        default=0,
    )
    title_width = _width_inches(drawing.title, TITLE_POINTS, weight="bold")
    bar_left = left + plot_width + 0.15
    width = max(
        bar_left + BAR_INCHES,
        left + plot_width + overhang + cell,
        title_width + MARGIN_INCHES,
        MIN_INCHES,
    )
    lines = wrapped_caption(drawing.caption, width)
    below = (1 + SUMS_GAP) * cell if sums is not None else 0
    height = top + max(plot_height + below, MIN_PLOT_INCHES) + 0.2 + len(lines) * CAPTION_INCHES
    figure = new_figure(width, height)
    axes = figure.add_axes(place_in(left, top, plot_width, plot_height, figure))
    cells = draw_map(axes, drawing, cell, size)
    if sums is not None:
        box = place_in(left, top + plot_height + SUMS_GAP * cell, plot_width, cell, figure)
        _draw_sums(figure.add_axes(box), sums, drawing.sums_scale, size)
    bar_height = min(max(plot_height, MIN_PLOT_INCHES), 3.0)
    _draw_color_bar(figure, cells, place_in(bar_left, top, 0.12, bar_height, figure))
    write_around(figure, drawing.title, lines)
    return figure


def _draw_color_bar(
    figure: Figure, cells: QuadMesh, place: tuple[float, float, float, float]
) -> None:
    colors = figure.colorbar(cells, cax=figure.add_axes(place))
    colors.ax.tick_params(labelsize=8)
    assert colors.solids is not None  # a bar of cells has them
    _close_seams(colors.solids, 2 * SEAM_POINTS)


def draw_map(
    axes: Axes, drawing: Drawing, cell: float = CELL_INCHES, label_points: float | None = None
) -> QuadMesh:
    """The cells of a map, with its labels and marks, on axes of any style.

    Args:
        axes: to draw on.
        drawing: the map; its title, caption and sums are left out.
        cell: the side of a cell in inches, for the size of marks.
        label_points: the size of labels; None for that of the axes.
    """
    num_rows, num_columns = drawing.values.shape
    row_labels, column_labels = (
        [escaped(visible(label)) for label in labels]
        for labels in (drawing.row_labels, drawing.column_labels)
    )
    cells = _draw_cells(axes, drawing.values, drawing.scale)
    _hatch_missing(axes, drawing)
    axes.set(xlim=(-0.5, num_columns - 0.5), ylim=(num_rows - 0.5, -0.5))
    axes.set_xticks(
        range(num_columns),
        column_labels,
        rotation=COLUMN_DEGREES,
        ha="left",
        va="bottom",
        rotation_mode="anchor",
    )
    axes.set_yticks(range(num_rows), row_labels)
    axes.tick_params(length=0, pad=LABEL_PAD_POINTS, top=True, labeltop=True, labelbottom=False)
    if label_points is not None:
        axes.tick_params(labelsize=label_points)
    for is_row, texts in ((True, axes.get_yticklabels()), (False, axes.get_xticklabels())):
        for text, color in zip(
            texts, marked_labels(drawing.marks, len(texts), is_row=is_row), strict=True
        ):
            if color:
                text.set_color(PRINT_COLORS[color])
    pixels = cell * PIXELS_PER_INCH
    whole = Box(0, 0, num_columns * pixels, num_rows * pixels)
    _draw_shapes(axes, mark_shapes(drawing.marks, (pixels, pixels), whole), pixels, (-0.5, -0.5))
    return cells


@own_style()
def grid_figure(blocks: Sequence[DrawingBlock], caption: str) -> Figure:
    """All heads as small maps without labels: a row for each layer, block below block."""
    lines_of_maps = [line for block in blocks for line in block.lines]
    num_heads = max(map(len, lines_of_maps))
    left = 0.9
    top = 0.7
    step = THUMBNAIL_INCHES + 0.08
    width = max(left + num_heads * step + MARGIN_INCHES, MIN_INCHES)
    lines = wrapped_caption(caption, width)
    height = (
        top
        + len(lines_of_maps) * step
        + (len(blocks) - 1) * KIND_GAP_INCHES
        + 0.15
        + len(lines) * CAPTION_INCHES
    )
    figure = new_figure(width, height)
    # one for all: an inch is a unit, from the upper left corner
    axes = figure.add_axes((0, 0, 1, 1))
    y = top
    frames = []
    for block in blocks:
        for layer, drawings in enumerate(block.lines):
            names = f"{escaped(block.title)}\nlayer {layer + 1}"
            axes.text(
                left - 0.1, y + THUMBNAIL_INCHES / 2, names, fontsize=7, ha="right", va="center"
            )
            for head, drawing in enumerate(drawings):
                x = left + head * step
                _draw_small(axes, drawing, x, y)
                frames.append(Rectangle((x, y), THUMBNAIL_INCHES, THUMBNAIL_INCHES))
            y += step
        y += KIND_GAP_INCHES
    axes.add_collection(
        PatchCollection(frames, facecolor="none", edgecolor="0.6", linewidth=0.5, zorder=3)
    )
    for head in range(num_heads):
        axes.text(
            left + head * step + THUMBNAIL_INCHES / 2,
            top - 0.07,
            str(head + 1),
            fontsize=8,
            ha="center",
        )
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    write_around(figure, "All heads", lines)
    return figure


@own_style()
def save_figure(figure: Figure, target: Path, saved: Provenance | None = None) -> None:
    """Writes a figure as PNG, SVG or PDF, by the name's ending; text stays text in the latter two.

    The same figure gives the same bytes each time. Characters that the default font lacks are drawn
    in an installed font that has them, or as a box. `saved` is the provenance.

    Raises:
        StorageError: the ending is another, or the file cannot be written.
    """
    kind = target.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise StorageError(f"{target.name}: choose a file name that ends in .png, .svg or .pdf.")
    # a file that cannot be written must not be left to a half-made archive of fonts
    content = io.BytesIO()
    choose_fonts(figure)
    with _boxes_for_missing_glyphs():
        # a figure by plot_map has a method of its own, which would add its provenance, too
        Figure.savefig(figure, content, format=kind, dpi=DOTS_PER_INCH, metadata=_METADATA[kind])
    with atomic_path(target) as temporary:
        temporary.write_bytes(with_provenance(content.getvalue(), saved))


def _draw_cells(axes: Axes, values: FloatArray, scale: ColorScale) -> QuadMesh:
    """Each cell is 1 wide and 1 high, the middle of the first at the origin."""
    num_rows, num_columns = values.shape
    cells = axes.pcolormesh(
        *(np.arange(-0.5, count) for count in (num_columns, num_rows)),
        np.ma.masked_invalid(values) if scale.is_signed else values,
        cmap=_colors(scale),
        vmin=-scale.top if scale.is_signed else 0,
        vmax=scale.top,
        rasterized=False,
    )
    _close_seams(cells)
    return cells


def _draw_sums(axes: Axes, sums: Sums, scale: ColorScale, size: float) -> None:
    """The sum of picked queries, framed, with its label and its largest value."""
    _draw_cells(axes, sums.values, scale)
    axes.set_xticks([])
    axes.set_yticks([0], [escaped(visible(sums.label))], color=PRINT_COLORS["accent"])
    axes.tick_params(length=0, pad=LABEL_PAD_POINTS, labelsize=size)
    for spine in axes.spines.values():
        spine.set(edgecolor=PRINT_COLORS["accent"], linewidth=1)
    right = sums.values.shape[1] - 0.5 + SUMS_GAP
    axes.text(right, 0, f"≤ {sums.largest:.2f}", fontsize=8, color="0.35", va="center")


def _draw_small(axes: Axes, drawing: Drawing, x: float, y: float) -> None:
    """A small map at a place in inches; that of a head that is off is pale, as in the window."""
    side = THUMBNAIL_INCHES
    scale = drawing.scale
    least = -scale.top if scale.is_signed else 0
    extent = (x, x + side, y + side, y)
    axes.imshow(
        drawing.values,
        cmap=_colors(scale),
        vmin=least,
        vmax=scale.top,
        extent=extent,
        aspect="auto",
    )
    if drawing.marks.is_off:
        axes.add_patch(
            Rectangle(
                (x, y), side, side, facecolor="white", alpha=OFF_VEIL, linewidth=0, zorder=1.5
            )
        )
    if drawing.marks != NO_MARKS:
        num_rows, num_columns = drawing.values.shape
        pixels = side * PIXELS_PER_INCH
        cell = (pixels / max(num_columns, 1), pixels / max(num_rows, 1))
        shapes = mark_shapes(drawing.marks, cell, Box(0, 0, pixels, pixels), SMALL_SCALE)
        _draw_shapes(axes, shapes, PIXELS_PER_INCH, (x, y))


def _draw_shapes(
    axes: Axes, shapes: Sequence[Shape], unit_px: float, corner: tuple[float, float]
) -> None:
    """Draws marks on axes with `unit_px` of the window's pixels per unit; `corner` is that of the
    first cell.
    """
    for shape in shapes:
        x = corner[0] + shape.box.left / unit_px
        y = corner[1] + shape.box.top / unit_px
        width = shape.box.width / unit_px
        height = shape.box.height / unit_px
        color = PRINT_COLORS[shape.color]
        points = shape.pen_px * POINTS_PER_INCH / PIXELS_PER_INCH
        if shape.kind == "line":
            axes.plot(
                [x, x + width],
                [y, y + height],
                color=color,
                linewidth=points,
                solid_capstyle="round",
                zorder=2,
            )
            continue
        is_round = shape.kind in ("dot", "ring")
        is_dimmed = shape.kind == "dimmed"
        fill = "white" if is_dimmed else color
        if shape.kind in ("frame", "ring"):
            fill = "none"
        patch = (
            Ellipse((x + width / 2, y + height / 2), width, height)
            if is_round
            else Rectangle((x, y), width, height)
        )
        patch.set(
            clip_on=False,
            zorder=2,
            linewidth=points,
            facecolor=fill,
            edgecolor="none" if is_dimmed else color,
        )
        patch.set_alpha(DIMMED_OPACITY if is_dimmed else None)
        axes.add_patch(patch)


def _close_seams(cells: QuadMesh, width: float = SEAM_POINTS) -> None:
    """Keeps cells as shapes in a vector picture, slightly overlapping: no viewer shows the ground
    between them.
    """
    cells.set(rasterized=False, edgecolor="face", linewidth=width)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def place_in(
    left: float, top: float, width: float, height: float, figure: Figure
) -> tuple[float, float, float, float]:
    """Inches from the upper left corner as shares from the lower left corner, which matplotlib
    expects.
    """
    whole_width, whole_height = figure.get_size_inches()
    return (
        left / whole_width,
        1 - (top + height) / whole_height,
        width / whole_width,
        height / whole_height,
    )


def write_around(figure: Figure, title: str, lines: Sequence[str]) -> None:
    """The title above, the caption below."""
    width, height = figure.get_size_inches()
    x = 0.5 * MARGIN_INCHES / width
    figure.text(x, 1 - 0.3 / height, escaped(title), fontsize=TITLE_POINTS, fontweight="bold")
    for number, line in enumerate(lines, start=1):  # in reading order, also in a vector file
        y = (0.08 + (len(lines) - number) * CAPTION_INCHES) / height
        figure.text(x, y, escaped(line), fontsize=CAPTION_POINTS, color="0.35")


def wrapped_caption(caption: str, width: float) -> list[str]:
    """A caption in lines that fit into this width in inches."""
    room = width - MARGIN_INCHES
    num_letters = int(room * (len(caption) + 1) / _width_inches(f"{caption}n", CAPTION_POINTS))
    lines = textwrap.wrap(caption, max(num_letters, 1))
    while num_letters > 1 and any(_width_inches(line, CAPTION_POINTS) > room for line in lines):
        num_letters -= 1
        lines = textwrap.wrap(caption, num_letters)
    return lines


def _width_inches(text: str, points: float, weight: str = "normal") -> float:
    text = one_line(text)
    font = FontProperties(size=points, weight=weight)
    font.set_family([*font.get_family(), *_other_families(text)])
    with _boxes_for_missing_glyphs():
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return width / POINTS_PER_INCH


def choose_fonts(part: Figure | Axes) -> None:
    """Adds families to the texts with characters that the default font lacks."""
    for axes in part.axes if isinstance(part, Figure) else [part]:
        axes.get_xticklabels()  # gives the labels of the ticks their texts
        axes.get_yticklabels()
    for text in part.findobj(Text):
        assert isinstance(text, Text)
        if families := _other_families(text.get_text()):
            text.set(fontfamily=[*text.get_fontfamily(), *families], fontweight="normal")


def _other_families(text: str) -> tuple[str, ...]:
    """Families of installed fonts of normal weight that have characters of `text` which the default
    font lacks.

    Fonts that come with matplotlib are first; matplotlib lists fonts in a random order.
    """
    return _families_beyond(findfont(FontProperties()), text)


@lru_cache(maxsize=1024)
def _families_beyond(default_font: str, text: str) -> tuple[str, ...]:
    default = get_font(default_font)
    missing = {
        ord(letter)
        for letter in text
        if ord(letter) > 0x7F and unicodedata.category(letter) not in _NOT_SOUGHT
    }
    missing = {code for code in missing if not default.get_char_index(code)}
    if not missing:
        return ()
    families = []
    shipped = matplotlib.get_data_path()
    fonts = sorted(
        fontManager.ttflist,
        key=lambda font: (not font.fname.startswith(shipped), font.name, font.fname),
    )
    for entry in fonts:
        if (entry.style, entry.weight) != ("normal", 400) or entry.name.startswith(_LAST_RESORT):
            continue
        try:
            font = get_font(entry.fname)
        # removed since the list was made, or not scalable
        except (OSError, RuntimeError, NotImplementedError):
            continue
        if covered := {code for code in missing if font.get_char_index(code)}:
            families.append(entry.name)
            missing -= covered
            if not missing:
                break
    return tuple(families)


@contextmanager
def _boxes_for_missing_glyphs() -> Iterator[None]:
    """Without matplotlib's warning where no font has a character."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .*missing from", UserWarning)
        yield


def _colors(scale: ColorScale) -> Colormap:
    colors = scale.table()
    return ListedColormap(colors.rgb / 255).with_extremes(bad=f"#{bytes(colors.missing).hex()}")


def _hatch_missing(axes: Axes, drawing: Drawing) -> None:
    """Cells without a value are grey and hatched."""
    for row, column in drawing.missing():
        cell = Rectangle(
            (column - 0.5, row - 0.5),
            1,
            1,
            facecolor="0.84",
            edgecolor="0.55",
            hatch="////",
            linewidth=0,
        )
        axes.add_patch(cell)


def escaped(text: str) -> str:
    """A dollar sign means a formula to matplotlib; SVG, which is XML, takes no control
    characters.
    """
    return one_line(text).replace("$", r"\$")
