"""Where a label beside a point hides least of the curves. No Qt, no matplotlib."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from viz_app.train.series import Points

GAP_PX = 11


@dataclass(frozen=True)
class LabelPlace:
    """Beside a point.

    Attributes:
        dx_px, dy_px: from the point to the label's near corner; up is positive.
        horizontal, vertical: which corner of the label that is.
    """

    dx_px: float
    dy_px: float
    horizontal: Literal["left", "right"]
    vertical: Literal["bottom", "top"]


PLACES = (
    LabelPlace(0, GAP_PX, "right", "bottom"),
    LabelPlace(0, GAP_PX, "left", "bottom"),
    LabelPlace(0, -GAP_PX, "right", "top"),
    LabelPlace(0, -GAP_PX, "left", "top"),
)


def clearest_place(
    point: tuple[float, float],
    size: tuple[float, float],
    area: tuple[float, float],
    curves: Iterable[tuple[Points, Points]],
) -> LabelPlace:
    """The place of a label where the fewest curves run behind it, and none of it is outside.

    Args:
        point: the point's x and y, in pixels from the lower left corner of the area.
        size: the label's width and height, in pixels.
        area: width and height of the area, in pixels.
        curves: xs and ys of each, in the same pixels, xs in order.
    """
    known = [(xs, ys) for xs, ys in curves if len(xs)]
    return min(PLACES, key=lambda place: _cost(place, point, size, area, known))


def _cost(
    place: LabelPlace,
    point: tuple[float, float],
    size: tuple[float, float],
    area: tuple[float, float],
    curves: list[tuple[Points, Points]],
) -> float:
    """The share of the label's width behind which a curve runs, for each curve; far more for what sticks out."""
    (x, y), (width, height) = point, size
    left = x + place.dx_px - (width if place.horizontal == "right" else 0)
    low = y + place.dy_px - (height if place.vertical == "top" else 0)
    outside = max(0.0, -left) + max(0.0, left + width - area[0]) + max(0.0, -low) + max(0.0, low + height - area[1])
    cost = 100 * outside
    across = np.linspace(left, left + width, 25)
    for xs, ys in curves:
        there = across[(across >= xs[0]) & (across <= xs[-1])]
        values = np.interp(there, xs, ys)
        cost += float(((values >= low) & (values <= low + height)).sum()) / len(across)
    return cost
