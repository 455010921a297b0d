"""A translation that someone wrote in place of the model's own."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.viz_app.conftest import MakeWindow
from viz_app.translate_page import TranslatePage


@pytest.fixture
def page(make_window: MakeWindow) -> TranslatePage:
    return make_window(Path("model.safetensors"), sentence="Ein Mann schläft .").translate_page


def _write(page: TranslatePage, qtbot: QtBot, text: str) -> None:
    qtbot.mouseClick(page.sentence.edit_button, Qt.MouseButton.LeftButton)
    page.sentence.sentence.setPlainText(text)
    qtbot.keyClick(page.sentence.sentence, Qt.Key.Key_Return)


def _is_given(page: TranslatePage) -> bool:
    return page.state.translation is not None and page.state.translation.is_given


def test_the_maps_are_those_of_the_translation_that_was_written(page: TranslatePage, qtbot: QtBot) -> None:
    own = page.state.translation
    assert own is not None
    assert not page.sentence.own_button.isVisible()
    _write(page, qtbot, "A person sleeps .")
    qtbot.waitUntil(lambda: _is_given(page))
    translation = page.state.translation
    assert translation is not None
    assert translation.source_text == "Ein Mann schläft ."
    view = page.state.view()
    assert view is not None
    assert "person" in view.row_labels
    for given in (translation, own):
        assert f"{given.log_probability:.2f}".replace("-", "−") in page.sentence.facts.text()
    assert "a token" in page.sentence.facts.text()
    assert own.text in page.sentence.own_line.text()


def test_the_model_s_own_translation_comes_back(page: TranslatePage, qtbot: QtBot) -> None:
    own = page.state.translation
    assert own is not None
    _write(page, qtbot, "A person sleeps .")
    qtbot.waitUntil(lambda: _is_given(page))
    qtbot.mouseClick(page.sentence.own_button, Qt.MouseButton.LeftButton)
    assert page.state.translation is own
    assert page.sentence.sentence.text == own.text
    assert not page.sentence.own_button.isVisible()
    assert not page.sentence.sentence.is_editable


def test_an_empty_translation_is_refused_and_the_maps_stay(page: TranslatePage, qtbot: QtBot) -> None:
    own = page.state.translation
    assert own is not None
    _write(page, qtbot, "")
    qtbot.waitUntil(lambda: "no word" in page.sentence.note.text())
    assert page.state.translation is own
    assert page.head.isVisible()
    qtbot.keyClick(page.sentence.sentence, Qt.Key.Key_Escape)
    assert page.sentence.sentence.text == own.text


def test_another_sentence_ends_the_given_pair(page: TranslatePage, qtbot: QtBot) -> None:
    _write(page, qtbot, "A person sleeps .")
    qtbot.waitUntil(lambda: _is_given(page))
    page.sentence.input.set_text("Zwei Hunde .")
    qtbot.waitUntil(lambda: page.state.translation is not None and not _is_given(page))
    assert page.sentence.sentence.text == "Zwei hunde."
    assert not page.sentence.own_line.isVisible()


def test_until_it_is_edited_the_translation_only_reads(page: TranslatePage, qtbot: QtBot) -> None:
    before = page.sentence.sentence.text
    qtbot.keyClicks(page.sentence.sentence, "xyz")
    assert page.sentence.sentence.text == before
    qtbot.mouseDClick(page.sentence.sentence.viewport(), Qt.MouseButton.LeftButton)
    assert page.sentence.sentence.is_editable
