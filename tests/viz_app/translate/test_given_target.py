"""A translation that someone wrote in place of the model's own."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, GivenTarget, HeadScaled
from augenmerk.viz_app.translate.page import TranslatePage
from tests.viz_app.builders import click
from tests.viz_app.conftest import MakeWindow

pytestmark = pytest.mark.heavy  # each test makes a window with a model

SENTENCE = "Ein Mann schläft ."
CHIP = "translation given  ×"


@pytest.fixture
def page(make_window: MakeWindow) -> TranslatePage:
    return make_window(sentence=SENTENCE).translate_page


def _write(page: TranslatePage, qtbot: QtBot, text: str) -> None:
    qtbot.mouseClick(page.sentence.edit_button, Qt.MouseButton.LeftButton)
    page.sentence.sentence.selectAll()
    qtbot.keyClicks(page.sentence.sentence, text)
    if not text:
        qtbot.keyClick(page.sentence.sentence, Qt.Key.Key_Delete)
    qtbot.keyClick(page.sentence.sentence, Qt.Key.Key_Return)


def _give(page: TranslatePage, qtbot: QtBot, text: str) -> None:
    _write(page, qtbot, text)
    qtbot.waitUntil(lambda: page.state.translation is not None and page.state.translation.is_given)


def _chips(page: TranslatePage) -> list[str]:
    return [chip.text() for chip in page.sentence.interventions.chips]


def test_the_maps_are_those_of_the_translation_that_was_written(
    page: TranslatePage, qtbot: QtBot
) -> None:
    own = page.state.translation
    assert own is not None
    assert page.sentence.original_line.text() == ""
    _give(page, qtbot, "A person sleeps .")
    view, result = page.state.maps.view(), page.state.result
    assert view is not None
    assert result is not None
    assert result.experiment == Experiment(SENTENCE, GivenTarget("A person sleeps ."))
    assert "person" in view.row_labels
    for translation in (result.changed, own):
        assert f"{translation.log_probability:.2f}".replace("-", "−") in page.sentence.facts.text()
    assert "per token" in page.sentence.facts.text()
    assert page.sentence.original_line.text() == f"The model's own: {own.text}"
    assert _chips(page) == [CHIP]


def test_the_models_own_translation_comes_back_by_the_chip_or_by_undo(
    page: TranslatePage, qtbot: QtBot
) -> None:
    own = page.sentence.sentence.text
    for undo in (False, True):
        _give(page, qtbot, "A person sleeps .")
        if undo:
            qtbot.keyClick(
                page.sentence.sentence, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier
            )
        else:
            qtbot.mouseClick(page.sentence.interventions.chips[0], Qt.MouseButton.LeftButton)
        qtbot.waitUntil(
            lambda: page.state.translation is not None and not page.state.translation.is_given
        )
        assert page.state.experiment == Experiment(SENTENCE)
        assert page.sentence.sentence.text == own
        assert page.sentence.original_line.text() == ""
        assert not page.sentence.sentence.is_editable
        assert _chips(page) == []


def test_an_empty_translation_is_refused_and_the_maps_stay(
    page: TranslatePage, qtbot: QtBot
) -> None:
    own = page.state.translation
    assert own is not None
    _write(page, qtbot, "")
    qtbot.waitUntil(lambda: "no word" in page.sentence.note.text())
    assert page.state.translation is own
    assert page.head.isVisible()
    qtbot.keyClick(page.sentence.sentence, Qt.Key.Key_Escape)
    assert page.sentence.sentence.text == own.text


def test_another_sentence_ends_the_given_pair(page: TranslatePage, qtbot: QtBot) -> None:
    _give(page, qtbot, "A person sleeps .")
    page.sentence.input.set_text("Zwei Hunde .")
    qtbot.waitUntil(lambda: page.sentence.sentence.text == "Zwei hunde.")
    assert page.state.experiment == Experiment("Zwei Hunde .")
    assert page.sentence.original_line.text() == ""


def test_until_it_is_edited_the_translation_only_reads(page: TranslatePage, qtbot: QtBot) -> None:
    before = page.sentence.sentence.text
    qtbot.keyClicks(page.sentence.sentence, "xyz")
    assert page.sentence.sentence.text == before
    qtbot.mouseDClick(page.sentence.sentence.viewport(), Qt.MouseButton.LeftButton)
    assert page.sentence.sentence.is_editable


def test_a_head_is_switched_off_while_the_given_translation_is_read(
    page: TranslatePage, qtbot: QtBot
) -> None:
    own, head = page.sentence.sentence.text, Head("encoder", 1, 3)
    _give(page, qtbot, "A person sleeps .")
    click(qtbot, page.heads.grid, head, Qt.MouseButton.RightButton)
    qtbot.waitUntil(lambda: page.state.result is not None and page.state.result.is_changed)
    result = page.state.result
    assert result is not None
    target = GivenTarget("A person sleeps .")
    assert result.experiment == Experiment(SENTENCE, target, (HeadScaled(head),))
    assert result.original.experiment == Experiment(SENTENCE, target)
    assert page.sentence.sentence.text == "A person sleeps ."
    assert page.sentence.sentence.extraSelections() == [], "no word of it is the head's doing"
    assert own in page.sentence.original_line.text()
    assert _chips(page) == ["encoder 2·4 off  ×", CHIP]
