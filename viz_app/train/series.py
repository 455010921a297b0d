"""A curve of any length that never holds more than a fixed number of points.

A run may have hundreds of thousands of steps; a chart has some thousand pixels. When the curve is full, neighbouring
points are joined in pairs (their mean), so that from then on each point stands for twice as many steps. The newest
values are kept as they came besides, for whoever looks at the last steps only.
"""

from collections import deque

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
        self._newest: deque[tuple[float, float]] = deque(maxlen=self.capacity)

    def append(self, x: float, y: float) -> None:
        """Adds a value."""
        self.last = y
        self._newest.append((x, y))
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
        while self._newest and self._newest[-1][0] > x:
            self._newest.pop()

    def since(self, x: float) -> tuple[Points, Points, int]:
        """Points, [n] each, that reach back to `x` at least (if the curve does), and how many values each stands for.

        Every value as it came, if all of these are still there; else as `xy` gives them.
        """
        if self.stride > 1 and self._newest and self._newest[0][0] <= x:
            points = np.array(self._newest).T
            return points[0], points[1], 1
        return *self.xy(), self.stride

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
    """A mean that follows: it looks back over an eighth of the values so far, `longest` at most.

    So it starts at the first value, keeps up while the loss falls fast, and is calm later.

    Attributes:
        longest: how many values it looks back over in the end.
        stride: how many values each one that is given stands for.
    """

    def __init__(self, longest: int = 50, stride: int = 1) -> None:
        self.longest = longest
        self.stride = stride
        self._mean = 0.0
        self._num_values = 0

    def update(self, value: float) -> float:
        """Takes in `value`; returns the mean."""
        window = max(1.0, min(self.longest, 1 + self._num_values / 8) / self.stride)
        self._mean = value if self._num_values == 0 else self._mean + (value - self._mean) / window
        self._num_values += self.stride
        return self._mean


def smoothed(values: Points, longest: int, stride: int = 1) -> Points:
    """The running mean of `values` [n], each of which stands for `stride` values, over `longest` of these at most."""
    mean = RunningMean(longest, stride)
    return np.array([mean.update(value) for value in values.tolist()])
