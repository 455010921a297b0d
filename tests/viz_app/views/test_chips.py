import math
import re
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QLabel, QToolTip
from pytestqt.qtbot import QtBot

from augenmerk.core.translation.experiment import Experiment, ForcedToken
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.views.chips import WordChips, alternatives_html
from tests.viz_app.builders import settle_layout, shown, state_of
from tests.viz_app.synthetic import make_result, make_translation

BLUE = "#0000ff"


@pytest.fixture
def state() -> ExperimentState:
    return state_of(target="a man is sleep|ing on a bench .")


@pytest.fixture
def chips(qtbot: QtBot, theme: Theme, state: ExperimentState) -> WordChips:
    chips = shown(qtbot, WordChips(state), (300, 120))
    chips.rebuild()
    return chips


def test_chips_wrap_within_the_width(chips: WordChips) -> None:
    places = [box for _, box in chips.boxes]
    assert len(places) == 8
    assert all(box.right() <= 300 for box in places)
    assert len({box.top() for box in places}) > 1
    assert chips.heightForWidth(100) > chips.heightForWidth(300)
    small = places[0].height()
    chips.resize(2000, 120)
    assert len({box.top() for _, box in chips.boxes}) == 1
    assert chips.boxes[0][1].height() > small, "a single line is large"
    assert chips.heightForWidth(2000) >= 2 * small, "there is room for a second line"


def test_words_of_a_language_written_from_right_to_left_begin_at_the_right(
    qtbot: QtBot, theme: Theme
) -> None:
    chips = shown(qtbot, WordChips(state_of(target="كلبان يلعبان في الثلج .")), (160, 120))
    chips.rebuild()
    boxes = [box for _, box in chips.boxes]
    lines = sorted({box.top() for box in boxes})
    assert len(lines) > 1
    for top in lines:
        rights = [box.right() for box in boxes if box.top() == top]
        assert rights == sorted(rights, reverse=True)
        assert 160 - 10 < rights[0] < 160
    assert all(box.left() >= 0 for box in boxes)


@pytest.mark.heavy
def test_pointing_at_a_word_shows_probability_and_five_alternatives_of_every_piece(
    qtbot: QtBot, chips: WordChips, state: ExperimentState
) -> None:
    word, box = chips.boxes[3]
    assert word.text == "sleeping"
    qtbot.mouseMove(chips, box.center())
    assert state.selection.hovered_word == word
    assert chips.card.isVisible()
    text = chips.card.label.text()
    assert text.count(">other3\u00a0") == 2
    assert "other4" not in text, "five of ten"
    qtbot.mouseMove(chips, chips.rect().bottomRight())
    assert state.selection.hovered_word is None
    qtbot.waitUntil(lambda: not chips.card.isVisible())


@pytest.mark.heavy
def test_the_card_stays_while_the_mouse_comes_to_it(qtbot: QtBot, chips: WordChips) -> None:
    qtbot.mouseMove(chips, chips.boxes[1][1].center())
    qtbot.mouseMove(chips, chips.rect().bottomRight())
    assert chips.card.isVisible()
    chips.card.enterEvent(None)  # type: ignore[arg-type]
    qtbot.wait(400)
    assert chips.card.isVisible()


def test_a_click_on_an_alternative_forces_it(chips: WordChips, state: ExperimentState) -> None:
    word, box = chips.boxes[1]
    chips.card.show_word(state.translation, word, box.bottomLeft(), BLUE)  # type: ignore[arg-type]
    chips.card.label.linkActivated.emit("1:2")
    assert state.experiment.forced == (ForcedToken(1, "other1"),)
    assert not chips.card.isVisible()


def test_the_card_asks_why_a_word_was_chosen_and_why_an_alternative_was_not(
    qtbot: QtBot, chips: WordChips, state: ExperimentState
) -> None:
    word, box = chips.boxes[3]
    chips.card.show_word(state.translation, word, box.bottomLeft(), BLUE)  # type: ignore[arg-type]
    assert "hy this word" not in chips.card.label.text(), "only where the analysis tabs are"
    chips.card.explains_words = True
    chips.card.show_word(state.translation, word, box.bottomLeft(), BLUE)  # type: ignore[arg-type]
    text = chips.card.label.text()
    assert f"href='{word.start}::why'" in text
    assert text.count("why not?") == text.count(">other") > 0
    for link, question in ((f"{word.start}::why", [3, ""]), ("4:2:why", [4, "other1"])):
        with qtbot.waitSignal(chips.card.why_requested) as asked:
            chips.card.label.linkActivated.emit(link)
        assert asked.args == question
    assert state.experiment.forced == ()


def test_the_card_names_log_probability_and_probability() -> None:
    translation = make_translation(target="a man .")
    text = alternatives_html(translation, translation.target_words[2], BLUE)
    assert "−1.25" in text
    assert f"{100 * math.exp(-1.25):.1f}%" in text


def test_tokens_are_shown_as_text_never_as_markup() -> None:
    translation = make_translation(target="<b>bold</b> .")
    assert "&lt;b&gt;bold" in alternatives_html(translation, translation.target_words[0], BLUE)


def test_a_click_picks_the_word(qtbot: QtBot, chips: WordChips, state: ExperimentState) -> None:
    word, box = chips.boxes[1]
    qtbot.mouseClick(chips, Qt.MouseButton.LeftButton, pos=box.center())
    assert state.selection.is_picked(word)
    qtbot.mouseClick(
        chips,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.ControlModifier,
        chips.boxes[2][1].center(),
    )
    assert state.selection.is_picked(word)
    assert state.selection.is_picked(chips.boxes[2][0])


def test_words_that_the_original_does_not_have_are_marked(
    chips: WordChips, state: ExperimentState
) -> None:
    experiment = Experiment("x", interventions=(ForcedToken(1, "dog"),))
    changed = make_translation(target="a dog is sleep|ing on a bench .", experiment=experiment)
    state.accept(make_result(changed, make_translation(target="a man is sleep|ing on a bench .")))
    assert [word.text for word in chips._new] == ["dog"]


@pytest.mark.heavy
def test_the_given_first_symbol_of_the_copy_task_stands_before_the_words(
    chips: WordChips, state: ExperimentState, qtbot: QtBot
) -> None:
    assert chips.start_box is None
    made = make_translation("1 5 3", "5 3")
    state.accept(make_result(replace(made, read_tokens=("1", "5", "3"))))
    assert chips.start_box is not None
    assert chips.start_box.right() < chips.boxes[0][1].left()
    point = chips.start_box.center()
    QApplication.sendEvent(chips, QHelpEvent(QEvent.Type.ToolTip, point, chips.mapToGlobal(point)))
    assert QToolTip.text().startswith(
        "Given, not predicted: every sequence of the copy task starts with 1"
    )
    on_word = chips.boxes[0][1].center()
    QApplication.sendEvent(
        chips, QHelpEvent(QEvent.Type.ToolTip, on_word, chips.mapToGlobal(on_word))
    )
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_a_word_that_cannot_be_seen_is_named_by_its_code_point(
    chips: WordChips, state: ExperimentState
) -> None:
    state.accept(make_result(make_translation(target="a \u200b man")))
    translation = state.translation
    assert translation is not None
    word = translation.target_words[1]
    places = dict(chips.boxes)
    assert places[word].width() > places[translation.target_words[0]].width() + 20
    assert "<b>U+200B</b>" in alternatives_html(translation, word, BLUE)


def test_an_alternative_reacts_to_its_whole_row(
    qtbot: QtBot, chips: WordChips, state: ExperimentState
) -> None:
    translation = state.translation
    assert translation is not None
    card = chips.card
    card.show_word(translation, translation.target_words[1], QPoint(400, 300), BLUE)
    settle_layout()
    label = card.label
    links: list[str] = []
    label.linkActivated.disconnect()
    label.linkActivated.connect(links.append)
    y = next(y for y in range(40, label.height(), 4) if _is_shaded_at(qtbot, label, QPoint(5, y)))
    shaded_text = label.text()
    link = re.findall(r"background-color.*?href='(.*?)'", shaded_text)[0]
    right_end = label.fontMetrics().horizontalAdvance("other3 −10.00 10.0%")
    for x in range(2, right_end, 3):
        assert _is_shaded_at(qtbot, label, QPoint(x, y))
        assert label.text() == shaded_text
    for x in range(2, right_end, 20):
        qtbot.mouseClick(label, Qt.MouseButton.LeftButton, pos=QPoint(x, y))
    assert set(links) == {link}
    assert len(links) == len(range(2, right_end, 20)), "no gap"


def _is_shaded_at(qtbot: QtBot, label: QLabel, point: QPoint) -> bool:
    qtbot.mouseMove(label, point)
    return "background-color" in label.text()
