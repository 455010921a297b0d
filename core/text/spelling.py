"""Words typed without letters of their language (“strasse” for “straße”), read as the training data spell them."""

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
"""By language: what is typed where a keyboard lacks a letter, or a word stands in capitals, and that letter."""
MAX_PLACES = 8
"""Of a word where a letter may be meant; it has at most 2 ** 8 spellings then. Words with more stay as they are."""


@dataclass(frozen=True, eq=False)
class SpellingRestorer:
    """Finds the spelling of the training data for words that these do not have as they were typed.

    A word of the training data stays what it is, whatever else it may be taken for, and so does a word none of whose
    spellings the training data have: nothing that a model knows is read in another way than in training.

    Attributes:
        replacements: what may be typed for a letter, and that letter.
        counts: of all words of the training data.
    """

    replacements: Mapping[str, str]
    counts: WordCounts

    @classmethod
    def of_language(cls, language: str, counts: WordCounts | None) -> "SpellingRestorer | None":
        """None where no replacements are known, or not all words of the training data."""
        replacements = REPLACEMENTS.get(two_letter_code(language))
        if replacements is None or counts is None or counts.least > 1:  # a word that is not listed may have been there
            return None
        return cls(replacements, counts)

    @cached_property
    def _places(self) -> re.Pattern[str]:
        return re.compile("(" + "|".join(map(re.escape, self.replacements)) + ")")

    def restore(self, word: str) -> str:
        """The most frequent of the word's spellings in the training data; the word itself if they have it, or none."""
        counts = self.counts.counts
        if word in counts:
            return word
        parts = self._places.split(word)  # every second one may stand for a letter
        if not 1 <= len(parts) // 2 <= MAX_PLACES:
            return word
        choices = [(part, self.replacements[part]) if index % 2 else (part,) for index, part in enumerate(parts)]
        known = [spelling for spelling in map("".join, product(*choices)) if spelling in counts]
        return max(known, key=counts.__getitem__, default=word)  # of equally frequent ones the first
