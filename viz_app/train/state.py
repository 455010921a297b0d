"""All that the Train page shows, without Qt: fed by the events of the training loop, drawn by the widgets."""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from core.checkpoint.history import EpochRecord
from core.training.events import (
    CheckpointSaved,
    EpochDone,
    PhaseStarted,
    ProbeTranslated,
    SampleTranslated,
    StepDone,
    TrainingEvent,
    TrainingFinished,
    TrainingStarted,
)
from viz_app.train.curves import RunCurves, ValidationPoint
from viz_app.train.playback import Playback
from viz_app.train.series import BoundedSeries


class Status(Enum):
    """Where the page stands."""

    IDLE = "idle"  # nothing was started yet
    PREPARING = "preparing"  # reading, tokenizing, moving to the device
    TRAINING = "training"
    STOPPING = "stopping"  # asked to stop, the batch in hand is being finished
    FINISHED = "finished"  # completed or stopped; everything is on the disk
    FAILED = "failed"  # an error ended the run

    @property
    def is_running(self) -> bool:
        """Whether a worker thread is at work."""
        return self in (Status.PREPARING, Status.TRAINING, Status.STOPPING)


class TrainState:
    """The state of the page and of its run, in numbers.

    Attributes:
        status: where the page stands.
        phase: what is being done at the moment if it is not training steps ("Tokenizing 29,000 sentence pairs").
        folder: where this run is kept.
        started: sizes of the run, once it has begun; else None.
        latest_step: the last step reported; else None.
        curves: what is known of every step and validation.
        playback: what the model said and saw at each validation.
        best_checkpoint, last_checkpoint: files that stand complete on the disk; else None.
        finish: how the run ended; None while it goes on or if it failed.
        error: what a person is to read if the run failed.
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

    def __init__(self, capacity: int = 2000) -> None:
        self.curves = RunCurves(capacity)
        self.playback = Playback()
        self.status = Status.IDLE
        self._forget_run()

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
        """A run is about to start in `folder`. A resumed one keeps its curves and goes on from them."""
        if not resume or folder != self.folder:
            self._forget_run()
        self.folder = folder
        self.status = Status.PREPARING
        self.phase = "Resuming" if resume else "Starting"
        self.finish = None
        self.error = ""

    def offer_resume(
        self, folder: Path, last_checkpoint: Path, best_checkpoint: Path | None, history: Sequence[EpochRecord]
    ) -> None:
        """A run of an earlier start of the app can go on; `history` is what is known of its epochs."""
        self._forget_run()
        self.folder, self.last_checkpoint, self.best_checkpoint = folder, last_checkpoint, best_checkpoint
        for record in history:
            self.curves.add_record(record)

    def request_stop(self) -> None:
        """The user wants the run to stop; it ends when the batch in hand is done."""
        if self.status.is_running:
            self.status = Status.STOPPING

    def fail(self, message: str) -> None:
        """The run ended with an error. What was drawn and what is on the disk stays."""
        self.status = Status.FAILED
        self.phase = ""
        self.error = message

    def stop_before_training(self) -> None:
        """The run was stopped while it was still preparing: there is nothing to keep from this attempt."""
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
            case SampleTranslated():
                self.playback.add_sample(event)
            case ProbeTranslated():
                self.playback.add_frame(event)
            case CheckpointSaved(kind="best"):
                self.best_checkpoint = event.path
            case CheckpointSaved(kind="last"):
                self.last_checkpoint = event.path
            case TrainingFinished():
                self._on_finished(event)

    @property
    def fraction_done(self) -> float | None:
        """Share of the run's steps that are done, 0 to 1; None before their number is known."""
        if self.started is None or self.started.num_steps < 1:
            return None
        step = self.latest_step.step if self.latest_step else self.started.first_step
        return min(1.0, step / self.started.num_steps)

    @property
    def num_steps_shown(self) -> int:
        """Right end of the step axis: grows by doubling, so that a chart seldom needs a new axis; at least 100."""
        step = self.latest_step.step if self.latest_step else 0
        end = 100
        while end < step:
            end *= 2
        total = self.started.num_steps if self.started else 0
        return min(end, total) if total >= max(step, 1) else end

    @property
    def can_resume(self) -> bool:
        """Whether the run on the page can go on from its last checkpoint."""
        if self.status.is_running or self.last_checkpoint is None:
            return False
        return self.finish is None or self.finish.reason != "completed"

    @property
    def has_curves(self) -> bool:
        """Whether there is something for the charts: a run has begun, or an earlier one goes on."""
        return self.status is not Status.IDLE and (self.started is not None or bool(self.validations))

    @property
    def can_try_model(self) -> bool:
        """Whether there is a best checkpoint that the Translate page can open."""
        return self.best_checkpoint is not None

    def _forget_run(self) -> None:
        self.phase = ""
        self.folder = None
        self.started = None
        self.latest_step = None
        self.best_checkpoint = None
        self.last_checkpoint = None
        self.finish = None
        self.error = ""
        self.curves.clear()
        self.playback.clear()

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
        point = ValidationPoint(event.epoch, event.step, event.validation_loss, event.training_loss)
        self.curves.add_validation(point)
        if event.bleu is not None:
            self.curves.add_bleu(event.step, event.bleu)

    def _on_finished(self, event: TrainingFinished) -> None:
        self.status = Status.FINISHED
        self.phase = ""
        self.finish = event
        if event.best_epoch:  # there may have been no step to validate
            self.best_checkpoint = event.best_checkpoint
        self.last_checkpoint = event.last_checkpoint
