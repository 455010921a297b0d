"""What can end a training against one's will, and what to try then. No torch here: a window reads these."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import TrainingError


@dataclass(frozen=True)
class Proposal:
    """Other settings to go on with.

    Attributes:
        changes: settings of `TrainingConfig` and the values to try, ready for `train(..., resume=True, changes=...)`.
        text: the same for people: "a learning rate of 0.00025 instead of 0.0005".
    """

    text: str
    changes: Mapping[str, float | int] = field(default_factory=dict)


class InterruptedTrainingError(TrainingError):
    """Training had to end, but can go on with other settings.

    Attributes:
        proposal: what to try; None if nothing is left to lower.
        can_go_on_from: the last good checkpoint; None if there is none yet.
    """

    def __init__(self, message: str, proposal: Proposal | None = None, can_go_on_from: Path | None = None) -> None:
        super().__init__(message)
        self.proposal = proposal
        self.can_go_on_from = can_go_on_from


class DivergedError(InterruptedTrainingError):
    """A loss or a gradient is no longer a finite number; the proposal is a lower rate."""


class OutOfMemoryError(InterruptedTrainingError):
    """A step did not fit into the memory; the proposal is smaller batches, more of them accumulated."""
