"""Joint byte-pair encoding over words (Sennrich et al. 2016), by sentencepiece."""

import base64
from collections.abc import Mapping
from functools import cached_property, lru_cache

import sentencepiece

from .subword_check import check_model
from .vocabulary import SPECIALS, Vocabulary

WORD_MARK = "▁"
"""sentencepiece's mark at the beginning of a word."""


class Subwords:
    """Splits words into pieces of a fixed vocabulary; the first begins with `WORD_MARK`.

    Args:
        model: a serialized sentencepiece model.
    """

    def __init__(self, model: bytes) -> None:
        self.model = model
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.pieces_of = lru_cache(maxsize=100_000)(self._pieces_of)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All pieces, the four specials first."""
        count = self._processor.get_piece_size()
        return Vocabulary.with_specials(
            [self._processor.id_to_piece(index) for index in range(count)]
        )

    def _pieces_of(self, word: str) -> tuple[str, ...]:
        """The pieces of one word; unseen characters are kept."""
        return tuple(self._processor.encode(word.replace(WORD_MARK, "_"), out_type=str))

    @cached_property
    def scores(self) -> Mapping[str, float]:
        """The scores of all pieces but the specials: the merge with the higher one comes first."""
        count = self._processor.get_piece_size()
        processor = self._processor
        indices = [
            index
            for index in range(count)
            if not (processor.is_control(index) or processor.is_unknown(index))
        ]
        return {processor.id_to_piece(index): processor.get_score(index) for index in indices}

    def to_text(self) -> str:
        """The model in base64, for JSON."""
        return base64.b64encode(self.model).decode("ascii")

    @classmethod
    def from_text(cls, text: str) -> "Subwords":
        """The inverse of `to_text`.

        Raises `ValueError`, `TypeError` or `RuntimeError` if it is damaged.
        """
        if not isinstance(text, str):
            raise TypeError("the subwords are not text")
        model = base64.b64decode(text, validate=True)
        if not model:
            raise ValueError("the subwords are empty")
        check_model(model)
        subwords = cls(model)
        if subwords.vocabulary.tokens[: len(SPECIALS)] != SPECIALS:
            raise ValueError(f"the subwords do not begin with {' '.join(SPECIALS)}")
        return subwords
