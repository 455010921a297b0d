"""The history of a run as a table."""

import csv
import dataclasses
import tracemalloc
from pathlib import Path

import pytest

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.errors import CheckpointError
from augenmerk.core.extensions.training.history_file import (
    num_stale_epochs,
    read_history,
    write_history,
)

RECORDS = [
    EpochRecord(1, 10, 3.0, 2.5, 2.6, 5e-4, 1.5),
    EpochRecord(2, 20, 2.0, 2.25, 2.3, 5e-4, 1.25, 31.5),
]


def test_every_number_can_be_read_back(tmp_path: Path) -> None:
    write_history(tmp_path / "history.csv", RECORDS)
    with (tmp_path / "history.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [field.name for field in dataclasses.fields(EpochRecord)]
    for row, record in zip(rows, RECORDS, strict=True):
        read = {name: float(value) if value else None for name, value in row.items()}
        assert read == dataclasses.asdict(record)
    assert read_history(tmp_path / "history.csv") == tuple(RECORDS)


@pytest.mark.parametrize(
    "text", ["epoch,step\n1,2\n", "epoch\nx\n", "a\n1\n", "epoch,step\n1\n", "epoch\n1,2\n"]
)
def test_a_damaged_table_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "history.csv").write_text(text)
    with pytest.raises(CheckpointError, match="cannot be read as the history of a run"):
        read_history(tmp_path / "history.csv")


def test_a_huge_table_is_refused_at_once(tmp_path: Path) -> None:
    with (tmp_path / "history.csv").open("wb") as file:
        file.truncate(3 * 10**9)
    tracemalloc.start()
    with pytest.raises(CheckpointError, match=r"it has more than 10,000,000 bytes"):
        read_history(tmp_path / "history.csv")
    assert tracemalloc.get_traced_memory()[1] < 30_000_000
    tracemalloc.stop()


def test_a_missing_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="No such file"):
        read_history(tmp_path / "history.csv")


@pytest.mark.parametrize(
    ("losses", "stale"),
    [
        ([], 0),
        ([3], 0),
        ([3, 2], 0),
        ([3, 2, 2], 1),
        ([3, 2, 4, 2.5], 2),
        ([3, 4, 2, 5], 1),
        ([1, 2, 3, 4], 3),
    ],
)
def test_an_epoch_is_stale_if_it_is_no_better_than_every_earlier_one(
    losses: list[float], stale: int
) -> None:
    records = [
        dataclasses.replace(RECORDS[0], epoch=n, validation_loss=loss)
        for n, loss in enumerate(losses, 1)
    ]
    assert num_stale_epochs(records) == stale


def test_a_run_without_an_epoch_has_a_header(tmp_path: Path) -> None:
    write_history(tmp_path / "history.csv", [])
    assert (
        (tmp_path / "history.csv")
        .read_text()
        .startswith("epoch,step,training_loss,validation_loss,")
    )
    assert len((tmp_path / "history.csv").read_text().splitlines()) == 1
