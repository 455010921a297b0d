"""Runs on the disk: the curves of one, the list of those in a folder, and those compared.

No Qt, no torch.
"""

from dataclasses import dataclass
from datetime import datetime
from math import nan
from pathlib import Path

from psygnal import Signal

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.errors import CheckpointError, TrainingError
from augenmerk.core.extensions.training.folder import RunSummary, each_once, summarize, with_best
from augenmerk.core.extensions.training.history_file import read_history
from augenmerk.core.extensions.training.step_metrics import StepMetrics, read_step_metrics
from augenmerk.core.quantities import counted
from augenmerk.core.run_files import HISTORY, LAST, RUN_SETTINGS, is_run
from augenmerk.core.storage import is_forbidden

from .curves import RunCurves

MAX_LISTED = 30
NUM_RUNS = 4
"""The largest number of compared runs: more colours would be hard to distinguish."""
PUBLISHED = "published"
PUBLISHED_LOSSES = (3.021, 2.289, 1.981, 1.812, 1.712, 1.649, 1.624, 1.628, 1.613, 1.629)
PUBLISHED_STEPS_PER_EPOCH = 227  # 29,000 pairs in batches of 128
PUBLISHED_TIP = (
    "Validation loss of each epoch as published with pytorch-seq2seq, notebook 6: mean of batch "
    "means, 128 pairs per batch. While it is shown, the validation losses of the other runs are "
    "computed in the same way."
)


@dataclass(frozen=True, eq=False)
class RunOnDisk:
    """A run that can be opened.

    Attributes:
        folder: its folder.
        name: the folder's.
        curves: from its history and its best checkpoints; empty if it has not been validated yet.
        num_epochs: complete epochs.
        changed: the time of its last change.
        files: settings, state and whether it can be resumed.
        metrics: of every step; None if they were not read.
    """

    folder: Path
    name: str
    curves: RunCurves
    num_epochs: int
    changed: datetime
    files: RunSummary
    metrics: StepMetrics | None = None

    @property
    def summary(self) -> str:
        """Epochs, best loss and date."""
        best = self.curves.best
        text = counted(self.num_epochs, "epoch")
        if best is not None:
            text += f" · best validation loss {best.validation_loss:.3f} (epoch {best.epoch})"
        if self.files.can_resume:
            text += f" · unfinished: step {self.files.step:,}"
        return f"{text} · {self.changed:%d %b %Y}"


def read_run(folder: Path, *, with_steps: bool = False) -> RunOnDisk:
    """The run in `folder`; with the metrics of every step, or as a list needs it.

    Raises:
        TrainingError: there is no run, it or its history cannot be read, or it has no curve and
            cannot be resumed.
    """
    path = folder / HISTORY
    if is_forbidden(folder) or is_forbidden(path):
        raise TrainingError(
            f"The run in {folder} cannot be read: no permission. Make the folder readable, or "
            "choose another."
        )
    files = summarize(folder)
    has_no_history = files.can_resume and not path.exists()  # stopped within its first epoch
    try:
        records = () if has_no_history else read_history(path)
        changed = datetime.fromtimestamp(
            (folder / LAST if has_no_history else path).stat().st_mtime
        )
    except (CheckpointError, OSError) as error:
        reason = "is damaged" if path.exists() else "is missing"
        raise TrainingError(
            f"{folder} is not the folder of a run: its {HISTORY} {reason}. Choose a folder that "
            "a training wrote."
        ) from error
    curves = RunCurves()
    metrics = read_step_metrics(folder) if with_steps else None
    curves.add_run(with_best(records, folder), metrics)
    if not curves.validations and not files.can_resume:
        raise TrainingError(
            f"The run in {folder} has no validated epoch yet, so it has no curve. Choose "
            "another, or try again later."
        )
    return RunOnDisk(folder, folder.name, curves, len(records), changed, files, metrics)


def runs_in(parent: Path) -> list[RunOnDisk]:
    """The readable runs in the folders of `parent`, the newest first, `MAX_LISTED` at most."""
    try:
        dated_folders = [
            (_changed(folder), folder) for folder in each_once(filter(_is_run, parent.iterdir()))
        ]
    except OSError:
        return []
    runs = []
    for _, folder in sorted(dated_folders, reverse=True)[:MAX_LISTED]:
        try:
            runs.append(read_run(folder))
        except TrainingError:
            continue
    return runs


def _is_run(folder: Path) -> bool:
    try:
        return folder.is_dir() and (is_run(folder) or (folder / HISTORY).is_file())
    except OSError:  # no permission: the others can be listed
        return False


def _changed(folder: Path) -> float:
    """The time of the last change to its history; without one, to its last checkpoint or its
    settings.
    """
    for name in (HISTORY, LAST, RUN_SETTINGS):
        if (folder / name).is_file():
            return (folder / name).stat().st_mtime
    return 0.0


def known_records(folder: Path) -> tuple[EpochRecord, ...]:
    """The epochs in the history of the run in `folder`; none if it cannot be read."""
    try:
        return read_history(folder / HISTORY)
    except CheckpointError:
        return ()


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """A run shown for comparison.

    Attributes:
        key: its folder, or "published".
        name: for the legend.
        slot: the index of its colour.
        curves: its curves.
        tip: its description.
        is_batch_mean: whether only means of batch means are known, so that others are drawn as
            such.
    """

    key: str
    name: str
    slot: int
    curves: RunCurves
    tip: str
    is_batch_mean: bool = False


class RunComparison:
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
            raise TrainingError(
                f"The run in {folder} has not been validated yet, so it has no curve. Choose "
                "another."
            )
        self.remove(str(folder))
        self._add(str(folder), run.name, run.curves, run.summary)

    def add_published(self, steps_per_epoch: int = PUBLISHED_STEPS_PER_EPOCH) -> None:
        """Adds the published curve of `notebook`.

        Raises `TrainingError` if every colour is used.
        """
        self.remove(PUBLISHED)
        curves = RunCurves()
        for epoch, loss in enumerate(PUBLISHED_LOSSES, start=1):
            curves.add_validation(
                EpochRecord(epoch, epoch * steps_per_epoch, nan, loss, loss, nan, nan)
            )
        self._add(PUBLISHED, "published notebook", curves, PUBLISHED_TIP, is_batch_mean=True)

    def remove(self, key: str) -> None:
        """Removes a run."""
        if self.contains(key):
            self.runs = [run for run in self.runs if run.key != key]
            self.changed.emit()

    def _add(
        self, key: str, name: str, curves: RunCurves, tip: str, *, is_batch_mean: bool = False
    ) -> None:
        free = [slot for slot in range(NUM_RUNS) if all(run.slot != slot for run in self.runs)]
        if not free:
            raise TrainingError(
                f"At most {NUM_RUNS} runs can be compared at a time. Click a run's name above "
                "the chart to remove it."
            )
        self.runs.append(ComparedRun(key, name, free[0], curves, tip, is_batch_mean))
        self.changed.emit()
