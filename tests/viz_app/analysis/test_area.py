"""The laboratory opens beside the maps, and is as it was left the next time."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.viz_app.analysis.conftest import MakeRealWindow, OpenTab
from tests.viz_app.conftest import MakeWindow
from viz_app.preferences import Preferences
from viz_app.state.translate_state import HeadChoice


@pytest.fixture(autouse=True)
def _begin_with_a_tab_that_asks_nothing(preferences: Preferences) -> None:
    preferences.lab_tab = "Alignment"


def test_the_laboratory_is_closed_at_first_and_the_maps_have_the_whole_width(make_window: MakeWindow) -> None:
    page = make_window().translate_page
    assert not page.lab.isVisible()
    assert page.lab_button.isVisible()
    assert page.heads.parentWidget().width() == page.width()


def test_a_click_opens_it_beside_the_maps_and_another_closes_it(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = make_window().translate_page
    qtbot.mouseClick(page.lab_button, Qt.MouseButton.LeftButton)
    assert page.lab.isVisible()
    qtbot.waitUntil(lambda: page.lab.width() >= 340)
    assert page.heads.isVisible()
    assert page.heads.width() >= 280
    assert page.head.heatmap.width() >= 400
    qtbot.mouseClick(page.lab.close_button, Qt.MouseButton.LeftButton)
    assert not page.lab.isVisible()
    qtbot.waitUntil(lambda: page.heads.parentWidget().width() == page.width())


def test_keys_open_and_close_it(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    for is_open in (True, False):
        qtbot.keyClick(window.translate_page.heads.grid, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
        assert window.translate_page.lab.isVisible() == is_open


def test_it_comes_back_as_it_was_left(
    make_window: MakeWindow, qtbot: QtBot, open_tab: OpenTab, preferences: Preferences
) -> None:
    first = make_window()
    open_tab(first, "Heads")
    first.close()
    page = make_window().translate_page
    assert page.lab.isVisible()
    assert page.lab.tab.name == "Heads"
    assert preferences.is_lab_open


def test_every_tab_says_what_it_shows(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab
) -> None:
    window = make_real_window(model_files["words"])
    for tab in window.translate_page.lab.tabs:
        shown = open_tab(window, tab.name)
        assert shown is tab
        assert tab.explanation.isVisible()
        assert len(tab.explanation.text()) > 40


def test_titles_stay_whole_beside_an_open_laboratory(make_window: MakeWindow, open_tab: OpenTab) -> None:
    window = make_window()
    title = window.translate_page.heads.title
    for size in ((1280, 800), (1920, 1080), (960, 620)):
        window.resize(*size)
        open_tab(window, "Alignment")
        assert title.isVisible()
        assert title.text() == "All heads"
        assert title.width() >= title.sizeHint().width()
        heads = window.translate_page.heads
        for menu in (heads.order_menu, heads.role_menu, heads.scale_menu):
            assert size[0] < 1280 or menu.width() >= menu.sizeHint().width(), menu.text()
        assert size[0] != 1280 or heads.width() < 360, "the menus stand below the title and leave the map its room"
    for button in window.translate_page.lab.buttons:
        assert button.toolTip()


def test_the_names_of_all_tabs_fit_at_1280_pixels(make_window: MakeWindow, open_tab: OpenTab) -> None:
    window = make_window()
    open_tab(window, "Compare")
    for button in window.translate_page.lab.buttons:
        assert button.width() >= button.sizeHint().width(), button.text()


def test_beside_the_laboratory_the_title_still_tells_layer_and_head(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    page = window.translate_page
    page.choose(HeadChoice("cross", 1, 4))
    assert page.head.title.text() == "Cross-attention · layer 2 · head 5"
    page.toggle_lab()
    qtbot.waitUntil(lambda: page.head.width() < 500)
    qtbot.waitUntil(lambda: page.head.title.text() == "Cross · layer 2 · head 5")
    qtbot.waitUntil(lambda: page.head.title.shown_text() == page.head.title.text())
    page.toggle_lab()
    qtbot.waitUntil(lambda: page.head.title.text() == "Cross-attention · layer 2 · head 5")


def test_every_title_tells_layer_head_and_that_it_is_off_beside_the_laboratory(
    make_window: MakeWindow, open_tab: OpenTab, qtbot: QtBot
) -> None:
    window = make_window()
    head, page = window.translate_page.head, window.translate_page
    open_tab(window, "Alignment")
    qtbot.waitUntil(lambda: head.width() < 500)
    for kind in ("encoder", "decoder", "cross"):
        choice = HeadChoice(kind, 2, 7)
        page.choose(choice)
        assert page.state.role(page.state.translation, choice)  # type: ignore[arg-type]
        head.role.setText("start-token sink")
        head.role.setVisible(True)
        for is_off in (False, True):
            qtbot.wait(20)  # the layout settles
            said = head.title.shown_text()
            assert said == head.title.text()
            assert re.search(r"(layer |L)3 · (head |H)8", said), said
            assert ("off" in said) == is_off
            head.switch_button.click()
        head.grab()
        assert "layer 3 · head 8" in (head.title.toolTip() or head.title.text())


@pytest.mark.parametrize(("num_words", "has_lab"), [(90, False), (40, True), (90, True)])
@pytest.mark.parametrize("picture", ["lines", "heatmap"])
def test_an_open_explanation_and_the_map_never_overlap(
    make_window: MakeWindow, open_tab: OpenTab, qtbot: QtBot, num_words: int, has_lab: bool, picture: str
) -> None:
    window = make_window(sentence=" ".join(["Wort"] * num_words) + " .")
    head = window.translate_page.head
    if has_lab:
        open_tab(window, "Alignment")
    head.picture_menu.actions_by_name[picture].trigger()
    head.explain_button.setChecked(True)
    qtbot.wait(60)  # the layout settles
    assert head.explanation.isVisible()
    assert head.explanation.height() >= 36
    assert head.explanation.geometry().bottom() < head.map.geometry().top()
    assert head.map.geometry().bottom() < head.pick_line.geometry().top()
    assert head.controls.geometry().bottom() < head.height()


def test_in_the_lowest_window_the_role_gives_way_to_layer_and_head(
    make_window: MakeWindow, open_tab: OpenTab, qtbot: QtBot
) -> None:
    window = make_window()
    head, page = window.translate_page.head, window.translate_page
    window.resize(960, 620)
    open_tab(window, "Alignment")
    qtbot.waitUntil(lambda: head.width() < 320)
    for kind in ("encoder", "decoder", "cross"):
        page.choose(HeadChoice(kind, 2, 7))
        qtbot.wait(20)  # the layout settles
        assert head.title.shown_text() == head.title.text()
        assert re.search(r"L3 (· )?H8$", head.title.text())
        assert not head.role.isVisible()
        head.grab()
        role = page.state.role(page.state.translation, page.state.choice)  # type: ignore[arg-type]
        assert head.title.toolTip().endswith("head 8" if role == "mixed" else f"head 8 · {role}")
