"""Restores the training data's spelling of words typed without special letters (“strasse” for “straße”)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from augenmerk.core.text.languages import two_letter_code
from augenmerk.core.text.word_counts import WordCounts

REPLACEMENTS: Mapping[str, Mapping[str, str]] = {
    "de": {"ss": "ß", "ae": "ä", "oe": "ö", "ue": "ü", "Ae": "Ä", "Oe": "Ö", "Ue": "Ü"},
}
"""By language: what people type for a letter that their keyboard or capitals lack, and that letter."""
MAX_PLACES = 8
"""Maximum number of places for such a letter in a word, for at most 2 ** 8 spellings. Other words stay unchanged."""


@dataclass(frozen=True, eq=False)
class SpellingRestorer:
    """Finds the training data's spelling for words that they do not contain as typed.

    Words of the training data stay unchanged, and so do words without a known spelling: a model reads everything it
    knows as in training.

    Attributes:
        replacements: typed letters, and the letter they may stand for.
        counts: those of all words of the training data.
    """

    replacements: Mapping[str, str]
    counts: WordCounts

    @classmethod
    def of_language(cls, language: str, counts: WordCounts | None) -> "SpellingRestorer | None":
        """The restorer for a language; None without known replacements or complete word counts."""
        replacements = REPLACEMENTS.get(two_letter_code(language))
        if replacements is None or counts is None or counts.least > 1:  # a word that is not listed may have been there
            return None
        return cls(replacements, counts)

    @cached_property
    def _places(self) -> re.Pattern[str]:
        return re.compile("(" + "|".join(map(re.escape, self.replacements)) + ")")

    def restore(self, word: str) -> str:
        """The most frequent known spelling of the word; the word itself if it is known or has no known spelling."""
        counts = self.counts.counts
        if word in counts:
            return word
        parts = self._places.split(word)  # every second one may stand for a letter
        if not 1 <= len(parts) // 2 <= MAX_PLACES:
            return word
        choices = [(part, self.replacements[part]) if index % 2 else (part,) for index, part in enumerate(parts)]
        known = [spelling for spelling in map("".join, product(*choices)) if spelling in counts]
        return max(known, key=counts.__getitem__, default=word)  # of equally frequent ones the first
