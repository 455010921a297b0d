"""Limits on file size, as on a full disk, during which imports are forbidden.

Python would write a truncated `.pyc` of a module first imported under such a limit, and later fail
to load it.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from typing import Any


class ImportedUnderALimitError(Exception):
    """A module was first imported under a limit: the test must import it earlier."""


class NoImports(MetaPathFinder):
    """Fails imports of new modules, as the first entry of `sys.meta_path`."""

    def find_spec(self, fullname: str, *_: Any) -> None:
        """Raises `ImportedUnderALimitError`."""
        raise ImportedUnderALimitError(f"import {fullname} before the limit is set")


_no_imports = NoImports()
_wrote_no_bytecode = sys.dont_write_bytecode


def forbid_imports() -> None:
    """Make imports of new modules fail from now on."""
    if _no_imports not in sys.meta_path:
        sys.meta_path.insert(0, _no_imports)


def limit_files(num_bytes: int | None) -> None:
    """Limit the size of files of this process to `num_bytes` and forbid imports; None lifts the
    limit.
    """
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    # of an import that has begun in a thread
    sys.dont_write_bytecode = num_bytes is not None or _wrote_no_bytecode
    if num_bytes is None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        sys.meta_path.remove(_no_imports)
    else:
        forbid_imports()
        resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, most))


@contextmanager
def files_limited(num_bytes: int) -> Iterator[None]:
    """Apply `limit_files` inside a block."""
    limit_files(num_bytes)
    try:
        yield
    finally:
        limit_files(None)
