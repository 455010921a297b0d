"""The current experiment step by step, driven by clicks on small real models."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.counting import display_text
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
)
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.tabs.steps import view
from augenmerk.viz_app.extensions.tabs.steps.state import StepsState
from augenmerk.viz_app.extensions.tabs.steps.view import OTHER_PREFIX, TICKS, StepsTab, TokenChip
from augenmerk.viz_app.state.experiment_editor import (
    edit_text,
    force,
    intervene,
    reset,
    set_output,
    toggle,
    undo,
)
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.translate.analysis_tab import AnalysisContext
from tests.viz_app.builders import settle_layout, shown, text_in
from tests.viz_app.extensions.tabs.conftest import SENTENCE, MakeContext, ShowTab, load, settle


@pytest.fixture(params=["words", "pieces", "single"])
def context(request: pytest.FixtureRequest, make_context: MakeContext) -> AnalysisContext:
    made = make_context(request.param)
    made.state.selection.choose(Head("cross", 0, 0))
    return made


@pytest.fixture
def words(make_context: MakeContext) -> AnalysisContext:
    """The model of whole words alone."""
    made = make_context("words")
    made.state.selection.choose(Head("cross", 0, 0))
    return made


@pytest.fixture
def tab(context: AnalysisContext, show_tab: ShowTab) -> StepsTab:
    return show_tab(context, StepsTab)


@pytest.fixture
def words_tab(words: AnalysisContext, show_tab: ShowTab) -> StepsTab:
    return show_tab(words, StepsTab)


def _click(qtbot: QtBot, widget: QWidget, at: QPoint | None = None) -> None:
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at if at is not None else QPoint())


def _click_candidate(qtbot: QtBot, tab: StepsTab, index: int) -> None:
    _click(qtbot, tab.candidates, tab.candidates.label_place(index).center().toPoint())
    settle(qtbot, tab)


def _type_word(qtbot: QtBot, tab: StepsTab, text: str) -> None:
    tab.word.clear()
    qtbot.keyClicks(tab.word, text)
    qtbot.keyClick(tab.word, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not tab.request.is_running, timeout=10_000)
    settle(qtbot, tab)


def _chips(tab: StepsTab) -> tuple[str, ...]:
    return tuple(chip.text for chip in tab.tokens.chips)


def _changed(tab: StepsTab) -> list[int]:
    """The steps whose tips name a change."""
    steps = [step for step, chip in enumerate(tab.tokens.chips) if "\n" in chip.tip]
    coloured = {step for step, chip in enumerate(tab.tokens.chips) if chip.is_changed}
    assert coloured == {*steps, *tab.steps.new_steps}
    return steps


def test_the_steps_are_those_of_the_translation_that_is_shown(tab: StepsTab) -> None:
    translation = tab.state.translation
    assert translation is not None
    assert _chips(tab) == translation.predicted_tokens
    assert _changed(tab) == []
    assert [chip.is_current for chip in tab.tokens.chips] == [True] + [False] * (
        len(translation.predicted_tokens) - 1
    )
    assert [bar.label for bar in tab.candidates.bars] == [
        alternative.token for alternative in translation.alternatives[0]
    ]
    assert len(tab.candidates.bars) == 10
    assert tab.candidates.bars[0].is_lit
    assert f"entropy {translation.entropies[0]:.2f} nats" in text_in(tab)
    assert not tab.unreached.isVisible()


def test_going_on_selects_the_step_in_the_maps(tab: StepsTab, qtbot: QtBot) -> None:
    selection = tab.state.selection
    assert selection.step == 0
    _click(qtbot, tab.forward)
    assert (tab.steps.position, selection.step) == (1, 1)
    _click(qtbot, tab.back)
    assert selection.step == 0
    selection.step = 1
    assert tab.steps.position == 1, "a step that is chosen elsewhere is looked at here"
    assert tab.tokens.chips[1].is_current
    tab.hide()
    assert selection.step is None
    tab.show()
    assert selection.step == 1


def test_a_candidate_is_forced_by_a_click_and_let_go_by_another(
    tab: StepsTab, qtbot: QtBot, translators: dict[str, Translator], request: pytest.FixtureRequest
) -> None:
    translator = translators[request.node.callspec.params["context"]]
    original = tab.state.translation
    assert original is not None
    _click(qtbot, tab.forward)
    candidate = tab.state.translation.alternatives[1][1]
    _click_candidate(qtbot, tab, 1)
    assert tab.state.experiment.interventions == (ForcedToken(1, candidate.entry),)
    translation = tab.state.translation
    expected = translator.run(
        Experiment(SENTENCE, interventions=(ForcedToken(1, candidate.entry),))
    )
    assert translation.predicted_ids == expected.predicted_ids
    assert tab.tokens.chips[1].text == candidate.token
    assert _changed(tab) == [1]
    assert tab.steps.position == 1
    assert tab.candidates.bars[1].is_lit
    assert tab.candidates.bars[1].is_changed
    assert "Click to let the model choose" in tab.candidates.bars[1].tip
    assert "Click to force it here" in tab.candidates.bars[0].tip
    assert "rank 2 chosen" in text_in(tab)
    _click_candidate(qtbot, tab, 1)
    assert tab.state.experiment.interventions == ()
    assert _chips(tab) == original.predicted_tokens
    tab.state.submit(undo)
    settle(qtbot, tab)
    assert _changed(tab) == [1]


def test_forcing_one_step_keeps_another(tab: StepsTab, qtbot: QtBot) -> None:
    _click_candidate(qtbot, tab, 1)
    _click(qtbot, tab.forward)
    _click_candidate(qtbot, tab, 2)
    assert [forced_token.step for forced_token in tab.state.experiment.forced] == [0, 1]
    assert _changed(tab) == [0, 1]
    _click_candidate(qtbot, tab, 0)
    assert len(tab.state.experiment.forced) == 2, (
        "another token at the same step takes the place of the first"
    )


@pytest.mark.parametrize("kind", ["cross", "decoder"])
def test_a_row_that_is_set_is_used_scaled_and_let_go(
    words_tab: StepsTab, qtbot: QtBot, kind: str
) -> None:
    tab = words_tab
    head = Head(kind, 1, 2)  # type: ignore[arg-type]
    tab.state.selection.choose(head)
    for _ in range(3):
        _click(qtbot, tab.forward)
    translation = tab.state.translation
    assert translation is not None
    labels = translation.source_tokens if kind == "cross" else translation.read_tokens[:4]
    assert tuple(bar.label for bar in tab.row.bars) == labels
    own = translation.maps.of_kind(kind)[1, 2, 3, : len(labels)]  # type: ignore[arg-type]
    assert [bar.value for bar in tab.row.bars] == pytest.approx(own.tolist())
    _click(qtbot, tab.row, tab.row.label_place(2).center().toPoint())
    assert tab.editor is not None
    assert tab.editor.weights[2] == 1
    _click(qtbot, tab.editor.bars, tab.editor.bars.bar_place(1).center().toPoint())
    assert tab.state.experiment.interventions == (), "not before it is said"
    _click(qtbot, tab.editor.set_button)
    settle(qtbot, tab)
    (row,) = tab.state.experiment.interventions
    assert isinstance(row, AttentionRow)
    assert (row.head, row.row) == (head, 3)
    assert row.weights[1:3] == pytest.approx((0.5, 0.5), abs=0.05)
    assert [bar.value for bar in tab.row.bars] == pytest.approx(row.weights)
    assert "set by hand" in text_in(tab)
    assert tab.steps.position == 3
    assert _changed(tab) == [3]
    _click(qtbot, tab.row, tab.row.bar_place(0).center().toPoint())
    _click(qtbot, tab.editor.reset_button)
    settle(qtbot, tab)
    assert tab.state.experiment.interventions == ()
    assert [bar.value for bar in tab.row.bars] == pytest.approx(own.tolist())


def test_a_click_on_a_bar_opens_the_row_with_this_share_and_changes_nothing(
    words_tab: StepsTab, qtbot: QtBot
) -> None:
    tab = words_tab
    shown_values = [bar.value for bar in tab.row.bars]
    tab.row.bar_clicked.emit(1, 0.25)
    assert tab.editor is not None
    assert tab.editor.weights[1] == 0.25
    assert sum(tab.editor.weights) == pytest.approx(1)
    tab.editor.close()
    assert [bar.value for bar in tab.row.bars] == shown_values
    assert tab.state.experiment.interventions == ()


def test_a_forced_end_ends_the_sentence_and_names_what_is_no_longer_reached(
    words_tab: StepsTab, qtbot: QtBot
) -> None:
    tab = words_tab
    entry = tab.state.translation.alternatives[2][1].entry  # type: ignore[union-attr]
    tab.state.submit(force(2, entry))
    settle(qtbot, tab)
    _type_word(qtbot, tab, "<eos>")
    assert tab.problem.text() == ""
    assert _chips(tab) == ("<eos>",)
    assert not tab.forward.isEnabled()
    assert tab.unreached.isVisible()
    assert display_text(ForcedToken(2, entry)) in tab.unreached.text()
    tab.state.submit(reset)
    settle(qtbot, tab)
    assert not tab.unreached.isVisible()
    assert len(_chips(tab)) > 1


@pytest.mark.heavy
def test_any_word_is_forced_in_all_of_its_pieces(
    make_context: MakeContext, show_tab: ShowTab, qtbot: QtBot, translators: dict[str, Translator]
) -> None:
    tab = show_tab(make_context("pieces"), StepsTab)
    _click(qtbot, tab.forward)
    _type_word(qtbot, tab, "worker")
    forced = tab.state.experiment.forced
    assert [forced_token.step for forced_token in forced] == list(range(1, 1 + len(forced)))
    vocabulary = translators["pieces"].checkpoint.codecs.target.vocabulary
    assert "".join(forced_token.token for forced_token in forced).strip("▁") == "worker"
    assert all(forced_token.token in vocabulary.ids for forced_token in forced)
    assert "worker" in [word.text for word in tab.state.translation.target_words]  # type: ignore[union-attr]
    assert tab.word.text() == ""


def test_a_word_that_the_vocabulary_does_not_have_is_refused_with_the_reason(
    words_tab: StepsTab, qtbot: QtBot
) -> None:
    tab = words_tab
    before = tab.state.translation
    _type_word(qtbot, tab, "xylophonically")
    assert "has no 'xylophonically'" in tab.problem.text()
    assert tab.problem.isVisible()
    assert tab.word.text() == "xylophonically", "to be corrected"
    assert tab.state.translation is before
    _click(qtbot, tab.forward)
    assert not tab.problem.isVisible(), "it was about the other step"
    _click(qtbot, tab.back)
    _type_word(qtbot, tab, "<pad>")
    assert "can never be chosen" in tab.problem.text()
    _type_word(qtbot, tab, "dog")
    assert not tab.problem.isVisible()
    assert tab.state.experiment.interventions == (ForcedToken(0, "dog"),)
    tab.word.setText("  ")
    tab.word.returnPressed.emit()
    assert not tab.request.is_running, "nothing was typed"


@pytest.mark.heavy
def test_a_token_of_a_given_translation_is_shown_and_forcing_lets_the_model_decode_again(
    words_tab: StepsTab, qtbot: QtBot
) -> None:
    tab = words_tab
    tab.state.submit(set_output(GivenTarget("The dog sleeps in the grass .")))
    settle(qtbot, tab)
    translation = tab.state.translation
    assert translation is not None
    assert translation.is_given
    assert _chips(tab) == translation.predicted_tokens
    for step, rank in enumerate(translation.ranks):
        tab.tokens.clicked.emit(step)
        lit = [bar for bar in tab.candidates.bars if bar.is_lit]
        assert [bar.label for bar in lit] == [translation.predicted_tokens[step]]
        assert len(tab.candidates.bars) == (10 if rank <= 10 else 11)
        if rank > 10:
            assert tab.candidates.bars[-1].is_lit
            _click_candidate(qtbot, tab, 10)
            assert tab.state.translation is translation, "it is there already"
    assert max(translation.ranks) > 10
    tab.tokens.clicked.emit(0)
    _type_word(qtbot, tab, "dog")
    assert not tab.state.translation.is_given
    assert tab.state.experiment.interventions == (ForcedToken(0, "dog"),)


def test_a_head_of_the_encoder_has_no_step(
    make_context: MakeContext, show_tab: ShowTab, qtbot: QtBot
) -> None:
    context = make_context("single", "Hund")
    context.state.selection.choose(Head("encoder", 0, 0))
    tab = show_tab(context, StepsTab)
    assert not tab.row.isVisible()
    assert "Choose a head of the decoder" in text_in(tab)
    _click_candidate(qtbot, tab, 1)
    assert _changed(tab) == [0]
    context.state.submit(intervene(AttentionRow(Head("encoder", 0, 0), 1, (1.0, 0.0, 0.0))))
    settle(qtbot, tab)
    assert _changed(tab) == [0], "a row of the encoder is of no step"


def test_a_head_that_is_off_is_told(words_tab: StepsTab, qtbot: QtBot) -> None:
    assert "off" not in words_tab._row_title.text()
    words_tab.state.submit(intervene(HeadScaled(Head("cross", 0, 0))))
    settle(qtbot, words_tab)
    assert "the head is off" in text_in(words_tab)


@pytest.mark.heavy
def test_playing_goes_to_the_end_and_stops(
    words: AnalysisContext, show_tab: ShowTab, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("augenmerk.viz_app.extensions.tabs.steps.view.PLAY_INTERVAL_MS", 1)
    tab = show_tab(words, StepsTab)
    last = tab.steps.num_steps - 1
    assert last > 0
    for _ in range(2):  # once more from the beginning
        _click(qtbot, tab.play)
        qtbot.waitUntil(lambda: tab.steps.position == last and not tab.play.isChecked())
        assert not tab.timer.isActive()


def test_nothing_plays_out_of_sight_or_beside_another_result(
    words_tab: StepsTab, qtbot: QtBot
) -> None:
    tab = words_tab
    _click(qtbot, tab.play)
    assert tab.timer.isActive()
    tab.hide()
    assert not tab.timer.isActive()
    tab.show()
    _click(qtbot, tab.play)
    tab.state.submit(toggle(Head("cross", 0, 0)))
    settle(qtbot, tab)
    assert not tab.timer.isActive()


def test_another_sentence_begins_anew_and_another_model_is_followed(
    words_tab: StepsTab, qtbot: QtBot, model_files: dict[str, Path]
) -> None:
    tab = words_tab
    _click(qtbot, tab.forward)
    _click_candidate(qtbot, tab, 1)
    tab.state.submit(edit_text("Ein Mann ."))
    settle(qtbot, tab)
    assert tab.steps.position == 0
    assert _changed(tab) == []
    assert _chips(tab) == tab.state.translation.predicted_tokens  # type: ignore[union-attr]
    before = tab.state.translation
    load(tab.context, model_files["single"])
    qtbot.waitUntil(lambda: tab.state.translation is not before, timeout=10_000)
    assert _chips(tab) == tab.state.translation.predicted_tokens  # type: ignore[union-attr]


def test_before_any_translation_there_is_nothing_to_step_through(
    context: AnalysisContext, show_tab: ShowTab
) -> None:
    context.state.clear()
    tab = show_tab(context, StepsTab)
    assert "no translation yet" in text_in(tab)
    assert not tab._body.isVisible()
    assert not any(button.isEnabled() for button in (tab.back, tab.forward, tab.play))
    state = StepsState(ExperimentState())
    assert (state.candidates(), state.row(), state.num_steps, state.go(0)) == ([], None, 0, False)


def test_a_long_decoding_leaves_the_candidates_in_sight(tab: StepsTab, qtbot: QtBot) -> None:
    tab.tokens.show_chips([TokenChip("ladder") for _ in range(182)])
    tab.tokens_area.show_current(0)
    qtbot.waitUntil(lambda: tab.tokens.height() > 2 * tab.tokens_area.height())
    settle_layout()
    assert not tab.candidates.visibleRegion().isEmpty()
    assert not tab.row.visibleRegion().isEmpty()
    for index in (0, 90, 181, 0):
        tab.tokens_area.show_current(index)
        assert tab.tokens.visibleRegion().contains(tab.tokens.place_of(index))
        assert not tab.tokens.visibleRegion().contains(
            tab.tokens.place_of(181 if index < 90 else 0)
        )


def test_in_a_low_panel_most_candidates_are_in_sight_whatever_the_number_of_tokens(
    words_tab: StepsTab, qtbot: QtBot
) -> None:
    tab = words_tab
    tab.window().resize(430, 480)
    tab.tokens.show_chips([TokenChip("ladder") for _ in range(182)])
    tab.tokens_area.show_current(0)
    line = tab.candidates.label_place(0).height()
    qtbot.waitUntil(
        lambda: tab.candidates.visibleRegion().boundingRect().height() >= 8 * line, timeout=2000
    )
    assert tab.tokens_area.height() >= 2 * tab.tokens.line_height - 1
    tab.window().resize(430, 900)
    qtbot.waitUntil(
        lambda: tab.tokens_area.height() >= 3 * tab.tokens.line_height - 1, timeout=2000
    )


@pytest.mark.heavy
def test_going_on_scrolls_to_the_step(
    tab: StepsTab, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "NUM_LINES", 1)
    tab.redraw()
    tab.window().resize(200, 700)
    qtbot.waitUntil(lambda: tab.tokens.height() > tab.tokens_area.height())
    last = len(tab.tokens.chips) - 1
    assert not tab.tokens.visibleRegion().contains(tab.tokens.place_of(last))
    for step in range(1, last + 1):
        _click(qtbot, tab.forward)
        assert tab.tokens.visibleRegion().contains(tab.tokens.place_of(step))


@pytest.mark.parametrize("width", [340, 430])
def test_nothing_moves_under_the_mouse_and_nothing_is_cut(
    words: AnalysisContext, show_tab: ShowTab, qtbot: QtBot, width: int
) -> None:
    tab = show_tab(words, StepsTab, width=width, height=900)
    assert isinstance(tab, StepsTab)
    settle_layout()
    before = tab.row.mapTo(tab, tab.row.label_place(2).center().toPoint())
    _click(qtbot, tab.row, tab.row.label_place(2).center().toPoint())
    assert tab.editor is not None
    _click(qtbot, tab.editor.set_button)
    settle(qtbot, tab)
    settle_layout()
    assert tab.row.mapTo(tab, tab.row.label_place(2).center().toPoint()) == before
    hint = tab.word.placeholderText()
    assert tab.word.fontMetrics().horizontalAdvance(hint) < tab.word.contentsRect().width() - 20
    for bars in (tab.candidates, tab.row):
        assert bars.bar_place(0).right() + bars.texts_width < bars.width()
        assert bars.visibleRegion().contains(bars.rect())


def _has_focus(tab: StepsTab) -> bool:
    focused = tab.window().focusWidget()
    return focused is not None and tab.isAncestorOf(focused)


def test_keyboard_focus_stays_in_the_tab_when_a_row_is_set(
    words_tab: StepsTab, qtbot: QtBot
) -> None:
    tab = words_tab
    tab.window().activateWindow()
    qtbot.waitUntil(tab.window().isActiveWindow)
    _click(qtbot, tab.row, tab.row.label_place(2).center().toPoint())
    tab.play.setFocus()
    assert tab.editor is not None
    qtbot.keyClick(tab.editor.set_button, Qt.Key.Key_Space)
    settle(qtbot, tab)
    assert tab.state.experiment.attention_rows
    assert _has_focus(tab)


@pytest.mark.heavy
def test_keyboard_focus_stays_in_the_tab_at_the_last_step(
    words_tab: StepsTab, qtbot: QtBot
) -> None:
    tab = words_tab
    tab.window().activateWindow()
    qtbot.waitUntil(tab.window().isActiveWindow)
    tab.forward.setFocus()
    for _ in range(tab.steps.num_steps):
        if tab.forward.hasFocus():
            qtbot.keyClick(tab.forward, Qt.Key.Key_Space)
    assert not tab.forward.isEnabled()
    assert _has_focus(tab)


def test_the_original_stands_beside_as_ticks(words_tab: StepsTab, qtbot: QtBot) -> None:
    state = words_tab.state
    assert not any(bar.before_text for bar in (*words_tab.candidates.bars, *words_tab.row.bars))
    state.submit(toggle(Head("cross", 1, 0)))
    settle(qtbot, words_tab)
    original, bars = state.original, words_tab.candidates.bars
    assert original is not None
    known = {alternative.token: alternative.probability for alternative in original.alternatives[0]}
    assert {bar.label: bar.before for bar in bars if bar.label in known} == {
        bar.label: pytest.approx(known[bar.label]) for bar in bars if bar.label in known
    }
    assert any(bar.before is not None and bar.before != bar.value for bar in bars)
    assert [bar.before for bar in words_tab.row.bars] == pytest.approx(
        original.maps.cross[0, 0, 0].tolist()
    )
    assert TICKS in text_in(words_tab)


def test_no_original_stands_beside_a_step_that_reads_other_tokens(
    words_tab: StepsTab, qtbot: QtBot
) -> None:
    first = words_tab.steps.candidates()
    other = next(candidate for candidate in first if not candidate.is_chosen)
    words_tab.state.submit(force(0, other.entry))
    settle(qtbot, words_tab)
    assert any(bar.before is not None for bar in words_tab.candidates.bars)
    assert words_tab.steps.new_steps >= {0}
    assert _changed(words_tab) == [0]
    words_tab._go(1)
    assert not any(
        bar.before is not None for bar in (*words_tab.candidates.bars, *words_tab.row.bars)
    )
    assert OTHER_PREFIX in text_in(words_tab)


def test_the_field_for_another_word_is_whole_in_a_low_panel(words_tab: StepsTab) -> None:
    words_tab.resize(380, 360)
    settle_layout()
    words_tab.redraw()
    settle_layout()
    assert words_tab.word.visibleRegion().boundingRect() == words_tab.word.rect()


def test_chips_of_a_right_to_left_language_begin_at_the_right(qtbot: QtBot, theme: Theme) -> None:
    line = shown(qtbot, view.TokenLine("Tokens"), (400, 60))
    for words, begins_left in ((("<sos>", "a", "dog"), True), (("<sos>", "كلب", "ينام"), False)):
        line.show_chips([view.TokenChip(word) for word in words])
        places = [line.place_of(index) for index in range(3)]
        lefts = [place.left() for place in places]
        assert lefts == sorted(lefts, reverse=not begins_left)
        assert all(0 <= place.left() <= place.right() < line.width() for place in places)
        assert line.index_at(places[2].center()) == 2
