"""A disk that is full: no file may become larger than so many bytes."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest


@pytest.fixture
def full_disk() -> Callable[[int], AbstractContextManager[None]]:
    """Within the block, writing more than so many bytes to a file fails, as the system says it."""
    resource = pytest.importorskip("resource", reason="only POSIX can limit how large files become")

    @contextmanager
    def limited(num_bytes: int) -> Iterator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return limited
