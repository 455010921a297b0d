"""Sentences as text: places of words in them, words that changed, letters that nobody sees."""

from dataclasses import replace

import pytest

from augenmerk.core.translation.experiment import Experiment, SourceWordRemoved, SourceWordReplaced
from augenmerk.core.translation.result import ExperimentResult
from augenmerk.viz_app.state.sentence_text import (
    Span,
    edited_spans,
    ignored_span,
    new_words,
    unknown_spans,
    visible,
)
from tests.viz_app.synthetic import make_translation


def test_unknown_words_are_found_where_they_were_typed() -> None:
    text = "Ein Xylofon und ein Xylofon"
    translation = make_translation("ein xylofon und ein xylofon", text=text, unknown=(2, 5))
    assert unknown_spans(translation) == (Span(4, 11), Span(20, 27))


def test_only_the_unknown_one_of_two_equal_words_is_marked_by_its_position() -> None:
    translation = make_translation("zug fährt zug", text="Zug fährt Zug", unknown=(3,))
    assert unknown_spans(translation) == (Span(10, 13),)


def test_positions_count_utf16_units_as_text_cursors_do() -> None:
    translation = make_translation("🙂 hund xyz", text="🙂 Hund xyz", unknown=(3,))
    assert unknown_spans(translation) == (Span(8, 11),)


def test_the_ignored_end_is_found_at_the_end() -> None:
    text = "eins zwei drei\nzwei drei"
    translation = make_translation("eins zwei drei", text=text, ignored_text="zwei drei")
    assert ignored_span(translation) == Span(15, 24)
    assert ignored_span(make_translation()) is None


def test_words_that_are_removed_or_replaced_are_found_where_they_were_typed() -> None:
    original = make_translation("🙂 hund und hund", text="🙂 Hund und Hund")
    edits = SourceWordRemoved(1), SourceWordReplaced(3, "Katze")
    changed = replace(original, experiment=Experiment(original.source_text, interventions=edits))
    assert edited_spans(ExperimentResult(changed, original, original.log_probabilities)) == (
        Span(3, 7),
        Span(12, 16),
    )


def test_new_words_are_those_without_a_partner_in_the_same_order() -> None:
    after = make_translation("x", "a dog sees a man")
    new = new_words(make_translation("x", "a cat sees a man"), after)
    assert [word.text for word in new] == ["dog"]


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("\u200b", "U+200B"),
        ("\u00a0", "U+00A0"),
        (" ", "U+0020"),
        ("\u200d\ufeff", "U+200D U+FEFF"),
        ("·\u2060", "·U+2060"),
        ("\u2800", "U+2800"),
        ("\t", "U+0009"),
    ],
)
def test_a_token_of_invisible_characters_is_named_by_its_code_points(
    token: str, shown: str
) -> None:
    assert visible(token) == shown


@pytest.mark.parametrize(
    "token", ["hund", "·", "·ing", "a\u200bb", "", "<eos>", "👩\u200d🚀", "\u0301"]
)
def test_what_can_be_seen_stays_as_it_is(token: str) -> None:
    assert visible(token) == token
