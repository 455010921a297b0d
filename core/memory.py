"""How much memory this process may take at most: so that what cannot fit is refused before it is begun. No torch."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

_OUT_OF_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "not enough memory",
    "cannot allocate memory",
    "bad_alloc",
    "could not create a memory object",
    "can't start new thread",
    "failed to map segment",  # of a library
    "resource temporarily unavailable",  # a thread, whose stack is memory
)
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_CGROUP_USED = Path("/sys/fs/cgroup/memory.current")


@dataclass(frozen=True)
class MemoryLimit:
    """The tightest limit that is known.

    Attributes:
        num_bytes: that may still be taken.
        reason: for people: "this machine has 16.5 GB".
    """

    num_bytes: int
    reason: str


def memory_limit() -> MemoryLimit | None:
    """Of the machine, its container, or this process (`ulimit -v`); None if none is known.

    The memory of the machine counts whole, whatever others use of it at the moment.
    """
    known = [limit for limit in (_of_machine(), _of_container(), _of_process()) if limit is not None]
    return min(known, key=lambda limit: limit.num_bytes, default=None)


def gigabytes(num_bytes: float) -> str:
    """For people, in units of 10⁹ bytes: "1.5 GB"."""
    return f"{num_bytes / 1e9:,.1f} GB"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the error means that the machine or the device is out of memory."""
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in _OUT_OF_MEMORY)


def _of_machine() -> MemoryLimit | None:
    try:
        num_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows: a page file makes the limit soft anyway
        return None
    return MemoryLimit(num_bytes, f"this machine has {gigabytes(num_bytes)}") if num_bytes > 0 else None


def _of_container() -> MemoryLimit | None:
    try:
        num_bytes = int(_CGROUP_LIMIT.read_text(encoding="ascii"))
    except (OSError, ValueError):  # "max", or no such file
        return None
    return MemoryLimit(num_bytes, f"this container may use {gigabytes(num_bytes)}")


def _of_process() -> MemoryLimit | None:
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    left = max(0, limit - _address_space())
    return MemoryLimit(left, f"the limit of this process (ulimit -v {limit // 1024}) leaves {gigabytes(left)}")


def _address_space() -> int:
    """What this process has taken of its address space; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def available_memory() -> int | None:
    """Bytes that this process could take now without swapping; None if the system does not tell.

    Other than `memory_limit`, it counts what others use at the moment.
    """
    limit = memory_limit()
    known = [_free_on_machine(), _left_in_container(), None if limit is None else limit.num_bytes]
    return min((each for each in known if each is not None), default=None)


def _free_on_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _left_in_container() -> int | None:
    try:
        used = int(_CGROUP_USED.read_text(encoding="ascii"))
        return max(0, int(_CGROUP_LIMIT.read_text(encoding="ascii")) - used)
    except (OSError, ValueError):  # "max", or no such file
        return None
