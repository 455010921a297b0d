"""Splits a line of text into words: spaCy's rules for a language, or symbols between spaces."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from augenmerk.core.config import DataConfig
from augenmerk.core.config.settings import require_language
from augenmerk.core.errors import ConfigError, CorpusError, TextError
from augenmerk.core.text.languages import two_letter_code
from augenmerk.core.text.word_rules import SHIPPED, Piece, shipped_rules

MAX_CHARACTERS = 20_000
"""Of a text that someone typed, wherever one can be typed: twice what a thousand words have."""
MAX_WORD_CHARACTERS = 1_000
"""Between two spaces: spaCy takes time that grows with the square of it, two seconds for 5,000 opening brackets."""
_LONG_WORD = re.compile(rf"\S{{{MAX_WORD_CHARACTERS + 1}}}")


@dataclass(frozen=True)
class Token:
    """A word and its place: `text` is line[start:end]."""

    text: str
    start: int
    end: int


class SpacyTokenizer:
    """The rule-based tokenizer of `spacy.blank(language)`: the one the published systems used. No model is needed.

    For the languages whose rules ship, `core.text.word_rules` gives the same tokens without spaCy, which takes seconds
    to import; for another, spaCy is imported at the first sentence.
    """

    def __init__(self, language: str, *, keep_spaces: bool = False) -> None:
        self.language = language
        self.keep_spaces = keep_spaces

    def __call__(self, line: str) -> list[Token]:
        """The words of a typed line, without white space. Raises `TextError` if it or a word of it is too long."""
        check_length(line)
        with _rules(self.language) as rules:
            return [
                Token(piece.text, piece.start, piece.start + len(piece.text))
                for piece in rules(line)
                if not piece.text.isspace()
            ]

    def pipe(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """The words of a corpus's lines, without their places; with `keep_spaces`, repeated spaces are words too.

        Raises:
            CorpusError: a word is too long.
        """
        with _rules(self.language) as rules:
            for line in _without_long_words(lines):
                yield [piece.text for piece in rules(line) if self.keep_spaces or not piece.text.isspace()]


def check_length(line: str) -> None:
    """Raise `TextError` if a typed text or one of its words is too long to tokenize quickly."""
    if len(line) > MAX_CHARACTERS:
        raise TextError(
            f"The text has {len(line):,} characters; the limit is {MAX_CHARACTERS:,}. Shorten it, or translate it "
            "sentence by sentence."
        )
    if found := _LONG_WORD.search(line):
        raise TextError(
            f"The word that starts with {found[0][:40]!r} has more than {MAX_WORD_CHARACTERS:,} characters. Insert "
            "spaces, or remove it."
        )


def _without_long_words(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a corpus without white space around them. Raises `CorpusError` if a word is too long."""
    for number, line in enumerate(lines, start=1):
        if found := _LONG_WORD.search(line):
            raise CorpusError(
                f"In sentence {number:,} of the corpus, the word that starts with {found[0][:40]!r} has more than "
                f"{MAX_WORD_CHARACTERS:,} characters. Remove the sentence on both sides."
            )
        yield line.strip()


Rules = Callable[[str], list[Piece]]
_idle_rules: defaultdict[str, list[Rules]] = defaultdict(list)
"""By language, rules that nobody uses at the moment. They differ in nothing but in who uses them."""


@contextmanager
def _rules(language: str) -> Iterator[Rules]:
    """The rules of a language for one user at a time.

    Rules are slow to create, so they are reused for the next model or corpus of the language. They cache their tokens,
    so only one thread may use them at a time.
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
    """The code of spaCy's rules for a language: its own, or "xx", the rules for any language."""
    for code in dict.fromkeys((language, two_letter_code(language))):
        try:
            _make_rules(code)
        except ConfigError:
            continue
        return code
    return "xx"


def has_rules(*languages: str) -> bool:
    """Whether text in these languages can be tokenized here; a server that trains from prepared data may lack spaCy."""
    return all(language in SHIPPED for language in languages) or find_spec("spacy") is not None


def _make_rules(language: str) -> Rules:
    require_language("tokenizer", language=language)  # before a module of that name is imported
    return shipped_rules(language) if language in SHIPPED else rules_of_spacy(language)


def rules_of_spacy(language: str) -> Rules:
    """spaCy's own tokenizer. Raises `ConfigError` if the language needs a missing package."""
    try:
        import spacy

        rules = spacy.blank(language).tokenizer
    except (ImportError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"spaCy's rules for the language {language!r} cannot be used here: {error}. Install the package, or choose "
            "a language without one, such as de or en."
        ) from error

    def cut(text: str) -> list[Piece]:
        return [Piece(token.text, token.idx, bool(token.whitespace_)) for token in rules(text)]

    return cut


class SymbolTokenizer:
    """Symbols between spaces, for the copy task."""

    def __call__(self, line: str) -> list[Token]:
        """The symbols of one line. Raises `TextError` if it is too long."""
        check_length(line)
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
        ConfigError: an imported model has its own tokenizer.
    """
    if config.is_imported:
        raise ConfigError(
            f"The data settings are those of an imported model (tokenization = {config.tokenization}), whose "
            "vocabularies came with it: none can be learned from a corpus. Choose tokenization = spacy."
        )
    if config.tokenization == "symbols":
        return SymbolTokenizer()
    return SpacyTokenizer(language, keep_spaces=config.keep_spaces)
