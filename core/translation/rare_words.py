"""Which words of a source the training data hardly had, and which they spell otherwise."""

from augenmerk.core.text.codec import CONTINUATION
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.text.vocabulary import UNKNOWN
from augenmerk.core.text.word_counts import RARE_BELOW, WordCounts, has_letters
from augenmerk.core.translation.coverage import Coverage, RareWord, RespelledWord
from augenmerk.core.translation.source import EncodedSource

FEWEST_RARE_WORDS = 2
"""Different ones, in a sentence that is said to be unlike the training data."""


def cover(source: EncodedSource, counts: WordCounts | None) -> Coverage | None:
    """The coverage of a source; None if nobody knows how often the training data had its words."""
    if counts is None:
        return None
    rare, respelled = [], []
    for word, spelling in zip(source.words, source.spellings, strict=True):
        if spelling != word.text:
            respelled.append(RespelledWord(word.text, spelling, word.start, word.end))
        count = counts.of(spelling)
        if count >= RARE_BELOW or spelling == UNKNOWN:
            continue
        pieces = (label.removeprefix(CONTINUATION) or label for label in source.labels[word.start : word.end])
        rare.append(
            RareWord(
                text=spelling,
                count=count,
                start=word.start,
                end=word.end,
                pieces=tuple(piece for piece in pieces if piece != WORD_MARK),
                is_unknown=any(position in source.unknown_positions for position in range(word.start, word.end)),
                is_exact=counts.is_exact(spelling),
            )
        )
    return Coverage(tuple(rare), _is_unlike_training(source, rare, counts), counts.kind, tuple(respelled))


def _is_unlike_training(source: EncodedSource, rare: list[RareWord], counts: WordCounts) -> bool:
    """Repeated words count once; numbers and marks say nothing about a language."""
    different = {spelling for spelling in source.spellings if has_letters(spelling)}
    num_rare = len(different.intersection(word.text for word in rare))
    if num_rare < FEWEST_RARE_WORDS:
        return False
    familiarity = counts.familiarity(different)
    return 2 * num_rare >= len(different) or (familiarity is not None and familiarity < counts.unusual_below)
