"""A limit on the size of files, as on a full disk, and no imports while a limit is in force.

Python would leave a truncated `.pyc` of a module that is first imported under such a limit, and later fail to load it.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from typing import Any


class ImportedUnderALimitError(Exception):
    """A module was first imported while a limit was in force: the test must import it earlier."""


class NoImports(MetaPathFinder):
    """Fails each import of a module that is not there yet. Put first on `sys.meta_path`."""

    def find_spec(self, fullname: str, *_: Any) -> None:
        """Raises `ImportedUnderALimitError`."""
        raise ImportedUnderALimitError(f"import {fullname} before the limit is set")


_no_imports = NoImports()
_wrote_no_bytecode = sys.dont_write_bytecode


def forbid_imports() -> None:
    """From now on, importing a module that is not there yet fails."""
    if _no_imports not in sys.meta_path:
        sys.meta_path.insert(0, _no_imports)


def limit_files(num_bytes: int | None) -> None:
    """No file of this process may grow beyond `num_bytes`, and nothing is imported; None lifts the limit."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    sys.dont_write_bytecode = num_bytes is not None or _wrote_no_bytecode  # of an import that has begun in a thread
    if num_bytes is None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        sys.meta_path.remove(_no_imports)
    else:
        forbid_imports()
        resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, most))


@contextmanager
def files_limited(num_bytes: int) -> Iterator[None]:
    """The same within a block."""
    limit_files(num_bytes)
    try:
        yield
    finally:
        limit_files(None)
