"""Crash reports: written when something unexpected goes wrong, offered at the next start.

Each process writes a file of its own in the app's data folder: the traceback of every unexpected
error, in any thread, and the position of each thread if the process itself crashes. A process that
ends normally removes its file if nothing was recorded. Nothing is ever sent anywhere.
"""

import contextlib
import faulthandler
import logging
import os
import platform
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import BinaryIO

import platformdirs

from augenmerk.core import __version__
from augenmerk.core.storage import open_file

MAX_RECORD_CHARACTERS, MAX_BYTES = 20_000, 200_000
"""Maximum sizes of the record of an error and of a file, which keeps the first records.

Later ones often follow from them.
"""
MAX_FILES = 5
END_OF_HEADER = b"\n---\n"
FATAL = ("Fatal Python error", "Windows fatal exception")
_PACKAGES = ("PySide6-Essentials", "torch", "numpy")
_SEEN = ".seen.log"
logger = logging.getLogger(__name__)


def default_folder() -> Path:
    """The folder of crash reports, in the user's data directory."""
    return platformdirs.user_data_path("augenmerk", appauthor=False) / "crashes"


@dataclass(frozen=True)
class CrashReport:
    """A file that an earlier process left.

    Attributes:
        path: the file.
        ended: when it was last written.
        text: its content.
    """

    path: Path
    ended: datetime
    text: str

    @property
    def is_fatal(self) -> bool:
        """True if the process crashed; else it continued after an error."""
        return any(words in self.text for words in FATAL)

    @property
    def is_empty(self) -> bool:
        """True if nothing follows the header."""
        return not self.text.encode(errors="replace").partition(END_OF_HEADER)[2]

    def mark_seen(self) -> None:
        """Keeps it, but does not offer it again."""
        with contextlib.suppress(OSError):
            self.path.rename(self.path.with_name(self.path.stem + _SEEN))

    def delete(self) -> None:
        """Removes it."""
        with contextlib.suppress(OSError):
            self.path.unlink()


def earlier_reports(folder: Path) -> list[CrashReport]:
    """Returns reports of ended processes, the newest first; keeps `MAX_FILES` files at most."""
    reports: list[CrashReport] = []
    for path in sorted(folder.glob("*.log")):
        try:
            if not _is_in_use(path):
                reports.append(_read(path))
        except OSError as error:
            logger.info("The crash report %s cannot be read: %s", path, error)
    reports.sort(key=lambda report: report.ended, reverse=True)
    recent_reports = [report for report in reports if not report.is_empty][:MAX_FILES]
    for report in reports:
        if report not in recent_reports:
            report.delete()
    return [report for report in recent_reports if not report.path.name.endswith(_SEEN)]


@contextmanager
def crashes_recorded(folder: Path) -> Iterator[None]:
    """Writes unexpected errors and a crash within the block to a file in `folder`.

    Unexpected errors are those logged with a traceback. Errors that end a thread or occur in a
    destructor are logged, even if no file can be written. `application` logs those of the window.
    """
    file = _open(folder)
    hooks = threading.excepthook, sys.unraisablehook
    threading.excepthook, sys.unraisablehook = _log_in_thread, _log_unraisable
    root = logging.getLogger()
    added: list[logging.Handler] = []
    if file is not None:
        # Python's own is used only as long as there is no other
        last_resort = [] if root.handlers or logging.lastResort is None else [logging.lastResort]
        added = [*last_resort, _ReportHandler(file)]
        faulthandler.enable(file, all_threads=True)
    for handler in added:
        root.addHandler(handler)
    try:
        yield
    finally:
        for handler in added:
            root.removeHandler(handler)
        threading.excepthook, sys.unraisablehook = hooks
        if file is not None:
            faulthandler.disable()
            _close(file)


class _ReportHandler(logging.Handler):
    """Writes errors that have a traceback."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(logging.ERROR)
        self._file = file

    def emit(self, record: logging.LogRecord) -> None:
        """Writes one of them, as long as there is room."""
        if not record.exc_info or record.exc_info[0] is None:
            return
        trace = "".join(traceback.format_exception(*record.exc_info))
        text = f"\n{_now()}, thread {record.threadName}: {record.getMessage()}\n{trace}"
        if len(text) > MAX_RECORD_CHARACTERS:
            half = MAX_RECORD_CHARACTERS // 2
            text = f"{text[:half]}\n…\n{text[-half:]}"
        # a full disk; a file that was closed meanwhile
        with contextlib.suppress(OSError, ValueError):
            if os.fstat(self._file.fileno()).st_size + len(text) <= MAX_BYTES:
                self._file.write(text.encode(errors="backslashreplace"))


def _open(folder: Path) -> BinaryIO | None:
    """A new file with a header, locked while this process lives; None if it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{datetime.now():%Y-%m-%d-%H%M%S}-{os.getpid()}.log"
        file = path.open("xb", buffering=0)
        _lock(file)
        file.write(f"{_versions()}\nStarted {_now()}".encode() + END_OF_HEADER)
    except OSError as error:
        logger.info("No crash report can be written: %s", error)
        return None
    return file


def _close(file: BinaryIO) -> None:
    """Closes the file; removes it if nothing was written but the header."""
    with contextlib.suppress(OSError):
        file.close()
        report = _read(Path(file.name))
        if report.is_empty:
            report.delete()


def _lock(file: BinaryIO) -> bool:
    """Takes the lock of a file, which ends with its process; False if another process has it."""
    if sys.platform == "win32":
        return True  # an open file cannot be removed or renamed there
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_in_use(path: Path) -> bool:
    """True if a running process writes to it: this one, or another window's."""
    if path.stem.endswith(f"-{os.getpid()}"):
        return True
    with open_file(path) as file:
        return not _lock(file)


def _read(path: Path) -> CrashReport:
    with open_file(path) as file:
        text = file.read(2 * MAX_BYTES).decode(errors="replace")
    return CrashReport(path, datetime.fromtimestamp(path.stat().st_mtime), text)


def _log_in_thread(arguments: threading.ExceptHookArgs) -> None:
    if arguments.exc_type is SystemExit or arguments.exc_value is None:
        return
    name = arguments.thread.name if arguments.thread else "unknown"
    trace = (arguments.exc_type, arguments.exc_value, arguments.exc_traceback)
    logger.error("The thread %s ended by an unexpected error", name, exc_info=trace)


def _log_unraisable(arguments: "sys.UnraisableHookArgs") -> None:
    if arguments.exc_value is None:
        return
    trace = (arguments.exc_type, arguments.exc_value, arguments.exc_traceback)
    name = getattr(arguments.object, "__qualname__", type(arguments.object).__name__)
    logger.error(
        "%s %s", arguments.err_msg or "An error that could not be raised, in", name, exc_info=trace
    )


def _versions() -> str:
    """The versions of Augenmerk, Python and packages with native code, and the system."""
    words = [f"Augenmerk {__version__}", f"Python {platform.python_version()}"]
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            words.append(f"{package} {version(package)}")
    return ", ".join([*words, f"{platform.system()} {platform.release()} {platform.machine()}"])


def _now() -> str:
    return datetime.now().isoformat(sep=" ", timespec="seconds")
