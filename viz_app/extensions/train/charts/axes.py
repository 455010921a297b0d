"""Charts drawn by matplotlib: on the axes of the live charts, and as figures to be saved. No Qt.

Importing this module imports matplotlib.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import Formatter, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from ...pictures.figures import (
    CAPTION_INCHES,
    escaped,
    new_figure,
    own_style,
    place_in,
    wrapped_caption,
    write_around,
)
from .picture import (
    QUANTITY_NAMES,
    ChartLine,
    ChartPicture,
    Look,
    line_color,
    marker_of,
)

LINE_POINTS: dict[Look, float] = {"raw": 0.7, "curve": 1.7, "points": 1.3, "reference": 1.0}
GRID_POINTS, MARKER_POINTS, RING_POINTS, LABEL_GAP_POINTS = 0.8, 4.5, 9, 6
"""Of a label, in relation to its letters."""
_MIN_DIGITS, _MAX_DIGITS = 3, 9
WIDTH, HEIGHT = 7.0, 2.9
LEFT, RIGHT, TITLE, LEGEND_LINE, BOTTOM, GAP = 0.75, 0.25, 0.5, 0.17, 0.48, 0.12
"""Of saved figures, in inches."""
LEGEND_COLUMNS = 4
LABEL_POINTS, TITLE_POINTS = 8, 9
MAX_STEP_LABELS = 7


class ChartAxes:
    """Draws `ChartPicture`s on axes; the artists are kept from one picture to the next.

    Attributes:
        curves: the artists of the latest picture over axes and grid, from back to front.
        lines: the artists of the lines, by `ChartLine.key`.
    """

    def __init__(self, axes: Axes, *, is_animated: bool = False) -> None:
        """`is_animated`: the caller draws `curves`, not the figure."""
        self.axes = axes
        self._picture: ChartPicture | None = None
        self._num_values = 6.0
        self._is_animated = is_animated
        self.lines: dict[str, Line2D] = {}
        self.curves: list[Artist] = []
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        self._shown_step = axes.axvline(
            0, animated=is_animated, linestyle=(0, (2, 2)), linewidth=1.2, visible=False
        )
        (self._best_ring,) = axes.plot(
            [],
            [],
            animated=is_animated,
            linestyle="none",
            marker="o",
            fillstyle="none",
            clip_on=False,
        )
        self._best_label = axes.annotate(
            "", (1, 1), (0, 0), "axes fraction", "offset points", ha="right", animated=is_animated
        )
        self._message = axes.text(
            0.5, 0.5, "", transform=axes.transAxes, ha="center", va="center", animated=is_animated
        )
        self._set_scale(is_log=False)
        self.set_num_labels(MAX_STEP_LABELS, self._num_values)

    def set_style(
        self, color_of: Callable[[str], str], background: str, label_points: float
    ) -> None:
        """Draws everything in this style from now on.

        Args:
            color_of: the colour "#rrggbb" of a name, see `line_color`.
            background: colour under the curves.
            label_points: size of labels.
        """
        self._color_of = color_of
        axes = self.axes
        axes.set_facecolor(background)
        axes.grid(True, color=color_of("grid"), linewidth=GRID_POINTS)
        axes.tick_params(which="both", colors=color_of("muted"), labelsize=label_points, length=0)
        for spine in axes.spines.values():
            spine.set_color(color_of("border"))
        if self._picture is not None:
            for line in self._picture.lines:
                self._draw_line(line, self._picture)
        self._best_ring.set(color=color_of("warm"), markersize=RING_POINTS)
        self._best_label.set(color=color_of("text"), fontsize=label_points)
        # opaque: it may be on the line of the film's epoch
        self._best_label.set_bbox({"facecolor": background, "edgecolor": "none", "pad": 1})
        self._shown_step.set_color(color_of("text"))
        self._message.set(color=color_of("muted"), fontsize=label_points)

    def set_num_labels(self, num_steps: float, num_values: float) -> None:
        """Sets how many labels the step axis and the value axis may have."""
        num = round(max(3, min(MAX_STEP_LABELS, num_steps)))
        self.axes.xaxis.set_major_locator(
            MaxNLocator(num, integer=True, steps=[1, 2, 5, 10], min_n_ticks=3)
        )
        self._num_values = num_values
        self._set_value_locator()

    def show_picture(self, picture: ChartPicture) -> bool:
        """Draws `picture`; returns whether limits or scale changed, so that the axes must be drawn
        again, too.
        """
        before = (*self.axes.get_xlim(), *self.axes.get_ylim(), self.axes.get_yscale())
        self._picture = picture
        if (self.axes.get_yscale() == "log") != picture.is_log:
            self._set_scale(is_log=picture.is_log)
        self.axes.set_xlim(*picture.x_limits)
        self.axes.set_ylim(*picture.y_limits)
        self._shown_step.set_visible(picture.shown_step is not None)
        if picture.shown_step is not None:
            self._shown_step.set_xdata([picture.shown_step, picture.shown_step])
        lines = [self._draw_line(line, picture) for line in picture.lines]
        self._draw_best(picture)
        self._message.set_text(picture.message)
        self.curves = [self._shown_step, *lines, self._best_ring, self._best_label, self._message]
        return before != (*self.axes.get_xlim(), *self.axes.get_ylim(), self.axes.get_yscale())

    def _draw_line(self, line: ChartLine, picture: ChartPicture) -> Line2D:
        artist = self.lines.get(line.key)
        if artist is None:
            (artist,) = self.axes.plot([], [], animated=self._is_animated)
            self.lines[line.key] = artist
        is_points = line.look == "points"
        artist.set_data(line.xs, line.ys)
        artist.set(
            color=self._color_of(line.color),
            linewidth=LINE_POINTS[line.look],
            markersize=MARKER_POINTS,
        )
        artist.set_antialiased(line.look != "raw")
        artist.set_marker(marker_of(line.color) if is_points else "")
        # points on the edge are whole
        artist.set_clip_on(not is_points or picture.settings.shown != "all")
        return artist

    def _draw_best(self, picture: ChartPicture) -> None:
        """A ring around the best validation; its value is in the corner at the right that is
        farther from all lines.
        """
        best = picture.best
        if best is not None and not picture.x_limits[0] <= best[0] <= picture.x_limits[1]:
            best = None
        self._best_ring.set_data([best[0]] if best else [], [best[1]] if best else [])
        self._best_label.set_visible(best is not None)
        if best is None:
            return
        heights = [
            height for line in picture.lines for height in self._heights_at_the_right(line, picture)
        ]
        is_above = not heights or 1 - max(heights) >= min(heights)
        self._best_label.xy = 1, int(is_above)
        self._best_label.set_text(best[2])
        self._best_label.set_position((0, -LABEL_GAP_POINTS if is_above else LABEL_GAP_POINTS))
        self._best_label.set_verticalalignment("top" if is_above else "bottom")

    def _heights_at_the_right(self, line: ChartLine, picture: ChartPicture) -> list[float]:
        """The least and greatest height of a line in the right half of the chart, as shares of its
        height.
        """
        first, last = picture.x_limits
        ys = np.asarray(line.ys, dtype=float)[np.asarray(line.xs) >= (first + last) / 2]
        ys = ys[np.isfinite(ys)]
        if not len(ys):
            return []
        points = self.axes.transData.transform([(last, ys.min()), (last, ys.max())])
        return [float(height) for _, height in self.axes.transAxes.inverted().transform(points)]

    def _set_scale(self, *, is_log: bool) -> None:
        self.axes.set_yscale("log" if is_log else "linear")
        self._set_value_locator()
        self.axes.yaxis.set_major_formatter(ValueFormatter())
        self.axes.yaxis.set_minor_formatter(NullFormatter())

    def _set_value_locator(self) -> None:
        """As many value labels as fit."""
        num = round(max(2, min(6, self._num_values)))
        self.axes.yaxis.set_major_locator(
            LogLocator(subs=(1.0, 2.0, 5.0), numticks=num + 1)
            if self.axes.get_yscale() == "log"
            else MaxNLocator(num, steps=[1, 2, 2.5, 5, 10], min_n_ticks=min(3, num))
        )


class ValueFormatter(Formatter):
    """Three significant digits, and more where two labels would be equal."""

    def __call__(self, value: float, _position: int | None = None) -> str:
        """The label of a single tick."""
        return _label(value, _MIN_DIGITS)

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """The labels of all ticks."""
        labels: list[str] = []
        for digits in range(_MIN_DIGITS, _MAX_DIGITS + 1):
            labels = [_label(value, digits) for value in values]
            if len(set(labels)) == len(set(values)):
                break
        return labels


def _label(value: float, digits: int) -> str:
    return f"{value:,.{digits - _MIN_DIGITS}f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


@own_style()
def charts_figure(charts: Sequence[ChartPicture], title: str, caption: str) -> Figure:
    """The charts, one below the other, with their legends."""
    lines = wrapped_caption(caption, WIDTH)
    legends = [-(-len(_named(chart)) // LEGEND_COLUMNS) * LEGEND_LINE + 0.08 for chart in charts]
    heights = [HEIGHT + legend for legend in legends]
    height = TITLE + sum(heights) + GAP * (len(charts) - 1) + len(lines) * CAPTION_INCHES + 0.1
    figure = new_figure(WIDTH, height)
    top = TITLE
    for chart, legend, chart_height in zip(charts, legends, heights, strict=True):
        size = WIDTH - LEFT - RIGHT, chart_height - legend - BOTTOM
        axes = figure.add_axes(place_in(LEFT, top + legend, *size, figure))
        _draw(axes, chart)
        top += chart_height + GAP
    write_around(figure, title, lines)
    return figure


def _draw(axes: Axes, picture: ChartPicture) -> None:
    """Axes, lines, the best validation, and a legend of the lines that have points."""
    drawn = ChartAxes(axes)
    drawn.set_style(line_color, "white", LABEL_POINTS)
    axes.set_xlabel("optimizer steps", fontsize=LABEL_POINTS, color=line_color("muted"))
    axes.set_ylabel(
        QUANTITY_NAMES[picture.settings.quantity], fontsize=TITLE_POINTS, color=line_color("text")
    )
    drawn.show_picture(replace(picture, shown_step=None))
    handles = []
    for line in _named(picture):
        handles.append(drawn.lines[line.key])
        handles[-1].set_label(escaped(line.name).lstrip("_") or " ")
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
    """The lines that a legend names: those that have points, one for each name."""
    lines_by_name = {line.name: line for line in picture.lines if len(line.xs)}
    return list(lines_by_name.values())
