"""Text to ids and back, for one side of a pair: case, tokenizer, subwords and vocabulary in one object."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.config import DataConfig
from core.config.data_config import LetterCase
from core.errors import CheckpointError
from core.text.detokenize import capitalize_first, detokenize
from core.text.subwords import WORD_MARK, Subwords
from core.text.tokenizers import Token, Tokenizer, make_tokenizer
from core.text.vocabulary import Vocabulary

CONTINUATION = "·"
"""Shown before a piece that continues a word."""


@dataclass(frozen=True)
class EncodedWord:
    """A word of a text and the ids that stand for it.

    Attributes:
        text: as read by the model (case folded).
        ids: one for a word vocabulary, one or more for subwords.
        labels: the tokens of these ids, for display.
        unknown: for each id, whether its text is not in the vocabulary.
        char_start, char_end: its place in the line.
    """

    text: str
    ids: tuple[int, ...]
    labels: tuple[str, ...]
    unknown: tuple[bool, ...]
    char_start: int
    char_end: int


@dataclass(frozen=True)
class DecodedWord:
    """A word made of decoded ids: its text, and the half-open range of ids it was made of."""

    text: str
    start: int
    end: int


class TextCodec:
    """One side of a pair.

    Args:
        language: spaCy's code.
        tokenizer: splits a line into words.
        case: how letter case is folded.
        vocabulary: tokens and ids.
        subwords: splits words into pieces; None for a vocabulary of whole words.
    """

    def __init__(
        self,
        language: str,
        tokenizer: Tokenizer,
        case: LetterCase,
        vocabulary: Vocabulary,
        subwords: Subwords | None = None,
    ) -> None:
        self.language = language
        self.tokenizer = tokenizer
        self.case = case
        self.vocabulary = vocabulary
        self.subwords = subwords

    def encode_text(self, line: str, *, begins_sentence: bool = True) -> list[EncodedWord]:
        """The words of one line with their ids; without the wrapping tokens.

        Args:
            line: the text.
            begins_sentence: whether its first word is that of a sentence, whose capital may say nothing.
        """
        tokens = self.tokenizer(line)
        case = "keep" if self.case == "sentence" and not begins_sentence else self.case
        words = fold_case([token.text for token in tokens], case)
        return [self._encode_word(word, token) for word, token in zip(words, tokens, strict=True)]

    def encode_words(self, words: Sequence[str]) -> list[int]:
        """The ids of words whose case is folded already (see `split_lines`)."""
        ids, unknown = self.vocabulary.ids, self.vocabulary.unknown_id or 0
        if self.subwords is None:
            return [ids.get(word, unknown) for word in words]
        return [ids.get(piece, unknown) for word in words for piece in self.subwords.pieces_of(word)]

    def decode(self, ids: Sequence[int]) -> list[DecodedWord]:
        """The words that `ids` spell; specials but the unknown are skipped."""
        skipped = self.vocabulary.special_ids - {self.vocabulary.unknown_id}
        words: list[DecodedWord] = []
        for index, token_id in enumerate(ids):
            if token_id in skipped:
                continue
            piece = self.vocabulary.tokens[token_id]
            if self.subwords is not None and words and not piece.startswith(WORD_MARK):
                last = words.pop()
                words.append(DecodedWord(last.text + piece, last.start, index + 1))
            else:
                words.append(DecodedWord(piece.removeprefix(WORD_MARK), index, index + 1))
        return [word for word in words if word.text]

    @property
    def specials(self) -> frozenset[str]:
        """The tokens that stand for no word."""
        return frozenset(self.vocabulary.tokens[token_id] for token_id in self.vocabulary.special_ids)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """All tokens for display: pieces without sentencepiece's mark, later pieces of a word after a dot."""
        if self.subwords is None:
            return self.vocabulary.tokens
        special_ids = self.vocabulary.special_ids
        return tuple(
            token if token_id in special_ids else _piece_label(token)
            for token_id, token in enumerate(self.vocabulary.tokens)
        )

    def label(self, token_id: int) -> str:
        """A token for display, see `labels`."""
        return self.labels[token_id]

    def join(self, words: Sequence[str]) -> str:
        """A readable sentence: detokenized, capitalized where case was folded."""
        if self.subwords is None and self.vocabulary.end_id is None:
            return " ".join(words)
        text = detokenize([word for word in words if not word.isspace()])
        return text if self.case == "keep" else capitalize_first(text)

    def _encode_word(self, word: str, token: Token) -> EncodedWord:
        pieces = (word,) if self.subwords is None else self.subwords.pieces_of(word)
        unknown_id = self.vocabulary.unknown_id
        ids = [self.vocabulary.ids.get(piece, unknown_id) for piece in pieces]
        if None in ids:
            return EncodedWord(word, (), (), (), token.start, token.end)
        labels = pieces if self.subwords is None else tuple(map(_piece_label, pieces))
        return EncodedWord(
            text=word,
            ids=tuple(token_id for token_id in ids if token_id is not None),
            labels=labels,
            unknown=tuple(token_id == unknown_id for token_id in ids),
            char_start=token.start,
            char_end=token.end,
        )


def _piece_label(piece: str) -> str:
    if piece.startswith(WORD_MARK):
        return piece.removeprefix(WORD_MARK) or WORD_MARK
    return CONTINUATION + piece


def fold_case(words: Sequence[str], case: LetterCase) -> list[str]:
    """`words` in Unicode's composed form, lower-cased as `case` says."""
    composed = [unicodedata.normalize("NFC", word) for word in words]
    if case == "lower":
        return [word.lower() for word in composed]
    if case == "sentence" and composed:
        composed[0] = composed[0][:1].lower() + composed[0][1:]
    return composed


def split_lines(lines: Iterable[str], tokenizer: Tokenizer, case: LetterCase) -> Iterator[list[str]]:
    """The words of each line, case folded."""
    for words in tokenizer.pipe(lines):
        yield fold_case(words, case)


@dataclass(frozen=True, eq=False)
class CodecPair:
    """Source and target codec of a model; joint subwords share one model."""

    source: TextCodec
    target: TextCodec

    @classmethod
    def build(
        cls,
        config: DataConfig,
        source_vocabulary: Vocabulary,
        target_vocabulary: Vocabulary,
        subwords: Subwords | None,
    ) -> "CodecPair":
        """Codecs for `config` with these vocabularies."""

        def codec(language: str, case: LetterCase, vocabulary: Vocabulary) -> TextCodec:
            return TextCodec(language, make_tokenizer(config, language), case, vocabulary, subwords)

        return cls(
            codec(config.source_language, config.source_case, source_vocabulary),
            codec(config.target_language, config.target_case, target_vocabulary),
        )

    @classmethod
    def learn(
        cls, config: DataConfig, source_words: Sequence[Sequence[str]], target_words: Sequence[Sequence[str]]
    ) -> "CodecPair":
        """Learns vocabularies, and subwords if the config asks for them, from the words of the training split.

        Raises:
            CorpusError: the text is too small for the number of subwords.
        """
        if config.num_subwords is None:
            source = Vocabulary.of_words(source_words, config.min_frequency)
            return cls.build(config, source, Vocabulary.of_words(target_words, config.min_frequency), None)
        subwords = Subwords.learn([*source_words, *target_words], config.num_subwords)
        vocabulary = subwords.vocabulary
        return cls.build(config, vocabulary, vocabulary, subwords)

    def to_dict(self) -> dict[str, Any]:
        """Everything that is not in the `DataConfig`, as JSON-ready values."""
        if self.source.subwords is not None:
            return {"subwords": self.source.subwords.to_text()}
        return {"source": self.source.vocabulary.to_dict(), "target": self.target.vocabulary.to_dict()}

    @classmethod
    def from_dict(cls, config: DataConfig, values: dict[str, Any]) -> "CodecPair":
        """The inverse of `to_dict`.

        Raises:
            CheckpointError: the description is damaged.
        """
        try:
            if "subwords" in values:
                subwords = Subwords.from_text(values["subwords"])
                vocabulary = subwords.vocabulary
                return cls.build(config, vocabulary, vocabulary, subwords)
            source, target = (Vocabulary.from_dict(values[side]) for side in ("source", "target"))
            if source.padding_id != target.padding_id:  # a model knows one
                raise ValueError("source and target are padded by different ids")
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise CheckpointError(
                f"The vocabularies in this file are damaged ({error!r}). A file written by Augenmerk was expected; "
                "use another copy."
            ) from error
        return cls.build(config, source, target, None)
