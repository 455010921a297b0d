"""A vocabulary is an ordered list: specials, then words by falling frequency."""

import json
from typing import Any

import pytest

from augenmerk.core.extensions.training.corpora.learning import (
    vocabulary_of_copy_task,
    vocabulary_of_words,
)
from augenmerk.core.text.vocabulary import SPECIALS, Vocabulary

SENTENCES = ["der hund rennt", "der hund bellt", "die katze schläft", "der mann", "aal aal"]


def vocabulary(min_frequency: int = 2) -> Vocabulary:
    return vocabulary_of_words([line.split() for line in SENTENCES], min_frequency)


def test_specials_come_first_in_the_order_of_the_published_system() -> None:
    words = vocabulary()
    assert words.tokens[:4] == ("<unk>", "<pad>", "<sos>", "<eos>") == SPECIALS
    assert (words.unknown_id, words.padding_id, words.start_id, words.end_id) == (0, 1, 2, 3)


def test_all_four_marks_are_specials_of_a_text() -> None:
    assert vocabulary().special_ids == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "words",
    [vocabulary(), vocabulary_of_words([["a"]], 1, is_wrapped=False), vocabulary_of_copy_task(3)],
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
