"""Charts as figures to be saved: matplotlib without Qt, in the look of the other exports."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from augenmerk.core.plain_text import one_line
from augenmerk.viz_app.export.figures import CAPTION_INCHES, new_figure, place_in, wrapped_caption, write_around
from augenmerk.viz_app.train.charts.label_position import best_label_position
from augenmerk.viz_app.train.charts.paper_colors import marker_of, paper_color
from augenmerk.viz_app.train.charts.picture import ChartLine, ChartPicture
from augenmerk.viz_app.train.charts.settings import QUANTITY_NAMES, Quantity
from augenmerk.viz_app.train.charts.value_ticks import ValueFormatter
from augenmerk.viz_app.train.series import Points

WIDTH, HEIGHT = 7.0, 2.9
LEFT, RIGHT, TITLE, LEGEND_LINE, BOTTOM, GAP = 0.75, 0.25, 0.5, 0.17, 0.48, 0.12
LEGEND_COLUMNS = 4
LABEL_POINTS, TITLE_POINTS = 8, 9
LINE_WIDTHS = {"raw": 0.6, "curve": 1.6, "points": 1.2, "reference": 1.0}
POINTS_PER_INCH = 72


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
        _draw(axes, chart, (size[0] * POINTS_PER_INCH, size[1] * POINTS_PER_INCH))
        _add_legend(axes, chart.picture)
        top += each + GAP
    write_around(figure, title, lines)
    return figure


def _draw(axes: Axes, chart: NamedChart, size: tuple[float, float]) -> None:
    """Axes, lines and the best validation; `size` is in points."""
    picture = chart.picture
    axes.set_yscale("log" if picture.is_log else "linear")
    axes.set(xlim=picture.x_limits, ylim=picture.y_limits)
    axes.set_xlabel("optimiser steps", fontsize=LABEL_POINTS, color=paper_color("muted"))
    axes.set_ylabel(QUANTITY_NAMES[chart.quantity], fontsize=TITLE_POINTS, color=paper_color("text"))
    axes.grid(True, color=paper_color("grid"), linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0, labelsize=LABEL_POINTS, colors=paper_color("muted"))
    axes.xaxis.set_major_locator(MaxNLocator(7, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_locator(
        LogLocator(subs=(1.0, 2.0, 5.0), numticks=7)
        if picture.is_log
        else MaxNLocator(6, steps=[1, 2, 2.5, 5, 10], min_n_ticks=3)
    )
    axes.yaxis.set_major_formatter(ValueFormatter())
    axes.yaxis.set_minor_formatter(NullFormatter())
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for spine in axes.spines.values():
        spine.set_color(paper_color("border"))
    for line in picture.lines:
        artist = _artist(line)
        artist.set_clip_on(line.look != "points" or not _is_inside(line, picture))  # points on the edge are whole
        axes.add_line(artist)
    _mark_best(axes, picture, size)
    if picture.message:
        axes.text(0.5, 0.5, picture.message, transform=axes.transAxes, ha="center", fontsize=LABEL_POINTS, color="0.35")


def _artist(line: ChartLine) -> Line2D:
    return Line2D(
        line.xs,
        line.ys,
        color=paper_color(line.color),
        linewidth=LINE_WIDTHS[line.look],
        marker=marker_of(line.color) if line.look == "points" else "",
        markersize=4,
    )


def _is_inside(line: ChartLine, picture: ChartPicture) -> bool:
    """Whether no point lies outside the axes."""
    (left, right), (low, high) = picture.x_limits, picture.y_limits
    return not bool(((line.xs < left) | (line.xs > right) | (line.ys < low) | (line.ys > high)).any())


def _mark_best(axes: Axes, picture: ChartPicture, size: tuple[float, float]) -> None:
    """A ring around the best validation, and what it is, where it hides least."""
    best = picture.best
    if best is None or not picture.x_limits[0] <= best[0] <= picture.x_limits[1]:
        return
    axes.plot([best[0]], [best[1]], "o", color=paper_color("warm"), markersize=8, fillstyle="none", clip_on=False)
    scale = np.array(size)

    def in_points(xs: Points, ys: Points) -> tuple[Points, Points]:
        shares = axes.transAxes.inverted().transform(axes.transData.transform(np.column_stack((xs, ys))))
        found = shares * scale
        return found[:, 0], found[:, 1]

    curves = [in_points(line.xs, line.ys) for line in picture.lines if len(line.xs)]
    xs, ys = in_points(np.array([best[0]]), np.array([best[1]]))
    wanted = (0.62 * len(best[2]) + 1) * LABEL_POINTS, 1.5 * LABEL_POINTS
    place = best_label_position((float(xs[0]), float(ys[0])), wanted, size, curves)
    axes.annotate(
        best[2],
        best[:2],
        xytext=(place.dx_px, place.dy_px),
        textcoords="offset points",
        ha=place.horizontal,
        va=place.vertical,
        fontsize=LABEL_POINTS,
        color=paper_color("text"),
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5},
    )


def _named(picture: ChartPicture) -> list[ChartLine]:
    """The lines that a legend names: those that have points, in the order of their names' first appearance."""
    found = {line.name: line for line in picture.lines if len(line.xs)}
    return list(found.values())


def _add_legend(axes: Axes, picture: ChartPicture) -> None:
    entries = list(_entries(picture))
    if entries:
        axes.legend(
            handles=entries,
            loc="lower left",
            bbox_to_anchor=(-0.01, 1.0),
            ncols=LEGEND_COLUMNS,
            fontsize=LABEL_POINTS,
            frameon=False,
            borderaxespad=0,
            handlelength=1.6,
            columnspacing=1.2,
        )


def _entries(picture: ChartPicture) -> Iterator[Line2D]:
    for line in _named(picture):
        artist = _artist(line)
        artist.set_data([], [])
        artist.set_label(one_line(line.name).replace("$", r"\$").lstrip("_") or " ")
        yield artist
