"""Parts of messages that are worded differently in the window and in the terminal. No torch."""

from contextvars import ContextVar
from dataclasses import dataclass

from ..counting import Counted, display_text

_IS_IN_WINDOW = ContextVar("_IS_IN_WINDOW", default=False)


@dataclass(frozen=True)
class Wording(Counted):
    """A part of a message: one text for the terminal and Python, another for the window.

    It is a value of an `AugenmerkError`, whose template names it.

    Attributes:
        terminal: may name options of a command.
        window: names what the window has.
    """

    terminal: str
    window: str

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        return self.window if _IS_IN_WINDOW.get() else self.terminal


def window_text(value: object) -> str:
    """The text for the window: `display_text` with the window's wording where there are two."""
    token = _IS_IN_WINDOW.set(True)
    try:
        return display_text(value)
    finally:
        _IS_IN_WINDOW.reset(token)
