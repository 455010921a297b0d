"""A real training process that is killed at random moments and resumed until it ends."""

import csv
import dataclasses
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint
from augenmerk.core.extensions.run_settings.toml_file import read_toml
from augenmerk.core.run_files import HISTORY, LAST, RUN_SETTINGS
from tests.signals import use_default_signals

REPOSITORY = Path(__file__).resolve().parents[4]
DEADLINE_SECONDS = 120.0
SERVER = """
import json, os, sys
import torch._dynamo
import augenmerk.core.extensions.training.loop
from augenmerk.core.extensions.training.cli import train
from augenmerk.core.cli.main import main
from augenmerk.core.extensions.training.events import StepDone

show = train.TerminalProgress.__call__

def show_and_tell(self, event):
    show(self, event)
    words = f"{event.step} {event.loss.hex()}" if isinstance(event, StepDone) else type(event).__name__
    os.write(1, (words + "\\n").encode())

train.TerminalProgress.__call__ = show_and_tell
for line in sys.stdin:
    told, errors, *arguments = json.loads(line)
    pid = os.fork()
    if not pid:
        code = 70
        try:
            for number, path in ((1, told), (2, errors)):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            code = main(arguments)
        finally:
            sys.stderr.flush()
            os._exit(code)
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""
"""Starts `augenmerk train` in a new process whenever it is told to, with the slow imports already
done.

That process also writes a line for each event: of a step, its number and its loss to the last bit.
"""


class Processes:
    """Trains in processes, one at a time."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", SERVER]
        self._server = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=REPOSITORY,
            bufsize=0,
            preexec_fn=use_default_signals,
        )
        self._pid = 0

    def start(self, told: Path, errors: Path, *arguments: str) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps([str(told), str(errors), *arguments]).encode() + b"\n")
        self._pid = self._read_number()

    @property
    def has_ended(self) -> bool:
        return bool(select.select([self._server.stdout], [], [], 0)[0])

    def kill(self, number: int = signal.SIGKILL) -> None:
        if not self.has_ended:
            os.kill(self._pid, number)

    def wait(self) -> int:
        """The exit status, negative for a signal."""
        return self._read_number()

    def close(self) -> None:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.stdout.close()
        self._server.wait()

    def _read_number(self) -> int:
        assert self._server.stdout is not None
        return int(self._server.stdout.readline())


@dataclasses.dataclass
class Attempt:
    """One process that trained.

    Attributes:
        losses: of each step that it did, by step.
        was_killed: it did not come to its end.
        half_written: names of the temporary files that it left.
        seconds_before, seconds: from its first event to its first step, and from there to its end.
    """

    losses: dict[int, str]
    was_killed: bool
    half_written: list[str]
    seconds_before: float
    seconds: float


@dataclasses.dataclass(frozen=True)
class KillTime:
    """When to kill: so many seconds after the first event of a process, or after its first step."""

    seconds: float
    after_first_step: bool


def attempt(
    processes: Processes,
    config: Path,
    folder: Path,
    told: Path,
    kill_at: KillTime | None = None,
    *,
    with_signal: int = signal.SIGKILL,
) -> Attempt:
    """Trains in a process of its own, resuming what is there.

    Args:
        processes: where to.
        config: the settings.
        folder: of the run.
        told: where the process writes what it does.
        kill_at: None lets it come to its end.
        with_signal: how it is told to end then.
    """
    errors = told.with_suffix(".err")
    told.touch()
    processes.start(told, errors, *arguments_of(config, folder))
    began = wait_for_event(processes, told)
    waits_for_step = kill_at is None or kill_at.after_first_step
    first_step = wait_for_event(processes, told, of_a_step=True) if waits_for_step else began
    if kill_at is not None:
        time.sleep(kill_at.seconds)
        processes.kill(with_signal)
    code = processes.wait()
    ended = time.monotonic()
    was_killed = kill_at is not None and code == -signal.SIGKILL
    assert was_killed or code == 0, errors.read_text()
    return Attempt(
        losses_in(told), was_killed, half_written(folder), first_step - began, ended - first_step
    )


def arguments_of(config: Path, folder: Path) -> list[str]:
    """The words of the command that trains in `folder`, resuming what is there."""
    resuming = ["--resume"] if holds_a_run(folder) else []
    return ["train", "--config", str(config), "--out", str(folder), "--device", "cpu", *resuming]


def holds_a_run(folder: Path) -> bool:
    """Whether a run was begun in `folder`, so that one would say --resume."""
    return (folder / RUN_SETTINGS).exists()


def wait_for_event(processes: Processes, told: Path, *, of_a_step: bool = False) -> float:
    """The moment at which the process has told of its first event or step, or has ended."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not processes.has_ended and not (losses_in(told) if of_a_step else told.stat().st_size):
        assert time.monotonic() < deadline, "the training came to nothing"
        time.sleep(0.002)
    return time.monotonic()


def losses_in(told: Path) -> dict[int, str]:
    """Of each complete line about a step its number and its loss."""
    lines = told.read_text().split("\n")[:-1]
    return {
        int(step): loss
        for step, _, loss in (line.partition(" ") for line in lines)
        if step.isdecimal()
    }


def survive(
    processes: Processes, config: Path, folder: Path, whole: Attempt, kill_times: list[KillTime]
) -> list[Attempt]:
    """Kills a run at each of these times, resuming it in between, then lets it come to its end.

    After each kill, what stands in the folder is checked: complete, and no older than before.

    Returns:
        All attempts; the last one came to its end. Fewer than asked for were killed if the run
            ended before.
    """
    attempts: list[Attempt] = []
    known, num_done = set[int](), 0
    for number, kill_time in enumerate([*kill_times, None]):
        attempts.append(
            attempt(
                processes,
                config,
                folder,
                folder.with_name(f"{folder.name}-{number}.out"),
                kill_time,
            )
        )
        done = attempts[-1].losses
        assert done == {step: whole.losses[step] for step in done}, (
            "every step gives the loss that it gave before"
        )
        if done:
            assert min(done) == num_done + 1, "it goes on right after the last checkpoint"
        known |= set(done)
        if not attempts[-1].was_killed:
            break
        num_done = step_of_last_checkpoint(folder, at_least=num_done)
        assert num_done >= max(known, default=0) - checkpoint_steps(config), (
            "more than since then is lost"
        )
    assert known == set(whole.losses)
    return attempts


def checkpoint_steps(config: Path) -> int:
    return read_toml(config).training.checkpoint_steps


def step_of_last_checkpoint(folder: Path, at_least: int) -> int:
    """Where the folder's newest checkpoint stands, 0 if there is none; every one in it must be
    complete.
    """
    files = sorted(folder.rglob("[!.]*.safetensors"))
    for path in files:
        with safe_open(path, framework="numpy") as tensors:  # raises if it is cut off
            assert tensors.metadata()
    step = (
        int(load_checkpoint(folder / LAST, with_state=True).progress["step"])
        if (folder / LAST).exists()
        else 0
    )
    assert step >= at_least, "a checkpoint that stood is gone"
    return step


def half_written(folder: Path) -> list[str]:
    """Names of temporary files in `folder`."""
    return sorted(path.name for path in folder.rglob(".*"))


def assert_same_run(one: Path, other: Path) -> None:
    """Two folders hold the same run to the last bit: all but the times that it took."""
    assert files_of(one) == files_of(other)
    for path in sorted(one.rglob("*.safetensors")):
        beside = other / path.relative_to(one)
        if path.parent == one:
            assert_same_checkpoint(
                load_checkpoint(path, with_state=True), load_checkpoint(beside, with_state=True)
            )
        else:
            assert_same_frame(path, beside)
    assert epochs_of(one) == epochs_of(other)
    assert (one / RUN_SETTINGS).read_bytes() == (other / RUN_SETTINGS).read_bytes()


def files_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def assert_same_checkpoint(one: Checkpoint, other: Checkpoint) -> None:
    for first, second in ((one.weights, other.weights), (one.state, other.state)):
        assert first.keys() == second.keys()
        for name in first:
            assert torch.equal(first[name], second[name]), name
    assert without_seconds(one.progress) == without_seconds(other.progress)
    for records in zip(one.history, other.history, strict=True):
        first_epoch, second_epoch = (
            without_seconds(dataclasses.asdict(record)) for record in records
        )
        assert first_epoch == second_epoch


def assert_same_frame(one: Path, other: Path) -> None:
    """Two frames of the film show the same maps and the same translation."""
    headers, maps = [], []
    for path in (one, other):
        with safe_open(path, framework="numpy") as tensors:
            headers.append(json.loads(tensors.metadata()["augenmerk"]))
            maps.append({name: tensors.get_tensor(name).tobytes() for name in tensors.keys()})  # noqa: SIM118
    assert maps[0] == maps[1], f"{one.name} of the film"
    first, second = (
        header | {"translation": without_seconds(header["translation"])} for header in headers
    )
    assert first == second


def epochs_of(folder: Path) -> list[dict[str, Any]]:
    """The rows of `history.csv` as text."""
    with (folder / HISTORY).open(newline="") as file:
        return [without_seconds(row) for row in csv.DictReader(file)]


def without_seconds(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if "seconds" not in name}


def random_kill_times(rng: random.Random, whole: Attempt, number: int) -> list[KillTime]:
    """Anywhere: one in five before the first step, the others so that the run gets through all of
    them."""
    kill_times = []
    for _ in range(number):
        early = rng.random() < 0.2
        longest = whole.seconds_before if early else whole.seconds / (number + 1)
        kill_times.append(KillTime(rng.uniform(0, longest), after_first_step=not early))
    return kill_times
