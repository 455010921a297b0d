"""Writes the files of a run: record, best and newest checkpoints, history, metrics of each step,
film.

Older files are removed only after the new one is complete. If a file cannot be written, the caller
decides: retry or stop.
"""

import contextlib
import json
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from ... import __version__
from ...checkpoint.file import Checkpoint, load_checkpoint, save_checkpoint
from ...checkpoint.history import EpochRecord
from ...device import DeviceChoice
from ...errors import CheckpointError, StorageError
from ...folder_lock import FolderLock
from ...run_files import BEST, ENVIRONMENT, HISTORY, LAST, RUN_SETTINGS, STEPS, CheckpointKind
from ...storage import atomic_path, remedy, write_text
from ..run_settings.toml_file import to_toml
from .events import (
    CheckpointSaved,
    DivergedError,
    EndReason,
    Noted,
    OnEvent,
    OnSaveFailed,
    SaveFailed,
)
from .film import FilmFrame, frame_path, own_frame_paths, write_frame
from .folder import (
    RunInputs,
    describe_checkpoint,
    kept_checkpoints,
    older_files,
    read_starts,
    require_readable,
    write_run_inputs,
)
from .history_file import write_history
from .session import TrainingSession
from .step_metrics import StepMetricsWriter

_MAX_DELETED = 5
"""Times a file is written again after it was deleted meanwhile."""
_PACKAGES = ("torch", "numpy", "safetensors", "sentencepiece", "spacy", "torchtext")


def _describe_start(
    session: TrainingSession, device: DeviceChoice, choices: Sequence[str]
) -> dict[str, Any]:
    """An entry of `environment.json`: versions, machine, device, command line, all that results may
    depend on.
    """
    return {
        "started": _now(),
        "augenmerk": __version__,
        "python": platform.python_version(),
        # with its CUDA
        "packages": {name: _version(name) for name in _PACKAGES} | {"torch": torch.__version__},
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "device": device.name,
        "device_reason": device.reason,
        "precision": session.precision.name,
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "command": without_paths(sys.argv),
        "choices": [" ".join(without_paths(line.split(" "))) for line in choices],
        "corpus": session.corpus.name,
        "pairs": session.corpus.left_out_note or None,
        "seed": session.run.training.seed,
        "first_step": session.progress.step,
    }


def without_paths(arguments: Sequence[str]) -> list[str]:
    """The words of a command line; paths are shortened to …/name, because folders may be
    private.
    """
    words = (argument.rstrip("/\\").replace("\\", "/").rpartition("/") for argument in arguments)
    return [f"…/{name}" if slash else name for _, slash, name in words]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _now() -> str:
    return datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")


class CheckpointManager:
    """Writes the files of one run.

    Each start of a run, the first and each resumption, adds an entry to `environment.json`. The
    settings of a resumed run are written with its first checkpoint; an attempt that fails earlier
    leaves the old settings.

    Args:
        session: the run.
        lock: of the run's folder.
        device: the device and the reason for it.
        choices: the choices for the device with their reasons, one sentence each.
        on_event: called with each saved checkpoint and each failed save.
        on_save_failed: decides after a failed save.

    Attributes:
        steps: the metrics of each step; a failure to write them is reported with the next
            checkpoint.
    """

    def __init__(
        self,
        session: TrainingSession,
        lock: FolderLock,
        device: DeviceChoice,
        choices: Sequence[str],
        on_event: OnEvent,
        on_save_failed: OnSaveFailed,
    ) -> None:
        self.session = session
        self.folder = lock.folder
        self._lock = lock
        self._starts = [*read_starts(lock.folder), _describe_start(session, device, choices)]
        self._has_written_settings = False
        self.steps = StepMetricsWriter(lock.folder, session.progress.step)
        self._has_reported_steps = False
        self.on_event = on_event
        self.on_save_failed = on_save_failed
        self._write_seconds = 0.0

    def begin(self) -> None:
        """Writes history and record, so that a read-only folder fails at once; removes later frames
        of the film.

        Raises:
            StorageError: the folder cannot be written.
        """
        progress = self.session.progress
        write_history(self.folder / HISTORY, progress.history)
        if progress.step == 0:
            self._write_settings()
        self._write_starts()
        for step, path in own_frame_paths(self.folder).items():
            if step > progress.step:
                with contextlib.suppress(OSError):
                    path.unlink()

    def end(self, reason: EndReason) -> None:
        """Records how the run ended. Raises `StorageError`."""
        self._starts[-1] |= {
            "ended": _now(),
            "reason": reason,
            "last_step": self.session.progress.step,
        }
        self.write_or_ask(self.folder / ENVIRONMENT, self._write_starts)

    def _write_settings(self) -> None:
        """Writes `run.toml` and `inputs.json`, once. Raises `StorageError`."""
        if self._has_written_settings:
            return
        write_text(self.folder / RUN_SETTINGS, to_toml(self.session.run))
        if self.session.inputs != RunInputs():
            write_run_inputs(self.folder, self.session.inputs)
        self._has_written_settings = True

    def _write_starts(self) -> None:
        text = json.dumps({"starts": self._starts}, indent=2, ensure_ascii=False)
        write_text(self.folder / ENVIRONMENT, text + "\n")

    def close(self) -> None:
        """Writes the last metrics, or notes that some are missing."""
        if not self.steps.close():
            self._note_about_steps(
                "could not all be written. The charts of this run lack steps when it is reopened."
            )

    def _note_about_steps(self, problem: str) -> None:
        self.on_event(Noted(f"The metrics of each step ({self.folder / STEPS}) {problem}"))

    def save_last(self) -> None:
        """Saves the checkpoint to resume from; `keep_last` of them are kept.

        Raises:
            DivergedError: the weights are not finite or absurd; the last good checkpoint is kept.
            StorageError: it cannot be written.
        """
        self.session.require_sound_weights()
        path = self.folder / LAST
        progress = self.session.progress
        self.write_or_ask(path, self._write_last)
        self.write_or_ask(self.folder / RUN_SETTINGS, self._write_settings)
        self.on_event(
            CheckpointSaved(path, "last", progress.epoch, progress.step, self._write_seconds)
        )
        self._remove_surplus("last", self.session.run.training.keep_last)

    def save_last_if_possible(self) -> None:
        """Saves the checkpoint to resume from after another file could not be written; a failure is
        not reported.
        """
        with contextlib.suppress(StorageError, DivergedError):
            self.session.require_sound_weights()
            self._write_last()

    def _write_last(self) -> None:
        began = time.perf_counter()
        path = self.folder / LAST
        progress = self.session.progress
        older = describe_checkpoint(path) if self.session.run.training.keep_last > 1 else None
        is_complete = self.steps.sync()
        if not (is_complete or self._has_reported_steps):
            self._note_about_steps(
                "cannot be written. Training continues without them, and writes them as soon as "
                "it can."
            )
        self._has_reported_steps = not is_complete
        if older and older.step < progress.step:
            _link_or_copy(path, self.folder / f"last-step{older.step:07d}.safetensors")
        save_checkpoint(self.session.resumable_snapshot(), path)
        self._write_seconds = time.perf_counter() - began

    def save_if_best(self, record: EpochRecord, history: Sequence[EpochRecord]) -> bool:
        """Saves the model if this validation is among the best. Returns whether it is the best.

        Args:
            record: this validation.
            history: of the run, to be stored in the checkpoint; ends with this validation.

        Raises:
            StorageError: it cannot be written.
        """
        progress = self.session.progress
        if record.validation_loss < progress.best_validation_loss:
            progress.best_epoch = record.epoch
            progress.best_validation_loss = record.validation_loss
            self.save_best(history)
            return True
        num_kept = self.session.run.training.keep_best
        if num_kept > 1:
            better = [
                checkpoint
                for checkpoint in kept_checkpoints(self.folder, "best")
                if checkpoint.step < record.step
            ]
            if (
                sum(checkpoint.validation_loss <= record.validation_loss for checkpoint in better)
                < num_kept
            ):
                self._write_best(_best_name(record.epoch, record.step), history)
        return False

    def save_best(self, history: Sequence[EpochRecord]) -> None:
        """Saves the model as the best so far; `keep_best` of them are kept.

        Raises `StorageError`.
        """
        path = self.folder / BEST
        older = describe_checkpoint(path)
        if (
            older
            and 0 < older.step < self.session.progress.step
            and self.session.run.training.keep_best > 1
        ):
            self.write_or_ask(
                path, lambda: _link_or_copy(path, self.folder / _best_name(older.epoch, older.step))
            )
        self._write_best(BEST, history)

    def save_history(self) -> None:
        """Saves the table of epochs. Raises `StorageError`."""
        path = self.folder / HISTORY
        self.write_or_ask(path, lambda: write_history(path, self.session.progress.history))

    def save_frame(self, frame: FilmFrame) -> None:
        """Saves one frame of the film. Raises `StorageError`."""
        self.write_or_ask(
            frame_path(self.folder, frame.step), lambda: write_frame(self.folder, frame)
        )

    def _write_best(self, name: str, history: Sequence[EpochRecord]) -> None:
        path = self.folder / name
        progress = self.session.progress
        self.write_or_ask(path, lambda: save_checkpoint(self.session.snapshot(history), path))
        self.on_event(CheckpointSaved(path, "best", progress.epoch, progress.step))
        self._remove_surplus("best", self.session.run.training.keep_best)

    def _remove_surplus(self, kind: CheckpointKind, num_kept: int) -> None:
        """Removes checkpoints beyond `num_kept`; files that cannot be removed are left."""
        present = [
            checkpoint
            for checkpoint in kept_checkpoints(self.folder, kind)
            if checkpoint.step <= self.session.progress.step
        ]
        to_keep = {checkpoint.path for checkpoint in present[:num_kept]}
        for path in older_files(self.folder, kind):
            if path not in to_keep:
                with contextlib.suppress(OSError):
                    path.unlink()

    def write_or_ask(self, path: Path, write: Callable[[], object]) -> None:
        """Calls `write`; after a failure retries or raises `StorageError`, as `on_save_failed`
        decides.

        A deleted folder is created again, with its lock. Raises `TrainingError` if another training
        has it by then.
        """
        num_deleted = 0
        while True:
            try:
                self._restore_folder()
                write()
                return
            except StorageError as error:
                # while it was written, perhaps one by one
                is_deleted = isinstance(error.__cause__, FileNotFoundError)
                if is_deleted and num_deleted < _MAX_DELETED:
                    num_deleted += 1
                    continue
                what_to_do = remedy(error.__cause__) or SaveFailed.remedy
                failure = SaveFailed(path, str(error), self.session.progress.step, what_to_do)
                self.on_event(failure)
                if self.on_save_failed(failure) == "stop":
                    raise

    def _restore_folder(self) -> None:
        """Creates the folder again if it was deleted or moved.

        Raises `StorageError` or `TrainingError`.
        """
        if self._lock.renew():
            self._has_written_settings = False
            self._write_settings()
            self._write_starts()
            write_history(self.folder / HISTORY, self.session.progress.history)
            self.on_event(
                Noted(
                    f"The folder {self.folder} was deleted or moved while its run was training. "
                    "It was created again, without the files that were saved there earlier."
                )
            )


def _best_name(epoch: int, step: int) -> str:
    return f"best-epoch{epoch:03d}-step{step:07d}.safetensors"


def _link_or_copy(path: Path, name: Path) -> None:
    """Gives the file a second name, so that the first can be overwritten. Raises `StorageError`."""
    second = name.with_name(f".{name.name}.{os.getpid()}.part")
    try:
        os.link(path, second)
        os.replace(second, name)
        second.unlink(missing_ok=True)  # still there if both names already meant the same file
    except OSError:  # a file system without links
        second.unlink(missing_ok=True)
        with atomic_path(name) as temporary:
            shutil.copyfile(path, temporary)


def load_resumable(folder: Path, *, with_state: bool = True) -> tuple[Checkpoint, Path, list[str]]:
    """The newest intact checkpoint, its path, and notes about newer, damaged ones.

    Args:
        folder: of the run.
        with_state: whether to read and check the state for resuming, too.

    Raises:
        CheckpointError: there is none; the message describes the newest.
    """
    newest = folder / LAST
    try:
        return load_checkpoint(newest, with_state=with_state), newest, []
    except CheckpointError as error:
        refusal = error
    for candidate in kept_checkpoints(folder, "last"):
        if candidate.path == newest:
            continue
        with contextlib.suppress(CheckpointError):
            checkpoint = load_checkpoint(candidate.path, with_state=with_state)
            note = (
                f"{refusal} Training resumes from {candidate.path.name} instead, at step "
                f"{candidate.step}."
            )
            return checkpoint, candidate.path, [note]
    require_readable(folder)
    if not os.path.exists(newest):  # noqa: PTH110 — `Path.exists` raises where reading is not permitted
        raise CheckpointError(
            f"There is nothing to resume from: {newest} is missing. Put it back, or start a new "
            "run in another folder."
        ) from refusal
    raise refusal
