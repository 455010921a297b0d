"""The state of the Train page, without Qt: the run, its film, and one event that reports
changes.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from psygnal import Signal

from augenmerk.core.extensions.training.events import (
    CheckpointSaved,
    EpochDone,
    Noted,
    PhaseStarted,
    Proposal,
    SampleTranslated,
    SaveFailed,
    StepDone,
    StopRequest,
    TrainingEvent,
    TrainingFinished,
    TrainingRequest,
    TrainingStarted,
)
from augenmerk.core.extensions.training.film import FilmFrame

from ...state.languages import language_names
from .curves import RunCurves
from .playback import Playback


class Status(Enum):
    """The state of the page."""

    IDLE = "idle"  # nothing has been started yet
    PREPARING = "preparing"  # reading, tokenizing, moving to the device
    TRAINING = "training"
    STOPPING = "stopping"  # the current batch is being finished
    WAITING = "waiting"  # a save failed; the run waits for the decision whether to retry
    FINISHED = "finished"  # completed or stopped; everything is saved
    FAILED = "failed"  # an error ended the run
    VIEWING = "viewing"  # a run from the disk is shown

    @property
    def is_running(self) -> bool:
        """Whether a worker thread is running."""
        return self in (Status.PREPARING, Status.TRAINING, Status.STOPPING, Status.WAITING)


@dataclass(frozen=True, eq=False)
class Run:
    """The run on the page at one time; only its curves grow.

    Attributes:
        status: the state of the page.
        request: the one that started it or can resume it; None before the first run, or if its
            settings are lost.
        folder: of its files; None if there is no run.
        curves: all steps and validations.
        phase: the current activity other than training steps ("Tokenizing 29,000 sentence pairs").
        started: its sizes, once it has begun; else None.
        latest_step: the last step reported; else None.
        best_checkpoint: a complete file on the disk; else None.
        last_checkpoint: a complete file on the disk; else None.
        finish: its end; None while it runs or if it failed.
        error: the message for the user if it failed.
        error_details: the traceback of an unexpected error; empty for none.
        proposal: changed settings to continue with after an error; else None.
        resumable_checkpoint: the last good checkpoint after an error with a proposal; None if there
            is none.
        save_failure: the failed save, while the run waits for a decision; else None.
        stop_request: the user's request to stop the run; None if there was none.
        note: informational messages for the user; empty for none.
        saved_step: the step in the last checkpoint of a run of an earlier session; 0 if not known.
        save_seconds: time that the last save to resume from took; 0 before the first.
        was_interrupted: whether that run ended without saving, so that the steps after that one are
            lost.
        is_complete: whether a run from the disk is complete: it can get more epochs, but not be
            resumed.
    """

    status: Status = Status.IDLE
    request: TrainingRequest | None = None
    folder: Path | None = None
    curves: RunCurves = field(default_factory=RunCurves)
    phase: str = ""
    started: TrainingStarted | None = None
    latest_step: StepDone | None = None
    best_checkpoint: Path | None = None
    last_checkpoint: Path | None = None
    finish: TrainingFinished | None = None
    error: str = ""
    error_details: str = ""
    proposal: Proposal | None = None
    resumable_checkpoint: Path | None = None
    save_failure: SaveFailed | None = None
    stop_request: StopRequest | None = None
    note: str = ""
    saved_step: int = 0
    save_seconds: float = 0.0
    was_interrupted: bool = False
    is_complete: bool = False

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
        """Right end of the step axis: at least 100, growing by doubling, so that the axis rarely
        changes.

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
        """Whether it can be resumed from its last checkpoint."""
        if self.status.is_running or self.last_checkpoint is None or self.is_complete:
            return False
        return self.finish is None or self.finish.reason not in (
            "completed",
            "patience",
            "discarded",
        )

    @property
    def can_extend(self) -> bool:
        """Whether it is complete, and can be continued to more epochs."""
        if self.status.is_running or self.last_checkpoint is None:
            return False
        return self.is_complete or (
            self.finish is not None and self.finish.reason in ("completed", "patience")
        )

    @property
    def can_discard(self) -> bool:
        """Whether a run of this page has left files that can be removed."""
        return (
            not self.status.is_running
            and self.status is not Status.VIEWING
            and self.last_checkpoint is not None
        )

    @property
    def can_try_model(self) -> bool:
        """Whether there is a best checkpoint that the Translate page can open."""
        return self.best_checkpoint is not None

    @property
    def is_on_page(self) -> bool:
        """Whether there is a run: an active one, or one to show or to resume."""
        if self.status.is_running or self.last_checkpoint is not None:
            return True
        return self.status is Status.VIEWING or (
            self.status is Status.FINISHED and self.folder is not None
        )

    @property
    def is_paused(self) -> bool:
        """Whether it was paused, and nothing else has happened since."""
        return self.finish is not None and self.finish.reason == "paused"

    @property
    def has_curves(self) -> bool:
        """Whether there are curves to show."""
        return (
            self.started is not None
            or bool(self.curves.validations)
            or len(self.curves.training_loss) > 0
        )


class TrainState:
    """The run on the page and its film.

    Attributes:
        run: the current value; replaced at each change.
        playback: translations and attention maps at each validation.

    Signals (psygnal):
        run_changed(Run): something about the run changed, or its curves grew; once for all events
            of one `apply`.
        drawn(float): after `run_changed`, a part of the change took so many seconds to draw.
    """

    run_changed = Signal(Run)
    drawn = Signal(float)

    def __init__(self) -> None:
        self.run = Run()
        self.playback = Playback()

    def show_run(self, run: Run, frames: Iterable[FilmFrame] = ()) -> None:
        """Shows a run from the disk, or none, instead of the present one."""
        self.playback.clear()
        self.playback.maps.languages_without_model = language_names(
            run.request.run if run.request is not None else None
        )
        self.playback.set_film(frames)
        self._set(run)

    def begin(self, request: TrainingRequest) -> None:
        """The requested run is about to start. A resumed one keeps its curves and its film."""
        before = self.run
        phase = "Resuming" if request.resume else "Starting"
        run = Run(Status.PREPARING, request, request.folder, phase=phase)
        if not request.resume or request.folder != before.folder:
            self.show_run(run)
            return
        self.playback.maps.languages_without_model = language_names(request.run)
        self._set(
            replace(
                run,
                curves=before.curves,
                started=before.started,
                latest_step=before.latest_step,
                best_checkpoint=before.best_checkpoint,
                last_checkpoint=before.last_checkpoint,
                saved_step=before.saved_step,
                was_interrupted=before.was_interrupted,
            )
        )

    def request_stop(self, how: StopRequest = "keep") -> None:
        """Records that the user stops the run, which ends after the current batch."""
        if self.run.status.is_running:
            self._set(
                replace(self.run, status=Status.STOPPING, stop_request=how, save_failure=None)
            )

    def answer_failed_save(self) -> None:
        """Records that the run retries or ends, and no longer waits."""
        if self.run.status is Status.WAITING:
            self._set(replace(self.run, status=Status.TRAINING, save_failure=None))

    def fail(
        self,
        message: str,
        proposal: Proposal | None = None,
        resumable_checkpoint: Path | None = None,
        details: str = "",
    ) -> None:
        """The run ended with an error. Curves and files are kept."""
        failed = replace(self.run, status=Status.FAILED, phase="", save_failure=None, error=message)
        self._set(
            replace(
                failed,
                error_details=details,
                proposal=proposal,
                resumable_checkpoint=resumable_checkpoint,
            )
        )

    def discard(self) -> None:
        """The run's files were deleted: it is no longer shown."""
        name = self.run.folder.name if self.run.folder else "The run"
        self.show_run(
            Run(request=self.run.request, note=f"{name} was discarded: its files were deleted.")
        )

    def stop_before_training(self) -> None:
        """The run was stopped during preparation: there is nothing to save."""
        status = Status.FINISHED if self.run.last_checkpoint is not None else Status.IDLE
        self._set(replace(self.run, status=status, phase=""))

    def apply(self, *events: TrainingEvent) -> None:
        """Takes in events of the training loop, in order, and publishes the result."""
        for event in events:
            if isinstance(event, TrainingStarted):
                self.playback.drop_after(event.first_step)
            if isinstance(event, SampleTranslated | FilmFrame):
                self.playback.add(event)
            else:
                self.run = _after(self.run, event)
        self._set(self.run)

    def _set(self, run: Run) -> None:
        self.run = run
        self.run_changed.emit(run)


def _after(run: Run, event: TrainingEvent) -> Run:
    """The run after one event of the training loop, which is added to its curves."""
    match event:
        case PhaseStarted():
            return replace(run, phase=event.text)
        case Noted():
            return (
                run
                if event.text in run.note
                else replace(run, note=f"{run.note} {event.text}".lstrip())
            )
        case CheckpointSaved() if event.kind == "best":
            return replace(run, best_checkpoint=event.path)
        case CheckpointSaved():
            return replace(run, last_checkpoint=event.path, save_seconds=event.seconds)
        case StepDone():
            run.curves.add_step(event)
            return replace(run, phase="", latest_step=event)
        case EpochDone():
            run.curves.add_validation(event)
        case SaveFailed() if run.status is not Status.STOPPING:
            return replace(run, phase="", status=Status.WAITING, save_failure=event)
    return _begun_or_ended(replace(run, phase=""), event)


def _begun_or_ended(run: Run, event: TrainingEvent) -> Run:
    if isinstance(event, TrainingStarted):
        run.curves.drop_after(event.first_step)
        is_repeated = run.latest_step is not None and run.latest_step.step > event.first_step
        status = run.status if run.status is Status.STOPPING else Status.TRAINING
        latest_step = None if is_repeated else run.latest_step
        return replace(
            run, status=status, started=event, folder=event.folder, latest_step=latest_step
        )
    if isinstance(event, TrainingFinished):
        # perhaps no step was validated
        best = event.best_checkpoint if event.best_epoch else run.best_checkpoint
        last = event.last_checkpoint
        return replace(
            run, status=Status.FINISHED, finish=event, best_checkpoint=best, last_checkpoint=last
        )
    return run
