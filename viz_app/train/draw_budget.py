"""Drawing must not slow down what is drawn: a share of the time that charts may take."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class DrawBudget:
    """Says when a drawing that costs time may be done again.

    Args:
        share: the part of the time it may take, from 0 to 1.
        clock: seconds that only grow.
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
        """Measures the drawing inside the block: the longer it takes, the later comes the next."""
        began = self._clock()
        yield
        ended = self._clock()
        self._next_time = ended + (ended - began) * (1 / self._share - 1)
