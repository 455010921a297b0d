"""The step player, driven by clicks on small real models."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from core.errors import AnalysisError
from core.model.heads import FixedRow
from tests.viz_app.analysis.conftest import MakeRealWindow, OpenTab
from viz_app.analysis.steps import token_line
from viz_app.analysis.steps.state import StepsState
from viz_app.analysis.steps.token_line import TokenChip
from viz_app.analysis.steps.view import StepsTab
from viz_app.main_window import MainWindow
from viz_app.state.translate_state import HeadChoice, TranslateState

SENTENCE = "Ein Hund schläft im Gras ."


@pytest.fixture(params=["words", "pieces", "single"])
def window(
    request: pytest.FixtureRequest, make_real_window: MakeRealWindow, model_files: dict[str, Path]
) -> MainWindow:
    return make_real_window(model_files[request.param], SENTENCE)


@pytest.fixture
def tab(window: MainWindow, open_tab: OpenTab, qtbot: QtBot) -> StepsTab:
    window.translate_page.choose(HeadChoice("cross", 0, 0))
    return _opened(window, open_tab, qtbot)


def _opened(window: MainWindow, open_tab: OpenTab, qtbot: QtBot) -> StepsTab:
    tab = open_tab(window, "Steps")
    assert isinstance(tab, StepsTab)
    qtbot.waitUntil(lambda: tab.state.path is not None, timeout=10_000)
    return tab


def _click(qtbot: QtBot, widget: QWidget) -> None:
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


def _click_candidate(qtbot: QtBot, tab: StepsTab, index: int) -> None:
    place = tab.candidates.label_place(index).center().toPoint()
    qtbot.mouseClick(tab.candidates, Qt.MouseButton.LeftButton, pos=place)


def _wait_for_actions(qtbot: QtBot, tab: StepsTab, count: int) -> None:
    qtbot.waitUntil(lambda: tab.state.decoded is not None and len(tab.state.decoded.actions) == count, timeout=10_000)


def test_the_steps_are_those_of_the_translation_that_is_shown(tab: StepsTab) -> None:
    translation = tab.page.translation
    assert translation is not None
    assert tuple(chip.text for chip in tab.tokens.chips) == translation.predicted_tokens
    assert tab.state.position == 0
    assert tab.candidates.bars[0].is_lit
    assert tab.candidates.bars[0].label == translation.predicted_tokens[0]
    assert not tab.undo.isEnabled()
    assert not tab.outcome.isVisible()


def test_going_on_marks_the_row_that_the_step_used(window: MainWindow, tab: StepsTab, qtbot: QtBot) -> None:
    page = window.translate_page
    assert page.state.step_row == 0
    before = page.head.heatmap.grab().toImage()
    _click(qtbot, tab.forward)
    assert (tab.state.position, page.state.step_row) == (1, 1)
    assert page.head.heatmap.grab().toImage() != before
    _click(qtbot, tab.back)
    assert page.head.heatmap.grab().toImage() == before
    _click(qtbot, page.lab_button)
    assert page.state.step_row is None


def test_another_candidate_is_forced_and_taken_back(tab: StepsTab, qtbot: QtBot) -> None:
    _click(qtbot, tab.forward)
    wanted = tab.candidates.bars[1].label
    _click_candidate(qtbot, tab, 1)
    _wait_for_actions(qtbot, tab, 1)
    assert tab.tokens.chips[1].text == wanted
    assert tab.tokens.chips[1].mark == "changed"
    assert tab.outcome.isVisible()
    assert tab.page.step_row == 1, "what this step read is as before"
    _click(qtbot, tab.forward)
    assert tab.page.step_row is None, "from here on the rows are not those of the map"
    _click(qtbot, tab.undo)
    qtbot.waitUntil(lambda: not tab.state.is_changed and not tab.awaited.is_awaiting)
    translation = tab.page.translation
    assert translation is not None
    assert tuple(chip.text for chip in tab.tokens.chips) == translation.predicted_tokens


def test_a_row_set_by_hand_is_used_and_scaled(tab: StepsTab, qtbot: QtBot) -> None:
    assert tab.row.isVisible()
    assert not tab.decode.isVisible()
    qtbot.mouseClick(tab.row, Qt.MouseButton.LeftButton, pos=tab.row.label_place(2).center().toPoint())
    qtbot.mouseClick(tab.row, Qt.MouseButton.LeftButton, pos=tab.row.bar_place(1).center().toPoint())
    assert tab.decode.isVisible()
    _click(qtbot, tab.decode)
    _wait_for_actions(qtbot, tab, 1)
    (action,) = tab.state.actions
    assert isinstance(action, FixedRow)
    assert sum(action.weights) == pytest.approx(1)
    assert tab.state.row() == pytest.approx(action.weights)
    assert action.weights[2] == pytest.approx(2 * action.weights[1], rel=0.1)
    assert "set by hand" in tab._row_title.text()
    assert tab.page.step_row is None
    _click(qtbot, tab.reset)
    qtbot.waitUntil(lambda: not tab.state.is_changed and not tab.awaited.is_awaiting)


def test_a_forced_end_ends_the_sentence(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot
) -> None:
    tab = _opened(make_real_window(model_files["words"], SENTENCE), open_tab, qtbot)
    path = tab.state.path
    assert path is not None
    for step in path.steps:
        tab.tokens.clicked.emit(step.step)
        ends = [index for index, bar in enumerate(tab.candidates.bars) if bar.label == "<eos>" and not bar.is_lit]
        if ends:
            break
    else:
        pytest.fail("this model never thinks of an end; another is needed")
    _click_candidate(qtbot, tab, ends[0])
    _wait_for_actions(qtbot, tab, 1)
    assert tab.state.path is not None
    assert len(tab.state.path.steps) == step.step + 1
    assert not tab.forward.isEnabled()


def test_one_token_and_a_head_of_the_encoder(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot
) -> None:
    window = make_real_window(model_files["single"], "Hund")
    window.translate_page.choose(HeadChoice("encoder", 0, 0))
    tab = _opened(window, open_tab, qtbot)
    assert not tab.row.isVisible()
    assert "Choose a cross-attention head" in tab._row_title.text()
    _click_candidate(qtbot, tab, 1)
    _wait_for_actions(qtbot, tab, 1)


def test_playing_goes_to_the_end_and_stops(
    make_real_window: MakeRealWindow,
    model_files: dict[str, Path],
    open_tab: OpenTab,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("viz_app.analysis.steps.view.PLAY_INTERVAL_MS", 1)
    tab = _opened(make_real_window(model_files["words"], SENTENCE), open_tab, qtbot)
    assert tab.state.path is not None
    last = len(tab.state.path.steps) - 1
    assert last > 0
    _click(qtbot, tab.play)
    qtbot.waitUntil(lambda: tab.state.position == last)
    qtbot.waitUntil(lambda: not tab.play.isChecked())
    assert not tab._timer.isActive()


def test_a_new_sentence_begins_anew(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot
) -> None:
    window = make_real_window(model_files["words"], SENTENCE)
    tab = _opened(window, open_tab, qtbot)
    _click(qtbot, tab.forward)
    _click_candidate(qtbot, tab, 1)
    with qtbot.waitSignal(window.translation_shown):
        window.translate_page.sentence.input.set_text("Ein Mann .")
    qtbot.waitUntil(lambda: tab.state.path is not None)
    assert not tab.state.is_changed
    assert tab.state.position == 0
    assert tab.state.path is not None
    assert tab.state.path.translation.source_text == "Ein Mann ."


def test_a_row_of_nothing_is_refused() -> None:
    state = StepsState(TranslateState())
    state.draft = (0.0, 0.0)
    with pytest.raises(AnalysisError, match="All weights of the row are 0"):
        state.set_row()
    assert state.actions == ()


def test_a_long_decoding_leaves_the_candidates_in_sight(tab: StepsTab, qtbot: QtBot) -> None:
    tab.tokens.show_chips([TokenChip("ladder") for _ in range(182)])
    tab.tokens_area.show_now(0)
    qtbot.waitUntil(lambda: tab.tokens.height() > 2 * tab.tokens_area.height())
    qtbot.wait(20)  # the layout settles
    assert not tab.candidates.visibleRegion().isEmpty()
    assert not tab.row.visibleRegion().isEmpty()
    for index in (0, 90, 181, 0):
        tab.tokens_area.show_now(index)
        assert tab.tokens.visibleRegion().contains(tab.tokens.place_of(index))
        assert not tab.tokens.visibleRegion().contains(tab.tokens.place_of(181 if index < 90 else 0))


def test_going_on_scrolls_to_the_step(tab: StepsTab, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_line, "MAX_LINES", 1)
    tab.redraw()
    qtbot.waitUntil(lambda: tab.tokens.height() > tab.tokens_area.height())
    last = len(tab.tokens.chips) - 1
    assert not tab.tokens.visibleRegion().contains(tab.tokens.place_of(last))
    for step in range(1, last + 1):
        _click(qtbot, tab.forward)
        assert tab.tokens.visibleRegion().contains(tab.tokens.place_of(step))


def test_a_row_stays_under_the_mouse_when_it_is_set(tab: StepsTab, qtbot: QtBot) -> None:
    qtbot.wait(20)  # the layout settles
    before = tab.row.mapTo(tab, tab.row.label_place(2).center().toPoint())
    qtbot.mouseClick(tab.row, Qt.MouseButton.LeftButton, pos=tab.row.label_place(2).center().toPoint())
    assert tab.decode.isVisible()
    qtbot.wait(20)  # the layout settles
    assert tab.row.mapTo(tab, tab.row.label_place(2).center().toPoint()) == before
