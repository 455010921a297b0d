"""A sentence marked by what is not in another one. No Qt."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from augenmerk.core.translation.result import Translation, Word

Mark = Literal["same", "new", "gone"]


@dataclass(frozen=True)
class Piece:
    """A stretch of a sentence: kept, new, or (a word that is no longer there) gone."""

    text: str
    mark: Mark


def changed_pieces(before: Translation, after: Translation) -> tuple[Piece, ...]:
    """The sentence of `after`, its words that are not in `before` marked, words that only went missing put back.

    A word that was replaced is shown by the word that replaced it alone.
    """
    old, new = [word.text for word in before.target_words], [word.text for word in after.target_words]
    return pieces_of(old, new, after.text)


def new_words(before: Translation, after: Translation) -> frozenset[Word]:
    """The words of `after` that `before` does not have, order regarded."""
    old, new = [word.text for word in before.target_words], [word.text for word in after.target_words]
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    kept = {block.b + place for block in blocks for place in range(block.size)}
    return frozenset(word for place, word in enumerate(after.target_words) if place not in kept)


def pieces_of(old: Sequence[str], new: Sequence[str], text: str) -> tuple[Piece, ...]:
    """`text`, which is made of the words `new`, marked by what is not in `old`; see `changed_pieces`."""
    pieces: list[Piece] = []
    position = 0

    def say(word: str, mark: Mark) -> int:
        start = text.lower().find(word.lower(), position)
        if start < 0 or len(text.lower()) != len(text):  # not to be found in the sentence: the word as the model has it
            pieces.append(Piece(f" {word}", mark))
            return position
        if start > position:
            pieces.append(Piece(text[position:start], "same"))
        pieces.append(Piece(text[start : start + len(word)], mark))
        return start + len(word)

    for tag, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag == "delete":
            pieces.append(Piece(" " + " ".join(old[old_from:old_to]), "gone"))
        for word in new[new_from:new_to]:
            position = say(word, "same" if tag == "equal" else "new")
    return (*pieces, Piece(text[position:], "same")) if position < len(text) else tuple(pieces)
