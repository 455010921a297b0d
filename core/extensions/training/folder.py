"""Folders of runs on the disk: their files, checkpoints and summaries.

No torch: a window lists runs without it.

`augenmerk runs` finds the folders that the window saved runs to in a list of paths in the user's
state folder, newest first. The list is a convenience: an unreadable one counts as empty, and a
failure to write it is ignored.
"""

import contextlib
import json
import math
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import platformdirs

from ...checkpoint.history import EpochRecord
from ...config import RunConfig
from ...errors import CheckpointError, ConfigError, StorageError, TrainingError
from ...folder_lock import FolderLock, is_locked
from ...run_files import (
    BEST,
    ENVIRONMENT,
    FILES,
    HISTORY,
    INPUTS,
    KEPT_NAMES,
    LAST,
    RUN_SETTINGS,
    TENSORBOARD,
    CheckpointKind,
    is_run,
)
from ...storage import is_forbidden, read_bytes, read_text, reason_of, remedy, write_text
from ...strict_json import JsonError, parse
from ...tensor_file import open_tensor_file
from ..run_settings.toml_file import read_toml
from .corpora.parallel import DataSource
from .film import FILM, own_frame_paths
from .history_file import read_history

_PART_NAME = re.compile(r"\..+\.part|\.tmp[A-Za-z0-9]{6}")
"""Temporary files of `core.storage.atomic_path`, and those of safetensors within them."""


def default_runs_folder() -> Path:
    """The folder that the window saves runs to unless another is chosen: in the user's data
    directory.
    """
    return platformdirs.user_data_path("augenmerk", appauthor=False) / "runs"


def require_readable(folder: Path) -> None:
    """Raises `CheckpointError` if the user may not read what is in `folder`, which then looks
    empty.
    """
    if is_forbidden(folder) or is_forbidden(folder / LAST):
        raise CheckpointError(
            f"{folder} cannot be read: no permission. Make it readable, or choose another folder."
        )


def require_right_folder(folder: Path, resume: bool) -> None:
    """Raises `TrainingError` if `folder` already contains a run, or `CheckpointError` if it has
    none to resume.
    """
    if resume:
        if not is_run(folder):
            require_readable(folder)
            raise CheckpointError(
                f"There is no run to resume in {folder}: it has no {LAST}. Check the folder, or "
                "start a new run in it."
            )
        return
    # `Path.exists` raises where reading is not permitted; `os.path.exists` does not, and writing
    # will report it
    has_files = any(os.path.exists(folder / name) for name in (LAST, BEST))  # noqa: PTH110
    if has_files or older_files(folder, "best") or older_files(folder, "last"):
        raise TrainingError(
            f"{folder} already contains a run. Resume that run, or choose an empty or new folder."
        )
    if not is_run(folder) and (others := [name for name in FILES if os.path.exists(folder / name)]):  # noqa: PTH110
        raise TrainingError(
            f"{folder} already contains {others[0]}, which training would replace. Choose an "
            "empty or new folder."
        )


@dataclass(frozen=True)
class KeptCheckpoint:
    """A checkpoint in a run's folder, as described by its header.

    Attributes:
        path: the file.
        epoch: the epoch when it was saved; for a best one, that of its validation.
        step: optimizer steps done then.
        validation_loss: of its last validation; infinite if there was none.
        validated: that validation; None if there was none.
    """

    path: Path
    epoch: int
    step: int
    validation_loss: float
    validated: EpochRecord | None = None


def kept_checkpoints(folder: Path, kind: CheckpointKind) -> list[KeptCheckpoint]:
    """The complete checkpoints of one kind: best ones best first, last ones newest first.

    Files that cannot be read are left out, and of two with the same step only one is listed.
    """
    checkpoints_by_step: dict[int, KeptCheckpoint] = {}
    for path in (Path(folder) / f"{kind}.safetensors", *older_files(folder, kind)):
        checkpoint = describe_checkpoint(path)
        if checkpoint is not None:
            checkpoints_by_step.setdefault(checkpoint.step, checkpoint)
    if kind == "last":
        return sorted(checkpoints_by_step.values(), key=lambda checkpoint: -checkpoint.step)
    return sorted(
        checkpoints_by_step.values(),
        key=lambda checkpoint: (checkpoint.validation_loss, checkpoint.step),
    )


def older_files(folder: Path, kind: CheckpointKind) -> list[Path]:
    """The files of one kind other than `best.safetensors` or `last.safetensors`, by name."""
    try:
        return sorted(
            path for path in Path(folder).iterdir() if KEPT_NAMES[kind].fullmatch(path.name)
        )
    except OSError:
        return []


def describe_checkpoint(path: Path) -> KeptCheckpoint | None:
    """The description in the header of a checkpoint; None if it cannot be read."""
    try:
        with open_tensor_file(path, "numpy") as file:
            if file.description is None or not isinstance(file.description.value, dict):
                return None
            header: dict[str, Any] = file.description.value
        history = header["history"]
        progress = header.get("progress") or {}
        validated: dict[str, Any] = history[-1] if history else {}
        return KeptCheckpoint(
            path=path,
            epoch=int(progress.get("epoch", validated.get("epoch", 0))),
            step=int(progress.get("step", validated.get("step", 0))),
            validation_loss=float(validated.get("validation_loss", "inf")),
            validated=_record(validated),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None


def _record(values: dict[str, Any]) -> EpochRecord | None:
    """The record; None if a value is missing or not a number."""
    try:
        return EpochRecord.from_dict(values)
    except (TypeError, ValueError):
        return None


def discard_run(folder: Path) -> None:
    """Removes all files of the run in `folder`, and the folder if nothing else is in it.

    Raises:
        StorageError: something cannot be removed.
    """
    try:
        own = [folder / name for name in FILES]
        own += [
            *older_files(folder, "best"),
            *older_files(folder, "last"),
            *own_frame_paths(folder).values(),
        ]
        if not (folder / TENSORBOARD).is_symlink():
            own += (folder / TENSORBOARD).glob("events.out.tfevents.*")
        for path in own:
            path.unlink(missing_ok=True)
        for path in (folder / FILM, folder / TENSORBOARD, folder):
            with contextlib.suppress(OSError):  # not empty: it contains files of the user
                path.rmdir()
    except OSError as error:
        advice = remedy(error) or "close programs that use them"
        raise StorageError(
            f"Cannot delete all files of the run in {folder}: {reason_of(error)}. To try again, "
            f"{advice}."
        ) from error


def remove_partial_files(folder: Path) -> None:
    """Removes partial files that a killed process left in `folder`. Raises `OSError`."""
    film = folder / FILM
    for path in [
        *folder.iterdir(),
        *(film.iterdir() if film.is_dir() and not film.is_symlink() else ()),
    ]:
        if _PART_NAME.fullmatch(path.name):
            path.unlink(missing_ok=True)


def locked(folder: Path, work: str = "training") -> closing[FolderLock]:
    """A context in which `folder`, created if it is missing, is locked against other trainings, or
    other such work.

    Partial files of a killed process are removed.

    Raises:
        TrainingError: another training is writing to it.
        StorageError: the folder cannot be written.
    """
    return closing(FolderLock(folder, work, remove_partial_files))


RunState = Literal["running", "finished", "stopped", "interrupted"]
MAX_REMEMBERED = 16
_MAX_LIST_BYTES = 2**18
_MAX_RECORD_BYTES = 50_000_000
"""Maximum size of `environment.json`: each start of a run adds about 1,500 bytes."""


@dataclass(frozen=True)
class RunSummary:
    """A run on the disk.

    Attributes:
        folder: its path.
        run: its settings; None if they cannot be read.
        history: its complete epochs.
        validations: those of `history`, and validations within an epoch stored in its best
            checkpoints; by rising step.
        step: optimizer steps in its last checkpoint.
        has_last: whether its last checkpoint exists.
        state: "running" in some process; "finished" as configured; "stopped" by the user;
            "interrupted" by a crash or a kill, so that the steps since the last checkpoint are
            lost.
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
        """The validation with the lowest loss, including those within an epoch; None before the
        first.
        """
        return min(
            self.validations, key=lambda record: _sortable(record.validation_loss), default=None
        )

    @property
    def best_bleu(self) -> float | None:
        """The highest BLEU on the run's sample; None if none was translated."""
        return max(
            (record.bleu for record in self.validations if record.bleu is not None), default=None
        )


def list_runs(folder: Path) -> list[RunSummary]:
    """The runs in `folder`: itself, if it is one, and its subfolders, by name, each once."""
    folder = Path(folder)
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []
    return [summarize(path) for path in each_once([folder, *inside]) if is_run(path)]


def each_once(folders: Iterable[Path]) -> list[Path]:
    """The folders in their order, without other names of the same ones: first of all, symbolic
    links are left out.
    """
    names: dict[str, Path] = {}
    for folder in sorted(folders := list(folders), key=os.path.islink):
        names.setdefault(os.path.realpath(folder), folder)
    return [folder for folder in folders if names[os.path.realpath(folder)] is folder]


def summarize(folder: Path) -> RunSummary:
    """The summary of a run from its files, without unreadable parts."""
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
    return RunSummary(
        folder, run, history, validations, step, last is not None, _state(folder, run, history)
    )


def with_best(history: Sequence[EpochRecord], folder: Path) -> tuple[EpochRecord, ...]:
    """`history`, and the validations that are only in the best checkpoints in `folder`; by rising
    step.

    A run that was stopped, or reached its step limit, is validated within an epoch. The table of
    epochs leaves that out, because a resumed run must have the same table as one that never
    stopped.
    """
    records = {
        checkpoint.validated.step: checkpoint.validated
        for checkpoint in kept_checkpoints(folder, "best")
        if checkpoint.validated
    }
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
    """The folders that runs were saved to, newest first, including deleted ones."""
    try:
        stored = parse(read_bytes(_list_path(), _MAX_LIST_BYTES), max_depth=2).value
    except (OSError, JsonError):
        return []
    paths = stored if isinstance(stored, list) else []
    return [Path(path) for path in paths if isinstance(path, str) and Path(path).is_absolute()][
        :MAX_REMEMBERED
    ]


def remember_run_folder(folder: Path) -> None:
    """Puts a folder of runs at the head of the list, unless it is `default_runs_folder`."""
    folder = Path(folder).absolute()
    if folder == default_runs_folder():
        return
    before = remembered_run_folders()
    paths = [folder, *(path for path in before if path != folder)][:MAX_REMEMBERED]
    if paths == before:
        return
    text = json.dumps([str(path) for path in paths], ensure_ascii=False)
    with contextlib.suppress(StorageError, UnicodeError):
        text.encode("utf-8")  # a name that is not UTF-8 cannot be read back
        write_text(_list_path(), text)


def _list_path() -> Path:
    return platformdirs.user_state_path("augenmerk", appauthor=False) / "run-folders.json"


@dataclass(frozen=True)
class RunInputs:
    """The files that a run reads again when it is resumed, in a file of their own, because paths
    may be private.

    Attributes:
        data: the corpus; None if it is not known.
        initial_model: the model that the run began with, needed until its first checkpoint; None
            for random weights.
        teachers: the models that it learns from.
    """

    data: DataSource | None = None
    initial_model: Path | None = None
    teachers: tuple[Path, ...] = ()


def read_run_inputs(folder: Path) -> RunInputs:
    """The inputs of the run in `folder`; empty ones if there is no record of them, or a damaged
    one.
    """
    try:
        values = json.loads(read_text(Path(folder) / INPUTS, _MAX_LIST_BYTES))
        data, initial_model, teachers = (
            values.get(name) for name in ("data", "initial_model", "teachers")
        )
        if isinstance(data, list):
            source, target = data
            data = (Path(source), Path(target))
        elif data is not None:
            data = source_of(data)
        if not isinstance(teachers, list | None):
            raise TypeError("the teachers are not a list")
        return RunInputs(
            data, initial_model and Path(initial_model), tuple(map(Path, teachers or ()))
        )
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return RunInputs()


def write_run_inputs(folder: Path, inputs: RunInputs) -> None:
    """Writes `inputs.json`. Raises `StorageError`."""
    data = inputs.data
    values = {
        "data": [str(path) for path in data] if isinstance(data, tuple) else data and str(data),
        "initial_model": inputs.initial_model and str(inputs.initial_model),
        "teachers": [str(path) for path in inputs.teachers],
    }
    text = json.dumps({name: value for name, value in values.items() if value}, indent=2)
    write_text(folder / INPUTS, text + "\n")


def source_of(text: str) -> str | Path:
    """The data source that was written as `text`."""
    return text if text in ("multi30k", "copy") else Path(text)


def read_starts(folder: Path) -> list[dict[str, Any]]:
    """The entries of `environment.json`, oldest first; none if there is no such file or it is
    damaged.
    """
    try:
        starts = json.loads(read_text(Path(folder) / ENVIRONMENT, _MAX_RECORD_BYTES))["starts"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    return (
        [entry for entry in starts if isinstance(entry, dict)] if isinstance(starts, list) else []
    )


def was_interrupted_before_first_checkpoint(folder: Path) -> bool:
    """Whether the run in `folder` crashed so early that it has nothing to resume from.

    False if there is evidence of a checkpoint: then the checkpoint was deleted. False too if the
    folder cannot be read.
    """
    starts = read_starts(folder)
    if any("last_step" in start or start.get("first_step") != 0 for start in starts):
        return False
    try:
        if (
            (folder / LAST).exists()
            or older_files(folder, "last")
            or not (folder / RUN_SETTINGS).is_file()
        ):
            return False
        if not starts and (folder / BEST).exists():
            return False
        # a checkpoint is written before the second epoch
        return len(read_history(folder / HISTORY)) <= 1
    except (CheckpointError, OSError):
        return False
