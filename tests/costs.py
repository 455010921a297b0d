"""Detects costly actions of tests, so that tests excluded from `make test-quick` are marked."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

MEANINGS = {
    "subprocess": "starts a process",
    "training": "takes optimizer steps",
    "figures": "writes a figure by matplotlib",
}
"""The marks of tests that do so, and of no others."""
FIXTURES = {
    "copy_translator": "training",
    "trained_run": "training",
    "multi30k_folder": "corpus",
}
"""Fixtures whose users get a mark, whichever of them comes first."""
LEFT_OUT = ("slow", "heavy", "subprocess", "training", "figures", "corpus")
"""The marks of tests that `make test-quick` leaves out."""
HEAVY_CPU_SECONDS = 0.25
"""From here on a test is to be marked `heavy`; those without are listed at the end of a run. They
do not fail: other processes slow a test down, and the first of a process imports what all of them
need."""
SLOW_CPU_SECONDS = 0.5
"""From here on a test is to be marked `slow`, or `make test` takes more than four minutes on two
cores; those without are listed, too."""
MAX_CPU_SECONDS = 5.0
"""Of a test without a mark, which fails after so long: neither of these makes twenty times as much
of it."""
IS_EMULATED = bool(os.environ.get("AUGENMERK_EMULATED"))
"""Whether an emulator computes, some 50 times slower: then nothing is too heavy.

Holds the processor's name.
"""
PROPERTY = "cpu_seconds"
"""Of the report of a test, which knows nothing of the processor's time else."""
_seen: set[str] = set()


@contextmanager
def noticed() -> Iterator[None]:
    """Record costly actions inside the block, except those of modules imported later."""
    with pytest.MonkeyPatch.context() as patch:
        _notice(patch, "subprocess", subprocess.Popen, "__init__")
        if "augenmerk.core.extensions.training.session" in sys.modules:
            _notice(
                patch,
                "training",
                sys.modules["augenmerk.core.extensions.training.session"].TrainingSession,
                "step",
            )
        if "matplotlib.figure" in sys.modules:
            _notice(patch, "figures", sys.modules["matplotlib.figure"].Figure, "savefig")
        yield


def seen_since_last_asked() -> set[str]:
    """The marks for the actions recorded in any thread since the last call."""
    seen = set(_seen)
    _seen.clear()
    return seen


def unmarked(
    reports: Iterable[pytest.TestReport],
    min_seconds: float = HEAVY_CPU_SECONDS,
    marks: tuple[str, ...] = LEFT_OUT,
) -> list[tuple[float, str]]:
    """CPU seconds and names of the tests that took so long without any of these marks, the heaviest
    first."""
    if IS_EMULATED:
        return []
    costs = [
        (seconds, report.nodeid)
        for report in reports
        for name, seconds in report.user_properties
        if name == PROPERTY
        and isinstance(seconds, float)
        and seconds >= min_seconds
        and not any(mark in report.keywords for mark in marks)
    ]
    return sorted(set(costs), reverse=True)


def too_heavy(node: pytest.Item, cpu_seconds: float) -> str | None:
    """The message for a test that computed too long; None if it did not."""
    if (
        IS_EMULATED
        or cpu_seconds <= MAX_CPU_SECONDS
        or any(node.get_closest_marker(mark) for mark in LEFT_OUT)
    ):
        return None
    return (
        f"it computed for {cpu_seconds:.1f} s: make it cheaper, or mark it @pytest.mark.heavy, "
        "as make test-quick leaves it out"
    )


def _notice(patch: pytest.MonkeyPatch, mark: str, owner: type, name: str) -> None:
    original = getattr(owner, name)

    def notice_and_call(*arguments: Any, **options: Any) -> Any:
        if not _lists_fonts(*arguments[1:2]):
            _seen.add(mark)
        return original(*arguments, **options)

    patch.setattr(owner, name, notice_and_call)


def _lists_fonts(command: Any = None) -> bool:
    """Whether matplotlib lists the fonts: once on each machine, in whichever test is first."""
    return isinstance(command, list) and command[:1] == ["fc-list"]
