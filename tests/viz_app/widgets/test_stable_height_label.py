"""A text that changes moves nothing around it."""

import pytest
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.widgets.parts import label
from augenmerk.viz_app.widgets.stable_height_label import StableHeightLabel

SHORT, LONG = "one line", " ".join(["many words"] * 30)


@pytest.fixture
def text_label(qtbot: QtBot) -> StableHeightLabel:
    made = StableHeightLabel(label("muted", wraps=True))
    qtbot.addWidget(made)
    return made


def test_it_keeps_the_height_of_the_longest_text_until_the_width_changes(text_label: StableHeightLabel) -> None:
    text_label.show_text(SHORT, 300)
    low = text_label.minimumHeight()
    text_label.show_text(LONG, 300)
    high = text_label.minimumHeight()
    assert 0 < low < high
    text_label.show_text(SHORT, 300)
    assert text_label.minimumHeight() == text_label.maximumHeight() == high
    text_label.show_text(SHORT, 301)
    assert text_label.minimumHeight() == low


def test_without_a_width_it_has_no_height(text_label: StableHeightLabel) -> None:
    text_label.show_text(SHORT, 0)
    assert text_label.minimumHeight() >= 0
