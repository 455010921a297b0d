"""The panel of the large map: menus set settings, words around the map, the context menu, the row
editor."""

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.maps.roles import ROLES, SampleRoles, fitting_rows
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
)
from augenmerk.core.translation.result import ExperimentResult, Translation
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.presentation.presentation import caption
from augenmerk.viz_app.extensions.weights.card import QueryKeyCard
from augenmerk.viz_app.heatmap.head_grid import lacks_difference
from augenmerk.viz_app.heatmap.heatmap import LargeMap
from augenmerk.viz_app.state.experiment_editor import scale, show_experiment
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_drawings import DRAWINGS, MapDrawing
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.theme import PANEL_MARGIN, Theme
from augenmerk.viz_app.views.chips import ShownMapsSwitch
from augenmerk.viz_app.views.large_map_panel import HeadPanel
from augenmerk.viz_app.views.map_options import MAP_OPTIONS
from augenmerk.viz_app.worker.inference import ExperimentController, InferenceWorker
from tests.checkpoints import write_untrained_checkpoint
from tests.viz_app.builders import settle_layout, shown, state_of
from tests.viz_app.parts import lines_of, threshold_of, weight_card_of
from tests.viz_app.synthetic import FakeTranslator, make_result, make_translation


@pytest.fixture
def state() -> ExperimentState:
    return state_of("ein mann schläft .", "a man is sleep|ing .", head=Head("cross", 0, 0))


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme, state: ExperimentState) -> Iterator[HeadPanel]:
    """With the explanation of weights, as in the window."""
    worker = InferenceWorker(FakeTranslator)
    panel = HeadPanel(state)
    QueryKeyCard(state, ExperimentController(state, worker), panel)
    yield shown(qtbot, panel, (760, 620))
    worker.close()


@pytest.fixture
def switch(qtbot: QtBot, theme: Theme, state: ExperimentState) -> Iterator[ShownMapsSwitch]:
    row = QWidget()
    qtbot.addWidget(row)
    switch = ShownMapsSwitch(state)
    switch.setParent(row)
    with qtbot.waitExposed(row):
        row.show()
    yield switch
    row.close()


def changed_result(
    state: ExperimentState, *, target: str = "a man now is sleep|ing ."
) -> ExperimentResult:
    """A head is off, and a word is new."""
    assert state.translation is not None
    off = HeadScaled(Head("cross", 0, 0))
    changed = make_translation(
        "ein mann schläft .", target, interventions=(off, ForcedToken(2, "now"))
    )
    state.submit(show_experiment(changed.experiment))
    result = ExperimentResult(changed, state.translation, state.translation.log_probabilities)
    state.accept(result)
    return result


def _click_box(qtbot: QtBot, box: QCheckBox) -> None:
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))


def test_menus_and_boxes_set_the_settings(
    panel: HeadPanel, state: ExperimentState, qtbot: QtBot
) -> None:
    settings, controls = state.settings, panel.controls
    panel.scope_menu.actions_by_name["layer"].trigger()
    panel.combination_menu.actions_by_name["max"].trigger()
    panel.measure_menu.actions_by_name["norm"].trigger()
    assert (settings.scope, settings.combination, settings.measure) == ("layer", "max", "norm")
    assert panel.title.whole == "Cross-attention · layer 1 · maximum of 8 heads"
    assert not panel.switch_button.isVisible()
    panel.scope_menu.actions_by_name["head"].trigger()
    assert not panel.combination_menu.isVisible()
    for box in (
        controls.boxes["hides_wrapping"],
        controls.boxes["hides_punctuation"],
        controls.boxes["merges_words"],
    ):
        _click_box(qtbot, box)
    controls.boxes["read"].click()
    assert (settings.hides_wrapping, settings.hides_punctuation, settings.merges_words) == (
        True,
        True,
        False,
    )
    assert settings.label_mode == "read"
    panel.picture_menu.actions_by_name["lines"].trigger()
    assert lines_of(panel).isVisible()
    threshold_of(panel).setValue(30)
    assert settings.line_threshold == pytest.approx(0.3)


def test_controls_follow_settings_that_somebody_else_changes(
    panel: HeadPanel, state: ExperimentState
) -> None:
    settings, controls = state.settings, panel.controls
    settings.hides_wrapping, settings.merges_words, settings.label_mode = True, False, "read"
    assert controls.boxes["hides_wrapping"].isChecked()
    assert not controls.boxes["merges_words"].isChecked()
    assert controls.boxes["read"].isChecked()
    settings.measure = "rollout"
    assert panel.measure_menu.text().startswith("rollout")
    settings.picture = "lines"
    assert lines_of(panel).isVisible()
    assert not panel.heatmap.isVisible()
    settings.line_threshold = 0.4
    assert threshold_of(panel).value() == 40


def test_every_option_of_the_table_is_a_box_and_an_entry_of_the_menu(
    panel: HeadPanel, state: ExperimentState
) -> None:
    boxes, actions = panel.controls.boxes, panel.controls.actions_by_name
    assert [*boxes] == [*actions] == [option.name for option in MAP_OPTIONS]
    for option in MAP_OPTIONS:
        assert boxes[option.name].toolTip() == actions[option.name].toolTip() == option.tip
        for control in (boxes[option.name], actions[option.name]):
            others = [
                other.value
                for other in MAP_OPTIONS
                if other.setting == option.setting and other != option
            ]
            setattr(state.settings, option.setting, others[0] if option.value else False)
            control.setChecked(True)
            assert getattr(state.settings, option.setting) == (option.value or True)
    assert actions["hides_punctuation"].text() == "Hide punctuation"
    assert actions["transposes"].text() == "Transpose"


@pytest.mark.heavy
def test_a_low_panel_has_a_menu_in_place_of_the_controls(
    panel: HeadPanel, state: ExperimentState
) -> None:
    assert panel.controls.isVisible()
    assert not panel.controls.menu_button.isVisible()
    high = panel.map.height(), panel.height()
    panel.resize(760, 480)
    settle_layout()
    assert not panel.controls.isVisible()
    assert panel.controls.menu_button.isVisible()
    assert high[1] - panel.height() > high[0] - panel.map.height() + 25, (
        "the map loses less than the panel"
    )
    settings, actions = state.settings, panel.controls.actions_by_name
    actions["read"].trigger()
    assert settings.label_mode == "read"
    for name in ("hides_wrapping", "hides_punctuation", "merges_words"):
        before = getattr(settings, name)
        actions[name].trigger()
        assert getattr(settings, name) is not before
    settings.label_mode, settings.hides_wrapping = "predicted", False
    assert actions["predicted"].isChecked()
    assert not actions["hides_wrapping"].isChecked()
    state.selection.choose(Head("encoder", 0, 0))
    assert not actions["read"].isEnabled()


@pytest.mark.parametrize(("width", "height"), [(632, 495), (760, 620), (460, 480)])
def test_the_map_stays_where_it_is_when_a_head_is_switched_off(
    panel: HeadPanel, state: ExperimentState, width: int, height: int
) -> None:
    panel.resize(width, height)
    settle_layout()
    geometry = panel.map.geometry()
    changed_result(state)
    for whose in ("original", "changed"):
        state.settings.shown = whose
        settle_layout()
        assert panel.map.geometry() == geometry
    state.settings.shown = "difference"
    settle_layout()
    assert panel.map.geometry().bottom() == geometry.bottom()


def test_the_title_has_one_form_and_a_low_panel_folds_tools_into_a_menu(
    panel: HeadPanel, state: ExperimentState
) -> None:
    tools = panel.scope_menu, panel.switch_button
    assert all(tool.isVisible() for tool in tools)
    assert not panel.overflow_button.isVisible()
    panel.resize(632, 495)
    settle_layout()
    assert panel.title.shown_text() == "Cross-attention · layer 1 · head 1"
    top = panel.title.mapTo(panel, QPoint()).y()
    assert abs(panel.measure_menu.mapTo(panel, QPoint()).y() - top) < 10
    assert not any(tool.isVisible() for tool in tools)
    assert panel.overflow_button.isVisible()
    menu = panel.overflow_button.menu()
    menu.aboutToShow.emit()
    entries = {action.text(): action for action in menu.actions()}
    assert "The heads in the map" in entries
    entries["Switch off"].trigger()
    assert state.experiment.interventions == (HeadScaled(state.selection.head),)


def test_the_title_ends_with_the_role_where_there_is_no_room_for_both(
    panel: HeadPanel, state: ExperimentState
) -> None:
    shapes = {kind: state.maps.shape(kind) for kind in ATTENTION_KINDS}
    roles = {kind: (("self",) * heads,) * layers for kind, (layers, heads) in shapes.items()}
    state.take_roles(SampleRoles(roles, "9 pairs"))
    assert panel.role.isVisible()
    assert "self" not in panel.title.text()
    panel.resize(632, 495)
    settle_layout()
    assert not panel.role.isVisible()
    assert panel.title.shown_text() == "Cross-attention · layer 1 · head 1 · self"


@pytest.mark.parametrize("width", [420, 476, 550, 660, 800, 1100])
def test_the_name_of_the_head_is_whole_before_its_role_has_room(
    panel: HeadPanel, state: ExperimentState, width: int
) -> None:
    shapes = {kind: state.maps.shape(kind) for kind in ATTENTION_KINDS}
    roles = {
        kind: (("end-token sink",) * heads,) * layers for kind, (layers, heads) in shapes.items()
    }
    state.take_roles(SampleRoles(roles, "9 pairs"))
    panel.resize(width, 599)
    settle_layout()
    assert panel.title.shown_text().startswith("Cross-attention · layer 1 · head 1")
    if panel.role.isVisible():
        assert panel.role.width() >= panel.role.sizeHint().width()


@pytest.mark.parametrize("height", [498, 598])
@pytest.mark.parametrize("width", [400, 448, 476, 518, 550])
def test_the_menu_of_a_cell_is_in_sight_in_a_panel_of_any_width(
    panel: HeadPanel, width: int, height: int
) -> None:
    panel.resize(width, height)
    settle_layout()
    assert panel.cell_button.isVisible()
    row = panel.pick_line
    shown = [
        button
        for button in row.findChildren(QAbstractButton)
        if button.isVisible() or button.sizePolicy().retainSizeWhenHidden()
    ]
    places = sorted((button.mapTo(row, QPoint(0, 0)).x(), button.width()) for button in shown)
    for (left, button_width), (next_left, _) in pairwise(places):
        assert left + button_width <= next_left
    left, button_width = places[-1]
    assert left + button_width <= row.width()
    assert panel.minimumSizeHint().width() <= 476, "its width in a low window of 1280 pixels"


@pytest.mark.parametrize("width", [400, 430, 448, 476, 518, 550])
def test_tools_that_have_a_line_of_their_own_fill_it_before_a_menu_takes_the_others(
    panel: HeadPanel, state: ExperimentState, width: int
) -> None:
    for experiment in (state.experiment, Experiment(state.experiment.source_text)):
        state.submit(show_experiment(experiment))
        panel.resize(width, 598)
        settle_layout()
        assert panel.measure_menu.isVisible()
        tools = (panel.measure_menu, panel.picture_menu, panel.scope_menu, panel.switch_button)
        shown = [tool for tool in tools if tool.isVisible()]
        assert shown == [*tools[: len(shown)]]
        assert panel.overflow_button.isVisible() == (len(shown) < len(tools))
        if len(shown) < len(tools):
            end = panel.overflow_button.geometry().right()
            assert width - end < tools[len(shown)].sizeHint().width() + 4 * PANEL_MARGIN
        panel.overflow_button.menu().aboutToShow.emit()
        entries = [action.text() for action in panel.overflow_button.menu().actions()]
        assert len(entries) >= len(tools) - len(shown)


def test_the_menu_of_a_cell_is_reached_without_a_right_click(
    qtbot: QtBot, panel: HeadPanel, state: ExperimentState
) -> None:
    def entries() -> list[str]:
        qtbot.mouseClick(panel.cell_button, Qt.MouseButton.LeftButton)
        menu = panel.cell_menu
        assert menu is not None
        opened_at.append(menu.geometry())
        menu.close()
        return [action.text() for action in menu.actions()]

    opened_at: list[QRect] = []
    without_cell = entries()
    button = panel.cell_button.mapToGlobal(QPoint())
    assert opened_at[0].left() <= button.x() <= opened_at[0].right()
    assert "Set scale and temperature…" in without_cell
    assert "Unpin" not in without_cell
    state.selection.pinned = Pair(1, 1)
    settle_layout()
    assert entries()[0] == "Unpin"


def test_a_role_that_does_not_show_in_this_sentence_is_named_as_usual_only(
    panel: HeadPanel, state: ExperimentState
) -> None:
    shapes = {kind: state.maps.shape(kind) for kind in ATTENTION_KINDS}
    head = state.selection.head
    assert state.translation is not None
    names = set()
    for role in ROLES:
        state.take_roles(
            SampleRoles(
                {kind: ((role,) * shape[1],) * shape[0] for kind, shape in shapes.items()},
                "9 pairs",
            )
        )
        rows = fitting_rows(role, state.translation, head)
        usually = f"usually {role}, not here"
        expected = "" if role == "mixed" else role if 2 * rows.sum() >= len(rows) else usually
        assert panel.role.text() == (f"role: {expected}" if expected else "")
        assert bool(panel.role.toolTip())
        assert expected in caption(state)
        names.add(expected.partition(" ")[0])
    assert {"usually", ""} < names


def test_without_split_words_there_is_nothing_to_merge(
    panel: HeadPanel, state: ExperimentState
) -> None:
    box = panel.controls.boxes["merges_words"]
    assert box.isEnabled()
    state.show_translation(make_translation())
    assert box.isVisible(), "the boxes after it must not move"
    assert not box.isEnabled()
    assert "split into subwords" in box.toolTip()


def test_hiding_says_how_much_is_hidden_or_that_nothing_is(
    panel: HeadPanel, state: ExperimentState
) -> None:
    assert "hidden" not in panel.meaning.text()
    state.settings.hides_wrapping = state.settings.hides_punctuation = True
    view = state.maps.view()
    assert view is not None
    assert view.column_labels == ("ein", "mann", "schläft")
    assert (
        f"{100 * view.labelled.hidden_share:.0f}% of their attention lies on hidden tokens."
        in panel.meaning.text()
    )
    state.show_translation(make_translation("? !", "!"))
    assert "so nothing is hidden." in panel.meaning.text()


@pytest.mark.parametrize("size", [(420, 300), (560, 380), (760, 620)])
def test_what_a_row_means_is_never_cut(
    panel: HeadPanel, state: ExperimentState, qtbot: QtBot, size
) -> None:
    changed_result(state)
    state.settings.hides_punctuation, state.settings.shown = True, "difference"
    panel.resize(*size)
    qtbot.waitUntil(lambda: panel.width() >= size[0])
    text = panel.meaning.text()
    assert (
        "Each row: where the model looks at the German while it predicts that English token."
        in text
    )
    assert "…" not in text
    assert panel.meaning.height() >= panel.meaning.heightForWidth(panel.meaning.width())
    assert "Changed minus original" in text


def test_zoom_buttons_make_cells_larger_and_fit_them_again(
    panel: HeadPanel, state: ExperimentState, qtbot: QtBot
) -> None:
    heatmap = panel.heatmap
    assert heatmap.layout_now is not None
    before = heatmap.layout_now.cell.y()
    for _ in range(3):
        qtbot.mouseClick(panel.sizes.zoom_in, Qt.MouseButton.LeftButton)
    assert heatmap.layout_now.cell.y() > before
    qtbot.mouseClick(panel.sizes.zoom_fit, Qt.MouseButton.LeftButton)
    assert heatmap.layout_now.cell.y() == before


def test_the_switch_is_there_for_an_experiment_with_changes_alone(
    panel: HeadPanel, switch: ShownMapsSwitch, state: ExperimentState, qtbot: QtBot
) -> None:
    assert not switch.isVisible()
    result = changed_result(state)
    assert switch.isVisible()
    assert switch.buttons["changed"].isChecked()
    qtbot.mouseClick(switch.buttons["original"], Qt.MouseButton.LeftButton)
    assert state.maps.translation is result.original
    assert panel.title.whole.endswith("original")
    qtbot.mouseClick(switch.buttons["difference"], Qt.MouseButton.LeftButton)
    assert state.maps.is_signed("cross")
    assert panel.title.whole.endswith("off · difference")
    panel.resize(632, 495)
    settle_layout()
    assert panel.title.shown_text().startswith("Cross · layer "), "a shorter name of the kind"
    assert panel.title.shown_text().endswith("off · difference")
    assert "Changed minus original" in panel.meaning.text()
    state.show_translation(result.original)
    assert not switch.isVisible()
    assert "Changed minus original" not in panel.meaning.text()


def test_a_key_goes_round_what_is_shown(
    switch: ShownMapsSwitch, state: ExperimentState, qtbot: QtBot
) -> None:
    window = switch.window()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window, Qt.Key.Key_D)
    assert state.settings.shown == "changed", "there is nothing to choose from"
    changed_result(state)
    seen = []
    for _ in range(3):
        qtbot.keyClick(window, Qt.Key.Key_D)
        seen.append(state.settings.shown)
    assert seen == ["difference", "original", "changed"]


def test_where_nothing_pairs_the_switch_and_the_note_say_why(
    panel: HeadPanel, switch: ShownMapsSwitch, state: ExperimentState
) -> None:
    changed_result(state, target="x y z")
    state.settings.shown = "difference"
    assert "no word in common" in switch.buttons["difference"].toolTip()
    assert "Choose two sentences" not in switch.buttons["difference"].toolTip(), (
        "advice is for the Compare tab"
    )
    assert not switch.buttons["difference"].isEnabled()
    assert switch.buttons["changed"].isChecked()
    assert lacks_difference(state.maps, "cross")
    assert not lacks_difference(state.maps, "encoder")
    assert "There is no difference to show" in panel.meaning.text()
    state.selection.choose(Head("encoder", 0, 0))
    assert "no word in common" not in switch.buttons["difference"].toolTip()
    assert switch.buttons["difference"].isEnabled()
    assert switch.buttons["difference"].isChecked()
    assert panel.meaning.text().count("Changed minus original") == 1


def test_a_head_that_is_off_says_so_and_keeps_its_map(
    panel: HeadPanel, state: ExperimentState, qtbot: QtBot
) -> None:
    view = state.maps.view()
    assert view is not None
    qtbot.mouseClick(panel.switch_button, Qt.MouseButton.LeftButton)
    assert Head("cross", 0, 0) in state.experiment.heads_off
    assert panel.title.whole.endswith("· off")
    assert panel.switch_button.text() == "Switch on"
    assert panel.heatmap._view is view
    qtbot.mouseClick(panel.switch_button, Qt.MouseButton.LeftButton)
    assert Head("cross", 0, 0) not in state.experiment.heads_off
    assert not panel.title.whole.endswith("· off")


def test_the_question_explains_the_experiment_that_is_shown(
    panel: HeadPanel, state: ExperimentState, qtbot: QtBot
) -> None:
    assert not panel.explanation.isVisible()
    qtbot.mouseClick(panel.explain_button, Qt.MouseButton.LeftButton)
    assert "are the German tokens" in panel.explanation_text.text()
    assert "Changed:" not in panel.explanation_text.text()
    changed_result(state)
    assert "cross 1·1 off, step 3: now" in panel.explanation_text.text()
    assert "It is switched off" in panel.explanation_text.text()
    state.settings.shown = "difference"
    assert "percentage points" in panel.explanation_text.text()
    assert panel.explanation.height() <= 0.4 * panel.height()


def open_menu(panel: HeadPanel, pair: Pair) -> list[str]:
    box = panel.heatmap.cell_rect(pair)
    assert box is not None
    panel.heatmap.customContextMenuRequested.emit(box.center().toPoint())
    assert panel.cell_menu is not None
    return [action.text() for action in panel.cell_menu.actions()]


def choose(panel: HeadPanel, text: str) -> None:
    assert panel.cell_menu is not None
    (action,) = [action for action in panel.cell_menu.actions() if action.text() == text]
    action.trigger()
    panel.cell_menu.close()


def test_a_scaled_head_is_restored_and_says_so(panel: HeadPanel, state: ExperimentState) -> None:
    state.submit(scale(Head("cross", 0, 0), 0.5))
    assert panel.switch_button.text() == "Restore"
    open_menu(panel, Pair(2, 3))
    choose(panel, "Restore this head")
    assert not state.experiment.interventions


def test_the_context_menu_pins_and_switches(panel: HeadPanel, state: ExperimentState) -> None:
    assert open_menu(panel, Pair(2, 3)) == [
        "Pin",
        "Switch this head off",
        "Set scale and temperature…",
    ]
    choose(panel, "Pin")
    assert state.selection.pinned == Pair(2, 3)
    assert open_menu(panel, Pair(2, 3))[0] == "Unpin"
    choose(panel, "Switch this head off")
    assert Head("cross", 0, 0) in state.experiment.heads_off
    assert open_menu(panel, Pair(2, 3))[-2] == "Switch this head on"
    state.settings.scope = "layer"
    assert open_menu(panel, Pair(2, 3)) == ["Unpin"]


def test_the_hint_below_a_narrow_map_is_a_whole_sentence(
    panel: HeadPanel, state: ExperimentState
) -> None:
    for picture in ("heatmap", "lines"):
        state.settings.picture = picture
        label = panel.pick_line.label
        label.resize(label.fontMetrics().horizontalAdvance("Click a cell to"), label.height())
        assert label.shown_text() in ("Click a cell", "Click words")


@pytest.fixture
def narrow_panel(panel: HeadPanel) -> Iterator[HeadPanel]:
    """As part of a page without a layout, it can be made narrower than it likes."""
    page = QWidget()
    page.resize(1000, 800)
    panel.setParent(page)
    page.show()
    panel.show()
    yield panel
    panel.setParent(None)
    page.deleteLater()


@pytest.mark.parametrize("height", [480, 700], ids=["low", "high"])
def test_below_a_narrow_map_the_words_stand_above_the_buttons(
    narrow_panel: HeadPanel, state: ExperimentState, qtbot: QtBot, height: int
) -> None:
    """The panel has this width in a window of 1280 pixels with the analysis tabs open."""
    panel = narrow_panel
    words, button = panel.pick_line.label, weight_card_of(panel).open_button
    for width, stands_above in ((900, False), (456, True), (900, False), (330, True)):
        panel.resize(width, height)
        qtbot.waitUntil(
            lambda stands_above=stands_above: (
                (words.geometry().bottom() < button.geometry().center().y()) is stands_above
            )
        )
        for pair in (None, Pair(2, 2)):
            state.selection.pinned = pair
            assert words.isVisible()
            assert "…" not in words.shown_text()
            assert ("Click " if pair is None else " → mann, weight α 0.") in words.shown_text()
            assert (words.geometry().bottom() < button.geometry().center().y()) is stands_above, (
                "nothing jumps when a cell is pinned"
            )
            assert words.width() <= words.parentWidget().width()  # type: ignore[union-attr]


@pytest.mark.parametrize("is_sum", [False, True])
def test_the_line_of_what_is_pinned_or_picked_never_loses_its_number(
    panel: HeadPanel, state: ExperimentState, is_sum: bool
) -> None:
    source, target = "rindfleischetikettierungsüberwachungsgesetz", "antidisestablishmentarianism"
    state.show_translation(make_translation(f"das {source} .", f"the {target} ."))
    state.selection.choose(Head("cross", 0, 0))
    state.settings.label_mode = "read"
    if is_sum:
        state.selection.pick_queries([2], 1)
        number = panel.pick_line.label.text().rpartition(" ")[2]
        assert 0 < float(number) <= 1
    else:
        state.selection.pin(Pair(2, 2))
        number = panel.pick_line.label.text().partition("\n")[0].rpartition(" ")[2]
        assert len(number) == len("0.123")
    label, shown = panel.pick_line.label, set()
    for width in range(700, 100, -7):
        label.resize(width, label.height())
        text = label.shown_text()
        assert number in text, (width, text)
        assert label.fontMetrics().horizontalAdvance(text) <= width
        shown.add(text)
    assert any("…" not in text for text in shown), "all of it where there is room"
    assert any("…" in text and " → " in text for text in shown), (
        "words are shortened where there is less"
    )


# --- explain this weight --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return Translator.load(
        write_untrained_checkpoint(tmp_path_factory.mktemp("model") / "tiny.safetensors"), "cpu"
    )


@pytest.fixture
def real_panel(
    qtbot: QtBot, theme: Theme, translator: Translator
) -> Iterator[tuple[HeadPanel, ExperimentState]]:
    """A panel of a real model; an experiment with a head off is shown."""
    state, worker = ExperimentState(), InferenceWorker(lambda *_: translator)
    panel = shown(qtbot, HeadPanel(state), (760, 620))
    QueryKeyCard(state, ExperimentController(state, worker), panel)
    output = GivenTarget("A man stands.")
    experiment = Experiment("Ein Mann steht.", output, (HeadScaled(Head("encoder", 0, 0)),))
    state.submit(show_experiment(experiment))
    state.accept(translator.compare(experiment))
    state.selection.choose(Head("cross", 0, 0))
    from augenmerk.viz_app.worker.inference import Request
    from augenmerk.viz_app.worker.jobs import LoadJob

    loaded: list[object] = []
    worker.submit(Request(LoadJob(Path("tiny"), "cpu"), state, on_result=loaded.append))
    qtbot.waitUntil(lambda: bool(loaded))
    yield panel, state
    worker.close()


def test_the_pinned_weight_is_explained_and_the_explanation_follows_the_pin(
    real_panel: tuple[HeadPanel, ExperimentState], qtbot: QtBot
) -> None:
    panel, state = real_panel
    card = weight_card_of(panel)
    button = card.open_button
    assert button.text() == "Explain this weight"
    button.click()
    assert card.isVisible()
    assert "Pin a cell" in card.text.text()
    state.selection.pin(Pair(2, 1))
    qtbot.waitUntil(card.bars.isVisible)
    first = card.title.text()
    assert "→" in first
    assert state.translation is not None
    weight = state.translation.maps.cross[0, 0, 2, 1]
    assert f"{weight:.3f}" in card.text.text()
    state.selection.pin(Pair(3, 2))
    assert card.title.text() != first
    assert panel.map.geometry().contains(card.geometry())
    state.selection.clear_marks()
    assert not card.isVisible(), "its pin was let go"
    assert not button.isChecked()
    state.selection.pin(Pair(1, 1))
    assert not card.isVisible(), "a new pin alone does not open it"


def test_the_translation_that_is_shown_is_explained(
    real_panel: tuple[HeadPanel, ExperimentState], qtbot: QtBot
) -> None:
    panel, state = real_panel
    card, result = weight_card_of(panel), state.result
    assert result is not None

    def says(translation: Translation) -> bool:
        weight = translation.maps.cross[0, 0, 2, 1]
        return card.bars.isVisible() and f"= weight {weight:.3f}" in card.text.text()

    state.selection.pin(Pair(2, 1))
    weight_card_of(panel).open_button.click()
    qtbot.waitUntil(lambda: says(result.changed))
    assert "original" not in card.text.text()
    state.settings.shown = "original"
    qtbot.waitUntil(
        lambda: says(result.original) and "of the original translation" in card.text.text()
    )
    state.settings.shown = "difference"
    qtbot.waitUntil(lambda: says(result.changed) and "not the difference" in card.text.text())


def test_a_row_set_by_hand_is_not_explained_by_queries_and_keys(
    real_panel: tuple[HeadPanel, ExperimentState], translator: Translator
) -> None:
    panel, state = real_panel
    num_keys = state.translation.maps.cross.shape[-1]  # type: ignore[union-attr]
    row = AttentionRow(Head("cross", 0, 0), 2, (1, *[0] * (num_keys - 1)))
    state.accept(translator.compare(state.experiment.with_interventions(row)))
    state.selection.pin(Pair(2, 1))
    weight_card_of(panel).open_button.click()
    assert "set by hand" in weight_card_of(panel).text.text()
    state.settings.scope = "layer"
    assert "a single head" in weight_card_of(panel).text.text()


@pytest.mark.parametrize("kind", ["cross", "encoder"])
def test_the_card_closes_by_its_button_and_with_another_kind_of_map(
    real_panel: tuple[HeadPanel, ExperimentState], kind: str
) -> None:
    panel, state = real_panel
    state.selection.pin(Pair(2, 1))
    weight_card_of(panel).open_button.click()
    assert weight_card_of(panel).isVisible()
    if kind == "cross":
        weight_card_of(panel).close_button.click()
    else:
        state.selection.choose(Head("encoder", 0, 0))
    assert not weight_card_of(panel).isVisible()
    assert not weight_card_of(panel).open_button.isChecked()


class Dots(LargeMap):
    """The picture of a stranger's package: the mouse over it stands for the first query."""

    picture = "dots"

    def __init__(self, state: ExperimentState) -> None:
        super().__init__(state)
        self.num_drawn = 0
        self.show_map()

    def make_controls(self) -> QWidget:
        return QCheckBox("round")

    def rebuild(self) -> None:
        self.num_drawn += self._view is not None


def declared(code: str) -> MapDrawing:
    texts = {
        "row": "The dots of each token",
        "hint": "Look at the dots",
        "headings": ("Left:", "Right:", "Dots:"),
    }
    return MapDrawing(
        code, 5, name="dots", tip="A dot for each weight", exported_as="as dots", **texts
    )


def test_a_drawing_of_another_package_is_chosen_like_the_heatmap(
    qtbot: QtBot, theme: Theme, state: ExperimentState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DRAWINGS, "dots", declared(f"{__name__}:Dots"))
    monkeypatch.setitem(sys.modules, __name__, sys.modules[Dots.__module__])
    panel = shown(qtbot, HeadPanel(state))
    dots = panel.drawings["dots"]
    assert isinstance(dots, Dots)
    assert list(panel.picture_menu.actions_by_name) == ["heatmap", "dots", "lines"]
    assert dots.num_drawn == 0
    panel.picture_menu.actions_by_name["dots"].trigger()
    panel.explain_button.click()
    assert dots.isVisible()
    (controls,) = panel.sizes.findChildren(QCheckBox)
    assert controls.isVisible()
    assert dots.num_drawn == 1
    assert not panel.sizes.zoom_in.isVisible()
    assert panel.pick_line.label.text() == "Look at the dots"
    assert panel.meaning.text().startswith("The dots of each token: ")
    assert "Dots:" in panel.explanation_text.text()


@pytest.mark.allow_log_warnings
def test_a_broken_drawing_is_left_out(
    qtbot: QtBot,
    theme: Theme,
    state: ExperimentState,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setitem(DRAWINGS, "dots", declared("no_such_module:Dots"))
    panel = HeadPanel(state)
    qtbot.addWidget(panel)
    assert list(panel.drawings) == ["heatmap", "lines"]
    assert "The drawing “dots” of maps cannot be used" in caplog.text
    state.settings.picture = "dots"
    assert panel.map.currentWidget() is panel.heatmap


@pytest.mark.parametrize("size", [(760, 620), (420, 300)])
def test_a_pale_map_gets_a_scale_of_its_own_by_one_click(
    panel: HeadPanel, state: ExperimentState, qtbot: QtBot, size: tuple[int, int]
) -> None:
    even = make_translation("wort " * 60, "word " * 60)
    cross = np.full_like(even.maps.cross, 1 / even.maps.cross.shape[-1])
    state.accept(make_result(replace(even, attention=replace(even.maps, cross=cross))))
    panel.resize(*size)
    settle_layout()
    (link,) = re.findall('<a href="(.*?)"', panel.meaning.text())
    assert panel.meaning.heightForWidth(panel.meaning.width()) <= panel.meaning.height() + 2
    panel.meaning.linkActivated.emit(link)
    assert state.settings.scale == "own"
    assert "<a " not in panel.meaning.text()
