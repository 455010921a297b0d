"""A real training process is killed at random moments: nothing is lost but the steps since the last
checkpoint.

Three times in a row of tests; `make soak` sets AUGENMERK_KILLS=100.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from augenmerk.core.errors import CheckpointError
from augenmerk.core.extensions.run_settings.toml_file import to_toml
from augenmerk.core.extensions.training.events import (
    CheckpointSaved,
    Noted,
    StepDone,
    TrainingEvent,
    TrainingStarted,
)
from augenmerk.core.extensions.training.folder import summarize
from augenmerk.core.folder_lock import LOCK
from augenmerk.core.run_files import BEST, ENVIRONMENT, LAST
from tests.core.extensions.training.crashes import (
    KillTime,
    Processes,
    arguments_of,
    assert_same_run,
    attempt,
    half_written,
    losses_in,
    random_kill_times,
    step_of_last_checkpoint,
    survive,
    wait_for_event,
)
from tests.core.extensions.training.runs import copy_run, record

NUM_KILLS = int(os.environ.get("AUGENMERK_KILLS", "3"))
KILLS_OF_A_RUN = 3 if NUM_KILLS <= 3 else 10
SEED = int(os.environ.get("AUGENMERK_SEED", "4"))


@pytest.fixture
def processes() -> Iterator[Processes]:
    with contextlib.closing(Processes()) as started:
        yield started


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is a signal of POSIX systems")
@pytest.mark.timeout(300 + 20 * NUM_KILLS)
def test_a_run_killed_at_random_moments_ends_as_if_nothing_had_been(
    tmp_path: Path, processes: Processes
) -> None:
    config, whole = tmp_path / "run.toml", tmp_path / "whole"
    run = copy_run(
        {"width": 32}, num_epochs=12, checkpoint_steps=3, keep_last=3, keep_best=2, sample_size=5
    )
    assert run.model.dropout > 0
    config.write_text(to_toml(run))
    uninterrupted = attempt(processes, config, whole, tmp_path / "whole.out")
    assert len(uninterrupted.losses) == 12 * 7
    rng = random.Random(SEED)
    num_kills = num_within_a_save = num_lost = 0
    for number in range(10 * NUM_KILLS):
        folder = tmp_path / f"run-{number}"
        kill_times = random_kill_times(
            rng, uninterrupted, min(KILLS_OF_A_RUN, NUM_KILLS - num_kills)
        )
        attempts = survive(processes, config, folder, uninterrupted, kill_times)
        num_kills += sum(one.was_killed for one in attempts)
        num_within_a_save += sum(bool(one.half_written) for one in attempts)
        num_lost += sum(len(one.losses) for one in attempts) - len(uninterrupted.losses)
        assert not half_written(folder)
        assert not (folder / LOCK).exists()
        assert_same_run(whole, folder)
        starts = json.loads((folder / ENVIRONMENT).read_text())["starts"]
        assert "last_step" in starts[-1]
        assert len(starts) <= len(attempts)
        shutil.rmtree(folder)
        print(
            f"run {number + 1}: {num_kills} kills, {num_within_a_save} within a save, {num_lost} "
            "steps done again"
        )
        if num_kills >= NUM_KILLS:
            break
    assert num_kills >= NUM_KILLS
    assert num_within_a_save or NUM_KILLS < 50, (
        "so many kills and none of them while a file was written"
    )


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.skipif(os.name != "posix", reason="these are signals of POSIX systems")
@pytest.mark.timeout(300 + 20 * NUM_KILLS)
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_run_told_to_end_at_random_moments_does_no_step_twice(
    tmp_path: Path, processes: Processes, name: str
) -> None:
    number = getattr(signal, name)
    config, whole = tmp_path / "run.toml", tmp_path / "whole"
    run = copy_run({"width": 32}, num_epochs=12, checkpoint_steps=1000, sample_size=0)
    config.write_text(to_toml(run))
    uninterrupted = attempt(processes, config, whole, tmp_path / "whole.out")
    rng = random.Random(SEED)
    for round_number in range(max(1, NUM_KILLS // 20)):
        folder = tmp_path / f"run-{round_number}"
        done: dict[int, str] = {}
        for index in range(3):
            kill_time = KillTime(rng.uniform(0, uninterrupted.seconds / 4), after_first_step=True)
            told = tmp_path / f"run-{round_number}-{index}.out"
            one = attempt(processes, config, folder, told, kill_time, with_signal=number)
            assert not one.was_killed
            assert done.keys().isdisjoint(one.losses), "a step was done again"
            done |= one.losses
            assert one.half_written == []
        assert done == {step: uninterrupted.losses[step] for step in done}
        assert sorted(done) == list(range(1, len(done) + 1))
        print(f"run {round_number + 1}: {len(done)} steps in three parts, none of them twice")


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.skipif(os.name != "posix", reason="elsewhere a folder in use cannot be removed")
@pytest.mark.timeout(300 + 20 * NUM_KILLS)
def test_a_run_whose_folder_is_removed_at_random_moments_comes_to_its_end(
    tmp_path: Path, processes: Processes
) -> None:
    config, whole = tmp_path / "run.toml", tmp_path / "whole"
    run = copy_run({"width": 32}, num_epochs=12, checkpoint_steps=3, sample_size=0)
    config.write_text(to_toml(run))
    uninterrupted = attempt(processes, config, whole, tmp_path / "whole.out")
    rng = random.Random(SEED)
    for number in range(max(1, NUM_KILLS // 10)):
        folder, told = tmp_path / f"run-{number}", tmp_path / f"run-{number}.out"
        told.touch()
        processes.start(told, told.with_suffix(".err"), *arguments_of(config, folder))
        wait_for_event(processes, told, of_a_step=True)
        time.sleep(rng.uniform(0, 0.8 * uninterrupted.seconds))
        shutil.rmtree(folder, ignore_errors=True)
        assert processes.wait() == 0, told.with_suffix(".err").read_text()
        assert losses_in(told) == uninterrupted.losses
        assert step_of_last_checkpoint(folder, at_least=0) == max(uninterrupted.losses)
        assert half_written(folder) == []
        assert not (folder / LOCK).exists()
        assert summarize(folder).state == "finished"
        print(f"run {number + 1}: its folder was removed, and it came to its end")


@pytest.mark.training
class TestBeforeTheFirstCheckpoint:
    """A crash so early leaves nothing to go on from; to resume is to begin anew then, and no folder
    is a dead end.
    """

    RUN = copy_run(num_epochs=2, sample_size=0)

    def crashed(self, folder: Path, moment: Callable[[TrainingEvent], bool]) -> None:
        def crash(event: TrainingEvent) -> None:
            if moment(event):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            record(self.RUN, folder, on_event=crash)
        assert not (folder / LAST).exists()

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "moment",
        [
            lambda event: isinstance(event, TrainingStarted),
            lambda event: isinstance(event, StepDone) and event.step == 3,
            lambda event: isinstance(event, CheckpointSaved) and event.kind == "best",
        ],
        ids=["before the first step", "in the first epoch", "after the best one was saved"],
    )
    def test_to_resume_is_to_begin_anew(
        self, tmp_path: Path, moment: Callable[[TrainingEvent], bool]
    ) -> None:
        self.crashed(tmp_path / "run", moment)
        _, said = record(self.RUN, tmp_path / "run", resume=True)
        (note,) = said.of(Noted)
        assert "ended before its first checkpoint, so it starts again" in note.text
        record(self.RUN, tmp_path / "whole")
        assert_same_run(tmp_path / "whole", tmp_path / "run")

    def test_with_other_settings_it_is_refused(self, tmp_path: Path) -> None:
        self.crashed(tmp_path / "run", lambda event: isinstance(event, StepDone))
        before = {
            path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()
        }
        with pytest.raises(CheckpointError, match="seed was 1234 and is now 5"):
            record(copy_run(num_epochs=2, sample_size=0, seed=5), tmp_path / "run", resume=True)
        assert before == {
            path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()
        }

    @pytest.mark.parametrize("max_steps", [3, 14])
    def test_a_checkpoint_that_someone_removed_is_missed(
        self, tmp_path: Path, max_steps: int
    ) -> None:
        """The best model of that run must not be overwritten by beginning anew."""
        record(copy_run(num_epochs=2, sample_size=0, max_steps=max_steps), tmp_path / "run")
        (tmp_path / "run" / LAST).unlink()
        best = (tmp_path / "run" / BEST).read_bytes()
        with pytest.raises(
            CheckpointError, match=r"There is nothing to resume from: .*last\.safetensors"
        ):
            record(self.RUN, tmp_path / "run", resume=True)
        assert (tmp_path / "run" / BEST).read_bytes() == best
