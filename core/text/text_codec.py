"""Text to ids and back for one side: case, tokenizer, subwords and vocabulary in one object."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..config.groups import LetterCase
from ..short_repr import ShortRepr
from .subwords import WORD_MARK, Subwords
from .tokenizers import Piece, SymbolTokenizer, Tokenizer
from .vocabulary import Vocabulary
from .word_counts import SpellingRestorer, WordCounts

CONTINUATION = "·"
"""Shown before a piece that continues a word."""
_LINE_BREAKS = {ord(character): " " for character in "\n\r\t\v\f\x85\u2028\u2029\ufeff"}
"""Spaces for line breaks, tabs, and the byte-order mark that an editor may have put first."""


@dataclass(frozen=True)
class EncodedWord:
    """A word of a text and its ids.

    Attributes:
        text: as typed, case folded.
        ids: one for a word vocabulary, one or more for subwords.
        labels: the tokens of these ids, for display.
        unknown: for each id, whether its text is not in the vocabulary.
        char_start: index of its first character in the line.
        char_end: index after its last character.
        read_as: the restored spelling; None if `text` was read unchanged.
    """

    text: str
    ids: tuple[int, ...]
    labels: tuple[str, ...]
    unknown: tuple[bool, ...]
    char_start: int
    char_end: int
    read_as: str | None = None

    @property
    def spelling(self) -> str:
        """The word as it was read."""
        return self.read_as or self.text


@dataclass(frozen=True)
class Word(ShortRepr):
    """A word for display, and the tokens it consists of.

    Attributes:
        text: the word as read, pieces joined.
        start: index of its first token: for a source word, in `Translation.source_tokens`; for a
            target word, the decoding step, so in `predicted_tokens` (and, one further on, in
            `read_tokens`).
        end: index after its last token.
    """

    text: str
    start: int
    end: int


class TextCodec:
    """One side of a pair.

    Args:
        language: spaCy's code.
        tokenizer: splits a line into words.
        case: the folding of letter case.
        vocabulary: tokens and ids.
        subwords: splits words into pieces; None for a vocabulary of whole words.
        spelling: restores that of the training data before words become ids; None to read them
            unchanged.
    """

    def __init__(
        self,
        language: str,
        tokenizer: Tokenizer,
        case: LetterCase,
        vocabulary: Vocabulary,
        subwords: Subwords | None = None,
        spelling: SpellingRestorer | None = None,
    ) -> None:
        self.language = language
        self.tokenizer = tokenizer
        self.case = case
        self.vocabulary = vocabulary
        self.subwords = subwords
        self.spelling = spelling

    def restoring_spelling(self, counts: WordCounts | None) -> "TextCodec":
        """The codec for typed text, with the training data's spelling; see `SpellingRestorer`.

        All but slips among the words of the training data keep their ids. Returns this codec if no
        spellings are known, and for a vocabulary of whole words, where other words are unknown, as
        in the published systems.

        Args:
            counts: counts of the words in the training data; None if unknown.
        """
        spelling = (
            None if self.subwords is None else SpellingRestorer.of_language(self.language, counts)
        )
        if spelling is None:
            return self
        return TextCodec(
            self.language, self.tokenizer, self.case, self.vocabulary, self.subwords, spelling
        )

    @property
    def has_pieces(self) -> bool:
        """Whether words are split into pieces, the first of which starts with `WORD_MARK`."""
        return self.subwords is not None

    @property
    def copies_symbols(self) -> bool:
        """Whether this is a side of the copy task, where nothing marks the end of a sequence."""
        return self.vocabulary.end_id is None and isinstance(self.tokenizer, SymbolTokenizer)

    @property
    def target_codes(self) -> tuple[str, ...]:
        """Tokens at the start of a source that select a target language; empty for one pair."""
        return ()

    def one_line(self, text: str) -> str:
        """The text as `encode_text` expects it, of the same length: one line without tabs."""
        return text.translate(_LINE_BREAKS)

    def encode_text(self, line: str, *, begins_sentence: bool = True) -> list[EncodedWord]:
        """The words of one line with their ids; without the wrapping tokens.

        Args:
            line: the text.
            begins_sentence: whether its first word starts a sentence, so that its capital carries
                no information.
        """
        tokens = self.tokenizer(line)
        case = "keep" if self.case == "sentence" and not begins_sentence else self.case
        words = fold_case([token.text for token in tokens], case)
        return [self._encode_word(word, token) for word, token in zip(words, tokens, strict=True)]

    def encode_words(self, words: Sequence[str]) -> list[int]:
        """The ids of case-folded words (see `fold_case`)."""
        ids = self.vocabulary.ids
        unknown = self.vocabulary.unknown_id or 0
        if self.subwords is None:
            return [ids.get(word, unknown) for word in words]
        return [
            ids.get(piece, unknown)
            for word in map(self._spelled, words)
            for piece in self.subwords.pieces_of(word)
        ]

    def decode(self, ids: Sequence[int]) -> list[Word]:
        """The words that `ids` spell, without special tokens except the unknown one."""
        skipped = self.vocabulary.special_ids - {self.vocabulary.unknown_id}
        words: list[Word] = []
        for index, token_id in enumerate(ids):
            if token_id in skipped:
                continue
            piece = self.vocabulary.tokens[token_id]
            if self.subwords is not None and words and not piece.startswith(WORD_MARK):
                last = words.pop()
                words.append(Word(last.text + piece, last.start, index + 1))
            else:
                words.append(Word(piece.removeprefix(WORD_MARK), index, index + 1))
        return [word for word in words if word.text]

    @property
    def specials(self) -> frozenset[str]:
        """The tokens that are not words."""
        return frozenset(
            self.vocabulary.tokens[token_id] for token_id in self.vocabulary.special_ids
        )

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """All tokens for display: later pieces of a word after a dot, none with a mark."""
        special_ids = self.vocabulary.special_ids
        return tuple(
            token if token_id in special_ids else self._label(token)
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

    def text_of(self, ids: Sequence[int]) -> str:
        """The readable sentence that `ids` spell."""
        words = [word.text for word in self.decode(ids)]
        # the start token is a symbol of the copy task, and part of its answer
        if self.vocabulary.end_id is None:
            words = [self.vocabulary.tokens[self.vocabulary.start_id], *words]
        return self.join(words)

    def _label(self, piece: str, *, is_first: bool = False) -> str:
        """A piece for display; `is_first` if it begins a word."""
        if self.subwords is None:
            return piece
        return (
            piece.removeprefix(WORD_MARK) or WORD_MARK
            if piece.startswith(WORD_MARK)
            else CONTINUATION + piece
        )

    def _spelled(self, word: str) -> str:
        return word if self.spelling is None else self.spelling.restore(word)

    def _encode_word(self, word: str, token: Piece) -> EncodedWord:
        spelled = self._spelled(word)
        pieces = (spelled,) if self.subwords is None else self.subwords.pieces_of(spelled)
        unknown_id = self.vocabulary.unknown_id
        ids = [self.vocabulary.ids.get(piece, unknown_id) for piece in pieces]
        if None in ids:
            return EncodedWord(word, (), (), (), token.start, token.end)
        return EncodedWord(
            text=word,
            ids=tuple(token_id for token_id in ids if token_id is not None),
            labels=tuple(map(self._label, pieces)),
            unknown=tuple(token_id == unknown_id for token_id in ids),
            char_start=token.start,
            char_end=token.end,
            read_as=spelled if spelled != word else None,
        )


def fold_case(words: Sequence[str], case: LetterCase) -> list[str]:
    """`words` in Unicode's composed form, lower-cased as `case` says."""
    composed = [unicodedata.normalize("NFC", word) for word in words]
    if case == "lower":
        return [word.lower() for word in composed]
    if case == "sentence" and composed:
        composed[0] = composed[0][:1].lower() + composed[0][1:]
    return composed


NO_SPACE_BEFORE = frozenset(
    ". , ; : ! ? ) ] } % … ” ’ n't 's 'm 're 've 'll 'd 'S N'T st nd rd th".split()
)
NO_SPACE_AFTER = frozenset("( [ { $ # “ ‘".split())
JOINS_BOTH = frozenset("- / –".split())
STRAIGHT_QUOTES = frozenset("\" '".split())
CLITIC_HEADS = {"can": ("not",), "gon": ("na",), "wan": ("na",), "got": ("ta",)}
"""By first word, the words that `detokenize` joins to it, such as “not” to “can”."""


def detokenize(tokens: Sequence[str]) -> str:
    """Joins `tokens` into a sentence with the spaces of print.

    None before a full stop or inside quotation marks, and none in "t-shirt".
    """
    pieces: list[str] = []
    open_quotes: set[str] = set()
    glue_next = True
    for index, token in enumerate(tokens):
        closes = token in STRAIGHT_QUOTES and (
            token in open_quotes or _is_possessive(tokens, index)
        )
        opens = token in STRAIGHT_QUOTES and not closes
        joins = (
            token in JOINS_BOTH and 0 < index < len(tokens) - 1 and _between_words(tokens, index)
        )
        glued = glue_next or closes or joins or _attaches_left(tokens, index)
        pieces.append(token if glued else " " + token)
        glue_next = opens or joins or token in NO_SPACE_AFTER
        if opens:
            open_quotes.add(token)
        elif closes:
            open_quotes.discard(token)
    return "".join(pieces)


def _attaches_left(tokens: Sequence[str], index: int) -> bool:
    token = tokens[index]
    before = tokens[index - 1] if index else ""
    if token in ("st", "nd", "rd", "th"):
        return before.isdigit()
    return token in NO_SPACE_BEFORE or token in CLITIC_HEADS.get(before.lower(), ())


def _between_words(tokens: Sequence[str], index: int) -> bool:
    return tokens[index - 1][-1:].isalnum() and tokens[index + 1][:1].isalnum()


def _is_possessive(tokens: Sequence[str], index: int) -> bool:
    return (
        tokens[index] == "'"
        and index > 0
        and tokens[index - 1].endswith("s")
        and "'" not in tokens[:index]
    )


def capitalize_first(text: str) -> str:
    """`text` with its first letter in upper case."""
    for index, character in enumerate(text):
        if character.isalnum():
            return text[:index] + character.upper() + text[index + 1 :]
    return text
