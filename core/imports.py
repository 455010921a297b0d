"""Importing torch, which takes most of the time of a short command, and the window."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused(*, for_good: bool = False) -> Iterator[None]:
    """Nothing is searched for garbage meanwhile: to import makes half a million objects, and nearly all stay.

    Args:
        for_good: what is there at the end is never searched either, not even when the process ends, which takes half as
            long as the import itself. Only where nothing but modules is there so far.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if for_good:
            gc.freeze()
        if was_enabled:
            gc.enable()
