"""How a run went, epoch by epoch."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from core.storage import write_text


@dataclass(frozen=True)
class EpochRecord:
    """One validated epoch. Losses are natural-log cross-entropies per target token.

    Attributes:
        epoch, step: epochs and optimiser steps done.
        training_loss: token-weighted mean of what was minimised (with label smoothing, if the run has it).
        validation_loss: token-weighted, without smoothing.
        validation_loss_batch_mean: mean of the batches' means, as the published `notebook` curve counts it.
        learning_rate: at the last step.
        seconds: wall time of the epoch.
    """

    epoch: int
    step: int
    training_loss: float
    validation_loss: float
    validation_loss_batch_mean: float
    learning_rate: float
    seconds: float

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "EpochRecord":
        """The record that `asdict` gave. Raises `TypeError` if `values` are damaged."""
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TypeError(f"{name} is {value!r}, which is no number")
        return cls(**values)


def write_history(path: Path, records: Sequence[EpochRecord]) -> None:
    """Writes `records` as CSV with a header, atomically. Raises `StorageError`."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [field.name for field in fields(EpochRecord)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(record) for record in records)
    write_text(path, text.getvalue())
