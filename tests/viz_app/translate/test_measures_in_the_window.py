"""Measures beside the weight: chosen from the menu, computed in the thread, shown in grid and map."""

import numpy as np
from pytestqt.qtbot import QtBot
from viz_app.state.translate_state import Cell, HeadChoice, TranslateState

from tests.viz_app.conftest import MakeWindow
from tests.viz_app.synthetic import make_translation, measure_by_halves
from viz_app.translate.page import TranslatePage


def _choose(qtbot: QtBot, page: TranslatePage, measure: str) -> None:
    page.head.measure_menu.actions_by_name[measure].trigger()
    qtbot.waitUntil(lambda: page.state.translation is not None and not page.state.lacks_measure(page.state.translation))


def test_a_measure_replaces_the_weight_in_map_and_grid_and_says_what_it_is(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = make_window().translate_page
    page.choose(HeadChoice("cross", 0, 1))
    before, view = page.heads.grid.grab().toImage(), page.state.view()
    assert view is not None
    page.head.scope_menu.actions_by_name["head"].trigger()
    _choose(qtbot, page, "rollout")
    rolled = page.state.view()
    assert rolled is not None
    np.testing.assert_allclose(rolled.weights, view.weights / 2, rtol=1e-6)
    assert page.heads.grid.grab().toImage() != before
    assert "Abnar & Zuidema" in page.head.meaning.text()
    assert page.state.describe(Cell(1, 1))[1].startswith("rollout ")  # type: ignore[index]
    _choose(qtbot, page, "weight")
    assert "Abnar" not in page.head.meaning.text()


def test_a_kind_without_the_measure_shows_weights_and_says_so(make_window: MakeWindow, qtbot: QtBot) -> None:
    page = make_window().translate_page
    _choose(qtbot, page, "rollout")
    page.choose(HeadChoice("decoder", 0, 1))
    assert page.state.measure_of_choice == "weight"
    assert "There is no rollout for these maps" in page.head.meaning.text()
    page.choose(HeadChoice("encoder", 0, 1))
    assert "One map for each layer" in page.head.meaning.text()


def test_the_next_sentence_is_measured_too(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    page = window.translate_page
    _choose(qtbot, page, "norm")
    with qtbot.waitSignal(window.translation_shown):
        page.sentence.input.set_text("Zwei Hunde .")
    qtbot.waitUntil(lambda: page.state.measure_of_choice == "norm")
    assert "Kobayashi" in page.head.meaning.text()


def test_a_stale_measurement_is_dropped() -> None:
    state, translation = TranslateState(), make_translation()
    state.show(translation)
    state.measure = "norm"
    assert state.lacks_measure(translation)
    state.awaited_measure_id = 2
    assert not state.accept_measured(1, measure_by_halves(None, translation))
    assert state.measure_of_choice == "weight"
    assert state.accept_measured(2, measure_by_halves(None, translation))
    assert state.measure_of_choice == "norm"
    state.show(make_translation())
    assert state.measure_of_choice == "weight"


def test_norms_share_a_scale_that_reaches_to_the_largest_of_their_kind() -> None:
    state, translation = TranslateState(), make_translation()
    state.show(translation)
    state.measure, state.awaited_measure_id = "norm", 1
    state.accept_measured(1, measure_by_halves(None, translation))
    view = state.view()
    assert view is not None
    largest = translation.maps.of_kind(state.choice.kind).max() / 2
    assert state.top_weight(view.weights) == float(largest)


def test_a_failed_measurement_is_told_where_it_was_announced() -> None:
    state = TranslateState()
    state.show(make_translation())
    state.measure = "norm"
    state.await_measured(1)
    assert "Computing" in state.measure_note()
    assert not state.refuse_measured(0)
    assert state.refuse_measured(1)
    assert "could not be computed" in state.measure_note()
    state.await_measured(2)
    assert "Computing" in state.measure_note()
