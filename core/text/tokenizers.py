"""Splits a line of text into words: spaCy's rules for a language, or symbols between spaces.

The rules for de and en are data (`resources/tokenizer-rules.json`, extracted from spaCy by
`tools/tokenizer_rules.py`). `WordRules` applies them exactly as `spacy.tokenizer.Tokenizer` does,
so the tokens are equal. Importing spaCy takes longer than translating a sentence.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

from ..config import DataConfig
from ..config.settings import require_language
from ..errors import ConfigError, CorpusError, TextError
from ..resources import resource_path
from .languages import two_letter_code
from .phrases import phrase

RULES_FILE = "tokenizer-rules.json"
SHIPPED = ("de", "en")
MAX_REMEMBERED = 10_000
"""Number of cached pieces between spaces."""
_RUNS = re.compile(r"\s+|\S+")


class Piece(NamedTuple):
    """A token, including white space. A tuple, because a corpus has many.

    Attributes:
        text: the token.
        start: its position.
        has_space: whether a space follows that is not a token.
    """

    text: str
    start: int
    has_space: bool

    @property
    def end(self) -> int:
        """The position after it."""
        return self.start + len(self.text)


class WordRules:
    """The rules of one language. Not thread-safe, because it caches tokens.

    Args:
        patterns: regular expressions: `prefix`, `suffix`, `infix`, `url`.
        cases: exceptions to the patterns, with their tokens.
    """

    def __init__(self, patterns: Mapping[str, str], cases: Mapping[str, Sequence[str]]) -> None:
        self._prefix, self._suffix, self._infix, self._url = (
            re.compile(patterns[name]) for name in ("prefix", "suffix", "infix", "url")
        )
        self._cases = {text: tuple(words) for text, words in cases.items()}
        self._remembered: dict[str, tuple[str, ...]] = {}
        self._sequences = self._case_sequences()

    def __call__(self, text: str) -> list[Piece]:
        """The tokens of a text.

        Repeated spaces and other white space are tokens; single spaces are not.
        """
        return self._with_case_sequences(self._pieces(text))

    def _pieces(self, text: str, *, with_cases: bool = True) -> list[Piece]:
        """The tokens of each run of white space, without one space after it, and of other text."""
        pieces: list[Piece] = []
        for match in _RUNS.finditer(text):
            run = match[0]
            start = match.start()
            if run[0] == " " and pieces:
                pieces[-1] = Piece(pieces[-1].text, pieces[-1].start, has_space=True)
                run = run[1:]
                start = start + 1
                if not run:
                    continue
            for token in self._cut(run) if with_cases else self._cut_by_patterns(run, {}):
                pieces.append(Piece(token, start, has_space=False))
                start += len(token)
        return pieces

    def _cut(self, run: str) -> tuple[str, ...]:
        tokens = self._remembered.get(run)
        if tokens is None:
            tokens = self._cases.get(run) or self._cut_by_patterns(run, self._cases)
            if len(self._remembered) < MAX_REMEMBERED:
                self._remembered[run] = tokens
        return tokens

    def _cut_by_patterns(self, run: str, cases: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """Strip prefixes and suffixes up to an exception, then split the rest at infixes."""
        rest, prefixes, suffixes = self._without_affixes(run, cases)
        if not rest:
            middle: Sequence[str] = ()
        elif rest in cases:
            middle = cases[rest]
        elif self._url.match(rest):
            middle = (rest,)
        else:
            middle = tuple(self._cut_at_infixes(rest))
        return (*prefixes, *middle, *reversed(suffixes))

    def _without_affixes(
        self, rest: str, cases: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, list[str], list[str]]:
        prefixes: list[str] = []
        suffixes: list[str] = []
        length = 0
        while rest and len(rest) != length and rest not in cases:
            length = len(rest)
            num_first = _length(self._prefix.search(rest))
            if num_first and rest[num_first:] in cases:
                return rest[num_first:], [*prefixes, rest[:num_first]], suffixes
            num_last = _length(self._suffix.search(rest[num_first:]))
            if num_last and rest[:-num_last] in cases:
                return rest[:-num_last], prefixes, [*suffixes, rest[-num_last:]]
            if num_first:
                prefixes.append(rest[:num_first])
            if num_last and num_first + num_last <= length:
                suffixes.append(rest[-num_last:])
                rest = rest[num_first:-num_last]
            else:
                rest = rest[num_first:]
        return rest, prefixes, suffixes

    def _cut_at_infixes(self, text: str) -> Iterator[str]:
        start = 0
        for match in self._infix.finditer(text):
            if match.start() == 0:
                continue
            if match.start() != start:
                yield text[start : match.start()]
            if match.start() != match.end():
                yield match[0]
            start = match.end()
        if start < len(text):
            yield text[start:]

    # --- cases that the patterns cut apart --------------------------------------------------------

    def _case_sequences(self) -> dict[str, list[tuple[str, ...]]]:
        """The tokens of each case that the patterns would cut, by their first token."""
        sequences: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        for text in sorted(self._cases):
            if (
                " " in text
                or any(_length(pattern.search(text)) for pattern in (self._prefix, self._suffix))
                or self._infix.search(text)
            ):
                tokens = tuple(piece.text for piece in self._pieces(text, with_cases=False))
                if tokens and tokens not in sequences[tokens[0]]:
                    sequences[tokens[0]].append(tokens)
        return dict(sequences)

    def _with_case_sequences(self, pieces: list[Piece]) -> list[Piece]:
        """Tokens that together are a case become those of the case.

        Of two cases that overlap, the longer one counts, of equally long ones the first.
        """
        matches = self._matches(pieces)
        if not matches:
            return pieces
        taken: set[int] = set()
        chosen: dict[int, int] = {}
        for start, end in sorted(matches, key=lambda span: (span[0] - span[1], span[0])):
            if start not in taken and end - 1 not in taken:
                chosen[start] = end
            taken.update(range(start, end))
        merged: list[Piece] = []
        index = 0
        while index < len(pieces):
            end = chosen.get(index, index + 1)
            merged += self._of_case(pieces[index:end]) if index in chosen else pieces[index:end]
            index = end
        return merged

    def _of_case(self, pieces: list[Piece]) -> list[Piece]:
        """The tokens of the case that `pieces` form.

        `pieces` themselves if a space between them prevents that.
        """
        has_space = pieces[-1].has_space
        text = "".join(piece.text + " " * piece.has_space for piece in pieces)
        case = self._cases.get(text[: len(text) - has_space])
        if case is None:
            return pieces
        case_pieces = []
        start = pieces[0].start
        for number, token in enumerate(case, start=1):
            case_pieces.append(Piece(token, start, has_space and number == len(case)))
            start += len(token)
        return case_pieces

    def _matches(self, pieces: list[Piece]) -> list[tuple[int, int]]:
        texts = [piece.text for piece in pieces]
        return [
            (start, start + len(tokens))
            for start, text in enumerate(texts)
            for tokens in self._sequences.get(text, ())
            if tuple(texts[start : start + len(tokens)]) == tokens
        ]


def _length(match: re.Match[str] | None) -> int:
    return match.end() - match.start() if match else 0


def shipped_rules(language: str) -> WordRules:
    """A new instance of the rules of a language in `SHIPPED`.

    Raises `ConfigError` if their file is missing.
    """
    patterns, cases = rules_of(language)
    return WordRules(patterns, cases)


@cache
def rules_of(language: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Patterns and cases of a language in `SHIPPED`.

    Raises `ConfigError` if their file is missing.
    """
    path = resource_path(RULES_FILE)
    try:
        rules = json.loads(path.read_text(encoding="utf-8"))[language]
        return rules["patterns"], rules["cases"]
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}. Reinstall Augenmerk to restore the rules that "
            "split text into words."
        ) from error


MAX_CHARACTERS = 20_000
"""Maximum length of a typed text: twice that of a thousand words."""
MAX_WORD_CHARACTERS = 1_000
"""Maximum length between two spaces, in characters.

spaCy takes quadratic time, two seconds for 5,000 opening brackets.
"""
_LONG_WORD = re.compile(rf"\S{{{MAX_WORD_CHARACTERS + 1}}}")


class SpacyTokenizer:
    """The rule-based tokenizer of `spacy.blank(language)`: the one the published systems used.

    No model is needed.

    For the languages whose rules ship, `core.text.tokenizers` gives the same tokens without spaCy,
    which takes seconds to import; for another, spaCy is imported at the first sentence.
    """

    def __init__(self, language: str, *, keep_spaces: bool = False) -> None:
        self.language = language
        self.keep_spaces = keep_spaces

    def __call__(self, line: str) -> list[Piece]:
        """The words of a typed line, without white space.

        Raises `TextError` if it or a word of it is too long.
        """
        check_length(line)
        with _rules(self.language) as rules:
            return [piece for piece in rules(line) if not piece.text.isspace()]

    def pipe(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """The words of a corpus's lines; with `keep_spaces`, repeated spaces are words too.

        Raises:
            CorpusError: a word is too long.
        """
        with _rules(self.language) as rules:
            for line in _without_long_words(lines):
                yield [
                    piece.text
                    for piece in rules(line)
                    if self.keep_spaces or not piece.text.isspace()
                ]


def check_length(line: str) -> None:
    """Raise `TextError` if a typed text or one of its words is too long to tokenize quickly."""
    if len(line) > MAX_CHARACTERS:
        raise TextError(phrase("long_text", limit=f"{MAX_CHARACTERS:,}"))
    if match := _LONG_WORD.search(line):
        raise TextError(
            phrase("long_word", word=repr(match[0][:40]), limit=f"{MAX_WORD_CHARACTERS:,}")
        )


def _without_long_words(lines: Iterable[str]) -> Iterator[str]:
    """The stripped lines of a corpus. Raises `CorpusError` if a word is too long."""
    for number, line in enumerate(lines, start=1):
        if match := _LONG_WORD.search(line):
            raise CorpusError(
                f"In sentence {number:,} of the corpus, the word that starts with "
                f"{match[0][:40]!r} has more than {MAX_WORD_CHARACTERS:,} characters. Remove the "
                "sentence on both sides."
            )
        yield line.strip()


Rules = Callable[[str], list[Piece]]
_idle_rules: defaultdict[str, list[Rules]] = defaultdict(list)
"""Equal rules that are free at the moment, by language."""


@contextmanager
def _rules(language: str) -> Iterator[Rules]:
    """The rules of a language for one user at a time.

    Rules are slow to create, so they are reused for the next model or corpus of the language. They
    cache their tokens, so only one thread may use them at a time.
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
    """Whether text in these languages can be tokenized here.

    A server that trains from prepared data may lack spaCy.
    """
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
            f"spaCy's rules for the language {language!r} cannot be used here: {error}. Install "
            "the package, or choose a language without one, such as de or en."
        ) from error

    def cut(text: str) -> list[Piece]:
        return [Piece(token.text, token.idx, bool(token.whitespace_)) for token in rules(text)]

    return cut


class SymbolTokenizer:
    """Symbols between spaces, for the copy task."""

    def __call__(self, line: str) -> list[Piece]:
        """The symbols of one line. Raises `TextError` if it is too long."""
        check_length(line)
        tokens = []
        position = 0
        for text in line.split():
            start = line.index(text, position)
            position = start + len(text)
            tokens.append(Piece(text, start, has_space=False))
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
            "The data settings are those of an imported model (tokenization = "
            f"{config.tokenization}), whose vocabularies come with it: none can be learned from "
            "a corpus. Train that model further (augenmerk train --initial-model FILE), or "
            "choose tokenization = spacy."
        )
    if config.tokenization == "symbols":
        return SymbolTokenizer()
    return SpacyTokenizer(language, keep_spaces=config.keep_spaces)
