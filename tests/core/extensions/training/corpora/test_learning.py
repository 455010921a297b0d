"""Vocabularies and joint subwords are learned from the training split."""

import pytest

from augenmerk.core.errors import CorpusError, UnfitCorpusError
from augenmerk.core.extensions.training.corpora.learning import (
    learn_subwords,
    vocabulary_of_copy_task,
    vocabulary_of_words,
)
from augenmerk.core.text.vocabulary import SPECIALS
from tests.core.text.test_subwords import WORDS
from tests.core.text.test_vocabulary import vocabulary


def test_words_follow_by_falling_frequency_and_then_by_alphabet() -> None:
    assert vocabulary().tokens[4:] == ("der", "aal", "hund")
    assert vocabulary(1).tokens[4:] == (
        "der",
        "aal",
        "hund",
        "bellt",
        "die",
        "katze",
        "mann",
        "rennt",
        "schläft",
    )


def test_words_rarer_than_the_limit_are_left_out() -> None:
    assert "katze" not in vocabulary(2).ids
    assert "hund" not in vocabulary(3).ids
    assert vocabulary(4).tokens == SPECIALS


def test_a_word_that_looks_like_a_special_gets_no_second_place() -> None:
    words = vocabulary_of_words([["<pad>", "<pad>", "a", "a"]], 1)
    assert words.tokens == (*SPECIALS, "a")


def test_sentences_that_are_not_wrapped_need_no_start_and_no_end_token() -> None:
    words = vocabulary_of_words([["a", "a", "<eos>"]], 1, is_wrapped=False)
    assert words.tokens == ("<unk>", "<pad>", "a", "<eos>")
    assert (words.padding_id, words.unknown_id, words.end_id) == (1, 0, None)
    assert words.special_ids == {0, 1}


def test_the_copy_task_has_symbols_that_are_their_own_ids_and_no_end() -> None:
    symbols = vocabulary_of_copy_task(10)
    assert len(symbols) == 11
    assert all(symbols.ids[str(symbol)] == symbol for symbol in range(1, 11))
    assert (symbols.padding_id, symbols.start_id, symbols.end_id, symbols.unknown_id) == (
        0,
        1,
        None,
        None,
    )
    assert symbols.special_ids == {0}, "the start symbol is also a word"


def test_learning_twice_gives_the_same_pieces() -> None:
    assert learn_subwords(WORDS, 60).vocabulary == learn_subwords(WORDS, 60).vocabulary


def test_more_subwords_than_the_text_has_are_refused_with_a_way_out() -> None:
    with pytest.raises(UnfitCorpusError) as caught:
        learn_subwords(WORDS, 5000)
    message = str(caught.value)
    assert "5,000 subwords cannot be learned from this text: it has pieces for" in message
    assert f"Use fewer (--set data.num_subwords={caught.value.misfit.value})" in message
    assert (
        len(learn_subwords(WORDS, caught.value.misfit.value).vocabulary)
        == caught.value.misfit.value
    )


def test_fewer_subwords_than_the_text_has_characters_are_refused_with_a_way_out() -> None:
    with pytest.raises(
        UnfitCorpusError, match=r"its characters alone need \d+\. Use more"
    ) as caught:
        learn_subwords(WORDS, 7)
    assert (
        len(learn_subwords(WORDS, caught.value.misfit.value).vocabulary)
        == caught.value.misfit.value
    )


def test_a_text_without_words_is_refused() -> None:
    with pytest.raises(CorpusError, match="cannot be learned from this text: it has no words"):
        learn_subwords([[], []], 90)
