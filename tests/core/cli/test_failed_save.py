"""What the terminal says and does when a save fails."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.extensions.run_settings.toml_file import to_toml
from augenmerk.core.extensions.training.cli.stopping import (
    StopFlag,
    ask_after_failed_save,
    stop_on_interrupt,
)
from augenmerk.core.extensions.training.cli.train import TerminalProgress
from augenmerk.core.extensions.training.events import SaveFailed, StepDone, TrainingEvent
from augenmerk.core.run_files import LAST
from tests.builders import command_line
from tests.core.extensions.training.crashes import REPOSITORY, assert_same_run, half_written
from tests.core.extensions.training.runs import copy_run
from tests.core.extensions.training.test_checkpoint_manager import Filling

FAILURE = SaveFailed(
    Path("runs/mine/last.safetensors"), "Cannot write it: No space.", 40, "free some space"
)


class Terminal(io.StringIO):
    """A standard input with a person at it, who types these lines."""

    def isatty(self) -> bool:
        return True


def sit_down(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(to_toml(copy_run(num_epochs=1, checkpoint_steps=2, sample_size=0)))
    return path


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("\n", "retry"), ("yes\n", "retry"), ("stop\n", "stop"), (" S \n", "stop"), ("", "stop")],
)
def test_a_person_is_asked(monkeypatch: pytest.MonkeyPatch, typed: str, answer: str) -> None:
    sit_down(monkeypatch, typed)
    said: list[str] = []
    assert ask_after_failed_save(FAILURE, said.append, StopFlag()) == answer
    assert said[0] == FAILURE.message
    for words in ("waits at step 40", "Free some space and press Enter", "type stop", "--resume"):
        assert words in said[1]


def test_bytes_that_are_no_text_are_asked_about_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Latin(Terminal):
        def readline(self, *arguments: Any) -> str:
            return b"j\xe4\n".decode("utf-8")

    sit_down(monkeypatch, "")
    monkeypatch.setattr(sys, "stdin", Latin())
    assert ask_after_failed_save(FAILURE, lambda text: None, StopFlag()) == "retry"


def test_ctrl_c_at_the_question_means_no(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Terminal):
        def readline(self, *arguments: Any) -> str:
            signal.raise_signal(signal.SIGINT)
            return "\n"

    monkeypatch.setattr(sys, "stdin", Interrupted())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with stop_on_interrupt() as flag:
        assert ask_after_failed_save(FAILURE, lambda text: None, flag) == "stop"
        assert flag == StopFlag(), "afterwards Ctrl-C asks to stop again"


def test_a_ctrl_c_that_is_forwarded_again_at_the_question_is_no_second_one() -> None:
    with stop_on_interrupt(announce=False) as flag, flag.asking():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)


@pytest.mark.training
def test_enter_tries_again_until_there_is_room_and_nothing_is_lost(
    config: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["train", "--config", str(config), "--device", "cpu", "--out"]
    assert main([*arguments, str(tmp_path / "whole")]) == 0
    capsys.readouterr()
    sit_down(monkeypatch, "\n\n\n")
    Filling(monkeypatch, full=range(2, 5))
    assert main([*arguments, str(tmp_path / "run")]) == 0
    told = capsys.readouterr().err
    assert told.count("No space left on device") == 3
    assert told.count("Training waits at step 4.") == 3
    assert_same_run(tmp_path / "whole", tmp_path / "run")


@pytest.mark.training
def test_a_person_who_says_stop_can_go_on_later(
    config: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = command_line("train --config {} --device cpu --out {}", config, tmp_path / "run")
    with monkeypatch.context() as patch:
        sit_down(patch, "stop\n")
        Filling(patch, full=range(2, 99))
        assert main(arguments) == 2
    assert capsys.readouterr().err.count("Training waits at step 4.") == 1
    assert load_checkpoint(tmp_path / "run" / LAST, with_state=True).progress["step"] == 2
    assert main([*arguments, "--resume"]) == 0


@pytest.mark.training
def test_a_folder_that_was_made_read_only_is_not_blamed_on_the_disk(
    config: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    permissions_withheld: Callable[[Path, int], AbstractContextManager[None]],
) -> None:
    arguments, folder = ["train", "--config", str(config), "--device", "cpu"], tmp_path / "run"
    show = TerminalProgress.__call__
    with monkeypatch.context() as patch, ExitStack() as until_the_end:

        def show_and_forbid(self: TerminalProgress, event: TrainingEvent) -> None:
            show(self, event)
            if isinstance(event, StepDone) and event.step == 3:
                until_the_end.enter_context(permissions_withheld(folder, 0o555))

        patch.setattr(TerminalProgress, "__call__", show_and_forbid)
        assert main([*arguments, "--out", str(folder)]) == 2
    told = capsys.readouterr().err
    assert (
        "Training stops at step 4. Make the folder writable, then continue from the last checkpoint"
        in told
    )
    assert (
        "Permission denied. Nothing there was changed; make the folder writable or choose "
        "another folder" in told
    )
    assert "space" not in told
    assert main([*arguments, "--out", str(folder), "--resume"]) == 0


@pytest.mark.subprocess
@pytest.mark.skipif(os.name != "posix", reason="RLIMIT_FSIZE is of POSIX systems")
@pytest.mark.slow
def test_without_a_person_it_ends_says_what_to_do_and_keeps_the_older_file(
    config: Path, tmp_path: Path
) -> None:
    """A real refusal of the system, in a process of its own, as in a job on a server."""
    arguments = command_line("train --config {} --out {} --device cpu", config, tmp_path / "run")
    script = f"""
import sys
from augenmerk.core.extensions.training.cli import train
from augenmerk.core.cli.main import main
from augenmerk.core.extensions.training.events import StepDone
from tests.limits import limit_files

show = train.TerminalProgress.__call__

def show_and_limit(self, event):
    show(self, event)
    if isinstance(event, StepDone) and event.step == 3:
        limit_files(1000)

train.TerminalProgress.__call__ = show_and_limit
status = main({arguments!r})
limit_files(None)  # libraries import more when Python exits
sys.exit(status)
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert f"Cannot write {tmp_path / 'run' / LAST}: " in done.stderr
    assert "File too large" in done.stderr
    assert "Training stops at step 4. Allow larger files (ulimit -f), then continue" in done.stderr
    assert "from the last checkpoint with --resume" in done.stderr
    assert done.stderr.count("Cannot write") == 1
    assert "Traceback" not in done.stderr
    assert load_checkpoint(tmp_path / "run" / LAST, with_state=True).progress["step"] == 2
    assert half_written(tmp_path / "run") == []
