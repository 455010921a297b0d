"""The first minute, with the bundled model: what is said is on the screen."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.lessons.lesson_file import Lesson
from augenmerk.core.maps.roles import POSITION_SHARE
from augenmerk.core.model.heads import Head
from augenmerk.core.quantities import percent_in_words
from augenmerk.core.resources import example_sentences
from augenmerk.viz_app.extensions.examples.gallery import gallery
from augenmerk.viz_app.extensions.lessons.lesson_documents import shipped_lessons
from augenmerk.viz_app.extensions.tour.part import TourPart
from augenmerk.viz_app.extensions.tour.quick_tour import QuickTour
from augenmerk.viz_app.extensions.tour.steps import UNDONE
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import reset, toggle, undo
from augenmerk.viz_app.state.map_view import Pair
from tests.conftest import open_once
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import (
    documents_of,
    examples_of,
    learn_page_of,
    lessons_of,
    offer_tour_in,
    part,
)

pytestmark = pytest.mark.heavy  # each test makes a window with a model


@pytest.fixture
def window(make_window: MakeWindow) -> MainWindow:
    window = make_window(
        None, sentence="Auf dem Markt verkauft eine junge Frau frische Blumen.", loader=open_once
    )
    offer_tour_in(window)
    return window


def steps_of(window: MainWindow) -> QuickTour:
    (tour,) = window.findChildren(QuickTour)
    return tour


@pytest.mark.slow
def test_five_steps_lead_from_a_cell_to_the_learn_page(
    qtbot: QtBot, window: MainWindow, preferences: Preferences
) -> None:
    steps, state = steps_of(window), window.state
    assert steps.isVisible()
    pinned, head = state.selection.pinned, state.selection.head
    assert pinned is not None
    assert state.translation is not None
    weight = state.translation.maps.cross[head.layer, head.head, pinned.query, pinned.key]
    assert percent_in_words(weight) in steps.text.text()
    assert weight > 0.5
    qtbot.keyClick(steps, Qt.Key.Key_Return)
    assert state.roles.of(state.selection.head) == "previous"
    assert "72 heads" in steps.text.text()
    previous = state.selection.head
    share = state.translation.maps.encoder[previous.layer, previous.head].diagonal(-1).mean()
    assert f"{percent_in_words(share)} of its attention to the token before" in steps.text.text()
    assert share > POSITION_SHARE
    own_text = state.experiment.source_text
    qtbot.mouseClick(steps.next_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "becomes" in steps.text.text(), timeout=20_000)
    assert state.experiment.heads_off == {
        head for head in state.maps.all_heads if head.kind == "cross"
    }
    assert "All cross-attention off" in steps.text.text()
    assert state.result is not None
    assert state.result.changed.text != state.result.original.text
    assert state.result.changed.text in steps.text.text()
    assert "Nothing tells the decoder" in steps.text.text()
    with qtbot.waitSignal(window.translation_shown, timeout=20_000):
        state.submit(toggle(head))
    assert "Nothing tells the decoder" not in steps.text.text(), "one head is on again"
    qtbot.mouseClick(steps.next_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "looked at" in steps.text.text(), timeout=20_000)
    assert state.result is not None
    (row,) = state.result.experiment.attention_rows
    assert state.result.original.predicted_tokens[row.row] == "garden"
    assert state.result.original.source_tokens[row.weights.index(1.0)] == "baut"
    assert state.result.changed.text != state.result.original.text
    assert f"becomes “{state.result.changed.text}”" in steps.text.text()
    assert state.selection.pinned == Pair(row.row, row.weights.index(1.0)), (
        "its row has another name now"
    )
    assert "looked at **garten**" in steps.text.text()
    qtbot.mouseClick(steps.next_button, Qt.MouseButton.LeftButton)
    assert state.experiment.source_text == own_text
    assert state.experiment.interventions == ()
    assert steps.skip_button.text() == "Done", "nothing is left to skip"
    assert window.translate_page.sentence.input.hasFocus() or not window.isActiveWindow()
    assert not preferences.has_taken_quick_tour
    qtbot.mouseClick(steps.next_button, Qt.MouseButton.LeftButton)
    assert preferences.has_taken_quick_tour
    assert learn_page_of(window) is not None
    assert learn_page_of(window).isVisible()
    qtbot.waitUntil(lambda: not window.findChildren(QuickTour))


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Right])
def test_they_have_the_keyboard_at_the_start(qtbot: QtBot, window: MainWindow, key: Qt.Key) -> None:
    steps = steps_of(window)
    focus = window.focusWidget()
    assert focus is steps.next_button
    qtbot.keyClick(focus, key)
    assert steps.place == 1
    assert steps.next_button.text() == "Switch heads off"


def test_a_lesson_and_the_quick_tour_do_not_stand_above_each_other(
    qtbot: QtBot, window: MainWindow
) -> None:
    documents_of(window).open(shipped_lessons()[0])
    qtbot.waitUntil(lambda: not window.findChildren(QuickTour), timeout=20_000)
    offer_tour_in(window)
    assert not window.findChildren(QuickTour)
    lessons_of(window).close()
    offer_tour_in(window)
    assert steps_of(window).isVisible()


def test_the_share_is_that_of_the_outlined_cell(make_window: MakeWindow) -> None:
    window = make_window(
        None, sentence="Eine Erdbeerverkäuferin lacht auf dem Wochenmarkt.", loader=open_once
    )
    window.state.settings.merges_words = True
    offer_tour_in(window)
    state, steps = window.state, steps_of(window)
    translation = state.translation
    assert translation is not None
    split = next(word for word in translation.source_words if word.end - word.start > 1)
    state.selection.pinned = pair = Pair(translation.target_words[2].start, split.start)
    told = set()
    for merges_words in (False, True):
        state.settings.merges_words = merges_words
        view = state.maps.view()
        assert view is not None
        entries = view.place_of(pair)
        assert entries is not None
        share = percent_in_words(float(view.values[entries]))
        assert f"gave {share} of its attention" in steps.text.text()
        told.add(share)
    assert len(told) == 2, "the pieces of a merged word are added up"


def test_they_are_skipped_for_good(
    qtbot: QtBot, window: MainWindow, preferences: Preferences
) -> None:
    qtbot.keyClick(steps_of(window), Qt.Key.Key_Escape)
    assert preferences.has_taken_quick_tour
    qtbot.waitUntil(lambda: not window.findChildren(QuickTour))


@pytest.mark.parametrize("key", [None, Qt.Key.Key_Escape])
@pytest.mark.parametrize("num_steps", [2, 3])
def test_skipped_they_leave_the_sentence_of_the_reader_without_changes(
    qtbot: QtBot, window: MainWindow, num_steps: int, key: Qt.Key | None
) -> None:
    steps, state, panel = steps_of(window), window.state, window.translate_page.sentence
    own_text = state.experiment.source_text
    for _ in range(num_steps):
        qtbot.mouseClick(steps.next_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: state.result is not None and state.result.is_changed, timeout=20_000)
    if key is None:
        qtbot.mouseClick(steps.skip_button, Qt.MouseButton.LeftButton)
    else:
        qtbot.keyClick(steps, key)
    assert (state.experiment.source_text, panel.input.text) == (own_text, own_text)
    assert state.experiment.interventions == ()
    panel.input.selectAll()
    qtbot.keyClicks(panel.input, "Zwei Hunde spielen.")
    qtbot.waitUntil(lambda: "dogs" in panel.sentence.text, timeout=20_000)
    assert not panel.note.isVisible(), "nothing was dropped"


def test_an_undone_change_is_not_made_again(qtbot: QtBot, window: MainWindow) -> None:
    steps, state = steps_of(window), window.state
    steps.go_on()
    with qtbot.waitSignal(window.translation_shown, timeout=20_000):
        steps.go_on()
    with qtbot.waitSignal(window.translation_shown, timeout=20_000):
        state.submit(reset)
    assert steps.text.text() == UNDONE
    steps.go_on()
    qtbot.waitUntil(lambda: "becomes" in steps.text.text(), timeout=20_000)
    qtbot.mouseClick(
        window.translate_page.sentence.interventions.undo_button, Qt.MouseButton.LeftButton
    )
    qtbot.waitUntil(lambda: steps.text.text() == UNDONE, timeout=20_000)
    assert state.experiment.attention_rows == ()
    assert state.editor.can_redo


def test_done_keeps_what_the_reader_has_typed_and_changed(qtbot: QtBot, window: MainWindow) -> None:
    steps, state, panel = steps_of(window), window.state, window.translate_page.sentence
    for _ in range(4):
        qtbot.mouseClick(steps.next_button, Qt.MouseButton.LeftButton)
    panel.input.set_text("Zwei Hunde spielen.")
    state.submit(toggle(Head("cross", 1, 5)))
    experiment = state.experiment
    qtbot.mouseClick(steps.skip_button, Qt.MouseButton.LeftButton)
    assert state.experiment == experiment


def test_a_sentence_typed_over_theirs_stays_and_changes_from_before_them_too(
    qtbot: QtBot, window: MainWindow
) -> None:
    steps, state, panel = steps_of(window), window.state, window.translate_page.sentence
    for _ in range(3):
        qtbot.mouseClick(steps.next_button, Qt.MouseButton.LeftButton)
    panel.input.set_text("Zwei Hunde spielen.")
    qtbot.mouseClick(steps.skip_button, Qt.MouseButton.LeftButton)
    assert state.experiment.source_text == "Zwei Hunde spielen."
    qtbot.waitUntil(lambda: not window.findChildren(QuickTour))
    state.submit(toggle(Head("cross", 1, 5)))
    offer_tour_in(window)
    qtbot.mouseClick(steps_of(window).skip_button, Qt.MouseButton.LeftButton)
    assert state.experiment.heads_off == {Head("cross", 1, 5)}, "the first steps change nothing"


def test_the_note_of_an_example_gives_way_to_them(qtbot: QtBot, make_window: MakeWindow) -> None:
    window = make_window(None, sentence="Zwei Hunde spielen im Schnee.", loader=open_once)
    panel = window.translate_page.sentence
    examples_of(window).show_example(gallery()[0])
    qtbot.waitUntil(panel.note.isVisible, timeout=20_000)
    offer_tour_in(window)
    assert steps_of(window).isVisible()
    assert not panel.note.isVisible(), "it speaks of another cell"


def test_results_after_them_are_none_of_their_business(qtbot: QtBot, window: MainWindow) -> None:
    steps = steps_of(window)
    qtbot.mouseClick(steps.skip_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.findChildren(QuickTour))
    # an error in a callback would fail the test
    with qtbot.waitSignal(window.translation_shown, timeout=20_000):
        window.state.submit(toggle(window.state.selection.head))
    assert not window.state.request.problem
    assert steps.place == 0, "Python still has it, as it may have until it collects its garbage"


def test_another_model_is_opened_at_the_last_step_although_it_has_fewer_steps(
    qtbot: QtBot, window: MainWindow, untrained_checkpoint: Path
) -> None:
    steps = steps_of(window)
    for _ in range(4):
        steps.go_on()
    # an error in a callback would fail the test
    with qtbot.waitSignal(window.translation_shown, timeout=20_000):
        window.open_model(untrained_checkpoint)
    assert "Type a sentence of your own" in steps.text.text()
    steps.go_on()
    qtbot.waitUntil(lambda: not window.findChildren(QuickTour))


@pytest.mark.parametrize("sentence", example_sentences()[:3])
def test_without_cross_attention_another_translation_begins(
    qtbot: QtBot, make_window: MakeWindow, sentence: str
) -> None:
    """The first example is about a man in a blue shirt, like all that the model then writes."""
    window = make_window(None, sentence=sentence, loader=open_once)
    offer_tour_in(window)
    for _ in range(2):
        steps_of(window).go_on()
    result = None

    def is_changed() -> bool:
        nonlocal result
        result = window.state.result
        return result is not None and result.is_changed

    qtbot.waitUntil(is_changed)
    assert result is not None
    before, after = (translation.text.split() for translation in (result.original, result.changed))
    assert not set(before[:4]) & set(after[:4]) - {"A", "a"}
    assert (
        f"“{result.original.text}” becomes “{result.changed.text}”" in steps_of(window).text.text()
    )


@pytest.mark.parametrize("num_steps", [2, 3])
@pytest.mark.parametrize("leaves", ["skip", "go_on"])
def test_changes_are_undone_although_another_model_was_opened(
    qtbot: QtBot, window: MainWindow, untrained_checkpoint: Path, num_steps: int, leaves: str
) -> None:
    steps, state = steps_of(window), window.state
    own_text = state.experiment.source_text
    for _ in range(num_steps):
        steps.go_on()
    qtbot.waitUntil(lambda: state.result is not None and state.result.is_changed)
    window.open_model(untrained_checkpoint)
    qtbot.waitUntil(lambda: state.model is not None and not state.model.is_bundled)
    qtbot.waitUntil(lambda: not state.request.is_running)
    assert steps.next_button.text() == ("Your own sentence", "Learn more")[num_steps - 2]
    getattr(steps, leaves)()
    assert (state.experiment.source_text, state.experiment.interventions) == (own_text, ())
    qtbot.waitUntil(lambda: state.result is not None and not state.result.is_changed)


def test_they_stand_on_the_translate_page_alone_and_once(qtbot: QtBot, window: MainWindow) -> None:
    steps = steps_of(window)
    window.pages.show("learn")
    assert not steps.isVisible()
    offer_tour_in(window)
    assert steps_of(window) is steps
    assert steps.isVisible()


def test_they_show_the_maps_that_they_speak_of(qtbot: QtBot, make_window: MakeWindow) -> None:
    window = make_window(None, sentence="Zwei Hunde spielen im Schnee.", loader=open_once)
    window.state.settings.shown = "difference"
    offer_tour_in(window)
    assert window.state.settings.shown == "changed"
    assert "outlined cell" in steps_of(window).text.text(), (
        "a strong cell is dark in one theme and light in the other"
    )


def test_they_are_not_offered_over_changes_that_are_there(
    make_window: MakeWindow, preferences: Preferences
) -> None:
    window = make_window(None, wait=False)
    assert part(window, TourPart).is_due
    window.state.submit(toggle(Head("cross", 1, 5)))
    assert not part(window, TourPart).is_due
    window.state.submit(undo)
    lessons_of(window).lesson.restore(Lesson("Restored after a crash"), None, 0, is_saved=False)
    assert not part(window, TourPart).is_due, "its notice would replace that of the unsaved changes"
    lessons_of(window).lesson.close()
    assert part(window, TourPart).is_due
    preferences.has_taken_quick_tour = True
    assert not part(window, TourPart).is_due


def test_they_wait_for_the_first_translation(qtbot: QtBot, make_window: MakeWindow) -> None:
    window = make_window(None, wait=False)
    offer_tour_in(window)
    steps = steps_of(window)
    assert not steps.isVisible()
    qtbot.waitUntil(steps.isVisible, timeout=20_000)
    assert steps.text.text()
