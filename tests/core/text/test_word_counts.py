"""Counts of the training data's words: what they say, and that only such files are taken as were
written."""

import zlib
from typing import Any

import pytest

from augenmerk.core.extensions.training.corpora.word_counting import count_words
from augenmerk.core.text import word_counts
from augenmerk.core.text.word_counts import WordCounts, has_letters

SENTENCES = [
    ["ein", "mann", "steht", "."],
    ["ein", "hund", "und", "ein", "mann", "."],
    [" ", "ähre", "ähren", "3"],
]


def counted(*sentences: list[str], kind: str = "") -> WordCounts:
    counts = count_words(sentences or SENTENCES, kind)
    assert counts is not None
    return counts


def test_every_word_is_counted_and_white_space_is_none() -> None:
    counts = counted()
    assert counts.of("ein") == 3
    assert counts.of("mann") == 2
    assert (counts.of("elefant"), counts.is_exact("elefant")) == (0, True)
    assert " " not in counts.counts
    assert counts.num_frequent == 0
    assert counted(["a"] * 5, ["b"] * 4).num_frequent == 1


def test_sentences_that_hardly_any_training_sentence_is_like_are_told_by_their_words() -> None:
    """Of 1,000 sentences two are of words that no other has: five in a thousand may be called
    unusual."""
    common = [["der", "hund", "ist", "im", "garten"]] * 998
    counts = counted(*common, ["völlig", "anderes"], ["noch", "etwas"])
    usual, unusual, mixed = (
        counts.familiarity(words) for words in (common[0], ["not", "german"], ["der", "cat"])
    )
    assert usual is not None
    assert unusual is not None
    assert mixed is not None
    assert unusual == 0.0
    assert unusual < mixed < usual
    assert counts.unusual_below == pytest.approx(usual, abs=0.01)
    assert counted(*common[:50]).unusual_below == 0.0, "too few sentences to tell"
    assert counts.familiarity(["3", "."]) is None


def test_repeated_words_and_marks_change_no_familiarity() -> None:
    counts = counted()
    assert counts.familiarity(["ein", "ein", "mann", ".", "3"]) == counts.familiarity(
        ["ein", "mann"]
    )
    assert [has_letters(word) for word in ("a", "3", ".", "3d", "ß", "日")] == [
        True,
        False,
        False,
        True,
        True,
        True,
    ]


class TestInFiles:
    def test_they_come_back_and_the_bytes_are_always_the_same(self) -> None:
        counts = counted(
            ["ein"] * 1_000,
            ["Ähre", "ähre", "ähren", "🙂", "x" * 1_000, "x" * 999 + "y"],
            kind="tales",
        )
        back = WordCounts.unpack(counts.describe(), counts.pack())
        assert dict(back.counts) == dict(counts.counts)
        assert (back.kind, back.least, back.unusual_below) == ("tales", 1, counts.unusual_below)
        turned = counted(
            ["🙂", "x" * 999 + "y", "x" * 1_000, "ähren", "ähre", "Ähre"], ["ein"] * 1_000
        )
        assert turned.pack() == counts.pack()

    @pytest.mark.parametrize(
        ("values", "problem"),
        [
            (None, "word_counts is null. Use an object"),
            ([], "word_counts is an empty list"),
            ({"kind": 5}, "word_counts.kind "),
            ({"kind": "a\nb"}, "word_counts.kind "),
            ({"kind": "x" * 61}, "word_counts.kind "),
            ({"kind": None}, "word_counts.kind "),
            ({"least": 0}, "least"),
            ({"least": 6}, "least"),
            ({"least": True}, "least"),
            ({"least": 2}, "a word was counted 1 to 3 times"),
            ({"num_words": 0}, "num_words"),
            ({"num_words": 1.0}, "num_words"),
            ({"num_words": 10**9}, "num_words"),
            ({"num_words": 10}, "not 10"),
            ({"num_words": 8}, "counts of 8 words"),
            ({"unusual_below": float("nan")}, "unusual"),
            ({"unusual_below": -1}, "unusual"),
            ({"unusual_below": "4"}, "unusual"),
            ({"unusual_below": 1e9}, "unusual"),
        ],
        ids=str,
    )
    def test_what_contradicts_them_is_refused(self, values: Any, problem: str) -> None:
        counts = counted()
        described = counts.describe() | values if isinstance(values, dict) else values
        assert len(counts.counts) == 9
        with pytest.raises((TypeError, ValueError)) as caught:
            WordCounts.unpack(described, counts.pack())
        assert problem in str(caught.value)

    @pytest.mark.parametrize(
        ("data", "num_words", "problem"),
        [
            (b"\0a\n\0b\n\1\1", 2, ""),
            (b"\0b\n\0a\n\1\1", 2, "not in its place"),
            (b"\0a\n\0a\n\1\1", 2, "not in its place"),
            (b"\0a\n\2b\n\1\1", 2, "have 1 words"),
            (b"\0a\n\1b\n\1", 2, "1 counts of 2 words"),
            (b"\0a\n\1b\n\1\1\1", 2, "3 counts of 2 words"),
            (b"\0a\n\1b\n\1\0", 2, "counted 0 to 1 times"),
            (b"\0a\n\1b\n\1\x81", 2, "cut off"),
            (b"\0a\n\1b\n\1" + b"\xff" * 12, 2, "too large"),
            (b"\0a\n" + b"\xff" * 7 + b"\x7f", 1, "times"),
            (b"\0\n\1", 1, "is none"),
            (b"\0 \n\1", 1, "is none"),
            (b"\0" + b"x" * 1_001 + b"\n\1", 1, "is none"),
            (b"\0\xff\n\1", 1, "decode"),
            (b"\0\xed\xa0\x80\n\1", 1, "decode"),
            (b"", 1, "have 0 words"),
            (b"\0a", 1, "have 0 words"),
        ],
    )
    def test_words_that_are_none_or_out_of_place_are_refused(
        self, data: bytes, num_words: int, problem: str
    ) -> None:
        described = {"kind": "", "least": 1, "num_words": num_words, "unusual_below": 0.0}
        if not problem:
            assert dict(WordCounts.unpack(described, zlib.compress(data)).counts) == {
                "a": 1,
                "b": 1,
            }
            return
        with pytest.raises(ValueError, match=problem):
            WordCounts.unpack(described, zlib.compress(data))

    @pytest.mark.parametrize("damage", ["cut off", "noise", "followed", "empty"])
    def test_bytes_that_are_no_stream_are_refused(self, damage: str) -> None:
        counts = counted()
        packed = counts.pack()
        damaged = {
            "cut off": packed[:-4],
            "noise": b"x" * 40,
            "followed": packed + b"x",
            "empty": b"",
        }[damage]
        with pytest.raises(ValueError, match="word counts"):
            WordCounts.unpack(counts.describe(), damaged)

    def test_a_stream_that_would_fill_the_memory_is_not_unpacked(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(word_counts, "_MAX_UNPACKED_BYTES", 1_000)
        with pytest.raises(ValueError, match="too many"):
            WordCounts.unpack(counted().describe(), zlib.compress(bytes(10_000)))
