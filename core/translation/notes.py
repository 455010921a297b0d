"""Notes for the reader of a translation. Their kinds let a sample of sentences be counted. No torch."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from augenmerk.core.counting import CountedText, Index, joined

NoteKind = Literal[
    "refused",
    "cut",
    "no_target_language",
    "other_language",
    "no_first_symbol",
    "unreadable",
    "unknown",
    "line_breaks",
    "unfamiliar",
    "cut_off",
    "ended",
    "empty",
]
NOTE_KINDS: Mapping[NoteKind, str] = {
    "refused": "not translated",
    "cut": "cut to fit into the model",
    "no_target_language": "read without a target language",
    "other_language": "written in another language",
    "no_first_symbol": "begun with another symbol",
    "unreadable": "read without unknown symbols",
    "unknown": "read with unknown words",
    "line_breaks": "read with spaces for line breaks",
    "unfamiliar": "unlike the training data",
    "cut_off": "translated without an end",
    "ended": "translated up to the limit",
    "empty": "translated as nothing",
}
"""What a sentence with a note of each kind is, with the kinds that matter most first."""
HINTS: frozenset[NoteKind] = frozenset({"no_target_language", "other_language", "no_first_symbol"})
"""Notes that advise to type something else."""
_MAX_LISTED = 10


@dataclass(frozen=True)
class Note:
    """A note on a sentence or its translation.

    Attributes:
        kind: see `NOTE_KINDS`.
        text: a sentence for the reader.
    """

    kind: NoteKind
    text: str


def texts_of(notes: Iterable[Note]) -> tuple[str, ...]:
    """The texts of the notes."""
    return tuple(note.text for note in notes)


def sentences_by_kind(notes: Sequence[Iterable[Note]]) -> dict[NoteKind, list[int]]:
    """For each kind the indices of the sentences with such a note. `notes`: those of each sentence."""
    kinds = [{note.kind for note in notes_of_sentence} for notes_of_sentence in notes]
    return {kind: [index for index, own in enumerate(kinds) if kind in own] for kind in NOTE_KINDS}


def summaries(notes: Sequence[Sequence[Note]], sentences: str = "sentences") -> tuple[CountedText, ...]:
    """A note for each kind on the sentences of a sample: how many there are, which, and the text about the first.

    They number the sentences as `CountedText` does.

    Args:
        notes: those of each sentence.
        sentences: a name for all of them.
    """
    texts = []
    for kind, indices in sentences_by_kind(notes).items():
        if indices:
            more = ", …" if len(indices) > _MAX_LISTED else ""
            verb, which = ("is", "") if len(indices) == 1 else ("are", "The first: ")
            texts.append(
                CountedText(
                    f"{len(indices):,} of {len(notes):,} {sentences} {verb} {NOTE_KINDS[kind]} (number {{numbers}}"
                    f"{more}). {which}{{first}}",
                    numbers=joined(map(Index, indices[:_MAX_LISTED]), ", "),
                    first=next(note.text for note in notes[indices[0]] if note.kind == kind),
                )
            )
    return tuple(texts)
