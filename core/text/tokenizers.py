"""Splits a line of text into words: spaCy's rules for a language, or symbols between spaces."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from core.config import DataConfig
from core.errors import ConfigError
from core.text.languages import two_letter_code


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

    def __call__(self, line: str) -> list[Token]:
        """The words of a typed line, without white space."""
        with _rules(self.language) as rules:
            return [
                Token(token.text, token.idx, token.idx + len(token.text)) for token in rules(line) if not token.is_space
            ]

    def pipe(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """The words of a corpus's lines, without their places; with `keep_spaces`, doubled spaces are words too."""
        with _rules(self.language) as rules:
            for document in rules.pipe((line.strip() for line in lines), batch_size=1000):
                yield [token.text for token in document if self.keep_spaces or not token.is_space]


_idle_rules: defaultdict[str, list[Any]] = defaultdict(list)
"""By language, spaCy's tokenizers that nobody uses at the moment. They differ in nothing but in who uses them."""


@contextmanager
def _rules(language: str) -> Iterator[Any]:
    """A tokenizer of spaCy for one user at a time.

    To make one takes a sixth of a second, so it is kept for the next user: another model of the same language, another
    corpus. It caches what it has cut, so no two threads may use it at once.
    """
    idle = _idle_rules[language]
    try:
        rules = idle.pop()
    except IndexError:
        rules = _make_rules(language)
    try:
        yield rules
    finally:
        idle.append(rules)


def rules_for(language: str) -> str:
    """The code of spaCy's rules for a language that it may not know: its own, or "xx", those for any language."""
    from spacy.util import get_lang_class

    for code in (language, two_letter_code(language)):
        try:
            get_lang_class(code)
        except ImportError:
            continue
        return code
    return "xx"


def _make_rules(language: str) -> Any:
    import spacy

    try:
        return spacy.blank(language).tokenizer
    except (ImportError, ValueError) as error:
        raise ConfigError(
            f"spaCy has no rules for the language {language!r}. A code such as de or en was expected; "
            "choose one that spaCy knows."
        ) from error


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
    """The tokenizer that `config` names, for one of its languages.

    Raises:
        ConfigError: the words are cut by models that came with an imported model.
    """
    if config.tokenization == "marian":
        raise ConfigError(
            "The data settings are those of an imported model (tokenization = marian), whose vocabularies came with "
            "it: none can be learned from a corpus. Choose tokenization = spacy."
        )
    if config.tokenization == "symbols":
        return SymbolTokenizer()
    return SpacyTokenizer(language, keep_spaces=config.keep_spaces)
