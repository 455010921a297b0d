"""The history of a run as a table of its epochs in the run's folder."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from ...checkpoint.history import EpochRecord
from ...errors import CheckpointError
from ...storage import read_text, reason_of, write_text

MAX_BYTES = 10_000_000


def write_history(path: Path, records: Sequence[EpochRecord]) -> None:
    """Writes `records` as CSV with a header, atomically. Raises `StorageError`."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(
        text, [field.name for field in fields(EpochRecord)], lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(asdict(record) for record in records)
    write_text(path, text.getvalue())


def read_history(path: Path) -> tuple[EpochRecord, ...]:
    """The records that `write_history` wrote.

    Raises:
        CheckpointError: the file is missing or damaged.
    """
    try:
        text = io.StringIO(read_text(path, MAX_BYTES), newline="")
        return tuple(_record(row) for row in csv.DictReader(text))
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise CheckpointError(
            f"{path} cannot be read as the history of a run ({reason_of(error)}). Use another "
            "copy, or a table written by Augenmerk."
        ) from error


def _record(row: dict[str, str]) -> EpochRecord:
    """One line of the table. Raises `TypeError` or `ValueError` if it is damaged."""
    values: dict[str, Any] = {}
    for name, text in row.items():
        if text:
            values[name] = int(text) if name in ("epoch", "step") else float(text)
    return EpochRecord.from_dict(values)


def num_stale_epochs(records: Sequence[EpochRecord]) -> int:
    """Epochs since the validation loss was last lower than ever before."""
    best = math.inf
    stale = 0
    for record in records:
        stale = 0 if record.validation_loss < best else stale + 1
        best = min(best, record.validation_loss)
    return stale
