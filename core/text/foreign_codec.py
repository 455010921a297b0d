"""The common part of codecs of imported models."""

import unicodedata
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from .languages import is_target_code
from .subwords import WORD_MARK
from .text_codec import CONTINUATION, EncodedWord, TextCodec
from .tokenizers import SymbolTokenizer
from .vocabulary import Vocabulary


class ForeignCodec(TextCodec):
    """One side of a pair of an imported model, whose own segmenter cuts whole lines into pieces.

    Subclasses are found by entry points (“augenmerk.codecs”), so that files with them can be
    opened.

    Attributes:
        name: of the entry point, and in files.
    """

    name: ClassVar[str]

    def __init__(self, language: str, vocabulary: Vocabulary) -> None:
        super().__init__(language, SymbolTokenizer(), "keep", vocabulary)

    def encode_words(self, words: Sequence[str]) -> list[int]:
        """The ids of these words with spaces between them."""
        return [token for word in self.encode_text(" ".join(words)) for token in word.ids]

    def join(self, words: Sequence[str]) -> str:
        """The words with spaces between them; `text_of` knows more."""
        return " ".join(words)

    def _label(self, piece: str, *, is_first: bool = False) -> str:
        """A piece for display: without SentencePiece's mark, a later one of a word after a dot."""
        if piece.startswith(WORD_MARK):
            return piece.removeprefix(WORD_MARK) or WORD_MARK
        return (
            piece
            if is_first or is_punctuation(piece) or is_target_code(piece)
            else CONTINUATION + piece
        )

    def _word_of(
        self, text: str, pieces: Sequence[str], char_start: int, char_end: int
    ) -> EncodedWord:
        unknown_id = self.vocabulary.unknown_id
        assert unknown_id is not None
        ids = tuple(self.vocabulary.ids.get(piece, unknown_id) for piece in pieces)
        return EncodedWord(
            text=text,
            ids=ids,
            labels=tuple(
                self._label(piece, is_first=index == 0) for index, piece in enumerate(pieces)
            ),
            unknown=tuple(token_id == unknown_id for token_id in ids),
            char_start=char_start,
            char_end=char_end,
        )

    def to_dict(self) -> dict[str, Any]:
        """The codec as JSON-ready values; its language is among the settings."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, language: str, values: dict[str, Any]) -> Self:
        """The inverse of `to_dict`.

        Raises `ValueError`, `TypeError`, `KeyError` or `RuntimeError` if it is damaged.
        """
        raise NotImplementedError


def is_punctuation(piece: str) -> bool:
    """Whether the text consists of punctuation and symbols."""
    text = piece.replace(WORD_MARK, "")
    return bool(text) and all(unicodedata.category(character)[0] in "PS" for character in text)
