"""The source words of a training split are counted, and the counts of two corpora joined."""

from dataclasses import replace

import pytest

from augenmerk.core.extensions.training.corpora import word_counting
from augenmerk.core.extensions.training.corpora.word_counting import count_words, joined_counts
from augenmerk.core.text.word_counts import WordCounts
from tests.core.text.test_word_counts import counted


def test_nothing_to_count_gives_no_counts() -> None:
    assert count_words([]) is None
    assert count_words([[" "], ["\n", "\ud800"]]) is None


def test_of_too_many_words_the_rarest_are_left_out_and_that_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(word_counting, "MAX_WORDS", 2)
    counts = counted(["a", "a", "a", "b", "b", "c"])
    assert (dict(counts.counts), counts.least) == ({"a": 3, "b": 2}, 2)
    assert (counts.of("c"), counts.is_exact("c")) == (1, False)
    assert (counts.of("a"), counts.is_exact("a")) == (3, True)
    assert count_words([[word] * 9 for word in "abc"]) is None, "frequent ones must all be listed"


def test_of_two_corpora_each_word_has_the_larger_count(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (
        WordCounts({"a": 3, "b": 1}, "tales", 1, 2.0),
        WordCounts({"a": 2, "c": 4}, "tales", 2, 3.0),
    )
    joined = joined_counts(first, second)
    assert joined is not None
    assert (dict(joined.counts), joined.kind, joined.least, joined.unusual_below) == (
        {"a": 3, "c": 4},
        "tales",
        2,
        3.0,
    )
    other = joined_counts(first, replace(second, kind=""))
    assert other is not None
    assert other.kind == ""
    monkeypatch.setattr(word_counting, "MAX_WORDS", 1)
    assert joined_counts(first, second) is None


def test_with_a_part_of_its_corpus_a_model_knows_what_it_knew() -> None:
    whole = WordCounts({"a": 300, "b": 1, "c": 4}, "tales", unusual_below=3.0)
    part = WordCounts({"a": 20, "c": 1}, unusual_below=1.5)
    for joined in (joined_counts(whole, part), joined_counts(part, whole)):
        assert joined is not None
        assert (dict(joined.counts), joined.kind, joined.unusual_below) == (
            dict(whole.counts),
            "tales",
            3.0,
        )
