"""A curve of any length that never holds more than a fixed number of points.

A run may have hundreds of thousands of steps; a chart has some thousand pixels. When the curve is full, neighbouring
points are joined in pairs (their mean), so that from then on each point stands for twice as many steps.
"""

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


class BoundedSeries:
    """Points (x, y) in the order of arrival, at most `capacity` of them.

    Attributes:
        capacity: largest number of points kept; even, at least 4.
        stride: how many of the values given stand behind one point, a power of two.
        last: the latest value as it was given; NaN before the first.
    """

    def __init__(self, capacity: int = 2000) -> None:
        if capacity < 4 or capacity % 2:
            raise ValueError(f"capacity is {capacity}; an even number of at least 4 was expected")
        self.capacity = capacity
        self.clear()

    def clear(self) -> None:
        """Forgets every point."""
        self.stride = 1
        self.last = float("nan")
        self._points: Points = np.empty((2, self.capacity))
        self._num_full = 0
        self._pending_sum = np.zeros(2)
        self._num_pending = 0

    def append(self, x: float, y: float) -> None:
        """Adds a value."""
        self.last = y
        self._pending_sum += (x, y)
        self._num_pending += 1
        if self._num_pending < self.stride:
            return
        self._points[:, self._num_full] = self._pending_sum / self._num_pending
        self._num_full += 1
        self._pending_sum[:] = 0
        self._num_pending = 0
        if self._num_full == self.capacity:
            self._join_pairs()

    def drop_after(self, x: float) -> None:
        """Forgets the points beyond `x`: a resumed run does these steps again."""
        self._num_full = int(np.searchsorted(self._points[0, : self._num_full], x, side="right"))
        if self._num_pending and self._pending_sum[0] / self._num_pending > x:
            self._pending_sum[:] = 0
            self._num_pending = 0

    def xy(self) -> tuple[Points, Points]:
        """The points, [n] each, with the mean of the values that do not fill a point yet as the last; n ≤ capacity."""
        points = self._points[:, : self._num_full]
        if self._num_pending:
            points = np.column_stack((points, self._pending_sum / self._num_pending))
        return points[0].copy(), points[1].copy()

    def __len__(self) -> int:
        return self._num_full + bool(self._num_pending)

    def _join_pairs(self) -> None:
        half = self.capacity // 2
        self._points[:, :half] = self._points.reshape(2, half, 2).mean(axis=2)
        self._num_full = half
        self.stride *= 2


class RunningMean:
    """An exponential mean that is right from the first value on (bias-corrected, as in Kingma & Ba 2015, section 3).

    Attributes:
        decay: weight of the past, in [0, 1).
    """

    def __init__(self, decay: float = 0.95) -> None:
        self.decay = decay
        self._sum = 0.0
        self._weight = 0.0

    def update(self, value: float) -> float:
        """Takes in `value`; returns the mean."""
        self._sum = self.decay * self._sum + (1 - self.decay) * value
        self._weight = self.decay * self._weight + (1 - self.decay)
        return self._sum / self._weight
