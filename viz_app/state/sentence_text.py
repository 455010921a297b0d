"""Sentences as text: their length, invisible letters, places of words, and words that changed.

No Qt.
"""

import difflib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from augenmerk.core.text.codec import CONTINUATION
from augenmerk.core.translation.result import (
    ExperimentResult,
    RareWord,
    RespelledWord,
    Translation,
    Word,
)

MAX_CHARACTERS = 5_000
"""Characters of a text, at most: ten times the longest sentence of any corpus here.

Beyond it, laying out the text and cutting it into words take seconds: the time grows with the
square of the length where there are no spaces.
"""
LOW_PROBABILITY = 0.5
"""Probability below which words are marked."""


def limited(text: str) -> str:
    """The beginning of the text, at most `MAX_CHARACTERS`."""
    return text[:MAX_CHARACTERS]


def left_out(num_characters: int, what: str = "sentence") -> str:
    """The message for characters of a sentence, or of something else, that were left out."""
    noun = "character was" if num_characters == 1 else "characters were"
    return (
        f"A {what} can have at most {MAX_CHARACTERS:,} characters; {num_characters:,} more "
        f"{noun} left out."
    )


def not_shown(num_characters: int) -> str:
    """The message for a translation that is longer than the line of text shows."""
    noun = "character is" if num_characters == 1 else "characters are"
    return (
        f"The translation is longer than {MAX_CHARACTERS:,} characters: its last "
        f"{num_characters:,} {noun} not shown in the sentence. Maps and words include all of "
        "them."
    )


INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols whose picture is empty: Hangul fillers and the blank Braille pattern."""


@lru_cache(maxsize=4096)
def visible(token: str) -> str:
    """The token; code points such as "U+200B" if it has no visible character.

    Args:
        token: as displayed elsewhere, perhaps after the mark of a piece.
    """
    rest = token.removeprefix(CONTINUATION)
    if not rest or not all(map(_is_invisible, rest)):
        return token
    mark = token[: len(token) - len(rest)]
    return mark + " ".join(f"U+{ord(letter):04X}" for letter in rest)


def elided(text: str, length: int) -> str:
    """A text of at most `length` characters, at least 3, with an ellipsis between its ends."""
    if len(text) <= length:
        return text
    end = (length - 1) // 2
    return f"{text[: length - 1 - end]}…{text[-end:]}"


def _is_invisible(letter: str) -> bool:
    return unicodedata.category(letter) in INVISIBLE or letter in BLANK_LETTERS


_Word = TypeVar("_Word", RareWord, RespelledWord)


@dataclass(frozen=True)
class Span:
    """A half-open range of the typed text, in UTF-16 units, as Qt's text cursors count."""

    start: int
    end: int


def unknown_spans(translation: Translation) -> tuple[Span, ...]:
    """Places in the typed text of words with a token that is not in the vocabulary."""
    unknown = set(translation.unknown_source_positions)
    return tuple(
        span
        for word, span in word_spans(translation).items()
        if unknown.intersection(range(word.start, word.end))
    )


def rare_spans(translation: Translation) -> dict[Span, RareWord]:
    """Places in the typed text of words that are rare in the training data."""
    return _spans_of(translation.coverage.rare_words, translation) if translation.coverage else {}


def respelled_spans(translation: Translation) -> dict[Span, RespelledWord]:
    """Places in the typed text of words that were read in another spelling."""
    return (
        _spans_of(translation.coverage.respelled_words, translation) if translation.coverage else {}
    )


def word_spans(translation: Translation) -> dict[Word, Span]:
    """Places in the typed text of the source words; words that are not found are left out."""
    text = translation.source_text
    return {
        word: _to_utf16(text, *word_range) for word, word_range in word_ranges(translation).items()
    }


def _spans_of(words: tuple[_Word, ...], translation: Translation) -> dict[Span, _Word]:
    """Places in the typed text of words, found by their first tokens."""
    if not words:
        return {}
    spans = {word.start: span for word, span in word_spans(translation).items()}
    return {spans[word.start]: word for word in words if word.start in spans}


def edited_spans(result: ExperimentResult) -> tuple[Span, ...]:
    """Places in the typed text of the words that the experiment removes or replaces."""
    places = {edit.place for edit in result.experiment.source_edits}
    spans = word_spans(result.original)
    original = result.original
    numbered_words = zip(original.source_places, original.source_words, strict=True)
    return tuple(
        spans[word] for position, word in numbered_words if position in places and word in spans
    )


def ignored_span(translation: Translation) -> Span | None:
    """The place in the typed text of the end that did not fit into the model."""
    return end_span(translation.source_text, translation.ignored_text)


def end_span(text: str, end: str) -> Span | None:
    """The place of the end of a text; None if it is empty."""
    return _to_utf16(text, max(0, len(text) - len(end)), len(text)) if end else None


def target_span(translation: Translation, word: Word) -> tuple[int, int]:
    """The characters of a target word in the translation; its end if the word is not found."""
    end = len(translation.text)
    return _ranges_in(translation.text, translation.target_words).get(word, (end, end))


def word_ranges(translation: Translation) -> dict[Word, tuple[int, int]]:
    """The characters of source words in the typed text, without words that are not found."""
    return _ranges_in(translation.source_text, translation.source_words)


def _ranges_in(text: str, words: Iterable[Word]) -> dict[Word, tuple[int, int]]:
    lowered = _same_length_lower(text)
    ranges = {}
    position = 0
    for word in words:
        start = lowered.find(_same_length_lower(word.text), position)
        if start >= 0:
            position = start + len(word.text)
            ranges[word] = start, position
    return ranges


def _same_length_lower(text: str) -> str:
    """Lower case of the same length: a letter whose lower case is longer (İ) stays as it is."""
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def _to_utf16(text: str, start: int, end: int) -> Span:
    return Span(_utf16_length(text[:start]), _utf16_length(text[:end]))


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def is_right_to_left(text: str) -> bool:
    """Whether the first letter of a text belongs to a script that is written from right to left."""
    directions = (unicodedata.bidirectional(letter) for letter in text)
    return next((side for side in directions if side in ("L", "R", "AL")), "L") != "L"


def new_spans(before: Translation, after: Translation) -> tuple[Span, ...]:
    """The places of `new_words` in the sentence of `after`."""
    new, text = new_words(before, after), after.text
    ranges = _ranges_in(text, after.target_words)
    return tuple(_to_utf16(text, *span) for word, span in ranges.items() if word in new)


def new_words(before: Translation, after: Translation) -> frozenset[Word]:
    """The words of `after` that `before` does not have, order regarded."""
    old = [word.text for word in before.target_words]
    new = [word.text for word in after.target_words]
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    common_indices = {block.b + offset for block in blocks for offset in range(block.size)}
    return frozenset(
        word for index, word in enumerate(after.target_words) if index not in common_indices
    )
