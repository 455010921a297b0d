"""The runs that stand on the disk, as a table. No torch here: a window lists them before torch is imported."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.checkpoint.history import EpochRecord, read_history
from core.config import RunConfig
from core.config.toml import read_toml
from core.errors import CheckpointError, ConfigError
from core.training.folder import BEST, HISTORY, LAST, RUN_SETTINGS, describe_checkpoint
from core.training.lock import is_locked
from core.training.record import read_starts

RunState = Literal["running", "finished", "stopped", "interrupted"]


@dataclass(frozen=True)
class RunSummary:
    """A run on the disk.

    Attributes:
        folder: where it is.
        run: its settings; None if they cannot be read.
        history: its complete epochs.
        step: optimiser steps in its last checkpoint.
        state: "running" in some process; "finished" as it was meant to be; "stopped" by someone; "interrupted" by a
            crash or a kill, so that the steps since the last checkpoint are lost.
    """

    folder: Path
    run: RunConfig | None
    history: tuple[EpochRecord, ...]
    step: int
    state: RunState

    @property
    def preset(self) -> str:
        """Name of the configuration it started from; "?" if nothing says it."""
        return self.run.preset if self.run else "?"

    @property
    def best(self) -> EpochRecord | None:
        """The epoch with the lowest validation loss; None before the first."""
        return min(self.history, key=lambda record: _sortable(record.validation_loss), default=None)

    @property
    def best_bleu(self) -> float | None:
        """The highest BLEU on the run's sample; None if none was translated."""
        return max((record.bleu for record in self.history if record.bleu is not None), default=None)


def list_runs(folder: Path) -> list[RunSummary]:
    """The runs in `folder`: itself, if it is one, and what lies directly in it, by name."""
    folder = Path(folder)
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []
    return [summarize(path) for path in (folder, *inside) if is_run(path)]


def is_run(folder: Path) -> bool:
    """Whether `folder` holds a run."""
    try:
        return any((folder / name).is_file() for name in (RUN_SETTINGS, LAST, BEST))
    except OSError:
        return False


def summarize(folder: Path) -> RunSummary:
    """What the files of a run say; what cannot be read is left out."""
    try:
        run = read_toml(folder / RUN_SETTINGS)
    except ConfigError:
        run = None
    try:
        history = read_history(folder / HISTORY)
    except CheckpointError:
        history = ()
    last = describe_checkpoint(folder / LAST, "last")
    step = last.step if last else max((record.step for record in history), default=0)
    return RunSummary(folder, run, history, step, _state(folder, run, history))


def _state(folder: Path, run: RunConfig | None, history: tuple[EpochRecord, ...]) -> RunState:
    if is_locked(folder):
        return "running"
    starts = read_starts(folder)
    if not starts:  # of a version that kept no record
        return "finished" if run and len(history) >= run.training.num_epochs else "stopped"
    reason = starts[-1].get("reason")
    if reason is None:
        return "interrupted"
    return "stopped" if reason in ("stopped", "paused") else "finished"


def _sortable(loss: float) -> float:
    return math.inf if math.isnan(loss) else loss
