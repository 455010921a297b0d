"""Splits a line of text into words: spaCy's rules for a language, or symbols between spaces."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.config import DataConfig
from core.errors import ConfigError


@dataclass(frozen=True)
class Token:
    """A word and its place: `text` is line[start:end]."""

    text: str
    start: int
    end: int


class SpacyTokenizer:
    """The rule-based tokenizer of `spacy.blank(language)`: the one the published systems used. No model is needed.

    spaCy is imported at the first sentence, because that takes seconds.
    """

    def __init__(self, language: str, *, keep_spaces: bool = False) -> None:
        self.language = language
        self.keep_spaces = keep_spaces

    @cached_property
    def _tokenizer(self) -> Any:
        import spacy

        try:
            return spacy.blank(self.language).tokenizer
        except (ImportError, ValueError) as error:
            raise ConfigError(
                f"spaCy has no rules for the language {self.language!r}. A code such as de or en was expected; "
                "choose one that spaCy knows."
            ) from error

    def __call__(self, line: str) -> list[Token]:
        """The words of a typed line, without white space."""
        document = self._tokenizer(line)
        return [Token(token.text, token.idx, token.idx + len(token.text)) for token in document if not token.is_space]

    def pipe(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """The words of a corpus's lines, without their places; with `keep_spaces`, doubled spaces are words too."""
        for document in self._tokenizer.pipe((line.strip() for line in lines), batch_size=1000):
            yield [token.text for token in document if self.keep_spaces or not token.is_space]


class SymbolTokenizer:
    """Symbols between spaces, for the copy task."""

    def __call__(self, line: str) -> list[Token]:
        """The symbols of one line."""
        tokens, position = [], 0
        for text in line.split():
            start = line.index(text, position)
            position = start + len(text)
            tokens.append(Token(text, start, position))
        return tokens

    def pipe(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """The symbols of many lines, without their places."""
        for line in lines:
            yield line.split()


Tokenizer = SpacyTokenizer | SymbolTokenizer


def make_tokenizer(config: DataConfig, language: str) -> Tokenizer:
    """The tokenizer that `config` names, for one of its languages."""
    if config.tokenization == "symbols":
        return SymbolTokenizer()
    return SpacyTokenizer(language, keep_spaces=config.keep_spaces)
