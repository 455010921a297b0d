"""Tokens that would leave nothing to be seen."""

import pytest

from augenmerk.viz_app.state.visible_text import breakable, visible


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
def test_a_token_of_invisible_characters_is_named_by_its_code_points(token: str, shown: str) -> None:
    assert visible(token) == shown


@pytest.mark.parametrize("token", ["hund", "·", "·ing", "a\u200bb", "", "<eos>", "👩\u200d🚀", "\u0301"])
def test_what_can_be_seen_stays_as_it_is(token: str) -> None:
    assert visible(token) == token


def test_very_long_words_may_break_and_nothing_else_changes() -> None:
    text = f"Ein {'fune' * 20} und {'x' * 24}."
    found = breakable(text)
    assert found.replace("\u200b", "") == text
    assert max(map(len, found.replace("\u200b", " ").split())) == 24
    assert breakable("Ein Mann in einem blauen Hemd.") == "Ein Mann in einem blauen Hemd."
