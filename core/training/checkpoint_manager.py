"""Writes the files of a run: the best and the newest checkpoints, the history, every step's metrics, the film.

Older files are removed only after the new one is complete. If a file cannot be written, the caller decides: retry or
stop.
"""

import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint, save_checkpoint
from augenmerk.core.checkpoint.history import EpochRecord, write_history
from augenmerk.core.errors import CheckpointError, StorageError
from augenmerk.core.storage import atomic_path
from augenmerk.core.training.events import AfterFailedSave, CheckpointSaved, Noted, SaveFailed, StepDone, TrainingEvent
from augenmerk.core.training.failures import DivergedError
from augenmerk.core.training.film import FilmFrame, frame_path, own_frame_paths, step_of_frame, write_frame
from augenmerk.core.training.folder import (
    BEST,
    HISTORY,
    LAST,
    RUN_SETTINGS,
    STEPS,
    CheckpointKind,
    describe_checkpoint,
    kept_checkpoints,
    older_files,
)
from augenmerk.core.training.lock import FolderLock
from augenmerk.core.training.record import RunRecord
from augenmerk.core.training.session import TrainingSession
from augenmerk.core.training.step_metrics import StepMetricsWriter

OnSaveFailed = Callable[[SaveFailed], AfterFailedSave]


class CheckpointManager:
    """Writes the files of one run.

    Args:
        session: the run.
        lock: of the run's folder.
        record: of the run.
        on_event: called with each saved checkpoint and each failed save.
        on_save_failed: decides after a failed save whether to "retry" or to "stop"; training waits for it.
    """

    def __init__(
        self,
        session: TrainingSession,
        lock: FolderLock,
        record: RunRecord,
        on_event: Callable[[TrainingEvent], None],
        on_save_failed: OnSaveFailed,
    ) -> None:
        self.session = session
        self.folder = lock.folder
        self._lock = lock
        self._record = record
        self._steps = StepMetricsWriter(lock.folder, session.progress.step)
        self._has_told_of_steps = False
        self.on_event = on_event
        self.on_save_failed = on_save_failed

    def begin(self) -> None:
        """Writes history and record, so that a read-only folder fails at once; removes later frames of the film.

        Raises:
            StorageError: the folder cannot be written.
        """
        progress = self.session.progress
        write_history(self.folder / HISTORY, progress.history)
        self._record.begin(progress.step)
        for path in own_frame_paths(self.folder):
            if step_of_frame(path) > progress.step:
                with contextlib.suppress(OSError):
                    path.unlink()

    def add_step(self, event: StepDone) -> None:
        """Adds a step to the metrics; a failure is told with the next checkpoint."""
        self._steps.append(event)

    def close(self) -> None:
        """Writes the last metrics; says so if the run is left without."""
        if not self._steps.close():
            text = "could not all be written. The charts of this run lack steps when it is opened again."
            self.on_event(Noted(f"The metrics of each step ({self.folder / STEPS}) {text}"))

    def _sync_steps(self) -> None:
        """Tells of a failure, and of the next one after they could be written again."""
        is_complete = self._steps.sync()
        if not (is_complete or self._has_told_of_steps):
            text = "cannot be written. Training goes on without them, and writes them as soon as it can."
            self.on_event(Noted(f"The metrics of each step ({self.folder / STEPS}) {text}"))
        self._has_told_of_steps = not is_complete

    def save_last(self) -> None:
        """Saves the checkpoint to resume from; `keep_last` says how many are kept.

        Raises:
            DivergedError: the weights are not finite or absurd; the last good checkpoint is kept.
            StorageError: it cannot be written.
        """
        self.session.require_sound_weights()
        path, progress = self.folder / LAST, self.session.progress
        self.write_or_ask(path, self._write_last)
        self.write_or_ask(self.folder / RUN_SETTINGS, self._record.write_settings)
        self.on_event(CheckpointSaved(path, "last", progress.epoch, progress.step))
        self._remove_surplus("last", self.session.run.training.keep_last)

    def save_last_if_possible(self) -> None:
        """Saves the checkpoint to resume from after another file could not be written; nobody is asked again."""
        with contextlib.suppress(StorageError, DivergedError):
            self.session.require_sound_weights()
            self._write_last()

    def _write_last(self) -> None:
        path, progress = self.folder / LAST, self.session.progress
        older = describe_checkpoint(path, "last") if self.session.run.training.keep_last > 1 else None
        self._sync_steps()
        if older and older.step < progress.step:
            _link_or_copy(path, self.folder / f"last-step{older.step:07d}.safetensors")
        save_checkpoint(self.session.resumable_snapshot(), path)

    def save_if_best(self, record: EpochRecord, history: Sequence[EpochRecord]) -> bool:
        """Saves the model if this validation is among the best. Returns whether it is the best of all.

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
            better = [kept for kept in kept_checkpoints(self.folder, "best") if kept.step < record.step]
            if sum(kept.validation_loss <= record.validation_loss for kept in better) < num_kept:
                self._write_best(_best_name(record.epoch, record.step), history)
        return False

    def save_best(self, history: Sequence[EpochRecord]) -> None:
        """Saves the model as the best so far; `keep_best` says how many are kept. Raises `StorageError`."""
        path = self.folder / BEST
        older = describe_checkpoint(path, "best")
        if older and 0 < older.step < self.session.progress.step and self.session.run.training.keep_best > 1:
            self.write_or_ask(path, lambda: _link_or_copy(path, self.folder / _best_name(older.epoch, older.step)))
        self._write_best(BEST, history)

    def save_history(self) -> None:
        """Saves the table of epochs. Raises `StorageError`."""
        path = self.folder / HISTORY
        self.write_or_ask(path, lambda: write_history(path, self.session.progress.history))

    def save_frame(self, frame: FilmFrame) -> None:
        """Saves one frame of the film. Raises `StorageError`."""
        self.write_or_ask(frame_path(self.folder, frame.step), lambda: write_frame(self.folder, frame))

    def _write_best(self, name: str, history: Sequence[EpochRecord]) -> None:
        path, progress = self.folder / name, self.session.progress
        self.write_or_ask(path, lambda: save_checkpoint(self.session.snapshot(history), path))
        self.on_event(CheckpointSaved(path, "best", progress.epoch, progress.step))
        self._remove_surplus("best", self.session.run.training.keep_best)

    def _remove_surplus(self, kind: CheckpointKind, num_kept: int) -> None:
        """Removes checkpoints beyond `num_kept`; files that cannot be removed are left."""
        present = [kept for kept in kept_checkpoints(self.folder, kind) if kept.step <= self.session.progress.step]
        to_keep = {kept.path for kept in present[:num_kept]}
        for path in older_files(self.folder, kind):
            if path not in to_keep:
                with contextlib.suppress(OSError):
                    path.unlink()

    def write_or_ask(self, path: Path, write: Callable[[], object]) -> None:
        """Calls `write`; after a failure retries or raises `StorageError`, as `on_save_failed` decides.

        A folder that was deleted is made anew, with its lock. Raises `TrainingError` if another training has it then.
        """
        was_deleted = False
        while True:
            try:
                self._restore_folder()
                write()
                return
            except StorageError as error:
                if not was_deleted and not self.folder.exists():  # while it was written to: it is made anew once
                    was_deleted = True
                    continue
                failure = SaveFailed(path, str(error), self.session.progress.step)
                self.on_event(failure)
                if self.on_save_failed(failure) == "stop":
                    raise

    def _restore_folder(self) -> None:
        """Makes the folder anew if it was deleted, or moved elsewhere. Raises `StorageError` or `TrainingError`."""
        if self._lock.renew():
            self._record.write_again()
            write_history(self.folder / HISTORY, self.session.progress.history)
            self.on_event(
                Noted(
                    f"The folder {self.folder} was deleted or moved while its run was training. It is made anew; what "
                    "was saved in it before is not in it."
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
        second.unlink(missing_ok=True)  # still there if the two names meant the same file before
    except OSError:  # a file system without links
        second.unlink(missing_ok=True)
        with atomic_path(name) as temporary:
            shutil.copyfile(path, temporary)


def load_resumable(folder: Path, *, with_state: bool = True) -> tuple[Checkpoint, Path, list[str]]:
    """The newest intact checkpoint to resume from, its path, and notes for the user about newer, damaged ones.

    Args:
        folder: of the run.
        with_state: whether what is needed to resume is read and checked, too.

    Raises:
        CheckpointError: there is none; the message describes the newest.
    """
    newest = folder / LAST
    try:
        return load_checkpoint(newest, with_state=with_state), newest, []
    except CheckpointError as error:
        refusal = error
    for kept in kept_checkpoints(folder, "last"):
        if kept.path == newest:
            continue
        with contextlib.suppress(CheckpointError):
            checkpoint = load_checkpoint(kept.path, with_state=with_state)
            note = f"{refusal} Training resumes from {kept.path.name} instead, at step {kept.step}."
            return checkpoint, kept.path, [note]
    raise refusal
