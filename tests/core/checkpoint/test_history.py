"""The history of a run as a table."""

import csv
import dataclasses
from pathlib import Path

import pytest

from core.checkpoint.history import EpochRecord, write_history

RECORDS = [EpochRecord(1, 10, 3.0, 2.5, 2.6, 5e-4, 1.5), EpochRecord(2, 20, 2.0, 2.25, 2.3, 5e-4, 1.25)]


def test_every_number_can_be_read_back(tmp_path: Path) -> None:
    write_history(tmp_path / "history.csv", RECORDS)
    with (tmp_path / "history.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [field.name for field in dataclasses.fields(EpochRecord)]
    for row, record in zip(rows, RECORDS, strict=True):
        assert {name: float(value) for name, value in row.items()} == dataclasses.asdict(record)


def test_a_run_without_an_epoch_has_a_header(tmp_path: Path) -> None:
    write_history(tmp_path / "history.csv", [])
    assert (tmp_path / "history.csv").read_text().startswith("epoch,step,training_loss,validation_loss,")
    assert len((tmp_path / "history.csv").read_text().splitlines()) == 1


@pytest.mark.parametrize("damage", [{"epoch": "1"}, {"epoch": None}, {"epoch": True}, {"loss": 1.0}])
def test_a_damaged_record_is_refused(damage: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        EpochRecord.from_dict(dataclasses.asdict(RECORDS[0]) | damage)
