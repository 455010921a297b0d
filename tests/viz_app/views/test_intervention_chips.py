import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head, HeadGroup, Network
from augenmerk.core.translation.experiment import (
    Beam,
    FeedForwardScaled,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    SourceWordReplaced,
)
from augenmerk.viz_app.state.experiment_editor import (
    force,
    intervene,
    remove,
    reset,
    set_output,
    toggle,
    undo,
)
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.views.chips import SYMBOL, InterventionChips
from augenmerk.viz_app.widgets.buttons import MenuButton, flat_button
from augenmerk.viz_app.widgets.labels import ElidingLabel
from tests.viz_app.builders import settle_layout, shown, state_of
from tests.viz_app.synthetic import FakeTranslator

OFF = HeadScaled(Head("cross", 1, 4))


@pytest.fixture
def state() -> ExperimentState:
    return state_of()


@pytest.fixture
def chips(qtbot: QtBot, theme: Theme, state: ExperimentState) -> InterventionChips:
    return shown(qtbot, InterventionChips(state), (900, 60))


def texts(chips: InterventionChips) -> list[str]:
    return [chip.text().removesuffix("×").strip() for chip in chips.chips]


def test_keyboard_focus_stays_among_the_chips_when_the_one_that_has_it_goes(
    qtbot: QtBot, chips: InterventionChips, state: ExperimentState
) -> None:
    state.submit(intervene(OFF, ForcedToken(2, "dog"), SourceWordReplaced(1, "Katze")))
    chips.activateWindow()
    qtbot.waitUntil(chips.isActiveWindow)
    chips.chips[1].setFocus()
    qtbot.keyClick(chips.chips[1], Qt.Key.Key_Space)
    assert texts(chips) == ["word 2 → Katze", "step 3: dog"]
    assert chips.chips[1].hasFocus()
    qtbot.keyClick(chips.chips[1], Qt.Key.Key_Space)
    assert chips.chips[0].hasFocus()
    qtbot.keyClick(chips.chips[0], Qt.Key.Key_Space)
    assert texts(chips) == []
    assert chips.undo_button.hasFocus()
    while state.editor.can_undo:
        qtbot.keyClick(chips.undo_button, Qt.Key.Key_Space)
    assert chips.redo_button.hasFocus()
    while state.editor.can_redo:
        qtbot.keyClick(chips.redo_button, Qt.Key.Key_Space)
    assert chips.undo_button.hasFocus()
    state.submit(undo)
    chips.reset_button.setFocus()
    qtbot.keyClick(chips.reset_button, Qt.Key.Key_Space)
    assert chips.undo_button.hasFocus()


def test_without_changes_there_is_one_hint(chips: InterventionChips) -> None:
    assert chips.hint.isVisible()
    assert chips.chips == []
    assert not chips.reset_button.isEnabled()
    assert not chips.undo_button.isEnabled()


def test_a_message_takes_the_place_of_the_hint(
    chips: InterventionChips, state: ExperimentState, qtbot: QtBot
) -> None:
    message = flat_button("A message", "")
    chips.add_button(message)
    qtbot.waitUntil(lambda: not chips.hint.isVisible())
    state.submit(toggle(OFF.head))
    message.hide()
    settle_layout()
    assert not chips.hint.isVisible(), "there is a change"
    state.submit(undo)
    assert chips.hint.isVisible()


def test_undo_and_redo_stay_where_they_are_without_a_result(
    chips: InterventionChips, state: ExperimentState
) -> None:
    state.submit(toggle(OFF.head))
    state.submit(undo)
    buttons = chips.undo_button, chips.redo_button
    settle_layout()
    places = [button.x() for button in buttons]
    state.clear()
    settle_layout()
    assert [button.x() for button in buttons] == places


def test_each_intervention_has_a_chip_that_removes_it(
    qtbot: QtBot, chips: InterventionChips, state: ExperimentState
) -> None:
    state.submit(intervene(OFF, ForcedToken(2, "dog"), SourceWordReplaced(1, "Katze")))
    assert texts(chips) == ["word 2 → Katze", "cross 2·5 off", "step 3: dog"]
    assert not chips.hint.isVisible()
    qtbot.mouseClick(chips.chips[1], Qt.MouseButton.LeftButton)
    assert texts(chips) == ["word 2 → Katze", "step 3: dog"]
    assert OFF not in state.experiment.interventions


def test_a_new_chip_comes_after_those_that_are_there(
    chips: InterventionChips, state: ExperimentState
) -> None:
    state.submit(force(2, "dog"))
    state.submit(toggle(OFF.head))
    state.submit(intervene(SourceWordReplaced(1, "Katze")))
    assert texts(chips) == ["step 3: dog", "cross 2·5 off", "word 2 → Katze"]
    state.submit(intervene(HeadScaled(OFF.head, 0.5)))
    assert texts(chips)[1] == "cross 2·5 scaled 0.5"
    state.submit(undo)
    assert texts(chips) == ["step 3: dog", "cross 2·5 off", "word 2 → Katze"]


def test_undo_redo_and_reset(
    qtbot: QtBot, chips: InterventionChips, state: ExperimentState
) -> None:
    state.submit(toggle(OFF.head))
    state.submit(force(2, "dog"))
    qtbot.mouseClick(chips.reset_button, Qt.MouseButton.LeftButton)
    assert texts(chips) == []
    assert not chips.redo_button.isEnabled()
    qtbot.mouseClick(chips.undo_button, Qt.MouseButton.LeftButton)
    assert texts(chips) == ["cross 2·5 off", "step 3: dog"]
    qtbot.mouseClick(chips.redo_button, Qt.MouseButton.LeftButton)
    assert texts(chips) == []


def test_a_given_translation_is_a_chip_too(
    qtbot: QtBot, chips: InterventionChips, state: ExperimentState
) -> None:
    state.submit(set_output(GivenTarget("someone rests")))
    assert texts(chips) == ["translation given"]
    qtbot.mouseClick(chips.chips[0], Qt.MouseButton.LeftButton)
    assert not isinstance(state.experiment.output, GivenTarget)


def test_a_complete_group_of_heads_is_one_chip_that_is_removed_as_one(
    qtbot: QtBot, chips: InterventionChips, state: ExperimentState
) -> None:
    state.submit(toggle(*(head for head in state.maps.all_heads if head in HeadGroup("cross", 1))))
    state.submit(
        intervene(HeadScaled(Head("encoder", 0, 0)), FeedForwardScaled(Network("decoder", 1)))
    )
    assert texts(chips) == ["cross layer 2 off", "encoder 1·1 off", "feed-forward decoder 2 off"]
    qtbot.mouseClick(chips.chips[0], Qt.MouseButton.LeftButton)
    assert texts(chips) == ["encoder 1·1 off", "feed-forward decoder 2 off"]
    state.submit(undo)
    assert len(state.experiment.heads_off) == 1 + state.maps.shape("cross")[1]
    state.submit(undo)
    state.submit(undo)
    assert texts(chips) == [], "the group was one step"


def test_what_lies_beyond_the_end_is_said_to_be_not_reached(
    chips: InterventionChips, state: ExperimentState
) -> None:
    state.submit(force(30, "dog"))
    state.accept(FakeTranslator(None, "cpu").compare(state.experiment))
    assert texts(chips) == ["step 31: dog (not reached)"]


def test_chips_without_room_are_in_a_menu_beside_the_messages(
    theme: Theme, state: ExperimentState, qtbot: QtBot
) -> None:
    message = ElidingLabel("small", "A message that is wider than a quarter of the line. " * 3)
    chips = shown(qtbot, InterventionChips(state, message), (700, 40))
    height = chips.sizeHint().height()
    heads = [Head("cross", layer, head) for layer in (0, 1, 2) for head in (1, 3, 5)]
    state.submit(
        intervene(*(HeadScaled(head, 0.1 * head.head + 0.01 * head.layer) for head in heads))
    )
    settle_layout()
    shown_chips = [chip for chip in chips.chips if chip.isVisible()]
    (more,) = chips.findChildren(MenuButton)
    entries = [action.text() for action in more.menu().actions()]
    assert shown_chips
    assert [chip.text() for chip in chips.chips] == [*(c.text() for c in shown_chips), *entries]
    assert more.isVisible()
    assert more.text() == f"+{len(entries)} ▾"
    assert chips.sizeHint().height() == height
    assert chips.messages.width() >= 700 // 4
    more.menu().actions()[0].trigger()
    assert len(state.experiment.interventions) == len(heads) - 1
    state.submit(remove(*state.experiment.interventions[2:]))
    chips.resize(900, 40)
    settle_layout()
    assert all(chip.isVisible() for chip in chips.chips)
    assert not more.isVisible()


def test_messages_and_their_buttons_move_no_chip_and_chips_move_no_button(
    theme: Theme, state: ExperimentState, qtbot: QtBot
) -> None:
    message = ElidingLabel("warm", "A long message. " * 20)
    chips = shown(qtbot, InterventionChips(state, message), (640, 40))
    way = flat_button("Open a model…", "")
    question = flat_button("Did you mean “Männer”?", "")
    chips.add_button(way)
    chips.add_button(question)
    heads = [Head(kind, layer, 0) for kind in ("cross", "encoder") for layer in (0, 1)]
    ends = set()
    for num_changes in (0, 1, 2, 4):
        state.submit(reset)
        if num_changes:
            state.submit(toggle(*heads[:num_changes]))
        places = []
        for has_message in (False, True):
            for has_question in (False, True):
                message.setVisible(has_message)
                way.setVisible(has_message)
                question.setVisible(has_question)
                settle_layout()
                shown_chips = [chip for chip in chips.findChildren(QToolButton) if chip.isVisible()]
                places.append(
                    {
                        chip: chip.mapTo(chips, QPoint(0, 0))
                        for chip in shown_chips
                        if chip not in (way, question)
                    }
                )
                if has_message:
                    ends.add((way.geometry().left(), way.geometry().right()))
                    assert way.width() == way.sizeHint().width()
                    if has_question:
                        assert question.geometry().right() < way.x()
        assert all(place == places[0] for place in places)
    assert len(ends) == 1


def test_the_last_message_has_the_room_for_words_and_others_a_symbol(
    theme: Theme, state: ExperimentState, qtbot: QtBot
) -> None:
    comparison = ElidingLabel("small", "Original: a long sentence. " * 20)
    notice = ElidingLabel(
        "warm", "A long message, which nobody can read whole. " * 20 + "\nUnusual"
    )
    chips = shown(qtbot, InterventionChips(state, comparison, notice), (360, 40))
    for width in (240, 300, 360, 700):
        chips.resize(width, 40)
        settle_layout()
        assert notice.shown_text() == "Unusual"
        is_readable = len(comparison.shown_text()) >= 20
        assert is_readable or comparison.shown_text() == SYMBOL
    assert is_readable
    chips.resize(240, 40)
    settle_layout()
    assert comparison.shown_text() == SYMBOL
    assert comparison.width() >= comparison.fontMetrics().horizontalAdvance(SYMBOL)
    comparison.grab()
    assert comparison.toolTip() == comparison.text()


def test_reset_takes_a_given_translation_back(
    qtbot: QtBot, chips: InterventionChips, state: ExperimentState
) -> None:
    state.submit(set_output(Beam(3)))
    assert not chips.reset_button.isEnabled(), "the way of decoding is no change"
    state.submit(set_output(GivenTarget("someone rests")))
    assert chips.reset_button.isEnabled()
    qtbot.mouseClick(chips.reset_button, Qt.MouseButton.LeftButton)
    assert state.experiment.output == Beam(3)
    assert not chips.reset_button.isEnabled()
