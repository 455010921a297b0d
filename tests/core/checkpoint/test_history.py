"""The history of a run, as a checkpoint stores it."""

import dataclasses

import pytest

from augenmerk.core.checkpoint.history import EpochRecord

RECORD = EpochRecord(2, 20, 2.0, 2.25, 2.3, 5e-4, 1.25, 31.5)


def test_a_record_can_be_read_back() -> None:
    assert EpochRecord.from_dict(dataclasses.asdict(RECORD)) == RECORD


@pytest.mark.parametrize(
    "damage", [{"epoch": "1"}, {"epoch": None}, {"epoch": True}, {"loss": 1.0}]
)
def test_a_damaged_record_is_refused(damage: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        EpochRecord.from_dict(dataclasses.asdict(RECORD) | damage)
