"""Notes on results, printed to standard error."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from augenmerk.core.plain_text import printable

if TYPE_CHECKING:
    from augenmerk.core.translation.result import Translation


def print_notes(translations: "Iterable[Translation]", where: str = "") -> None:
    """Print the notes on these translations, each once."""
    notes = [note for each in translations for note in notes_of(each)]
    for note in dict.fromkeys(notes):
        print(f"augenmerk: note: {where}{printable(note)}", file=sys.stderr)


def notes_of(translation: "Translation") -> tuple[str, ...]:
    """The notes on a translation, including interventions without effect and text unlike the training data."""
    notice = translation.coverage.notice if translation.coverage is not None else ""
    return (*translation.notes, *translation.notes_on_unreached, *([notice] if notice else []))
