"""Ask in the terminal what to do after a failed save. Without a terminal, training ends."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from augenmerk.core.training.events import AfterFailedSave, SaveFailed


def ask_after_failed_save(failure: "SaveFailed", say: Callable[[str], None]) -> "AfterFailedSave":
    """Whether to try again. Ctrl-C, the end of the input and "stop" mean no; so does a missing terminal.

    Args:
        failure: what could not be written.
        say: prints a line above the progress bar.
    """
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        say(
            f"Training stops at step {failure.step}. Free some space, then continue from the last checkpoint with "
            "--resume."
        )
        return "stop"
    say(failure.message)
    say(
        f"Training waits at step {failure.step}. Free some space and press Enter to try again, or type stop and "
        "continue later from the last checkpoint with --resume."
    )
    try:
        answer = sys.stdin.readline()  # no newline at the end: the input is closed
    except KeyboardInterrupt:
        return "stop"
    return "retry" if answer.endswith("\n") and answer.strip().lower() not in ("stop", "s") else "stop"
