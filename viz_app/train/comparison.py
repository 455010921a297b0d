"""Runs laid over the one shown: finished ones read from their folders, and a published curve. No Qt, no torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import TrainingError
from viz_app.train.chart_choices import NUM_RUNS
from viz_app.train.curves import RunCurves, ValidationPoint
from viz_app.train.run_files import RunOnDisk, read_run

PUBLISHED = "published"
PUBLISHED_LOSSES = (3.021, 2.289, 1.981, 1.812, 1.712, 1.649, 1.624, 1.628, 1.613, 1.629)
PUBLISHED_STEPS_PER_EPOCH = 227  # 29,000 pairs in batches of 128
PUBLISHED_TIP = (
    "Validation loss of each epoch as published with pytorch-seq2seq, notebook 6: means of batch means, 128 pairs a "
    "batch. While it is shown, the validation losses of the other runs are drawn as such means, too."
)


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """A run on the chart beside the one that goes on.

    Attributes:
        key: its folder, or "published".
        name: for the legend.
        slot: which of the colours for compared runs it has.
        curves: what is known of it.
        tip: more about it, for people.
        is_batch_mean: whether only means of batch means are known of it, so that others are to be drawn as such.
    """

    key: str
    name: str
    slot: int
    curves: RunCurves
    tip: str
    is_batch_mean: bool = False


class Comparison:
    """The runs that are laid over one another, `NUM_RUNS` at most.

    Attributes:
        runs: in the order they were added.
        revision: grows when a run comes or goes.
    """

    def __init__(self) -> None:
        self.runs: list[ComparedRun] = []
        self.revision = 0

    @property
    def is_full(self) -> bool:
        """Whether every colour is taken."""
        return len(self.runs) >= NUM_RUNS

    def holds(self, key: str | Path) -> bool:
        """Whether this run is there already."""
        return any(run.key == str(key) for run in self.runs)

    def add_folder(self, folder: Path) -> None:
        """Lays the run in `folder` over the others; one that is there already is read anew.

        Raises:
            TrainingError: the folder holds no run, or every colour is taken.
        """
        run = read_run(folder)
        if not run.curves.validations:
            raise TrainingError(f"The run in {folder} was not validated yet, so there is no curve. Choose another.")
        self.remove(str(folder))
        self._add(str(folder), run.name, run.curves, run.summary)

    def add_published(self, steps_per_epoch: int = PUBLISHED_STEPS_PER_EPOCH) -> None:
        """Lays the published curve of `notebook` over the others. Raises `TrainingError` if every colour is taken."""
        self.remove(PUBLISHED)
        curves = RunCurves(capacity=4)
        for epoch, loss in enumerate(PUBLISHED_LOSSES, start=1):
            curves.add_validation(ValidationPoint(epoch, epoch * steps_per_epoch, loss, batch_mean=loss))
        self._add(PUBLISHED, "published notebook", curves, PUBLISHED_TIP, is_batch_mean=True)

    def remove(self, key: str) -> None:
        """Takes a run away."""
        before = len(self.runs)
        self.runs = [run for run in self.runs if run.key != key]
        self.revision += before != len(self.runs)

    def _add(self, key: str, name: str, curves: RunCurves, tip: str, *, is_batch_mean: bool = False) -> None:
        free = [slot for slot in range(NUM_RUNS) if all(run.slot != slot for run in self.runs)]
        if not free:
            raise TrainingError(
                f"There are {NUM_RUNS} runs beside this one already; more could not be told apart. Take one away "
                "first: click its name above the chart."
            )
        self.runs.append(ComparedRun(key, name, free[0], curves, tip, is_batch_mean))
        self.revision += 1


def offered(runs: Sequence[RunOnDisk], current: Path | None, comparison: Comparison) -> list[RunOnDisk]:
    """The runs that can be laid over the current one: neither itself nor there already."""
    return [run for run in runs if run.folder != current and not comparison.holds(run.folder)]
