"""Parse the options of a command, run it, and report errors by one message and an exit status.

This module imports nothing heavy, because the window starts through it too.
"""

import argparse
import atexit
import codecs
import errno
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NoReturn, TextIO

from ..counting import display_text
from ..errors import AugenmerkError
from ..memory import is_out_of_memory
from ..plain_text import one_line, printable
from ..storage import remedy
from .outputs import check_outputs, path_of

USER_ERROR = 2
INTERRUPTED = 130
_OPTIONAL = {
    "PySide6": "PySide6-Essentials",
    "shiboken6": "PySide6-Essentials",
    "matplotlib": "matplotlib",
}
"""Modules that servers may leave out (docs/servers.md), and the packages that hold them."""
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""What Python reads for a byte of an argument that is not a character."""


class OptionParser(argparse.ArgumentParser):
    """Reads whole numbers, numbers and paths.

    It refuses empty paths, which would mean the current folder.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register("type", int, _of_type(int, "a whole number"))
        self.register("type", float, _of_type(float, "a number"))
        self.register("type", Path, path_of)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and refuse unknown options, which the program's parser would report as its own.

        Raises:
            StorageError: an option names a file to write that must not be replaced.
        """
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(map(shown, unknown))}")
        for action in self._actions:
            try:
                require_characters(getattr(options, action.dest, None))
            except argparse.ArgumentTypeError as error:
                self.error(str(argparse.ArgumentError(action, str(error))))
        check_outputs(self._actions, options)
        return options, unknown

    def error(self, message: str) -> NoReturn:
        """Report a refused option without the whole usage."""
        self.exit(USER_ERROR, f"{self.prog}: error: {one_line(message)}\nSee {self.prog} --help.\n")


def _of_type(kind: Callable[[str], object], name: str) -> Callable[[str], object]:
    def parse(text: str) -> object:
        try:
            return kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{shown(text)} is not {name}.") from None

    return parse


def require_characters(value: object) -> None:
    """Raises `argparse.ArgumentTypeError` for a text with bytes that are no characters.

    Names of files may have them.
    """
    if isinstance(value, list | tuple):
        for member in value:
            require_characters(member)
    if isinstance(value, str) and _LONE_SURROGATE.search(value) and not os.path.lexists(value):
        raise argparse.ArgumentTypeError(
            f"{shown(value)} is not UTF-8. Check the encoding of the terminal or script."
        )


def shown(text: str) -> str:
    """An argument in quotation marks, shortened for a message."""
    return repr(text if len(text) <= 60 else f"{text[:59]}…")


def run_guarded(command: Callable[[], int]) -> int:
    """Run a command and return its exit status.

    User errors become one message on standard error and status 2.
    """
    status = 0
    # a full disk must not change the exit status
    with _replaced("stderr", lambda: suppress(OSError)):
        try:
            with _replaced("stdout", _output_errors):
                try:
                    status = _run(command)
                except SystemExit:  # after --help, or a refused option
                    _flush()
                    raise
                _flush()
        except BrokenPipeError:  # the reader of our output, such as `head`, has ended
            _discard_output()
        except _OutputError as error:
            _discard_output()
            return refuse(str(error))
    return status


def refuse(message: str) -> int:
    """Print a message for the user and return the exit status for user errors."""
    tell(message)
    return USER_ERROR


def tell(message: str) -> None:
    """Print a message for the user in one line of standard error, whatever names it contains."""
    print(f"augenmerk: {one_line(message)}", file=sys.stderr)


def leave(status: int) -> NoReturn:
    """End the process as Python does, but without freeing memory object by object.

    With PyTorch loaded, freeing takes a tenth of a second, a fifteenth of a short command. Exit
    functions run and streams are flushed. If another thread still runs, Python waits for it and
    ends the process.
    """
    if status == INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a wrapper may forward the same Ctrl-C
    main = threading.main_thread()
    if any(not thread.daemon for thread in threading.enumerate() if thread is not main):
        sys.exit(status)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing left to interrupt
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # closed, or a pipe without a reader
            stream.flush()
    os._exit(status)


def _flush() -> None:
    """Flush now: a failure at the end of the process could not be reported."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _run(command: Callable[[], int]) -> int:
    try:
        Path.cwd()
    except OSError as error:  # libraries would crash there
        return refuse(
            f"the current folder no longer exists ({error.strerror}). Change to another folder "
            "(cd) and try again."
        )
    try:
        return command()
    except AugenmerkError as error:
        return refuse(display_text(error))
    except BaseException as error:
        if _is_of_interrupt(error):
            tell("interrupted")
            return INTERRUPTED
        if advice := _advice_on(error):
            return refuse(advice)
        raise


def _is_of_interrupt(error: BaseException | None) -> bool:
    """Whether it is an interrupt, or an error that one caused on its way out of a library.

    `zipfile`, for example, cannot close an archive in the middle of a member.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _advice_on(error: BaseException) -> str:
    """The message on an error that the user can do something about; empty for others."""
    text = str(error)
    package = _OPTIONAL.get(str(getattr(error, "name", "")).partition(".")[0])
    if package and isinstance(error, ModuleNotFoundError):
        return f"{package} is not installed. Install it: pip install {package}"
    # a library that cannot be loaded, too
    if isinstance(error, MemoryError | RuntimeError | ImportError) and is_out_of_memory(error):
        return (
            f"not enough memory ({(text or 'none left').splitlines()[0]}). Use a smaller model or "
            "text, end other programs, or raise the memory limit of this process (ulimit -v). No "
            "file was changed."
        )
    # torch reads this variable while it is imported
    if isinstance(error, ValueError) and text.lstrip().startswith("Invalid log settings"):
        return (
            f"PyTorch cannot read TORCH_LOGS={os.environ.get('TORCH_LOGS')}. Unset it, or use "
            "names of logs separated by commas; TORCH_LOGS=help lists them."
        )
    return ""


class _OutputError(Exception):
    """Writing to standard output failed, such as on a full disk.

    Not an `OSError`, which other code may handle.
    """


@contextmanager
def _output_errors() -> Iterator[None]:
    """Distinguish failures of standard output from those of other files."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno == errno.EBADF:
            raise _OutputError(
                "standard output is closed, so the output is lost. Send it to a file: > FILE."
            ) from error
        advice = " or ".join(filter(None, (remedy(error), "send it elsewhere"))).capitalize()
        reason = error.strerror or error
        raise _OutputError(f"the output cannot be written: {reason}. {advice}: > FILE.") from error


class _GuardedStream:
    """A text stream that writes within a context manager, which handles errors.

    No text that a file or a user provides can control the terminal: see `printable`. Only a
    carriage return at the beginning stays, by which progress bars overwrite themselves.
    """

    def __init__(self, stream: TextIO, guard: Callable[[], AbstractContextManager[None]]) -> None:
        self._stream, self._guard = stream, guard

    def write(self, text: str) -> int:
        start = "\r" if text.startswith("\r") else ""
        with self._guard():
            self._stream.write(start + printable(text.removeprefix(start)))
        return len(text)

    def flush(self) -> None:
        with self._guard():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _replaced(
    name: Literal["stdout", "stderr"], guard: Callable[[], AbstractContextManager[None]]
) -> Iterator[None]:
    """Guard a stream of `sys` inside the context.

    It escapes characters missing from its encoding.
    """
    stream = getattr(sys, name)
    if stream is None:  # a program without a console
        yield
        return
    if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
        stream.reconfigure(errors="augenmerk-escape")
    setattr(sys, name, _GuardedStream(stream, guard))
    try:
        yield
    finally:
        setattr(sys, name, stream)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """The unencodable characters, escaped as in JSON, including lone surrogates."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(
        f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True)
    ), error.end


codecs.register_error("augenmerk-escape", _escaped)


def _discard_output() -> None:
    """Discard buffered output, so that the end of the process does not fail on it again."""
    with suppress(io.UnsupportedOperation):  # not a file, for example in a test
        output = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, output)
        os.close(nowhere)
