"""What stays of a run on the disk: the best and the newest checkpoints, the history, the film.

A new file stands, complete, before an older one goes. If something cannot be written, the caller is asked: try again,
or stop.
"""

import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from core.checkpoint.file import Checkpoint, load_checkpoint, save_checkpoint
from core.checkpoint.history import EpochRecord, write_history
from core.errors import CheckpointError, StorageError
from core.storage import atomic_path
from core.training.events import AfterFailedSave, CheckpointSaved, SaveFailed, TrainingEvent
from core.training.film import FilmFrame, frame_path, frame_paths, step_of_frame, write_frame
from core.training.folder import (
    BEST,
    HISTORY,
    LAST,
    CheckpointKind,
    describe_checkpoint,
    kept_checkpoints,
    older_files,
)
from core.training.record import RunRecord
from core.training.session import TrainingSession

OnSaveFailed = Callable[[SaveFailed], AfterFailedSave]


class Keeper:
    """Writes the files of one run.

    Args:
        session: the run.
        folder: where.
        on_event: told of each checkpoint, and of what cannot be written.
        on_save_failed: asked then whether to "retry" or to "stop"; training waits for the answer.
    """

    def __init__(
        self,
        session: TrainingSession,
        folder: Path,
        on_event: Callable[[TrainingEvent], None],
        on_save_failed: OnSaveFailed,
    ) -> None:
        self.session = session
        self.folder = folder
        self.on_event = on_event
        self.on_save_failed = on_save_failed

    def begin(self, record: RunRecord) -> None:
        """Shows now, not in an hour, whether one may write. Frames of the film that are still to come are removed.

        Raises:
            StorageError: one may not.
        """
        progress = self.session.progress
        write_history(self.folder / HISTORY, progress.history)
        record.begin(progress.step)
        for path in frame_paths(self.folder):
            if step_of_frame(path) > progress.step:
                with contextlib.suppress(OSError):
                    path.unlink()

    def save_last(self) -> None:
        """The checkpoint to resume from; older ones stay as `keep_last` says.

        Raises:
            DivergedError: the weights are no longer numbers; the last good checkpoint stands.
            StorageError: it cannot be written.
        """
        self.session.require_finite_weights()
        progress, path = self.session.progress, self.folder / LAST
        num_kept = self.session.run.training.keep_last
        older = describe_checkpoint(path, "last") if num_kept > 1 else None

        def write() -> None:
            if older and older.step < progress.step:
                _keep_under(path, self.folder / f"last-step{older.step:07d}.safetensors")
            save_checkpoint(self.session.resumable_snapshot(), path)

        self.insist(path, write)
        self.on_event(CheckpointSaved(path, "last", progress.epoch, progress.step))
        self._remove_surplus("last", num_kept)

    def save_if_among_the_best(self, record: EpochRecord, history: Sequence[EpochRecord]) -> bool:
        """Keeps the model as it is now if its validation deserves it; whether it is the best of all.

        Args:
            record: this validation.
            history: what the checkpoint is to know of the run, this validation last.

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
        """The model as it is now is the best so far; older ones stay as `keep_best` says. Raises `StorageError`."""
        path = self.folder / BEST
        older = describe_checkpoint(path, "best")
        if older and 0 < older.step < self.session.progress.step and self.session.run.training.keep_best > 1:
            self.insist(path, lambda: _keep_under(path, self.folder / _best_name(older.epoch, older.step)))
        self._write_best(BEST, history)

    def save_history(self) -> None:
        """The table of epochs. Raises `StorageError`."""
        path = self.folder / HISTORY
        self.insist(path, lambda: write_history(path, self.session.progress.history))

    def save_frame(self, frame: FilmFrame) -> None:
        """One frame of the film. Raises `StorageError`."""
        self.insist(frame_path(self.folder, frame.step), lambda: write_frame(self.folder, frame))

    def _write_best(self, name: str, history: Sequence[EpochRecord]) -> None:
        path, progress = self.folder / name, self.session.progress
        self.insist(path, lambda: save_checkpoint(self.session.snapshot(history), path))
        self.on_event(CheckpointSaved(path, "best", progress.epoch, progress.step))
        self._remove_surplus("best", self.session.run.training.keep_best)

    def _remove_surplus(self, kind: CheckpointKind, num_kept: int) -> None:
        """Removes what is one too many, now that the new file stands; what cannot be removed stays."""
        present = [kept for kept in kept_checkpoints(self.folder, kind) if kept.step <= self.session.progress.step]
        stay = {kept.path for kept in present[:num_kept]}
        for path in older_files(self.folder, kind):
            if path not in stay:
                with contextlib.suppress(OSError):
                    path.unlink()

    def insist(self, path: Path, write: Callable[[], object]) -> None:
        """Writes; asks what to do if that fails. Raises `StorageError` if it is to stop."""
        while True:
            try:
                write()
                return
            except StorageError as error:
                failure = SaveFailed(path, str(error), self.session.progress.step)
                self.on_event(failure)
                if self.on_save_failed(failure) == "stop":
                    raise


def _best_name(epoch: int, step: int) -> str:
    return f"best-epoch{epoch:03d}-step{step:07d}.safetensors"


def _keep_under(path: Path, name: Path) -> None:
    """Gives the file a second name, so that the first can be replaced. Raises `StorageError`."""
    second = name.with_name(f".{name.name}.{os.getpid()}.part")
    try:
        os.link(path, second)
        os.replace(second, name)
        second.unlink(missing_ok=True)  # still there if the two names meant the same file before
    except OSError:  # a file system without links
        second.unlink(missing_ok=True)
        with atomic_path(name) as temporary:
            shutil.copyfile(path, temporary)


def load_resumable(folder: Path) -> tuple[Checkpoint, Path, list[str]]:
    """The newest complete checkpoint to resume from, its path, and what a person should know of newer, damaged ones.

    Raises:
        CheckpointError: there is none; it says what is wrong with the newest.
    """
    newest = folder / LAST
    try:
        return load_checkpoint(newest, with_state=True), newest, []
    except CheckpointError as error:
        refusal = error
    for kept in kept_checkpoints(folder, "last"):
        if kept.path == newest:
            continue
        with contextlib.suppress(CheckpointError):
            checkpoint = load_checkpoint(kept.path, with_state=True)
            note = f"{refusal} Training goes on from {kept.path.name} instead, at step {kept.step}."
            return checkpoint, kept.path, [note]
    raise refusal
