"""Settings of a program's own process: threads, kernels, heap, garbage collector, streams.

Only entry points call these functions. Importing the library changes nothing: the process belongs
to the program that imports it. Settings of the user have precedence. torch is imported only where a
docstring says so.

Threads: PyTorch's threads meet at the end of each product. On Linux they are GNU OpenMP's, which by
default spin there 300,000 times before they sleep, some ten milliseconds. On an idle machine that
costs nothing. Where other processes need the same cores, a thread spins away the time of the thread
it waits for. A few thousand times are as fast on an idle machine, and several times faster on a
busy one (`python -m benchmarks busy`). If another process is computing when this one starts, not
spinning at all is faster still: one thread whose core is shared holds up the others. OpenMP reads
`GOMP_SPINCOUNT` once, when torch is imported, so `tune_process` comes before that. On Windows and
macOS, PyTorch brings Intel's or LLVM's OpenMP with `KMP_BLOCKTIME` instead (200 ms by default),
which has not been measured and is unchanged.

Kernels: oneDNN makes a kernel for each shape of a product and keeps 1,024 of them. Batches of
random sentences have as many shapes, so a training kept making new ones. They lie between the large
blocks of memory that each step takes and returns, and no larger block fits into the gaps: memory
grew for hours. 64 kernels, as many as a step of few shapes reuses, avoid most of that at no cost in
time: making one takes 0.3 ms.
"""

import contextlib
import gc
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .quantities import counted

SPIN_COUNT = 20_000
BUSY_SPIN_COUNT = 0
"""Spin count of a process that starts on a busy machine.

On an idle one it would take a fifth more time.
"""
SPIN_VARIABLE = "GOMP_SPINCOUNT"
POLICY_VARIABLE = "OMP_WAIT_POLICY"
NUMBER_VARIABLE = "OMP_NUM_THREADS"
LOADS = Path("/proc/loadavg")
KERNELS = 64
"""Kernels that oneDNN keeps.

A step of `copy-task-small`, always of the same shapes, uses 54; with half as many it takes a third
longer.
"""
KERNELS_VARIABLE = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
_M_ARENA_MAX = -8
"""A parameter of mallopt, from glibc's malloc.h."""
_STREAMS = (("stdin", os.O_RDONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w"))
"""Names of streams, and the modes to open the null device with in their place.

Input is at its end and messages are lost. Results cannot be written, which is reported like a full
disk, because a command without output has not done its job.
"""

logger = logging.getLogger(__name__)
_notes: dict[str, str] = {}


def tune_process() -> None:
    """Sets how this process computes, for the best speed next to other busy processes.

    For programs, not libraries.

    Call it once, before torch is imported. It sets the environment variables `GOMP_SPINCOUNT` (on
    Linux) and `ONEDNN_PRIMITIVE_CACHE_CAPACITY` for this process and its children, unless the user
    has set them, and logs what it chose. If torch is already loaded on Linux, its threads cannot be
    changed; then torch computes on one thread, unless a number was set earlier. Later calls change
    nothing.
    """
    if "spinning" not in _notes:
        logger.info(_chosen_kernels())
        _notes["spinning"] = _chosen_spinning()
        logger.info(_notes["spinning"])


def spinning() -> str:
    """The way threads wait for each other in this process, with the reason, for the log."""
    return (
        _notes.get("spinning")
        or "Waiting threads spin as PyTorch's OpenMP has it: `tune_process` was not called"
    )


def compute_on(num_threads: int) -> None:
    """Sets the number of threads of the calling thread, unless OMP_NUM_THREADS is set.

    Imports torch.
    """
    import torch

    if NUMBER_VARIABLE not in os.environ:
        torch.set_num_threads(num_threads)
        logger.info("Computing on %d threads", num_threads)


def _chosen_kernels() -> str:
    if KERNELS_VARIABLE in os.environ:
        return f"oneDNN keeps {os.environ[KERNELS_VARIABLE]} kernels, as {KERNELS_VARIABLE} says"
    if "torch" in sys.modules:
        return "oneDNN keeps its default number of kernels: torch was loaded before"
    os.environ[KERNELS_VARIABLE] = str(KERNELS)
    return (
        f"oneDNN keeps {KERNELS} kernels, so that long trainings take no more memory than they need"
    )


def _chosen_spinning() -> str:
    for variable in (SPIN_VARIABLE, POLICY_VARIABLE):
        if variable in os.environ:
            return (
                f"Waiting threads spin as {variable}={os.environ[variable]} says: set by the "
                "environment"
            )
    if not sys.platform.startswith("linux"):
        return "Waiting threads spin as PyTorch's OpenMP has it: chosen on Linux only"
    if "torch" in sys.modules:
        return _one_thread_unless_set()
    if others_compute():
        os.environ[SPIN_VARIABLE] = str(BUSY_SPIN_COUNT)
        return "Waiting threads sleep at once: other processes are computing on this machine"
    os.environ[SPIN_VARIABLE] = str(SPIN_COUNT)
    return (
        f"Waiting threads spin {SPIN_COUNT:,} times, then sleep: so that busy cores do not slow "
        "each other down"
    )


def others_compute() -> bool:
    """Whether another process computes now, and some did during the last minute.

    False on systems without loads.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        last_minute, _, _, running, *_ = LOADS.read_text(encoding="ascii").split()
        # one of them is this process
        return float(last_minute) >= 1 and int(running.split("/")[0]) > 1
    return False


def _one_thread_unless_set() -> str:
    """Computes on one thread, unless a number was set; returns a sentence for the log.

    Torch is loaded, so spinning cannot change.
    """
    import torch

    late = "Waiting threads spin as PyTorch's OpenMP has it: torch was loaded before"
    number = torch.get_num_threads()
    if NUMBER_VARIABLE in os.environ:
        return f"{late}; computing on {counted(number, 'thread')}, as {NUMBER_VARIABLE} says"
    if number != available_cores():
        return f"{late}; computing on {counted(number, 'thread')}, as was set"
    torch.set_num_threads(1)
    return f"{late}; so computing on 1 thread, which waits for none"


def available_cores() -> int:
    """The number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share_one_heap() -> None:
    """Lets all threads that this process will start take memory from the heap of its first thread.

    glibc gives each thread its own, in pieces of 64 MB, which large blocks fit badly: after 120
    steps a training of `notebook` in a thread had taken 3.0 GB, one in the first thread 2.3 GB. No
    effect with other C libraries.
    """
    if sys.platform.startswith("linux"):
        import ctypes

        with contextlib.suppress(OSError, AttributeError):  # musl has no mallopt
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def return_free_memory() -> None:
    """Returns freed memory to the system, for after work that took much of it.

    glibc keeps it if anything above it is still in use: 475 of 1,245 MB after four trainings of
    `notebook`. No effect with other C libraries.
    """
    if sys.platform.startswith("linux"):
        import ctypes

        with contextlib.suppress(OSError, AttributeError):  # musl has no malloc_trim
            ctypes.CDLL(None).malloc_trim(0)


@contextmanager
def collector_paused(*, for_good: bool = False) -> Iterator[None]:
    """Collects no garbage within the block: of half a million objects of torch, nearly all stay.

    Args:
        for_good: never search the objects that exist at the end of the block, not even when the
            process ends. The search would take half as long as the import. Only if nothing was
            loaded so far but modules, and what lives as long as the process.
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


def open_standard_streams() -> None:
    """Opens standard streams that the process was started without (`command <&- >&- 2>&-`).

    Otherwise the next file that is opened takes the free number, and messages for the terminal, by
    Python or by a library, would be written into a checkpoint.
    """
    has_numbers = os.name == "posix"  # on Windows, programs without a console get the null device
    for number, (name, flags, mode) in enumerate(_STREAMS):
        if has_numbers:
            _open_if_closed(number, flags)
        if getattr(sys, name) is None:
            file = number if has_numbers else os.devnull
            stream = open(  # noqa: SIM115
                file, mode, encoding="utf-8", errors="backslashreplace", closefd=not has_numbers
            )
            setattr(sys, name, stream)


def _open_if_closed(number: int, flags: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, flags)
        if opened != number:  # a lower number was taken meanwhile
            os.dup2(opened, number)
            os.close(opened)
        os.set_inheritable(number, True)
