"""Lag of an event loop, which users perceive as stuttering."""

import itertools
import math
from collections.abc import Sequence

FRAME_SECONDS = 0.016
"""One frame of a 60 Hz screen."""


def lags(ticks: Sequence[float], interval: float) -> list[float]:
    """The lag of a loop, sampled at equal intervals.

    Blocked times are sampled as densely as others, so a missed tick does not hide its delay.

    Args:
        ticks: times in seconds at which a timer was handled, in order.
        interval: seconds between two due times.

    Returns:
        Seconds from each due time to the next tick.
    """
    delays = []
    for before, after in itertools.pairwise(ticks):
        num_due = max(1, math.floor((after - before) / interval + 1e-9))
        delays += [max(0.0, after - before - number * interval) for number in range(1, num_due + 1)]
    return delays


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value not exceeded by at least this share of all values.

    Raises `ValueError` without values.
    """
    if not values:
        raise ValueError("No values were given; one at least was expected. Measure for longer.")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def allowed_lag(idle_lag: float) -> float:
    """The allowed lag next to a training: twice the idle lag plus a frame."""
    return 2 * idle_lag + FRAME_SECONDS
