"""The events of the training loop. No torch here: a window can show these before torch is imported.

Losses are natural-log cross-entropies per target token, without smoothing unless said otherwise.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from augenmerk.core.translation.result import Translation

EndReason = Literal["completed", "max_steps", "patience", "stopped", "paused", "discarded"]
StopRequest = Literal["keep", "pause", "discard"]
AfterFailedSave = Literal["retry", "stop"]


@dataclass(frozen=True)
class TrainingEvent:
    """Base class of the events that `train` reports through `on_event`."""


@dataclass(frozen=True)
class PhaseStarted(TrainingEvent):
    """A phase begins: reading, tokenizing, moving to the device, validating.

    Attributes:
        text: its description for the user ("Tokenizing 29,000 sentence pairs").
    """

    text: str


@dataclass(frozen=True)
class Noted(TrainingEvent):
    """A note for the user; training continues. For example, an older checkpoint was used.

    Attributes:
        text: one or two sentences.
    """

    text: str


@dataclass(frozen=True)
class TrainingStarted(TrainingEvent):
    """The first step is about to run.

    Attributes:
        preset: name of the configuration.
        num_parameters: trainable parameters of the model.
        num_training_pairs, num_validation_pairs: sentence pairs of each split.
        num_epochs: epochs of the whole run.
        num_steps: optimizer steps of the whole run.
        first_step: steps done before (0, unless the run was resumed).
        device, device_reason: where it runs, and why there.
        folder: of checkpoints and history.
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
    """One optimizer step.

    Attributes:
        step: optimizer steps done so far, from 1.
        epoch: epoch it belongs to, from 1.
        loss: per target token (with label smoothing, if used).
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
    """A validation sentence, its reference, and its current translation, detokenized."""

    source: str
    reference: str
    hypothesis: str


@dataclass(frozen=True)
class SampleTranslated(TrainingEvent):
    """Part of a validation: the run's sample of the validation split was translated greedily.

    Attributes:
        epoch, step: progress of the run.
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

    Sent before the first step (epoch 0, step 0) and at each validation; saved by `core.training.film`.

    Attributes:
        epoch, step: progress of the run.
        validation_loss: of this validation; None before the first step.
        translation: the current translation of the probe sentence.
    """

    epoch: int
    step: int
    validation_loss: float | None
    translation: Translation


@dataclass(frozen=True)
class EpochDone(TrainingEvent):
    """A validation: an epoch ended, or the run did.

    Attributes:
        epoch, step: progress of the run.
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
        """exp of the token-weighted validation loss; infinite if it overflows."""
        try:
            return math.exp(self.validation_loss)
        except OverflowError:
            return math.inf


@dataclass(frozen=True)
class CheckpointSaved(TrainingEvent):
    """A checkpoint was saved.

    Attributes:
        path: the file.
        kind: "best" by validation loss, or "last" (with everything needed to resume).
        epoch, step: progress of the run.
    """

    path: Path
    kind: Literal["best", "last"]
    epoch: int
    step: int


@dataclass(frozen=True)
class SaveFailed(TrainingEvent):
    """A file could not be written; training waits for the decision of `on_save_failed`.

    Attributes:
        path: the file; its previous version is intact.
        message: for the user.
        step: optimizer steps done.
    """

    path: Path
    message: str
    step: int


@dataclass(frozen=True)
class TrainingFinished(TrainingEvent):
    """The run ended and everything is saved.

    Attributes:
        reason: "completed" all epochs; "max_steps" reached; "patience" exhausted; or, by `should_stop`: "stopped" and
            saved, "paused" to be resumed, or "discarded" with its files deleted.
        epoch, step: the last step, and the epoch it belongs to.
        best_epoch, best_validation_loss: the best validation so far; 0 and infinity before the first.
        best_checkpoint, last_checkpoint: the two files.
        seconds: wall time of this run, including the time before it was resumed.
    """

    reason: EndReason
    epoch: int
    step: int
    best_epoch: int
    best_validation_loss: float
    best_checkpoint: Path
    last_checkpoint: Path
    seconds: float
