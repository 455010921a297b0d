"""How the window and its process end: when the user closes it, by a signal, without a display, with a stuck thread."""

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
    QTimer,
    QtMsgType,
    Signal,
    qFormatLogMessage,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QMainWindow

from augenmerk.core.cli.command import USER_ERROR
from augenmerk.viz_app.documents.lesson_documents import LessonDocuments
from augenmerk.viz_app.documents.session import KeptSession
from augenmerk.viz_app.export.menu import ExportMenu
from augenmerk.viz_app.models.loader import ModelLoader
from augenmerk.viz_app.page_host import PageHost
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.worker.inference import ANSWER_SECONDS, THREAD_PREFIX, InferenceWorker

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGXCPU", "SIGBREAK") if hasattr(signal, name)
)
LIMIT_SECONDS = 90.0
"""From a signal to the end of the process, whatever it is doing: longer than saving a training may take."""
CLOSE_POLL_MS = 100
logger = logging.getLogger(__name__)


class ShutdownSequence(QObject):
    """Closes the window: asks about an unsaved lesson, pauses a training, saves, ends the threads.

    Signals:
        waiting(str): what the window waits for before it closes.
    """

    waiting = Signal(str)

    def __init__(
        self,
        window: QMainWindow,
        pages: PageHost,
        session: KeptSession,
        lessons: LessonDocuments,
        export_menu: ExportMenu,
        loader: ModelLoader,
        worker: InferenceWorker,
        preferences: Preferences,
    ) -> None:
        super().__init__(window)
        self._window, self._pages, self._session, self._lessons = window, pages, session, lessons
        self._export_menu, self._loader, self._worker, self._preferences = export_menu, loader, worker, preferences
        self._has_ended = False
        self._closing_since: float | None = None
        self._poll_timer = QTimer(self, interval=CLOSE_POLL_MS)
        self._poll_timer.timeout.connect(self._poll)

    def close(self) -> bool:
        """Ends everything, unless the user must decide or a training is paused first: then the window closes later.

        Returns:
            whether the window may close now.
        """
        self.save()
        if not self._has_ended and self._lessons.lesson.is_changed:
            self._lessons.once_saved(self._window.close)
            return False
        if self._is_training() and not self._may_leave_training():
            self._pause_training()
            return False
        self.end(waits_for_training=False)
        return True

    def save(self) -> None:
        """Keeps what was typed and what is on the screen until the next start."""
        if self._has_ended:
            return
        self._pages.translate.save()
        self._session.keep()
        self._preferences.set_bytes("window", self._window.saveGeometry())
        self._preferences.settings.sync()

    def end(self, *, waits_for_training: bool = True) -> None:
        """Saves, pauses a training and ends the threads, once. Blocks for seconds; a thread that takes longer is left.

        Args:
            waits_for_training: for as long as it may take to save what it has learned; False if it was waited for.
        """
        if self._has_ended:
            return
        self.save()
        self._has_ended = True
        self._poll_timer.stop()
        self._window.hide()
        if self._pages.train is not None:
            self._pages.train.shutdown(waits_for_training=waits_for_training)
        if self._pages.learn is not None:
            self._pages.learn.shutdown()
        self._export_menu.shutdown()
        self._loader.shutdown()
        self._worker.close()
        self._preferences.settings.sync()

    def _is_training(self) -> bool:
        return self._pages.train is not None and self._pages.train.is_running()

    def _pause_training(self) -> None:
        assert self._pages.train is not None
        if self._closing_since is None:
            self._closing_since = time.monotonic()
            self._pages.train.request_stop()
            self._poll_timer.start()
        self._report_waiting()

    def _may_leave_training(self) -> bool:
        """Whether it was waited for: the user may close the window a second time after a while."""
        return self._closing_since is not None and time.monotonic() > self._closing_since + ANSWER_SECONDS

    def _poll(self) -> None:
        assert self._pages.train is not None
        assert self._closing_since is not None
        if not self._is_training() or time.monotonic() > self._closing_since + self._pages.train.limit_to_end_s:
            self._poll_timer.stop()
            self._window.close()
        else:
            self._report_waiting()

    def _report_waiting(self) -> None:
        text = "stopping the training, saving the model…"
        if self._may_leave_training():
            text += " Close again to quit without it."
        self.waiting.emit(text)


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
            f"augenmerk: Qt cannot open a window ({reason}). Run this in a desktop session, or use the command-line "
            "commands: augenmerk --help lists them."
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
        logger.info("Exiting without %s, which did not respond.", ", ".join(left))
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # closed, or a pipe that nobody reads
                stream.flush()
        os._exit(status)
    return status
