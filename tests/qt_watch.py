"""Sees which Qt threads and timers a test starts, and says which are still going when it is over."""

import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QThread, QThreadPool, QTimer


@contextmanager
def watch_threads_and_timers(grace_seconds: float) -> Iterator[None]:
    """Fails, when the block ends, if a thread or a timer started within it is still active after `grace_seconds`."""
    threads: list[weakref.ref[QThread]] = []
    timers: list[weakref.ref[QTimer]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QThread, "start", _recording(QThread.start, threads))
        patch.setattr(QTimer, "start", _recording(QTimer.start, timers))
        yield
    deadline = time.monotonic() + grace_seconds
    while (left := _still_active(threads, timers)) and time.monotonic() < deadline:
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        time.sleep(0.01)
    assert not left, f"left behind: {left}"
    remaining_ms = max(0, int(1000 * (deadline - time.monotonic())))
    assert QThreadPool.globalInstance().waitForDone(remaining_ms), "work left behind in the global QThreadPool"


def _recording(start: Callable[..., Any], started: list[Any]) -> Callable[..., Any]:
    """`start`, remembering what was started."""

    def record_and_start(self: Any, *arguments: Any) -> Any:
        if isinstance(self, QThread | QTimer):
            started.append(weakref.ref(self))
        return start(self, *arguments)

    return record_and_start


def _still_active(threads: list[weakref.ref[QThread]], timers: list[weakref.ref[QTimer]]) -> list[str]:
    """Names of the running threads and the ticking timers among these; what Qt has deleted is not active."""
    running = [thread for thread in _alive(threads) if thread.isRunning()]
    ticking = [timer for timer in _alive(timers) if timer.isActive()]
    return [f"thread {thread!r}" for thread in running] + [
        f"timer {timer!r} every {timer.interval()} ms, of {timer.parent()!r}" for timer in ticking
    ]


def _alive(references: list[weakref.ref[Any]]) -> list[Any]:
    objects = [reference() for reference in references]
    return [item for item in objects if item is not None and shiboken6.isValid(item)]
