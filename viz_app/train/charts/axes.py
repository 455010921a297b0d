"""A chart's picture on matplotlib's axes, on the screen and in files. Importing this module imports matplotlib."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import Formatter, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from augenmerk.viz_app.train.charts.colors import marker_of
from augenmerk.viz_app.train.charts.picture import ChartLine, ChartPicture, Look
from augenmerk.viz_app.train.curves import Points

GAP_PX = 11
_NUM_DISTANCES = 6
_MIN_DIGITS, _MAX_DIGITS = 3, 9


@dataclass(frozen=True)
class ChartStyle:
    """How a picture is drawn.

    Attributes:
        color_of: the colour "#rrggbb" of a name, see `viz_app.train.charts.colors`.
        background: colour behind the curves.
        label_points: size of labels.
        line_widths: in points.
        grid_width, marker_size, ring_size: in points; the ring marks the best validation.
        label_unit: the unit in which the label of the best validation is placed, in points.
    """

    color_of: Callable[[str], str]
    background: str
    label_points: float
    line_widths: Mapping[Look, float]
    grid_width: float
    marker_size: float
    ring_size: float
    label_unit: float


class ChartAxes:
    """Draws `ChartPicture`s on axes; the artists are kept from one picture to the next.

    Attributes:
        curves: what the latest picture drew over axes and grid, from back to front.
    """

    def __init__(self, axes: Axes, style: ChartStyle, num_steps: int, *, is_animated: bool = False) -> None:
        """`num_steps`: labels of the step axis at most; `is_animated`: the caller draws `curves`, not the figure."""
        self.axes = axes
        self._picture: ChartPicture | None = None
        self._num_values = 6.0
        self._is_animated = is_animated
        self._lines: dict[str, Line2D] = {}
        self.curves: list[Artist] = []
        axes.xaxis.set_major_locator(MaxNLocator(num_steps, integer=True, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        self._moment = axes.axvline(0, animated=is_animated, linestyle=(0, (2, 2)), linewidth=1.2, visible=False)
        (self._best_ring,) = axes.plot(
            [], [], animated=is_animated, linestyle="none", marker="o", fillstyle="none", clip_on=False
        )
        self._best_label = axes.annotate("", (0, 0), (0, 0), textcoords="offset points", animated=is_animated)
        self._message = axes.text(0.5, 0.5, "", transform=axes.transAxes, ha="center", animated=is_animated)
        self._set_scale(is_log=False)
        self.set_style(style)

    def set_style(self, style: ChartStyle) -> None:
        """Draws everything in this style from now on."""
        self._style = style
        color, axes = style.color_of, self.axes
        axes.set_facecolor(style.background)
        axes.grid(True, color=color("grid"), linewidth=style.grid_width)
        axes.tick_params(which="both", colors=color("muted"), labelsize=style.label_points, length=0)
        for spine in axes.spines.values():
            spine.set_color(color("border"))
        for line in self._picture.lines if self._picture else ():
            self._draw_line(line)
        self._best_ring.set(color=color("warm"), markersize=style.ring_size)
        self._best_label.set(color=color("text"), fontsize=style.label_points)
        self._best_label.set_bbox({"facecolor": style.background, "edgecolor": "none", "alpha": 0.8, "pad": 1.5})
        self._moment.set_color(color("text"))
        self._message.set(color=color("muted"), fontsize=style.label_points)

    def set_num_values(self, num: float) -> None:
        """Sets how many labels the value axis may have."""
        self._num_values = num
        self._set_value_locator()

    def show_picture(self, picture: ChartPicture) -> bool:
        """Draws `picture`; returns whether limits or scale changed, so that the axes must be drawn again, too."""
        before = (*self.axes.get_xlim(), *self.axes.get_ylim(), self.axes.get_yscale())
        self._picture = picture
        if (self.axes.get_yscale() == "log") != picture.is_log:
            self._set_scale(is_log=picture.is_log)
        self.axes.set_xlim(*picture.x_limits)
        self.axes.set_ylim(*picture.y_limits)
        self._moment.set_visible(picture.moment is not None)
        if picture.moment is not None:
            self._moment.set_xdata([picture.moment, picture.moment])
        lines = [self._draw_line(line) for line in picture.lines]
        self._draw_best(picture)
        self._message.set_text(picture.message)
        self.curves = [self._moment, *lines, self._best_ring, self._best_label, self._message]
        return before != (*self.axes.get_xlim(), *self.axes.get_ylim(), self.axes.get_yscale())

    def style_line(self, artist: Line2D, line: ChartLine) -> None:
        """Gives an artist the colour, width and marker of a line."""
        is_points = line.look == "points"
        artist.set_color(self._style.color_of(line.color))
        artist.set_linewidth(self._style.line_widths[line.look])
        artist.set_antialiased(line.look != "raw")
        artist.set_marker(marker_of(line.color) if is_points else "")
        artist.set_markersize(self._style.marker_size)

    def _draw_line(self, line: ChartLine) -> Line2D:
        artist = self._lines.get(line.key)
        if artist is None:
            (artist,) = self.axes.plot([], [], animated=self._is_animated)
            self._lines[line.key] = artist
        artist.set_data(line.xs, line.ys)
        self.style_line(artist, line)
        artist.set_clip_on(line.look != "points" or not self._is_inside(line))  # points on the edge are whole
        return artist

    def _is_inside(self, line: ChartLine) -> bool:
        """Whether no point lies outside the limits: it must not be drawn over the margins."""
        if self._picture is None:
            return False
        (left, right), (low, high) = self._picture.x_limits, self._picture.y_limits
        return not bool(((line.xs < left) | (line.xs > right) | (line.ys < low) | (line.ys > high)).any())

    def _draw_best(self, picture: ChartPicture) -> None:
        """A ring around the best validation, and its value where it hides least."""
        best = picture.best
        if best is not None and not picture.x_limits[0] <= best[0] <= picture.x_limits[1]:
            best = None
        self._best_ring.set_data([best[0]] if best else [], [best[1]] if best else [])
        self._best_label.set_visible(best is not None)
        if best is None:
            return
        unit = self._style.label_unit
        unit_px = unit * self.axes.figure.dpi / 72
        corner = self.axes.transAxes.transform((0, 0))

        def placed(xs: Points, ys: Points) -> Any:
            return (self.axes.transData.transform(np.column_stack((xs, ys))) - corner).T / unit_px

        curves = [tuple(placed(line.xs, line.ys)) for line in picture.lines if len(line.xs)]
        x, y = placed(np.array([best[0]]), np.array([best[1]]))[:, 0]
        letter = self._style.label_points / unit
        size = (0.62 * len(best[2]) + 1) * letter, 1.5 * letter
        width, height = (self.axes.transAxes.transform((1, 1)) - corner) / unit_px
        place = best_label_position((x, y), size, (width, height), curves)
        self._best_label.xy = best[:2]
        self._best_label.set_text(best[2])
        self._best_label.set_position((place.dx_px * unit, place.dy_px * unit))
        self._best_label.set(horizontalalignment=place.horizontal, verticalalignment=place.vertical)

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


@dataclass(frozen=True)
class LabelPosition:
    """A position beside a point.

    Attributes:
        dx_px, dy_px: from the point to the label's near corner; up is positive.
        horizontal, vertical: which corner of the label that is.
    """

    dx_px: float
    dy_px: float
    horizontal: Literal["left", "right"]
    vertical: Literal["bottom", "top"]


def best_label_position(
    point: tuple[float, float],
    size: tuple[float, float],
    area: tuple[float, float],
    curves: Iterable[tuple[Points, Points]],
) -> LabelPosition:
    """The position of a label with the fewest curves behind it, and entirely inside the area; a near one if it can be.

    Args:
        point: the point's x and y, in pixels from the lower left corner of the area.
        size: the label's width and height, in pixels.
        area: width and height of the area, in pixels.
        curves: xs and ys of each, in the same pixels, xs in order.
    """
    known = [(xs, ys) for xs, ys in curves if len(xs)]
    return min(_places(size[1]), key=lambda place: _cost(place, point, size, area, known))


def _places(height: float) -> Iterator[LabelPosition]:
    """Those that are tried, the preferred ones first."""
    for distance in range(_NUM_DISTANCES):
        gap = GAP_PX + distance * height
        yield LabelPosition(0, gap, "right", "bottom")
        yield LabelPosition(0, gap, "left", "bottom")
        yield LabelPosition(0, -gap, "right", "top")
        yield LabelPosition(0, -gap, "left", "top")


def _cost(
    place: LabelPosition,
    point: tuple[float, float],
    size: tuple[float, float],
    area: tuple[float, float],
    curves: list[tuple[Points, Points]],
) -> float:
    """The fraction of the label's width that each curve runs behind, summed; much higher for parts outside the area.

    A label's height further away costs as much as to hide a fiftieth more.
    """
    (x, y), (width, height) = point, size
    left = x + place.dx_px - (width if place.horizontal == "right" else 0)
    low = y + place.dy_px - (height if place.vertical == "top" else 0)
    outside = max(0.0, -left) + max(0.0, left + width - area[0]) + max(0.0, -low) + max(0.0, low + height - area[1])
    cost = 100 * outside + 0.02 * (abs(place.dy_px) - GAP_PX) / height
    across = np.linspace(left, left + width, 25)
    for xs, ys in curves:
        there = across[(across >= xs[0]) & (across <= xs[-1])]
        values = np.interp(there, xs, ys)
        cost += float(((values >= low) & (values <= low + height)).sum()) / len(across)
    return cost
