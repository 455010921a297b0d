"""The history of a run, by epoch."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ..errors import CheckpointError
from ..storage import read_text, reason_of, write_text
from ..strict_json import shown

MAX_HISTORY_BYTES = 10_000_000
_MAX_COUNT = 2**53


@dataclass(frozen=True)
class EpochRecord:
    """One validated epoch. Losses are natural-log cross-entropies per target token.

    Attributes:
        epoch, step: epochs and optimizer steps done.
        training_loss: token-weighted mean of what was minimised (with label smoothing, if the run has it).
        validation_loss: token-weighted, without smoothing.
        validation_loss_batch_mean: mean of the batches' means, as the published `notebook` curve counts it.
        learning_rate: at the last step.
        seconds: wall time of the epoch.
        bleu: of the run's sample of the validation split, from 0 to 100; None if none was translated.
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
        """The record that `asdict` gave. Raises `TypeError` or `ValueError` if `values` are damaged."""
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


def write_history(path: Path, records: Sequence[EpochRecord]) -> None:
    """Writes `records` as CSV with a header, atomically. Raises `StorageError`."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [field.name for field in fields(EpochRecord)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(record) for record in records)
    write_text(path, text.getvalue())


def read_history(path: Path) -> tuple[EpochRecord, ...]:
    """The records that `write_history` wrote; earlier versions had fewer columns, whose values are NaN or None.

    Raises:
        CheckpointError: the file is missing or damaged.
    """
    try:
        text = io.StringIO(read_text(path, MAX_HISTORY_BYTES), newline="")
        return tuple(_record(row) for row in csv.DictReader(text))
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise CheckpointError(
            f"{path} cannot be read as the history of a run ({reason_of(error)}). Use another copy, or a table written "
            "by Augenmerk."
        ) from error


def _record(row: dict[str, str]) -> EpochRecord:
    """One line of the table. Raises `TypeError` or `ValueError` if it is damaged."""
    values: dict[str, Any] = {"validation_loss_batch_mean": math.nan, "seconds": math.nan}
    for name, text in row.items():
        if text:
            values[name] = int(text) if name in ("epoch", "step") else float(text)
    return EpochRecord.from_dict(values)


def num_stale_epochs(records: Sequence[EpochRecord]) -> int:
    """Epochs since the validation loss was last lower than ever before."""
    best, stale = math.inf, 0
    for record in records:
        stale = 0 if record.validation_loss < best else stale + 1
        best = min(best, record.validation_loss)
    return stale
