"""A disk that is really full: training waits, the older checkpoint stands, and with room again
nothing is lost.

In two ways: a file system of 12 MB, where one may mount it; and the system's limit on the size of
files, which every process may set for itself.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.config import RunConfig
from augenmerk.core.errors import StorageError
from augenmerk.core.extensions.training.events import SaveFailed, StepDone, TrainingEvent
from augenmerk.core.run_files import LAST
from tests.builders import run_process
from tests.core.extensions.training.crashes import assert_same_run, half_written
from tests.core.extensions.training.runs import copy_run, record

pytestmark = pytest.mark.subprocess

posix_only = pytest.mark.skipif(
    os.name != "posix", reason="mount and RLIMIT_FSIZE are of POSIX systems"
)


def tiny_run() -> RunConfig:
    """Saves every second step; a checkpoint is larger than a megabyte."""
    shape = {"width": 64, "feed_forward_width": 256}
    return copy_run(
        shape, num_epochs=2, checkpoint_steps=2, keep_last=2, keep_best=2, sample_size=0
    )


@contextmanager
def small_file_system(folder: Path) -> Iterator[None]:
    """Mounts one of 12 MB at `folder`, in memory; skips the test where one may not."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"there is no command to mount a file system of its own ({error})")
    if mounted.returncode:
        pytest.skip(f"may not mount a file system of its own ({mounted.stderr.strip()})")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(filler: Path) -> None:
    """Takes every byte that is left."""
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def at_step(step: int, act: Callable[[], None]) -> Callable[[TrainingEvent], None]:
    def on_event(event: TrainingEvent) -> None:
        if isinstance(event, StepDone) and event.step == step:
            act()

    return on_event


def check_that_room_is_waited_for(
    folder: Path, take_room: Callable[[], None], give_room: Callable[[], None]
) -> None:
    """The save at step 4 fails twice, then there is room."""
    whole = folder.with_name("whole")
    _, said = record(tiny_run(), whole)
    failures: list[SaveFailed] = []

    def ask(failure: SaveFailed) -> str:
        failures.append(failure)
        assert load_checkpoint(folder / LAST, with_state=True).progress["step"] == 2, (
            "the older one stands"
        )
        assert half_written(folder) == []
        if len(failures) == 2:
            give_room()
        return "retry"

    finished, resumed = record(
        tiny_run(), folder, on_event=at_step(3, take_room), on_save_failed=ask
    )
    assert finished.reason == "completed"
    assert [(failure.path, failure.step) for failure in failures] == [
        (folder / LAST, 4),
        (folder / LAST, 4),
    ]
    assert f"Cannot write {folder / LAST}" in failures[0].message
    assert re.search(
        "(free some space|allow larger files.*) or choose another folder", failures[0].message
    )
    assert resumed.losses == said.losses
    assert_same_run(whole, folder)


def check_that_an_ended_run_goes_on(
    folder: Path, take_room: Callable[[], None], give_room: Callable[[], None]
) -> None:
    """The save at step 4 fails, the run ends, and later there is room."""
    whole = folder.with_name("whole")
    _, said = record(tiny_run(), whole)
    with pytest.raises(StorageError, match=r"Cannot write .*last\.safetensors"):
        record(
            tiny_run(),
            folder,
            on_event=at_step(3, take_room),
            on_save_failed=lambda failure: "stop",
        )
    assert load_checkpoint(folder / LAST, with_state=True).progress["step"] == 2
    assert half_written(folder) == []
    # still no room: it says so before it trains
    with pytest.raises(StorageError, match="Cannot write"):
        record(
            tiny_run(), folder, resume=True, on_event=at_step(3, lambda: pytest.fail("it trains"))
        )
    assert load_checkpoint(folder / LAST, with_state=True).progress["step"] == 2
    give_room()
    _, resumed = record(tiny_run(), folder, resume=True)
    assert resumed.losses == said.losses[2:]
    assert_same_run(whole, folder)


@pytest.mark.slow
@pytest.mark.training
@pytest.mark.parametrize("name", ["history.csv", "best.safetensors"])
def test_the_steps_are_kept_where_another_file_cannot_be_written(tmp_path: Path, name: str) -> None:
    settings = copy_run(num_epochs=2, checkpoint_steps=1_000)
    whole, folder = tmp_path / "whole", tmp_path / "run"
    _, said = record(settings, whole)

    def put_in_the_way() -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).mkdir()

    with pytest.raises(StorageError, match=f"Cannot write .*{name}"):
        record(
            settings,
            folder,
            on_event=at_step(2, put_in_the_way),
            on_save_failed=lambda failure: "stop",
        )
    num_steps = int(load_checkpoint(folder / LAST, with_state=True).progress["step"])
    assert num_steps > 2
    (folder / name).rmdir()
    _, resumed = record(settings, folder, resume=True)
    assert resumed.losses == said.losses[num_steps:]
    assert_same_run(whole, folder)


CHECKS = {
    check.__name__: check
    for check in (check_that_room_is_waited_for, check_that_an_ended_run_goes_on)
}


@pytest.mark.training
@posix_only
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.slow
def test_a_full_file_system_destroys_nothing_and_delays_the_run_only(
    tmp_path: Path, check: str
) -> None:
    disk = tmp_path / "disk"
    with small_file_system(disk):
        filler = disk / "filler"
        CHECKS[check](disk / "run", lambda: fill(filler), filler.unlink)


@posix_only
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.slow
def test_a_limit_on_files_destroys_nothing_and_delays_the_run_only(
    tmp_path: Path, check: str
) -> None:
    """In a process of its own: the limit holds for everything that a process writes."""
    command = f"""
import pathlib
from tests.core.extensions.training.test_full_disk import CHECKS
from tests.limits import limit_files
CHECKS[{check!r}](pathlib.Path({str(tmp_path / "run")!r}), lambda: limit_files(40), lambda: limit_files(None))
"""
    done = run_process([sys.executable, "-c", command])
    assert done.returncode == 0, done.stderr
