"""Every step's metrics are on the disk, whatever happens to the run or to the file."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augenmerk.core.extensions.training import step_metrics
from augenmerk.core.extensions.training.events import (
    CheckpointSaved,
    Noted,
    StepDone,
    TrainingEvent,
)
from augenmerk.core.extensions.training.folder import discard_run
from augenmerk.core.extensions.training.step_metrics import (
    StepMetrics,
    StepMetricsWriter,
    read_step_metrics,
)
from augenmerk.core.run_files import LAST, STEPS
from tests.core.extensions.training.runs import copy_run, record

RECORD = 48


def step(number: int, loss: float = 0.0) -> StepDone:
    return StepDone(
        number,
        1 + number // 10,
        loss or 1 / 3 + number,
        1e-4 / number,
        0.7 * number,
        30,
        1e5 / 7,
        60.0,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, 0, range(1, 21))
    return tmp_path


def write(folder: Path, done: int, steps: Any, loss: float = 0.0) -> None:
    writer = StepMetricsWriter(folder, done)
    for number in steps:
        writer.append(step(number, loss))
    assert writer.sync()
    assert writer.close()


def steps_in(folder: Path) -> list[int]:
    return read_step_metrics(folder).step.tolist()


def assert_same(metrics: StepMetrics, events: list[StepDone]) -> None:
    """To the last bit."""
    for name, values in vars(metrics).items():
        assert values.tolist() == [getattr(event, name) for event in events], name


def test_they_come_back_to_the_last_bit_and_read_only(folder: Path) -> None:
    metrics = read_step_metrics(folder)
    assert_same(metrics, [step(number) for number in range(1, 21)])
    assert len(metrics) == 20
    with pytest.raises(ValueError, match="read-only"):
        metrics.loss[0] = 1
    assert (folder / STEPS).stat().st_size == 16 + 20 * RECORD


def test_a_step_is_on_the_disk_before_the_next_one(tmp_path: Path) -> None:
    writer = StepMetricsWriter(tmp_path, 0)
    for number in range(1, 4):
        writer.append(step(number))
        assert steps_in(tmp_path) == list(range(1, number + 1)), "read while it is written"
    writer.close()


def test_where_there_are_none_there_are_none(tmp_path: Path) -> None:
    assert steps_in(tmp_path) == []
    assert steps_in(tmp_path / "missing") == []
    (tmp_path / STEPS).mkdir()
    assert steps_in(tmp_path) == []


@pytest.mark.parametrize(
    "content",
    [b"", b"augmstep", b"something else" * 100, b"augmstep\x02\0\0\0\x30\0\0\0" + b"\1" * 96],
)
def test_a_file_of_another_kind_is_not_read_and_a_run_begins_anew_in_its_place(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / STEPS).write_bytes(content)
    assert steps_in(tmp_path) == []
    write(tmp_path, 5, [6, 7])
    assert steps_in(tmp_path) == [6, 7]


@pytest.mark.parametrize("missing", [1, 20, RECORD - 1])
def test_a_torn_record_is_left_out_and_the_next_one_takes_its_place(
    folder: Path, missing: int
) -> None:
    size = (folder / STEPS).stat().st_size
    os.truncate(folder / STEPS, size - missing)
    assert steps_in(folder) == list(range(1, 20))
    write(folder, 19, [20, 21])
    assert steps_in(folder) == list(range(1, 22))
    assert (folder / STEPS).stat().st_size == size + RECORD


@pytest.mark.heavy
def test_records_that_are_zeros_or_have_one_wrong_bit_are_left_out(folder: Path) -> None:
    """A power cut leaves zeros where nothing was written yet."""
    whole = (folder / STEPS).read_bytes()
    (folder / STEPS).write_bytes(whole + bytes(3 * RECORD))
    assert steps_in(folder) == list(range(1, 21))
    write(folder, 20, [21])
    assert steps_in(folder) == list(range(1, 22))
    for bit in range(8 * RECORD):
        data = bytearray(whole)
        data[16 + 4 * RECORD + bit // 8] ^= 1 << bit % 8
        (folder / STEPS).write_bytes(bytes(data))
        assert steps_in(folder) == [number for number in range(1, 21) if number != 5]


def test_steps_that_are_repeated_replace_those_of_the_first_time(folder: Path) -> None:
    write(folder, 12, [], 9.0)
    assert steps_in(folder) == list(range(1, 21)), "nothing was repeated yet"
    write(folder, 12, [13, 14, 15], 9.0)
    metrics = read_step_metrics(folder)
    assert metrics.step.tolist() == list(range(1, 16))
    assert metrics.loss[12:].tolist() == [9.0] * 3
    write(folder, 3, [4], 8.0)
    assert steps_in(folder) == [1, 2, 3, 4]
    write(folder, 0, [1, 2])
    assert steps_in(folder) == [1, 2], "a run that starts again"


def test_what_finds_no_room_is_written_as_soon_as_there_is_some(
    tmp_path: Path, monkeypatch: Any
) -> None:
    class FullDisk(step_metrics.io.FileIO):
        """Has room for so many bytes."""

        room = 16 + 5 * RECORD + 20

        def write(self, data: Any) -> int:
            written = super().write(data[: FullDisk.room])
            FullDisk.room -= written
            if not written:
                raise OSError(28, "No space left on device")
            return written

    monkeypatch.setattr(step_metrics.io, "FileIO", FullDisk)
    writer = StepMetricsWriter(tmp_path, 0)
    for number in range(1, 9):
        writer.append(step(number))
    assert steps_in(tmp_path) == [1, 2, 3, 4, 5]
    assert (tmp_path / STEPS).stat().st_size == 16 + 5 * RECORD, "no half a record stays"
    assert not writer.sync()
    FullDisk.room = 10**6
    writer.append(step(9))
    assert steps_in(tmp_path) == list(range(1, 10))
    assert writer.close()


def test_a_file_that_was_deleted_is_made_anew_with_all_it_held(folder: Path) -> None:
    writer = StepMetricsWriter(folder, 20)
    writer.append(step(21))
    (folder / STEPS).unlink()
    writer.append(step(22))
    assert writer.sync()
    assert steps_in(folder) == list(range(1, 23))
    assert writer.close()


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_link_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.bin"
    elsewhere.write_bytes(b"mine")
    (tmp_path / STEPS).symlink_to(elsewhere)
    writer = StepMetricsWriter(tmp_path, 0)
    writer.append(step(1))
    assert not writer.sync()
    assert not writer.close()
    assert elsewhere.read_bytes() == b"mine"
    assert steps_in(tmp_path) == []


def test_a_hundred_thousand_steps_take_less_than_five_megabytes(tmp_path: Path) -> None:
    records = np.zeros(100_000, dtype=step_metrics._RECORD)
    records["step"] = np.arange(1, 100_001)
    records["loss"] = 0.5
    records["checksum"] = step_metrics._checksums(records)
    (tmp_path / STEPS).write_bytes(step_metrics._HEADER + records.tobytes())
    assert (tmp_path / STEPS).stat().st_size < 5_000_000
    assert len(read_step_metrics(tmp_path)) == 100_000


@pytest.mark.training
class TestRuns:
    def test_a_run_keeps_what_it_told(self, tmp_path: Path) -> None:
        _, said = record(copy_run(num_epochs=2), tmp_path)
        assert_same(read_step_metrics(tmp_path), said.of(StepDone))

    def test_a_resumed_run_goes_on_from_its_checkpoint(self, tmp_path: Path) -> None:
        """Steps 5 and 6 were done twice: once before the crash."""
        run = copy_run(checkpoint_steps=4, num_epochs=2, sample_size=0)

        def crash(event: TrainingEvent) -> None:
            if isinstance(event, StepDone) and event.step == 6:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            record(run, tmp_path / "run", on_event=crash)
        assert steps_in(tmp_path / "run") == [1, 2, 3, 4, 5, 6]
        before = read_step_metrics(tmp_path / "run")
        _, said = record(run, tmp_path / "run", resume=True)
        metrics = read_step_metrics(tmp_path / "run")
        assert metrics.step.tolist() == list(range(1, 15))
        assert metrics.loss[:4].tolist() == before.loss[:4].tolist()
        assert metrics.tokens_per_second[4:].tolist() == [
            event.tokens_per_second for event in said.of(StepDone)
        ]

    def test_without_room_for_them_a_run_goes_on_and_says_so_twice(
        self, tmp_path: Path, monkeypatch: Any
    ) -> None:
        def refuse(path: Path, flags: int) -> Iterator[None]:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(step_metrics, "_open", refuse)
            finished, said = record(copy_run(num_epochs=2), tmp_path)
        assert finished.reason == "completed"
        note, last = said.of(Noted)
        assert note.text.startswith(
            f"The metrics of each step ({tmp_path / STEPS}) cannot be written."
        )
        assert last.text.startswith(
            f"The metrics of each step ({tmp_path / STEPS}) could not all be written."
        )
        assert steps_in(tmp_path) == []

    def test_a_folder_that_is_deleted_while_training_gets_them_again(self, tmp_path: Path) -> None:
        folder = tmp_path / "run"

        def delete(event: TrainingEvent) -> None:
            if isinstance(event, StepDone) and event.step == 5:
                shutil.rmtree(folder)

        _, said = record(copy_run(num_epochs=2), folder, on_event=delete)
        assert_same(read_step_metrics(folder), said.of(StepDone))
        assert len(said.of(Noted)) == 1, "of the folder"

    @pytest.mark.parametrize("num_steps", [2, 9])
    def test_a_folder_in_their_place_is_told_even_after_the_last_checkpoint(
        self, tmp_path: Path, num_steps: int
    ) -> None:
        """With the ninth step the training fails: no checkpoint follows that could tell."""
        notes: list[Noted] = []

        def put_in_the_way(event: TrainingEvent) -> None:
            if isinstance(event, Noted):
                notes.append(event)
            if isinstance(event, StepDone) and event.step == num_steps:
                (tmp_path / STEPS).unlink()
                (tmp_path / STEPS).mkdir()
            if isinstance(event, StepDone) and event.step == 9:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            record(copy_run(num_epochs=2, sample_size=0), tmp_path, on_event=put_in_the_way)
        assert ["could not all be written" in note.text for note in notes] == [False] * (
            num_steps == 2
        ) + [True]

    def test_each_time_they_cannot_be_written_is_told(self, tmp_path: Path) -> None:
        def put_in_the_way(event: TrainingEvent) -> None:
            if isinstance(event, StepDone) and event.step in (3, 9):
                (tmp_path / STEPS).unlink()
                (tmp_path / STEPS).mkdir()
            if isinstance(event, StepDone) and event.step in (5, 11):
                (tmp_path / STEPS).rmdir()

        _, said = record(
            copy_run(num_epochs=2, checkpoint_steps=2), tmp_path, on_event=put_in_the_way
        )
        assert len(said.of(Noted)) == 2
        assert_same(read_step_metrics(tmp_path), said.of(StepDone))

    def test_the_checkpoint_never_knows_more_steps_than_they_do(self, tmp_path: Path) -> None:
        def compare(event: TrainingEvent) -> None:
            if isinstance(event, CheckpointSaved) and event.path.name == LAST:
                assert steps_in(tmp_path)[-1] == event.step

        record(copy_run(num_epochs=2, checkpoint_steps=3), tmp_path, on_event=compare)

    def test_they_are_discarded_with_the_run(self, tmp_path: Path) -> None:
        record(copy_run(max_steps=1), tmp_path / "run")
        discard_run(tmp_path / "run")
        assert not (tmp_path / "run").exists()
