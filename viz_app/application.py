"""Starts the window, takes its picture, and ends its process, whatever is missing or stuck."""

import contextlib
import logging
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import (
    QCoreApplication,
    QEventLoop,
    QMessageLogContext,
    QObject,
    QSettings,
    QSize,
    QStandardPaths,
    Qt,
    QTimer,
    QtMsgType,
    Signal,
    qFormatLogMessage,
    qInstallMessageHandler,
)
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QStyle, QWidget

from augenmerk.core.cli.command import USER_ERROR, refuse
from augenmerk.core.counting import display_text
from augenmerk.core.errors import AugenmerkError, ModelImportError, StorageError, TextError
from augenmerk.core.recognizers import advice, recognize
from augenmerk.core.resources import resource_path
from augenmerk.core.storage import atomic_path, read_bytes

from .crash_reports import crashes_recorded, default_folder, earlier_reports
from .main_window import MainWindow
from .models.loader import source_to_import
from .own_files import restoring
from .preferences import Preferences
from .theme import Theme
from .widgets.dialogs import show_failure
from .widgets.pictures import save_picture
from .worker.inference import ANSWER_SECONDS, THREAD_PREFIX, Failure
from .worker.interpreter import interpreter_shared_fairly

SCREENSHOT_LIMIT_MS = 180_000
SCREENSHOT_SIZE = (1440, 900)
SETTLE_MS = 150
MAX_SETTINGS_BYTES = 16_000_000
_FOREIGN_TYPE = re.compile(rb'[=,]\s*"?@(?:Variant|DateTime)\(')
"""Values that are never stored: damaged ones make Qt print messages or end the process."""
FRAME_METRICS = QStyle.PixelMetric.PM_TitleBarHeight, QStyle.PixelMetric.PM_MdiSubWindowFrameWidth
SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGXCPU", "SIGBREAK")
    if hasattr(signal, name)
)
LIMIT_SECONDS = 90.0
"""Longest time from a signal to the end of the process: saving a training takes less."""
logger = logging.getLogger(__name__)


def run_app(
    path: Path | None = None,
    sentence: str | None = None,
    screenshot: Path | None = None,
) -> int:
    """Opens the window and returns the exit status when it is closed.

    Raises:
        TextError: there is no sentence for the picture.
        ModelImportError: the model of the picture must be imported first.

    Args:
        path: the file to open: a model, or of a kind that a part of the window shows; None for the
            last model.
        sentence: the first sentence to translate; None for the one typed last.
        screenshot: translate, save a PNG of the window here, and exit. The user's own settings are
            neither used nor changed then.
    """
    with fatal_errors_reported():
        app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("augenmerk")
    app.setApplicationDisplayName("Augenmerk")
    app.setDesktopFileName("augenmerk")
    app.setWindowIcon(QIcon(str(resource_path("icon.svg"))))
    if screenshot is not None:
        if path is not None and source_to_import(path) is not None:
            recognized = recognize(path)
            message = (
                f"{path} is not a model. {advice()}" if recognized is None else recognized.message
            )
            raise ModelImportError(message)
        return _take_screenshot(app, path, sentence, screenshot)
    with crashes_recorded(default_folder()):
        return _run_window(app, path, sentence)


def _run_window(app: QApplication, path: Path | None, sentence: str | None) -> int:
    """Opens the window with the user's own settings; returns the exit status when it has ended."""
    preferences = Preferences(own_settings())
    Theme.of_choice(preferences.theme, preferences.scale / 100).apply(app)
    window = MainWindow(preferences, path=path, sentence=sentence)
    _show_unexpected_errors(window)
    window.welcome()
    if reports := earlier_reports(default_folder()):
        for part in window.parts:
            part.offer_reports(reports)
    fit_to_screen(window)
    window.show()
    with interpreter_shared_fairly(), ended_by_signals(app):
        status = app.exec()
        window.shutdown.end()  # if a signal ended the loop, or Qt after the loss of the display
    return status


def own_settings() -> QSettings:
    """The settings of the user's own window. Raises `StorageError`, see `repair_settings`."""
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericConfigLocation)
    repair_settings(Path(folder) / "augenmerk" / "augenmerk.conf")
    return QSettings("augenmerk", "augenmerk")


def repair_settings(path: Path) -> None:
    """Removes entries of foreign types from a file of settings; sets an unreadable file aside.

    Raises:
        StorageError: Qt would read the file forever, or it is damaged, and it can neither be set
            aside nor written.
    """
    stored = b""
    with restoring(path):
        if not os.path.lexists(path):
            return
        stored = read_bytes(path, MAX_SETTINGS_BYTES)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise StorageError(
            f"The settings {path} cannot be read: they are no file. Remove this file, and start "
            "again."
        )
    lines = stored.splitlines(keepends=True)
    known_lines = [line for line in lines if not _FOREIGN_TYPE.search(line)]
    if len(known_lines) < len(lines):
        with atomic_path(path) as temporary:
            temporary.write_bytes(b"".join(known_lines))


def fit_to_screen(window: QWidget) -> None:
    """Makes a window that is about to be shown no larger than its screen, at any smallest size."""
    room = window.screen().availableGeometry()
    if not room.contains(window.geometry()):
        title, edge = map(window.style().pixelMetric, FRAME_METRICS)
        # the real frame is known when the window is shown
        largest = room.size() - QSize(2 * edge, title + edge)
        window.setMinimumSize(window.minimumSize().boundedTo(largest))
        window.resize(window.size().boundedTo(largest))
        window.move(room.topLeft())


def _take_screenshot(
    app: QApplication, path: Path | None, sentence: str | None, target: Path
) -> int:
    """Shows a window with settings of its own, waits for the translation, saves the picture."""
    if sentence is not None and not sentence.strip():
        raise TextError(
            "There is nothing to translate: the sentence is empty. Enter one, or omit the option."
        )
    loop = QEventLoop()
    with tempfile.TemporaryDirectory(prefix="augenmerk-") as folder:
        preferences = Preferences(
            QSettings(str(Path(folder) / "settings.ini"), QSettings.Format.IniFormat)
        )
        preferences.theme = "light"
        Theme.light().apply(app)
        window = MainWindow(preferences, path=path, sentence=sentence)

        def finish(problem: str = "") -> None:
            loop.exit(refuse(problem) if problem else 0)

        def with_origin(content: bytes) -> bytes:
            return reduce(lambda picture, part: part.with_origin(picture), window.parts, content)

        def save() -> None:
            try:
                save_picture(window, target, with_origin)
            except AugenmerkError as error:
                finish(display_text(error))
            else:
                finish()

        limit = QTimer(window, singleShot=True, interval=SCREENSHOT_LIMIT_MS)
        limit.timeout.connect(
            lambda: finish("The translation took more than three minutes; no picture was saved.")
        )
        window.translation_shown.connect(lambda _: QTimer.singleShot(SETTLE_MS, window, save))
        window.failed.connect(lambda failure: finish(failure.message))
        window.resize(*SCREENSHOT_SIZE)
        window.show()
        limit.start()
        status = loop.exec()
        limit.stop()
        window.close()
        window.deleteLater()
    return status


def _show_unexpected_errors(window: MainWindow) -> None:
    """Logs and shows unexpected errors; the window stays open."""

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not isinstance(error, Exception):
            sys.__excepthook__(kind, error, trace)
            return
        logger.error("Unexpected error in the window", exc_info=(kind, error, trace))
        details = "".join(traceback.format_exception(kind, error, trace))
        show_failure(
            window,
            "Something unexpected went wrong",
            Failure(display_text(error) or kind.__name__, details),
        )

    sys.excepthook = show


class _Messenger(QObject):
    """Carries a signal from the thread that waits for it to the GUI thread."""

    arrived = Signal()


@contextmanager
def ended_by_signals(app: QCoreApplication) -> Iterator[None]:
    """Within the block each of `SIGNALS` ends the event loop of `app`, so that the caller can save.

    A second signal ends the process at once, unless it arrives within `ANSWER_SECONDS` (closing a
    terminal sends several) or is SIGXCPU, which arrives every second. The process also ends if the
    window does not react within `LIMIT_SECONDS`. Python runs handlers only in the main thread,
    between two Python instructions. Qt's idle loop executes none. Therefore a thread reads the file
    descriptor to which Python writes each signal.
    """
    messenger = _Messenger()
    messenger.arrived.connect(lambda: app.exit(0), Qt.ConnectionType.QueuedConnection)
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    # nohup ignores SIGHUP
    ignored = {number for number in SIGNALS if signal.getsignal(number) is signal.SIG_IGN}
    numbers = [number for number in SIGNALS if number not in ignored]
    earlier_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    earlier = [signal.signal(number, lambda *_: None) for number in numbers]
    watcher = threading.Thread(
        target=_watch,
        args=(reader, set(map(int, numbers)), messenger.arrived.emit),
        name="signals",
        daemon=True,
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
def fatal_errors_reported() -> Iterator[None]:
    """Within the block a fatal Qt error ends the process with one message and `USER_ERROR`.

    Qt would abort it, which leaves a core dump: for instance if the display disappears after
    `prepare_display`. Other messages of Qt are written at the end of the block.
    """
    said: list[str] = []

    def hear(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        if kind is not QtMsgType.QtFatalMsg:
            said.append(qFormatLogMessage(kind, context, message))
            return
        reason = (said[0] if said else message).strip().splitlines()[0]
        _write_error(
            f"augenmerk: Qt cannot open a window ({reason}). Run this in a desktop session, or "
            "use the command-line commands: augenmerk --help lists them."
        )
        os._exit(USER_ERROR)

    earlier = qInstallMessageHandler(hear)
    try:
        yield
    finally:
        qInstallMessageHandler(earlier)
        for qt_message in said:
            _write_error(qt_message)


def _write_error(line: str) -> None:
    with contextlib.suppress(Exception):  # closed, or a pipe without a reader
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def end_process(status: int) -> int:
    """Returns `status`, the exit status; ends the process at once if a thread does not end.

    Python would wait for that thread forever.
    """
    left = [
        thread.name for thread in threading.enumerate() if thread.name.startswith(THREAD_PREFIX)
    ]
    if left:
        logger.info("Exiting without %s, which did not respond.", ", ".join(left))
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # closed, or a pipe without a reader
                stream.flush()
        os._exit(status)
    return status
