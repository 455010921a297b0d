"""Every page with a sentence strikes out what the model has no room for."""

import pytest
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.extensions.words.overlong_part import OverlongPart
from tests.conftest import open_once
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import LEARN, part


@pytest.mark.heavy
def test_a_page_that_is_shown_later_does_it_too(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(None, sentence="Ein Mann schläft.", loader=open_once)
    overlong = part(window, OverlongPart)
    assert list(overlong.added) == [window.translate_page.sentence]
    window.pages.show(LEARN)
    window.pages.show(LEARN)
    translate, learn = overlong.added
    assert translate is window.translate_page.sentence
    qtbot.waitUntil(lambda: learn.state.current is not None)
    learn.input.setPlainText(" ".join(["Ein Mann und ein Hund spielen im Schnee"] * 40))
    learn.input.cancel()  # not translated yet
    qtbot.waitUntil(lambda: learn.input.marker.marks.ignored is not None)
    assert learn.note.text() == "The model reads up to 254 tokens; the rest is left out."
