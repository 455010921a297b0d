"""Words and where they stood."""

import itertools
from collections import defaultdict

import pytest

from augenmerk.core.config import DataConfig
from augenmerk.core.errors import ConfigError
from augenmerk.core.text import tokenizers
from augenmerk.core.text.tokenizers import SpacyTokenizer, SymbolTokenizer, make_tokenizer

LINES = [
    "Ein Mann in einem blauen Hemd steht auf einer Leiter.",
    "„Schön!“, rief der 5-jährige (laut) …",
    "  Zwei   Hunde\tlaufen ",
    "z. B. am 3. Mai um 10:30 Uhr, U.S.A.",
    "",
    "   ",
    "😀 und 日本語 😀",
]


@pytest.fixture(scope="module")
def german() -> SpacyTokenizer:
    return SpacyTokenizer("de")


@pytest.mark.parametrize("line", LINES)
def test_a_word_is_what_stood_at_its_place(german: SpacyTokenizer, line: str) -> None:
    tokens = german(line)
    assert all(line[token.start : token.end] == token.text for token in tokens)
    assert "".join(token.text for token in tokens) == "".join(line.split())
    assert all(before.end <= after.start for before, after in itertools.pairwise(tokens))


@pytest.mark.slow
@pytest.mark.heavy
def test_the_rules_are_those_of_spacy(german: SpacyTokenizer) -> None:
    import spacy

    expected = [token.text for token in spacy.blank("de").tokenizer(LINES[1])]
    assert [token.text for token in german(LINES[1])] == expected
    assert next(iter(german.pipe([LINES[1]]))) == expected


def test_a_corpus_and_a_typed_line_are_cut_alike(german: SpacyTokenizer) -> None:
    assert list(german.pipe(LINES)) == [[token.text for token in german(line)] for line in LINES]


def test_doubled_spaces_are_words_of_a_corpus_only_where_the_published_system_kept_them() -> None:
    keeping = SpacyTokenizer("en", keep_spaces=True)
    assert next(iter(keeping.pipe(["  two  dogs "]))) == ["two", " ", "dogs"]
    assert next(iter(SpacyTokenizer("en").pipe(["  two  dogs "]))) == ["two", "dogs"]
    assert [token.text for token in keeping("two  dogs")] == ["two", "dogs"], (
        "nobody types one on purpose"
    )


def test_rules_are_made_once_and_used_by_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    make = tokenizers._make_rules
    monkeypatch.setattr(tokenizers, "_idle_rules", defaultdict(list))
    monkeypatch.setattr(
        tokenizers, "_make_rules", lambda language: made.append(language) or make(language)
    )
    for _ in range(3):
        assert len(SpacyTokenizer("de")("Ein Mann")) == 2
    assert made == ["de"]
    first, second = (SpacyTokenizer("de").pipe(["Ein Mann", "Zwei Hunde"]) for _ in range(2))
    assert next(first) == next(second) == ["Ein", "Mann"]
    assert made == ["de", "de"], (
        "the first corpus is not at its end, so the second needs rules of its own"
    )
    assert next(first) == next(second) == ["Zwei", "Hunde"]
    assert list(first) == list(second) == []
    assert list(SpacyTokenizer("de").pipe(["Ein Mann"])) == [["Ein", "Mann"]]
    assert made == ["de", "de"]


def test_the_names_of_specials_do_not_survive_as_words(german: SpacyTokenizer) -> None:
    assert not {"<sos>", "<eos>", "<pad>", "<unk>"} & {
        token.text for token in german("<sos> <eos> <pad> <unk>")
    }


def test_symbols_stand_between_spaces() -> None:
    tokens = SymbolTokenizer()(" 1 10  1")
    assert [(token.text, token.start, token.end) for token in tokens] == [
        ("1", 1, 2),
        ("10", 3, 5),
        ("1", 7, 8),
    ]
    assert list(SymbolTokenizer().pipe([" 1 10  1", ""])) == [["1", "10", "1"], []]


def test_the_settings_choose_the_tokenizer() -> None:
    assert isinstance(make_tokenizer(DataConfig(tokenization="symbols"), "de"), SymbolTokenizer)
    spacy_tokenizer = make_tokenizer(DataConfig(keep_spaces=False), "fr")
    assert isinstance(spacy_tokenizer, SpacyTokenizer)
    assert (spacy_tokenizer.language, spacy_tokenizer.keep_spaces) == ("fr", False)


@pytest.mark.heavy
def test_a_language_that_spacy_does_not_know_is_refused() -> None:
    for language in ("qq", "lex_attrs", "punctuation", "../os", ""):
        with pytest.raises(ConfigError) as caught:
            SpacyTokenizer(language)("text")
        assert f"language is {language!r}. Use a language code such as de or en" in str(
            caught.value
        )


@pytest.mark.slow
@pytest.mark.heavy
def test_a_language_that_needs_another_package_says_so() -> None:
    with pytest.raises(ConfigError) as caught:
        SpacyTokenizer("ja")("text")
    assert "spaCy's rules for the language 'ja' cannot be used here" in str(caught.value)
