"""A translation that someone wrote in place of the model's own."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from viz_app.state.switchboard import SwitchedOff
from viz_app.state.translate_state import HeadChoice
from viz_app.views.switch_line import effect_html

from core.model.heads import Head
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.synthetic import FakeTranslator, make_translation
from viz_app.translate.page import TranslatePage
from viz_app.worker import SwitchOffJob


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


def test_with_a_head_off_the_new_translation_is_compared_with_the_model_s_own_and_not_with_the_given_one(
    page: TranslatePage, qtbot: QtBot
) -> None:
    own = page.state.translation
    _write(page, qtbot, "A person sleeps .")
    qtbot.waitUntil(lambda: _is_given(page))
    given = page.state.translation
    page.switch(HeadChoice("encoder", 1, 3))
    qtbot.waitUntil(lambda: page.state.switchboard.effect is not None)
    effect = page.state.switchboard.effect
    assert effect is not None
    assert effect.own is own
    assert effect.before is given
    text = page.sentence.switch_line.text()
    assert "off: the model's own: " in text
    assert "font-weight:bold'>Off1" in text  # "ein" became that: the head's doing
    assert "font-weight:bold'>mann" not in text  # not in the given pair, but in the model's own as well
    assert "· the given translation: Δ log-probability −0.25" in text
    assert "The given translation above had" in page.sentence.switch_line.toolTip()
    page.show_own()
    qtbot.waitUntil(lambda: page.state.switchboard.effect is not None)
    assert "given" not in page.sentence.switch_line.text() + page.sentence.switch_line.toolTip()


def test_a_model_s_own_translation_that_is_not_known_is_made_for_the_comparison() -> None:
    translator = FakeTranslator(None, "cpu")
    given = translator.translate_given("Ein Mann .", "A person .")
    effect = SwitchOffJob(given, frozenset({Head("cross", 0, 0)})).run(translator, lambda _: None, lambda: False)
    assert effect.own.text == translator.translate("Ein Mann .").text
    assert effect.before is given
    assert effect.difference == pytest.approx(-0.25)


def test_what_stays_the_same_beside_a_given_pair_is_the_model_s_own() -> None:
    own, given = make_translation("x", "a dog ."), replace(make_translation("x", "a cat ."), is_given=True)
    effect = SwitchedOff(frozenset({Head("cross", 0, 0)}), given, own, make_translation("x", "a dog ."), -9.0)
    text = effect_html(effect, "black", "grey")
    assert text.startswith("the model's own translation stays the same")
    assert "the given translation: Δ log-probability" in text
