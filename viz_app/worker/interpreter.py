"""How threads share the Python interpreter."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH_INTERVAL_SECONDS = 0.0005
"""Seconds for which the training keeps the interpreter from the window, at most.

Python's default of 5 ms is noticeable, as one redrawing takes many turns.
"""


@contextmanager
def interpreter_shared_fairly() -> Iterator[None]:
    """Within the block, threads of the process take turns every `SWITCH_INTERVAL_SECONDS`.

    Small models spend their steps in the interpreter. With the default of 5 ms, typing during the
    copy task lagged by three quarters of a second (`python -m benchmarks gui_load`).
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SWITCH_INTERVAL_SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
