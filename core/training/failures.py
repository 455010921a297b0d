"""Failures that end a training, and changed settings to continue with. No torch here: a window reads these."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from augenmerk.core.config import TrainingConfig
from augenmerk.core.errors import TrainingError
from augenmerk.core.memory import is_out_of_memory
from augenmerk.core.training.events import TrainingFinished
from augenmerk.core.training.folder import kept_checkpoints

Built = TypeVar("Built")
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


class _Position(Protocol):
    step: int


def with_explained_failures(
    body: Callable[[], TrainingFinished], training: TrainingConfig, folder: Path, progress: _Position
) -> TrainingFinished:
    """Runs `body`; a loss that is not finite, or lack of memory, becomes an error with a proposal.

    The new error is raised after the original one is freed, together with the tensors in its frames.

    Args:
        body: the training.
        training: settings of the run.
        folder: where its checkpoints are.
        progress: of the run.

    Raises:
        InterruptedTrainingError: instead of what was raised by `body`.
    """
    kind: type[InterruptedTrainingError]
    try:
        return body()
    except DivergedError as error:
        message, kind = str(error), DivergedError
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        kind = OutOfMemoryError
        reason = (str(error) or repr(error)).splitlines()[0]
        message = f"At step {progress.step + 1} there was not enough memory ({reason}). Files saved earlier are intact."
    proposal = lower_rate(training) if kind is DivergedError else smaller_batches(training)
    saved = kept_checkpoints(folder, "last")
    path, step = (saved[0].path, saved[0].step) if saved else (None, 0)
    raise kind(f"{message} {_what_to_do(proposal, path, step)}", proposal, path)


def with_explained_lack_of_memory(build: Callable[[], Built]) -> Built:
    """What `build` gives; where memory runs out in it, the model is too large, whatever its batches.

    Raises:
        TrainingError: instead of what was raised for lack of memory.
    """
    try:
        return build()
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        reason = (str(error) or repr(error)).splitlines()[0]
    raise TrainingError(
        f"There is not enough memory to build the model ({reason}). Choose a smaller model, or raise the limit that "
        "this process has (ulimit -v), if there is one."
    )


def _what_to_do(proposal: Proposal | None, path: Path | None, step: int) -> str:
    if proposal is None:
        return "The batches cannot be made smaller: choose a smaller model, or a device with more memory."
    options = " ".join(f"--change {name}={value:g}" for name, value in proposal.changes.items())
    if path is None:
        return f"Start again with {proposal.text}."
    return f"Resume from step {step} ({path.name}) with {proposal.text}: --resume {options}."
