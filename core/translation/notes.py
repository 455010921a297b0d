"""Notes for the reader of a translation.

Their kinds let a sample of sentences be counted. No torch.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..short_repr import ShortRepr

NoteKind = Literal[
    "refused",
    "cut",
    "no_target_language",
    "no_word",
    "other_language",
    "no_first_symbol",
    "unreadable",
    "unknown",
    "line_breaks",
    "unfamiliar",
    "cut_off",
    "ended",
    "empty",
    "left_out",
]
HINTS: frozenset[NoteKind] = frozenset(
    {"no_target_language", "no_word", "other_language", "no_first_symbol"}
)
"""Notes that advise to type something else."""


@dataclass(frozen=True)
class Note(ShortRepr):
    """A note on a sentence or its translation.

    Attributes:
        kind: what it is about; see `core.extensions.note_summaries`.
        text: a sentence for the reader.
    """

    kind: NoteKind
    text: str


def texts_of(notes: Iterable[Note]) -> tuple[str, ...]:
    """The texts of the notes."""
    return tuple(note.text for note in notes)
