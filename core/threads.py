"""How many threads PyTorch computes on, how long they spin where they wait for each other, how many kernels are kept.

PyTorch's threads meet at the end of each product. On Linux they are GNU OpenMP's, which by default spin there 300,000
times before they sleep, some ten milliseconds: nothing while the machine is idle, but where other processes want the
same cores, a thread spins away the very time that the thread it waits for needs. A few thousand times are as fast on an
idle machine, and several times faster on a busy one (`python -m benchmarks busy`). Where another process computes
already when this one begins, not to spin at all is faster still: one thread whose core is shared holds up the others.

OpenMP reads `GOMP_SPINCOUNT` once, while it is loaded, which happens when torch is imported. So the entry point
(`viz_app.launch`) calls `tune_process` first, and scripts may (`augenmerk.tune_process`). Importing the library
changes none of this: the process belongs to the program that imports it. What the user has set is left alone.

oneDNN makes a kernel for each shape of a product and keeps 1,024 of them. Batches of random sentences have as many
shapes, so that a training kept making new ones. They lie between the large blocks of memory that each step takes and
gives back, and the gaps left there serve no larger block: the memory of a training grew for hours. 64 kernels, as many
as a step of few shapes uses again and again, keep it from most of that and cost no time: making one takes 0.3 ms.

On Windows and macOS, PyTorch brings Intel's or LLVM's OpenMP, which knows `KMP_BLOCKTIME` (milliseconds of spinning,
200 by default) instead. It has not been measured there and is left as it is. No torch is imported here unless asked to.
"""

import contextlib
import logging
import os
import sys
from pathlib import Path

SPIN_COUNT = 20_000
BUSY_SPIN_COUNT = 0
"""Of a process that begins on a busy machine. On an idle one it would take a fifth more time."""
SPIN_VARIABLE = "GOMP_SPINCOUNT"
POLICY_VARIABLE = "OMP_WAIT_POLICY"
NUMBER_VARIABLE = "OMP_NUM_THREADS"
LOADS = Path("/proc/loadavg")
KERNELS = 64
"""A step of `copy-task-small`, always of the same shapes, uses 54; with half as many it takes a third longer."""
KERNELS_VARIABLE = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"

logger = logging.getLogger(__name__)
_notes: dict[str, str] = {}


def tune_process() -> None:
    """Sets how this process computes, for the best speed beside other busy processes. For programs, not for libraries.

    Call it once, before torch is imported. It sets the environment variables `GOMP_SPINCOUNT` (on Linux) and
    `ONEDNN_PRIMITIVE_CACHE_CAPACITY` for this process and its children, unless the user has set them, and logs what it
    chose. If torch is already loaded, its threads cannot be changed; then torch computes on one thread, unless a number
    was set before. Later calls change nothing.
    """
    if "spinning" not in _notes:
        logger.info(_chosen_kernels())
        _notes["spinning"] = _chosen_spinning()
        logger.info(_notes["spinning"])


def spinning() -> str:
    """How threads wait for each other in this process and why, for the log."""
    return _notes.get("spinning") or "Waiting threads spin as PyTorch's OpenMP has it: `tune_process` was not called"


def compute_on(num_threads: int) -> None:
    """Lets the calling thread compute on so many threads, unless OMP_NUM_THREADS says otherwise. Imports torch."""
    import torch

    if NUMBER_VARIABLE not in os.environ:
        torch.set_num_threads(num_threads)
        logger.info("Computing on %d threads", num_threads)


def _chosen_kernels() -> str:
    if KERNELS_VARIABLE in os.environ:
        return f"oneDNN keeps {os.environ[KERNELS_VARIABLE]} kernels, as {KERNELS_VARIABLE} says"
    if "torch" in sys.modules:
        return "oneDNN keeps as many kernels as it does by default: torch was loaded before"
    os.environ[KERNELS_VARIABLE] = str(KERNELS)
    return f"oneDNN keeps {KERNELS} kernels, so that long trainings take no more memory than they need"


def _chosen_spinning() -> str:
    for variable in (SPIN_VARIABLE, POLICY_VARIABLE):
        if variable in os.environ:
            return f"Waiting threads spin as {variable}={os.environ[variable]} says: set by the environment"
    if "torch" in sys.modules:
        return _one_thread_if_free()
    if not sys.platform.startswith("linux"):
        return "Waiting threads spin as PyTorch's OpenMP has it: chosen on Linux only"
    if others_compute():
        os.environ[SPIN_VARIABLE] = str(BUSY_SPIN_COUNT)
        return "Waiting threads sleep at once: other processes are computing on this machine"
    os.environ[SPIN_VARIABLE] = str(SPIN_COUNT)
    return f"Waiting threads spin {SPIN_COUNT:,} times, then sleep: so that busy cores do not slow each other down"


def others_compute() -> bool:
    """Whether another process computes now, and some did during the last minute. False where that is not told."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        last_minute, _, _, running, *_ = LOADS.read_text(encoding="ascii").split()
        return float(last_minute) >= 1 and int(running.split("/")[0]) > 1  # one of them is this process
    return False


def _one_thread_if_free() -> str:
    """Torch was loaded before anybody could say how its threads spin: one thread waits for none."""
    import torch

    late = "Waiting threads spin as PyTorch's OpenMP has it: torch was loaded before"
    number = torch.get_num_threads()
    if NUMBER_VARIABLE in os.environ:
        return f"{late}; computing on {number} threads, as {NUMBER_VARIABLE} says"
    if number != available_cores():
        return f"{late}; computing on {number} threads, as was set"
    torch.set_num_threads(1)
    return f"{late}; so computing on 1 thread, which waits for none"


def available_cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
