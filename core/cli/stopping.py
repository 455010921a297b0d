"""Ctrl-C, a polite kill, and the end of the terminal, while a model is trained."""

import contextlib
import dataclasses
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STOPPING = b"\nStopping after this step; what was learned is kept.\n"
HANGUP = getattr(signal, "SIGHUP", None)
"""The terminal is closed, or the connection to it lost. Windows has no such signal."""
ENDING_SECONDS = 5.0
"""A session that ends sends SIGTERM and SIGHUP one after the other; within this time they are one request."""


@dataclasses.dataclass
class StopFlag:
    """Whether the user wants the run to end.

    Attributes:
        requested: Ctrl-C was pressed, or the process was asked to end.
        is_asking: a question waits for its answer; Ctrl-C raises `KeyboardInterrupt` there.
    """

    requested: bool = False
    is_asking: bool = False

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While a question waits for its answer, there is no step to be finished first."""
        self.is_asking = True
        try:
            yield
        finally:
            self.is_asking = False


@contextmanager
def stop_on_interrupt(echo_seconds: float = 0.0, *, announce: bool = True) -> Iterator[StopFlag]:
    """Turns the first Ctrl-C (SIGINT, SIGTERM or SIGHUP) into a request to stop; a second Ctrl-C or kill acts at once.

    Of SIGHUP only the first counts, and none if it was ignored, as `nohup` has it.

    Args:
        echo_seconds: a second one within this time is taken for the first.
        announce: say that it was heard.
    """
    flag, first, echo = StopFlag(), 0.0, echo_seconds

    def request(number: int, frame: Any) -> None:
        nonlocal first, echo
        if flag.is_asking:
            raise KeyboardInterrupt
        if flag.requested:
            if number == HANGUP or time.monotonic() - first < echo:
                return
            raise KeyboardInterrupt
        flag.requested, first = True, time.monotonic()
        if number != signal.SIGINT:
            echo = max(echo, ENDING_SECONDS)
        if announce:  # not by `print`: the bar may be in the middle of writing, and a stream is not entered twice
            with contextlib.suppress(OSError):  # the terminal may be gone
                os.write(2, STOPPING)

    numbers = [signal.SIGINT, signal.SIGTERM]
    if HANGUP is not None and signal.getsignal(HANGUP) != signal.SIG_IGN:
        numbers.append(HANGUP)
    earlier = [signal.signal(number, request) for number in numbers]
    try:
        yield flag
    finally:
        for number, handler in zip(numbers, earlier, strict=True):
            signal.signal(number, handler)
