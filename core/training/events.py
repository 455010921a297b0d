"""What the training loop tells the world. No torch here: a window can draw these before torch is imported.

Losses are natural-log cross-entropies per target token, without smoothing unless said otherwise.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.translation.result import Translation

EndReason = Literal["completed", "max_steps", "patience", "stopped", "paused", "discarded"]
StopRequest = Literal["keep", "pause", "discard"]
AfterFailedSave = Literal["retry", "stop"]


@dataclass(frozen=True)
class TrainingEvent:
    """Base of everything that `train` reports through `on_event`."""


@dataclass(frozen=True)
class PhaseStarted(TrainingEvent):
    """Something that takes time begins: reading, tokenizing, moving to the device, validating.

    Attributes:
        text: what is being done, for people ("Tokenizing 29,000 sentence pairs").
    """

    text: str


@dataclass(frozen=True)
class Noted(TrainingEvent):
    """Something that a person should know though training goes on: an older checkpoint was taken, say.

    Attributes:
        text: one or two sentences for people.
    """

    text: str


@dataclass(frozen=True)
class TrainingStarted(TrainingEvent):
    """The first step is about to run.

    Attributes:
        preset: name of the configuration.
        num_parameters: trainable parameters of the model.
        num_training_pairs, num_validation_pairs: sentence pairs of each split.
        num_epochs: epochs the run is to have in all.
        num_steps: optimiser steps the run is to have in all.
        first_step: steps done before (0, or where a resumed run goes on).
        device, device_reason: where it runs, and why there.
        folder: where checkpoints and the history go.
    """

    preset: str
    num_parameters: int
    num_training_pairs: int
    num_validation_pairs: int
    num_epochs: int
    num_steps: int
    first_step: int
    device: str
    device_reason: str
    folder: Path


@dataclass(frozen=True)
class StepDone(TrainingEvent):
    """One optimiser step.

    Attributes:
        step: optimiser steps done so far, from 1.
        epoch: epoch it belongs to, from 1.
        loss: what was minimised, per target token (with smoothing, if the run has it).
        learning_rate: the rate this step used.
        gradient_norm: before clipping.
        num_tokens: target tokens in the step.
        tokens_per_second: target tokens, a running average.
        seconds_left: estimate until the end of the run.
    """

    step: int
    epoch: int
    loss: float
    learning_rate: float
    gradient_norm: float
    num_tokens: int
    tokens_per_second: float
    seconds_left: float


@dataclass(frozen=True)
class TranslatedExample:
    """A validation sentence, its reference, and what the model makes of it at the moment, as people read them."""

    source: str
    reference: str
    hypothesis: str


@dataclass(frozen=True)
class SampleTranslated(TrainingEvent):
    """Part of a validation: the run's sample of the validation split was translated greedily.

    Attributes:
        epoch, step: where the run stands.
        bleu: BLEU-4 of the sample from 0 to 100, tokenized and lower-cased (`bleu_tokenized_lowercased` of
            `core.evaluation.scores`).
        num_sentences: size of the sample, the same sentences each time.
        examples: up to five of them, the same ones each time.
    """

    epoch: int
    step: int
    bleu: float
    num_sentences: int
    examples: tuple[TranslatedExample, ...]


@dataclass(frozen=True)
class ProbeTranslated(TrainingEvent):
    """A frame of the film: the probe sentence was translated, with the maps of every head.

    It comes before the first step (epoch 0, step 0) and at each validation; it stays on the disk, see
    `core.training.film`.

    Attributes:
        epoch, step: where the run stands.
        validation_loss: of this validation; None before the first step.
        translation: the probe and what the model makes of it at the moment.
    """

    epoch: int
    step: int
    validation_loss: float | None
    translation: Translation


@dataclass(frozen=True)
class EpochDone(TrainingEvent):
    """A validation: an epoch ended, or the run did.

    Attributes:
        epoch, step: where the run stands.
        training_loss: token-weighted mean of the epoch's step losses.
        validation_loss: token-weighted.
        validation_loss_batch_mean: mean of the batches' means, as the published `notebook` curve counts it.
        learning_rate: at the last step.
        seconds: wall time of the epoch.
        is_best: whether every earlier validation loss was higher.
        bleu: of the sample, see `SampleTranslated`; None if none was translated.
    """

    epoch: int
    step: int
    training_loss: float
    validation_loss: float
    validation_loss_batch_mean: float
    learning_rate: float
    seconds: float
    is_best: bool
    bleu: float | None = None

    @property
    def perplexity(self) -> float:
        """exp of the token-weighted validation loss; infinite where that is too large a number."""
        try:
            return math.exp(self.validation_loss)
        except OverflowError:
            return math.inf


@dataclass(frozen=True)
class CheckpointSaved(TrainingEvent):
    """A checkpoint stands on the disk, complete.

    Attributes:
        path: the file.
        kind: "best" by validation loss, or "last" (with all that is needed to resume).
        epoch, step: where the run stood.
    """

    path: Path
    kind: Literal["best", "last"]
    epoch: int
    step: int


@dataclass(frozen=True)
class SaveFailed(TrainingEvent):
    """Something could not be written; training waits for the answer of `on_save_failed`.

    Attributes:
        path: the file. What stood there before stands there still.
        message: what was given, expected and can be done, for people.
        step: optimiser steps done.
    """

    path: Path
    message: str
    step: int


@dataclass(frozen=True)
class TrainingFinished(TrainingEvent):
    """The run ended and everything is on the disk.

    Attributes:
        reason: "completed" all epochs; "max_steps" reached; "patience" is at its end; `should_stop` said so:
            "stopped" and kept, "paused" to go on later, or "discarded", and the run's files are gone.
        epoch, step: the last step, and the epoch it belongs to.
        best_epoch, best_validation_loss: the best validation so far; 0 and infinity before the first.
        best_checkpoint, last_checkpoint: the two files.
        seconds: wall time of this run; if it was resumed, with the seconds of the steps before.
    """

    reason: EndReason
    epoch: int
    step: int
    best_epoch: int
    best_validation_loss: float
    best_checkpoint: Path
    last_checkpoint: Path
    seconds: float
