"""Joins spaCy's tokens into a normally written sentence."""

from collections.abc import Sequence

_NO_SPACE_BEFORE = frozenset(". , ; : ! ? ) ] } % … ” ’ n't 's 'm 're 've 'll 'd 'S N'T st nd rd th".split())
_NO_SPACE_AFTER = frozenset("( [ { $ # “ ‘".split())
_JOINS_BOTH = frozenset("- / –".split())
_STRAIGHT_QUOTES = frozenset("\" '".split())
_CLITIC_HEADS = {"can": ("not",), "gon": ("na",), "wan": ("na",), "got": ("ta",)}


def detokenize(tokens: Sequence[str]) -> str:
    """Joins `tokens` into a sentence: no space before a full stop, none inside quotation marks, "t-shirt" in one."""
    pieces: list[str] = []
    open_quotes: set[str] = set()
    glue_next = True
    for index, token in enumerate(tokens):
        closes = token in _STRAIGHT_QUOTES and (token in open_quotes or _is_possessive(tokens, index))
        opens = token in _STRAIGHT_QUOTES and not closes
        joins = token in _JOINS_BOTH and 0 < index < len(tokens) - 1 and _between_words(tokens, index)
        glued = glue_next or closes or joins or _attaches_left(tokens, index)
        pieces.append(token if glued else " " + token)
        glue_next = opens or joins or token in _NO_SPACE_AFTER
        if opens:
            open_quotes.add(token)
        elif closes:
            open_quotes.discard(token)
    return "".join(pieces)


def _attaches_left(tokens: Sequence[str], index: int) -> bool:
    token, before = tokens[index], tokens[index - 1] if index else ""
    if token in ("st", "nd", "rd", "th"):
        return before.isdigit()
    return token in _NO_SPACE_BEFORE or token in _CLITIC_HEADS.get(before.lower(), ())


def _between_words(tokens: Sequence[str], index: int) -> bool:
    return tokens[index - 1][-1:].isalnum() and tokens[index + 1][:1].isalnum()


def _is_possessive(tokens: Sequence[str], index: int) -> bool:
    return tokens[index] == "'" and index > 0 and tokens[index - 1].endswith("s") and "'" not in tokens[:index]


def capitalize_first(text: str) -> str:
    """`text` with its first letter in upper case."""
    for index, character in enumerate(text):
        if character.isalnum():
            return text[:index] + character.upper() + text[index + 1 :]
    return text
