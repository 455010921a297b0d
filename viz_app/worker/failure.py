"""What a thread says when something did not work."""

import logging
import traceback
from dataclasses import dataclass

from augenmerk.core.errors import AugenmerkError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Failure:
    """Why something did not work, for people.

    Attributes:
        message: what was given, what was expected, what to do.
        details: the traceback of an error nobody foresaw; empty for one the user can mend.
    """

    message: str
    details: str = ""

    @classmethod
    def of(cls, error: Exception) -> "Failure":
        """An `AugenmerkError` speaks for itself; anything else keeps its traceback."""
        if isinstance(error, AugenmerkError):
            return cls(str(error))
        logger.error("Unexpected error in a worker thread", exc_info=error)
        text = str(error) or type(error).__name__
        return cls(f"An unexpected error occurred: {text}", "".join(traceback.format_exception(error)))
