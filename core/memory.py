"""How much memory this process may take at most: so that what cannot fit is refused before it is begun. No torch."""

import ctypes
import os
import sys
from collections.abc import Callable
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


def resident_memory() -> int | None:
    """Bytes of this process that lie in memory; None if the system does not tell."""
    pages = _pages_of_process(1)
    return pages * os.sysconf("SC_PAGE_SIZE") if pages else None


class HeapTrimmer:
    """Now and then gives what is free in the heap back to the system, where much of it is.

    Matrix products of changing shapes leave small blocks that stay, oneDNN's kernels, among large ones that go; glibc
    then finds no gap for the next large one and takes more from the system. What later steps no longer touch of it is
    given back here; what they do touch is taken anew soon, so this limits the growth and does not undo it. Where
    nothing is known of the heap (not Linux, another C library), nothing is done.

    Args:
        trim: gives back what is free; None for glibc's way.
        resident: the memory of the process.
    """

    NUM_STEPS = 250
    """From one look to the next. The ten steps that follow take anew what was given back, which costs about a second of
    processor time: 0.3 % of 250 steps of `notebook`, 1.6 % of 50."""
    MAX_GROWTH = 800_000_000
    """Bytes above what was left the last time, up to which the heap is left alone."""

    def __init__(
        self, trim: Callable[[], object] | None = None, resident: Callable[[], int | None] = resident_memory
    ) -> None:
        self._trim = trim or _trim_of_glibc()
        self._resident = resident
        self._left = resident() or 0
        self._num_steps = 0

    def after_step(self) -> None:
        """To be called after each step, when its memory is free again."""
        self._num_steps += 1
        if self._num_steps % self.NUM_STEPS or self._trim is None:
            return
        if (self._resident() or 0) > self._left + self.MAX_GROWTH:
            self._trim()
            self._left = self._resident() or 0


def _trim_of_glibc() -> Callable[[], object] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # musl has none
        return None
    return lambda: trim(0)


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
    pages = _pages_of_process(0)
    return pages * os.sysconf("SC_PAGE_SIZE") if pages else 0


def _pages_of_process(column: int) -> int:
    """A column of /proc/self/statm: 0 for the address space, 1 for what lies in memory; 0 where there is none."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[column])
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
