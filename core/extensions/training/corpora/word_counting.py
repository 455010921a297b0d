"""Counts of the source words of a training split, which are stored with a model."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from ....text.word_counts import MAX_WORDS, RARE_BELOW, WordCounts, has_letters, is_word, mean_log

NUM_UNUSUAL_PER_MILLE = 5
"""The number of unusual sentences per thousand training sentences."""
_MAX_SAMPLED = 20_000


def count_words(sentences: Sequence[Sequence[str]], kind: str = "") -> WordCounts | None:
    """The counts of a training split, see `split_lines`; None if it has too many different
    words.
    """
    counted: Counter[str] = Counter()
    for words in sentences:
        counted.update(words)
    counts = {word: number for word, number in counted.items() if is_word(word)}
    least = 1
    while len(counts) > MAX_WORDS and least < RARE_BELOW:
        least += 1
        counts = {word: number for word, number in counts.items() if number >= least}
    if not 0 < len(counts) <= MAX_WORDS:
        return None
    word_counts = WordCounts(dict(sorted(counts.items())), kind, least)
    return replace(word_counts, unusual_below=_unusual_below(word_counts, sentences))


def joined_counts(earlier: WordCounts, later: WordCounts) -> WordCounts | None:
    """The counts for a model of two corpora: the larger count of each word, because they may share
    sentences.

    The threshold for unusual sentences is that of the larger corpus. The kind is that of both, or
    of the corpus that has all words of the other as often. None if there are too many different
    words.
    """
    least = max(earlier.least, later.least)
    counts = {
        word: number
        for word in sorted({*earlier.counts, *later.counts})
        if (number := max(earlier.counts.get(word, 0), later.counts.get(word, 0))) >= least
    }
    if len(counts) > MAX_WORDS:
        return None
    common = later.kind if later.kind == earlier.kind else ""
    kind = next((part.kind for part in (earlier, later) if part.counts == counts), common)
    # the later one if they are equal
    larger = max(later, earlier, key=lambda part: sum(part.counts.values()))
    return WordCounts(counts, kind, least, larger.unusual_below)


def _unusual_below(counts: WordCounts, sentences: Sequence[Sequence[str]]) -> float:
    """The familiarity that nearly all training sentences reach.

    Each is rated without its own words among the counts.
    """
    familiarities = []
    for words in islice(sentences, 0, None, -(-len(sentences) // _MAX_SAMPLED)):
        own = Counter(word for word in words if has_letters(word))
        mean = mean_log(
            [max(0, counts.counts.get(word, 0) - number) for word, number in own.items()]
        )
        if mean is not None:
            familiarities.append(mean)
    index = len(familiarities) * NUM_UNUSUAL_PER_MILLE // 1000
    return round(sorted(familiarities)[index], 3) if index else 0.0
