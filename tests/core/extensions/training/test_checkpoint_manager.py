"""Which checkpoints are kept, that older ones are removed only after the newer one is saved, and
failing saves."""

from pathlib import Path
from typing import Any

import pytest

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.errors import CheckpointError, StorageError
from augenmerk.core.extensions.training import checkpoint_manager
from augenmerk.core.extensions.training import validation as validation_module
from augenmerk.core.extensions.training.averaging import average
from augenmerk.core.extensions.training.evaluation import CorpusLoss
from augenmerk.core.extensions.training.events import (
    CheckpointSaved,
    Noted,
    SaveFailed,
    StepDone,
    TrainingEvent,
)
from augenmerk.core.extensions.training.folder import discard_run, kept_checkpoints
from augenmerk.core.run_files import BEST, LAST
from tests.core.extensions.training.runs import copy_run, record

pytestmark = pytest.mark.training


def validate_to(monkeypatch: pytest.MonkeyPatch, losses: list[float]) -> None:
    following = iter(losses)
    monkeypatch.setattr(
        validation_module,
        "corpus_loss",
        lambda *arguments, **parts: CorpusLoss(next(following), 1.0, 1, 1),
    )


def names(folder: Path, pattern: str) -> list[str]:
    return sorted(path.name for path in folder.glob(pattern))


class TestNumberKept:
    @pytest.mark.slow
    def test_the_best_three_stay_whatever_order_they_come_in(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        validate_to(monkeypatch, [3.0, 1.0, 2.0, 4.0, 1.5])
        record(copy_run(num_epochs=5, keep_best=3, sample_size=0), tmp_path / "run")
        checkpoints = kept_checkpoints(tmp_path / "run", "best")
        assert [(one.path.name, one.validation_loss, one.epoch) for one in checkpoints] == [
            (BEST, 1.0, 2),
            ("best-epoch005-step0000035.safetensors", 1.5, 5),
            ("best-epoch003-step0000021.safetensors", 2.0, 3),
        ]
        assert len(names(tmp_path / "run", "best*")) == 3
        average([one.path for one in checkpoints]).build_model()

    def test_a_best_one_that_is_beaten_stays_under_its_epoch(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        validate_to(monkeypatch, [3.0, 2.0, 1.0])
        record(copy_run(num_epochs=3, keep_best=2, sample_size=0), tmp_path / "run")
        assert names(tmp_path / "run", "best*") == ["best-epoch002-step0000014.safetensors", BEST]
        older = load_checkpoint(tmp_path / "run" / "best-epoch002-step0000014.safetensors")
        assert [entry.validation_loss for entry in older.history] == [3.0, 2.0]

    def test_the_newest_three_stay(self, tmp_path: Path) -> None:
        run = copy_run(num_epochs=2, keep_last=3, checkpoint_steps=3, sample_size=0)
        record(run, tmp_path / "run")
        checkpoints = kept_checkpoints(tmp_path / "run", "last")
        assert [one.step for one in checkpoints] == [14, 12, 9]
        assert names(tmp_path / "run", "last*") == [
            "last-step0000009.safetensors",
            "last-step0000012.safetensors",
            LAST,
        ]
        assert all(
            load_checkpoint(one.path, with_state=True).progress["step"] == one.step
            for one in checkpoints
        )

    def test_with_one_of_each_there_are_no_others(self, tmp_path: Path) -> None:
        record(copy_run(num_epochs=2, checkpoint_steps=3, sample_size=0), tmp_path / "run")
        assert names(tmp_path / "run", "*.safetensors") == [BEST, LAST]

    def test_files_of_the_user_are_left_alone(self, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        folder.mkdir()
        for name in ("best-of-all.safetensors", "last-week.safetensors"):
            (folder / name).write_text("mine")
        record(copy_run(max_steps=3, checkpoint_steps=1, sample_size=0), folder)
        assert {"best-of-all.safetensors", "last-week.safetensors"} <= set(names(folder, "*"))

    def test_an_older_one_goes_only_after_the_newer_stands(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        """At every moment of a save the folder holds as many complete checkpoints as are to be
        kept."""
        run = copy_run(num_epochs=2, keep_last=2, checkpoint_steps=2, sample_size=0)
        save, counts = checkpoint_manager.save_checkpoint, []

        def counting(checkpoint: Any, path: Path) -> None:
            if path.name == LAST:
                counts.append(len(kept_checkpoints(path.parent, "last")))
            save(checkpoint, path)

        monkeypatch.setattr(checkpoint_manager, "save_checkpoint", counting)
        record(run, tmp_path / "run")
        assert counts[:3] == [0, 1, 2]
        assert set(counts[2:]) == {2}

    def test_a_file_system_without_links_is_copied_on(self, tmp_path: Path, monkeypatch) -> None:
        def refused(*arguments: Any) -> None:
            raise OSError(95, "Operation not supported")

        monkeypatch.setattr(checkpoint_manager.os, "link", refused)
        record(
            copy_run(max_steps=4, keep_last=2, checkpoint_steps=2, sample_size=0), tmp_path / "run"
        )
        assert [one.step for one in kept_checkpoints(tmp_path / "run", "last")] == [4, 2]


class TestOlderOne:
    @pytest.mark.slow
    def test_if_the_newest_is_damaged_the_run_goes_on_from_the_one_before_and_says_so(
        self, tmp_path: Path
    ) -> None:
        run = copy_run(keep_last=3, checkpoint_steps=2, sample_size=0)
        _, whole = record(run, tmp_path / "whole")
        folder = tmp_path / "run"
        record(run, folder, stop_after=6)
        newest = folder / LAST
        newest.write_bytes(newest.read_bytes()[:-50])
        _, said = record(run, folder, resume=True)
        (note,) = said.of(Noted)
        assert "last.safetensors cannot be read as a checkpoint" in note.text
        assert "resumes from last-step0000004.safetensors instead, at step 4" in note.text
        assert said.losses == whole.losses[4:]

    def test_if_all_are_damaged_the_newest_is_what_the_message_speaks_of(
        self, tmp_path: Path
    ) -> None:
        run = copy_run(keep_last=2, checkpoint_steps=2, sample_size=0)
        record(run, tmp_path / "run", stop_after=4)
        for path in (tmp_path / "run").glob("last*"):
            path.write_bytes(path.read_bytes()[:-50])
        with pytest.raises(CheckpointError, match=r"/last\.safetensors cannot be read"):
            record(run, tmp_path / "run", resume=True)


class Filling:
    """A disk that is full for some of the saves of `last.safetensors`, counted from 1."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, full: range) -> None:
        self.num_saves = 0
        save = checkpoint_manager.save_checkpoint

        def filling(checkpoint: Any, path: Path) -> None:
            self.num_saves += path.name == LAST
            if path.name == LAST and self.num_saves in full:
                raise StorageError(f"Cannot write {path}: No space left on device.")
            save(checkpoint, path)

        monkeypatch.setattr(checkpoint_manager, "save_checkpoint", filling)


class TestFailedSave:
    def test_it_is_tried_again_until_it_works_and_nothing_is_lost(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        run = copy_run(num_epochs=1, checkpoint_steps=2, sample_size=0)
        _, whole = record(run, tmp_path / "whole")
        Filling(monkeypatch, full=range(2, 5))
        asked: list[SaveFailed] = []

        def ask(failure: SaveFailed) -> str:
            asked.append(failure)
            assert load_checkpoint(failure.path, with_state=True).progress["step"] == 2, (
                "the older one stands"
            )
            return "retry"

        finished, said = record(run, tmp_path / "run", on_save_failed=ask)
        assert finished.reason == "completed"
        assert [failure.step for failure in asked] == [4, 4, 4]
        assert said.of(SaveFailed) == asked
        assert "No space left on device" in asked[0].message
        assert said.losses == whole.losses
        assert all(event.seconds > 0 for event in said.of(CheckpointSaved) if event.kind == "last")
        assert [event.step for event in said.of(CheckpointSaved) if event.kind == "last"] == [
            2,
            4,
            6,
            7,
            7,
        ]

    @pytest.mark.parametrize("answer", ["stop", None])
    def test_told_to_stop_or_told_nothing_it_ends_and_the_older_one_stands(
        self, tmp_path: Path, monkeypatch, answer: str | None
    ) -> None:
        run = copy_run(checkpoint_steps=2, sample_size=0)
        Filling(monkeypatch, full=range(2, 99))
        options: dict[str, Any] = (
            {} if answer is None else {"on_save_failed": lambda failure: answer}
        )
        steps: list[int] = []

        def watch(event: TrainingEvent) -> None:
            if isinstance(event, StepDone):
                steps.append(event.step)

        with pytest.raises(StorageError, match="No space left on device"):
            record(run, tmp_path / "run", on_event=watch, **options)
        assert steps[-1] == 4, "it does not train on without being able to save"
        assert load_checkpoint(tmp_path / "run" / LAST, with_state=True).progress["step"] == 2
        monkeypatch.undo()
        finished, _ = record(run, tmp_path / "run", resume=True)
        assert finished.reason == "completed"


def test_discarding_removes_the_run_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = copy_run(keep_last=3, keep_best=2, checkpoint_steps=1)
    finished, said = record(
        run, folder, should_stop=lambda: "discard" if (folder / LAST).exists() else False
    )
    assert finished.reason == "discarded"
    assert said.events[-1] is finished
    assert not folder.exists()
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    record(run, folder, should_stop=lambda: "discard" if (folder / LAST).exists() else False)
    assert names(folder, "*") == ["notes.txt"]


def test_what_keeps_a_run_from_being_discarded_is_told(
    tmp_path: Path, permissions_withheld: Any
) -> None:
    (tmp_path / LAST).write_text("mine")
    with (
        permissions_withheld(tmp_path, 0o555),
        pytest.raises(StorageError, match="make the folder writable") as caught,
    ):
        discard_run(tmp_path)
    assert f"Cannot delete all files of the run in {tmp_path}: Permission denied" in str(
        caught.value
    )


@pytest.mark.slow
def test_pausing_saves_without_judging_and_the_run_goes_on_as_if_nothing_had_been(
    tmp_path: Path,
) -> None:
    run, folder = copy_run(num_epochs=2, sample_size=0), tmp_path / "run"
    _, whole = record(run, tmp_path / "whole")
    step = 0

    def note_step(event: TrainingEvent) -> None:
        nonlocal step
        if isinstance(event, StepDone):
            step = event.step

    paused, first = record(
        run, folder, on_event=note_step, should_stop=lambda: "pause" if step == 4 else False
    )
    assert (paused.reason, paused.step) == ("paused", 4)
    assert not first.of(checkpoint_manager.CheckpointSaved)[:-1]
    assert not paused.best_checkpoint.exists()
    _, second = record(run, folder, resume=True)
    assert [*first.losses, *second.losses] == whole.losses


@pytest.mark.slow
def test_patience_ends_a_run_that_improves_no_more(tmp_path: Path, monkeypatch) -> None:
    validate_to(monkeypatch, [3.0, 2.0, 2.5, 2.0, 1.0])
    run = copy_run(num_epochs=5, patience=2, sample_size=0)
    finished, _ = record(run, tmp_path / "run")
    assert (finished.reason, finished.epoch, finished.best_epoch) == ("patience", 4, 2)
    assert finished.step == 4 * 7
    again, said = record(run, tmp_path / "run", resume=True)
    assert (again.reason, said.losses) == ("patience", [])
    longer, said = record(
        copy_run(num_epochs=5, patience=3, sample_size=0), tmp_path / "run", resume=True
    )
    assert (longer.reason, longer.best_epoch, len(said.losses)) == ("completed", 5, 7)
