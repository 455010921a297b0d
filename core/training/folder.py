"""A run's folder: the names of its files, and what stands there. No torch here."""

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import platformdirs

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.errors import TrainingError
from augenmerk.core.storage import cannot_write
from augenmerk.core.tensor_file import open_tensor_file
from augenmerk.core.training.film import FILM, own_frame_paths

LAST, BEST, HISTORY, STEPS = "last.safetensors", "best.safetensors", "history.csv", "steps.bin"
RUN_SETTINGS, ENVIRONMENT, TENSORBOARD = "run.toml", "environment.json", "tensorboard"
CheckpointKind = Literal["best", "last"]
_KEPT_NAMES: dict[CheckpointKind, re.Pattern[str]] = {
    "best": re.compile(r"best-epoch\d+-step\d+\.safetensors"),
    "last": re.compile(r"last-step\d+\.safetensors"),
}
_PART_NAME = re.compile(r"\..+\.part|\.tmp[A-Za-z0-9]{6}")
"""What `core.storage.atomic_path` writes before it renames, and what safetensors does within that."""


def default_runs_folder() -> Path:
    """The folder that the window saves runs to unless another is chosen: in the user's data directory."""
    return platformdirs.user_data_path("augenmerk", appauthor=False) / "runs"


def require_no_other_run(folder: Path, resume: bool) -> None:
    """Raises `TrainingError` if `folder` contains a run that is not to be resumed."""
    # `Path.exists` raises where reading is not permitted; `os.path.exists` does not, and writing will report it
    if not resume and any(os.path.exists(folder / name) for name in (LAST, BEST)):  # noqa: PTH110
        raise TrainingError(f"{folder} already contains a run. Resume that run, or choose an empty or new folder.")


@dataclass(frozen=True)
class KeptCheckpoint:
    """A checkpoint in a run's folder, as described by its header.

    Attributes:
        path: the file.
        kind: "best" or "last".
        epoch, step: when it was saved; for a best one, of its validation.
        validation_loss: of its last validation; infinite if there was none.
        validated: that validation; None if there was none.
    """

    path: Path
    kind: CheckpointKind
    epoch: int
    step: int
    validation_loss: float
    validated: EpochRecord | None = None


def kept_checkpoints(folder: Path, kind: CheckpointKind) -> list[KeptCheckpoint]:
    """The complete checkpoints of one kind: the best ones best first, the last ones newest first.

    Files that cannot be read are left out, and of two with the same step only one is listed.
    """
    found: dict[int, KeptCheckpoint] = {}
    for path in (Path(folder) / f"{kind}.safetensors", *older_files(folder, kind)):
        checkpoint = describe_checkpoint(path, kind)
        if checkpoint is not None:
            found.setdefault(checkpoint.step, checkpoint)
    if kind == "last":
        return sorted(found.values(), key=lambda kept: -kept.step)
    return sorted(found.values(), key=lambda kept: (kept.validation_loss, kept.step))


def older_files(folder: Path, kind: CheckpointKind) -> list[Path]:
    """The files of one kind beside `best.safetensors` or `last.safetensors`, by name."""
    try:
        return sorted(path for path in Path(folder).iterdir() if _KEPT_NAMES[kind].fullmatch(path.name))
    except OSError:
        return []


def describe_checkpoint(path: Path, kind: CheckpointKind) -> KeptCheckpoint | None:
    """The description in the header of a checkpoint; None if it cannot be read."""
    try:
        with open_tensor_file(path, "numpy") as file:
            if file.description is None or not isinstance(file.description.value, dict):
                return None
            header: dict[str, Any] = file.description.value
        history, progress = header["history"], header.get("progress") or {}
        validated: dict[str, Any] = history[-1] if history else {}
        return KeptCheckpoint(
            path=path,
            kind=kind,
            epoch=int(progress.get("epoch", validated.get("epoch", 0))),
            step=int(progress.get("step", validated.get("step", 0))),
            validation_loss=float(validated.get("validation_loss", "inf")),
            validated=_record(validated),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None


def _record(values: dict[str, Any]) -> EpochRecord | None:
    """None if a value is missing or not a number."""
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
        for path in [*run_files(folder), *own_frame_paths(folder)]:
            path.unlink(missing_ok=True)
        for path in (folder / FILM, folder / TENSORBOARD, folder):
            with contextlib.suppress(OSError):  # not empty: it contains files of the user
                path.rmdir()
    except OSError as error:
        raise cannot_write(folder, error) from error


def run_files(folder: Path) -> list[Path]:
    """The files in `folder` that belong to its run; the lock and the film are not among them."""
    own = [Path(folder) / name for name in (LAST, BEST, HISTORY, STEPS, RUN_SETTINGS, ENVIRONMENT)]
    board = Path(folder) / TENSORBOARD
    logs = [] if board.is_symlink() else sorted(board.glob("events.out.tfevents.*"))
    return [*own, *older_files(folder, "best"), *older_files(folder, "last"), *logs]


def remove_partial_files(folder: Path) -> None:
    """Removes partial files that a killed process left in `folder`. Raises `OSError`."""
    film = folder / FILM
    for path in [*folder.iterdir(), *(film.iterdir() if film.is_dir() and not film.is_symlink() else ())]:
        if _PART_NAME.fullmatch(path.name):
            path.unlink(missing_ok=True)
