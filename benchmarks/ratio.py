"""Paired timing of two functions, the only reliable measurement on a shared machine."""

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """The speed of ours, relative to the reference.

    Attributes:
        name: what is compared.
        ours_seconds: median of ours.
        other_seconds: median of the other.
        required: the required ratio.
        aim: the target.
        note: the kind of seconds, if not wall time.
    """

    name: str
    ours_seconds: float
    other_seconds: float
    required: float
    aim: float
    note: str = ""

    @property
    def ratio(self) -> float:
        """Seconds of the reference per second of ours: above 1, ours is faster. Infinite if ours
        takes no time, as a lag may.
        """
        return self.other_seconds / self.ours_seconds if self.ours_seconds else math.inf


def paired_medians(
    ours: Callable[[], object],
    other: Callable[[], object],
    *,
    repeats: int = 9,
    warmup: int = 2,
    clock: Callable[[], float] = time.process_time,
) -> tuple[float, float]:
    """Median seconds of both, run in turn: changes in the machine's speed affect both."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for turn in range(warmup + repeats):
        for index, work in enumerate((ours, other)):
            began = clock()
            work()
            if turn >= warmup:
                seconds[index].append(clock() - began)
    return statistics.median(seconds[0]), statistics.median(seconds[1])
