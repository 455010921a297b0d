"""Running a command: what a user can act on becomes one message on standard error and an exit status.

Nothing heavy is imported here: the window is started through it too.
"""

import atexit
import codecs
import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, TextIO, cast

from augenmerk.core.errors import AugenmerkError
from augenmerk.core.memory import is_out_of_memory
from augenmerk.core.plain_text import printable

USER_ERROR = 2
INTERRUPTED = 130
_OPTIONAL = {"PySide6": "PySide6-Essentials", "shiboken6": "PySide6-Essentials", "matplotlib": "matplotlib"}
"""Modules that servers may leave out (docs/servers.md), and the packages that hold them."""
_NO_SPACE = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})


def run_guarded(command: Callable[[], int]) -> int:
    """Runs a command; what a user can act on becomes one message on standard error and an exit status."""
    status = 0
    with _forgiving_errors():
        try:
            with _watched_output():
                try:
                    status = _run(command)
                except SystemExit:  # help was asked for, or an option was refused
                    _flush()
                    raise
                _flush()
        except BrokenPipeError:  # the reader of our output, `head` for instance, has seen enough
            _discard_output()
        except _OutputError as error:
            print(f"augenmerk: {error}", file=sys.stderr)
            _discard_output()
            return USER_ERROR
    return status


def leave(status: int) -> NoReturn:
    """Ends the process as Python does, except that nothing in memory is freed one by one, which the system does anyway.

    With PyTorch loaded that takes a tenth of a second, a fifteenth of a short command. Functions registered for the end
    are called, and what was written goes out. Where another thread still works, Python ends the process after it.
    """
    if status == INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a wrapper may forward the same Ctrl-C again
    main = threading.main_thread()
    if any(not each.daemon for each in threading.enumerate() if each is not main):
        sys.exit(status)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: nothing is left to interrupt
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # closed, or a pipe that nobody reads
            stream.flush()
    os._exit(status)


def _flush() -> None:
    """Now, because at the end of the process nobody could be told that it failed."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _run(command: Callable[[], int]) -> int:
    try:
        Path.cwd()
    except OSError as error:  # libraries end the process there
        print(
            f"augenmerk: the folder that this was started in is gone ({error.strerror}). One that is there was "
            "expected: go to another folder (cd), and try again.",
            file=sys.stderr,
        )
        return USER_ERROR
    try:
        return command()
    except AugenmerkError as error:
        print(f"augenmerk: {printable(str(error))}", file=sys.stderr)
        return USER_ERROR
    except (MemoryError, RuntimeError, ImportError) as error:  # a library that cannot be loaded, too
        if isinstance(error, ModuleNotFoundError) and (package := _OPTIONAL.get((error.name or "").partition(".")[0])):
            print(f"augenmerk: {package} is not installed. Install it: pip install {package}", file=sys.stderr)
            return USER_ERROR
        if not is_out_of_memory(error):
            raise
        reason = (str(error) or "no more can be had").splitlines()[0]
        print(
            f"augenmerk: there is not enough memory ({reason}). A smaller model or text was expected, or more memory: "
            "end other programs, or raise the limit that this process has (ulimit -v). Files are as they were.",
            file=sys.stderr,
        )
        return USER_ERROR
    except ValueError as error:  # torch reads this variable while it is imported
        if "TORCH_LOGS" not in os.environ or not str(error).lstrip().startswith("Invalid log settings"):
            raise
        print(
            f"augenmerk: PyTorch cannot read TORCH_LOGS={printable(os.environ['TORCH_LOGS'])}. The names of its "
            "logs were expected, with commas between: TORCH_LOGS=help lists them. Change or unset it.",
            file=sys.stderr,
        )
        return USER_ERROR
    except KeyboardInterrupt:
        print("augenmerk: interrupted", file=sys.stderr)
        return INTERRUPTED


class _OutputError(Exception):
    """Standard output took no more: its disk is full, for instance. No `OSError`, which other code may handle."""


class _WatchedOutput:
    """A text stream whose failures to write are told apart from those of any other file."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with self._failing_apart():
            return self._stream.write(text)

    def flush(self) -> None:
        with self._failing_apart():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @staticmethod
    @contextmanager
    def _failing_apart() -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _OutputError(_explained(error)) from error


def _explained(error: OSError) -> str:
    if error.errno == errno.EBADF:
        return "standard output is closed, and what was to be printed is lost. Send it to a file: > FILE."
    remedy = "Free some space, or send it elsewhere" if error.errno in _NO_SPACE else "Send it elsewhere"
    return f"the output cannot be written: {error.strerror or error}. {remedy}: > FILE."


class _ForgivingErrors:
    """Standard error, which may be a full disk, or a pipe that nobody reads any more.

    A message is lost then. The command goes on, and its exit status is what it would have been: a failed write would
    end it, and end it well if it is that of a pipe, as for standard output.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _forgiving_errors() -> Iterator[None]:
    """Standard error as `_ForgivingErrors` while this lasts."""
    stream = sys.stderr
    if stream is None:  # a program without a console
        yield
        return
    _take_any_character(stream)
    sys.stderr = cast(TextIO, _ForgivingErrors(stream))
    try:
        yield
    finally:
        sys.stderr = stream


def _take_any_character(stream: TextIO) -> None:
    """Lets a stream escape what its encoding lacks."""
    if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
        stream.reconfigure(errors="augenmerk-escape")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What a stream has no character for, as JSON would escape it; a lone surrogate too."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True)), error.end


codecs.register_error("augenmerk-escape", _escaped)


@contextmanager
def _watched_output() -> Iterator[None]:
    """Standard output as `_WatchedOutput` while this lasts, which takes any character whatever its encoding."""
    stream = sys.stdout
    if stream is None:  # a program without a console
        yield
        return
    _take_any_character(stream)
    sys.stdout = cast(TextIO, _WatchedOutput(stream))
    try:
        yield
    finally:
        sys.stdout = stream


def _discard_output() -> None:
    """Sends what is still to be written nowhere, so that the end of the process does not fail on it again."""
    with suppress(io.UnsupportedOperation):  # no file of the system, as where a test catches the output
        output = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, output)
        os.close(nowhere)
