"""Translations that lack many words of their text: they are much shorter, or repeat themselves.

Only counts words, and so finds what `core.maps.left_out` does not: that the text says a word again
elsewhere. Pages count the same way (`page/missing_words.js`).
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..config import RunConfig
from ..text.languages import two_letter_code
from ..translation.result import Translation, Word

USUAL_RATIO: Mapping[tuple[str, str], float] = {("de", "en"): 1.08}
"""Words of a translation for each of its source, by the pairs of languages that were checked.

The median of the bundled model over `val` and `test_2016_flickr`.
"""
LEAST_SHARE = 0.75
"""Share of the usual ratio below which words are missing.

It gives a note to 4 of these 2,014 captions, and to most texts that join four captions, of which
about a half is missing: tests/core/extensions/test_missing_words.py.
"""
FEWEST_MISSING = 7
"""Fewer words are missing from free translations, too."""
SHORTER = "The translation is much shorter than the text: it probably left out about {count} words."
REPEATS = "The translation repeats itself: it probably left out about {count} words of the text."


def missing_words_note(translation: Translation, run: RunConfig) -> str:
    """A sentence for the reader on a translation that lacks many words of its text.

    `run`: of its model. Empty if none are missing, and for a given translation, text in another
    language than the model's, or languages and models of other projects, for which the rule was not
    checked.
    """
    rules = missing_words_rules(run)
    if rules is None or translation.is_given or translation.hint:
        return ""
    source, target = _words(translation.source_words), _words(translation.target_words)
    counts: dict[str, Callable[[Sequence[str]], int]] = {"shorter": len, "repeats": _num_pairs}
    for name, count in counts.items():
        missing = count(source) - count(target)
        is_short = count(target) < rules["least_ratio"] * count(source)
        if is_short and missing >= rules["fewest_missing"]:
            note: str = rules["notes"][name]
            return note.format(count=missing)
    return ""


def missing_words_rules(run: RunConfig) -> dict[str, Any] | None:
    """The numbers and sentences of the rule, JSON-ready; None where it was not checked."""
    data = run.data
    languages = two_letter_code(data.source_language), two_letter_code(data.target_language)
    ratio = USUAL_RATIO.get(languages)
    if ratio is None or data.is_imported or run.is_copy_task:
        return None
    return {
        "least_ratio": LEAST_SHARE * ratio,
        "fewest_missing": FEWEST_MISSING,
        "notes": {"shorter": SHORTER, "repeats": REPEATS},
    }


def _words(words: Sequence[Word]) -> list[str]:
    """Their texts, without marks."""
    return [word.text for word in words if any(map(str.isalnum, word.text))]


def _num_pairs(words: Sequence[str]) -> int:
    """The number of different pairs of neighbours: what is said again adds nothing."""
    return len({*pairwise(words)})
