"""How far a long computation is. No Qt."""

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a job is.

    Attributes:
        done, total: of what `text` counts; a total of 0 if it is not known.
        text: a few words.
        partial: what is known so far, or None.
    """

    done: int
    total: int
    text: str = ""
    partial: object = None
