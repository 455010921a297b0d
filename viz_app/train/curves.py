"""The curves of one run, running or read from the disk. No Qt."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.training.events import StepDone
from augenmerk.core.training.step_metrics import StepMetrics
from augenmerk.viz_app.train.series import BoundedSeries


@dataclass(frozen=True)
class ValidationPoint:
    """One validation: its place on the step axis and its results.

    Attributes:
        epoch, step: when it took place.
        loss: token-weighted, without smoothing.
        training_loss: of the epoch; NaN where it is not known.
        batch_mean: the mean of the batches' means, as the published `notebook` curve counts it; NaN if not known.
    """

    epoch: int
    step: int
    loss: float
    training_loss: float = math.nan
    batch_mean: float = math.nan


class RunCurves:
    """Curves over optimiser steps.

    Attributes:
        training_loss, learning_rate, gradient_norm, tokens_per_second: a value per step, averaged when there are many.
        validations: by rising step.
        bleu: of a sample, (step, points from 0 to 100), by rising step.
        best: the validation with the lowest loss; None before the first.
        last_step: the last step of any curve; 0 before the first.
        revision: grows whenever a curve changes, so that a chart knows whether to draw.
    """

    def __init__(self, capacity: int = 2000) -> None:
        self.training_loss = BoundedSeries(capacity)
        self.learning_rate = BoundedSeries(capacity)
        self.gradient_norm = BoundedSeries(capacity)
        self.tokens_per_second = BoundedSeries(capacity)
        self._series = (self.training_loss, self.learning_rate, self.gradient_norm, self.tokens_per_second)
        self.revision = 0
        self.clear()

    def clear(self) -> None:
        """Removes everything."""
        for series in self._series:
            series.clear()
        self.validations: list[ValidationPoint] = []
        self.bleu: list[tuple[int, float]] = []
        self.best: ValidationPoint | None = None
        self.last_step = 0
        self.revision += 1

    def add_step(self, event: StepDone) -> None:
        """Adds one step; values that are not finite are left out."""
        values = (event.loss, event.learning_rate, event.gradient_norm, event.tokens_per_second)
        for series, value in zip(self._series, values, strict=True):
            if math.isfinite(value):
                series.append(event.step, value)
        self.last_step = max(self.last_step, event.step)
        self.revision += 1

    def add_validation(self, point: ValidationPoint) -> None:
        """Adds a validation; it replaces those of its step and of later ones."""
        self.validations = [old for old in self.validations if old.step < point.step] + [point]
        self._find_best()
        self.last_step = max(self.last_step, point.step)
        self.revision += 1

    def add_record(self, record: EpochRecord) -> None:
        """Adds an epoch of which only the end is known: it also gives one point on the curves over steps."""
        for series, value in ((self.training_loss, record.training_loss), (self.learning_rate, record.learning_rate)):
            if math.isfinite(value):
                series.append(record.step, value)
        losses = record.validation_loss, record.training_loss, record.validation_loss_batch_mean
        self.add_validation(ValidationPoint(record.epoch, record.step, *losses))

    def add_run(self, records: Iterable[EpochRecord], metrics: StepMetrics | None = None) -> None:
        """Adds a run read from the disk to empty curves.

        Args:
            records: its validations.
            metrics: of every step; None or empty if older versions wrote none: then each epoch gives one point.
        """
        if metrics is not None and len(metrics):
            columns = metrics.loss, metrics.learning_rate, metrics.gradient_norm, metrics.tokens_per_second
            for series, column in zip(self._series, columns, strict=True):
                is_finite = np.isfinite(column)
                series.fill(metrics.step[is_finite].astype(float), column[is_finite])
            self.last_step = max(self.last_step, int(metrics.step[-1]))
            self.revision += 1
        for record in records:
            if metrics is not None and len(metrics):
                losses = record.validation_loss, record.training_loss, record.validation_loss_batch_mean
                self.add_validation(ValidationPoint(record.epoch, record.step, *losses))
            else:
                self.add_record(record)
            if record.bleu is not None:
                self.add_bleu(record.step, record.bleu)

    def add_bleu(self, step: int, bleu: float) -> None:
        """Adds the BLEU of a sample."""
        self.bleu = [old for old in self.bleu if old[0] < step] + [(step, bleu)]
        self.revision += 1

    def drop_after(self, step: int) -> None:
        """Removes everything after `step`: a resumed run repeats these steps."""
        for series in self._series:
            series.drop_after(step)
        self.validations = [point for point in self.validations if point.step <= step]
        self.bleu = [entry for entry in self.bleu if entry[0] <= step]
        self.last_step = min(self.last_step, step)
        self._find_best()
        self.revision += 1

    @property
    def has_batch_means(self) -> bool:
        """Whether the mean of batch means is known for each validation."""
        return all(math.isfinite(point.batch_mean) or not math.isfinite(point.loss) for point in self.validations)

    def validation_losses(self, *, as_batch_means: bool = False) -> list[tuple[ValidationPoint, float]]:
        """The validations and their finite losses: token-weighted, or means of batch means where they are known."""
        as_batch_means = as_batch_means and self.has_batch_means
        losses = [(point, point.batch_mean if as_batch_means else point.loss) for point in self.validations]
        return [(point, loss) for point, loss in losses if math.isfinite(loss)]

    def epoch_start(self) -> int:
        """The last validation's step that later steps follow; 0 if none."""
        return max((point.step for point in self.validations if point.step < self.last_step), default=0)

    def _find_best(self) -> None:
        self.best = min(self.validations, key=lambda point: _infinite_if_nan(point.loss), default=None)


def _infinite_if_nan(loss: float) -> float:
    return math.inf if math.isnan(loss) else loss
