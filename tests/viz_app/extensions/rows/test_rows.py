"""Rows of attention are set by hand, from the menu of a cell."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import AttentionRow, HeadScaled
from augenmerk.viz_app.extensions.rows.editor import RowEditor, offer_rows, with_share
from augenmerk.viz_app.state.experiment_editor import intervene
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.map_view_settings import ShownMaps
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.views.large_map_panel import HeadPanel
from tests.viz_app.builders import shown, state_of
from tests.viz_app.views.test_large_map_panel import changed_result, choose, open_menu


@pytest.fixture
def state() -> ExperimentState:
    return state_of("ein mann schläft .", "a man is sleep|ing .", head=Head("cross", 0, 0))


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme, state: ExperimentState) -> HeadPanel:
    panel = HeadPanel(state)
    panel.cell_offers.append(offer_rows)
    return shown(qtbot, panel, (760, 620))


def test_the_menu_of_a_cell_offers_the_rows_of_its_query(
    panel: HeadPanel, state: ExperimentState
) -> None:
    assert open_menu(panel, Pair(2, 3))[:3] == ["Pin", "Set this row…", "Switch this head off"]
    choose(panel, "Set this row…")
    (editor,) = panel.findChildren(RowEditor)
    assert editor.query == 2
    editor.close()
    rows = [text for text in open_menu(panel, Pair(3, 3)) if "Set the row" in text]
    assert rows == ["Set the row of “sleep”…", "Set the row of “ing”…"]
    state.settings.scope = "layer"
    assert open_menu(panel, Pair(2, 3)) == ["Pin"], "a row of several heads is nobody's row"


@pytest.mark.parametrize(("shown", "query"), [("original", 2), ("changed", 3), ("difference", 3)])
def test_the_row_editor_begins_with_the_changed_weights_whichever_maps_are_shown(
    panel: HeadPanel, state: ExperimentState, shown: ShownMaps, query: int
) -> None:
    """The changed translation has one more word before this one, so the original's row is
    another."""
    result = changed_result(state)
    state.settings.shown, state.settings.measure = shown, "norm"
    head = state.selection.head
    assert "Set this row…" in open_menu(panel, Pair(query, 3))
    choose(panel, "Set this row…")
    (editor,) = panel.findChildren(RowEditor)
    assert editor.query == 3
    np.testing.assert_allclose(editor.weights, result.changed.maps.cross[head.layer, head.head, 3])
    assert not np.allclose(editor.weights, result.original.maps.cross[head.layer, head.head, 2])
    editor.close()


def test_a_row_of_the_original_that_the_changed_maps_do_not_have_cannot_be_set(
    panel: HeadPanel, state: ExperimentState
) -> None:
    changed_result(state, target="a person is sleep|ing .")
    state.settings.shown = "original"
    assert not any("row" in text for text in open_menu(panel, Pair(1, 1)))
    assert any("row" in text for text in open_menu(panel, Pair(2, 1)))


def _editor(qtbot: QtBot, state: ExperimentState, head: Head, query: int) -> RowEditor:
    state.selection.choose(head)
    editor = RowEditor(state, head, query)
    editor.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(editor)
    editor.open_at(QPoint(10, 10))
    return editor


@pytest.mark.parametrize(
    ("head", "query", "num_keys"),
    [(Head("encoder", 1, 1), 2, 6), (Head("decoder", 1, 1), 2, 3), (Head("cross", 1, 1), 2, 6)],
)
def test_a_row_is_set_for_each_kind_of_map(
    qtbot: QtBot, theme: Theme, state: ExperimentState, head: Head, query: int, num_keys: int
) -> None:
    editor = _editor(qtbot, state, head, query)
    assert state.translation is not None
    np.testing.assert_allclose(
        editor.weights, state.translation.maps.of_kind(head.kind)[1, 1, query, :num_keys]
    )
    assert editor.bars.visibleRegion().boundingRect() == editor.bars.rect(), (
        "so few words need no scrolling"
    )
    assert editor.height() >= editor.layout().totalHeightForWidth(editor.width())
    for button in (editor.set_button, editor.reset_button):
        assert button.width() >= button.sizeHint().width(), "its text is whole"
    qtbot.mouseClick(
        editor.bars, Qt.MouseButton.LeftButton, pos=editor.bars.label_place(1).center().toPoint()
    )
    assert editor.weights == [0, 1] + [0] * (num_keys - 2)
    middle = editor.bars.bar_place(0).center().toPoint()
    qtbot.mouseClick(editor.bars, Qt.MouseButton.LeftButton, pos=middle)
    assert editor.weights[0] == pytest.approx(0.5, abs=0.01)
    assert editor.weights[1] == pytest.approx(0.5, abs=0.01)
    qtbot.mouseClick(editor.set_button, Qt.MouseButton.LeftButton)
    (row,) = state.experiment.attention_rows
    assert (row.head, row.row, len(row.weights)) == (head, query, num_keys)
    np.testing.assert_allclose(row.weights, editor.weights)
    assert not editor.isVisible()


def test_a_row_that_was_set_is_taken_out_again(
    qtbot: QtBot, theme: Theme, state: ExperimentState
) -> None:
    head = Head("cross", 1, 1)
    assert not _editor(qtbot, state, head, 2).reset_button.isEnabled()
    state.submit(intervene(AttentionRow(head, 2, (1, 0, 0, 0, 0, 0)), HeadScaled(head)))
    editor = _editor(qtbot, state, head, 2)
    qtbot.mouseClick(editor.reset_button, Qt.MouseButton.LeftButton)
    assert state.experiment.attention_rows == ()
    assert state.experiment.heads_off == {head}


def test_a_row_that_is_refused_says_why_and_stays_open(
    qtbot: QtBot, theme: Theme, state: ExperimentState
) -> None:
    editor = _editor(qtbot, state, Head("cross", 1, 1), 2)
    editor.weights = [0.0] * 6
    qtbot.mouseClick(editor.set_button, Qt.MouseButton.LeftButton)
    assert "All weights of the row are 0" in editor.problem.text()
    assert editor.problem.isVisible()
    assert editor.isVisible()
    assert state.experiment.attention_rows == ()


def test_what_a_key_does_not_get_is_shared_out_as_before() -> None:
    assert with_share([0.5, 0.3, 0.2], 0, 0.0) == pytest.approx([0, 0.6, 0.4])
    assert with_share([1.0, 0.0, 0.0], 0, 0.4) == pytest.approx([0.4, 0.3, 0.3])
    assert with_share([1.0], 0, 0.2) == [1.0]
