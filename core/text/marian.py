"""The text processing of Marian models: raw SentencePiece pieces, looked up in a separate vocabulary.

The ids of the SentencePiece models are ignored: a piece has the id of the vocabulary, or `<unk>`. Only the
SentencePiece model normalizes text. The tokens equal those of `MarianTokenizer` in Hugging Face transformers.
"""

import base64
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import sentencepiece

from augenmerk.core.text.subword_check import check_model
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.text.text_codec import CONTINUATION, DecodedWord, EncodedWord, TextCodec
from augenmerk.core.text.tokenizers import SymbolTokenizer
from augenmerk.core.text.vocabulary import Vocabulary

_CLEANING = (
    *((f" {mark}", mark) for mark in (".", "?", "!", ",")),
    (" ' ", "'"),
    *((f" {ending}", ending) for ending in ("n't", "'m", "'s", "'ve", "'re")),
)
"""Replacements for cleaning up a text, in order."""
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Characters of scripts without spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


@dataclass(frozen=True)
class Piece:
    """A piece and the part of the line it stands for."""

    text: str
    start: int
    end: int


class ForeignCodec(TextCodec):
    """One side of a pair of an imported model, whose own segmenter cuts whole lines into pieces."""

    def __init__(self, language: str, vocabulary: Vocabulary) -> None:
        super().__init__(language, SymbolTokenizer(), "keep", vocabulary)

    def encode_words(self, words: Sequence[str]) -> list[int]:
        """The ids of these words with spaces between them."""
        return [token for word in self.encode_text(" ".join(words)) for token in word.ids]

    def join(self, words: Sequence[str]) -> str:
        """The words with spaces between them; `text_of` knows more."""
        return " ".join(words)

    def _word_of(self, text: str, pieces: Sequence[str], char_start: int, char_end: int) -> EncodedWord:
        unknown_id = self.vocabulary.unknown_id
        assert unknown_id is not None
        ids = tuple(self.vocabulary.ids.get(piece, unknown_id) for piece in pieces)
        return EncodedWord(
            text=text,
            ids=ids,
            labels=tuple(self._label(piece, is_first=place == 0) for place, piece in enumerate(pieces)),
            unknown=tuple(token_id == unknown_id for token_id in ids),
            char_start=char_start,
            char_end=char_end,
        )


def stored_vocabulary(values: dict[str, Any]) -> Vocabulary:
    """The vocabulary of a stored `ForeignCodec`. Raises `ValueError`, `TypeError` or `KeyError` if it is damaged."""
    vocabulary = Vocabulary.from_dict(values["vocabulary"])
    if vocabulary.unknown_id is None or vocabulary.end_id is None:
        raise ValueError("the vocabulary has no unknown token, or no end token")
    return vocabulary


class MarianCodec(ForeignCodec):
    """One side of a pair as Marian's models read and write it.

    Args:
        language: its code; "und" if it is not known.
        vocabulary: tokens and ids.
        reads: a serialized SentencePiece model, which cuts lines into pieces.
        writes: another one, which joins pieces to lines; None for the same.
        cleans_up: whether spaces before punctuation are taken out of what is written.
    """

    def __init__(
        self,
        language: str,
        vocabulary: Vocabulary,
        reads: bytes,
        writes: bytes | None = None,
        *,
        cleans_up: bool = False,
    ) -> None:
        super().__init__(language, vocabulary)
        self._models = (reads, writes)
        self._cleans_up = cleans_up
        self._reader = sentencepiece.SentencePieceProcessor(model_proto=reads)
        self._writer = self._reader if writes is None else sentencepiece.SentencePieceProcessor(model_proto=writes)
        marks = sorted((vocabulary.tokens[mark] for mark in vocabulary.special_ids), key=len, reverse=True)
        self._marks = re.compile("(" + "|".join(map(re.escape, marks)) + ")")

    @property
    def has_pieces(self) -> bool:
        """Always."""
        return True

    @cached_property
    def target_codes(self) -> tuple[str, ...]:
        """The tokens `>>xx<<`, sorted."""
        return tuple(sorted(token for token in self.vocabulary.tokens if _is_code(token)))

    def one_line(self, text: str) -> str:
        """The text unchanged: the SentencePiece model handles line breaks."""
        return text

    def encode_text(self, line: str, *, begins_sentence: bool = True) -> list[EncodedWord]:
        """The words of one line with their ids.

        Spaces separate words, and punctuation at their edges counts as a word; in scripts without spaces, every
        piece does.
        """
        words: list[EncodedWord] = []
        position = 0
        for part in self._marks.split(line):
            if self._marks.fullmatch(part):
                words.append(self._encoded([Piece(part, position, position + len(part))]))
            elif part:
                words += self._encode_part(part, position)
            position += len(part)
        return words

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
        return label_of_piece(piece, is_first=is_first)

    def decode(self, ids: Sequence[int]) -> list[DecodedWord]:
        """The words that `ids` spell, without special tokens except the unknown one."""
        skipped = self.vocabulary.special_ids - {self.vocabulary.unknown_id}
        words: list[DecodedWord] = []
        run: list[int] = []
        for index, token_id in enumerate((*ids, None)):
            token = None if token_id is None else self.vocabulary.tokens[token_id]
            alone = token is None or token_id in self.vocabulary.special_ids or _is_code(token)
            if not alone:
                run.append(index)
                continue
            pieces = [self.vocabulary.tokens[ids[place]] for place in run]
            for start, end in word_ranges(pieces):
                words.append(DecodedWord(spelled(pieces[start:end]), run[start], run[start] + end - start))
            run = []
            if token is not None and token_id not in skipped:
                words.append(DecodedWord(token, index, index + 1))
        return [word for word in words if word.text]

    def text_of(self, ids: Sequence[int]) -> str:
        """The readable sentence, without special and unknown tokens."""
        specials = self.vocabulary.special_ids
        pieces = [self.vocabulary.tokens[token_id] for token_id in ids if token_id not in specials]
        text: str = self._writer.decode_pieces(pieces).replace(WORD_MARK, " ").strip()
        return _cleaned(text) if self._cleans_up else text

    def to_dict(self) -> dict[str, Any]:
        """The codec as JSON-ready values; its language is among the settings."""
        reads, writes = (None if model is None else base64.b64encode(model).decode("ascii") for model in self._models)
        return {
            "vocabulary": self.vocabulary.to_dict(),
            "reads": reads,
            "writes": writes,
            "cleans_up": self._cleans_up,
        }

    @classmethod
    def from_dict(cls, language: str, values: dict[str, Any]) -> "MarianCodec":
        """The inverse of `to_dict`. Raises `ValueError`, `TypeError`, `KeyError` or `RuntimeError` if it is damaged."""
        vocabulary = stored_vocabulary(values)
        reads, writes = (
            None if values[name] is None else base64.b64decode(values[name], validate=True)
            for name in ("reads", "writes")
        )
        if not reads or writes == b"":
            raise ValueError("a SentencePiece model is empty")
        for model in {reads, writes or reads}:
            check_model(model)
        return cls(language, vocabulary, reads, writes, cleans_up=bool(values["cleans_up"]))


def pieces_of_text(reader: sentencepiece.SentencePieceProcessor, text: str, position: int = 0) -> list[Piece]:
    """The pieces of a text that begins at `position` of its line, without the spaces before them."""
    if not text:
        return []
    cut = reader.encode(text, return_type="offset_mapping")  # "proto" would need protobuf, which is no dependency
    found = []
    for piece, (start, end) in zip(cut["pieces"], cut["offsets"], strict=True):
        while start < end and text[start].isspace():
            start += 1
        found.append(Piece(piece, position + start, position + end))
    return found


def word_ranges(pieces: Sequence[str]) -> list[tuple[int, int]]:
    """Which pieces make a word: half-open ranges that cover all pieces.

    A word begins with a piece that has SentencePiece's mark. Punctuation at either end of it is a word by itself, in
    the middle (don't, 3.5) it is not. Pieces in scripts without spaces are words.
    """
    starts = [place for place, piece in enumerate(pieces) if place == 0 or piece.startswith(WORD_MARK)]
    ranges: list[tuple[int, int]] = []
    for start, end in pairwise([*starts, len(pieces)]):
        ranges += _ranges_between_spaces(pieces, start, end)
    return ranges


def _ranges_between_spaces(pieces: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    first = start + (pieces[start] == WORD_MARK and end - start > 1)  # a mark alone belongs to what follows it
    left = first
    while left < end and _is_punctuation(pieces[left]):
        left += 1
    right = end
    while right > left and _is_punctuation(pieces[right - 1]):
        right -= 1
    cuts = [start, left if left > first else start]
    cuts += [
        place
        for place in range(left + 1, right)
        if _UNSPACED.search(pieces[place]) or _UNSPACED.search(pieces[place - 1])
    ]
    yield from pairwise(sorted({*cuts, right, end}))


def _is_punctuation(piece: str) -> bool:
    """Whether the text consists of punctuation and symbols."""
    text = piece.replace(WORD_MARK, "")
    return bool(text) and all(unicodedata.category(character)[0] in "PS" for character in text)


def _is_code(token: str) -> bool:
    return token.startswith(">>") and token.endswith("<<")


def spelled(pieces: Sequence[str]) -> str:
    """The text that pieces spell."""
    return "".join(pieces).replace(WORD_MARK, " ").strip()


def label_of_piece(piece: str, *, is_first: bool) -> str:
    """A piece for display: without SentencePiece's mark, a later one of a word after a dot."""
    if piece.startswith(WORD_MARK):
        return piece.removeprefix(WORD_MARK) or WORD_MARK
    return piece if is_first or _is_punctuation(piece) or _is_code(piece) else CONTINUATION + piece


def _cleaned(text: str) -> str:
    for old, new in _CLEANING:
        text = text.replace(old, new)
    return text
