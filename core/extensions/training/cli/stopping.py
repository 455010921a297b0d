"""Stop a training by Ctrl-C, SIGTERM, the end of the terminal, the limit on processor time, or
after a failed save.
"""

import contextlib
import dataclasses
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..events import AfterFailedSave, SaveFailed

STOPPING = b"\nStopping after this step and saving the model.\n"
ONCE = tuple(getattr(signal, name) for name in ("SIGHUP", "SIGXCPU") if hasattr(signal, name))
"""Signals for a closed or lost terminal, and for the limit on processor time, which repeats every
second.

Only the first counts. Ignored signals stay ignored, as SIGHUP with `nohup`. Windows does not have
them.
"""
ECHO_SECONDS = 0.25
"""Terminal, make and a wrapper may each forward the same Ctrl-C."""
ENDING_SECONDS = 5.0
"""The end of a session sends SIGTERM and SIGHUP; within this time they count as one request."""


@dataclasses.dataclass
class StopFlag:
    """The user's request to stop the run.

    Attributes:
        requested: whether Ctrl-C was pressed or the process received a signal to stop.
        is_asking: whether a question waits for its answer; Ctrl-C then raises `KeyboardInterrupt`.
    """

    requested: bool = False
    is_asking: bool = False

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Mark that a question waits for its answer, with no step to finish first."""
        self.is_asking = True
        try:
            yield
        finally:
            self.is_asking = False


@contextmanager
def stop_on_interrupt(
    echo_seconds: float = ECHO_SECONDS, *, announce: bool = True
) -> Iterator[StopFlag]:
    """Turn the first Ctrl-C (SIGINT, SIGTERM or one of `ONCE`) into a request to stop; a second one
    acts at once.

    Args:
        echo_seconds: signals within this time count as one; at least `ECHO_SECONDS`.
        announce: whether to print that the process stops.
    """
    flag = StopFlag()
    first = 0.0
    echo = echo_seconds

    def request(number: int, frame: Any) -> None:
        nonlocal first, echo
        if flag.is_asking:
            flag.is_asking = False  # this is the answer; its echo is not
            raise KeyboardInterrupt
        if flag.requested:
            if number in ONCE or time.monotonic() - first < echo:
                return
            raise KeyboardInterrupt
        flag.requested = True
        first = time.monotonic()
        if number != signal.SIGINT:
            echo = max(echo, ENDING_SECONDS)
        # not by `print`: the progress bar may be writing, and streams are not re-entrant
        if announce:
            with contextlib.suppress(OSError):  # the terminal may be gone
                os.write(2, STOPPING)
        # collect echoes here: Python handles them too late while PyTorch computes
        time.sleep(ECHO_SECONDS)

    heeded = [number for number in ONCE if signal.getsignal(number) != signal.SIG_IGN]
    numbers = [signal.SIGINT, signal.SIGTERM, *heeded]
    earlier = [signal.signal(number, request) for number in numbers]
    try:
        yield flag
    finally:
        for number, handler in zip(numbers, earlier, strict=True):
            signal.signal(number, handler)


def ask_after_failed_save(
    failure: "SaveFailed", say: Callable[[str], None], stop: StopFlag
) -> "AfterFailedSave":
    """Ask in the terminal whether to try again.

    Ctrl-C, the end of the input, "stop" and a missing terminal mean no.

    Args:
        failure: the failed save.
        say: prints a line above the progress bar.
        stop: of the run.
    """
    remedy = failure.remedy[:1].upper() + failure.remedy[1:]
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        say(
            f"Training stops at step {failure.step}. {remedy}, then continue from the last "
            "checkpoint with --resume."
        )
        return "stop"
    say(failure.message)
    say(
        f"Training waits at step {failure.step}. {remedy} and press Enter to try again, or type "
        "stop and continue later from the last checkpoint with --resume."
    )
    try:
        with stop.asking():
            answer = sys.stdin.readline()  # no newline at the end: the input is closed
    except KeyboardInterrupt:
        return "stop"
    except UnicodeDecodeError:  # neither an end of the input nor “stop”
        return "retry"
    return (
        "retry" if answer.endswith("\n") and answer.strip().lower() not in ("stop", "s") else "stop"
    )
