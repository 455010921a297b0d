"""Runs as their folders tell them: the curves of one, and the list of all in a place. No Qt, no torch."""

import csv
import math
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from core.errors import TrainingError
from viz_app.train.curves import RunCurves, ValidationPoint

HISTORY = "history.csv"
MAX_LISTED = 30


@dataclass(frozen=True, eq=False)
class RunOnDisk:
    """A run that can be looked at.

    Attributes:
        folder: where it is kept.
        name: the folder's.
        curves: what its history tells.
        changed: when it was written last.
    """

    folder: Path
    name: str
    curves: RunCurves
    changed: datetime

    @property
    def summary(self) -> str:
        """Epochs, best loss and day, for people."""
        best = self.curves.best
        epochs = len(self.curves.validations)
        text = f"{epochs} epoch{'' if epochs == 1 else 's'}"
        if best is not None:
            text += f" · best validation loss {best.loss:.3f} (epoch {best.epoch})"
        return f"{text} · {self.changed:%d %b %Y}"


def read_run(folder: Path) -> RunOnDisk:
    """The run in `folder`.

    Raises:
        TrainingError: there is no history, or it cannot be read.
    """
    path = folder / HISTORY
    curves = RunCurves()
    try:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                _add_row(curves, row)
        changed = datetime.fromtimestamp(path.stat().st_mtime)
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise TrainingError(
            f"{folder} is not the folder of a run ({_reason(error)}). A folder with the file {HISTORY} that a training "
            "wrote was expected; choose another."
        ) from error
    if not curves.validations:
        raise TrainingError(
            f"The run in {folder} has no validated epoch yet, so there is no curve. Choose another, or come back later."
        )
    return RunOnDisk(folder, folder.name, curves, changed)


def runs_in(parent: Path) -> list[RunOnDisk]:
    """The readable runs in the folders of `parent`, the newest first, `MAX_LISTED` at most."""
    try:
        histories = [(path.stat().st_mtime, path.parent) for path in parent.glob(f"*/{HISTORY}")]
    except OSError:
        return []
    runs = []
    for _, folder in sorted(histories, reverse=True)[:MAX_LISTED]:
        try:
            runs.append(read_run(folder))
        except TrainingError:
            continue
    return runs


def _add_row(curves: RunCurves, row: dict[str, str]) -> None:
    epoch, step = int(row["epoch"]), int(row["step"])
    training_loss, rate = float(row["training_loss"]), float(row["learning_rate"])
    curves.training_loss.append(step, training_loss)
    if math.isfinite(rate):
        curves.learning_rate.append(step, rate)
    batch_mean = float(row.get("validation_loss_batch_mean") or "nan")
    curves.add_validation(ValidationPoint(epoch, step, float(row["validation_loss"]), training_loss, batch_mean))
    bleu = row.get("bleu") or ""
    if bleu:
        curves.add_bleu(step, float(bleu))


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"it has no {HISTORY}"
    return getattr(error, "strerror", None) or str(error)
