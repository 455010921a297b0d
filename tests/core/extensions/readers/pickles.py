"""Pickles read in the process of the tests, where it is not the other process that is tested."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from augenmerk.core.extensions.readers import pickled


@contextmanager
def pickles_read_here() -> Iterator[None]:
    """Within the block no process is started to read a pickle, which takes two seconds to import
    torch."""

    def run_here(
        path: Path, folder: Path, time_limit_s: float, should_stop: Callable[[], bool]
    ) -> tuple[int, str]:
        with redirect_stdout(StringIO()) as printed:
            status = pickled.convert_for_parent(str(path), str(folder), str(time_limit_s))
        return status, printed.getvalue().strip()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pickled, "_run_child", run_here)
        patch.setattr(pickled, "_limit_this_process", lambda num_bytes, time_limit_s: None)
        yield
