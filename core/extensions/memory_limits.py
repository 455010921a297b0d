"""The memory that this process may take at most, to refuse work that cannot fit before it starts.

No torch.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_CGROUP_USED = Path("/sys/fs/cgroup/memory.current")


@dataclass(frozen=True)
class MemoryLimit:
    """The tightest limit that is known.

    Attributes:
        num_bytes: left to take.
        reason: for people: "this machine has 16.5 GB".
    """

    num_bytes: int
    reason: str


def memory_limit() -> MemoryLimit | None:
    """The limit of the machine, its container, or this process (`ulimit -v`); None if none is
    known.

    All memory of the machine counts, including what other processes use at the moment.
    """
    known = [
        limit for limit in (_of_machine(), _of_container(), _of_process()) if limit is not None
    ]
    return min(known, key=lambda limit: limit.num_bytes, default=None)


def gigabytes(num_bytes: float) -> str:
    """A size for people, in units of 10⁹ bytes: "1.5 GB"."""
    return f"{num_bytes / 1e9:,.1f} GB"


def _of_machine() -> MemoryLimit | None:
    try:
        num_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    # Windows: a page file makes the limit soft anyway
    except (AttributeError, ValueError, OSError):
        return None
    return (
        MemoryLimit(num_bytes, f"this machine has {gigabytes(num_bytes)}")
        if num_bytes > 0
        else None
    )


def _of_container() -> MemoryLimit | None:
    num_bytes = _number_in(_CGROUP_LIMIT)
    return (
        None
        if num_bytes is None
        else MemoryLimit(num_bytes, f"this container may use {gigabytes(num_bytes)}")
    )


def _of_process() -> MemoryLimit | None:
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    left = max(0, limit - (_number_in(Path("/proc/self/statm")) or 0) * os.sysconf("SC_PAGE_SIZE"))
    return MemoryLimit(
        left, f"the limit of this process (ulimit -v {limit // 1024}) leaves {gigabytes(left)}"
    )


def available_memory() -> int | None:
    """Bytes that this process could take now without swapping; None if unknown.

    In contrast to `memory_limit`, memory that other processes use at the moment does not count.
    """
    limit = memory_limit()
    kilobytes = _number_in(Path("/proc/meminfo"), after="MemAvailable:")
    allowed, used = _number_in(_CGROUP_LIMIT), _number_in(_CGROUP_USED)
    in_container = None if allowed is None or used is None else max(0, allowed - used)
    known = [
        None if kilobytes is None else 1024 * kilobytes,
        in_container,
        None if limit is None else limit.num_bytes,
    ]
    return min((num_bytes for num_bytes in known if num_bytes is not None), default=None)


def _number_in(path: Path, after: str = "") -> int | None:
    """The first number in a file of the system, or the one after a word; None if there is none, as
    in “max”.
    """
    try:
        words = path.read_text(encoding="ascii").split()
        return int(words[words.index(after) + 1 if after else 0])
    except (OSError, ValueError, IndexError):
        return None
