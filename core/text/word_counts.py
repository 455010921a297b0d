"""Counts of the source words in the training data, stored with a model.

The counts mark the words that the model must guess, and restore the training data's spelling of
words typed without special letters (“strasse” for “straße”).
"""

import math
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from ..strict_json import Field, shown
from .languages import two_letter_code
from .tokenizers import MAX_WORD_CHARACTERS

RARE_BELOW = 5
"""A word with fewer occurrences in the training data is rare."""
MAX_WORDS = 500_000
"""Maximum number of listed words: about 2 MB in a file and half a second of reading."""
MAX_PACKED_BYTES = 16_000_000
MAX_KIND_CHARACTERS = 60
_MAX_UNPACKED_BYTES = 64_000_000
_MAX_COUNT = 2**53
_MAX_FAMILIARITY = 40.0
_SHARED_LIMIT = 255
_UNLISTABLE = re.compile("[\n\ud800-\udfff]")
"""Characters that a list of words cannot hold: line ends and lone surrogates."""


@dataclass(frozen=True, eq=False)
class WordCounts:
    """Counts of the source words in the training data.

    Attributes:
        counts: count by word, as the model reads it: tokenized and case-folded, before subwords.
        kind: the kind of text, as a plural: "picture captions"; empty if unknown.
        least: rarer words are not listed; above 1 only for text with very many different words.
        unusual_below: sentences with a lower `familiarity` are unlike the training data; 0 if
            unknown.
    """

    counts: Mapping[str, int]
    kind: str = ""
    least: int = 1
    unusual_below: float = 0.0

    def of(self, word: str) -> int:
        """The count of the word; for an unlisted word, the upper limit."""
        return self.counts.get(word, self.least - 1)

    def is_exact(self, word: str) -> bool:
        """Whether `of` is exact for the word."""
        return self.least == 1 or word in self.counts

    @property
    def num_frequent(self) -> int:
        """The number of listed words that are not rare."""
        return sum(number >= RARE_BELOW for number in self.counts.values())

    @property
    def is_of_words(self) -> bool:
        """Whether most of what was counted are words, not numbers."""
        return 2 * sum(map(has_letters, self.counts)) > len(self.counts)

    def familiarity(self, words: Iterable[str]) -> float | None:
        """The mean of ln(1 + count) over different words with letters; None without any."""
        return mean_log([self.counts.get(word, 0) for word in set(words) if has_letters(word)])

    # --- in files ---------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """Their description in a file, as JSON-ready values."""
        return {
            "kind": self.kind,
            "least": self.least,
            "num_words": len(self.counts),
            "unusual_below": self.unusual_below,
        }

    def pack(self) -> bytes:
        """The counts themselves, always the same bytes for the same counts.

        The words in their order, each as the number of bytes that it shares with the one before,
        the others, and a line feed; then all counts, seven bits in a byte, the lowest first;
        compressed by zlib.
        """
        written = bytearray()
        numbers = bytearray()
        before = b""
        for word, number in sorted((word.encode(), number) for word, number in self.counts.items()):
            shared = _num_shared(before, word)
            written.append(shared)
            written += word[shared:] + b"\n"
            while number > 127:
                numbers.append(number & 127 | 128)
                number >>= 7
            numbers.append(number)
            before = word
        return zlib.compress(bytes(written + numbers), 9)

    @classmethod
    def unpack(cls, described: object, packed: bytes) -> "WordCounts":
        """The inverse of `describe` and `pack`.

        Raises `ValueError` or `TypeError` if something is wrong in them.
        """
        num_words, kind, least, unusual_below = check_description(described)
        return cls(
            dict(_unpacked(_decompressed(packed), num_words, least)), kind, least, unusual_below
        )


def check_description(described: object) -> tuple[int, str, int, float]:
    """The number of words, kind, least and threshold in a description. Raises `ValueError`."""
    names = ("num_words", "kind", "least", "unusual_below")
    members = Field(described, "word_counts").members(
        *names, optional=described if isinstance(described, dict) else ()
    )
    num_words, kind, least, unusual_below = (members[name] for name in names)
    if not kind.text(MAX_KIND_CHARACTERS).isprintable():
        kind.refuse("text without control characters")
    return (
        num_words.whole_number(1, MAX_WORDS),
        kind.text(),
        least.whole_number(1, RARE_BELOW),
        unusual_below.number(0, _MAX_FAMILIARITY),
    )


def has_letters(word: str) -> bool:
    """Whether the text contains letters, unlike a number or a mark."""
    return any(character.isalpha() for character in word)


def is_word(word: str) -> bool:
    """Whether a list of words can hold this one, and spaCy cannot cut it off as white space."""
    return (
        bool(word)
        and not word.isspace()
        and len(word) <= MAX_WORD_CHARACTERS
        and _UNLISTABLE.search(word) is None
    )


def mean_log(numbers: Sequence[int]) -> float | None:
    """The mean of ln(1 + count); None without counts."""
    return math.fsum(map(math.log1p, numbers)) / len(numbers) if numbers else None


def _num_shared(before: bytes, word: bytes) -> int:
    """The length of the common prefix, in bytes."""
    shared = 0
    for one, other in zip(before[:_SHARED_LIMIT], word, strict=False):
        if one != other:
            break
        shared += 1
    return shared


def _decompressed(packed: bytes) -> bytes:
    """The decompressed bytes. Raises `ValueError` if the stream is incomplete or far too large."""
    opened = zlib.decompressobj()
    try:
        data = opened.decompress(packed, _MAX_UNPACKED_BYTES)
    except zlib.error as error:
        raise ValueError(f"the word counts cannot be unpacked: {error}") from error
    if not opened.eof or opened.unused_data:
        raise ValueError("the word counts are cut off, too many, or followed by something else")
    return data


def _unpacked(data: bytes, num_words: int, least: int) -> Iterable[tuple[str, int]]:
    """Words and counts.

    Raises `ValueError` where they contradict each other or their description.
    """
    words: list[str] = []
    position = 0
    before = b""
    for _ in range(num_words):
        end = data.find(b"\n", position + 1)
        if end < 0 or data[position] > len(before):
            raise ValueError(f"the word counts have {len(words):,} words, not {num_words:,}")
        word = before[: data[position]] + data[position + 1 : end]
        text = word.decode("utf-8")  # a `UnicodeDecodeError` is a `ValueError`
        if word <= before or not is_word(text):
            raise ValueError(f"the counted word {shown(text)} is none, or not in its place")
        words.append(text)
        position = end + 1
        before = word
    numbers = list(_numbers(data, position))
    if len(numbers) != num_words:
        raise ValueError(f"there are {len(numbers):,} counts of {num_words:,} words")
    if min(numbers) < least or max(numbers) > _MAX_COUNT:
        raise ValueError(f"a word was counted {shown(min(numbers))} to {shown(max(numbers))} times")
    return zip(words, numbers, strict=True)


def _numbers(data: bytes, position: int) -> Iterable[int]:
    value = shift = 0
    for byte in data[position:]:
        value |= (byte & 127) << shift
        if byte < 128:
            yield value
            value = shift = 0
        elif shift > 63:
            raise ValueError("a word count is too large")
        else:
            shift += 7
    if shift:
        raise ValueError("the last word count is cut off")


REPLACEMENTS: Mapping[str, Mapping[str, str]] = {
    "de": {"ss": "ß", "ae": "ä", "oe": "ö", "ue": "ü", "Ae": "Ä", "Oe": "Ö", "Ue": "Ü"},
}
"""By language: what people type for a letter that their keyboard or capitals lack."""
SLIPS_BELOW = 3
"""Occurrences below which a training word may be a slip: “schoss” once, “schoß” 46 times."""
TIMES_AS_FREQUENT = 10
"""The usual spelling of a slip is at least this many times as frequent."""
MAX_PLACES = 8
"""Maximum number of places for such a letter in a word, for at most 2 ** 8 spellings.

Other words stay unchanged.
"""


@dataclass(frozen=True, eq=False)
class SpellingRestorer:
    """Finds the training data's spelling for words that they hardly contain as typed.

    Words without a known spelling stay unchanged, and so do words of the training data, except
    slips: those that occur less than `SLIPS_BELOW` times, and in another spelling at least
    `TIMES_AS_FREQUENT` times as often.

    Attributes:
        replacements: typed letters, and the letter they may replace.
        counts: those of all words of the training data.
    """

    replacements: Mapping[str, str]
    counts: WordCounts

    @classmethod
    def of_language(cls, language: str, counts: WordCounts | None) -> "SpellingRestorer | None":
        """The restorer for a language; None without known replacements or complete word counts."""
        replacements = REPLACEMENTS.get(two_letter_code(language))
        # a word that is not listed may have been there
        if replacements is None or counts is None or counts.least > 1:
            return None
        return cls(replacements, counts)

    @cached_property
    def _places(self) -> re.Pattern[str]:
        return re.compile("(" + "|".join(map(re.escape, self.replacements)) + ")")

    def restore(self, word: str) -> str:
        """The most frequent known spelling; the word itself unless that is far more frequent."""
        counts = self.counts.counts
        if counts.get(word, 0) >= SLIPS_BELOW:
            return word
        parts = self._places.split(word)  # every second part may replace a letter
        if not 1 <= len(parts) // 2 <= MAX_PLACES:
            return word
        choices = [
            (part, self.replacements[part]) if index % 2 else (part,)
            for index, part in enumerate(parts)
        ]
        known = [spelling for spelling in map("".join, product(*choices)) if spelling in counts]
        # of equally frequent ones the first
        best = max(known, key=counts.__getitem__, default=word)
        return best if counts.get(best, 0) >= TIMES_AS_FREQUENT * counts.get(word, 0) else word
