"""A curve of any length that never holds more than a fixed number of points.

A run may have hundreds of thousands of steps; a chart has some thousand pixels. When the curve is full, neighbouring
points are averaged in pairs, so that from then on each point stands for twice as many steps. The newest values are
also kept unchanged, for charts of the last steps.
"""

from collections import deque

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


class BoundedSeries:
    """At most `capacity` points (x, y), in the order they were added.

    Attributes:
        capacity: largest number of points kept; even, at least 4.
        stride: how many values one point is the mean of, a power of two.
        last: the latest value; NaN before the first.
    """

    def __init__(self, capacity: int = 2000) -> None:
        if capacity < 4 or capacity % 2:
            raise ValueError(f"capacity is {capacity}; an even number of at least 4 was expected")
        self.capacity = capacity
        self.clear()

    def clear(self) -> None:
        """Removes every point."""
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
            self._average_pairs()

    def fill(self, xs: Points, ys: Points) -> None:
        """Replaces everything by these values [n], as if they had been added one by one."""
        self.clear()
        while len(xs) // self.stride >= self.capacity:
            self.stride *= 2
        self._num_full = len(xs) // self.stride
        values = np.stack((xs, ys))
        num_averaged = self._num_full * self.stride
        groups = values[:, :num_averaged].reshape(2, self._num_full, self.stride)
        self._points[:, : self._num_full] = groups.mean(axis=2)
        self._pending_sum = values[:, num_averaged:].sum(axis=1)
        self._num_pending = len(xs) - num_averaged
        self._newest.extend(zip(*values[:, -self.capacity :].tolist(), strict=True))
        if len(ys):
            self.last = float(ys[-1])

    def drop_after(self, x: float) -> None:
        """Removes the points beyond `x`: a resumed run repeats these steps."""
        self._num_full = int(np.searchsorted(self._points[0, : self._num_full], x, side="right"))
        if self._num_pending and self._pending_sum[0] / self._num_pending > x:
            self._pending_sum[:] = 0
            self._num_pending = 0
        while self._newest and self._newest[-1][0] > x:
            self._newest.pop()

    def since(self, x: float) -> tuple[Points, Points, int]:
        """Points, [n] each, back to `x` at least (if the curve goes so far), and how many values each is the mean of.

        Single values, if all of these are still kept; else the points of `xy`.
        """
        if self.stride > 1 and self._newest and self._newest[0][0] <= x:
            points = np.array(self._newest).T
            return points[0], points[1], 1
        return *self.xy(), self.stride

    def xy(self) -> tuple[Points, Points]:
        """The points, [n] each; the last is the mean of the values that do not fill a point yet; n ≤ capacity."""
        points = self._points[:, : self._num_full]
        if self._num_pending:
            points = np.column_stack((points, self._pending_sum / self._num_pending))
        return points[0].copy(), points[1].copy()

    def __len__(self) -> int:
        return self._num_full + bool(self._num_pending)

    def _average_pairs(self) -> None:
        half = self.capacity // 2
        self._points[:, :half] = self._points.reshape(2, half, 2).mean(axis=2)
        self._num_full = half
        self.stride *= 2


def smoothed(values: Points, longest: int, stride: int = 1) -> Points:
    """The centred running mean of `values` [n]: it is not shifted along a falling curve.

    The window grows with the number of values before it, to an eighth of it, so that the steep start keeps its shape.
    At the end only the existing half of the window counts.

    Args:
        values: each stands for `stride` values.
        longest: the largest window, in those.
    """
    num = len(values)
    places = np.arange(num)
    half = (np.minimum(longest, 1 + places * stride / 8) / (2 * stride)).astype(int)
    first, end = places - half, np.minimum(places + half + 1, num)
    sums = np.concatenate(([0.0], np.cumsum(values)))
    means: Points = (sums[end] - sums[first]) / (end - first)
    return np.where(half > 0, means, values)
