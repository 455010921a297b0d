"""A text that changes moves nothing around it."""

import pytest
from pytestqt.qtbot import QtBot

from viz_app.widgets.parts import label
from viz_app.widgets.steady_room import SteadyRoom

SHORT, LONG = "one line", " ".join(["many words"] * 30)


@pytest.fixture
def room(qtbot: QtBot) -> SteadyRoom:
    made = SteadyRoom(label("muted", wraps=True))
    qtbot.addWidget(made)
    return made


def test_it_keeps_the_height_of_the_longest_text_until_the_width_changes(room: SteadyRoom) -> None:
    room.show_text(SHORT, 300)
    low = room.minimumHeight()
    room.show_text(LONG, 300)
    high = room.minimumHeight()
    assert 0 < low < high
    room.show_text(SHORT, 300)
    assert room.minimumHeight() == room.maximumHeight() == high
    room.show_text(SHORT, 301)
    assert room.minimumHeight() == low


def test_without_a_width_it_has_no_height(room: SteadyRoom) -> None:
    room.show_text(SHORT, 0)
    assert room.minimumHeight() >= 0
