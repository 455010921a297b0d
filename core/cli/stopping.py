"""Ctrl-C, a polite kill, the end of the terminal and the limit on processor time, while a model is trained."""

import contextlib
import dataclasses
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STOPPING = b"\nStopping after this step; what was learned is kept.\n"
ONCE = tuple(getattr(signal, name) for name in ("SIGHUP", "SIGXCPU") if hasattr(signal, name))
"""The terminal is closed, or the connection to it lost; the limit on processor time is reached, every second again.

Only the first of these counts, and none that is ignored, as `nohup` ignores SIGHUP. Windows has no such signals.
"""
ECHO_SECONDS = 0.25
"""The terminal, make and a wrapper may each forward the same Ctrl-C."""
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
def stop_on_interrupt(echo_seconds: float = ECHO_SECONDS, *, announce: bool = True) -> Iterator[StopFlag]:
    """Turns the first Ctrl-C (SIGINT, SIGTERM or one of `ONCE`) into a request to stop; a second one acts at once.

    Args:
        echo_seconds: further ones within this time count as the first; at least `ECHO_SECONDS`.
        announce: print that the process stops.
    """
    flag, first, echo = StopFlag(), 0.0, echo_seconds

    def request(number: int, frame: Any) -> None:
        nonlocal first, echo
        if flag.is_asking:
            flag.is_asking = False  # this is the answer; an echo of it is none
            raise KeyboardInterrupt
        if flag.requested:
            if number in ONCE or time.monotonic() - first < echo:
                return
            raise KeyboardInterrupt
        flag.requested, first = True, time.monotonic()
        if number != signal.SIGINT:
            echo = max(echo, ENDING_SECONDS)
        if announce:  # not by `print`: the bar may be in the middle of writing, and a stream is not entered twice
            with contextlib.suppress(OSError):  # the terminal may be gone
                os.write(2, STOPPING)
        time.sleep(ECHO_SECONDS)  # echoes arrive here: while PyTorch computes, Python would handle them too late

    heeded = [number for number in ONCE if signal.getsignal(number) != signal.SIG_IGN]
    numbers = [signal.SIGINT, signal.SIGTERM, *heeded]
    earlier = [signal.signal(number, request) for number in numbers]
    try:
        yield flag
    finally:
        for number, handler in zip(numbers, earlier, strict=True):
            signal.signal(number, handler)
