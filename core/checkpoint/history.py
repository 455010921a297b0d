"""The history of a run, by epoch, which its checkpoints store."""

from dataclasses import dataclass
from typing import Any

from ..strict_json import shown

_MAX_COUNT = 2**53


@dataclass(frozen=True)
class EpochRecord:
    """One validated epoch. Losses are natural-log cross-entropies per target token.

    Attributes:
        epoch: number of complete epochs.
        step: number of optimizer steps done.
        training_loss: token-weighted mean of what was minimised (with label smoothing, if the run
            has it).
        validation_loss: token-weighted, without smoothing.
        validation_loss_batch_mean: mean of the batches' means, as the published `notebook` curve
            counts it.
        learning_rate: at the last step.
        seconds: wall time of the epoch.
        bleu: of the run's sample of the validation split, from 0 to 100; None if none was
            translated.
    """

    epoch: int
    step: int
    training_loss: float
    validation_loss: float
    validation_loss_batch_mean: float
    learning_rate: float
    seconds: float
    bleu: float | None = None

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "EpochRecord":
        """The record that `asdict` gave.

        Raises `TypeError` or `ValueError` if `values` are damaged.
        """
        for name, value in values.items():
            if name == "bleu" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TypeError(f"{name} is {shown(value)}, which is not a number")
            if name in ("epoch", "step") and not isinstance(value, int):
                raise TypeError(f"{name} is {value!r}, which is not a whole number")
            if isinstance(value, int) and not 0 <= value <= _MAX_COUNT:
                raise ValueError(f"{name} is {shown(value)}, which is out of range")
        return cls(**values)
