"""What a command tells on standard error beside its results."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from augenmerk.core.plain_text import printable

if TYPE_CHECKING:
    from augenmerk.core.translation.result import Translation


def print_notes(translations: "Iterable[Translation]", where: str = "") -> None:
    """What the reader of these translations should know, each thing once."""
    notes = [note for each in translations for note in notes_of(each)]
    for note in dict.fromkeys(notes):
        print(f"augenmerk: note: {where}{printable(note)}", file=sys.stderr)


def notes_of(translation: "Translation") -> tuple[str, ...]:
    """The notes of a translation; interventions that changed nothing are among them, and text of another kind."""
    notice = translation.coverage.notice if translation.coverage is not None else ""
    return (*translation.notes, *translation.notes_on_unreached, *([notice] if notice else []))
