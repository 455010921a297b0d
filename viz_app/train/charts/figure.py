"""Charts as figures to be saved: matplotlib without Qt, in the look of the other exports."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from augenmerk.core.plain_text import one_line
from augenmerk.viz_app.export.figures import CAPTION_INCHES, new_figure, place_in, wrapped_caption, write_around
from augenmerk.viz_app.train.charts.axes import ChartAxes, ChartStyle
from augenmerk.viz_app.train.charts.colors import line_color
from augenmerk.viz_app.train.charts.picture import ChartLine, ChartPicture
from augenmerk.viz_app.train.charts.settings import QUANTITY_NAMES, Quantity

WIDTH, HEIGHT = 7.0, 2.9
LEFT, RIGHT, TITLE, LEGEND_LINE, BOTTOM, GAP = 0.75, 0.25, 0.5, 0.17, 0.48, 0.12
LEGEND_COLUMNS = 4
LABEL_POINTS, TITLE_POINTS = 8, 9
_STYLE = ChartStyle(
    color_of=line_color,
    background="white",
    label_points=LABEL_POINTS,
    line_widths={"raw": 0.6, "curve": 1.6, "points": 1.2, "reference": 1.0},
    grid_width=0.7,
    marker_size=4,
    ring_size=8,
    label_unit=1.0,
)


@dataclass(frozen=True, eq=False)
class NamedChart:
    """A chart and the quantity that it shows."""

    quantity: Quantity
    picture: ChartPicture


def charts_figure(charts: Sequence[NamedChart], title: str, caption: str) -> Figure:
    """The charts, one below the other, with their legends."""
    lines = wrapped_caption(caption, WIDTH)
    legends = [-(-len(_named(chart.picture)) // LEGEND_COLUMNS) * LEGEND_LINE + 0.08 for chart in charts]
    heights = [HEIGHT + legend for legend in legends]
    height = TITLE + sum(heights) + GAP * (len(charts) - 1) + len(lines) * CAPTION_INCHES + 0.1
    figure = new_figure(WIDTH, height)
    top = TITLE
    for chart, legend, each in zip(charts, legends, heights, strict=True):
        size = WIDTH - LEFT - RIGHT, each - legend - BOTTOM
        axes = figure.add_axes(place_in(LEFT, top + legend, *size, figure))
        _draw(axes, chart)
        top += each + GAP
    write_around(figure, title, lines)
    return figure


def _draw(axes: Axes, chart: NamedChart) -> None:
    """Axes, lines, the best validation, and a legend of the lines that have points."""
    drawn = ChartAxes(axes, _STYLE, num_steps=7)
    axes.set_xlabel("optimizer steps", fontsize=LABEL_POINTS, color=line_color("muted"))
    axes.set_ylabel(QUANTITY_NAMES[chart.quantity], fontsize=TITLE_POINTS, color=line_color("text"))
    drawn.show_picture(replace(chart.picture, moment=None))
    handles = []
    for line in _named(chart.picture):
        artist = Line2D([], [], label=one_line(line.name).replace("$", r"\$").lstrip("_") or " ")
        drawn.style_line(artist, line)
        handles.append(artist)
    if handles:
        axes.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(-0.01, 1.0),
            ncols=LEGEND_COLUMNS,
            fontsize=LABEL_POINTS,
            frameon=False,
            borderaxespad=0,
            handlelength=1.6,
            columnspacing=1.2,
        )


def _named(picture: ChartPicture) -> list[ChartLine]:
    """The lines that a legend names: those that have points, in the order of their names' first appearance."""
    found = {line.name: line for line in picture.lines if len(line.xs)}
    return list(found.values())
