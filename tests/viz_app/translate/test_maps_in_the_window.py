"""Maps of the Translate page by real clicks: hidden, merged, combined, picked, switched off, compared."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from core.model.heads import Head
from core.translation.result import Translation
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.synthetic import make_translation
from viz_app.main_window import MainWindow
from viz_app.preferences import Preferences
from viz_app.state.map_source import clearest_head
from viz_app.state.map_view import Pair
from viz_app.theme import Theme
from viz_app.translate.page import TranslatePage

HEAD = Head("encoder", 1, 3)


def _page(make_window: MakeWindow, translation: Translation | None = None) -> TranslatePage:
    window: MainWindow = make_window(Path("model.safetensors"), sentence="Ein Mann .")
    page = window.translate_page
    page.state.show_translation(
        translation or make_translation("ein mann schläft .", "a man is sleep|ing .", text="Ein Mann .")
    )
    page.state.choose_head(Head("cross", 0, 0))
    return page


def _center(page: TranslatePage, head: Head) -> QPoint:
    place = page.heads.grid.place_of(head)
    assert place is not None
    return place.center()


def test_choices_are_remembered_when_the_window_closes(
    make_window: MakeWindow, qtbot: QtBot, preferences: Preferences
) -> None:
    page = _page(make_window)
    view = page.state.maps.view()
    assert view is not None
    assert "sleeping" in view.row_labels
    qtbot.waitUntil(page.head.controls.merge_words.isVisible)
    for box in (page.head.controls.merge_words, page.head.controls.hide_punctuation):
        qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))
    page.heads.scale_menu.actions_by_name["own"].trigger()
    page.save()
    kept = preferences.restored(type(page.state.settings)())
    assert (kept.merges_words, kept.hides_punctuation, kept.scale) == (False, True, "own")


def test_ctrl_clicks_put_heads_together(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = _page(make_window)
    qtbot.wait(50)
    for head in (2, 5):
        qtbot.mouseClick(
            page.heads.grid,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.ControlModifier,
            _center(page, Head("cross", 1, head)),
        )
    assert page.head.title.text() == "Cross-attention · mean of 3 heads"
    assert page.head.combination_menu.isVisible()
    assert not page.head.switch_button.isVisible()
    page.head.combination_menu.actions_by_name["max"].trigger()
    assert page.head.title.text() == "Cross-attention · maximum of 3 heads"
    qtbot.mouseClick(page.heads.grid, Qt.MouseButton.LeftButton, pos=_center(page, Head("cross", 2, 2)))
    assert page.head.title.text() == "Cross-attention · layer 3 · head 3"


def test_a_layer_stays_combined_while_arrows_walk(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = _page(make_window)
    page.head.scope_menu.actions_by_name["layer"].trigger()
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_Down)
    assert page.head.title.text() == "Cross-attention · layer 2 · mean of 8 heads"


@pytest.mark.parametrize("scale", ["layer", "own"])
def test_a_scale_is_seen_in_the_grid(make_window: MakeWindow, scale: str) -> None:
    page = _page(make_window)
    before = page.heads.grid.grab().toImage()
    page.heads.scale_menu.actions_by_name[scale].trigger()
    assert page.heads.grid.grab().toImage() != before


def test_a_role_stands_beside_the_title_and_the_grid_can_be_searched_for_it(make_window: MakeWindow) -> None:
    page = _page(make_window)
    page.state.choose_head(Head("encoder", 0, 0))
    assert page.head.role.text() == "self"
    before = page.heads.grid.grab().toImage()
    page.heads.role_menu.actions_by_name["next"].trigger()
    assert page.state.settings.shown_role == "next"
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
    page.state.toggle_head(HEAD)
    qtbot.waitUntil(lambda: panel.shown_switch.isVisible() and page.window().width() == size[0])
    boxes = (
        panel.controls.read_button,
        panel.controls.predicted_button,
        panel.controls.hide_wrapping,
        panel.controls.hide_punctuation,
        panel.export_button,
        panel.measure_menu,
        panel.scope_menu,
        *panel.shown_switch.buttons.values(),
    )
    qtbot.waitUntil(lambda: all(box.width() >= box.sizeHint().width() for box in boxes), timeout=2000)
    assert panel._tools.geometry().right() <= panel.width()


def _click_word(qtbot: QtBot, page: TranslatePage, index: int, *, also: bool = False) -> None:
    _, place = page.sentence.chips._chips[index]
    keys = Qt.KeyboardModifier.ControlModifier if also else Qt.KeyboardModifier.NoModifier
    qtbot.mouseClick(page.sentence.chips, Qt.MouseButton.LeftButton, keys, place.center())


def test_clicked_words_are_summed_said_and_lit_in_all_heads(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = _page(make_window)
    grid = page.heads.grid
    before = grid.grab().toImage()
    _click_word(qtbot, page, 1)
    _click_word(qtbot, page, 3, also=True)
    assert page.head.pick_line.label.text().startswith("Sum of 2 rows: man + sleeping → ")
    assert grid.grab().toImage() != before
    qtbot.mouseClick(page.head.pick_line.clear_button, Qt.MouseButton.LeftButton)
    assert grid.grab().toImage() == before
    assert page.head.pick_line.label.text().startswith("Click cells to pin them")


def test_a_pinned_cell_lights_up_in_all_heads_until_escape(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = _page(make_window)
    grid, heatmap = page.heads.grid, page.head.heatmap
    before = grid.grab().toImage()
    place = heatmap.cell_rect(Pair(2, 1))
    assert place is not None
    qtbot.mouseClick(heatmap, Qt.MouseButton.LeftButton, pos=place.center().toPoint())
    lit = grid.grab().toImage()
    item = grid.place_of(Head("cross", 2, 7))
    assert item is not None
    assert lit.copy(item) != before.copy(item)
    qtbot.keyClick(heatmap, Qt.Key.Key_Escape)
    assert grid.grab().toImage() == before


def test_the_grid_can_be_sorted_and_every_head_then_says_which_it_is(make_window: MakeWindow) -> None:
    page = _page(make_window)
    translation = page.state.translation
    assert translation is not None
    page.heads.order_menu.actions_by_name["clarity"].trigger()
    first, second = (page.heads.grid.place_of(each) for each in page.state.maps.in_order("cross")[:2])
    assert first is not None
    assert second is not None
    assert (first.top(), first.left()) < (second.top(), second.left())
    tagged = page.heads.grid.grab().toImage().copy(first)
    page.heads.order_menu.actions_by_name["layer"].trigger()
    place = page.heads.grid.place_of(Head("cross", *clearest_head(translation.maps.cross)))
    assert place is not None
    assert page.heads.grid.grab().toImage().copy(place) != tagged


def test_lines_of_a_hundred_tokens_scroll(make_window: MakeWindow, qtbot: QtBot) -> None:
    words = " ".join(f"w{number}" for number in range(100))
    page = _page(make_window, make_translation(words, words, num_layers=1, num_heads=2))
    page.head.picture_menu.actions_by_name["lines"].trigger()
    qtbot.waitUntil(lambda: page.head.lines.height() > 1600)
    assert page.head.map.height() < 700


# --- heads that are off -------------------------------------------------------------------------------------------


def _has_warm_pixel(page: TranslatePage, center: QPoint) -> bool:
    picture, warm = page.heads.grid.grab().toImage(), Theme.light().color("warm")
    colors = [picture.pixelColor(center + QPoint(shift, 0)) for shift in range(-4, 5)]
    return any(
        max(abs(color.red() - warm.red()), abs(color.green() - warm.green()), abs(color.blue() - warm.blue())) < 12
        for color in colors
    )


def test_a_right_click_switches_a_head_off_and_everything_shows_the_changed_translation(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = make_window(sentence="Ein Mann .").translate_page
    qtbot.wait(50)  # the layout settles after the first translation
    chosen, center = page.state.selection.head, _center(page, HEAD)
    assert not _has_warm_pixel(page, center)
    qtbot.mouseClick(page.heads.grid, Qt.MouseButton.RightButton, pos=center)
    assert page.state.is_off(HEAD)
    qtbot.waitUntil(lambda: page.state.result is not None and page.state.result.is_changed)
    assert _center(page, HEAD) == center, "heads must not move from under the mouse"
    assert _has_warm_pixel(page, center)
    assert page.state.selection.head == chosen
    assert page.head.shown_switch.isVisible()
    view = page.state.maps.view()
    assert view is not None
    assert "off1" in view.row_labels or "off1" in view.column_labels or chosen.kind == "encoder"
    page.state.undo()
    qtbot.waitUntil(lambda: page.state.result is not None and not page.state.result.is_changed)
    assert not page.head.shown_switch.isVisible()
    assert not _has_warm_pixel(page, center)


@pytest.mark.parametrize("key", [Qt.Key.Key_O, Qt.Key.Key_Space])
def test_a_key_switches_the_chosen_head(make_window: MakeWindow, qtbot: QtBot, key: Qt.Key) -> None:
    page = make_window().translate_page
    page.state.choose_head(HEAD)
    qtbot.keyClick(page.heads.grid, key)
    assert page.state.experiment.heads_off == {HEAD}
    assert page.head.title.text().endswith("off")
    qtbot.keyClick(page.heads.grid, key)
    assert not page.state.experiment.heads_off


def test_the_difference_is_chosen_by_mouse_and_key(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(sentence="Ein Mann schläft .")
    page = window.translate_page
    page.state.choose_head(Head("cross", 0, 1))
    page.state.toggle_head(HEAD)
    qtbot.waitUntil(page.head.shown_switch.isVisible)
    changed = page.heads.grid.grab().toImage()
    qtbot.mouseClick(page.head.shown_switch.buttons["difference"], Qt.MouseButton.LeftButton)
    assert page.heads.grid.grab().toImage() != changed
    view = page.state.maps.view()
    assert view is not None
    assert np.isnan(view.values[view.row_labels.index("off1")]).all()
    assert "Hatched: tokens that the original does not have." in page.head.meaning.text()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    page.heads.grid.setFocus()
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_D)
    assert page.state.maps.shown == "original"
    field = page.sentence.input
    field.setFocus()
    qtbot.keyClicks(field, "d")
    assert page.state.maps.shown == "original", "a letter that is typed is a letter"
