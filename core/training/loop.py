"""The training loop: a plain function of its config. It never prints, sleeps or knows a window."""

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.checkpoint.file import load_checkpoint, save_checkpoint
from core.checkpoint.history import EpochRecord, write_history
from core.config import RunConfig
from core.corpora.batches import Batch, collate, training_batches, validation_batches
from core.corpora.prepared import EncodedPairs, PreparedCorpus
from core.device import DeviceChoice, choose_device
from core.errors import CheckpointError, ConfigError, TrainingError
from core.evaluation.loss import corpus_loss
from core.training.events import (
    CheckpointSaved,
    EpochDone,
    PhaseStarted,
    StepDone,
    TrainingEvent,
    TrainingFinished,
    TrainingStarted,
)
from core.training.schedules import cooldown_factor
from core.training.session import TrainingSession

LAST, BEST, HISTORY = "last.safetensors", "best.safetensors", "history.csv"
OnEvent = Callable[[TrainingEvent], None]
ShouldStop = Callable[[], bool]
EndReason = Literal["completed", "max_steps", "stopped"]


def train(
    run: RunConfig,
    corpus: PreparedCorpus,
    folder: Path,
    *,
    device: str = "auto",
    resume: bool = False,
    on_event: OnEvent = lambda event: None,
    should_stop: ShouldStop = lambda: False,
) -> TrainingFinished:
    """Trains a Transformer; the best and the last checkpoint and `history.csv` are kept in `folder`.

    Args:
        run: every setting.
        corpus: what to learn from.
        folder: made if missing; must not hold another run unless `resume`.
        device: "auto", "cpu", "cuda", "cuda:N" or "mps".
        resume: go on from the folder's last checkpoint; settings must be the same, only the length may differ.
        on_event: told of every step, epoch and checkpoint, in this thread.
        should_stop: asked before every step; if it says so, the run is validated, saved and ended.

    Returns:
        How it ended; the same is the last event.

    Raises:
        TrainingError: the folder holds another run, or the loss is no longer a number.
        ConfigError: the data does not fit the model's positions.
        CheckpointError: the run to resume is missing, damaged or has other settings.
        DeviceError: the device is not here.
        StorageError: a checkpoint cannot be written.
    """
    folder = Path(folder)
    _check_folder(folder, resume)
    _check_lengths(run, corpus)
    choice = choose_device(device)
    on_event(PhaseStarted(f"Moving the model to {choice.name}"))
    session = TrainingSession(run, corpus, choice.name)
    if resume:
        on_event(PhaseStarted(f"Resuming from {folder / LAST}"))
        session.restore(load_checkpoint(folder / LAST, with_state=True))
    on_event(PhaseStarted(f"Computing in {session.precision.name}: {session.precision.reason}"))
    return _Loop(session, folder, choice, on_event, should_stop).run_to_end()


def _check_folder(folder: Path, resume: bool) -> None:
    # `Path.exists` raises where one may not look; `os.path.exists` does not, and writing will say it
    if not resume and any(os.path.exists(folder / name) for name in (LAST, BEST)):  # noqa: PTH110
        raise TrainingError(
            f"{folder} holds a run already. An empty or new folder was expected, so that nothing is overwritten: "
            "choose another, or resume that run."
        )


def _check_lengths(run: RunConfig, corpus: PreparedCorpus) -> None:
    """Raises `ConfigError` unless every sentence finds a position in the model."""
    positions = run.model.max_positions
    if run.training.pad_to is not None and run.training.pad_to > positions:
        raise ConfigError(
            f"Sentences are to be padded to {run.training.pad_to} tokens, but the model has {positions} positions. As "
            "many were expected: lower pad_to, or raise max_positions."
        )
    for split, pairs in (("training", corpus.train), ("validation", corpus.validation)):
        longest = max(map(len, [*pairs.source, *pairs.target]))
        if longest > positions:
            raise ConfigError(
                f"The longest {split} sentence of {corpus.name} has {longest} tokens, but the model has {positions} "
                f"positions. At most as many were expected: leave that sentence out of the corpus, or choose a preset "
                "with more positions (max_positions)."
            )


@dataclass
class _Pace:
    """Tokens per second as a running average, and an estimate of the time left."""

    seconds_per_step: float = 0.0
    tokens_per_second: float = 0.0
    num_steps: int = 0

    def add(self, seconds: float, num_tokens: int) -> None:
        self.num_steps += 1
        weight = max(0.05, 1 / self.num_steps)
        self.seconds_per_step += weight * (seconds - self.seconds_per_step)
        self.tokens_per_second += weight * (num_tokens / max(seconds, 1e-9) - self.tokens_per_second)


class _Loop:
    """The loop's parts, sharing one session."""

    def __init__(
        self,
        session: TrainingSession,
        folder: Path,
        device: DeviceChoice,
        on_event: OnEvent,
        should_stop: ShouldStop,
    ) -> None:
        self.session = session
        self.run = session.run
        self.progress = session.progress
        self.folder = folder
        self.device = device
        self.on_event = on_event
        self.should_stop = should_stop
        self.pace = _Pace()
        self.started = time.perf_counter()
        corpus = session.corpus
        self.validation = [
            self._collate(corpus.validation, indices).to(session.device)
            for indices in validation_batches(corpus.validation, self.run.training)
        ]

    def run_to_end(self) -> TrainingFinished:
        """Epochs and steps until the run is complete, long enough, or stopped."""
        groups = self._epoch_groups()
        if self.progress.group >= len(groups):
            raise CheckpointError(
                f"The run stands at step {self.progress.group + 1} of its epoch, but with this corpus an epoch has "
                f"{len(groups)}. The corpus it was begun with was expected: resume with that, or start a new run in "
                "another folder."
            )
        write_history(self.folder / HISTORY, self.progress.history)  # shows now, not in an hour, whether one may write
        self._announce(len(groups))
        while (reason := self._reason_to_end(len(groups))) is None:
            batches = [self._collate(self._epoch_pairs, indices) for indices in groups[self.progress.group]]
            self._run_step(batches, epochs_done=self.progress.epoch - 1 + self.progress.group / len(groups))
            if self.progress.group == len(groups):
                self._end_epoch()
                groups = self._epoch_groups()
            elif self.progress.step % self.run.training.checkpoint_steps == 0:
                self._save_last()
        return self._finish(reason)

    def _epoch_groups(self) -> list[list[list[int]]]:
        """For each optimiser step of this epoch the micro-batches, each as indices of pairs."""
        self._epoch_pairs = self.session.training_pairs(self.progress.epoch)
        batches = training_batches(self._epoch_pairs, self.run.training, self.progress.epoch)
        size = self.run.training.num_accumulated
        return [batches[first : first + size] for first in range(0, len(batches), size)]

    def _collate(self, pairs: EncodedPairs, indices: list[int]) -> Batch:
        return collate(pairs, indices, self.session.padding_id, self.run.training.pad_to)

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
                folder=self.folder,
            )
        )

    def _reason_to_end(self, num_groups: int) -> EndReason | None:
        training, progress = self.run.training, self.progress
        if progress.epoch > training.num_epochs:
            return "completed"
        if training.max_steps is not None and progress.step >= training.max_steps:
            return "max_steps"
        return "stopped" if self.should_stop() else None

    def _run_step(self, batches: list[Batch], epochs_done: float) -> None:
        began = time.perf_counter()
        training = self.run.training
        factor = cooldown_factor(epochs_done, training.num_epochs, training.cooldown_epochs)
        result = self.session.step(batches, factor)
        seconds = time.perf_counter() - began
        self.pace.add(seconds, result.num_tokens)
        self.progress.epoch_seconds += seconds
        self.on_event(
            StepDone(
                step=self.progress.step,
                epoch=self.progress.epoch,
                loss=result.loss,
                learning_rate=result.learning_rate,
                gradient_norm=result.gradient_norm,
                num_tokens=result.num_tokens,
                tokens_per_second=self.pace.tokens_per_second,
                seconds_left=max(0, self.num_steps - self.progress.step) * self.pace.seconds_per_step,
            )
        )

    def _end_epoch(self) -> None:
        record = self._validate()
        self.progress.history.append(record)
        write_history(self.folder / HISTORY, self.progress.history)
        self._keep_best(record, self.progress.history)
        self.progress.begin_epoch(self.progress.epoch + 1)
        self._save_last()

    def _validate(self) -> EpochRecord:
        self.on_event(PhaseStarted("Validating"))
        loss = corpus_loss(self.session.model, self.validation)
        progress = self.progress
        if not math.isfinite(loss.token_weighted):
            raise TrainingError(
                f"After step {progress.step} the validation loss is {loss.token_weighted}. A finite number was "
                "expected. What was saved before is intact. Start a run in another folder with a lower learning rate, "
                "a longer warm-up, or gradient clipping."
            )
        return EpochRecord(
            epoch=progress.epoch,
            step=progress.step,
            training_loss=progress.epoch_loss_sum / max(1, progress.epoch_tokens),
            validation_loss=loss.token_weighted,
            validation_loss_batch_mean=loss.batch_mean,
            learning_rate=progress.learning_rate,
            seconds=progress.epoch_seconds,
        )

    def _keep_best(self, record: EpochRecord, history: list[EpochRecord]) -> None:
        is_best = record.validation_loss < self.progress.best_validation_loss
        if is_best:
            self.progress.best_epoch = record.epoch
            self.progress.best_validation_loss = record.validation_loss
            self._save_best(history)
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
            )
        )

    def _save_best(self, history: list[EpochRecord]) -> None:
        save_checkpoint(self.session.snapshot(history), self.folder / BEST)
        self.on_event(CheckpointSaved(self.folder / BEST, "best", self.progress.epoch, self.progress.step))

    def _save_last(self) -> None:
        save_checkpoint(self.session.resumable_snapshot(), self.folder / LAST)
        self.on_event(CheckpointSaved(self.folder / LAST, "last", self.progress.epoch, self.progress.step))

    def _finish(self, reason: EndReason) -> TrainingFinished:
        """Whatever ended the run, what was learned is kept, judged and said."""
        progress = self.progress
        if progress.group and progress.epoch_tokens:
            self._save_last()
            record = self._validate()
            self._keep_best(record, [*progress.history, record])
        elif not progress.best_epoch:  # stopped before the first step: still the two files that were promised
            self._save_best(progress.history)
        self._save_last()
        finished = TrainingFinished(
            reason=reason,
            epoch=min(progress.epoch, self.run.training.num_epochs),
            step=progress.step,
            best_epoch=progress.best_epoch,
            best_validation_loss=progress.best_validation_loss,
            best_checkpoint=self.folder / BEST,
            last_checkpoint=self.folder / LAST,
            seconds=time.perf_counter() - self.started,
        )
        self.on_event(finished)
        return finished
