"""How the process ends when it is told to by a signal, when Qt finds no display, and when a thread does not end."""

import contextlib
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import (
    QCoreApplication,
    QMessageLogContext,
    QObject,
    Qt,
    QtMsgType,
    Signal,
    qFormatLogMessage,
    qInstallMessageHandler,
)

from augenmerk.core.cli.guard import USER_ERROR
from augenmerk.viz_app.worker import ANSWER_SECONDS, THREAD_PREFIX

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGXCPU", "SIGBREAK") if hasattr(signal, name)
)
LIMIT_SECONDS = 90.0
"""From a signal to the end of the process, whatever it is doing: longer than saving a training may take."""
logger = logging.getLogger(__name__)


class _Messenger(QObject):
    """Carries a signal from the thread that waits for it to the GUI thread."""

    arrived = Signal()


@contextmanager
def ended_by_signals(app: QCoreApplication) -> Iterator[None]:
    """Within the block each of `SIGNALS` ends the event loop of `app`, so that what follows it can save.

    A second one ends the process at once, unless it comes within `ANSWER_SECONDS` (a terminal that is closed sends
    several) or is SIGXCPU, which comes every second. So does the time when the window does not react within
    `LIMIT_SECONDS`: a signal is never without effect.
    Python runs a handler in the main thread alone, and only between two of its own instructions; Qt's loop has none
    for as long as nothing happens. So a thread reads the file descriptor that Python writes each signal to.
    """
    messenger = _Messenger()
    messenger.arrived.connect(lambda: app.exit(0), Qt.ConnectionType.QueuedConnection)
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    ignored = {number for number in SIGNALS if signal.getsignal(number) is signal.SIG_IGN}  # nohup ignores SIGHUP
    numbers = [number for number in SIGNALS if number not in ignored]
    earlier_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    earlier = [signal.signal(number, lambda *_: None) for number in numbers]
    watcher = threading.Thread(
        target=_watch, args=(reader, set(map(int, numbers)), messenger.arrived.emit), name="signals", daemon=True
    )
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(earlier_fd)
        for number, handler in zip(numbers, earlier, strict=True):
            signal.signal(number, handler)
        writer.close()
        watcher.join(ANSWER_SECONDS)
        reader.close()


def _watch(reader: socket.socket, numbers: set[int], on_first: Callable[[], object]) -> None:
    """Waits for signals until the other end of `reader` is closed."""
    first = _next_of(reader, numbers)
    if first is None:
        return
    began = time.monotonic()
    on_first()
    while (left := began + LIMIT_SECONDS - time.monotonic()) > 0:
        reader.settimeout(left)
        try:
            again = _next_of(reader, numbers)
        except TimeoutError:
            break
        if again is None:
            return
        if time.monotonic() > began + ANSWER_SECONDS and again != getattr(signal, "SIGXCPU", None):
            first = again
            break
    os._exit(128 + first)


def _next_of(reader: socket.socket, numbers: set[int]) -> int | None:
    """The next of these signals; None if there will be no more. Raises `TimeoutError`."""
    while data := reader.recv(1):
        if data[0] in numbers:
            return data[0]
    return None


@contextmanager
def fatal_errors_told() -> Iterator[None]:
    """Within the block an error that Qt cannot go on from ends the process with one message and `USER_ERROR`.

    Qt would abort it, which leaves a core dump: where the display went away after `launch.prepare_display` had asked
    it, for instance. What else Qt says within the block is written after it.
    """
    said: list[str] = []

    def hear(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        if kind is not QtMsgType.QtFatalMsg:
            said.append(qFormatLogMessage(kind, context, message))
            return
        reason = (said[0] if said else message).strip().splitlines()[0]
        _write_error(
            f"augenmerk: Qt cannot open a window ({reason}). A desktop was expected. Run this in a desktop session, or "
            "use the command-line commands: augenmerk --help lists them."
        )
        os._exit(USER_ERROR)

    earlier = qInstallMessageHandler(hear)
    try:
        yield
    finally:
        qInstallMessageHandler(earlier)
        for each in said:
            _write_error(each)


def _write_error(line: str) -> None:
    with contextlib.suppress(Exception):  # closed, or a pipe that nobody reads
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def end_process(status: int) -> int:
    """Returns `status`, for the process to end with; ends it here if a thread was left behind.

    Python would wait for that thread for ever.
    """
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith(THREAD_PREFIX)]
    if left:
        logger.info("Ending without %s, which did not answer.", ", ".join(left))
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # closed, or a pipe that nobody reads
                stream.flush()
        os._exit(status)
    return status
