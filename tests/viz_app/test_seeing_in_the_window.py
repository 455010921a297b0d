"""What is hidden, merged, combined and explained, by real clicks."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QCheckBox
from pytestqt.qtbot import QtBot

from core.translation.result import Translation
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.synthetic import make_translation
from viz_app.main_window import MainWindow
from viz_app.preferences import Preferences
from viz_app.state.translate_state import HeadChoice
from viz_app.translate_page import TranslatePage


def _page(make_window: MakeWindow, translation: Translation | None = None) -> TranslatePage:
    window: MainWindow = make_window(Path("model.safetensors"), sentence="Ein Mann .")
    page = window.translate_page
    page.await_result(10_000)
    page.accept(10_000, translation or make_translation("ein mann schläft .", "a man is sleep|ing ."))
    page.choose(HeadChoice("cross", 0, 0))
    return page


def _click_box(qtbot: QtBot, box: QCheckBox) -> None:
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))


def test_words_are_whole_until_their_pieces_are_asked_for(
    make_window: MakeWindow, qtbot: QtBot, preferences: Preferences
) -> None:
    page = _page(make_window)
    view = page.state.view()
    assert view is not None
    assert "sleeping" in view.row_labels
    qtbot.waitUntil(page.head.merge_words.isVisible)
    _click_box(qtbot, page.head.merge_words)
    view = page.state.view()
    assert view is not None
    assert "ing" in view.row_labels
    assert not preferences.merges_words


def test_without_split_words_there_is_nothing_to_merge(make_window: MakeWindow) -> None:
    page = _page(make_window, make_translation())
    assert not page.head.merge_words.isVisible()


def test_hiding_says_how_much_is_hidden(make_window: MakeWindow, qtbot: QtBot, preferences: Preferences) -> None:
    page = _page(make_window)
    assert "hidden" not in page.head.meaning.text()
    _click_box(qtbot, page.head.hide_wrapping)
    _click_box(qtbot, page.head.hide_punctuation)
    view = page.state.view()
    assert view is not None
    assert view.column_labels == ("ein", "mann", "schläft")
    assert f"{100 * view.hidden_share:.0f} % of their attention lies on hidden tokens." in page.head.meaning.text()
    assert preferences.hides_punctuation


def test_ctrl_clicks_put_heads_together(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = _page(make_window)
    qtbot.wait(50)
    for head in (2, 5):
        place = page.heads.grid.place_of(HeadChoice("cross", 1, head))
        assert place is not None
        qtbot.mouseClick(
            page.heads.grid, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, place.center()
        )
    assert page.head.title.text() == "Cross-attention · mean of 3 heads"
    assert page.head.combination_menu.isVisible()
    assert not page.head.switch_button.isVisible()
    page.head.combination_menu.actions_by_name["max"].trigger()
    assert page.head.title.text() == "Cross-attention · maximum of 3 heads"
    place = page.heads.grid.place_of(HeadChoice("cross", 2, 2))
    assert place is not None
    qtbot.mouseClick(page.heads.grid, Qt.MouseButton.LeftButton, pos=place.center())
    assert page.head.title.text() == "Cross-attention · layer 3 · head 3"


def test_a_layer_stays_combined_while_arrows_walk(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = _page(make_window)
    page.head.scope_menu.actions_by_name["layer"].trigger()
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_Down)
    assert page.head.title.text() == "Cross-attention · layer 2 · mean of 8 heads"


@pytest.mark.parametrize("scale", ["layer", "own"])
def test_a_scale_is_chosen_and_remembered(make_window: MakeWindow, preferences: Preferences, scale: str) -> None:
    page = _page(make_window)
    before = page.heads.grid.grab().toImage()
    page.heads.scale_menu.actions_by_name[scale].trigger()
    assert page.heads.grid.grab().toImage() != before
    assert preferences.scale == scale


def test_the_question_mark_explains_the_map(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = _page(make_window)
    assert not page.head.explanation.isVisible()
    qtbot.mouseClick(page.head.explain_button, Qt.MouseButton.LeftButton)
    assert page.head.explanation.isVisible()
    assert "Columns are the German tokens" in page.head.explanation.text()
    qtbot.mouseClick(page.head.explain_button, Qt.MouseButton.LeftButton)
    assert not page.head.explanation.isVisible()


def test_a_role_stands_beside_the_title_and_the_grid_can_be_searched_for_it(make_window: MakeWindow) -> None:
    page = _page(make_window)
    page.choose(HeadChoice("encoder", 0, 0))
    assert page.head.role.text() == "self"
    before = page.heads.grid.grab().toImage()
    page.heads.role_menu.actions_by_name["next"].trigger()
    assert page.state.shown_role == "next"
    assert page.heads.grid.grab().toImage() != before
    page.heads.role_menu.actions_by_name["any"].trigger()
    assert page.heads.grid.grab().toImage() == before


@pytest.mark.parametrize("size", [(960, 620), (1280, 800)])
def test_no_control_of_the_map_is_cut_off_in_a_small_window(
    make_window: MakeWindow, qtbot: QtBot, size: tuple[int, int]
) -> None:
    page = _page(make_window)
    page.window().resize(*size)
    panel = page.head
    qtbot.waitUntil(lambda: page.window().width() == size[0])
    boxes = (
        panel.read_button,
        panel.predicted_button,
        panel.hide_wrapping,
        panel.hide_punctuation,
        panel.merge_words,
        panel.export_button,
        panel.measure_menu,
        panel.scope_menu,
    )
    qtbot.waitUntil(lambda: all(box.width() >= box.sizeHint().width() for box in boxes), timeout=2000)
    assert all(box.geometry().right() <= panel.width() for box in boxes)
