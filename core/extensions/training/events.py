"""The interface between `train` and its caller: the request, the events, and failures with a
proposal.

No torch here: a window shows these without it. Losses are natural-log cross-entropies per target
token, without smoothing unless said otherwise.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ...checkpoint.history import EpochRecord
from ...config import RunConfig, TrainingConfig
from ...errors import ConfigError, TrainingError
from ...short_repr import ShortRepr
from .corpora.parallel import DataSource

EndReason = Literal["completed", "max_steps", "patience", "stopped", "paused", "discarded"]
StopRequest = Literal["keep", "pause", "discard"]
AfterFailedSave = Literal["retry", "stop"]


@dataclass(frozen=True)
class TrainingRequest:
    """The input of a training.

    Attributes:
        run: the configuration.
        source: names the corpus (see `core.extensions.training.corpora.loading.load_corpus`).
        folder: for checkpoints and history.
        device: "auto", "cpu", "cuda:0" …
        resume: continue from the folder's last checkpoint.
        changes: settings of `TrainingConfig` that differ from here on.
        probe: the sentence of the film; None for its present one, or one of the validation split.
        allow_changed_data: resume even if the training data has changed since the run was saved.
    """

    run: RunConfig
    source: DataSource
    folder: Path
    device: str = "auto"
    resume: bool = False
    changes: Mapping[str, float | int] = field(default_factory=dict)
    probe: str | None = None
    allow_changed_data: bool = False


@dataclass(frozen=True)
class TrainingEvent(ShortRepr):
    """Base class of the events that `train` reports through `on_event`."""


OnEvent = Callable[[TrainingEvent], None]
ShouldStop = Callable[[], bool | StopRequest]
OnSaveFailed = Callable[["SaveFailed"], AfterFailedSave]
"""Decides after a failed save whether to "retry" or to "stop"; training waits for it."""


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


def pairs_note(left_out: str) -> str:
    """The note about pairs that are not used, see `PreparedCorpus.left_out_note`."""
    return f"Training uses {left_out}."


@dataclass(frozen=True)
class TrainingStarted(TrainingEvent):
    """The first step is about to run.

    Attributes:
        preset: name of the configuration.
        num_parameters: trainable parameters of the model.
        num_training_pairs: sentence pairs of the training split.
        num_validation_pairs: sentence pairs of the validation split.
        num_epochs: epochs of the whole run.
        num_steps: optimizer steps of the whole run.
        first_step: steps done before (0, unless the run was resumed).
        device: the device.
        device_reason: the reason for the choice.
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
        epoch: the epoch of the run.
        step: optimizer steps done.
        bleu: BLEU-4 of the sample from 0 to 100, tokenized and lower-cased
            (`bleu_tokenized_lowercased` of `core.extensions.training.evaluation`).
        num_sentences: size of the sample, the same sentences each time.
        examples: up to five of them, the same ones each time.
        notes: notes for the user on the sentences and their translations.
    """

    epoch: int
    step: int
    bleu: float
    num_sentences: int
    examples: tuple[TranslatedExample, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class EpochDone(EpochRecord, TrainingEvent):
    """A validation: an epoch ended, or the run did.

    Attributes:
        is_best: whether every earlier validation loss was higher.
    """

    is_best: bool = False

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
        epoch: the epoch of the run.
        step: optimizer steps done.
        seconds: time it took; 0 if that was not measured.
    """

    path: Path
    kind: Literal["best", "last"]
    epoch: int
    step: int
    seconds: float = 0.0


@dataclass(frozen=True)
class SaveFailed(TrainingEvent):
    """A file could not be written; training waits for the decision of `on_save_failed`.

    Attributes:
        path: the file; its previous version is intact.
        message: for the user.
        step: optimizer steps done.
        remedy: what to do before the next try, such as “free some space”.
    """

    path: Path
    message: str
    step: int
    remedy: str = "check the folder"


@dataclass(frozen=True)
class TrainingFinished(TrainingEvent):
    """The run ended and everything is saved.

    Attributes:
        reason: "completed" all epochs; "max_steps" reached; "patience" exhausted; or, by
            `should_stop`: "stopped" and saved, "paused" to be resumed, or "discarded" with its
            files deleted.
        epoch: the epoch of the last step.
        step: the last step.
        best_epoch: the epoch of the best validation so far; 0 before the first.
        best_validation_loss: its loss; infinity before the first.
        best_checkpoint: file of the best one.
        last_checkpoint: file of the last one.
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


LARGEST_NORM = 1.0
"""The proposed clipping norm where gradients are not clipped: that of the published systems."""


@dataclass(frozen=True)
class Proposal:
    """Changed settings to continue with.

    Attributes:
        changes: settings of `TrainingConfig` and the values to try, ready for `train(...,
            resume=True, changes=...)`.
        text: the same in words: "a learning rate of 0.00025 instead of 0.0005".
        allows_changed_data: continue although the training data is different now.
        settings: settings of a new run by dotted name, and the values to start with.
    """

    text: str
    changes: Mapping[str, float | int] = field(default_factory=dict)
    allows_changed_data: bool = False
    settings: Mapping[str, int] = field(default_factory=dict)


class InterruptedTrainingError(TrainingError):
    """Training failed, but can continue with other settings.

    Attributes:
        proposal: settings to try; None if nothing is left to lower.
        resumable_checkpoint: the last good checkpoint; None if there is none yet.
    """

    def __init__(
        self,
        message: str,
        proposal: Proposal | None = None,
        resumable_checkpoint: Path | None = None,
    ) -> None:
        super().__init__(message)
        self.proposal = proposal
        self.resumable_checkpoint = resumable_checkpoint


class DivergedError(InterruptedTrainingError):
    """A loss or a gradient is no longer a finite number; the proposal is a lower rate."""


class OutOfMemoryError(InterruptedTrainingError):
    """A step did not fit into the memory; the proposal is smaller batches, more of them
    accumulated.
    """


class MisfitError(InterruptedTrainingError, ConfigError):
    """The corpus does not fit the settings; the proposal is settings that it fits."""


class ChangedDataError(InterruptedTrainingError):
    """The training data differs from that of the run to resume; the proposal is to use the new
    data.
    """


def lower_rate(training: TrainingConfig) -> Proposal:
    """Half the rate, and gradients clipped if they are not."""
    changes: dict[str, float | int] = {}
    if training.schedule == "noam":
        changes["noam_factor"] = training.noam_factor / 2
        text = f"a Noam factor of {changes['noam_factor']:g} instead of {training.noam_factor:g}"
    else:
        changes["learning_rate"] = training.learning_rate / 2
        text = (
            f"a learning rate of {changes['learning_rate']:g} instead of {training.learning_rate:g}"
        )
    if training.clip_norm is None:
        changes["clip_norm"] = LARGEST_NORM
        text += f", with gradients clipped to a norm of {LARGEST_NORM:g}"
    return Proposal(text, changes)


def smaller_batches(training: TrainingConfig) -> Proposal | None:
    """Half the batch size, and twice as many batches for one step: the same gradients.

    None if it cannot be halved.
    """
    size = training.batch_size // 2
    number = training.num_accumulated * 2
    if size < 1:
        return None
    return Proposal(
        f"a batch size of {size:,} instead of {training.batch_size:,}, with {number} batches "
        "accumulated for one step, which learns the same",
        {"batch_size": size, "num_accumulated": number},
    )
