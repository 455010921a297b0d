"""What the training loop tells the world. No torch here: a window can draw these before torch is imported.

Losses are natural-log cross-entropies per target token, without smoothing unless said otherwise.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


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
    """

    epoch: int
    step: int
    training_loss: float
    validation_loss: float
    validation_loss_batch_mean: float
    learning_rate: float
    seconds: float
    is_best: bool


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
class TrainingFinished(TrainingEvent):
    """The run ended and everything is on the disk.

    Attributes:
        reason: "completed" all epochs; "max_steps" reached; "stopped" because `should_stop` said so.
        epoch, step: where it stands.
        best_epoch, best_validation_loss: the best validation so far.
        best_checkpoint, last_checkpoint: the two files.
        seconds: wall time of this run.
    """

    reason: Literal["completed", "max_steps", "stopped"]
    epoch: int
    step: int
    best_epoch: int
    best_validation_loss: float
    best_checkpoint: Path
    last_checkpoint: Path
    seconds: float
