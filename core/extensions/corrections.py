"""Corrections of typing errors: known words instead of those that the training data lacks."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from ..resources import resource_path
from ..text.word_counts import WordCounts

WORDS_LIKE_ERRORS = "words-like-errors.txt"
LEAST_COUNT = 20
"""Occurrences of a word in the training data from which it is offered."""
TIMES_AS_FREQUENT = 10
"""An offered word is at least this many times as frequent as any other that is as near."""
FEWEST_LETTERS = 4
"""Shorter words have too many neighbours."""
ENDINGS = frozenset({"", "e", "em", "en", "er", "es", "m", "n", "r", "s", "st", "t", "te", "ten"})
"""Endings of German words: two that differ only in them may both be right."""
LONGEST_ENDING = max(map(len, ENDINGS))
KEYBOARD = "qwertzuiopü", "asdfghjklöä", "yxcvbnm"
ALIKE = "dt", "bp", "gk", "vf", "vw", "iy", "mn", "cz", "ck"
"""Letters that are taken for each other."""
SIMPLER = {"a": "ä", "o": "ö", "u": "ü", "s": "ß"}
"""Letters that are typed for others, but not the other way round."""


@cache
def words_like_errors() -> frozenset[str]:
    """German words that are one error away from a word of captions, and right: “liefen”."""
    return frozenset(resource_path(WORDS_LIKE_ERRORS).read_text(encoding="utf-8").split())


def correction(word: str, counts: WordCounts) -> str:
    """The one known word from which a typing error has probably made this one; empty if there is
    none, or several.
    """
    return "" if word in words_like_errors() else nearest_word(word, counts)


def nearest_word(word: str, counts: WordCounts) -> str:
    """The one known word that is one typing error away; empty if there is none, or several."""
    if counts.least > 1 or word in counts.counts:
        return ""
    if len(word) < FEWEST_LETTERS or not word.isalpha():
        return ""
    known = {near for near in _before_one_error(word) if counts.of(near) >= LEAST_COUNT}
    first, second = (*sorted(known, key=counts.of, reverse=True), "", "")[:2]
    is_convincing = first and counts.of(first) >= TIMES_AS_FREQUENT * counts.of(second)
    return first if is_convincing else ""


def with_case_of(typed: str, word: str) -> str:
    """The word with capitals where the typed one has them: at its beginning, or everywhere."""
    if len(typed) > 1 and typed.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if typed[:1].isupper() else word


def _before_one_error(word: str) -> Iterator[str]:
    """Words that one error turns into this one: two letters swapped, one missing, too many or
    wrong.

    First letters are right, and endings may be.
    """
    for index in range(1, len(word)):
        yield word[: index - 1] + word[index] + word[index - 1] + word[index + 1 :]
    letters = set().union(_CONFUSED, *_CONFUSED.values())
    for index in range(1, len(word)):
        before, letter, after = word[:index], word[index], word[index + 1 :]
        others = (before + other + after for other in _CONFUSED.get(letter, ()))
        missing = (before + other + letter + after for other in letters)
        for near in (before + after, *others, *missing):
            if not _differ_in_endings(word, near):
                yield near


def _differ_in_endings(one: str, other: str) -> bool:
    """Whether two words differ only in an ending."""
    stems = (one[: len(one) - length] for length in range(LONGEST_ENDING + 1))
    return any(
        other.startswith(stem) and {one[len(stem) :], other[len(stem) :]} <= ENDINGS
        for stem in stems
    )


def _confused() -> dict[str, set[str]]:
    """For each letter those that are typed in its place: next to it, above, below, or alike."""
    pairs = [row[index : index + 2] for row in KEYBOARD for index in range(len(row) - 1)]
    for upper, lower in pairwise(KEYBOARD):
        pairs += [lower[index] + upper[index] for index in range(len(lower))]
        pairs += [
            lower[index] + upper[index + 1] for index in range(min(len(lower), len(upper) - 1))
        ]
    confused = {letter: {meant} for letter, meant in SIMPLER.items()}
    for pair in (*pairs, *ALIKE):
        confused.setdefault(pair[0], set()).add(pair[1])
        confused.setdefault(pair[1], set()).add(pair[0])
    return confused


_CONFUSED = _confused()


def correction_rules() -> dict[str, Any]:
    """The numbers and tables of these corrections, JSON-ready, for pages that make them, too."""
    return {
        "least_count": LEAST_COUNT,
        "times_as_frequent": TIMES_AS_FREQUENT,
        "fewest_letters": FEWEST_LETTERS,
        "words_like_errors": sorted(words_like_errors()),
        "endings": sorted(ENDINGS),
        "confused": {letter: "".join(sorted(others)) for letter, others in _CONFUSED.items()},
    }
