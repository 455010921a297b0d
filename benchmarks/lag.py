"""How late an event loop is: what a person feels as a window that stutters."""

import itertools
import math
from collections.abc import Sequence

FRAME_SECONDS = 0.016
"""One picture of a screen with 60 of them a second."""


def lags(ticks: Sequence[float], interval: float) -> list[float]:
    """How late a loop was, asked at even distances.

    A loop that was held up for 100 ms is asked as often during them as at any other time: a tick that was left out
    does not hide what it waited for.

    Args:
        ticks: seconds at which a timer was handled, in order.
        interval: seconds between two moments at which it should have been.

    Returns:
        Seconds from each of these moments to the tick that came after it.
    """
    found = []
    for before, after in itertools.pairwise(ticks):
        num_due = max(1, math.floor((after - before) / interval + 1e-9))
        found += [max(0.0, after - before - place * interval) for place in range(1, num_due + 1)]
    return found


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all does not exceed. Raises `ValueError` if there is none."""
    if not values:
        raise ValueError("No values were given; one at least was expected. Measure for longer.")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def allowed_lag(idle_lag: float) -> float:
    """How late the loop may be beside a training, by how late it is without: twice that and a frame."""
    return 2 * idle_lag + FRAME_SECONDS
