"""A training run that learns nothing but says all that a real one says, in the same order."""

import math
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from augenmerk.core.errors import StorageError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.events import (
    CheckpointSaved,
    EndReason,
    EpochDone,
    PhaseStarted,
    SampleTranslated,
    SaveFailed,
    StepDone,
    StopRequest,
    TrainingEvent,
    TrainingFinished,
    TrainingRequest,
    TrainingStarted,
    TranslatedExample,
)
from augenmerk.core.extensions.training.film import FilmFrame
from augenmerk.viz_app.extensions.train.worker import OnEvent, OnSaveFailed, ShouldStop
from tests.viz_app.synthetic import make_translation

STEPS_PER_EPOCH = 5
REASONS: dict[bool | StopRequest, EndReason] = {
    True: "stopped",
    False: "stopped",
    "keep": "stopped",
    "pause": "paused",
    "discard": "discarded",
}


def request(folder: Path, *, resume: bool = False) -> TrainingRequest:
    return TrainingRequest(preset("notebook"), "multi30k", folder, resume=resume)


def started(folder: Path, *, num_epochs: int = 3, first_step: int = 0) -> TrainingStarted:
    return TrainingStarted(
        preset="notebook",
        num_parameters=9_038_341,
        num_training_pairs=29_000,
        num_validation_pairs=1_014,
        num_epochs=num_epochs,
        num_steps=num_epochs * STEPS_PER_EPOCH,
        first_step=first_step,
        device="cpu",
        device_reason="no CUDA device found",
        folder=folder,
    )


def step_done(step: int, loss: float | None = None) -> StepDone:
    return StepDone(
        step=step,
        epoch=1 + (step - 1) // STEPS_PER_EPOCH,
        loss=8 / step if loss is None else loss,
        learning_rate=1e-3 * min(step, 10) / 10,
        gradient_norm=0.84,
        num_tokens=2500,
        tokens_per_second=4123.4,
        seconds_left=125.0,
    )


def epoch_done(
    epoch: int, validation_loss: float | None = None, *, is_best: bool = True
) -> EpochDone:
    loss = 5 / epoch if validation_loss is None else validation_loss
    return EpochDone(epoch, epoch * STEPS_PER_EPOCH, loss, loss, loss, 1e-3, 12.0, is_best=is_best)


def probe(epoch: int, text: str = "a man .") -> FilmFrame:
    """A frame of a film, at the end of an epoch; 0 before the first step."""
    loss = 5 / epoch if epoch else None
    return FilmFrame(epoch, epoch * STEPS_PER_EPOCH, loss, make_translation("ein mann .", text))


def sample(epoch: int) -> SampleTranslated:
    """Two translations, and a score that grows with the epochs."""
    examples = tuple(
        TranslatedExample(
            f"Satz {number}", f"sentence {number}", f"sentence {number} in epoch {epoch}"
        )
        for number in (1, 2)
    )
    return SampleTranslated(epoch, epoch * STEPS_PER_EPOCH, 10.0 * epoch, 100, examples)


def finished(folder: Path, reason: EndReason, step: int, best_epoch: int) -> TrainingFinished:
    return TrainingFinished(
        reason=reason,
        epoch=max(1, math.ceil(step / STEPS_PER_EPOCH)),
        step=step,
        best_epoch=best_epoch,
        best_validation_loss=5 / best_epoch if best_epoch else math.inf,
        best_checkpoint=folder / "best.safetensors",
        last_checkpoint=folder / "last.safetensors",
        seconds=75.0,
    )


class ScriptedTraining:
    """Stands in for the worker's body.

    A step is taken only as far as `allow` says, so that tests do not race.

    Attributes:
        requests: what it was asked for.
        error: raised after the step `error_step`, if set.
        failing_save_step, num_failing_saves: after which step a file cannot be written, and how
            often.
        has_film: whether a probe and a sample are translated.
    """

    def __init__(
        self,
        *,
        num_epochs: int = 3,
        error: Exception | None = None,
        error_step: int = 0,
        has_film: bool = False,
        failing_save_step: int = -1,
        num_failing_saves: int = 1,
    ) -> None:
        self.num_epochs = num_epochs
        self.error = error
        self.error_step = error_step
        self.has_film = has_film
        self.requests: list[TrainingRequest] = []
        self.failing_save_step = failing_save_step
        self.num_failing_saves = num_failing_saves
        self._allowed = threading.Semaphore(0)
        self._step = 0

    def allow(self, num_steps: int) -> None:
        """Lets the run take so many more steps."""
        self._allowed.release(num_steps)

    def __call__(
        self,
        request: TrainingRequest,
        on_event: OnEvent,
        should_stop: ShouldStop,
        on_save_failed: OnSaveFailed,
    ) -> TrainingFinished:
        self.requests.append(request)
        request.folder.mkdir(parents=True, exist_ok=True)
        if not request.resume:
            self._step = 0
        on_event(PhaseStarted("Tokenizing 29,000 sentence pairs"))
        on_event(started(request.folder, num_epochs=self.num_epochs, first_step=self._step))
        last_step = self.num_epochs * STEPS_PER_EPOCH
        if self.has_film and not self._step:
            on_event(probe(0, ". ."))
        while self._step < last_step and self._may_go_on(should_stop):
            for event in self._take_step(request.folder):
                on_event(event)
            if self._step == self.failing_save_step:
                self._fail_to_save(request.folder, on_event, on_save_failed)
        how = should_stop() if self._step < last_step else False
        if how != "discard":
            on_event(CheckpointSaved(self._save(request.folder, "last"), "last", 1, self._step))
        reason = "completed" if self._step == last_step else REASONS[how]
        result = finished(request.folder, reason, self._step, self._step // STEPS_PER_EPOCH)
        on_event(result)
        return result

    def _take_step(self, folder: Path) -> Iterator[TrainingEvent]:
        self._step += 1
        yield step_done(self._step)
        if self._step % STEPS_PER_EPOCH == 0:
            epoch = self._step // STEPS_PER_EPOCH
            yield CheckpointSaved(self._save(folder, "best"), "best", epoch, self._step)
            if self.has_film:
                yield sample(epoch)
                yield probe(epoch)
            yield epoch_done(epoch)
            yield CheckpointSaved(self._save(folder, "last"), "last", epoch, self._step)
        if self.error is not None and self._step == self.error_step:
            raise self.error

    def _fail_to_save(self, folder: Path, on_event: OnEvent, on_save_failed: OnSaveFailed) -> None:
        failure = SaveFailed(
            folder / "last.safetensors", "Cannot write last.safetensors: no space left.", self._step
        )
        while self.num_failing_saves:
            self.num_failing_saves -= 1
            on_event(failure)
            if on_save_failed(failure) == "stop":
                raise StorageError(failure.message)

    def _save(self, folder: Path, kind: str) -> Path:
        path = folder / f"{kind}.safetensors"
        path.write_bytes(b"")
        return path

    def _may_go_on(self, should_stop: ShouldStop) -> bool:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if should_stop():
                return False
            if self._allowed.acquire(timeout=0.005):
                return True
        raise TimeoutError("the test neither allowed a step nor stopped the run")
