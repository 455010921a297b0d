"""Limits the share of time spent on drawing, so that it does not slow down the training."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class DrawBudget:
    """Says when the next expensive drawing may start.

    Args:
        share: the fraction of time that drawing may take, from 0 to 1.
        clock: a monotonic clock in seconds.
    """

    def __init__(self, share: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self._share = share
        self._clock = clock
        self._next_time = float("-inf")

    @property
    def allows(self) -> bool:
        """Whether enough time has passed since the last drawing."""
        return self._clock() >= self._next_time

    @contextmanager
    def spend(self) -> Iterator[None]:
        """Measures the drawing inside the block: the longer it takes, the later the next one may start."""
        began = self._clock()
        yield
        ended = self._clock()
        self._next_time = ended + (ended - began) * (1 / self._share - 1)
