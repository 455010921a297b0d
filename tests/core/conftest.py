"""Fixtures for tests of the operating system, and quickly created translators."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.core.translators import copy_translator, subword_translator, word_translator  # noqa: F401

_NOBODY = 65534


@contextmanager
def _permissions_withheld(path: Path, mode: int) -> Iterator[None]:
    """Sets the mode of `path`, and acts as an ordinary user where the tests run as root, whom no
    mode stops."""
    before = stat.S_IMODE(path.stat().st_mode)
    path.chmod(mode)
    is_root = os.geteuid() == 0
    try:
        if is_root:
            try:
                os.seteuid(_NOBODY)
            except PermissionError:
                pytest.skip(
                    "runs as root and may not become an ordinary user: nothing is forbidden here"
                )
        yield
    finally:
        if is_root:
            os.seteuid(0)
        path.chmod(before)


@pytest.fixture
def permissions_withheld():
    """A context manager `permissions_withheld(path, mode)`: inside it the operating system really
    says no."""
    if os.name != "posix":
        pytest.skip("file modes are those of POSIX systems")
    return _permissions_withheld
