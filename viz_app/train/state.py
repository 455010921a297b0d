"""The state that the Train page shows, without Qt: updated by the events of the training loop."""

from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.training.events import (
    CheckpointSaved,
    EpochDone,
    Noted,
    PhaseStarted,
    ProbeTranslated,
    SampleTranslated,
    SaveFailed,
    StepDone,
    StopRequest,
    TrainingEvent,
    TrainingFinished,
    TrainingStarted,
)
from augenmerk.core.training.failures import Proposal
from augenmerk.core.training.film import FilmFrame
from augenmerk.core.training.step_metrics import StepMetrics
from augenmerk.viz_app.train.curves import RunCurves, ValidationPoint
from augenmerk.viz_app.train.film.playback import Playback
from augenmerk.viz_app.train.series import BoundedSeries


class Status(Enum):
    """What the page shows or waits for."""

    IDLE = "idle"  # nothing has been started yet
    PREPARING = "preparing"  # reading, tokenizing, moving to the device
    TRAINING = "training"
    STOPPING = "stopping"  # asked to stop; the current batch is being finished
    WAITING = "waiting"  # a save failed; the run waits for the decision whether to retry
    FINISHED = "finished"  # completed or stopped; everything is saved
    FAILED = "failed"  # an error ended the run
    VIEWING = "viewing"  # a run from the disk is shown

    @property
    def is_running(self) -> bool:
        """Whether a worker thread is running."""
        return self in (Status.PREPARING, Status.TRAINING, Status.STOPPING, Status.WAITING)


class TrainState:
    """The state of the page and of its run.

    Attributes:
        status: what the page shows or waits for.
        phase: the current activity other than training steps ("Tokenizing 29,000 sentence pairs").
        folder: of this run.
        started: sizes of the run, once it has begun; else None.
        latest_step: the last step reported; else None.
        curves: all steps and validations.
        playback: translations and attention maps at each validation.
        best_checkpoint, last_checkpoint: complete files on the disk; else None.
        finish: how the run ended; None while it runs or if it failed.
        error: the message for the user if the run failed.
        proposal: changed settings to continue with after an error; else None.
        resumable_checkpoint: the last good checkpoint after an error with a proposal; None if there is none.
        save_failure: what could not be written, while the run waits for a decision; else None.
        stop_request: how the run was asked to end; None if it was not.
        note: an informational message for the user; empty for none.
        saved_step: the step in the last checkpoint of a run of an earlier session; 0 if not known.
        was_interrupted: whether that run ended without saving.
        is_complete: whether a run from the disk has come to its end.
    """

    status: Status
    phase: str
    folder: Path | None
    started: TrainingStarted | None
    latest_step: StepDone | None
    best_checkpoint: Path | None
    last_checkpoint: Path | None
    finish: TrainingFinished | None
    error: str
    proposal: Proposal | None
    resumable_checkpoint: Path | None
    save_failure: SaveFailed | None
    curves: RunCurves
    stop_request: StopRequest | None
    note: str
    saved_step: int
    was_interrupted: bool
    is_complete: bool

    def __init__(self, capacity: int = 2000) -> None:
        self._capacity = capacity
        self.playback = Playback()
        self.status = Status.IDLE
        self._clear_run()

    @property
    def training_loss(self) -> BoundedSeries:
        """What was minimised, by step."""
        return self.curves.training_loss

    @property
    def learning_rate(self) -> BoundedSeries:
        """The rate, by step."""
        return self.curves.learning_rate

    @property
    def validations(self) -> list[ValidationPoint]:
        """All validations, by rising step."""
        return self.curves.validations

    @property
    def best(self) -> ValidationPoint | None:
        """The validation with the lowest loss; None before the first."""
        return self.curves.best

    @property
    def revision(self) -> int:
        """Grows whenever a curve changes."""
        return self.curves.revision

    def begin(self, folder: Path, *, resume: bool = False) -> None:
        """A run is about to start in `folder`. A resumed one keeps its curves."""
        if not resume or folder != self.folder:
            self._clear_run()
        self.folder = folder
        self.status, self.is_complete = Status.PREPARING, False
        self.phase = "Resuming" if resume else "Starting"
        self.finish = None
        self._clear_problems()

    def offer_resume(
        self,
        folder: Path,
        last_checkpoint: Path,
        best_checkpoint: Path | None,
        history: Sequence[EpochRecord],
        metrics: StepMetrics | None = None,
        *,
        latest_step: StepDone | None = None,
        saved_step: int = 0,
        was_interrupted: bool = False,
    ) -> None:
        """Offers to resume the run of an earlier session.

        Args:
            folder, last_checkpoint, best_checkpoint: where it is.
            history: its known epochs.
            metrics: of its steps; None if they are not known.
            latest_step: the last of them, if that is known.
            saved_step: the step in its last checkpoint; 0 if not known.
            was_interrupted: it ended without saving, so that the steps after that one are lost.
        """
        self._clear_run()
        self.latest_step = latest_step
        self.saved_step, self.was_interrupted = saved_step, was_interrupted
        self.folder, self.last_checkpoint, self.best_checkpoint = folder, last_checkpoint, best_checkpoint
        self.curves.add_run(history, metrics)

    def open_run(
        self,
        folder: Path,
        curves: RunCurves,
        frames: Iterable[FilmFrame],
        best: Path | None,
        last: Path | None = None,
        *,
        is_complete: bool = False,
        latest_step: StepDone | None = None,
        note: str = "",
    ) -> None:
        """Shows a run from the disk instead of one of this page.

        Args:
            folder, curves, frames: the run.
            best: a checkpoint to try, if there is one.
            last: a checkpoint to go on from, if there is one.
            is_complete: whether it has come to its end: then it can be given more epochs, else be resumed.
            latest_step: its last one, if that is known.
            note: what else the user should know of it.
        """
        self._clear_run()
        self.note = note
        self.latest_step = latest_step
        self.last_checkpoint, self.is_complete = last, is_complete
        self.status, self.folder, self.best_checkpoint = Status.VIEWING, folder, best
        self.curves = curves
        self.playback.set_film(frames)

    def request_stop(self, how: StopRequest = "keep") -> None:
        """The user asked the run to stop; it ends after the current batch."""
        if self.status.is_running:
            self.status = Status.STOPPING
            self.stop_request = how
            self.save_failure = None

    def answer_failed_save(self) -> None:
        """The run retries or ends: it no longer waits."""
        if self.status is Status.WAITING:
            self.status = Status.TRAINING
            self.save_failure = None

    def fail(self, message: str, proposal: Proposal | None = None, resumable_checkpoint: Path | None = None) -> None:
        """The run ended with an error. Curves and files are kept."""
        self.status = Status.FAILED
        self.phase = ""
        self.error, self.proposal, self.resumable_checkpoint = message, proposal, resumable_checkpoint
        self.save_failure = None

    def discard(self) -> None:
        """The run's files were deleted: it is no longer shown."""
        name = self.folder.name if self.folder else "The run"
        self._clear_run()
        self.status = Status.IDLE
        self.note = f"{name} was discarded: its files were deleted."

    def stop_before_training(self) -> None:
        """The run was stopped during preparation: there is nothing to save."""
        self.status = Status.FINISHED if self.last_checkpoint is not None else Status.IDLE
        self.phase = ""

    def apply(self, event: TrainingEvent) -> None:
        """Takes in one event of the training loop."""
        match event:
            case PhaseStarted():
                self.phase = event.text
            case TrainingStarted():
                self._on_started(event)
            case StepDone():
                self._on_step(event)
            case EpochDone():
                self._on_epoch(event)
            case SampleTranslated() | ProbeTranslated():
                self.playback.add(event)
            case SaveFailed():
                self._on_save_failed(event)
            case Noted():
                self.note = event.text
            case CheckpointSaved():
                self._on_saved(event)
            case TrainingFinished():
                self._on_finished(event)

    @property
    def fraction_done(self) -> float | None:
        """Fraction of the run's steps that are done, 0 to 1; None before their number is known."""
        if self.is_complete:
            return 1.0
        if self.started is None or self.started.num_steps < 1:
            return None
        step = self.latest_step.step if self.latest_step else self.started.first_step
        return min(1.0, step / self.started.num_steps)

    @property
    def num_steps_shown(self) -> int:
        """Right end of the step axis: at least 100, growing by doubling, so that the axis seldom changes.

        The axis of a run from the disk ends with the run.
        """
        step = self.curves.last_step
        if self.status is Status.VIEWING:
            return max(step, 1)
        end = 100
        while end < step:
            end *= 2
        total = self.started.num_steps if self.started else 0
        return min(end, total) if total >= max(step, 1) else end

    @property
    def can_resume(self) -> bool:
        """Whether the run on the page can be resumed from its last checkpoint."""
        if self.status.is_running or self.last_checkpoint is None or self.is_complete:
            return False
        return self.finish is None or self.finish.reason not in ("completed", "patience", "discarded")

    @property
    def can_extend(self) -> bool:
        """Whether the run on the page has come to its end, and can be given more epochs."""
        if self.status.is_running or self.last_checkpoint is None:
            return False
        return self.is_complete or (self.finish is not None and self.finish.reason in ("completed", "patience"))

    @property
    def has_run(self) -> bool:
        """Whether there is a run on the page, running or with something to show or to continue from."""
        if self.status.is_running or self.last_checkpoint is not None:
            return True
        return self.status is Status.VIEWING or (self.status is Status.FINISHED and self.folder is not None)

    @property
    def num_stale_validations(self) -> int:
        """How many validations there were since the best one."""
        if self.best is None:
            return 0
        return sum(1 for point in self.validations if point.step > self.best.step)

    @property
    def is_paused(self) -> bool:
        """Whether the run was paused, and nothing else has happened since."""
        return self.finish is not None and self.finish.reason == "paused"

    @property
    def can_discard(self) -> bool:
        """Whether a run of this page has left files that can be removed."""
        return not self.status.is_running and self.status is not Status.VIEWING and self.last_checkpoint is not None

    @property
    def has_curves(self) -> bool:
        """Whether there are curves to show."""
        return self.started is not None or bool(self.validations) or len(self.training_loss) > 0

    @property
    def can_try_model(self) -> bool:
        """Whether there is a best checkpoint that the Translate page can open."""
        return self.best_checkpoint is not None

    def _clear_run(self) -> None:
        self.phase = ""
        self.folder = None
        self.started = None
        self.latest_step = None
        self.best_checkpoint = None
        self.last_checkpoint = None
        self.finish = None
        self.saved_step, self.was_interrupted, self.is_complete = 0, False, False
        self._clear_problems()
        self.curves = RunCurves(self._capacity)  # not cleared: the curves may also be in use by the comparison
        self.playback.clear()

    def _clear_problems(self) -> None:
        self.error = self.note = ""
        self.proposal = self.resumable_checkpoint = self.save_failure = self.stop_request = None

    def _on_saved(self, event: CheckpointSaved) -> None:
        if event.kind == "best":
            self.best_checkpoint = event.path
        else:
            self.last_checkpoint = event.path

    def _on_save_failed(self, event: SaveFailed) -> None:
        self.phase = ""
        if self.status is not Status.STOPPING:
            self.status, self.save_failure = Status.WAITING, event

    def _on_started(self, event: TrainingStarted) -> None:
        self.started = event
        self.folder = event.folder
        self.curves.drop_after(event.first_step)
        self.playback.drop_after(event.first_step)
        if self.latest_step and self.latest_step.step > event.first_step:
            self.latest_step = None
        self.phase = ""
        if self.status is not Status.STOPPING:
            self.status = Status.TRAINING

    def _on_step(self, event: StepDone) -> None:
        self.phase = ""
        self.latest_step = event
        self.curves.add_step(event)

    def _on_epoch(self, event: EpochDone) -> None:
        self.phase = ""
        losses = event.validation_loss, event.training_loss, event.validation_loss_batch_mean
        self.curves.add_validation(ValidationPoint(event.epoch, event.step, *losses))
        if event.bleu is not None:
            self.curves.add_bleu(event.step, event.bleu)

    def _on_finished(self, event: TrainingFinished) -> None:
        self.status = Status.FINISHED
        self.phase = ""
        self.finish = event
        if event.best_epoch:  # there may have been no step to validate
            self.best_checkpoint = event.best_checkpoint
        self.last_checkpoint = event.last_checkpoint
