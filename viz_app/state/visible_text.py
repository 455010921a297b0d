"""Tokens as they are shown: one that would leave nothing to be seen is named by its code points. No Qt."""

import re
import unicodedata
from functools import lru_cache

from augenmerk.core.text.codec import CONTINUATION

INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_LONG_WORD = re.compile(r"\S{24}(?=\S)")
BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols whose picture is empty: Hangul fillers and the blank Braille pattern."""


@lru_cache(maxsize=4096)
def visible(token: str) -> str:
    """The token; "U+200B" for a zero-width space, and so for all that consist of nothing visible.

    Args:
        token: as it is shown elsewhere, perhaps with the mark of a piece before it.
    """
    rest = token.removeprefix(CONTINUATION)
    if not rest or not all(map(_is_invisible, rest)):
        return token
    mark = token[: len(token) - len(rest)]
    return mark + " ".join(f"U+{ord(letter):04X}" for letter in rest)


def breakable(text: str) -> str:
    """The text with places in its very long words where a line may break: else a label grows as wide as the word.

    For labels, which show nothing there; not for text that is copied or read by a program.
    """
    return _LONG_WORD.sub(lambda found: f"{found[0]}\u200b", text)


def elided(text: str, length: int) -> str:
    """A text of at most so many characters, at least 3: what lies between its ends gives way to an ellipsis."""
    if len(text) <= length:
        return text
    end = (length - 1) // 2
    return f"{text[: length - 1 - end]}…{text[-end:]}"


def _is_invisible(letter: str) -> bool:
    return unicodedata.category(letter) in INVISIBLE or letter in BLANK_LETTERS
