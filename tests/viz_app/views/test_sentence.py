"""Sentence, translation and what there is to say about them."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from augenmerk.core.counting import display_text
from augenmerk.core.device import DeviceChoice
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.translation.experiment import Experiment, ForcedToken, GivenTarget, HeadScaled
from augenmerk.core.translation.result import ExperimentResult
from augenmerk.viz_app.state.experiment_editor import (
    edit_text,
    force,
    intervene,
    open_experiment,
    redo,
    set_output,
    toggle,
)
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.state.sentence_text import MAX_CHARACTERS, Span
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.views.sentence import SentencePanel, original_text
from augenmerk.viz_app.views.sentence_input import TargetLine
from augenmerk.viz_app.widgets.labels import ElidingLabel
from tests.viz_app.builders import settle_layout, shown
from tests.viz_app.synthetic import FakeTranslator, make_result, make_translation

MODEL = ModelInfo(
    "one", Path("one.safetensors"), preset("notebook"), DeviceChoice("cpu", "requested"), 1
)
COPY = replace(MODEL, run=preset("copy-task-small"))


@pytest.fixture
def state() -> ExperimentState:
    state = ExperimentState()
    state.begin_model(MODEL)
    state.prepare_text("ein mann .")
    return state


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme, state: ExperimentState) -> SentencePanel:
    panel = shown(qtbot, SentencePanel(state), (900, 260))
    panel.input.show_text("ein mann .")
    panel.input.text_committed.connect(lambda text, _: state.submit(edit_text(text)))
    answer(state)
    return panel


def answer(state: ExperimentState) -> ExperimentResult:
    """Computes what is asked for."""
    result = FakeTranslator(None, "cpu").compare(state.experiment)
    state.accept(result)
    return result


def test_a_translation_that_takes_long_is_cancelled_by_escape_or_where_it_is_said(
    panel: SentencePanel, state: ExperimentState, qtbot: QtBot
) -> None:
    escapes = []
    panel.escape_pressed.connect(lambda: escapes.append(state.request.is_running))
    facts, height = panel.facts.text(), panel.facts.sizeHint().height()
    state.request.begin()
    qtbot.keyClick(panel.input, Qt.Key.Key_Escape)
    assert escapes == [True], "nobody was told yet that it takes long"
    for cancel in (
        lambda: qtbot.keyClick(panel.input, Qt.Key.Key_Escape),
        lambda: panel.facts.linkActivated.emit("cancel"),
    ):
        state.submit(edit_text("zwei hunde ."))
        state.request.begin()
        qtbot.waitUntil(lambda: "Cancel</a> (Esc)" in panel.facts.text())
        assert panel.facts.sizeHint().height() == height
        cancel()
        assert not state.request.is_running
        assert panel.facts.text() == facts
        assert panel.note.text().startswith(
            "Translating was cancelled; the previous sentence is still shown."
        )
        assert state.experiment.source_text == "ein mann ."
    assert escapes == [True]
    state.submit(toggle(Head("cross", 0, 0)))
    state.request.begin()
    state.cancel()
    assert (
        panel.note.text() == "Translating was cancelled; taken back: "
        f"{display_text(HeadScaled(Head('cross', 0, 0)))}."
    )
    qtbot.keyClick(panel.input, Qt.Key.Key_Escape)
    assert escapes == [True, False]


def test_the_translation_and_its_facts_are_shown(panel: SentencePanel) -> None:
    assert panel.sentence.text == "Ein mann."
    assert panel.facts.text().startswith("log-probability −")
    assert not panel.original_line.isVisible()


def test_beside_a_changed_translation_stands_the_original_and_what_it_costs(
    panel: SentencePanel, state: ExperimentState
) -> None:
    state.submit(toggle(Head("cross", 0, 0)))
    result = answer(state)
    assert panel.sentence.text == "Off1 mann."
    assert (
        panel.original_line.whole
        == "Original: Ein mann. · now less probable: log-probability lower by 0.25"
    )
    before = result.original.log_probability
    assert panel.facts.text().endswith(
        f"of the original: {before:.2f} → {before - 0.25:.2f}".replace("-", "−")
    )
    assert [selection.cursor.selectedText() for selection in panel.sentence.extraSelections()] == [
        "Off1"
    ]


def test_where_the_measured_sentence_does_not_fit_only_the_original_is_cut(
    qtbot: QtBot, theme: Theme, state: ExperimentState
) -> None:
    state.prepare_text("ein mann .")
    answer(state)
    state.submit(toggle(Head("cross", 0, 0)))
    verdict, parts = (
        "Original: Ein mann. · now less probable",
        "parts that increased for “mann”: cross 2·5 +0.31",
    )
    line = ElidingLabel("small", original_text(answer(state), parts))
    qtbot.addWidget(line)
    expected = (
        f"{verdict}: log-probability lower by 0.25 · {parts}",
        f"{verdict}, by 0.25 · {parts}",
    )
    assert line.whole == expected[0]
    for form in expected:
        line.resize(line.fontMetrics().horizontalAdvance(form) + 1, 20)
        assert line.shown_text() == form
    line.resize(line.width() - 20, 20)
    assert line.shown_text().startswith(f"Now less probable, by 0.25 · {parts} · Orig"), (
        "only the original is cut"
    )


def test_where_two_decimals_hide_what_a_change_costs_there_are_three(
    panel: SentencePanel, state: ExperimentState
) -> None:
    state.submit(toggle(Head("cross", 0, 0)))
    result = answer(state)
    before, *rest = result.original.log_probabilities
    original = replace(
        result.original, log_probabilities=(before - sum((before, *rest)) - 1.282, *rest)
    )
    for change, told in (
        (-0.0015, "−1.282 → −1.284"),
        (0.0, "−1.28"),
        (-0.0001, "−1.28"),
        (-0.25, "−1.28 → −1.53"),
    ):
        now = (original.log_probabilities[0] + change, *rest)
        state.accept(replace(result, original=original, original_log_probabilities=now))
        assert panel.facts.text().endswith(f"of the original: {told}")


def test_the_stated_change_is_the_difference_of_the_shown_log_probabilities(
    panel: SentencePanel, state: ExperimentState
) -> None:
    state.submit(toggle(Head("cross", 0, 0)))
    result = answer(state)
    for before, now, change, by in (
        (-1.4949, -1.4651, "−1.49 → −1.47", "higher by 0.02"),  # the change is 0.0298
        (-1.4851, -1.7551, "−1.49 → −1.76", "lower by 0.27"),
        (-1.4949, -1.4951, "−1.49 → −1.50", "lower by 0.01"),
        (-1.4921, -1.4879, "−1.492 → −1.488", "higher by 0.004"),
    ):
        original = replace(result.original, log_probabilities=(before,))
        state.accept(replace(result, original=original, original_log_probabilities=(now,)))
        assert panel.facts.text().endswith(f"of the original: {change}")
        assert panel.original_line.whole.endswith(f": log-probability {by}")


def test_where_the_words_stay_this_is_said(panel: SentencePanel, state: ExperimentState) -> None:
    state.submit(force(1, "mann"))
    answer(state)
    assert panel.original_line.whole.startswith("Same words as without these changes · ")
    result, original = state.result, state.original
    assert result is not None
    assert original is not None
    for change, measured in (
        (0.0, "equally probable"),
        (-0.0001, "equally probable"),
        (-0.004, "now less probable: log-probability lower by 0.004"),
        (-0.5, "now less probable: log-probability lower by 0.50"),
        (1.25, "now more probable: log-probability higher by 1.25"),
    ):
        first, *rest = original.log_probabilities
        state.accept(replace(result, original_log_probabilities=(first + change, *rest)))
        assert panel.original_line.whole == f"Same words as without these changes · {measured}"


def test_a_forced_word_is_not_said_to_leave_the_original_as_probable_as_before(
    panel: SentencePanel, state: ExperimentState
) -> None:
    state.submit(force(1, "frau"))
    result = answer(state)
    assert result.changed.text != result.original.text
    state.accept(replace(result, original_log_probabilities=result.original.log_probabilities))
    assert panel.original_line.whole == f"Original: {result.original.text}"


def test_a_part_is_offered_where_the_words_stay(
    panel: SentencePanel, state: ExperimentState, qtbot: QtBot
) -> None:
    panel.resize(1400, 200)
    state.submit(force(1, "mann"))
    answer(state)
    network = Network("decoder", 2)
    suggestion = panel.interventions.suggestion
    panel.interventions.suggest(network, "mann")
    assert suggestion.isVisible()
    assert suggestion.text() == "Try feed-forward decoder 3 off"
    qtbot.mouseClick(suggestion, Qt.MouseButton.LeftButton)
    assert state.experiment.networks_off == {network}
    assert not suggestion.isVisible(), "until the next measurement"


def test_beside_a_given_translation_stands_the_models_own(
    panel: SentencePanel, state: ExperimentState
) -> None:
    state.submit(set_output(GivenTarget("someone rests")))
    answer(state)
    assert panel.sentence.text == "someone rests"
    assert panel.original_line.text() == "The model's own: Ein mann."
    assert "per token" in panel.facts.text()
    state.submit(toggle(Head("cross", 0, 0)))
    result = answer(state)
    assert result.own is not None
    texts = [
        f"{translation.log_probability:.2f}".replace("-", "−")
        for translation in (result.original, result.changed)
    ]
    change = " → ".join(dict.fromkeys(texts))
    assert panel.facts.text().startswith(f"log-probability {change}\n"), "what the change costs it"
    assert panel.original_line.whole.startswith(
        ("Now less probable: log-probability lower by ", "Equally probable")
    )
    assert panel.original_line.whole.endswith(" · The model's own: Ein mann.")


@pytest.mark.parametrize("is_awaited", [False, True])
def test_undo_while_the_translation_is_edited_brings_back_the_text_before(
    qtbot: QtBot, panel: SentencePanel, state: ExperimentState, is_awaited: bool
) -> None:
    qtbot.mouseClick(panel.edit_button, Qt.MouseButton.LeftButton)
    panel.sentence.set_text("a person")
    answer(state)
    panel.sentence.setPlainText("a person rests")
    if not is_awaited:
        panel.sentence.commit(is_asked=False)
        answer(state)
    qtbot.keyClick(panel.sentence, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    answer(state)
    assert state.experiment.output == GivenTarget("a person")
    assert panel.sentence.text == "a person", "what is scored is what stands there"
    assert panel.sentence.is_editable
    qtbot.keyClick(panel.sentence, Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    assert panel.sentence.text == "a person rests"


def test_editing_the_translation_gives_it(
    qtbot: QtBot, panel: SentencePanel, state: ExperimentState
) -> None:
    qtbot.mouseClick(panel.edit_button, Qt.MouseButton.LeftButton)
    panel.sentence.show_text("a person")
    qtbot.keyClick(panel.sentence, Qt.Key.Key_Return)
    assert state.experiment.output == GivenTarget("a person")


def test_after_editing_keys_do_not_write_into_the_source(
    qtbot: QtBot, panel: SentencePanel
) -> None:
    panel.fit(900, 500)  # a small page, where the words take the place of the sentence again
    qtbot.mouseClick(panel.edit_button, Qt.MouseButton.LeftButton)
    qtbot.keyClick(panel.sentence, Qt.Key.Key_Escape)
    assert not panel.sentence.isVisible()
    assert panel.window().focusWidget() is panel.edit_button


def test_typing_and_undoing_are_one_history(
    qtbot: QtBot, panel: SentencePanel, state: ExperimentState
) -> None:
    state.submit(force(1, "dog"))
    answer(state)
    panel.input.setFocus()
    qtbot.keyClicks(panel.input, " heute")
    qtbot.keyClick(panel.input, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert panel.input.text == "ein mann ."
    assert state.experiment.forced == (ForcedToken(1, "dog"),)
    assert state.editor.can_redo, "what was typed and not yet told can be done again"
    qtbot.keyClick(panel.input, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert state.experiment == Experiment("ein mann .")
    state.submit(redo)
    state.submit(redo)
    assert panel.input.text == "ein mann . heute"


def test_what_was_dropped_and_what_was_refused_is_said(
    panel: SentencePanel, state: ExperimentState
) -> None:
    state.submit(force(1, "dog"))
    state.submit(edit_text("zwei hunde"))
    assert "step 2: dog" in panel.note.text()
    state.request.begin()
    state.refuse("The text is empty.")
    assert panel.note.text().startswith("The text is empty.")
    answer(state)
    assert "The text is empty." not in panel.note.text()


def test_a_typed_sentence_that_is_refused_stays_to_be_corrected_and_undo_takes_it_back(
    qtbot: QtBot, panel: SentencePanel, state: ExperimentState
) -> None:
    panel.input.set_text("far too long")
    state.request.begin()
    state.refuse("That is far too long.")
    assert panel.input.text == "far too long"
    assert panel.note.whole == "That is far too long. The previous sentence is still shown."
    assert state.experiment == Experiment("ein mann .")
    qtbot.keyClick(panel.input, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    state.request.begin()
    answer(state)
    assert panel.input.text == "ein mann ."
    assert not panel.note.isVisible()


def test_the_reason_of_a_refusal_takes_the_place_of_notes_on_the_previous_sentence(
    panel: SentencePanel, state: ExperimentState
) -> None:
    state.submit(toggle(Head("cross", 0, 0)))
    hinted = FakeTranslator(None, "cpu").compare(state.experiment)
    translation = replace(hinted.original, hint="This looks like English. Enter a German sentence.")
    state.accept(replace(hinted, original=translation))
    notes = panel.coverage_notice, panel.original_line
    assert all(note.isVisible() for note in notes)
    reason = "Nothing in it can be read. Enter at least two numbers from 1 to 10."
    for text in ("Ein Hund", "Ein Hund bellt"):
        panel.input.set_text(text)
        state.request.begin()
        state.refuse(reason)
        settle_layout()
        assert panel.is_refused
        assert panel.note.shown_text().startswith(reason[:30])
        assert not any(note.isVisible() for note in notes)
        assert not panel.copy_button.isEnabled()
    panel.resize(700, 260)
    settle_layout()
    assert panel.note.shown_text().startswith(reason[:12])
    panel.undo()
    state.request.begin()
    state.accept(replace(hinted, original=translation))
    assert not panel.is_refused
    assert all(note.isVisible() for note in notes)
    assert panel.copy_button.isEnabled()


def test_a_sentence_from_elsewhere_that_is_refused_gives_way_to_the_one_shown(
    panel: SentencePanel, state: ExperimentState
) -> None:
    result = FakeTranslator(None, "cpu").compare(state.experiment)
    state.accept(replace(result, original=replace(result.original, unknown_source_positions=(1,))))
    marked = len(panel.input.extraSelections())
    assert marked == 1
    state.submit(open_experiment(Experiment("far too long")))
    assert panel.input.text == "far too long"
    state.refuse("That is far too long.")
    assert panel.input.text == "ein mann ."
    assert len(panel.input.extraSelections()) == marked


def test_picked_words_shade_the_source_words_they_look_at(
    panel: SentencePanel, state: ExperimentState
) -> None:
    assert state.translation is not None
    state.intents.choose_head(Head("cross", 0, 0))
    state.selection.pick_word(state.translation.target_words[0])
    assert panel.input.extraSelections()
    state.selection.clear_marks()
    assert not panel.input.extraSelections()


def test_nothing_is_shown_of_a_cleared_result(panel: SentencePanel, state: ExperimentState) -> None:
    state.accept(make_result(make_translation(notes=("Line breaks were read as spaces.",))))
    assert panel.note.text() == "Line breaks were read as spaces."
    state.clear()
    assert panel.sentence.text == ""
    assert not panel.interventions.hint.isVisible()
    assert panel.facts.text() == ""


def test_the_changed_word_is_marked_and_not_an_equal_one_before_it(
    panel: SentencePanel, state: ExperimentState
) -> None:
    before = make_translation("x", "a man sees the dog .")
    after = make_translation("x", "a man sees a dog .")
    state.accept(make_result(after, before))
    (selection,) = panel.sentence.extraSelections()
    cursor = selection.cursor
    assert cursor.selectedText() == "a"
    assert cursor.selectionStart() == panel.sentence.text.index(" a dog") + 1


def test_changed_words_stay_marked_in_another_theme(qtbot: QtBot) -> None:
    line = TargetLine()
    qtbot.addWidget(line)
    line.show_text("Two dogs run.")
    line.emphasize([Span(9, 12)])
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    for theme in (Theme.dark(), Theme.light()):
        theme.apply(app)
        assert [selection.cursor.selectedText() for selection in line.extraSelections()] == ["run"]


@pytest.mark.parametrize("height", [700, 900])
def test_the_original_and_the_notes_share_a_line_that_is_always_there(
    panel: SentencePanel, state: ExperimentState, height: int
) -> None:
    panel.fit(2000, height)
    state.submit(intervene(HeadScaled(Head("cross", 0, 0)), ForcedToken(1, "dog")))
    answer(state)
    settle_layout()
    height_before = panel.sizeHint().height()
    panel.original_line.setText("Original: " + "a word " * 90)
    state.report("A notice.")
    settle_layout()
    assert panel.original_line.isVisible()
    assert panel.note.isVisible()
    assert panel.original_line.shown_text().endswith("…")
    assert panel.sizeHint().height() == height_before


def test_an_emptied_sentence_leaves_the_end_of_the_line_and_undo_where_they_are(
    qtbot: QtBot, panel: SentencePanel, state: ExperimentState
) -> None:
    button = QPushButton("Analysis")
    panel.rows.add_button(button)
    answer(state)
    state.submit(intervene(HeadScaled(Head("cross", 0, 0))))
    answer(state)
    settle_layout()
    right = button.geometry().right()
    panel.input.show_text("")
    state.clear()
    settle_layout()
    assert button.geometry().right() == right
    assert panel.interventions.undo_button.isVisible()
    qtbot.mouseClick(panel.interventions.undo_button, Qt.MouseButton.LeftButton)
    assert panel.input.text == "ein mann ."
    assert state.experiment.heads_off, "as Ctrl+Z does: the text comes back first"


@pytest.mark.parametrize(
    ("field", "told"),
    [
        (
            "input",
            "A sentence can have at most 5,000 characters; 609 more characters were left out.",
        ),
        (
            "sentence",
            (
                "The translation is longer than 5,000 characters: its last 609 characters are not "
                "shown"
            ),
        ),
    ],
)
def test_a_text_that_is_too_long_is_told_of_by_its_name(
    qtbot: QtBot, theme: Theme, field: str, told: str
) -> None:
    panel = SentencePanel(ExperimentState())
    qtbot.addWidget(panel)
    getattr(panel, field).show_text("x" * (MAX_CHARACTERS + 609))
    assert panel.note.text().startswith(told)
