"""The text processing of imported models: Marian's and JoeyNMT's (version 2).

Marian cuts text into raw SentencePiece pieces, looked up in a separate vocabulary: a piece has the
id of the vocabulary, or `<unk>`. The ids of the SentencePiece models are ignored, and only these
models normalize text. The tokens equal those of `MarianTokenizer` in Hugging Face transformers.
JoeyNMT normalizes a line, lower-cases it and splits it into words, characters, pieces of
SentencePiece or of subword-nmt (Sennrich et al. 2016). The tokens equal those of its tokenizers.
"""

import base64
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Literal, get_args

import sentencepiece

from ...text.foreign_codec import ForeignCodec, is_punctuation
from ...text.languages import is_target_code
from ...text.subwords import WORD_MARK
from ...text.text_codec import EncodedWord, Word
from ...text.vocabulary import Vocabulary
from .foreign_subwords import check_foreign_model, restricted_model

_CLEANING = (
    *((f" {mark}", mark) for mark in (".", "?", "!", ",")),
    (" ' ", "'"),
    *((f" {ending}", ending) for ending in ("n't", "'m", "'s", "'ve", "'re")),
)
"""Replacements for cleaning up a text, in order."""
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Characters of scripts without spaces between words: Thai, Lao, Burmese, Khmer, Japanese,
Chinese."""


@dataclass(frozen=True)
class Piece:
    """A piece and its part of the line."""

    text: str
    start: int
    end: int


def _model_to_text(model: bytes | None) -> str | None:
    return None if model is None else base64.b64encode(model).decode("ascii")


def _model_from_text(text: str | None) -> bytes | None:
    """The inverse of `_model_to_text`. Raises `ValueError` if the model cannot be read safely."""
    model = None if text is None else base64.b64decode(text, validate=True)
    if model is not None:
        check_foreign_model(model)
    return model


def _stored_vocabulary(values: dict[str, Any]) -> Vocabulary:
    vocabulary = Vocabulary.from_dict(values["vocabulary"])
    if vocabulary.unknown_id is None or vocabulary.end_id is None:
        raise ValueError("the vocabulary has no unknown token, or no end token")
    return vocabulary


@dataclass(frozen=True)
class AddedToken:
    """A token of the vocabulary that is looked for in a line before it is cut into pieces.

    Attributes:
        text: of the token.
        is_special: whether translations leave it out.
        strips_left: whether white space to its left is ignored.
        strips_right: whether white space to its right is ignored.
        is_word: whether it is only found between spaces.
    """

    text: str
    is_special: bool = False
    strips_left: bool = False
    strips_right: bool = False
    is_word: bool = False

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "AddedToken":
        """The token that `asdict` gave. Raises `TypeError` if `values` are damaged."""
        token = cls(**values)
        flags = (token.is_special, token.strips_left, token.strips_right, token.is_word)
        if (
            not isinstance(token.text, str)
            or not token.text
            or not all(isinstance(flag, bool) for flag in flags)
        ):
            raise TypeError("an added token is damaged")
        return token


class MarianCodec(ForeignCodec):
    """One side of a pair as Marian's models read and write it.

    Args:
        language: its code; "und" if it is not known.
        vocabulary: tokens and ids.
        reads: a serialized SentencePiece model, which cuts lines into pieces.
        writes: another one, which joins pieces to lines; None for the same.
        cleans_up: whether spaces before punctuation are removed from the output.
        added: tokens of the vocabulary that are not pieces of these models.
    """

    name: ClassVar[str] = "marian"

    def __init__(
        self,
        language: str,
        vocabulary: Vocabulary,
        reads: bytes,
        writes: bytes | None = None,
        *,
        cleans_up: bool = False,
        added: Sequence[AddedToken] = (),
    ) -> None:
        super().__init__(language, vocabulary)
        self._models = (reads, writes)
        self._cleans_up = cleans_up
        self._added = {token.text: token for token in added}
        self._left_out_ids = vocabulary.special_ids | {
            vocabulary.ids[token.text] for token in added if token.is_special
        }
        self._reader = sentencepiece.SentencePieceProcessor(model_proto=reads)
        self._writer = (
            self._reader
            if writes is None
            else sentencepiece.SentencePieceProcessor(model_proto=writes)
        )
        marks = sorted(self.specials | self._added.keys(), key=len, reverse=True)
        self._marks = re.compile("(" + "|".join(map(re.escape, marks)) + ")")

    @property
    def has_pieces(self) -> bool:
        """Always."""
        return True

    @cached_property
    def target_codes(self) -> tuple[str, ...]:
        """The tokens `>>xx<<`, sorted."""
        return tuple(sorted(token for token in self.vocabulary.tokens if is_target_code(token)))

    def one_line(self, text: str) -> str:
        """The text unchanged: the SentencePiece model handles line breaks."""
        return text

    def encode_text(self, line: str, *, begins_sentence: bool = True) -> list[EncodedWord]:
        """The words of one line with their ids.

        Spaces separate words, and punctuation at their edges counts as a word; in scripts without
        spaces, every piece does.
        """
        words: list[EncodedWord] = []
        for part in self._parts(line):
            if self._marks.fullmatch(part.text):
                words.append(self._encoded([part]))
            else:
                words += self._encode_part(part.text, part.start)
        return words

    def _parts(self, line: str) -> list[Piece]:
        """The line cut at special and added tokens; without empty parts."""
        texts = self._marks.split(line)
        starts = accumulate(map(len, texts), initial=0)
        parts = [
            Piece(text, start, start + len(text))
            for text, start in zip(texts, starts, strict=False)
            if text
        ]
        for index, part in enumerate(parts):
            token = self._added.get(part.text)
            if token is None:
                continue
            before = parts[index - 1] if index else None
            after = parts[index + 1] if index + 1 < len(parts) else None
            if token.strips_right and after is not None:
                stripped = after.text.lstrip()
                parts[index + 1] = Piece(stripped, after.end - len(stripped), after.end)
            if token.strips_left and before is not None:
                stripped = before.text.rstrip()
                parts[index - 1] = Piece(stripped, before.start, before.start + len(stripped))
            if token.is_word and before is not None and before.text[-1:] not in ("", " "):
                joined = parts[index - 1]
                parts[index - 1 : index + 1] = [
                    Piece(joined.text + part.text, joined.start, part.end),
                    _nothing(part),
                ]
            elif token.is_word and after is not None and after.text[:1] != " ":
                joined = parts[index + 1]
                parts[index : index + 2] = [
                    _nothing(part),
                    Piece(part.text + joined.text, part.start, joined.end),
                ]
        return [part for part in parts if part.text]

    def _encode_part(self, part: str, position: int) -> Iterator[EncodedWord]:
        """The words of a text without special tokens that begins at `position`."""
        end_of_code = part.find("<<") if part.startswith(">>") else -1
        if end_of_code >= 0:
            code, part = part[: end_of_code + 2], part[end_of_code + 2 :]
            yield self._encoded([Piece(code, position, position + len(code))])
            position += len(code)
        pieces = pieces_of_text(self._reader, part, position)
        for start, end in word_ranges([piece.text for piece in pieces]):
            yield self._encoded(pieces[start:end])

    def _encoded(self, pieces: Sequence[Piece]) -> EncodedWord:
        texts = [piece.text for piece in pieces]
        start, end = min(piece.start for piece in pieces), max(piece.end for piece in pieces)
        return self._word_of(spelled(texts), texts, start, end)

    def _label(self, piece: str, *, is_first: bool = False) -> str:
        """A piece for display; an added token as it is."""
        return piece if piece in self._added else super()._label(piece, is_first=is_first)

    def decode(self, ids: Sequence[int]) -> list[Word]:
        """The words that `ids` spell, without special tokens except the unknown one."""
        skipped = self._left_out_ids - {self.vocabulary.unknown_id}
        words: list[Word] = []
        run: list[int] = []
        for index, token_id in enumerate((*ids, None)):
            token = None if token_id is None else self.vocabulary.tokens[token_id]
            alone = (
                token is None
                or token_id in self._left_out_ids
                or token in self._added
                or is_target_code(token)
            )
            if not alone:
                run.append(index)
                continue
            pieces = [self.vocabulary.tokens[ids[position]] for position in run]
            for start, end in word_ranges(pieces):
                words.append(Word(spelled(pieces[start:end]), run[start], run[start] + end - start))
            run = []
            if token is not None and token_id not in skipped:
                words.append(Word(token, index, index + 1))
        return [word for word in words if word.text]

    def text_of(self, ids: Sequence[int]) -> str:
        """The readable sentence, without special and unknown tokens."""
        pieces = [
            self.vocabulary.tokens[token_id]
            for token_id in ids
            if token_id not in self._left_out_ids
        ]
        text: str = self._writer.decode_pieces(pieces).replace(WORD_MARK, " ").strip()
        for old, new in _CLEANING if self._cleans_up else ():
            text = text.replace(old, new)
        return text

    def to_dict(self) -> dict[str, Any]:
        """The codec as JSON-ready values; its language is among the settings."""
        reads, writes = map(_model_to_text, self._models)
        return {
            "vocabulary": self.vocabulary.to_dict(),
            "reads": reads,
            "writes": writes,
            "cleans_up": self._cleans_up,
        } | ({"added": [asdict(token) for token in self._added.values()]} if self._added else {})

    @classmethod
    def from_dict(cls, language: str, values: dict[str, Any]) -> "MarianCodec":
        """The inverse of `to_dict`.

        Raises `ValueError`, `TypeError`, `KeyError` or `RuntimeError` if it is damaged.
        """
        vocabulary = _stored_vocabulary(values)
        reads, writes = _model_from_text(values["reads"]), _model_from_text(values["writes"])
        if reads is None:
            raise ValueError("a SentencePiece model is empty")
        added = [AddedToken.from_dict(token) for token in values.get("added", [])]
        return cls(
            language, vocabulary, reads, writes, cleans_up=bool(values["cleans_up"]), added=added
        )


def _nothing(part: Piece) -> Piece:
    return Piece("", part.start, part.start)


def pieces_of_text(
    reader: sentencepiece.SentencePieceProcessor, text: str, position: int = 0
) -> list[Piece]:
    """The pieces of a text that begins at `position` of its line, without leading spaces."""
    if not text:
        return []
    # "proto" would need protobuf, which is not a dependency
    cut = reader.encode(text, return_type="offset_mapping")
    pieces = []
    for piece, (start, end) in zip(cut["pieces"], cut["offsets"], strict=True):
        while start < end and text[start].isspace():
            start += 1
        pieces.append(Piece(piece, position + start, position + end))
    return pieces


def word_ranges(pieces: Sequence[str]) -> list[tuple[int, int]]:
    """The pieces of each word: half-open ranges that cover all pieces.

    A word begins with a piece that has SentencePiece's mark. Punctuation at either end is a
    separate word; in the middle (don't, 3.5) it is not. Pieces in scripts without spaces are words.
    """
    starts = [
        index for index, piece in enumerate(pieces) if index == 0 or piece.startswith(WORD_MARK)
    ]
    ranges: list[tuple[int, int]] = []
    for start, end in pairwise([*starts, len(pieces)]):
        ranges += _ranges_between_spaces(pieces, start, end)
    return ranges


def _ranges_between_spaces(
    pieces: Sequence[str], start: int, end: int
) -> Iterator[tuple[int, int]]:
    # a mark alone belongs to what follows it
    first = start + (pieces[start] == WORD_MARK and end - start > 1)
    left = first
    while left < end and is_punctuation(pieces[left]):
        left += 1
    right = end
    while right > left and is_punctuation(pieces[right - 1]):
        right -= 1
    cuts = [start, left if left > first else start]
    cuts += [
        index
        for index in range(left + 1, right)
        if _UNSPACED.search(pieces[index]) or _UNSPACED.search(pieces[index - 1])
    ]
    yield from pairwise(sorted({*cuts, right, end}))


def spelled(pieces: Sequence[str]) -> str:
    """The text that pieces spell."""
    return "".join(pieces).replace(WORD_MARK, " ").strip()


_END = "</w>"
MAX_MERGES = 1_000_000
_VERSIONS = {"#version: 0.1": False, "#version: 0.2": True}
"""By the first line of a file, without zeros at its end: whether the last character of a word is
marked from the beginning, not a symbol of its own."""


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
                raise ValueError(
                    f"the merge {number + 1} is {' '.join(pair)[:40]!r} instead of two pieces"
                )
        # the first of equal pairs sets the rank; the first of merges with the same result is undone
        # in `_parts`
        self._ranks = {pair: rank for rank, pair in reversed(list(enumerate(pairs)))}
        self._parts = {"".join(pair): pair for pair in self._ranks}
        self._separator, self._vocabulary = separator, vocabulary

    def pieces_of(self, word: str) -> list[str]:
        """The pieces of a word, without separators; joined, they are the word."""
        if len(word) == 1:
            return [word]
        symbols = [*word[:-1], word[-1] + _END] if self._marks_last else [*word, _END]
        while len(symbols) > 1:
            ranked = [
                (self._ranks[pair], pair) for pair in pairwise(symbols) if pair in self._ranks
            ]
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
            for index, symbol in enumerate(symbols)
            for piece in self._known(symbol, is_last=index == len(symbols) - 1)
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
    merged: list[str] = []
    start = 0
    while start < len(symbols):
        size = 2 if tuple(symbols[start : start + 2]) == pair else 1
        merged.append("".join(symbols[start : start + size]))
        start += size
    return merged


Level = Literal["word", "char", "sentencepiece", "subword-nmt"]
_SPACES = re.compile("[ \u3000]+")
_QUOTES = str.maketrans("’“”", '\'""')
_NO_SPACE_BEFORE = frozenset("?!,.:")
_LINE_BREAKS = str.maketrans("\n\r", "  ")
_SHOWN_SPACE = "␣"


class _Words:
    """Splits a prepared line into the words between single spaces, and joins them.

    Other levels differ from this.
    """

    def pieces(self, text: str) -> list[Piece]:
        """The pieces of a line, with their places in it; empty between two spaces."""
        words = text.split(" ")
        starts = accumulate((len(word) + 1 for word in words), initial=0)
        return [
            Piece(word, start, start + len(word))
            for word, start in zip(words, starts, strict=False)
        ]

    def ranges(self, pieces: Sequence[str]) -> list[tuple[int, int]]:
        """Half-open ranges of each word's pieces. An empty piece belongs to the next one."""
        ends = [index + 1 for index, piece in enumerate(pieces) if piece] or [len(pieces)]
        return list(pairwise([0, *ends[:-1], len(pieces)])) if pieces else []

    def join(self, pieces: Sequence[str]) -> str:
        """The text that pieces spell."""
        return " ".join(pieces)


class _Characters(_Words):
    """Each character, with a mark for a space, which begins a word."""

    def pieces(self, text: str) -> list[Piece]:
        return [
            Piece(character, index, index + 1)
            for index, character in enumerate(text.replace(" ", WORD_MARK))
        ]

    def ranges(self, pieces: Sequence[str]) -> list[tuple[int, int]]:
        return word_ranges(pieces)

    def join(self, pieces: Sequence[str]) -> str:
        return "".join(pieces).replace(WORD_MARK, " ")


class _SentencePieces(_Characters):
    """Pieces of a SentencePiece model, without those outside the vocabulary."""

    def __init__(self, model: bytes, vocabulary: Collection[str]) -> None:
        restricted = restricted_model(model, vocabulary)
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=restricted)

    def pieces(self, text: str) -> list[Piece]:
        return pieces_of_text(self._processor, text)

    def join(self, pieces: Sequence[str]) -> str:
        text: str = self._processor.decode_pieces(list(pieces))
        return text.replace(WORD_MARK, " ").strip()


class _SubwordNmt(_Words):
    """Pieces of subword-nmt. A separator ends each piece of a word except the last."""

    def __init__(self, codes: str, separator: str, vocabulary: Collection[str]) -> None:
        self._merges = Merges(codes, separator, vocabulary)
        self._separator = separator

    def pieces(self, text: str) -> list[Piece]:
        """The pieces of each word between spaces; other white space also separates pieces."""
        pieces = []
        for word in re.finditer("[^ ]+", text.strip("\r\n ")):
            position = word.start() + len(text) - len(text.lstrip("\r\n "))
            parts = self._merges.pieces_of(word.group())
            for index, part in enumerate(parts):
                whole = part if index == len(parts) - 1 else part + self._separator
                pieces += [Piece(piece, position, position + len(part)) for piece in whole.split()]
                position += len(part)
        return pieces

    def ranges(self, pieces: Sequence[str]) -> list[tuple[int, int]]:
        ends = [
            index + 1 for index, piece in enumerate(pieces) if not piece.endswith(self._separator)
        ]
        return list(pairwise(sorted({0, *ends, len(pieces)})))

    def join(self, pieces: Sequence[str]) -> str:
        return " ".join(pieces).replace(self._separator + " ", "").removesuffix(self._separator)


class JoeyNMTCodec(ForeignCodec):
    """One side of a pair as JoeyNMT's models read and write it.

    Args:
        language: its code; "und" if it is not known.
        vocabulary: tokens and ids.
        level: the units that a line is split into.
        model: a serialized SentencePiece model, for that level.
        codes: the merges of subword-nmt, for that level.
        separator: of subword-nmt.
        lowercase: whether lines are lower-cased.
        normalizes: whether lines are brought into Unicode's NFKC form, and superfluous spaces taken
            out of them and of translations.

    Raises:
        ValueError, RuntimeError: the model or the merges cannot be used.
    """

    name: ClassVar[str] = "joeynmt"

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

    def _make_cutter(self) -> _Words:
        if self._level == "sentencepiece":
            if not self._model:
                raise ValueError("the SentencePiece model is missing")
            return _SentencePieces(self._model, self.vocabulary.ids)
        if self._level == "subword-nmt":
            if self._codes is None:
                raise ValueError("the merges are missing")
            return _SubwordNmt(
                self._codes, self._separator, self.vocabulary.ids.keys() - self.specials
            )
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
        ranges = self._cutter.ranges([piece.text for piece in pieces])
        return [self._encoded(pieces[start:end], characters, len(line)) for start, end in ranges]

    def _prepared(self, line: str) -> list[Piece]:
        """The characters to split into pieces, with their places in the line."""
        characters = [Piece(character, index, index + 1) for index, character in enumerate(line)]
        if self._normalizes:
            characters = list(_without_extra_spaces(_composed(line)))
        if not self._lowercase:
            return characters
        lowered = iter(
            "".join(character.text for character in characters).lower()
        )  # Σ at the end of a word has its own
        return [
            Piece(next(lowered), character.start, character.end)
            for character in characters
            for _ in range(len(character.text.lower()))
        ]

    def _encoded(
        self, pieces: Sequence[Piece], characters: Sequence[Piece], length: int
    ) -> EncodedWord:
        start = pieces[0].start
        end = max(piece.end for piece in pieces)
        covered = characters[start:end]
        char_start = characters[start].start if start < len(characters) else length
        texts = [piece.text for piece in pieces]
        return self._word_of(
            self._spelled(texts), texts, char_start, covered[-1].end if covered else char_start
        )

    def _label(self, piece: str, *, is_first: bool = False) -> str:
        if self._level == "sentencepiece":
            return super()._label(piece, is_first=is_first)
        return piece or _SHOWN_SPACE

    def decode(self, ids: Sequence[int]) -> list[Word]:
        """The words that `ids` spell, without special tokens except the unknown one."""
        skipped = self.vocabulary.special_ids - {self.vocabulary.unknown_id}
        positions = [position for position, token_id in enumerate(ids) if token_id not in skipped]
        pieces = [self.vocabulary.tokens[ids[position]] for position in positions]
        words = [
            Word(self._spelled(pieces[start:end]), positions[start], positions[end - 1] + 1)
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
        text = self._cutter.join(
            [self.vocabulary.tokens[token_id] for token_id in ids if token_id not in skipped]
        )
        if not self._normalizes:
            return text
        characters = [Piece(character, index, index + 1) for index, character in enumerate(text)]
        return "".join(character.text for character in _without_extra_spaces(characters))

    def to_dict(self) -> dict[str, Any]:
        """The codec as JSON-ready values; its language is among the settings."""
        return {
            "vocabulary": self.vocabulary.to_dict(),
            "level": self._level,
            "model": _model_to_text(self._model),
            "codes": self._codes,
            "separator": self._separator,
            "lowercase": self._lowercase,
            "normalizes": self._normalizes,
        }

    @classmethod
    def from_dict(cls, language: str, values: dict[str, Any]) -> "JoeyNMTCodec":
        """The inverse of `to_dict`.

        Raises `ValueError`, `TypeError`, `KeyError` or `RuntimeError` if it is damaged.
        """
        vocabulary = _stored_vocabulary(values)
        if values["level"] not in get_args(Level):
            raise ValueError(f"the level {values['level']!r} is unknown")
        if not isinstance(values["separator"], str) or not isinstance(values["codes"], str | None):
            raise TypeError("the merges or their separator are not text")
        if not isinstance(values["lowercase"], bool) or not isinstance(values["normalizes"], bool):
            raise TypeError("lowercase and normalizes must be true or false")
        return cls(
            language,
            vocabulary,
            values["level"],
            model=_model_from_text(values["model"]),
            codes=values["codes"],
            separator=values["separator"],
            lowercase=values["lowercase"],
            normalizes=values["normalizes"],
        )


def _composed(line: str) -> list[Piece]:
    """The characters of a line in NFKC, with plain quotes and their original positions."""
    characters: list[Piece] = []
    start = 0
    for end in range(1, len(line) + 1):
        here = _nfkc(line[start:end])
        if end < len(line) and (
            unicodedata.combining(line[end])
            or _nfkc(line[start : end + 1]) != here + _nfkc(line[end])
        ):
            continue
        characters += [Piece(character, start, end) for character in here]
        start = end
    whole = _nfkc(line)
    # characters far from each other changed places
    if "".join(character.text for character in characters) != whole:
        characters = [Piece(character, 0, len(line)) for character in whole]
    return [
        Piece(character.text.translate(_QUOTES), character.start, character.end)
        for character in characters
    ]


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _without_extra_spaces(characters: Sequence[Piece]) -> Iterator[Piece]:
    """Without zero-width, doubled and outer spaces, and those before punctuation."""
    single_spaced: list[Piece] = []
    for character in characters:
        repeats_space = (
            single_spaced and single_spaced[-1].text == " " and _SPACES.match(character.text)
        )
        if character.text == "\u200b" or repeats_space:
            continue
        single_spaced.append(
            Piece(_SPACES.sub(" ", character.text), character.start, character.end)
        )
    spaced = []
    for index, character in enumerate(single_spaced):
        following = single_spaced[index + 1].text if index + 1 < len(single_spaced) else ""
        if character.text != " " or following not in _NO_SPACE_BEFORE:
            spaced.append(character)
    first = next(
        (index for index, character in enumerate(spaced) if not character.text.isspace()),
        len(spaced),
    )
    last = next(
        (end for end in range(len(spaced), first, -1) if not spaced[end - 1].text.isspace()), first
    )
    yield from spaced[first:last]
