"""One folder, one training."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from augenmerk.core import folder_lock
from augenmerk.core.errors import TrainingError
from augenmerk.core.extensions.training.events import StepDone, TrainingEvent
from augenmerk.core.extensions.training.folder import locked
from augenmerk.core.folder_lock import LOCK, is_locked
from augenmerk.core.run_files import LAST
from tests.core.extensions.training.runs import copy_run, record

pytestmark = pytest.mark.subprocess

HOLD = """
import sys, time, pathlib
from augenmerk.core.extensions.training.folder import locked
with locked(pathlib.Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


@contextmanager
def other_process(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that holds the lock of `folder` until it is told to end."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield process
        if process.poll() is None:
            process.communicate()


@pytest.mark.training
def test_a_second_training_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    refusals = []

    def begin_another(event: TrainingEvent) -> None:
        if isinstance(event, StepDone) and event.step == 2:
            before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
            for resume in (False, True):
                with pytest.raises(TrainingError) as caught:
                    record(copy_run(), folder, resume=resume)
                refusals.append(str(caught.value))
            assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*")}

    finished, _ = record(copy_run(max_steps=3), folder, on_event=begin_another)
    assert finished.step == 3
    for message in refusals:
        assert (
            f"Another training is running in {folder} (process {os.getpid()} on "
            f"{socket.gethostname()})" in message
        )
        assert "choose another folder" in message
    assert len(refusals) == 2
    assert not (folder / LOCK).exists()


def test_another_process_is_kept_out_and_named(tmp_path: Path) -> None:
    with other_process(tmp_path) as process:
        assert is_locked(tmp_path)
        with pytest.raises(TrainingError, match=f"process {process.pid} on"), locked(tmp_path):
            pass
    assert not is_locked(tmp_path)
    with locked(tmp_path):
        assert is_locked(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is a signal of POSIX systems")
def test_the_lock_of_a_killed_process_is_taken_over_and_what_it_left_half_written_goes(
    tmp_path: Path,
) -> None:
    with other_process(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (tmp_path / LOCK).exists(), "it had no time to tidy up"
        (tmp_path / "film").mkdir()
        halves = [
            tmp_path / f".{LAST}.abc.part",
            tmp_path / ".tmpGB6tN8",
            tmp_path / "film" / ".tmpa1B2c3",
        ]
        others = [tmp_path / ".tmp-notes", tmp_path / ".tmpGB6tN8.txt", tmp_path / "tmpGB6tN8"]
        for path in (*halves, *others):
            path.write_bytes(b"half")
        assert not is_locked(tmp_path)
        with locked(tmp_path):
            assert not any(path.exists() for path in halves)
            assert all(path.exists() for path in others)
            assert f"process {os.getpid()}" in (tmp_path / LOCK).read_text()


@pytest.mark.skipif(os.name != "posix", reason="flock is of POSIX systems")
@pytest.mark.parametrize(
    ("owner", "is_free"), [("dead", True), ("alive", False), ("elsewhere", False), ("", True)]
)
def test_without_locks_of_the_system_a_living_owner_decides(
    tmp_path: Path, monkeypatch, owner: str, is_free: bool
) -> None:
    import fcntl

    def unsupported(*arguments: object) -> None:
        raise OSError(folder_lock._NO_LOCKS_HERE[0], "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    here = socket.gethostname()
    texts = {
        "dead": f"process {ended.pid} on {here}\n",
        "alive": f"process {os.getpid()} on {here}\n",
        "elsewhere": "process 1 on another-machine\n",
        "": "",
    }
    (tmp_path / LOCK).write_text(texts[owner])
    if is_free:
        with locked(tmp_path):
            assert f"process {os.getpid()}" in (tmp_path / LOCK).read_text()
    else:
        with pytest.raises(TrainingError, match="Another training"), locked(tmp_path):
            pass


def test_a_folder_that_came_to_nothing_is_removed(tmp_path: Path) -> None:
    with locked(tmp_path / "a" / "new"):
        pass
    assert not (tmp_path / "a" / "new").exists()
    with locked(tmp_path / "used"):
        (tmp_path / "used" / "something").touch()
    assert (tmp_path / "used" / "something").exists()
