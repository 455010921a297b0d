"""The rules that ship give spaCy's tokens, each of them, on real text and on any other."""

import itertools
import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from augenmerk.core.errors import ConfigError
from augenmerk.core.extensions.training.corpora.parallel import read_lines
from augenmerk.core.resources import resource_path
from augenmerk.core.text import tokenizers
from augenmerk.core.text.tokenizers import (
    RULES_FILE,
    SHIPPED,
    Piece,
    SpacyTokenizer,
    WordRules,
    has_rules,
    rules_of_spacy,
    shipped_rules,
)
from tests.test_import_rules import modules_imported_by
from tools.tokenizer_rules import rules_of_spacy as exported

NUM_FUZZED = 4_000
SIGNS = (
    "ab AB.,;:!?'’\"„“”()[]{}<>-–—/\\@#$%&*+=~^°0123456789 \t\n\x0b\x1c\x85\xa0"
    "äöüßéЖ日😀…_|`´§€\u200b\u2028\u3000:)(DPx"
)
TRICKY = (
    "http://a.de/x?y=1", "www.foo.com", "a.b@c.de", "10km", "3.5€", "U.S.A.", "z.B.", "1.000,50", "don't", "...", "  ",
    "20:15", "x--y", "e.g", ":-)", ": -)", "(*_*)", "o.O", "¯\\(ツ)/¯", "5-jährige", "can't've", "Mr.Smith", "'s",
)  # fmt: skip


@pytest.fixture(scope="module", params=SHIPPED)
def language(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def both(language: str) -> tuple[WordRules, Callable[[str], list[Piece]]]:
    return shipped_rules(language), rules_of_spacy(language)


@pytest.mark.heavy
def test_the_rules_are_those_of_the_spacy_that_is_installed(language: str) -> None:
    shipped = json.loads(resource_path(RULES_FILE).read_text(encoding="utf-8"))
    assert set(shipped) == set(SHIPPED)
    assert shipped[language] == exported(language)


@pytest.mark.heavy
def test_every_case_alone_and_beside_signs_is_cut_as_spacy_cuts_it(language: str, both) -> None:
    ours, theirs = both
    cases = json.loads(resource_path(RULES_FILE).read_text(encoding="utf-8"))[language]["cases"]
    for case, form in itertools.product(cases, ("{}", "({}).", "„{}“, {}", "x{}-{}")):
        text = form.replace("{}", case)
        assert ours(text) == theirs(text), repr(text)


def random_text(dice: random.Random, words: list[str], cases: list[str]) -> str:
    """Words, cases, signs and any characters, with and without spaces between."""

    def part() -> str:
        match dice.randrange(10):
            case 0 | 1 | 2:
                return dice.choice(cases)
            case 3 | 4:
                return dice.choice(words)
            case 5:
                return dice.choice(TRICKY)
            case 6:
                code = dice.choice(
                    [
                        dice.randrange(0xD800),
                        dice.randrange(0xE000, 0x11_0000),
                        dice.randrange(0x300),
                    ]
                )
                return chr(code)
            case _:
                return "".join(dice.choices(SIGNS, k=dice.randint(1, 6)))

    return "".join(part() + dice.choice(["", " ", " ", "  "]) for _ in range(dice.randint(1, 12)))


@pytest.mark.slow
@pytest.mark.heavy
def test_any_text_is_cut_as_spacy_cuts_it(language: str, both) -> None:
    ours, theirs = both
    dice = random.Random(f"{language} 1")
    cases = list(
        json.loads(resource_path(RULES_FILE).read_text(encoding="utf-8"))[language]["cases"]
    )
    words = (
        "Zwei Hunde laufen über die Straße. He's been there, hasn't he? The U.K.'s 3rd "
        "best-known (10:30 p.m.)"
    ).split()
    for _ in range(NUM_FUZZED):
        text = random_text(dice, words, cases)
        assert ours(text) == theirs(text), repr(text)


@pytest.mark.slow
def test_all_of_multi30k_is_cut_as_spacy_cuts_it(
    multi30k_folder: Path, language: str, both
) -> None:
    ours, theirs = both
    paths = sorted(multi30k_folder.glob(f"*.{language}.gz"))
    lines = [line for path in paths for line in read_lines(path)]
    assert len(lines) > 30_000
    for line in lines:
        assert ours(line) == theirs(line), repr(line)


@cache
def rules_of_tests(language: str) -> WordRules:
    """One for all tests: making them takes longer than the test."""
    return shipped_rules(language)


@pytest.mark.parametrize(
    ("code", "text", "tokens"),
    [
        ("de", "(z.B. so)", "( z.B. so )"),
        ("de", "„z. B.“,", "„ z. B. “ ,"),
        ("de", "¯\\(ツ)/¯ ((( „ ", "¯\\(ツ)/¯ ( ( ( „"),
        ("de", "a (*_*)b (*_*) c", "a (*_*) b (*_*) c"),
        ("de", "http://a.de/x?y=1. x...", "http://a.de/x?y=1. x ..."),
        ("de", "Mr.Smith's 10km.", "Mr. Smith's 10 km ."),
        ("de", "o.O :-) (: -)", "o.O :-) (: - )"),
        ("de", "ca. 3,5€). U.S.A.", "ca. 3,5 € ) . U.S.A."),
        ("en", "(don't) can't've", "( do n't ) ca n't 've"),
        ("en", "x--y (:-)", "x -- y ( :-)"),
        ("en", "a-b/c --- -", "a - b / c --- -"),
        ("en", "'s p.m.) I'm:-).", "'s p.m. ) I'm:- ) ."),
        ("en", "we'll won't. ", "we 'll wo n't ."),
    ],
)
def test_tricky_texts_are_cut_as_spacy_cuts_them(code: str, text: str, tokens: str) -> None:
    pieces = rules_of_tests(code)(text)
    assert [piece.text for piece in pieces] == tokens.split()
    assert "".join(piece.text + " " * piece.has_space for piece in pieces) == text
    assert all(text[piece.start : piece.end] == piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("we'll\n\nwon't", ["we", "'ll", "\n\n", "wo", "n't"]),
        ("  a   b", ["  ", "a", "  ", "b"]),
        (" \ta\t", [" \t", "a", "\t"]),
    ],
)
def test_white_space_beyond_a_single_space_is_a_token(text: str, tokens: list[str]) -> None:
    pieces = rules_of_tests("en")(text)
    assert [piece.text for piece in pieces] == tokens
    assert "".join(piece.text + " " * piece.has_space for piece in pieces) == text
    assert all(text[piece.start : piece.end] == piece.text for piece in pieces)


def test_what_is_remembered_changes_nothing_and_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizers, "MAX_REMEMBERED", 3)
    rules = shipped_rules("de")
    texts = ["Ein Mann.", "(z.B. so)", "Ein Mann.", "ganz anders, oder?", "(z.B. so)"]
    assert [rules(text) for text in texts] == [shipped_rules("de")(text) for text in texts]
    assert len(rules._remembered) == 3


@pytest.mark.slow
@pytest.mark.heavy
def test_languages_that_do_not_ship_are_cut_by_spacy() -> None:
    assert [token.text for token in SpacyTokenizer("fr")("L'homme aujourd'hui.")] == [
        "L'",
        "homme",
        "aujourd'hui",
        ".",
    ]
    assert list(SpacyTokenizer("fr", keep_spaces=True).pipe([" deux  chiens"])) == [
        ["deux", " ", "chiens"]
    ]


def test_where_spacy_is_missing_the_shipped_languages_are_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert has_rules("de", "fr")
    monkeypatch.setattr(tokenizers, "find_spec", lambda name: None)
    assert has_rules("de", "en")
    assert not has_rules("de", "fr")


def test_a_missing_file_of_rules_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tokenizers, "resource_path", lambda name: tmp_path / name)
    tokenizers.rules_of.cache_clear()
    with pytest.raises(ConfigError, match=r"tokenizer-rules\.json cannot be read"):
        shipped_rules("de")


@pytest.mark.subprocess
@pytest.mark.slow
def test_a_sentence_is_translated_without_spacy_and_without_what_only_training_needs(
    untrained_checkpoint: Path,
) -> None:
    arguments = ["translate", "Ein Mann steht.", "--checkpoint", str(untrained_checkpoint)]
    modules = modules_imported_by(
        f"import augenmerk.core.cli.main as main; main.main({arguments!r})"
    )
    assert "torch" in modules
    assert not modules & {
        "spacy",
        "requests",
        "augenmerk.core.extensions.training",
        "augenmerk.core.extensions.training.corpora.multi30k",
    }
