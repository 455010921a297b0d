"""Standard input, output and error of a process that was started without them (`command <&- >&- 2>&-`).

The next file that is opened would take the free number: a message for the terminal, by Python or by a library, would be
written into a checkpoint. So each entry point opens them first.
"""

import os
import sys
from typing import TextIO, cast

_MODES = {0: os.O_RDONLY, 1: os.O_RDONLY, 2: os.O_WRONLY}
"""How the null device takes their places: input is at its end, messages are lost, and results cannot be written, which
is told as on a full disk: a command whose output went nowhere has not done what it was asked for."""


def open_standard_streams() -> None:
    """Opens those that are closed."""
    if os.name == "posix":
        for number, mode in _MODES.items():
            _open_if_closed(number, mode)
    if sys.stdin is None:
        sys.stdin = _stream(0, "r")
    if sys.stdout is None:
        sys.stdout = _stream(1, "w")
    if sys.stderr is None:
        sys.stderr = _stream(2, "w")


def _open_if_closed(number: int, mode: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, mode)
        if opened != number:  # one below it was taken meanwhile
            os.dup2(opened, number)
            os.close(opened)
        os.set_inheritable(number, True)


def _stream(number: int, mode: str) -> TextIO:
    """Of this file; on Windows, where a program without a console has none, of the null device."""
    where = number if os.name == "posix" else os.devnull
    return cast(TextIO, open(where, mode, encoding="utf-8", errors="backslashreplace", closefd=os.name != "posix"))
