"""The curves of one run, running or read from the disk, drawn with at most a fixed number of
points. No Qt.

A run may have hundreds of thousands of steps; a chart has some thousand pixels. A curve keeps all
values; of many, each point is the mean of a group.
"""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.extensions.training.events import StepDone
from augenmerk.core.extensions.training.step_metrics import StepMetrics

Points = NDArray[np.float64]


class Series:
    """A value for each step, drawn as at most `capacity` points: of more values, neighbours are
    averaged.

    Attributes:
        capacity: largest number of points.
    """

    def __init__(self, capacity: int = 2000) -> None:
        self.capacity = capacity
        self._room: Points = np.empty((2, 0))
        self._num = 0

    def append(self, x: float, y: float) -> None:
        """Adds a value."""
        if self._num == self._room.shape[1]:
            self._room = np.hstack((self._room, np.empty((2, max(self._num, self.capacity)))))
        self._room[:, self._num] = x, y
        self._num += 1

    def fill(self, xs: Points, ys: Points) -> None:
        """Replaces everything by these values [n]."""
        self._room = np.stack((xs, ys)).astype(np.float64)
        self._num = len(xs)

    def drop_after(self, x: float) -> None:
        """Removes the values beyond `x`: a resumed run repeats these steps."""
        self._num = int(np.searchsorted(self._room[0, : self._num], x, side="right"))

    @property
    def stride(self) -> int:
        """The number of values averaged in one point, a power of two."""
        stride = 1
        while self._num // stride >= self.capacity:
            stride *= 2
        return stride

    def since(self, x: float) -> tuple[Points, Points, int]:
        """Points, [n] each, back to `x` at least (if the curve goes so far), and the number of
        values averaged in each.

        Single values, if these are at most `capacity`; else the points of `xy`.
        """
        newest = self._room[:, max(0, self._num - self.capacity) : self._num]
        if self.stride > 1 and newest[0, 0] <= x:
            return newest[0].copy(), newest[1].copy(), 1
        return *self.xy(), self.stride

    def xy(self) -> tuple[Points, Points]:
        """The points, [n] each; the last is the mean of the values that do not fill a point yet; n
        ≤ capacity.
        """
        stride = self.stride
        values = self._room[:, : self._num]
        num_full = self._num // stride
        points = values[:, : num_full * stride].reshape(2, num_full, stride).mean(axis=2)
        if self._num > num_full * stride:
            points = np.column_stack((points, values[:, num_full * stride :].mean(axis=1)))
        return points[0], points[1]

    def __len__(self) -> int:
        return -(-self._num // self.stride)


class RunCurves:
    """Curves over optimizer steps.

    Attributes:
        training_loss: a value per step, averaged when there are many.
        learning_rate: likewise.
        gradient_norm: likewise.
        tokens_per_second: likewise.
        validations: by rising step.
        last_step: the last step of any curve; 0 before the first.
    """

    def __init__(self) -> None:
        self.training_loss, self.learning_rate, self.gradient_norm, self.tokens_per_second = (
            Series() for _ in range(4)
        )
        self._series = (
            self.training_loss,
            self.learning_rate,
            self.gradient_norm,
            self.tokens_per_second,
        )
        self.validations: list[EpochRecord] = []
        self.last_step = 0

    @property
    def bleu(self) -> list[tuple[int, float]]:
        """BLEU of the sample at each validation that has it, (step, points from 0 to 100)."""
        return [(point.step, point.bleu) for point in self.validations if point.bleu is not None]

    def validation_at(self, step: int) -> EpochRecord | None:
        """The last validation up to `step`; None before the first."""
        return next((point for point in reversed(self.validations) if point.step <= step), None)

    @property
    def best(self) -> EpochRecord | None:
        """The validation with the lowest loss; None before the first."""
        return min(
            self.validations,
            key=lambda point: _infinite_if_nan(point.validation_loss),
            default=None,
        )

    def add_step(self, event: StepDone) -> None:
        """Adds one step; values that are not finite are left out."""
        values = (event.loss, event.learning_rate, event.gradient_norm, event.tokens_per_second)
        for series, value in zip(self._series, values, strict=True):
            if math.isfinite(value):
                series.append(event.step, value)
        self.last_step = max(self.last_step, event.step)

    def add_validation(self, point: EpochRecord) -> None:
        """Adds a validation; it replaces those of its step and of later ones."""
        self.validations = [old for old in self.validations if old.step < point.step] + [point]
        self.last_step = max(self.last_step, point.step)

    def add_record(self, record: EpochRecord) -> None:
        """Adds an epoch of which only the end is known: it also gives one point on the curves over
        steps.
        """
        for series, value in (
            (self.training_loss, record.training_loss),
            (self.learning_rate, record.learning_rate),
        ):
            if math.isfinite(value):
                series.append(record.step, value)
        self.add_validation(record)

    def add_run(self, records: Iterable[EpochRecord], metrics: StepMetrics | None = None) -> None:
        """Adds a run read from the disk to empty curves.

        Args:
            records: its validations.
            metrics: of every step; None or empty if there are none: then each epoch gives one
                point.
        """
        if metrics is not None and len(metrics):
            columns = (
                metrics.loss,
                metrics.learning_rate,
                metrics.gradient_norm,
                metrics.tokens_per_second,
            )
            for series, column in zip(self._series, columns, strict=True):
                is_finite = np.isfinite(column)
                series.fill(metrics.step[is_finite].astype(float), column[is_finite])
            self.last_step = max(self.last_step, int(metrics.step[-1]))
        for record in records:
            if metrics is not None and len(metrics):
                self.add_validation(record)
            else:
                self.add_record(record)

    def drop_after(self, step: int) -> None:
        """Removes everything after `step`: a resumed run repeats these steps."""
        for series in self._series:
            series.drop_after(step)
        self.validations = [point for point in self.validations if point.step <= step]
        self.last_step = min(self.last_step, step)

    def validation_losses(self, *, as_batch_means: bool = False) -> list[tuple[EpochRecord, float]]:
        """The validations and their finite losses: token-weighted, or means of batch means."""
        losses = [
            (point, point.validation_loss_batch_mean if as_batch_means else point.validation_loss)
            for point in self.validations
        ]
        return [(point, loss) for point, loss in losses if math.isfinite(loss)]

    @property
    def num_stale_validations(self) -> int:
        """The number of validations since the best one."""
        if self.best is None:
            return 0
        return sum(1 for point in self.validations if point.step > self.best.step)

    def epoch_start(self) -> int:
        """The last validation's step that later steps follow; 0 if none."""
        return max(
            (point.step for point in self.validations if point.step < self.last_step), default=0
        )


def _infinite_if_nan(loss: float) -> float:
    return math.inf if math.isnan(loss) else loss


def smoothed(values: Points, longest: int, stride: int = 1) -> Points:
    """The centred running mean of `values` [n]: it is not shifted along a falling curve.

    The window grows with the number of values before it, to an eighth of it, so that the steep
    start keeps its shape. At the end only the existing half of the window counts.

    Args:
        values: each represents `stride` values.
        longest: the largest window, in these values.
    """
    num = len(values)
    places = np.arange(num)
    half = (np.minimum(longest, 1 + places * stride / 8) / (2 * stride)).astype(int)
    first = places - half
    end = np.minimum(places + half + 1, num)
    sums = np.concatenate(([0.0], np.cumsum(values)))
    means: Points = (sums[end] - sums[first]) / (end - first)
    return np.where(half > 0, means, values)
