"""Runs on the disk, and the remembered folders that hold them. No torch: a window lists runs before it is imported.

`augenmerk runs` finds the folders that the window saved runs to in a list of paths in the user's state folder, newest
first. The list is a convenience: an unreadable one counts as empty, and a failure to write it is ignored.
"""

import contextlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import platformdirs

from augenmerk.core.checkpoint.history import EpochRecord, read_history
from augenmerk.core.config import RunConfig
from augenmerk.core.config.toml import read_toml
from augenmerk.core.errors import CheckpointError, ConfigError, StorageError
from augenmerk.core.storage import read_bytes, read_text, write_text
from augenmerk.core.strict_json import JsonError, parse
from augenmerk.core.training.folder import (
    BEST,
    ENVIRONMENT,
    HISTORY,
    LAST,
    RUN_SETTINGS,
    default_runs_folder,
    describe_checkpoint,
    is_locked,
    kept_checkpoints,
    older_files,
)

RunState = Literal["running", "finished", "stopped", "interrupted"]
MAX_REMEMBERED = 16
_MAX_LIST_BYTES = 2**18
_MAX_RECORD_BYTES = 50_000_000
"""Of `environment.json`: each start of a run adds about 1,500."""


@dataclass(frozen=True)
class RunSummary:
    """A run on the disk.

    Attributes:
        folder: where it is.
        run: its settings; None if they cannot be read.
        history: its complete epochs.
        validations: those of `history`, and validations within an epoch stored in its best checkpoints; by rising step.
        step: optimizer steps in its last checkpoint.
        has_last: whether its last checkpoint exists.
        state: "running" in some process; "finished" as configured; "stopped" by the user; "interrupted" by a crash or
            a kill, so that the steps since the last checkpoint are lost.
    """

    folder: Path
    run: RunConfig | None
    history: tuple[EpochRecord, ...]
    validations: tuple[EpochRecord, ...]
    step: int
    has_last: bool
    state: RunState

    @property
    def can_resume(self) -> bool:
        """Whether it can be resumed: it is unfinished, and no process is running it."""
        return self.has_last and self.run is not None and self.state in ("stopped", "interrupted")

    @property
    def preset(self) -> str:
        """Name of the preset it was started from; "?" if unknown."""
        return self.run.preset if self.run else "?"

    @property
    def best(self) -> EpochRecord | None:
        """The validation with the lowest loss, including those within an epoch; None before the first."""
        return min(self.validations, key=lambda record: _sortable(record.validation_loss), default=None)

    @property
    def best_bleu(self) -> float | None:
        """The highest BLEU on the run's sample; None if none was translated."""
        return max((record.bleu for record in self.validations if record.bleu is not None), default=None)


def list_runs(folder: Path) -> list[RunSummary]:
    """The runs in `folder`: itself, if it is one, and its subfolders, by name."""
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
    """The summary of a run from its files; what cannot be read is left out."""
    try:
        run = read_toml(folder / RUN_SETTINGS)
    except ConfigError:
        run = None
    try:
        history = read_history(folder / HISTORY)
    except CheckpointError:
        history = ()
    last = describe_checkpoint(folder / LAST)
    step = last.step if last else max((record.step for record in history), default=0)
    validations = with_best(history, folder)
    return RunSummary(folder, run, history, validations, step, last is not None, _state(folder, run, history))


def with_best(history: Sequence[EpochRecord], folder: Path) -> tuple[EpochRecord, ...]:
    """`history`, and the validations that are only in the best checkpoints in `folder`; by rising step.

    A run that was stopped, or reached its step limit, is validated within an epoch. The table of epochs leaves that
    out, because a resumed run must have the same table as one that never stopped.
    """
    records = {kept.validated.step: kept.validated for kept in kept_checkpoints(folder, "best") if kept.validated}
    records |= {record.step: record for record in history}
    return tuple(records[step] for step in sorted(records))


def _state(folder: Path, run: RunConfig | None, history: tuple[EpochRecord, ...]) -> RunState:
    if is_locked(folder):
        return "running"
    starts = read_starts(folder)
    if not starts:  # written by a version without records
        return "finished" if run and len(history) >= run.training.num_epochs else "stopped"
    reason = starts[-1].get("reason")
    if reason is None:
        return "interrupted"
    return "stopped" if reason in ("stopped", "paused") else "finished"


def _sortable(loss: float) -> float:
    return math.inf if math.isnan(loss) else loss


def remembered_run_folders() -> list[Path]:
    """The folders that runs were saved to, newest first; those that are gone now are among them."""
    try:
        stored = parse(read_bytes(_list_path(), _MAX_LIST_BYTES), max_depth=2).value
    except (OSError, JsonError):
        return []
    paths = stored if isinstance(stored, list) else []
    return [Path(path) for path in paths if isinstance(path, str) and Path(path).is_absolute()][:MAX_REMEMBERED]


def remember_run_folder(folder: Path) -> None:
    """Puts the folder that holds runs at the head of the list, unless that is `default_runs_folder`."""
    folder = Path(folder).absolute()
    if folder == default_runs_folder():
        return
    before = remembered_run_folders()
    paths = [folder, *(each for each in before if each != folder)][:MAX_REMEMBERED]
    if paths == before:
        return
    text = json.dumps([str(path) for path in paths], ensure_ascii=False)
    with contextlib.suppress(StorageError, UnicodeError):
        text.encode("utf-8")  # a name that is not UTF-8 cannot be read back
        write_text(_list_path(), text)


def _list_path() -> Path:
    return platformdirs.user_state_path("augenmerk", appauthor=False) / "run-folders.json"


MAX_BYTES = 50_000_000
"""Of `environment.json`: each start of a run adds some 1,500."""


def read_starts(folder: Path) -> list[dict[str, Any]]:
    """The entries of `environment.json`, oldest first; none if there is no such file or it is damaged."""
    try:
        starts = json.loads(read_text(Path(folder) / ENVIRONMENT, _MAX_RECORD_BYTES))["starts"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    return [entry for entry in starts if isinstance(entry, dict)] if isinstance(starts, list) else []


def was_interrupted_before_first_checkpoint(folder: Path) -> bool:
    """Whether the run in `folder` crashed so early that it has nothing to resume from.

    False if there is evidence of a checkpoint: then the checkpoint was deleted.
    """
    starts = read_starts(folder)
    if any("last_step" in start or start.get("first_step") != 0 for start in starts):
        return False
    if (folder / LAST).exists() or older_files(folder, "last") or not (folder / RUN_SETTINGS).is_file():
        return False
    if not starts and (folder / BEST).exists():
        return False
    try:
        return len(read_history(folder / HISTORY)) <= 1  # a checkpoint is written before the second epoch
    except CheckpointError:
        return False
