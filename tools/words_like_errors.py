"""Write `resources/words-like-errors.txt`: words that are no errors, though they look like one.

    pip install wordfreq
    python -m tools.words_like_errors

These German words are frequent elsewhere, and one error away from a word of the bundled model's
training data: “liefen” from “liegen”. Frequencies are those of wordfreq 3.1
(https://github.com/rspeer/wordfreq), on its scale of Zipf: the logarithm of occurrences in a
billion words.
"""

from importlib import import_module

from augenmerk.core.extensions.corrections import (
    FEWEST_LETTERS,
    SIMPLER,
    WORDS_LIKE_ERRORS,
    nearest_word,
)
from augenmerk.core.resources import resource_path
from augenmerk.core.storage import write_text
from augenmerk.core.translation.translator import Translator

LEAST_FREQUENCY = 3.0
"""Below it are mostly names, and errors themselves."""
MOST_BELOW = 3.0
"""A word this much rarer than the one next to it is an error that is made often: “nciht”."""
MOST_BELOW_WITHOUT_MARKS = 1.5
"""The same for words that differ only in marks over letters: “zuruck”."""
WORDS_A_LINE = 12


def main() -> None:
    """Writes the list."""
    zipf_frequency = import_module("wordfreq").zipf_frequency
    counts = Translator.load(device="cpu").checkpoint.word_counts
    assert counts is not None, "the bundled model has counts"
    words = []
    for word in import_module("wordfreq").top_n_list("de", 200_000):
        frequency = zipf_frequency(word, "de")
        near = nearest_word(word, counts) if len(word) >= FEWEST_LETTERS else ""
        if near and frequency >= LEAST_FREQUENCY:
            has_marks = _without_marks(word) == _without_marks(near)
            most_below = MOST_BELOW_WITHOUT_MARKS if has_marks else MOST_BELOW
            if zipf_frequency(near, "de") - frequency < most_below:
                words.append(word)
    words.sort()
    lines = [
        " ".join(words[start : start + WORDS_A_LINE])
        for start in range(0, len(words), WORDS_A_LINE)
    ]
    write_text(resource_path(WORDS_LIKE_ERRORS), "\n".join(lines) + "\n")
    print(f"{len(words)} words")


def _without_marks(word: str) -> str:
    for simple, marked in SIMPLER.items():
        word = word.replace(marked, simple)
    return word


if __name__ == "__main__":
    main()
