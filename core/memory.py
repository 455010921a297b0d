"""How much memory is free."""

import os
from pathlib import Path

_CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def available_memory() -> int | None:
    """Bytes that this process could still take without swapping; None if the system does not tell.

    The least of what the machine has free and, in a container, of what is left of its share.
    """
    found = [_of_machine(), *(_of_group(limit, used) for limit, used in _CGROUPS)]
    return min((each for each in found if each is not None), default=None)


def _of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on Windows and macOS
        return None


def _of_group(limit: Path, used: Path) -> int | None:
    try:
        return max(0, int(limit.read_text(encoding="ascii")) - int(used.read_text(encoding="ascii")))
    except (OSError, ValueError):  # "max": no limit
        return None
