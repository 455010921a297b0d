"""Notes on the sentences of a sample, counted by kind. No torch."""

from collections.abc import Iterable, Mapping, Sequence

from ..counting import CountedText, Index, joined
from ..translation.notes import Note, NoteKind

NOTE_KINDS: Mapping[NoteKind, str] = {
    "refused": "not translated",
    "cut": "cut to fit into the model",
    "no_target_language": "read without a target language",
    "no_word": "without a word that the model can read",
    "other_language": "written in another language",
    "no_first_symbol": "begun with another symbol",
    "unreadable": "read without unknown symbols",
    "unknown": "read with unknown words",
    "line_breaks": "read with spaces for line breaks",
    "unfamiliar": "unlike the training data",
    "cut_off": "translated without an end",
    "ended": "translated up to the limit",
    "empty": "translated as nothing",
    "left_out": "translated with a word left out",
}
"""What a sentence with a note of each kind is, with the kinds that matter most first."""
_MAX_LISTED = 10


def sentences_by_kind(notes: Sequence[Iterable[Note]]) -> dict[NoteKind, list[int]]:
    """For each kind the indices of the sentences with such a note.

    `notes`: those of each sentence.
    """
    kinds = [{note.kind for note in notes_of_sentence} for notes_of_sentence in notes]
    return {kind: [index for index, own in enumerate(kinds) if kind in own] for kind in NOTE_KINDS}


def summaries(
    notes: Sequence[Sequence[Note]], sentences: str = "sentences"
) -> tuple[CountedText, ...]:
    """A note for each kind on the sentences of a sample: how many there are, which, and the text
    about the first.

    They number the sentences as `CountedText` does.

    Args:
        notes: those of each sentence.
        sentences: a name for all of them.
    """
    texts = []
    for kind, indices in sentences_by_kind(notes).items():
        if indices:
            which = "" if len(indices) == 1 else "The first: "
            share = share_of(sentences, indices, len(notes), NOTE_KINDS[kind])
            first = next(note.text for note in notes[indices[0]] if note.kind == kind)
            texts.append(
                CountedText("{share} {which}{first}", share=share, which=which, first=first)
            )
    return tuple(texts)


def share_of(sentences: str, indices: Sequence[int], total: int, what: str) -> CountedText:
    """“2 of 15 sentences are cut (number 1, 3).” for two indices, of 15 sentences, and “cut”."""
    more = ", …" if len(indices) > _MAX_LISTED else ""
    verb = "is" if len(indices) == 1 else "are"
    return CountedText(
        f"{len(indices):,} of {total:,} {sentences} {verb} {what} (number {{numbers}}{more}).",
        numbers=joined(map(Index, indices[:_MAX_LISTED]), ", "),
    )
