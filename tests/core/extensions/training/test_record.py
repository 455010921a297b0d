"""What a run's folder says of how it came about, and the list of runs."""

import os
from pathlib import Path

import pytest
import torch

from augenmerk.core.extensions.run_settings.toml_file import read_toml
from augenmerk.core.extensions.training.checkpoint_manager import without_paths
from augenmerk.core.extensions.training.events import StepDone, TrainingEvent
from augenmerk.core.extensions.training.folder import list_runs, read_starts, summarize
from augenmerk.core.run_files import ENVIRONMENT, HISTORY, LAST, RUN_SETTINGS
from tests.core.extensions.training.runs import copy_run, record, text_run


@pytest.mark.training
def test_the_settings_on_the_disk_repeat_the_run_to_the_last_bit(tmp_path: Path) -> None:
    run = copy_run(num_epochs=1)
    _, first = record(run, tmp_path / "first")
    again = read_toml(tmp_path / "first" / RUN_SETTINGS)
    assert again == run
    _, second = record(again, tmp_path / "second")
    assert first.losses == second.losses
    assert (tmp_path / "first" / LAST).read_bytes() != b""


@pytest.mark.training
def test_each_start_says_with_what_it_ran_and_how_it_ended(tmp_path: Path) -> None:
    run, folder = copy_run(num_epochs=1), tmp_path / "run"
    record(run, folder, stop_after=3)
    record(run, folder, resume=True)
    first, second = read_starts(folder)
    assert first["packages"]["torch"] == torch.__version__
    assert (first["device"], first["threads"], first["precision"]) == (
        "cpu",
        torch.get_num_threads(),
        "float32",
    )
    assert (first["seed"], first["corpus"]) == (run.training.seed, "copy task")
    assert first["choices"][0] == "Computing in float32: the settings ask for it"
    assert (first["first_step"], first["reason"], first["last_step"]) == (0, "stopped", 3)
    assert (second["first_step"], second["reason"], second["last_step"]) == (3, "completed", 7)
    assert str(tmp_path) not in (folder / ENVIRONMENT).read_text()


def test_of_the_paths_on_a_command_line_only_the_last_part_is_kept() -> None:
    words = [
        "/home/anna/bin/augenmerk",
        "train",
        "--out",
        "/home/anna/runs/one/",
        "--data=C:\\Users\\anna\\data",
        "copy",
    ]
    assert without_paths(words) == ["…/augenmerk", "train", "--out", "…/one", "…/data", "copy"]


@pytest.mark.training
class TestOverview:
    def test_a_finished_run_is_summed_up(self, tmp_path: Path) -> None:
        run = text_run(num_epochs=2)
        finished, _ = record(run, tmp_path / "one")
        (summary,) = list_runs(tmp_path)
        assert (summary.preset, summary.state, summary.step) == (
            "notebook",
            "finished",
            finished.step,
        )
        assert summary.run == run
        assert len(summary.history) == 2
        assert summary.best is not None
        assert summary.best.validation_loss == finished.best_validation_loss
        assert summary.best_bleu == max(entry.bleu or 0 for entry in summary.history)
        assert list_runs(tmp_path / "one") == [summary]

    def test_running_stopped_and_interrupted_ones_are_told_apart(self, tmp_path: Path) -> None:
        states = []

        def look(event: TrainingEvent) -> None:
            if isinstance(event, StepDone):
                states.append(summarize(tmp_path / "run").state)

        run = copy_run(num_epochs=1, checkpoint_steps=2)
        record(run, tmp_path / "run", stop_after=1, on_event=look)
        assert states == ["running"]
        assert summarize(tmp_path / "run").state == "stopped"

        def crash(event: TrainingEvent) -> None:
            if isinstance(event, StepDone) and event.step == 5:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            record(run, tmp_path / "run", resume=True, on_event=crash)
        summary = summarize(tmp_path / "run")
        assert (summary.state, summary.step) == ("interrupted", 4)
        record(run, tmp_path / "run", resume=True)
        assert summarize(tmp_path / "run").state == "finished"

    @pytest.mark.slow
    def test_a_validation_within_an_epoch_counts_for_the_best_and_the_history_stays_that_of_the_epochs(
        self, tmp_path: Path
    ) -> None:
        limited, _ = record(text_run(max_steps=3, sample_size=4), tmp_path / "limited")
        stopped, _ = record(copy_run(), tmp_path / "stopped", stop_after=10)
        first, second = list_runs(tmp_path)
        assert first.history == ()
        assert first.best is not None
        assert first.best.validation_loss == limited.best_validation_loss
        assert first.best_bleu is not None
        assert [entry.step for entry in second.history] == [7]
        assert [entry.step for entry in second.validations] == [7, 10]
        assert second.best is not None
        assert second.best.validation_loss == stopped.best_validation_loss
        record(copy_run(), tmp_path / "stopped", resume=True)
        assert [entry.step for entry in summarize(tmp_path / "stopped").history] == [7, 14, 21]

    def test_only_a_run_that_has_not_come_to_its_end_can_be_resumed(self, tmp_path: Path) -> None:
        folder, able = tmp_path / "run", []

        def look(event: TrainingEvent) -> None:
            if isinstance(event, StepDone):
                able.append(summarize(folder).can_resume)

        record(copy_run(num_epochs=1), folder, stop_after=3, on_event=look)
        assert able == [False] * 3, "it is at work"
        assert summarize(folder).can_resume
        record(copy_run(num_epochs=1), folder, resume=True)
        assert not summarize(folder).can_resume
        record(copy_run(num_epochs=1), tmp_path / "other", stop_after=3)
        (tmp_path / "other" / LAST).unlink()
        assert not summarize(tmp_path / "other").can_resume

    def test_folders_that_hold_no_run_are_left_out_and_damaged_files_do_not_hide_one(
        self, tmp_path: Path
    ) -> None:
        record(copy_run(max_steps=1), tmp_path / "run")
        (tmp_path / "empty").mkdir()
        (tmp_path / "file.txt").touch()
        for name in (RUN_SETTINGS, ENVIRONMENT, HISTORY):
            (tmp_path / "run" / name).write_text("\x00 damaged")
        (summary,) = list_runs(tmp_path)
        assert (summary.preset, summary.step, summary.history) == ("?", 1, ())
        assert not summary.can_resume, "its settings are gone"
        (tmp_path / "run" / LAST).write_bytes(b"")
        assert list_runs(tmp_path)[0].step == 0
        assert list_runs(tmp_path / "nowhere") == []

    @pytest.mark.parametrize("text", ["5", "{}", '{"starts": 3}', '{"starts": [1]}', "[" * 100_000])
    def test_a_damaged_record_is_as_good_as_none(self, tmp_path: Path, text: str) -> None:
        (tmp_path / ENVIRONMENT).write_text(text)
        assert read_starts(tmp_path) == []


@pytest.mark.subprocess
def test_nothing_of_it_needs_torch_to_be_read() -> None:
    import subprocess
    import sys

    code = "import sys, augenmerk.core.extensions.training.folder; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ, check=False).returncode == 0
