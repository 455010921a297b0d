"""Runs shown in the same charts for comparison: from their folders, and a published curve. No Qt, no torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from psygnal import Signal

from augenmerk.core.errors import TrainingError
from augenmerk.viz_app.train.charts.settings import NUM_RUNS
from augenmerk.viz_app.train.curves import RunCurves, ValidationPoint
from augenmerk.viz_app.train.run_files import RunOnDisk, read_run

PUBLISHED = "published"
PUBLISHED_LOSSES = (3.021, 2.289, 1.981, 1.812, 1.712, 1.649, 1.624, 1.628, 1.613, 1.629)
PUBLISHED_STEPS_PER_EPOCH = 227  # 29,000 pairs in batches of 128
PUBLISHED_TIP = (
    "Validation loss of each epoch as published with pytorch-seq2seq, notebook 6: mean of batch means, 128 pairs per "
    "batch. While it is shown, the validation losses of the other runs are computed in the same way."
)


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """A run shown for comparison.

    Attributes:
        key: its folder, or "published".
        name: for the legend.
        slot: the index of its colour.
        curves: its curves.
        tip: its description.
        is_batch_mean: whether only means of batch means are known, so that others are drawn as such.
    """

    key: str
    name: str
    slot: int
    curves: RunCurves
    tip: str
    is_batch_mean: bool = False


class Comparison:
    """The runs shown for comparison, `NUM_RUNS` at most.

    Attributes:
        runs: in the order they were added.

    Signals (psygnal):
        changed(): a run was added or removed.
    """

    changed = Signal()

    def __init__(self) -> None:
        self.runs: list[ComparedRun] = []

    def contains(self, key: str | Path) -> bool:
        """Whether this run is already shown."""
        return any(run.key == str(key) for run in self.runs)

    def add_folder(self, folder: Path) -> None:
        """Adds the run in `folder`; one that is already shown is read again.

        Raises:
            TrainingError: the folder holds no run, or every colour is used.
        """
        run = read_run(folder, with_steps=True)
        if not run.curves.validations:
            raise TrainingError(f"The run in {folder} has not been validated yet, so it has no curve. Choose another.")
        self.remove(str(folder))
        self._add(str(folder), run.name, run.curves, run.summary)

    def add_published(self, steps_per_epoch: int = PUBLISHED_STEPS_PER_EPOCH) -> None:
        """Adds the published curve of `notebook`. Raises `TrainingError` if every colour is used."""
        self.remove(PUBLISHED)
        curves = RunCurves(capacity=4)
        for epoch, loss in enumerate(PUBLISHED_LOSSES, start=1):
            curves.add_validation(ValidationPoint(epoch, epoch * steps_per_epoch, loss, batch_mean=loss))
        self._add(PUBLISHED, "published notebook", curves, PUBLISHED_TIP, is_batch_mean=True)

    def remove(self, key: str) -> None:
        """Removes a run."""
        if self.contains(key):
            self.runs = [run for run in self.runs if run.key != key]
            self.changed.emit()

    def _add(self, key: str, name: str, curves: RunCurves, tip: str, *, is_batch_mean: bool = False) -> None:
        free = [slot for slot in range(NUM_RUNS) if all(run.slot != slot for run in self.runs)]
        if not free:
            raise TrainingError(
                f"At most {NUM_RUNS} runs can be compared at a time. Click a run's name above the chart to remove it."
            )
        self.runs.append(ComparedRun(key, name, free[0], curves, tip, is_batch_mean))
        self.changed.emit()


def runs_to_offer(runs: Sequence[RunOnDisk], current: Path | None, comparison: Comparison) -> list[RunOnDisk]:
    """The runs that can be added: neither the current one nor one already shown."""
    return [run for run in runs if run.folder != current and not comparison.contains(run.folder)]
