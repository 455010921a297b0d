"""Why a word was chosen: its parts, measured effects, the logit lens and the DecoderLens, by small
real models."""

import math
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.analyses.decoder_lens import decoder_lens
from augenmerk.core.extensions.analyses.logit_attribution import word_parts
from augenmerk.core.extensions.analyses.logit_lens import Depth, LogitLens, logit_lens
from augenmerk.core.extensions.analyses.parts import Origin
from augenmerk.core.extensions.analyses.parts_of_words import WordParts
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.model.sites import SUBLAYERS
from augenmerk.core.quantities import number
from augenmerk.core.translation.experiment import FeedForwardScaled, GivenTarget, HeadScaled
from augenmerk.core.translation.result import Alternative
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.presentation.presentation import scale_for
from augenmerk.viz_app.extensions.tabs.word.view import NEXT_BEST, WordTab
from augenmerk.viz_app.extensions.widgets.labelled_matrix import MatrixCell
from augenmerk.viz_app.extensions.words.jobs import WordPartsJob
from augenmerk.viz_app.extensions.words.lens_table import LensTable
from augenmerk.viz_app.extensions.words.word_parts import NUM_SHOWN, PartBars, lead_text
from augenmerk.viz_app.state.experiment_editor import edit_text, force, set_output, toggle, undo
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.translate.analysis_panel import MIN_WIDTH
from tests.viz_app.builders import settle_layout, shown
from tests.viz_app.extensions.tabs.conftest import SENTENCE, MakeContext, ShowTab, settle
from tests.viz_app.synthetic import make_translation


@pytest.fixture(params=["words", "pieces", "single"])
def tab(request: pytest.FixtureRequest, make_context: MakeContext, show_tab: ShowTab) -> WordTab:
    return show_tab(make_context(request.param), WordTab)


@pytest.fixture
def words_tab(make_context: MakeContext, show_tab: ShowTab) -> WordTab:
    return show_tab(make_context("words"), WordTab)


def _parts(tab: WordTab) -> WordParts:
    assert isinstance(tab.answers.job, WordPartsJob)
    answer = tab.answers.current
    assert isinstance(answer, WordParts)
    return answer


def _lens_of(target: str) -> LogitLens:
    """A lens of three layers that predicts these words at every depth."""
    translation = make_translation(target=target)
    depths = (
        Depth(),
        *(Depth(layer, sublayer) for layer in range(3) for sublayer in SUBLAYERS["decoder"]),
    )
    ones = np.ones((len(depths), len(translation.predicted_tokens)), dtype=np.float32)
    return LogitLens(
        translation,
        depths,
        -ones,
        ones.astype(np.int64),
        ones,
        (translation.alternatives,) * len(depths),
    )


def _place_of(bars: PartBars, subject: object) -> int:
    return next(index for index, line in enumerate(bars.lines) if line.subject == subject)


def _click(qtbot: QtBot, bars: PartBars, subject: object) -> None:
    qtbot.mouseClick(
        bars,
        Qt.MouseButton.LeftButton,
        pos=bars.label_place(_place_of(bars, subject)).center().toPoint(),
    )


def _open_all(qtbot: QtBot, tab: WordTab) -> None:
    if any(line.subject == "others" for line in tab.bars.lines):
        _click(qtbot, tab.bars, "others")


@pytest.mark.heavy
def test_the_least_probable_word_is_explained_against_the_next_best(
    tab: WordTab, translators: dict[str, Translator], request: pytest.FixtureRequest, qtbot: QtBot
) -> None:
    translation = tab.state.translation
    assert translation is not None
    starts = [word.start for word in translation.target_words] or [0]
    assert translation.log_probabilities[tab.word.step] == min(
        translation.log_probabilities[start] for start in starts
    )
    expected = word_parts(
        translators[request.node.callspec.params["tab"]], translation, tab.word.step
    )
    parts = _parts(tab)
    np.testing.assert_allclose(parts.values, expected.values, atol=1e-5)
    assert tab.lead.text() == lead_text(parts)
    assert number(expected.difference, signed=True) in tab.lead.text()
    _open_all(qtbot, tab)
    shown = {
        line.subject: line.bar.value for line in tab.bars.lines if line.subject in parts.components
    }
    assert shown.keys() == set(parts.components)
    assert sum(shown.values()) == pytest.approx(parts.difference - parts.remainder, abs=1e-6)
    sizes = [abs(value) for value in shown.values()]
    assert sizes == sorted(sizes, reverse=True)


def test_small_parts_are_one_line_that_opens_and_closes(words_tab: WordTab, qtbot: QtBot) -> None:
    bars, parts = words_tab.bars, _parts(words_tab)
    assert len(parts.components) > NUM_SHOWN + 1
    assert len(bars.lines) == NUM_SHOWN + 1
    others = bars.lines[-1].bar
    assert others.label == f"{len(parts.components) - NUM_SHOWN} others"
    smaller = sorted(parts.values, key=abs)[: len(parts.components) - NUM_SHOWN]
    assert others.value == pytest.approx(sum(smaller))
    _click(qtbot, bars, "others")
    assert len(bars.lines) == len(parts.components) + 1
    _click(qtbot, bars, "others")
    assert len(bars.lines) == NUM_SHOWN + 1


@pytest.mark.heavy
def test_a_click_chooses_the_head_and_opens_cross_attention_into_positions(
    words_tab: WordTab, qtbot: QtBot
) -> None:
    bars, parts = words_tab.bars, _parts(words_tab)
    _open_all(qtbot, words_tab)
    head = Head("cross", 1, 0)
    _click(qtbot, bars, head)
    assert words_tab.state.selection.head == head
    index = _place_of(bars, head)
    assert bars.lines[index].bar.is_lit
    opened = [line for line in bars.lines[index + 1 :] if line.bar.label.startswith("    ")]
    assert sum(line.bar.value for line in opened) == pytest.approx(parts.value_of(head), abs=1e-6)
    source = parts.translation.source_tokens
    first = opened[0].subject
    assert isinstance(first, int)
    assert opened[0].bar.label.strip() == f"position {first + 1} ({source[first]})"
    assert opened[0].bar.value == pytest.approx(parts.keys[1, 0, first])
    _click(qtbot, bars, head)
    assert not any(line.bar.label.startswith("    ") for line in bars.lines)
    _click(qtbot, bars, Head("decoder", 0, 1))
    assert words_tab.state.selection.head == Head("decoder", 0, 1)


def test_another_head_is_emphasized_without_new_bars(words_tab: WordTab, qtbot: QtBot) -> None:
    _open_all(qtbot, words_tab)
    bars, lines = words_tab.bars, words_tab.bars.lines
    for head in (Head("cross", 1, 1), Head("decoder", 0, 0), Head("encoder", 0, 0)):
        words_tab.state.intents.choose_head(head)
        assert [line.subject for line, bar in zip(lines, bars.bars, strict=True) if bar.is_lit] == (
            [head] if head.kind != "encoder" else []
        )
        assert bars.lines is lines


def test_a_quick_answer_leaves_the_button_that_measures_in_place(
    words_tab: WordTab, qtbot: QtBot
) -> None:
    start, other = words_tab._measure.start, words_tab.word.foils[2]
    words_tab.explain(words_tab.word.step, other.entry)
    assert words_tab.request.is_running
    assert start.isVisible()
    settle(qtbot, words_tab)
    assert start.isVisible()
    start.click()
    assert words_tab._measure.stop.isVisible(), "a measurement shows its progress at once"
    settle(qtbot, words_tab)


@pytest.mark.heavy
def test_the_keyboard_walks_through_the_parts_opens_and_switches_them(
    words_tab: WordTab, qtbot: QtBot
) -> None:
    bars, part = words_tab.bars, Head("cross", 0, 1)
    _open_all(qtbot, words_tab)
    settle_layout()
    bars.highlight(None)
    bars.setFocus()
    for _ in range(_place_of(bars, part) + 1):
        qtbot.keyClick(bars, Qt.Key.Key_Down)
    assert bars.highlighted == _place_of(bars, part)
    center = bars.label_place(_place_of(bars, part)).center().toPoint()
    area = words_tab._parts_area.viewport()
    assert area.rect().contains(bars.mapTo(area, center)), "it scrolls into view"
    qtbot.keyClick(bars, Qt.Key.Key_Return)
    assert words_tab.state.selection.head == part
    assert bars.opened == {part}
    qtbot.keyClick(bars, Qt.Key.Key_Up)
    qtbot.keyClick(bars, Qt.Key.Key_Down)
    qtbot.keyClick(bars, Qt.Key.Key_O)
    settle(qtbot, words_tab)
    assert words_tab.state.experiment.interventions == (HeadScaled(part),)


@pytest.mark.heavy
@pytest.mark.parametrize("subject", [Head("cross", 0, 1), "others"], ids=str)
def test_a_second_click_at_the_same_place_closes_what_the_first_has_opened(
    words_tab: WordTab, qtbot: QtBot, subject: Head | str
) -> None:
    """Also where another head, above it, is open."""
    bars = words_tab.bars
    bars.num_shown = 2
    bars.show_parts(_parts(words_tab))
    if isinstance(subject, Head):
        _open_all(qtbot, words_tab)
        heads = (line.subject for line in bars.lines if isinstance(line.subject, Head))
        _click(
            qtbot, bars, next(head for head in heads if head.kind == "cross" and head != subject)
        )
    before, place = bars.lines, _place_of(bars, subject)
    _click(qtbot, bars, subject)
    assert len(bars.lines) > len(before)
    assert _place_of(bars, subject) == place
    _click(qtbot, bars, subject)
    assert [line.subject for line in bars.lines] == [line.subject for line in before]


@pytest.mark.heavy
def test_measured_effects_stand_next_to_predicted_ones(
    tab: WordTab, qtbot: QtBot, translators: dict[str, Translator], request: pytest.FixtureRequest
) -> None:
    translator, parts = translators[request.node.callspec.params["tab"]], _parts(tab)
    start = next(
        button for button in tab.findChildren(QPushButton) if button.text() == "Measure all"
    )
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    settle(qtbot, tab)
    _open_all(qtbot, tab)
    for component in (Head("cross", 0, 0), Network("decoder", 0)):
        off = HeadScaled(component) if isinstance(component, Head) else FeedForwardScaled(component)
        without = replace(
            parts.translation, experiment=parts.translation.experiment.with_interventions(off)
        )
        lead = word_parts(translator, without, parts.step, parts.foil).difference
        bar = tab.bars.lines[_place_of(tab.bars, component)].bar
        assert bar.note.startswith("off ")
        shown = float(bar.note.removeprefix("off ").replace("−", "-"))
        assert shown == pytest.approx(lead - parts.difference, abs=0.006)
    for origin in Origin:
        line = tab.bars.lines[_place_of(tab.bars, origin)]
        assert line.bar.note == "–"
        assert "cannot be switched off" in line.bar.tip
    assert not start.isVisible(), "everything is measured"


@pytest.mark.heavy
@pytest.mark.parametrize("part", [Head("cross", 0, 1), Network("decoder", 1)], ids=str)
def test_the_menu_of_a_bar_switches_its_part_off_and_on(
    words_tab: WordTab, qtbot: QtBot, part: Head | Network
) -> None:
    before, step = _parts(words_tab), words_tab.word.step
    _open_all(qtbot, words_tab)
    menu = words_tab.bars.menu_of(_place_of(words_tab.bars, part))
    assert menu is not None
    menu.actions()[0].trigger()
    settle(qtbot, words_tab)
    off = FeedForwardScaled(part) if isinstance(part, Network) else HeadScaled(part)
    assert words_tab.state.experiment.interventions == (off,)
    words_tab.explain(step, NEXT_BEST)
    settle(qtbot, words_tab)
    line = words_tab.bars.lines[_place_of(words_tab.bars, part)].bar
    assert (line.text, line.value, line.is_struck) == ("off", 0.0, True)
    after = _parts(words_tab)
    assert after is not before
    if (after.chosen.entry, after.foil.entry) == (before.chosen.entry, before.foil.entry):
        assert line.before == pytest.approx(before.value_of(part)), "the tick is the original"
        sizes = [
            max(abs(bar.value), abs(bar.before))
            for bar in words_tab.bars.bars
            if bar.before is not None
        ]
        assert sizes == sorted(sizes, reverse=True), "a part that is off keeps its place"
    menu = words_tab.bars.menu_of(_place_of(words_tab.bars, part))
    assert menu is not None
    assert menu.actions()[0].text() == f"Switch {display_text(part.short_name)} on"
    assert words_tab.bars.menu_of(_place_of(words_tab.bars, Origin.TOKEN)) is None


def test_any_foil_can_be_chosen_or_typed(words_tab: WordTab, qtbot: QtBot) -> None:
    alternative = words_tab.word.foils[2]
    words_tab.foils.actions_by_name[alternative.entry].trigger()
    settle(qtbot, words_tab)
    assert _parts(words_tab).foil.entry == alternative.entry
    other = words_tab.word.foils[3]
    qtbot.keyClicks(words_tab.other, other.token)
    qtbot.keyClick(words_tab.other, Qt.Key.Key_Return)
    settle(qtbot, words_tab)
    assert _parts(words_tab).foil_word.token == other.token
    assert f"“{other.token}”" in words_tab.lead.text()
    assert words_tab.foils.text().startswith(f"rather than “{other.token}”")


@pytest.mark.heavy
def test_words_of_several_pieces_are_compared_as_wholes_and_explained_by_the_first_that_differs(
    make_context: MakeContext, show_tab: ShowTab, qtbot: QtBot, translators: dict[str, Translator]
) -> None:
    context = make_context("pieces")
    context.state.submit(set_output(GivenTarget("a dogman sleeps .")))
    tab = show_tab(context, WordTab)
    translation = tab.state.translation
    assert translation is not None
    word = translation.target_words[1]
    assert word.end - word.start > 1, "pieces"
    qtbot.keyClicks(tab.other, "man")
    tab.word.ask(word.start, "")
    qtbot.keyClick(tab.other, Qt.Key.Key_Return)
    settle(qtbot, tab)
    parts = _parts(tab)
    assert parts.chosen_word.token == word.text
    assert parts.chosen_word.log_probability == pytest.approx(
        translation.word_log_probability(word), abs=1e-4
    )
    assert "the first pieces that differ" in tab.lead.text()
    assert all(
        number(word.log_probability) in tab.lead.text()
        for word in (parts.chosen_word, parts.foil_word)
    )
    steps = [int(step) for step in tab.words.actions_by_name]
    assert word.start in steps
    assert word.start + 1 not in steps, "words, not pieces"


@pytest.mark.heavy
def test_a_likely_token_is_compared_with_the_first_piece_and_a_typed_word_with_the_whole(
    make_context: MakeContext, show_tab: ShowTab, qtbot: QtBot
) -> None:
    context = make_context("pieces")
    context.state.submit(set_output(GivenTarget("a dogman sleeps .")))
    tab = show_tab(context, WordTab)
    assert tab.state.translation is not None
    word = tab.state.translation.target_words[1]
    tab.explain(word.start, NEXT_BEST)
    settle(qtbot, tab)
    parts = _parts(tab)
    assert f"the first piece of “{word.text}”" in tab.lead.text()
    times = math.exp(abs(parts.chosen.log_probability - parts.foil.log_probability))
    assert f"{times:.1f}" in tab.lead.text() or f"{times:,.0f}" in tab.lead.text()
    assert number(parts.chosen_word.log_probability) in tab.lead.text()


def _whole(token: str, log_probability: float) -> Alternative:
    return Alternative(token, log_probability, f"whole {token}")


def test_a_clause_explains_a_lead_of_the_other_sign(words_tab: WordTab) -> None:
    parts, clause = _parts(words_tab), "The later pieces outweigh it."
    for difference, log_probabilities, is_explained in (
        (1.0, (-5.0, -2.0), True),
        (1.0, (-2.0, -5.0), False),
        (-1.0, (-2.0, -5.0), True),
    ):
        word, foil = (
            _whole(token, log_probability)
            for token, log_probability in zip(("dogman", "catman"), log_probabilities, strict=True)
        )
        changed = replace(parts, difference=difference, chosen_word=word, foil_word=foil)
        assert (clause in lead_text(changed, is_foil_whole=True)) == is_explained


@pytest.mark.heavy
def test_a_foil_that_cannot_be_compared_is_refused_in_words(
    words_tab: WordTab, qtbot: QtBot
) -> None:
    word = words_tab.word.tokens[words_tab.word.step]
    qtbot.keyClicks(words_tab.other, word)
    qtbot.keyClick(words_tab.other, Qt.Key.Key_Return)
    settle(qtbot, words_tab)
    assert words_tab.problem.isVisible()
    assert word in words_tab.problem.text()
    assert not words_tab.bars.isVisible()
    words_tab.foils.actions_by_name[NEXT_BEST].trigger()
    settle(qtbot, words_tab)
    assert not words_tab.problem.isVisible()
    assert words_tab.bars.isVisible()


def test_the_word_clicked_in_the_sentence_is_explained(words_tab: WordTab, qtbot: QtBot) -> None:
    translation = words_tab.state.translation
    assert translation is not None
    word = translation.target_words[-1]
    words_tab.state.selection.pick_word(word)
    settle(qtbot, words_tab)
    assert words_tab.word.step == word.start
    assert _parts(words_tab).chosen_word.token == word.text
    end = len(translation.predicted_tokens) - 1
    words_tab.words.actions_by_name[str(end)].trigger()
    settle(qtbot, words_tab)
    assert _parts(words_tab).step == end, "the end of the sentence, too"


@pytest.mark.heavy
def test_the_lens_names_the_best_token_of_each_step_and_depth(
    tab: WordTab, translators: dict[str, Translator], request: pytest.FixtureRequest, qtbot: QtBot
) -> None:
    translation = tab.state.translation
    assert translation is not None
    qtbot.mouseClick(tab.views["lens"], Qt.MouseButton.LeftButton)
    settle(qtbot, tab)
    expected = logit_lens(translators[request.node.callspec.params["tab"]], translation)
    (matrix,) = tab.lens.matrix.matrices
    assert matrix.values.shape == (len(translation.predicted_tokens), len(expected.depths))
    assert matrix.row_labels == translation.predicted_tokens
    assert matrix.texts is not None
    assert [row[-1] for row in matrix.texts] == [
        alternative[0].token for alternative in translation.alternatives
    ]
    np.testing.assert_allclose(
        matrix.values[:, -1],
        [alternative[0].probability for alternative in translation.alternatives],
        atol=1e-5,
    )
    step = tab.word.step
    ranks, entropies = tab.lens.chart.curves
    np.testing.assert_allclose(ranks.y, np.log(expected.ranks[:, step]))
    assert entropies.y[-1] == pytest.approx(translation.entropies[step], abs=1e-4)
    cell = tab.lens.matrix.cell_rect(MatrixCell(0, 0, 0)).center().toPoint()
    qtbot.mouseClick(tab.lens.matrix, Qt.MouseButton.LeftButton, pos=cell)
    settle(qtbot, tab)
    assert tab.word.step == 0
    says = tab.lens.says.text()
    assert f"“{translation.predicted_tokens[0]}”" in says
    tab.show_view("parts")
    settle(qtbot, tab)
    assert says in tab.lead.text(), "known now"


@pytest.mark.heavy
def test_a_narrow_lens_begins_with_a_whole_column(
    words_tab: WordTab, translators: dict[str, Translator], theme: Theme, qtbot: QtBot
) -> None:
    translation = words_tab.state.translation
    assert translation is not None
    lens = logit_lens(translators["words"], translation)
    decided = {step: lens.decided_at(step) for step in range(len(translation.predicted_tokens))}
    step = max(decided, key=lambda step: decided[step] or 0)
    table = shown(qtbot, LensTable(), (240, 500))
    QApplication.processEvents()
    table.show_lens(lens, step)
    bar = table.area.horizontalScrollBar()
    lefts = [
        table.matrix.cell_rect(MatrixCell(0, 0, column)).left()
        for column in range(len(lens.depths))
    ]
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum() or any(
        0 <= bar.value() - (left - lefts[0]) < 1 for left in lefts
    )
    assert bar.value() > 0, "the decided cell is in sight"


@pytest.mark.heavy
def test_in_a_low_lens_no_heading_covers_the_row_of_the_step(
    words_tab: WordTab, translators: dict[str, Translator], theme: Theme, qtbot: QtBot
) -> None:
    translation = words_tab.state.translation
    assert translation is not None
    lens = logit_lens(translators["words"], translation)
    table = shown(qtbot, LensTable(), (400, 260))
    last = len(translation.predicted_tokens) - 1
    place = table.matrix.cell_rect
    for step in (last, 0, last, 1):
        table.show_lens(lens, step)
        settle_layout()
        assert table.area.verticalScrollBar().maximum() > 0
        row = place(MatrixCell(0, step, 0))
        in_sight = table.matrix.visibleRegion().boundingRect()
        covered = place(MatrixCell(0, 0, 0)).top()
        assert in_sight.top() + covered <= row.top()
        assert row.bottom() <= in_sight.bottom() + 1


def test_a_presented_lens_shows_all_columns_and_leaves_the_room_of_the_chart_to_the_rows(
    theme: Theme, qapp: QApplication, qtbot: QtBot
) -> None:
    table = shown(qtbot, LensTable(), (820, 700))
    bars = table.area.horizontalScrollBar(), table.area.verticalScrollBar()
    replace(theme.at_scale(scale_for((1280, 800))), is_presented=True).apply(qapp)
    for num_words, has_chart in ((12, False), (3, True)):
        table.show_lens(_lens_of("children together yesterday " * (num_words // 3)), 1)
        qtbot.waitUntil(lambda: [bar.maximum() for bar in bars] == [0, 0], timeout=2000)
        assert table.chart.isVisible() == has_chart
    table.show_lens(_lens_of("children together yesterday " * 4), 1)
    assert not table.chart.isVisible()
    theme.apply(qapp)
    qtbot.waitUntil(table.chart.isVisible, timeout=2000)
    table.resize(400, 700)
    qtbot.waitUntil(lambda: bars[0].maximum() > 0, timeout=2000)


@pytest.mark.heavy
def test_the_translation_of_each_encoder_layer_is_a_line(
    tab: WordTab, translators: dict[str, Translator], request: pytest.FixtureRequest, qtbot: QtBot
) -> None:
    translation = tab.state.translation
    assert translation is not None
    qtbot.mouseClick(tab.views["layers"], Qt.MouseButton.LeftButton)
    settle(qtbot, tab)
    lens = decoder_lens(translators[request.node.callspec.params["tab"]], translation)
    expected = lens.layers
    assert tab.layers.text().count("<tr>") == len(expected)
    assert "embedding" in tab.layers.text()
    assert f"layer {len(expected) - 1}" in tab.layers.text()
    needs_all = lens.settled_at == len(expected) - 1
    assert (
        "needs the last layer" if needs_all else "is enough for the same greedy"
    ) in tab.layers.text()
    assert "Marked words differ from the line above." in tab.layers.text()
    assert expected[-1].predicted_tokens == translation.predicted_tokens


@pytest.mark.heavy
def test_the_tab_follows_the_maps_between_original_and_changed(
    words_tab: WordTab, qtbot: QtBot
) -> None:
    words_tab.state.submit(toggle(Head("cross", 1, 0)))
    settle(qtbot, words_tab)
    state = words_tab.state
    assert _parts(words_tab).translation is state.translation
    state.settings.shown = "original"
    settle(qtbot, words_tab)
    assert _parts(words_tab).translation is state.original is not state.translation
    assert all(bar.before is None for bar in words_tab.bars.bars)
    state.settings.shown = "changed"
    settle(qtbot, words_tab)
    assert _parts(words_tab).translation is state.translation
    state.submit(undo)
    settle(qtbot, words_tab)
    assert _parts(words_tab).translation is state.original


@pytest.mark.heavy
def test_a_token_that_has_become_another_is_compared_with_the_former_one(
    words_tab: WordTab, qtbot: QtBot
) -> None:
    state, step = words_tab.state, words_tab.word.step
    assert state.original is not None
    previous, other = state.original.predicted_tokens[step], state.original.alternatives[step][4]
    state.submit(force(step, other.entry))
    settle(qtbot, words_tab)
    parts = _parts(words_tab)
    assert (parts.step, parts.chosen.token, parts.foil.token) == (step, other.token, previous)
    state.settings.shown = "original"
    settle(qtbot, words_tab)
    parts = _parts(words_tab)
    assert (parts.chosen.token, parts.foil.token) == (previous, other.token)


@pytest.mark.heavy
def test_another_sentence_is_explained_by_its_own_words_and_late_answers_are_dropped(
    words_tab: WordTab, qtbot: QtBot
) -> None:
    state = words_tab.state
    words_tab.explain(0, NEXT_BEST)
    state.submit(edit_text("Eine Frau ."))  # at once, before the answer
    settle(qtbot, words_tab)
    assert state.translation is not None
    assert state.translation.source_text == "Eine Frau ."
    assert _parts(words_tab).translation is state.translation
    state.submit(edit_text(SENTENCE))
    settle(qtbot, words_tab)
    assert _parts(words_tab).translation.source_text == SENTENCE
    about = [job.translation for job in words_tab.answers.known]  # type: ignore[attr-defined]
    assert all(translation in (state.original, state.translation) for translation in about)


@pytest.mark.heavy
@pytest.mark.parametrize("width", [MIN_WIDTH, 430])
def test_nothing_is_cut_however_narrow(
    make_context: MakeContext, show_tab: ShowTab, qtbot: QtBot, width: int
) -> None:
    tab = show_tab(make_context("words"), WordTab, width=width)
    assert isinstance(tab, WordTab)
    qtbot.mouseClick(tab._measure.start, Qt.MouseButton.LeftButton)
    settle(qtbot, tab)
    for part in (tab.words, tab.foils, tab.other, *tab.views.values()):
        assert part.isVisible()
        assert part.mapTo(tab, part.rect().topRight()).x() < tab.width()
        assert part.width() >= part.minimumSizeHint().width()
    for index in range(len(tab.bars.lines)):
        assert tab.bars.bar_place(index).left() >= tab.bars.label_place(index).right()
        assert tab.bars.bar_place(index).right() + tab.bars.texts_width <= tab.bars.width()
    assert tab.bars.mapTo(tab, tab.bars.rect().topRight()).x() < tab.width()
    tab.show_view("lens")
    settle(qtbot, tab)
    assert tab.lens.area.mapTo(tab, tab.lens.area.rect().topRight()).x() < tab.width()
    assert tab.lens.mapTo(tab, tab.lens.chart.geometry().bottomRight()).y() < tab.height(), (
        "always in sight"
    )
    assert tab.lens.chart.mapTo(tab, tab.lens.chart.rect().topRight()).x() < tab.width()


def test_everything_in_the_tab_has_a_name_for_screen_readers(words_tab: WordTab) -> None:
    parts: tuple[QWidget, ...] = (
        words_tab.bars,
        words_tab.lens.matrix,
        words_tab.lens.chart,
        words_tab.layers,
    )
    assert all(part.accessibleName() for part in (*parts, words_tab.other))
    assert words_tab.bars.accessibleDescription().startswith(words_tab.bars.bars[0].label)
    assert math.isfinite(words_tab.bars.bars[0].value)
