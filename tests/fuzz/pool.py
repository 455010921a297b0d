"""Tries damaged files in processes of their own, which have limits of time and memory and are
watched. For Linux.

A process is forked from one that has everything imported, and tries one file after another. What
ends it, a signal or a limit, is the finding of the file that it was trying; another process goes on
after that file.
"""

import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.folders import damaged_folder
from tests.fuzz.mutants import mutant
from tests.fuzz.nasty import damaged_bytes, damaged_json, damaged_text, to_json
from tests.fuzz.trials import outcome_of
from tests.limits import forbid_imports

MAX_SECONDS, MAX_WAITING_SECONDS = 20, 300
"""Of computing, and altogether: beside other busy processes a file may take ten times as long as it
computes."""
MAX_BYTES = 2_000_000_000
CHUNK = 25
TEXTS = ("experiment", "config", "history")
_WATCHED = (
    *(
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.spawn",
        "os.fork",
        "os.forkpty",
        "pty.spawn",
        "subprocess.Popen",
    ),
    *(
        "pickle.find_class",
        "code.__new__",
        "socket.connect",
        "socket.bind",
        "socket.getaddrinfo",
        "ctypes.dlopen",
    ),
)


@dataclass(frozen=True)
class Task:
    """One damaged file to be: of which kind, made from which file by which seed."""

    kind: str
    base: Path
    seed: str

    def content(self) -> bytes:
        """The damaged file."""
        return damaged(self.kind, self.base.read_bytes(), self.seed)


@dataclass(frozen=True)
class Result:
    """What became of it: "taken", "refused", or else a finding; seconds, the largest memory, and
    what was seen.
    """

    task: Task
    outcome: str
    seconds: float
    num_bytes: int
    detail: str = ""


def damaged(kind: str, data: bytes, seed: str) -> bytes:
    """A damaged copy of a file of this kind."""
    if kind == "marian-folder":
        return damaged_folder(data, seed)
    if kind not in (*TEXTS, "metrics"):
        return mutant(data, seed)
    rng = Random(seed)
    if kind == "metrics" or rng.random() < 0.2:
        return damaged_bytes(data, rng)
    if kind == "experiment" and rng.random() < 0.7:
        return to_json(damaged_json(json.loads(data), rng)).encode()
    return damaged_text(data.decode(), rng).encode("utf-8", "surrogatepass")


def run_tasks(tasks: Iterable[Task], num_jobs: int) -> Iterator[Result]:
    """The results, in no order."""
    chunks = _chunks(list(tasks))
    running: dict[int, tuple[list[Task], Path]] = {}
    with tempfile.TemporaryDirectory(prefix="augenmerk-fuzz-") as folder:
        while chunks or running:
            while chunks and len(running) < num_jobs:
                chunk = chunks.pop()
                scratch = Path(tempfile.mkdtemp(dir=folder))
                running[_fork(chunk, scratch)] = (chunk, scratch)
            process, status = os.wait()
            chunk, scratch = running.pop(process)
            lines = (
                (scratch / "results").read_text().splitlines()
                if (scratch / "results").exists()
                else []
            )
            for task, line in zip(chunk, lines, strict=False):
                yield Result(task, **json.loads(line))
            if len(lines) < len(chunk):
                yield Result(
                    chunk[len(lines)], _ended_by(status), MAX_SECONDS, 0, f"status {status}"
                )
                if rest := chunk[len(lines) + 1 :]:
                    chunks.append(rest)


def _chunks(tasks: list[Task]) -> list[list[Task]]:
    return [tasks[first : first + CHUNK] for first in range(0, len(tasks), CHUNK)][::-1]


def _ended_by(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return (
            "hang"
            if number in (signal.SIGALRM, signal.SIGPROF, signal.SIGXCPU)
            else f"killed by signal {number}"
        )
    return f"exit {os.WEXITSTATUS(status)}"


def _fork(chunk: list[Task], scratch: Path) -> int:
    process = os.fork()
    if process:
        return process
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        limit = _memory("VmSize") + MAX_BYTES
        forbid_imports()
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        with (scratch / "results").open("w") as results, (scratch / "output").open("w") as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            for task in chunk:
                results.write(json.dumps(_try(task, scratch)) + "\n")
                results.flush()
        os._exit(0)
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(99)


def _try(task: Task, scratch: Path) -> dict[str, Any]:
    path = scratch / f"mutant{task.base.suffix}"
    path.write_bytes(task.content())
    _forget_peak()
    before, began = _memory("VmRSS"), time.monotonic()
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, MAX_WAITING_SECONDS)
    foreign: BaseException | None = None
    with _Watch() as watch:
        try:
            outcome = outcome_of(task.kind, path)
        except BaseException as error:
            foreign = error
            outcome = f"foreign {type(error).__name__}"
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    detail = (
        "" if foreign is None else "".join(traceback.format_exception(foreign, limit=-6))[-3_000:]
    )
    peak = max(0, _memory("VmHWM") - before)
    if watch.events:
        outcome, detail = "execution", "; ".join(watch.events)[:3_000]
    elif peak > MAX_BYTES:
        outcome = "memory"
    return {
        "outcome": outcome,
        "seconds": round(time.monotonic() - began, 3),
        "num_bytes": peak,
        "detail": detail,
    }


class _Watch:
    """Notices what a file that is only data must never cause.

    One hook for the life of the process.
    """

    active: "_Watch | None" = None
    is_hooked = False

    def __enter__(self) -> "_Watch":
        self.events: list[str] = []
        if not _Watch.is_hooked:
            _Watch.is_hooked = True
            sys.addaudithook(_Watch._hear)
        _Watch.active = self
        return self

    def __exit__(self, *_: object) -> None:
        _Watch.active = None

    @staticmethod
    def _hear(event: str, arguments: tuple[Any, ...]) -> None:
        watch = _Watch.active
        if watch is None:
            return
        if event in _WATCHED or (event in ("exec", "compile") and not _is_import()):
            watch.events.append(f"{event} {str(arguments)[:300]}")


def _is_import() -> bool:
    """Whether an installed module is being imported, which executes what is in it."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _memory(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


def _forget_peak() -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def summary(results: Iterable[Result]) -> Counter[str]:
    """How often each outcome came."""
    return Counter(result.outcome for result in results)
