"""Detects widgets, Qt threads and timers that a test leaves behind."""

import gc
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QThread, QThreadPool, QTimer
from PySide6.QtWidgets import QApplication, QToolTip, QWidget


@contextmanager
def watch_widgets() -> Iterator[None]:
    """Fail at the end of the block if a widget created inside still exists.

    Each change of style sheet or palette visits every widget, so leftover windows slow down all
    later tests. Closing a window is not enough: a lambda or partial connected to a signal of one of
    its children refers to it from within Qt, invisible to the garbage collector. `deleteLater`
    deletes it, and so does `qtbot.addWidget`.
    """
    before = top_widgets()
    yield
    _delete_what_is_to_go()
    if _made_since(before):
        gc.collect()  # takes long, so only now: a cycle without connections to Qt is no leak
        _delete_what_is_to_go()
    left = [
        f"{widget!r} with {len(widget.findChildren(QWidget))} widgets in it"
        for widget in _made_since(before)
    ]
    assert not left, f"widgets left behind: {left}"


def top_widgets() -> list[QWidget]:
    """The widgets without a parent.

    Python objects are made for all of them; garbage that is collected meanwhile may take away one
    that Qt has named but that has no such object yet, which ends the process.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return [
            widget for widget in QApplication.topLevelWidgets() if widget.parentWidget() is None
        ]
    finally:
        if was_enabled:
            gc.enable()


def _made_since(before: list[QWidget]) -> list[QWidget]:
    return [widget for widget in top_widgets() if widget not in before]


def _delete_what_is_to_go() -> None:
    """Delete tool tips and everything scheduled by `deleteLater`."""
    QToolTip.hideText()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@contextmanager
def watch_threads_and_timers(grace_seconds: float) -> Iterator[None]:
    """Fail if a thread or timer started inside the block is still active `grace_seconds` after its
    end."""
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
    assert QThreadPool.globalInstance().waitForDone(remaining_ms), (
        "work left behind in the global QThreadPool"
    )


def _recording(start: Callable[..., Any], started: list[Any]) -> Callable[..., Any]:
    """`start`, remembering what was started."""

    def record_and_start(self: Any, *arguments: Any) -> Any:
        if isinstance(self, QThread | QTimer):
            started.append(weakref.ref(self))
        return start(self, *arguments)

    return record_and_start


def _still_active(
    threads: list[weakref.ref[QThread]], timers: list[weakref.ref[QTimer]]
) -> list[str]:
    """Names of the running threads and active timers among these; deleted ones are not active."""
    running = [thread for thread in _alive(threads) if thread.isRunning()]
    ticking = [timer for timer in _alive(timers) if timer.isActive()]
    return [f"thread {thread!r}" for thread in running] + [
        f"timer {timer!r} every {timer.interval()} ms, of {timer.parent()!r}" for timer in ticking
    ]


def _alive(references: list[weakref.ref[Any]]) -> list[Any]:
    objects = [reference() for reference in references]
    return [item for item in objects if item is not None and shiboken6.isValid(item)]
