"""What the terminal says when a save fails: training waits for an answer, or ends if nobody is there to give one."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from augenmerk.core.training.events import AfterFailedSave, SaveFailed


def ask_after_failed_save(failure: "SaveFailed", say: Callable[[str], None]) -> "AfterFailedSave":
    """Whether to try again. Ctrl-C, the end of the input and "stop" mean no; so does a terminal without a person.

    Args:
        failure: what could not be written.
        say: shows a line, beside the bar.
    """
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        say(
            f"Training ends at step {failure.step}: nobody is at this terminal to be asked. Make room, then go on "
            "from the last checkpoint with --resume."
        )
        return "stop"
    say(failure.message)
    say(
        f"Training waits at step {failure.step}. Make room and press Enter to try again; or type stop, and go on later "
        "from the last checkpoint with --resume."
    )
    try:
        answer = sys.stdin.readline()  # without a line's end: the input is closed
    except KeyboardInterrupt:
        return "stop"
    return "retry" if answer.endswith("\n") and answer.strip().lower() not in ("stop", "s") else "stop"
