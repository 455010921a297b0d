"""A sentence compared with another one: new words bold, lost ones struck through."""

import difflib
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from augenmerk.core.translation.result import Translation

from ...palette import Palette

_LONG_WORD = re.compile(r"\S{24}(?=\S)")
Mark = Literal["same", "new", "gone"]


@dataclass(frozen=True)
class MarkedPiece:
    """A stretch of a sentence: kept, new, or (a word that is no longer there) gone."""

    text: str
    mark: Mark


def changed_pieces(before: Translation, after: Translation) -> tuple[MarkedPiece, ...]:
    """The sentence of `after`, with new words marked and lost words restored.

    Of a replaced word, only its replacement is shown.
    """
    old = [word.text for word in before.target_words]
    new = [word.text for word in after.target_words]
    return pieces_of(old, new, after.text)


def pieces_of(old: Sequence[str], new: Sequence[str], text: str) -> tuple[MarkedPiece, ...]:
    """The pieces of `text`, which consists of the words `new`, compared with `old`; see
    `changed_pieces`.
    """
    pieces: list[MarkedPiece] = []
    position = 0

    def spaced(words: str) -> str:
        """Words that are not in the text, with a space between them and those that are."""
        return f" {words}" if position else f"{words} "

    def say(word: str, mark: Mark) -> int:
        start = text.lower().find(word.lower(), position)
        # not in the sentence: the model's form of the word
        if start < 0 or len(text.lower()) != len(text):
            pieces.append(MarkedPiece(spaced(word), mark))
            return position
        if start > position:
            pieces.append(MarkedPiece(text[position:start], "same"))
        pieces.append(MarkedPiece(text[start : start + len(word)], mark))
        return start + len(word)

    for tag, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag == "delete":
            pieces.append(MarkedPiece(spaced(" ".join(old[old_from:old_to])), "gone"))
        for word in new[new_from:new_to]:
            position = say(word, "same" if tag == "equal" else "new")
    return (
        (*pieces, MarkedPiece(text[position:], "same")) if position < len(text) else tuple(pieces)
    )


def styled(pieces: Sequence[MarkedPiece], colors: Palette) -> str:
    """Pieces as rich text: new words bold, lost ones struck through."""
    styles = {
        "same": f"color:{colors.text}",
        "new": f"font-weight:bold;color:{colors.warm}",
        "gone": f"color:{colors.muted};text-decoration:line-through",
    }
    return "".join(
        f"<span style='{styles[piece.mark]}'>{html.escape(breakable(piece.text))}</span>"
        for piece in pieces
    )


def breakable(text: str) -> str:
    """The text with break points in very long words, which would widen a label.

    For labels, which show nothing there; not for text that is copied or read by a program.
    """
    return _LONG_WORD.sub(lambda match: f"{match[0]}\u200b", text)
