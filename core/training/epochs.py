"""The loop over epochs: steps, validations, checkpoints. It prints nothing and knows neither threads nor windows."""

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from augenmerk.core.checkpoint.history import EpochRecord, num_stale_epochs
from augenmerk.core.corpora.batches import Batch, collate, training_batches
from augenmerk.core.device import DeviceChoice
from augenmerk.core.errors import CheckpointError, StorageError
from augenmerk.core.evaluation.loss import CorpusLoss
from augenmerk.core.training.checkpoint_manager import CheckpointManager
from augenmerk.core.training.events import (
    EndReason,
    EpochDone,
    Noted,
    PhaseStarted,
    ProbeTranslated,
    StepDone,
    StopRequest,
    TrainingEvent,
    TrainingFinished,
    TrainingStarted,
)
from augenmerk.core.training.folder import BEST, LAST
from augenmerk.core.training.schedules import cooldown_factor, describe_schedule, fitted_cooldown_epochs
from augenmerk.core.training.session import TrainingSession
from augenmerk.core.training.validation import ValidationStoppedError, Validator

OnEvent = Callable[[TrainingEvent], None]
ShouldStop = Callable[[], bool | StopRequest]
_REASONS: Mapping[bool | StopRequest, EndReason] = {
    True: "stopped",
    "keep": "stopped",
    "pause": "paused",
    "discard": "discarded",
}


@dataclass
class _Throughput:
    """Tokens per second as a running average, and an estimate of the time left."""

    seconds_per_step: float = 0.0
    tokens_per_second: float = 0.0
    num_steps: int = 0

    def add(self, seconds: float, num_tokens: int) -> None:
        self.num_steps += 1
        weight = max(0.05, 1 / self.num_steps)
        self.seconds_per_step += weight * (seconds - self.seconds_per_step)
        self.tokens_per_second += weight * (num_tokens / max(seconds, 1e-9) - self.tokens_per_second)


class EpochLoop:
    """Steps, validations and checkpoints of one session, until it ends.

    Args:
        session: what is trained.
        checkpoints: saves it.
        validator: validates it.
        device: where it runs, and why there.
        on_event: called with all events.
        should_stop: asked before every step, and between its micro-batches.

    Raises:
        CheckpointError: the session was started with another corpus.
    """

    def __init__(
        self,
        session: TrainingSession,
        checkpoints: CheckpointManager,
        validator: Validator,
        device: DeviceChoice,
        on_event: OnEvent,
        should_stop: ShouldStop,
    ) -> None:
        self.session = session
        self.run = session.run
        self.progress = session.progress
        self.checkpoints = checkpoints
        self.validator = validator
        self.device = device
        self.on_event = on_event
        self.should_stop = should_stop
        self.throughput = _Throughput()
        self.started = time.perf_counter()
        self.seconds_before = sum(record.seconds for record in self.progress.history) + self.progress.epoch_seconds
        self.groups = self._epoch_groups()
        if not self.progress.steps_per_epoch:
            self.progress.steps_per_epoch = len(self.groups)
        if self.progress.group > len(self.groups):
            raise CheckpointError(
                f"The run has done {self.progress.group} steps of its epoch, but with this corpus an epoch has "
                f"{len(self.groups)}. Resume with the original corpus, or start a new run in another folder."
            )

    def run_to_end(self) -> TrainingFinished:
        """Trains until the run is complete, reaches its step limit, or is stopped."""
        self._announce(len(self.groups))
        if self.progress.step == 0:
            self._add_to_film(None)
        while True:
            if self._is_at_epoch_end:  # also that of a run that was stopped while it was validated
                with contextlib.suppress(ValidationStoppedError):
                    self._end_epoch()
                    self.groups = self._epoch_groups()
            if (reason := self._reason_to_end()) is not None:
                return self._finish(reason)
            if self._is_at_epoch_end:
                continue
            done = self.progress.group
            batches = [self._collate(indices) for indices in self.groups[done]]
            if not self._run_step(batches, epochs_done=self.progress.epoch - 1 + done / len(self.groups)):
                continue
            if not self._is_at_epoch_end and self.progress.step % self.run.training.checkpoint_steps == 0:
                self.checkpoints.save_last()

    @property
    def _is_at_epoch_end(self) -> bool:
        """Whether all steps of the epoch are done, and its validation is not."""
        return self.progress.group == len(self.groups)

    def _epoch_groups(self) -> list[list[list[int]]]:
        """The micro-batches of each optimizer step of this epoch, each as indices of pairs."""
        pairs = self.session.training_pairs(self.progress.epoch)
        batches = training_batches(pairs, self.run.training, self.progress.epoch)
        self._epoch_pairs = self.session.with_noise(pairs, batches, self.progress.epoch)
        size = self.run.training.num_accumulated
        return [batches[first : first + size] for first in range(0, len(batches), size)]

    def _collate(self, indices: list[int]) -> Batch:
        return collate(self._epoch_pairs, indices, self.session.padding_id, self.run.training.pad_to)

    def _announce(self, steps_per_epoch: int) -> None:
        corpus, training = self.session.corpus, self.run.training
        self.num_steps = training.num_epochs * steps_per_epoch
        if training.max_steps is not None:
            self.num_steps = min(self.num_steps, training.max_steps)
        self.on_event(
            TrainingStarted(
                preset=self.run.preset,
                num_parameters=self.session.model.num_parameters,
                num_training_pairs=len(corpus.train),
                num_validation_pairs=len(corpus.validation),
                num_epochs=training.num_epochs,
                num_steps=self.num_steps,
                first_step=self.progress.step,
                device=self.device.name,
                device_reason=self.device.reason,
                folder=self.checkpoints.folder,
            )
        )
        note = describe_schedule(training, self.progress.steps_per_epoch)
        if note is not None and not self.run.is_copy_task:  # which was published that short
            self.on_event(Noted(note))

    def _reason_to_end(self) -> EndReason | None:
        training, progress = self.run.training, self.progress
        if progress.epoch > training.num_epochs:
            return "completed"
        if training.max_steps is not None and progress.step >= training.max_steps:
            return "max_steps"
        if training.patience is not None and num_stale_epochs(progress.history) >= training.patience:
            return "patience"
        return _REASONS.get(self.should_stop())

    def _run_step(self, batches: list[Batch], epochs_done: float) -> bool:
        """False if `should_stop` interrupted the step: then it has had no effect."""
        began = time.perf_counter()
        training = self.run.training
        factor = cooldown_factor(epochs_done, training.num_epochs, fitted_cooldown_epochs(training))
        result = self.session.step(batches, factor, self.should_stop)
        if result is None:
            return False
        seconds = time.perf_counter() - began
        self.throughput.add(seconds, result.num_tokens)
        self.progress.epoch_seconds += seconds
        event = StepDone(
            step=self.progress.step,
            epoch=self.progress.epoch,
            loss=result.loss,
            learning_rate=result.learning_rate,
            gradient_norm=result.gradient_norm,
            num_tokens=result.num_tokens,
            tokens_per_second=self.throughput.tokens_per_second,
            seconds_left=max(0, self.num_steps - self.progress.step) * self.throughput.seconds_per_step,
        )
        self.checkpoints.add_step(event)
        self.on_event(event)
        return True

    def _end_epoch(self) -> None:
        """Validates and saves. Raises `ValidationStoppedError` if stopped; the run then stands at its last step."""
        self.session.require_sound_weights()  # before they are judged, and perhaps saved as the best
        progress = self.progress
        before = list(progress.history), progress.best_epoch, progress.best_validation_loss
        try:
            record = self._validate(with_sample=True, should_stop=self.should_stop)
            progress.history.append(record)
            self.checkpoints.save_history()
            self._keep(record, progress.history)
        except StorageError:  # not of the checkpoint to resume from: its steps are kept, and validated again
            progress.history[:], progress.best_epoch, progress.best_validation_loss = before
            self.checkpoints.save_last_if_possible()
            raise
        progress.begin_epoch(progress.epoch + 1)
        self.checkpoints.save_last()

    def _validate(self, *, with_sample: bool, should_stop: ShouldStop = lambda: False) -> EpochRecord:
        """Raises `ValidationStoppedError` if `should_stop`, asked before each batch, says so."""
        self.on_event(PhaseStarted("Validating"))
        bleu = None
        loss = self.validator.loss(should_stop)
        if with_sample and self.validator.sample.sources:
            self.on_event(PhaseStarted("Translating a sample"))
            sample = self.validator.translate_sample(should_stop)
            self.on_event(sample)
            bleu = sample.bleu
        self._add_to_film(loss.token_weighted)
        return self._record(loss, bleu)

    def _record(self, loss: CorpusLoss, bleu: float | None) -> EpochRecord:
        progress = self.progress
        return EpochRecord(
            epoch=progress.epoch,
            step=progress.step,
            training_loss=progress.epoch_loss_sum / max(1, progress.epoch_tokens),
            validation_loss=loss.token_weighted,
            validation_loss_batch_mean=loss.batch_mean,
            learning_rate=progress.learning_rate,
            seconds=progress.epoch_seconds,
            bleu=bleu,
        )

    def _validate_after_stop(self) -> None:
        """After a stop, where a full validation takes long or was just stopped: validates on some pairs, or not at all.

        The checkpoint to resume from was written before and is not affected: the next full validation decides.
        """
        progress = self.progress
        if self._is_at_epoch_end:
            stopped = (
                f"Stopped while epoch {progress.epoch} was validated: {LAST} holds its last step, {progress.step:,}, "
                "and a resumed run validates it first."
            )
            unjudged = ""
        else:
            stopped = f"Stopped within epoch {progress.epoch}: {LAST} holds step {progress.step:,}."
            unjudged = " It was not validated, which takes long;"
        if progress.best_epoch:
            self.on_event(Noted(f"{stopped}{unjudged} {BEST} is still that of epoch {progress.best_epoch}."))
            return
        self.on_event(PhaseStarted("Validating on some pairs"))
        loss, num_pairs = self.validator.loss_on_subset()
        whole = len(self.session.corpus.validation)
        if num_pairs < whole:
            stopped += (
                f" It was validated on only {num_pairs:,} of {whole:,} pairs, because all of them would take long."
            )
        self.on_event(Noted(stopped))
        record = self._record(loss, None)
        self._keep(record, [*progress.history, record])

    def _add_to_film(self, validation_loss: float | None) -> None:
        frame = self.validator.translate_probe(validation_loss)
        if frame is not None:
            self.checkpoints.save_frame(frame)
            self.on_event(ProbeTranslated(frame.epoch, frame.step, frame.validation_loss, frame.translation))

    def _keep(self, record: EpochRecord, history: list[EpochRecord]) -> None:
        is_best = self.checkpoints.save_if_best(record, history)
        self.on_event(
            EpochDone(
                epoch=record.epoch,
                step=record.step,
                training_loss=record.training_loss,
                validation_loss=record.validation_loss,
                validation_loss_batch_mean=record.validation_loss_batch_mean,
                learning_rate=record.learning_rate,
                seconds=record.seconds,
                is_best=is_best,
                bleu=record.bleu,
            )
        )

    def _finish(self, reason: EndReason) -> TrainingFinished:
        """Saves, validates and reports the model, whatever ended the run; unless it is paused or discarded."""
        progress = self.progress
        last_epoch = progress.epoch if progress.group else max(1, progress.epoch - 1)  # that of the last step
        if reason != "discarded":
            self.checkpoints.save_last()
        if reason not in ("paused", "discarded"):
            if not (progress.group and progress.epoch_tokens):
                if not progress.best_epoch:  # stopped before the first step: both files are still written
                    self.checkpoints.save_best(progress.history)
            elif reason == "stopped" and (self._is_at_epoch_end or not self.validator.is_fast):
                self._validate_after_stop()
            else:
                record = self._validate(with_sample=reason != "stopped")  # a user who stops does not want to wait
                self._keep(record, [*progress.history, record])
                self.checkpoints.save_last()
        return TrainingFinished(
            reason=reason,
            epoch=min(last_epoch, self.run.training.num_epochs),
            step=progress.step,
            best_epoch=progress.best_epoch,
            best_validation_loss=progress.best_validation_loss,
            best_checkpoint=self.checkpoints.folder / BEST,
            last_checkpoint=self.checkpoints.folder / LAST,
            seconds=self.seconds_before + time.perf_counter() - self.started,
        )
