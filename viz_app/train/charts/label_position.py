"""Places a label beside a point where it hides least of the curves. No Qt, no matplotlib."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from augenmerk.viz_app.train.series import Points

GAP_PX = 11
_NUM_DISTANCES = 6


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
