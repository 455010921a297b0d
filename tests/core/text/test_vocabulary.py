"""A vocabulary is an ordered list: specials, then words by falling frequency."""

import json
from typing import Any

import pytest

from augenmerk.core.text.vocabulary import SPECIALS, Vocabulary

SENTENCES = ["der hund rennt", "der hund bellt", "die katze schläft", "der mann", "aal aal"]


def vocabulary(min_frequency: int = 2) -> Vocabulary:
    return Vocabulary.of_words([line.split() for line in SENTENCES], min_frequency)


def test_specials_come_first_in_the_order_of_the_published_system() -> None:
    words = vocabulary()
    assert words.tokens[:4] == ("<unk>", "<pad>", "<sos>", "<eos>") == SPECIALS
    assert (words.unknown_id, words.padding_id, words.start_id, words.end_id) == (0, 1, 2, 3)


def test_words_follow_by_falling_frequency_and_then_by_alphabet() -> None:
    assert vocabulary().tokens[4:] == ("der", "aal", "hund")
    assert vocabulary(1).tokens[4:] == ("der", "aal", "hund", "bellt", "die", "katze", "mann", "rennt", "schläft")


def test_words_rarer_than_the_limit_are_left_out() -> None:
    assert "katze" not in vocabulary(2).ids
    assert "hund" not in vocabulary(3).ids
    assert vocabulary(4).tokens == SPECIALS


def test_a_word_that_looks_like_a_special_gets_no_second_place() -> None:
    words = Vocabulary.of_words([["<pad>", "<pad>", "a", "a"]], 1)
    assert words.tokens == (*SPECIALS, "a")


def test_sentences_that_are_not_wrapped_need_no_start_and_no_end_token() -> None:
    words = Vocabulary.of_words([["a", "a", "<eos>"]], 1, is_wrapped=False)
    assert words.tokens == ("<unk>", "<pad>", "a", "<eos>")
    assert (words.padding_id, words.unknown_id, words.end_id) == (1, 0, None)
    assert words.special_ids == {0, 1}


def test_the_copy_task_has_symbols_that_are_their_own_ids_and_no_end() -> None:
    symbols = Vocabulary.of_copy_task(10)
    assert len(symbols) == 11
    assert all(symbols.ids[str(symbol)] == symbol for symbol in range(1, 11))
    assert (symbols.padding_id, symbols.start_id, symbols.end_id, symbols.unknown_id) == (0, 1, None, None)
    assert symbols.special_ids == {0}, "the start symbol is also a word"


def test_all_four_marks_are_specials_of_a_text() -> None:
    assert vocabulary().special_ids == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "words", [vocabulary(), Vocabulary.of_words([["a"]], 1, is_wrapped=False), Vocabulary.of_copy_task(3)]
)
def test_a_vocabulary_survives_the_way_through_json(words: Vocabulary) -> None:
    assert Vocabulary.from_dict(json.loads(json.dumps(words.to_dict()))) == words


@pytest.mark.parametrize(
    "damage",
    [
        {"tokens": ["a", 5, "b", "c"]},
        {"tokens": ["a", "a", "b", "c"]},
        {"tokens": []},
        {"tokens": 5},
        {"padding_id": None},
        {"padding_id": -1},
        {"start_id": 99},
        {"end_id": "3"},
        {"unknown_id": 4.5},
        {"extra": 1},
    ],
)
def test_a_damaged_description_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        Vocabulary.from_dict(vocabulary().to_dict() | damage)
