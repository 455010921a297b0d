"""Byte-pair encoding with merges learned by subword-nmt (Sennrich et al. 2016).

A separator ends each piece of a word except the last: `häu@@ ser`. With a vocabulary, merges are undone until each
piece is in it or is a character.
"""

from collections.abc import Collection, Iterator
from itertools import pairwise

_END = "</w>"
MAX_MERGES = 1_000_000
_VERSIONS = {"#version: 0.1": False, "#version: 0.2": True}
"""By the first line of a file, without zeros at its end: whether the last character of a word is marked from the
beginning, not a symbol of its own."""


class Merges:
    """The merges of a file written by subword-nmt.

    Args:
        text: the content of the file.
        separator: the end of each piece except the last.
        vocabulary: pieces with their separators; merges into other pieces are undone.

    Raises:
        ValueError: subword-nmt cannot have written the text.
    """

    def __init__(self, text: str, separator: str, vocabulary: Collection[str]) -> None:
        if not separator or any(character.isspace() for character in separator):
            raise ValueError(f"the separator is {separator!r}, which no piece can end with")
        lines = text.rstrip("\n").split("\n")
        first = lines[0].rstrip("\r")
        self._marks_last = False
        if first.startswith("#version:"):
            while first.endswith(".0"):
                first = first.removesuffix(".0")
            if first not in _VERSIONS:
                raise ValueError(f"it begins with {first[:40]!r} instead of version 0.1 or 0.2")
            self._marks_last = _VERSIONS[first]
            del lines[0]
        if len(lines) > MAX_MERGES:
            raise ValueError(f"it has {len(lines):,} merges, more than {MAX_MERGES:,}")
        pairs = [tuple(line.strip("\r\n ").split(" ")) for line in lines]
        for number, pair in enumerate(pairs):
            if len(pair) != 2:
                raise ValueError(f"the merge {number + 1} is {' '.join(pair)[:40]!r} instead of two pieces")
        # of equals the first counts, and of merges that give the same, the first is what is taken back
        self._ranks = {pair: rank for rank, pair in reversed(list(enumerate(pairs)))}
        self._parts = {"".join(pair): pair for pair in self._ranks}
        self._separator, self._vocabulary = separator, vocabulary

    def pieces_of(self, word: str) -> list[str]:
        """The pieces of a word without spaces, without separators; joined, they are the word."""
        if len(word) == 1:
            return [word]
        symbols = [*word[:-1], word[-1] + _END] if self._marks_last else [*word, _END]
        while len(symbols) > 1:
            ranked = [(self._ranks[pair], pair) for pair in pairwise(symbols) if pair in self._ranks]
            if not ranked:
                break
            symbols = _merged(symbols, min(ranked)[1])
        if symbols[-1] == _END:
            del symbols[-1]
        else:
            symbols[-1] = symbols[-1].removesuffix(_END)
        if not self._vocabulary:
            return symbols
        return [
            piece
            for place, symbol in enumerate(symbols)
            for piece in self._known(symbol, is_last=place == len(symbols) - 1)
        ]

    def _known(self, piece: str, *, is_last: bool) -> Iterator[str]:
        """The piece if it is in the vocabulary, otherwise the pieces it was merged from."""
        waiting = [(piece, is_last)]
        while waiting:
            here, last = waiting.pop()
            parts = self._parts.get(here + _END if last else here)
            if (here if last else here + self._separator) in self._vocabulary or parts is None:
                yield here
            else:
                waiting += [(parts[1][: -len(_END)] if last else parts[1], last), (parts[0], False)]


def _merged(symbols: list[str], pair: tuple[str, ...]) -> list[str]:
    """The symbols with this pair merged, from the left."""
    found: list[str] = []
    place = 0
    while place < len(symbols):
        size = 2 if tuple(symbols[place : place + 2]) == pair else 1
        found.append("".join(symbols[place : place + size]))
        place += size
    return found
