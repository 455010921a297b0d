"""The text processing of JoeyNMT models (version 2): words, characters, SentencePiece or subword-nmt.

A line is normalized, lower-cased and split into pieces, which are looked up in a list; others become `<unk>`. The
tokens equal those of JoeyNMT's tokenizers.
"""

import base64
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, Literal, Protocol, get_args

import sentencepiece

from augenmerk.core.text.marian import (
    ForeignCodec,
    Piece,
    label_of_piece,
    pieces_of_text,
    spelled,
    stored_vocabulary,
    word_ranges,
)
from augenmerk.core.text.subword_check import check_model, restricted_model
from augenmerk.core.text.subword_nmt import Merges
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.text.text_codec import DecodedWord, EncodedWord
from augenmerk.core.text.vocabulary import Vocabulary

Level = Literal["word", "char", "sentencepiece", "subword-nmt"]
_SPACES = re.compile("[ \u3000]+")
_QUOTES = str.maketrans("’“”", '\'""')
_NO_SPACE_BEFORE = frozenset("?!,.:")
_LINE_BREAKS = str.maketrans("\n\r", "  ")
_SHOWN_SPACE = "␣"


class Segmenter(Protocol):
    """Splits a prepared line into pieces, and joins pieces."""

    def pieces(self, text: str) -> list[Piece]:
        """The pieces of a line, with their places in it."""
        ...

    def ranges(self, pieces: Sequence[str]) -> list[tuple[int, int]]:
        """Which pieces make a word: half-open ranges that cover all pieces."""
        ...

    def join(self, pieces: Sequence[str]) -> str:
        """The text that pieces spell."""
        ...


class _Words:
    def pieces(self, text: str) -> list[Piece]:
        """The text between single spaces, which is empty between two of them."""
        words = text.split(" ")
        starts = accumulate((len(word) + 1 for word in words), initial=0)
        return [Piece(word, start, start + len(word)) for word, start in zip(words, starts, strict=False)]

    def ranges(self, pieces: Sequence[str]) -> list[tuple[int, int]]:
        """Each piece is a word; an empty piece belongs to the next one."""
        ends = [place + 1 for place, piece in enumerate(pieces) if piece] or [len(pieces)]
        return list(pairwise([0, *ends[:-1], len(pieces)])) if pieces else []

    def join(self, pieces: Sequence[str]) -> str:
        """With spaces between them."""
        return " ".join(pieces)


class _Characters:
    def pieces(self, text: str) -> list[Piece]:
        """Each character, with a mark for a space."""
        return [Piece(each, place, place + 1) for place, each in enumerate(text.replace(" ", WORD_MARK))]

    def ranges(self, pieces: Sequence[str]) -> list[tuple[int, int]]:
        """A word begins with a mark."""
        return word_ranges(pieces)

    def join(self, pieces: Sequence[str]) -> str:
        """One after the other."""
        return "".join(pieces).replace(WORD_MARK, " ")


class _SentencePieces:
    """Pieces of a SentencePiece model, without those outside the vocabulary."""

    def __init__(self, model: bytes, vocabulary: Collection[str]) -> None:
        restricted = restricted_model(model, vocabulary)
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=restricted)

    def pieces(self, text: str) -> list[Piece]:
        """The pieces of the model."""
        return pieces_of_text(self._processor, text)

    def ranges(self, pieces: Sequence[str]) -> list[tuple[int, int]]:
        """A word begins with a mark."""
        return word_ranges(pieces)

    def join(self, pieces: Sequence[str]) -> str:
        """The text as the model joins it."""
        text: str = self._processor.decode_pieces(list(pieces))
        return text.replace(WORD_MARK, " ").strip()


class _SubwordNmt:
    """Pieces of subword-nmt. A separator ends each piece of a word except the last."""

    def __init__(self, codes: str, separator: str, vocabulary: Collection[str]) -> None:
        self._merges, self._separator = Merges(codes, separator, vocabulary), separator

    def pieces(self, text: str) -> list[Piece]:
        """The pieces of each word between spaces; other white space also separates pieces."""
        found = []
        for word in re.finditer("[^ ]+", text.strip("\r\n ")):
            position = word.start() + len(text) - len(text.lstrip("\r\n "))
            parts = self._merges.pieces_of(word.group())
            for place, part in enumerate(parts):
                whole = part if place == len(parts) - 1 else part + self._separator
                found += [Piece(each, position, position + len(part)) for each in whole.split()]
                position += len(part)
        return found

    def ranges(self, pieces: Sequence[str]) -> list[tuple[int, int]]:
        """A word ends with a piece that has no separator."""
        ends = [place + 1 for place, piece in enumerate(pieces) if not piece.endswith(self._separator)]
        return list(pairwise(sorted({0, *ends, len(pieces)})))

    def join(self, pieces: Sequence[str]) -> str:
        """The pieces with a space at the end of each word."""
        return " ".join(pieces).replace(self._separator + " ", "").removesuffix(self._separator)


class JoeyNMTCodec(ForeignCodec):
    """One side of a pair as JoeyNMT's models read and write it.

    Args:
        language: its code; "und" if it is not known.
        vocabulary: tokens and ids.
        level: what a line is cut into.
        model: a serialized SentencePiece model, for that level.
        codes: the merges of subword-nmt, for that level.
        separator: of subword-nmt.
        lowercase: whether lines are lower-cased.
        normalizes: whether lines are brought into Unicode's NFKC form, and superfluous spaces taken out of them and of
            translations.

    Raises:
        ValueError, RuntimeError: the model or the merges cannot be used.
    """

    def __init__(
        self,
        language: str,
        vocabulary: Vocabulary,
        level: Level,
        *,
        model: bytes | None = None,
        codes: str | None = None,
        separator: str = "@@",
        lowercase: bool = False,
        normalizes: bool = False,
    ) -> None:
        super().__init__(language, vocabulary)
        self._level, self._model, self._codes, self._separator = level, model, codes, separator
        self._lowercase, self._normalizes = lowercase, normalizes
        self._cutter = self._make_cutter()

    def _make_cutter(self) -> Segmenter:
        if self._level == "sentencepiece":
            if not self._model:
                raise ValueError("the SentencePiece model is missing")
            return _SentencePieces(self._model, self.vocabulary.ids)
        if self._level == "subword-nmt":
            if self._codes is None:
                raise ValueError("the merges are missing")
            marks = {self.vocabulary.tokens[mark] for mark in self.vocabulary.special_ids}
            return _SubwordNmt(self._codes, self._separator, self.vocabulary.ids.keys() - marks)
        return _Words() if self._level == "word" else _Characters()

    @property
    def has_pieces(self) -> bool:
        """Whether the first piece of a word begins with a mark."""
        return self._level == "sentencepiece"

    def one_line(self, text: str) -> str:
        """The text without line breaks, otherwise unchanged."""
        return text.translate(_LINE_BREAKS)

    def encode_text(self, line: str, *, begins_sentence: bool = True) -> list[EncodedWord]:
        """The words of one line with their ids."""
        characters = self._prepared(line)
        pieces = self._cutter.pieces("".join(character.text for character in characters))
        words = []
        for start, end in self._cutter.ranges([piece.text for piece in pieces]):
            words.append(self._encoded(pieces[start:end], characters, len(line)))
        return words

    def _prepared(self, line: str) -> list[Piece]:
        """The characters to split into pieces, with their places in the line."""
        characters = [Piece(each, place, place + 1) for place, each in enumerate(line)]
        if self._normalizes:
            characters = list(_without_extra_spaces(_composed(line)))
        if not self._lowercase:
            return characters
        lowered = iter("".join(each.text for each in characters).lower())  # Σ at the end of a word has its own
        return [
            Piece(next(lowered), each.start, each.end) for each in characters for _ in range(len(each.text.lower()))
        ]

    def _encoded(self, pieces: Sequence[Piece], characters: Sequence[Piece], length: int) -> EncodedWord:
        start, end = pieces[0].start, max(piece.end for piece in pieces)
        covered = characters[start:end]
        texts = [piece.text for piece in pieces]
        return self._word_of(
            self._spelled(texts),
            texts,
            char_start=covered[0].start if covered else characters[start].start if start < len(characters) else length,
            char_end=covered[-1].end if covered else characters[start].start if start < len(characters) else length,
        )

    def _label(self, piece: str, *, is_first: bool = False) -> str:
        if self._level == "sentencepiece":
            return label_of_piece(piece, is_first=is_first)
        return piece or _SHOWN_SPACE

    def decode(self, ids: Sequence[int]) -> list[DecodedWord]:
        """The words that `ids` spell, without special tokens except the unknown one."""
        skipped = self.vocabulary.special_ids - {self.vocabulary.unknown_id}
        places = [place for place, token_id in enumerate(ids) if token_id not in skipped]
        pieces = [self.vocabulary.tokens[ids[place]] for place in places]
        words = [
            DecodedWord(self._spelled(pieces[start:end]), places[start], places[end - 1] + 1)
            for start, end in self._cutter.ranges(pieces)
        ]
        return [word for word in words if word.text]

    def _spelled(self, pieces: Sequence[str]) -> str:
        """A word of these pieces; unknown ones appear as their token."""
        if self._level in ("sentencepiece", "char"):
            return spelled(pieces)
        return self._cutter.join(pieces).strip()

    def text_of(self, ids: Sequence[int]) -> str:
        """The readable sentence, including unknown tokens."""
        skipped = self.vocabulary.special_ids - {self.vocabulary.unknown_id}
        text = self._cutter.join([self.vocabulary.tokens[token_id] for token_id in ids if token_id not in skipped])
        if not self._normalizes:
            return text
        characters = [Piece(each, place, place + 1) for place, each in enumerate(text)]
        return "".join(each.text for each in _without_extra_spaces(characters))

    def to_dict(self) -> dict[str, Any]:
        """The codec as JSON-ready values; its language is among the settings."""
        return {
            "vocabulary": self.vocabulary.to_dict(),
            "level": self._level,
            "model": None if self._model is None else base64.b64encode(self._model).decode("ascii"),
            "codes": self._codes,
            "separator": self._separator,
            "lowercase": self._lowercase,
            "normalizes": self._normalizes,
        }

    @classmethod
    def from_dict(cls, language: str, values: dict[str, Any]) -> "JoeyNMTCodec":
        """The inverse of `to_dict`. Raises `ValueError`, `TypeError`, `KeyError` or `RuntimeError` if it is damaged."""
        vocabulary = stored_vocabulary(values)
        if values["level"] not in get_args(Level):
            raise ValueError(f"the level is {values['level']!r}, which is not known")
        if not isinstance(values["separator"], str) or not isinstance(values["codes"], str | None):
            raise TypeError("the merges or their separator are no text")
        if not isinstance(values["lowercase"], bool) or not isinstance(values["normalizes"], bool):
            raise TypeError("whether lines are lower-cased and normalized is not told by true or false")
        model = None if values["model"] is None else base64.b64decode(values["model"], validate=True)
        if model is not None:
            check_model(model)
        return cls(
            language,
            vocabulary,
            values["level"],
            model=model,
            codes=values["codes"],
            separator=values["separator"],
            lowercase=values["lowercase"],
            normalizes=values["normalizes"],
        )


def _composed(line: str) -> list[Piece]:
    """The characters of the NFKC form of a line, with plain quotes, and their places in the line as it was."""
    found: list[Piece] = []
    start = 0
    for end in range(1, len(line) + 1):
        here = _nfkc(line[start:end])
        if end < len(line) and (
            unicodedata.combining(line[end]) or _nfkc(line[start : end + 1]) != here + _nfkc(line[end])
        ):
            continue
        found += [Piece(each, start, end) for each in here]
        start = end
    whole = _nfkc(line)
    if "".join(each.text for each in found) != whole:  # characters far from each other changed places
        found = [Piece(each, 0, len(line)) for each in whole]
    return [Piece(each.text.translate(_QUOTES), each.start, each.end) for each in found]


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _without_extra_spaces(characters: Sequence[Piece]) -> Iterator[Piece]:
    """Without zero-width spaces, doubled ones, those before punctuation, and white space around the line."""
    kept: list[Piece] = []
    for each in characters:
        if each.text == "\u200b" or (kept and _SPACES.match(each.text) and kept[-1].text == " "):
            continue
        kept.append(Piece(_SPACES.sub(" ", each.text), each.start, each.end))
    spaced = [
        each
        for each, following in pairwise([*kept, None])
        if each is not None and not (each.text == " " and following is not None and following.text in _NO_SPACE_BEFORE)
    ]
    first = next((place for place, each in enumerate(spaced) if not each.text.isspace()), len(spaced))
    last = next((place for place in range(len(spaced), first, -1) if not spaced[place - 1].text.isspace()), first)
    yield from spaced[first:last]
