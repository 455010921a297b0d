"""What is hidden, merged, combined and explained, by real clicks."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QCheckBox
from pytestqt.qtbot import QtBot

from augenmerk.core.maps.roles import SampleRoles
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.heatmap.drawing import large_map
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.head_roles import clearest_head
from augenmerk.viz_app.state.map_view import MapView, Pair
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from augenmerk.viz_app.translate.page import TranslatePage
from tests.viz_app.builders import click, settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import lines_of, threshold_of
from tests.viz_app.synthetic import make_result, make_translation


def _page(make_window: MakeWindow, translation: Translation | None = None) -> TranslatePage:
    window: MainWindow = make_window(Path("model.safetensors"), sentence="Ein Mann .")
    page = window.translate_page
    page.state.accept(
        make_result(translation or make_translation("ein mann schläft .", "a man is sleep|ing ."))
    )
    page.state.intents.choose_head(Head("cross", 0, 0))
    return page


def _view(page: TranslatePage) -> MapView:
    view = page.state.maps.view()
    assert view is not None
    return view


def _click_box(qtbot: QtBot, box: QCheckBox) -> None:
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))


@pytest.mark.heavy
def test_words_are_whole_until_their_pieces_are_asked_for(
    make_window: MakeWindow, qtbot: QtBot, preferences: Preferences
) -> None:
    page = _page(make_window)
    view = _view(page)
    assert "sleeping" in view.row_labels
    qtbot.waitUntil(page.head.controls.boxes["merges_words"].isVisible)
    _click_box(qtbot, page.head.controls.boxes["merges_words"])
    view = _view(page)
    assert "ing" in view.row_labels
    page.save()
    assert not preferences.restored(MapViewSettings()).merges_words


@pytest.mark.heavy
def test_a_transposed_map_is_clicked_picked_and_explained_as_it_is_drawn(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = _page(make_window)
    heatmap, pair = page.head.heatmap, Pair(2, 1)
    _click_box(qtbot, page.head.controls.boxes["transposes"])
    assert _view(page).row_labels[1] == "ein"
    box = heatmap.cell_rect(pair)
    assert box is not None
    qtbot.mouseClick(heatmap, Qt.MouseButton.LeftButton, pos=box.center().toPoint())
    assert page.state.selection.pinned == pair
    assert page.head.meaning.text().startswith("Each column: where the model looks")
    _click_word(qtbot, page, 1)
    assert page.head.pick_line.label.text().startswith("Column man → ")
    drawing = large_map(page.state)
    assert drawing is not None
    assert drawing.sums is None
    assert {band.is_row for band in drawing.marks.lit} == {False}


@pytest.mark.heavy
def test_hiding_says_how_much_is_hidden(
    make_window: MakeWindow, qtbot: QtBot, preferences: Preferences
) -> None:
    page = _page(make_window)
    assert "hidden" not in page.head.meaning.text()
    _click_box(qtbot, page.head.controls.boxes["hides_wrapping"])
    _click_box(qtbot, page.head.controls.boxes["hides_punctuation"])
    view = _view(page)
    assert view.column_labels == ("ein", "mann", "schläft")
    assert (
        f"{100 * view.labelled.hidden_share:.0f}% of their attention lies on hidden tokens."
        in page.head.meaning.text()
    )
    page.save()
    assert preferences.restored(MapViewSettings()).hides_punctuation


@pytest.mark.heavy
def test_ctrl_clicks_put_heads_together(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = _page(make_window)
    settle_layout()
    for head in (2, 5):
        box = page.heads.grid.place_of(Head("cross", 1, head))
        assert box is not None
        qtbot.mouseClick(
            page.heads.grid,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.ControlModifier,
            box.center(),
        )
    assert page.head.title.whole == "Cross-attention · mean of 3 heads"
    assert page.head.combination_menu.isVisible()
    assert not page.head.switch_button.isVisible()
    page.head.combination_menu.actions_by_name["max"].trigger()
    assert page.head.title.whole == "Cross-attention · maximum of 3 heads"
    click(qtbot, page.heads.grid, Head("cross", 2, 2))
    assert page.head.title.whole == "Cross-attention · layer 3 · head 3"


@pytest.mark.heavy
def test_a_layer_stays_combined_while_arrows_walk(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = _page(make_window)
    page.head.scope_menu.actions_by_name["layer"].trigger()
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_Down)
    assert page.head.title.whole == "Cross-attention · layer 2 · mean of 8 heads"


@pytest.mark.parametrize("scale", ["layer", "own"])
@pytest.mark.heavy
def test_a_scale_is_chosen_and_remembered(
    make_window: MakeWindow, preferences: Preferences, scale: str
) -> None:
    page = _page(make_window)
    before = page.heads.grid.grab().toImage()
    page.heads.scale_menu.actions_by_name[scale].trigger()
    assert page.heads.grid.grab().toImage() != before
    page.save()
    assert preferences.restored(MapViewSettings()).scale == scale


@pytest.mark.heavy
def test_the_question_mark_explains_the_map(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = _page(make_window)
    assert not page.head.explanation.isVisible()
    qtbot.mouseClick(page.head.explain_button, Qt.MouseButton.LeftButton)
    assert page.head.explanation.isVisible()
    assert "are the German tokens" in page.head.explanation_text.text()
    assert "What am I looking at?" in page.head.explain_button.text()
    assert page.head.explanation.height() <= 0.4 * page.head.height()
    qtbot.waitUntil(lambda: page.head.heatmap.height() >= 120)  # the map stays in sight
    qtbot.mouseClick(page.head.explain_button, Qt.MouseButton.LeftButton)
    assert not page.head.explanation.isVisible()


@pytest.mark.heavy
def test_a_role_stands_beside_the_title_once_a_sample_was_measured_and_the_grid_can_be_searched_for_it(
    make_window: MakeWindow,
) -> None:
    page = _page(make_window)
    head = Head("encoder", 0, 0)
    page.state.intents.choose_head(head)
    assert page.state.roles.here(head) == "self"
    assert not page.head.role.isVisible(), "one sentence is no sample"
    before = page.heads.grid.grab().toImage()
    page.heads.role_menu.actions_by_name["next"].trigger()
    assert page.state.settings.shown_role == "next"
    assert page.heads.grid.grab().toImage() != before
    page.heads.role_menu.actions_by_name["any"].trigger()
    assert page.heads.grid.grab().toImage() == before
    roles = {
        kind: tuple(
            ("self",) * page.state.maps.shape(kind)[1]
            for _ in range(page.state.maps.shape(kind)[0])
        )
        for kind in ATTENTION_KINDS
    }
    page.state.take_roles(SampleRoles(roles, "9 pairs"))
    assert page.head.role.isVisible()
    assert page.head.role.text() == "role: self"
    assert "Its role is “self”" in page.head.role.toolTip()
    assert page.head.role.cursor().shape() == Qt.CursorShape.WhatsThisCursor


@pytest.mark.heavy
@pytest.mark.parametrize("size", [(960, 620), (1280, 800)])
def test_no_control_of_the_map_is_cut_off_in_a_small_window(
    make_window: MakeWindow, qtbot: QtBot, size: tuple[int, int]
) -> None:
    page = _page(make_window)
    page.window().resize(*size)
    panel = page.head
    qtbot.waitUntil(lambda: page.window().width() == size[0])
    controls, menu = panel.controls, panel.controls.menu_button
    boxes = tuple(controls.boxes.values())
    qtbot.waitUntil(lambda: menu.isVisible() == (size[1] < 700))
    assert controls.isVisible() != menu.isVisible()
    boxes = ((menu,) if menu.isVisible() else boxes) + (
        panel.export_button,
        panel.measure_menu,
        panel.scope_menu,
    )
    qtbot.waitUntil(
        lambda: all(box.width() >= box.sizeHint().width() for box in boxes), timeout=2000
    )
    assert all(box.geometry().right() <= panel.width() for box in boxes)


def _click_word(qtbot: QtBot, page: TranslatePage, index: int, *, also: bool = False) -> None:
    _, box = page.sentence.chips.boxes[index]
    keys = Qt.KeyboardModifier.ControlModifier if also else Qt.KeyboardModifier.NoModifier
    qtbot.mouseClick(page.sentence.chips, Qt.MouseButton.LeftButton, keys, box.center())


@pytest.mark.heavy
def test_clicked_words_are_summed_said_shaded_and_lit_in_all_heads(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = _page(
        make_window,
        make_translation("ein mann schläft .", "a man is sleep|ing .", text="Ein Mann ."),
    )
    grid, field = page.heads.grid, page.sentence.input
    before = grid.grab().toImage()
    _click_word(qtbot, page, 1)
    _click_word(qtbot, page, 3, also=True)
    assert page.head.pick_line.label.text().startswith("Sum of 2 rows: man + sleeping → ")
    assert grid.grab().toImage() != before
    assert any(
        selection.format.background().color().alpha() for selection in field.extraSelections()
    )
    qtbot.mouseClick(page.head.pick_line.clear_button, Qt.MouseButton.LeftButton)
    assert grid.grab().toImage() == before
    assert field.extraSelections() == []
    assert page.head.pick_line.label.text().startswith("Click a cell to pin it")


@pytest.mark.heavy
def test_a_pinned_cell_lights_up_in_all_heads_until_escape(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = _page(make_window)
    grid, heatmap = page.heads.grid, page.head.heatmap
    before = grid.grab().toImage()
    box = heatmap.cell_rect(Pair(2, 1))
    assert box is not None
    qtbot.mouseClick(heatmap, Qt.MouseButton.LeftButton, pos=box.center().toPoint())
    lit = grid.grab().toImage()
    assert lit != before
    item = grid.place_of(Head("cross", 2, 7))
    assert item is not None
    assert lit.copy(item) != before.copy(item)
    qtbot.keyClick(heatmap, Qt.Key.Key_Escape)
    assert grid.grab().toImage() == before


@pytest.mark.heavy
def test_the_grid_can_be_sorted_and_every_head_then_says_which_it_is(
    make_window: MakeWindow,
) -> None:
    page = _page(make_window)
    translation = page.state.translation
    assert translation is not None
    page.heads.order_menu.actions_by_name["clarity"].trigger()
    first, second = (
        page.heads.grid.place_of(head) for head in page.state.roles.in_order("cross")[:2]
    )
    assert first is not None
    assert second is not None
    assert (first.top(), first.left()) < (second.top(), second.left())
    tagged = page.heads.grid.grab().toImage().copy(first)
    page.heads.order_menu.actions_by_name["layer"].trigger()
    box = page.heads.grid.place_of(Head("cross", *clearest_head(translation.maps.cross)))
    assert box is not None
    assert page.heads.grid.grab().toImage().copy(box) != tagged


@pytest.mark.heavy
def test_lines_stand_for_the_weights_above_the_threshold(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = _page(make_window)
    page.head.picture_menu.actions_by_name["lines"].trigger()
    assert lines_of(page.head).isVisible()
    assert not page.head.heatmap.isVisible()
    assert "to sum their lines" in page.head.pick_line.label.text()
    assert "cells" not in page.head.pick_line.label.text(), "there are none to be pinned"
    view, painter = _view(page), lines_of(page.head)._painter
    assert view is not None
    assert painter is not None
    threshold_of(page.head).setValue(30)
    np.testing.assert_allclose(
        painter.strength(), np.where(view.values >= 0.3, view.values, 0), rtol=1e-5
    )
    few = lines_of(page.head).grab().toImage()
    threshold_of(page.head).setValue(0)
    assert lines_of(page.head).grab().toImage() != few
    assert (painter.strength() > 0).sum() == (view.values > 0).sum()


@pytest.mark.heavy
def test_lines_of_a_hundred_tokens_scroll(make_window: MakeWindow, qtbot: QtBot) -> None:
    words = " ".join(f"w{number}" for number in range(100))
    page = _page(make_window, make_translation(words, words, num_layers=1, num_heads=2))
    page.head.picture_menu.actions_by_name["lines"].trigger()
    qtbot.waitUntil(lambda: lines_of(page.head).height() > 1600)
    assert page.head.map.height() < 700


@pytest.mark.heavy
def test_no_word_runs_out_of_the_english_line_and_many_words_leave_room_for_the_maps(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    words = " ".join(f"word{number}" for number in range(200))
    page = _page(make_window, make_translation("ein mann", f"{'x' * 900} {words}"))
    line = page.sentence.sentence
    page.window().resize(1440, 1080)
    qtbot.waitUntil(line.isVisible)
    layout = line.document().firstBlock().layout()
    widths = [layout.lineAt(index).naturalTextWidth() for index in range(layout.lineCount())]
    assert max(widths) <= line.viewport().width() + 1  # rounded up
    assert line.document().size().height() > 5
    qtbot.waitUntil(lambda: page.head.map.height() > 150)
    assert page.sentence.height() < 330
