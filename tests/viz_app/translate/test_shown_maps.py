"""Original, changed and difference by real clicks and keys; settings that outlive the window."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import toggle
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.synthetic import make_translation


@pytest.mark.heavy
def test_choices_are_remembered_when_the_window_closes(
    make_window: MakeWindow, qtbot: QtBot, preferences: Preferences
) -> None:
    page = make_window(sentence="Ein Mann .").translate_page
    page.state.show_translation(
        make_translation("ein mann schläft .", "a man is sleep|ing .", text="Ein Mann .")
    )
    page.state.intents.choose_head(Head("cross", 0, 0))
    view = page.state.maps.view()
    assert view is not None
    assert "sleeping" in view.row_labels
    qtbot.waitUntil(page.head.controls.boxes["merges_words"].isVisible)
    for box in (
        page.head.controls.boxes["merges_words"],
        page.head.controls.boxes["hides_punctuation"],
    ):
        qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))
    page.heads.scale_menu.actions_by_name["own"].trigger()
    page.save()
    settings = preferences.restored(type(page.state.settings)())
    assert (settings.merges_words, settings.hides_punctuation, settings.scale) == (
        False,
        True,
        "own",
    )


@pytest.mark.heavy
def test_the_difference_is_chosen_by_mouse_and_key(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(sentence="Ein Mann schläft .")
    page = window.translate_page
    page.state.intents.choose_head(Head("cross", 0, 1))
    page.state.submit(toggle(Head("encoder", 1, 3)))
    qtbot.waitUntil(page.sentence.shown_switch.isVisible)
    changed = page.heads.grid.grab().toImage()
    qtbot.mouseClick(page.sentence.shown_switch.buttons["difference"], Qt.MouseButton.LeftButton)
    assert page.heads.grid.grab().toImage() != changed
    view = page.state.maps.view()
    assert view is not None
    assert np.isnan(view.values[view.row_labels.index("off1")]).all()
    assert "Hatched: tokens that the original lacks." in page.head.meaning.text()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    page.heads.grid.setFocus()
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_D)
    assert page.state.maps.shown == "original"
    field = page.sentence.input
    field.setFocus()
    qtbot.keyClicks(field, "d")
    assert page.state.maps.shown == "original", "a letter that is typed is a letter"
