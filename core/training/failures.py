"""Failures that end a training, and changed settings to continue with. No torch here: a window reads these."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from augenmerk.core.config import TrainingConfig
from augenmerk.core.errors import TrainingError

LARGEST_NORM = 1.0
"""The proposed clipping norm where gradients are not clipped: that of the published systems."""


@dataclass(frozen=True)
class Proposal:
    """Changed settings to continue with.

    Attributes:
        changes: settings of `TrainingConfig` and the values to try, ready for `train(..., resume=True, changes=...)`.
        text: the same as text: "a learning rate of 0.00025 instead of 0.0005".
        allows_changed_data: continue although the training data is different now.
    """

    text: str
    changes: Mapping[str, float | int] = field(default_factory=dict)
    allows_changed_data: bool = False


class InterruptedTrainingError(TrainingError):
    """Training failed, but can continue with other settings.

    Attributes:
        proposal: what to try; None if nothing is left to lower.
        resumable_checkpoint: the last good checkpoint; None if there is none yet.
    """

    def __init__(
        self, message: str, proposal: Proposal | None = None, resumable_checkpoint: Path | None = None
    ) -> None:
        super().__init__(message)
        self.proposal = proposal
        self.resumable_checkpoint = resumable_checkpoint


class DivergedError(InterruptedTrainingError):
    """A loss or a gradient is no longer a finite number; the proposal is a lower rate."""


class OutOfMemoryError(InterruptedTrainingError):
    """A step did not fit into the memory; the proposal is smaller batches, more of them accumulated."""


class ChangedDataError(InterruptedTrainingError):
    """The training data is not what the run to resume was trained on; the proposal is to take it as it is now."""


def lower_rate(training: TrainingConfig) -> Proposal:
    """Half the rate, and gradients clipped if they are not."""
    changes: dict[str, float | int] = {}
    if training.schedule == "noam":
        changes["noam_factor"] = training.noam_factor / 2
        text = f"a Noam factor of {changes['noam_factor']:g} instead of {training.noam_factor:g}"
    else:
        changes["learning_rate"] = training.learning_rate / 2
        text = f"a learning rate of {changes['learning_rate']:g} instead of {training.learning_rate:g}"
    if training.clip_norm is None:
        changes["clip_norm"] = LARGEST_NORM
        text += f", with gradients clipped to a norm of {LARGEST_NORM:g}"
    return Proposal(text, changes)


def smaller_batches(training: TrainingConfig) -> Proposal | None:
    """Half the batch size, and twice as many batches for one step: the same gradients. None if it cannot be halved."""
    size, number = training.batch_size // 2, training.num_accumulated * 2
    if size < 1:
        return None
    return Proposal(
        f"a batch size of {size:,} instead of {training.batch_size:,}, with {number} batches accumulated for one step, "
        "which learns the same",
        {"batch_size": size, "num_accumulated": number},
    )
