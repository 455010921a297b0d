"""Ctrl-C, and a polite kill, while a model is trained."""

import dataclasses
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STOPPING = b"\nStopping after this step; what was learned is kept.\n"


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
    """Turns the first Ctrl-C (or a polite kill) into a request to stop; the second acts at once.

    Args:
        echo_seconds: a second one within this time is taken for the first.
        announce: say that it was heard.
    """
    flag, first = StopFlag(), 0.0

    def request(number: int, frame: Any) -> None:
        nonlocal first
        if flag.is_asking:
            raise KeyboardInterrupt
        if flag.requested:
            if time.monotonic() - first < echo_seconds:
                return
            raise KeyboardInterrupt
        flag.requested, first = True, time.monotonic()
        if announce:  # not by `print`: the bar may be in the middle of writing, and a stream is not entered twice
            os.write(2, STOPPING)

    numbers = (signal.SIGINT, signal.SIGTERM)
    earlier = [signal.signal(number, request) for number in numbers]
    try:
        yield flag
    finally:
        for number, handler in zip(numbers, earlier, strict=True):
            signal.signal(number, handler)
