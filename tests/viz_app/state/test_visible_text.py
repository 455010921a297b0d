"""Tokens that would leave nothing to be seen."""

import pytest

from viz_app.state.visible_text import visible


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
