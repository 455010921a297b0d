"""All that is known of a run's steps, as a table: a row for each step. No Qt, no torch."""

import csv
import math
from collections.abc import Iterator
from pathlib import Path

from augenmerk.core.errors import StorageError
from augenmerk.core.storage import atomic_path
from augenmerk.core.training.step_metrics import StepMetrics
from augenmerk.viz_app.train.curves import RunCurves

OF_STEPS = ("step", "epoch", "num_tokens", "loss", "learning_rate", "gradient_norm", "tokens_per_second")
OF_VALIDATIONS = ("epoch_training_loss", "validation_loss", "validation_loss_batch_mean", "bleu")
Cell = int | float | str


def save_metrics(metrics: StepMetrics | None, curves: RunCurves, target: Path) -> None:
    """Writes the table as CSV: every step with exactly the numbers that were recorded, and what validations found.

    Raises:
        StorageError: there is nothing to write, the name ends otherwise, or the file cannot be written.
    """
    if target.suffix.lower() != ".csv":
        raise StorageError(f"{target.name} does not end in .csv. Enter a file name that does.")
    rows = metric_rows(metrics, curves)
    first = next(rows, None)
    if first is None:
        raise StorageError("This run has no steps yet. Try again after the first one.")
    with atomic_path(target) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow((*OF_STEPS, *OF_VALIDATIONS))
        table.writerow(first)
        table.writerows(rows)


def metric_rows(metrics: StepMetrics | None, curves: RunCurves) -> Iterator[tuple[Cell, ...]]:
    """The rows, by rising step. A step without a validation, or of which nothing else is known, has empty cells."""
    validations = {point.step: point for point in curves.validations}
    bleu = dict(curves.bleu)
    steps = () if metrics is None else metrics.step.tolist()
    columns = [getattr(metrics, name).tolist() for name in OF_STEPS] if metrics is not None else []
    places = {step: place for place, step in enumerate(steps)}
    for step in sorted({*steps, *validations, *bleu}):
        point, place = validations.get(step), places.get(step)
        if place is not None:
            of_step: list[Cell] = [column[place] for column in columns]
        else:
            of_step = [step, point.epoch if point is not None else "", *[""] * (len(OF_STEPS) - 2)]
        losses = (point.training_loss, point.loss, point.batch_mean) if point is not None else (math.nan,) * 3
        yield (*of_step, *("" if math.isnan(loss) else loss for loss in losses), bleu.get(step, ""))
