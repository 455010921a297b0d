"""Typing noise: no final punctuation, a single letter case, no ß or umlauts, typing errors."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

Distortion = Literal["no-final-stop", "lower-case", "upper-case", "ss", "umlauts", "typo"]
DISTORTIONS: tuple[Distortion, ...] = get_args(Distortion)

_FINAL_STOPS = ".!?"
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_MIN_LETTERS = 4
"""Shorter words get no typing errors."""


def distort(words: Sequence[str], kind: Distortion, rng: random.Random) -> list[str]:
    """A sentence with typing noise.

    Args:
        words: tokens of any kind, or words between spaces.
        kind: "no-final-stop": the last word loses its full stop, exclamation or question mark;
            "lower-case" and "upper-case": every letter (ß becomes SS); "ss" in place of ß;
            "umlauts": ae, oe, ue in place of ä, ö, ü; "typo": in one word of at least four letters,
            a letter is omitted or doubled, or two letters are swapped.
        rng: for the typing error; the other kinds are deterministic.

    Returns:
        The same number of words; a word that was only final punctuation is empty.
    """
    if kind == "no-final-stop":
        return [*words[:-1], *(word.rstrip(_FINAL_STOPS) for word in words[-1:])]
    if kind == "typo":
        return _with_typo(words, rng)
    return [_PER_WORD[kind](word) for word in words]


_PER_WORD: Mapping[Distortion, Callable[[str], str]] = {
    "lower-case": str.lower,
    "upper-case": str.upper,
    "ss": lambda word: word.replace("ß", "ss").replace("ẞ", "SS"),
    "umlauts": lambda word: word.translate(_UMLAUTS),
}
"""The kinds that change each word for itself, always in the same way."""


def _with_typo(words: Sequence[str], rng: random.Random) -> list[str]:
    """One letter in a word, never the first, is left out, doubled, or swapped with the next."""
    long_enough = [
        index for index, word in enumerate(words) if word.isalpha() and len(word) >= _MIN_LETTERS
    ]
    typed = list(words)
    if long_enough:
        chosen = rng.choice(long_enough)
        word = words[chosen]
        position = rng.randrange(1, len(word) - 1)
        before, letter, after = word[:position], word[position], word[position + 1 :]
        typed[chosen] = before + rng.choice(
            (after, letter * 2 + after, after[0] + letter + after[1:])
        )
    return typed
