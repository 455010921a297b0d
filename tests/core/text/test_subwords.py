"""Joint byte-pair encoding: every word of known characters can be spelled, and read back."""

import base64

import pytest

from augenmerk.core.extensions.training.corpora.learning import learn_subwords
from augenmerk.core.text.subwords import WORD_MARK, Subwords
from augenmerk.core.text.vocabulary import SPECIALS

GERMAN = [
    "ein mann in einem blauen hemd steht auf einer leiter",
    "zwei kinder laufen über die straße",
]
ENGLISH = ["a man in a blue shirt is standing on a ladder", "two kids run across the street ."]
WORDS = [line.split() for line in (*GERMAN, *ENGLISH)]


@pytest.fixture(scope="module")
def subwords() -> Subwords:
    return learn_subwords(WORDS, 60)


def spell(pieces: tuple[str, ...]) -> str:
    return "".join(pieces).removeprefix(WORD_MARK)


def test_the_vocabulary_has_the_size_asked_for_and_begins_with_the_specials(
    subwords: Subwords,
) -> None:
    assert len(subwords.vocabulary) == 60
    assert subwords.vocabulary.tokens[:4] == SPECIALS


def test_every_word_is_spelled_by_its_pieces(subwords: Subwords) -> None:
    for word in {word for words in WORDS for word in words}:
        pieces = subwords.pieces_of(word)
        assert spell(pieces) == word
        assert pieces[0].startswith(WORD_MARK)
        assert not any(WORD_MARK in piece for piece in pieces[1:])
        assert all(piece in subwords.vocabulary.ids for piece in pieces)


def test_a_new_word_of_known_characters_is_never_unknown(subwords: Subwords) -> None:
    letters = sorted({letter for words in WORDS for word in words for letter in word})
    for word in (
        "".join(letters),
        "".join(reversed(letters)),
        *letters,
        "straßenleiter",
        "bluestreet",
    ):
        pieces = subwords.pieces_of(word)
        assert spell(pieces) == word
        assert all(piece in subwords.vocabulary.ids for piece in pieces)


def test_characters_never_seen_stand_as_they_are_and_are_unknown(subwords: Subwords) -> None:
    pieces = subwords.pieces_of("日")
    assert spell(pieces) == "日"
    assert any(piece not in subwords.vocabulary.ids for piece in pieces)


def test_the_sign_of_a_word_within_a_word_does_not_make_two_of_it(subwords: Subwords) -> None:
    assert sum(piece.startswith(WORD_MARK) for piece in subwords.pieces_of("a▁b")) == 1


@pytest.mark.parametrize("word", ["<sos>", "<eos>", "<pad>"])
def test_the_name_of_a_special_in_a_text_is_not_the_special(subwords: Subwords, word: str) -> None:
    assert word not in subwords.pieces_of(word)


def test_subwords_survive_the_way_through_text(subwords: Subwords) -> None:
    again = Subwords.from_text(subwords.to_text())
    assert again.vocabulary == subwords.vocabulary
    assert again.pieces_of("leiterstraße") == subwords.pieces_of("leiterstraße")


@pytest.mark.parametrize(
    "text", ["", "!!!!", "AAAA", base64.b64encode(b"\x0a\x03abc").decode(), "Ä"]
)
def test_a_damaged_model_is_refused(text: str) -> None:
    with pytest.raises((ValueError, RuntimeError)):
        Subwords.from_text(text)
