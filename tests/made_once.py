"""Files that take long to make: once in a test run, also where several processes run its tests."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Returns the folder `name`, filled by `make` in whichever process of the test run asks first.

    Tests must not change the folder.
    """
    is_one_of_several = "PYTEST_XDIST_WORKER" in os.environ
    root = factory.getbasetemp().parent if is_one_of_several else factory.getbasetemp()
    folder, done = root / f"once-{name}", root / f"once-{name}.done"
    with FileLock(root / f"once-{name}.lock"):
        if not done.exists():
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
