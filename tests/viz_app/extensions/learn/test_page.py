"""The Learn page with the bundled model: every chapter, driven as a reader would."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.training.history_file import read_history
from augenmerk.core.maps.capture import trace_translation
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.quantities import percent_in_words
from augenmerk.core.resources import example_sentences, resource_path
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Beam,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    SoftmaxTemperature,
)
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.help.glossary import glossary
from augenmerk.viz_app.extensions.learn import chapter as texts
from augenmerk.viz_app.extensions.learn.actions import move_row, shuffled
from augenmerk.viz_app.extensions.learn.chapter_view import (
    COMPUTING,
    NO_SUCH_WORD,
    ChapterView,
    PredictView,
    TextbookView,
)
from augenmerk.viz_app.extensions.learn.checks import CHECKS, Question
from augenmerk.viz_app.extensions.learn.figures.attention import (
    SHARP,
    KindsFigure,
    MapFigure,
    MaskFigure,
    OneQueryFigure,
    most_different,
)
from augenmerk.viz_app.extensions.learn.figures.clarity_vs_importance import (
    ClarityVsImportanceFigure,
    rank_correlation,
)
from augenmerk.viz_app.extensions.learn.figures.decoding import (
    FACTORS,
    BeamFigure,
    ChipFigure,
    DecodingFigure,
    chip_text,
)
from augenmerk.viz_app.extensions.learn.figures.figure import MatrixFigure
from augenmerk.viz_app.extensions.learn.figures.logits import (
    NUM_PARTS_SHOWN,
    LayersFigure,
    SublayersFigure,
    WordPartsFigure,
)
from augenmerk.viz_app.extensions.learn.figures.networks import NetworksFigure
from augenmerk.viz_app.extensions.learn.figures.one_weight import TEMPERATURES, OneWeightFigure
from augenmerk.viz_app.extensions.learn.figures.tokens import PositionsFigure, TokensFigure
from augenmerk.viz_app.extensions.learn.figures.training import RatesFigure, SmoothingFigure
from augenmerk.viz_app.extensions.learn.job import HeadPoint
from augenmerk.viz_app.extensions.learn.page import LearnPage
from augenmerk.viz_app.extensions.learn.sentence import FIRST_EXAMPLE
from augenmerk.viz_app.extensions.learn.values import UNKNOWN, unsure_step
from augenmerk.viz_app.extensions.widgets.labelled_matrix import MatrixCell
from augenmerk.viz_app.heatmap.heatmap import row_height
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.experiment_editor import set_output, toggle
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.theme import PAGE_MARGIN, PANEL_MARGIN, Theme, current_theme
from augenmerk.viz_app.widgets.layouts import FlowLayout, VerticalScrollArea
from augenmerk.viz_app.worker.inference import InferenceWorker
from tests.viz_app.builders import settle_layout

pytestmark = pytest.mark.heavy  # each test makes a window with a model

TIMEOUT_MS = 20_000
PAGE_OF_A_LAPTOP, SMALLEST_PAGE = (1404, 839), (904, 530)
"""What a window of 1440 × 900 and the smallest one leave the page."""
OF_16_WORDS = (
    "Ein kleines Mädchen in einem rosa Kleid klettert die Treppe zu einem Holzhaus hinauf und "
    "lacht."
)
CASTLE = "Drei Kinder bauen am Strand eine Burg aus Sand."
"""Has 12 tokens, its translation 10."""


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, bundled_translator: Translator) -> Iterator[LearnPage]:
    page = LearnPage(InferenceWorker(lambda path, device: bundled_translator))
    qtbot.addWidget(page)
    page.resize(1400, 850)
    with qtbot.waitSignal(page.ready, timeout=TIMEOUT_MS):
        page.show()
    qtbot.waitUntil(lambda: page.view is not None, timeout=TIMEOUT_MS)
    yield page
    page.shutdown()


def test_the_page_opens_the_bundled_model_itself(
    qtbot: QtBot, theme: Theme, bundled_translator: Translator
) -> None:
    page = LearnPage()
    qtbot.addWidget(page)
    with qtbot.waitSignal(page.ready, timeout=TIMEOUT_MS):
        page.show()
    qtbot.waitUntil(lambda: page.view is not None, timeout=TIMEOUT_MS)
    assert page.state.translation is not None
    assert page.state.translation.text == bundled_translator.translate(FIRST_EXAMPLE).text
    page.shutdown()


def test_the_page_says_that_another_model_is_open_elsewhere(
    qtbot: QtBot, theme: Theme, bundled_translator: Translator
) -> None:
    bundled = ModelInfo(
        "multi30k-de-en", None, bundled_translator.run_config, bundled_translator.device, 1
    )
    window_state = ExperimentState()
    window_state.begin_model(
        replace(bundled, name="opus-mt-de-fr", path=Path("opus-mt-de-fr.safetensors"))
    )
    page = LearnPage(InferenceWorker(lambda path, device: bundled_translator), window_state)
    qtbot.addWidget(page)
    assert page.model_note.text() == (
        "Learn uses the bundled model, multi30k-de-en, not opus-mt-de-fr."
    )
    assert not page.model_note.isHidden()
    window_state.begin_model(bundled)
    assert page.model_note.isHidden()
    page.shutdown()


def chapter(qtbot: QtBot, page: LearnPage, name: str) -> ChapterView:
    """Opens the chapter of this name."""
    index = next(index for index, chapter in enumerate(page.chapters) if chapter.name == name)
    page.open_chapter(index)
    view = page.view
    assert view is not None
    qtbot.waitUntil(lambda: not page.state.request.is_running, timeout=TIMEOUT_MS)
    return view


def answer(qtbot: QtBot, prediction: PredictView, choice: str) -> str:
    """Chooses, looks, and returns what turned out."""
    prediction.choices[choice].click()
    assert prediction.look.isEnabled()
    qtbot.mouseClick(prediction.look, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: prediction.verdict.text() not in ("", COMPUTING), timeout=TIMEOUT_MS)
    return prediction.verdict.text()


def settle(qtbot: QtBot, page: LearnPage) -> None:
    qtbot.waitUntil(lambda: not page.state.request.is_running, timeout=TIMEOUT_MS)


def rest(qtbot: QtBot, page: LearnPage, view: ChapterView) -> None:
    """Waits for the figures, too: the test may then use the model itself."""
    settle(qtbot, page)
    qtbot.waitUntil(
        lambda: not any(figure.request.is_running for figure in view.figures), timeout=TIMEOUT_MS
    )


@pytest.mark.slow
def test_every_chapter_opens_and_fills_in_its_values(qtbot: QtBot, page: LearnPage) -> None:
    for index, listed in enumerate(page.chapters):
        view = chapter(qtbot, page, listed.name)
        assert page.place == index
        assert all(
            text.text() and "{" not in text.text() and "…" not in text.text()
            for _, text in view.text.texts
        )
        assert all(figure.isVisible() for figure in view.figures)
        qtbot.waitUntil(
            lambda view=view: not any(figure.request.is_running for figure in view.figures),
            timeout=TIMEOUT_MS,
        )
        assert not any(figure.request.problem for figure in view.figures)
    assert page.view is not None
    assert page.view.next_button.isHidden(), "there is nothing after the last"


def test_the_next_button_goes_on(qtbot: QtBot, page: LearnPage) -> None:
    assert page.view is not None
    qtbot.mouseClick(page.view.next_button, Qt.MouseButton.LeftButton)
    assert page.place == 1


def test_no_answer_is_given_before_a_choice(page: LearnPage) -> None:
    assert page.view is not None
    prediction = page.view.text.predictions[0]
    assert not prediction.look.isEnabled()
    assert prediction.verdict.text() == ""


def texts_of(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel)]


def test_tokens_are_counted_in_the_sentence_that_was_typed(qtbot: QtBot, page: LearnPage) -> None:
    view = chapter(qtbot, page, "words")
    verdict = answer(qtbot, view.text.predictions[0], "fewer")
    assert verdict.startswith("No: more")
    assert "reads 11 tokens" in verdict
    page.sentence.input.set_text("Eine Schneeballschlacht.")
    settle(qtbot, page)
    assert view.text.predictions[0].verdict.text() == "", "another sentence is another question"
    assert "Schneeballschlacht" in view.text.texts[1][1].text()
    figure = view.figures[0]
    assert isinstance(figure, TokensFigure)
    source, target = figure.sides
    assert "schneeballschlacht" in texts_of(source)
    assert "<sos>" not in texts_of(source), "the figure would give the answer away"
    assert texts_of(target).count("<sos>") == texts_of(target).count("<eos>") == 1
    figure.redraw()  # within one event: what is replaced is not drawn until it is deleted
    flows = [
        widget for widget in figure.findChildren(QWidget) if isinstance(widget.layout(), FlowLayout)
    ]
    assert len(flows) > len(figure.sides)
    assert all(flow.isHidden() for flow in flows if flow not in figure.sides)
    assert "schneeballschlacht (4 pieces)" in answer(qtbot, view.text.predictions[0], "more")
    assert page.state.translation is not None
    assert texts_of(figure.sides[0]).count("<sos>") == 1
    assert all(token in texts_of(figure.sides[0]) for token in page.state.translation.source_tokens)


def test_a_softer_softmax_lowers_the_largest_weight_and_the_figure_follows(
    qtbot: QtBot, page: LearnPage
) -> None:
    view = chapter(qtbot, page, "weight")
    figure = next(figure for figure in view.figures if isinstance(figure, OneWeightFigure))
    assert answer(qtbot, view.text.predictions[0], "falls").startswith("Right.")
    settle(qtbot, page)
    head = page.state.selection.head
    assert page.state.experiment.interventions == (SoftmaxTemperature(head, 4),)
    assert TEMPERATURES[figure.temperature.value()] == 4
    figure.temperature.setValue(TEMPERATURES.index(1.0))
    settle(qtbot, page)
    assert page.state.experiment.interventions == ()
    figure.temperature.setValue(TEMPERATURES.index(8.0))
    settle(qtbot, page)
    assert page.state.experiment.interventions == (SoftmaxTemperature(head, 8),)
    page.sentence.undo()
    settle(qtbot, page)
    assert TEMPERATURES[figure.temperature.value()] == 1


def test_query_key_and_value_of_the_pinned_pair_stand_in_numbers(
    qtbot: QtBot, page: LearnPage, bundled_translator: Translator
) -> None:
    view = chapter(qtbot, page, "weight")
    figure = next(figure for figure in view.figures if isinstance(figure, OneWeightFigure))
    qtbot.waitUntil(lambda: bool(figure.numbers.text()), timeout=TIMEOUT_MS)
    head, pinned, translation = (
        page.state.selection.head,
        page.state.selection.pinned,
        page.state.translation,
    )
    assert pinned is not None
    assert translation is not None
    heads = trace_translation(bundled_translator, translation).of_kind(head.kind)
    query = heads.queries[head.layer, head.head, pinned.query]
    key, value = (array[head.layer, head.head, pinned.key] for array in (heads.keys, heads.values))
    lines = [re.findall(">([^<]+)</td>", line) for line in figure.numbers.text().split("<tr>")[1:]]
    assert [line[0] for line in lines] == ["q vegetables", "k gemüse", "q times k", "v gemüse"]
    for line, expected in zip(lines, (query, key, query * key, value), strict=True):
        shown = [float(cell.replace("−", "-")) for cell in line[1:-1]]
        assert 4 <= len(shown) < 32
        np.testing.assert_allclose(shown, expected[: len(shown)], atol=0.006)
        assert line[-1].startswith("…")
        assert all(
            f"{value:.2f}".replace("-", "−").replace("−0.00", "0.00") in figure.numbers.toolTip()
            for value in expected
        )
    product = float(query @ key)
    weight = translation.maps.cross[head.layer, head.head, pinned.query, pinned.key]
    assert f"= {product:.2f};  attention score q·k / √32 = " in figure.equation.text()
    assert f"= {product / 32**0.5:.2f} → softmax → {weight:.3f}" in figure.equation.text()
    line = figure.table.line_of(pinned.key).center()
    assert figure.table.tip_at(QPointF(150, line.y())).startswith("k of gemüse, 32 numbers:")
    assert figure.table.tip_at(QPointF(figure.table.width() - 20, line.y())).startswith(
        "weight · v of gemüse"
    )
    view.text.tries[0].click()
    settle(qtbot, page)
    qtbot.waitUntil(lambda: "(√32 · 4)" in figure.equation.text(), timeout=TIMEOUT_MS)


def test_a_click_on_a_line_pins_its_key(qtbot: QtBot, page: LearnPage) -> None:
    view = chapter(qtbot, page, "weight")
    figure = next(figure for figure in view.figures if isinstance(figure, OneWeightFigure))
    qtbot.waitUntil(lambda: figure.table.height() > 100, timeout=TIMEOUT_MS)
    pinned = page.state.selection.pinned
    assert pinned is not None
    qtbot.mouseClick(
        figure.table, Qt.MouseButton.LeftButton, pos=figure.table.line_of(1).center().toPoint()
    )
    assert page.state.selection.pinned is not None
    assert (page.state.selection.pinned.query, page.state.selection.pinned.key) == (pinned.query, 1)
    assert any("ein" in text.text() for _, text in view.text.texts)


def test_the_lens_shows_the_translation_that_is_shown(qtbot: QtBot, page: LearnPage) -> None:
    view = chapter(qtbot, page, "layers")
    figure = view.figures[0]
    assert isinstance(figure, LayersFigure)
    qtbot.waitUntil(lambda: figure.answer is not None, timeout=TIMEOUT_MS)
    page.state.submit(set_output(GivenTarget("A cat.")))
    settle(qtbot, page)
    qtbot.waitUntil(
        lambda: figure.answer is not None and figure.answer.translation is page.state.translation,
        timeout=TIMEOUT_MS,
    )
    (matrix,) = figure.matrix.matrices
    assert matrix.column_labels == ("a", "cat", ".", "<eos>")


def test_the_layers_before_the_last_are_drawn_once_the_reader_has_predicted_for_this_sentence(
    qtbot: QtBot, page: LearnPage
) -> None:
    view = chapter(qtbot, page, "layers")
    figure = view.figures[0]
    assert isinstance(figure, LayersFigure)

    def drawn() -> list[bool]:
        (matrix,) = figure.matrix.matrices
        return [not np.isnan(row).any() for row in matrix.values]

    qtbot.waitUntil(lambda: bool(figure.matrix.matrices), timeout=TIMEOUT_MS)
    assert drawn() == [False, False, False, True], "the last row is the translation itself"
    assert "Answer the question" in figure.says.text()
    answer(qtbot, view.text.predictions[0], "last")
    assert all(drawn())
    assert "Answer the question" not in figure.says.text()
    view.text.tries[0].click()
    settle(qtbot, page)
    qtbot.waitUntil(
        lambda: figure.answer is not None and figure.answer.translation is page.state.translation,
        timeout=TIMEOUT_MS,
    )
    assert drawn() == [False, False, False, True], "another sentence is another question"


def test_the_lens_after_each_sublayer_ends_with_the_translation_and_frames_where_tokens_take_the_lead(
    qtbot: QtBot, page: LearnPage
) -> None:
    view = chapter(qtbot, page, "feed-forward")
    figure, translation = view.figures[0], page.state.translation
    assert isinstance(figure, SublayersFigure)
    assert translation is not None
    qtbot.waitUntil(lambda: bool(figure.matrix.matrices), timeout=TIMEOUT_MS)
    (matrix,) = figure.matrix.matrices
    rows = [f"{name} {layer}" for layer in (1, 2, 3) for name in ("self", "cross", "feed-forward")]
    assert matrix.row_labels == ("embedding", *rows)
    np.testing.assert_allclose(matrix.values[-1], np.exp(translation.log_probabilities), rtol=1e-3)
    framed, lens = figure.matrix._framed, figure.answer
    assert lens is not None
    assert len(framed) == len(translation.predicted_tokens), (
        "one for each token, as greedy decoding chose all of them"
    )
    for cell in framed:
        ranks = lens.ranks[:, cell.column]
        assert (ranks[cell.row :] == 1).all()
        assert cell.row == 0 or ranks[cell.row - 1] > 1


def test_a_word_that_depends_on_a_network_is_framed_and_a_click_switches_the_network_off(
    qtbot: QtBot, page: LearnPage, bundled_translator: Translator
) -> None:
    view = chapter(qtbot, page, "feed-forward")
    figure = view.figures[1]
    assert isinstance(figure, NetworksFigure)
    view.text.tries[0].click()
    settle(qtbot, page)
    original = page.state.translation
    assert original is not None
    rest(qtbot, page, view)
    (matrix,) = figure.matrix.matrices
    assert matrix.row_labels == (
        "all on",
        *(f"{side} {layer}" for side in ("encoder", "decoder") for layer in (1, 2, 3)),
    )
    assert matrix.column_labels == original.predicted_tokens
    framed = set()
    for row, network in enumerate(figure.networks[1:], start=1):
        assert network is not None
        off = Experiment(original.source_text, interventions=(FeedForwardScaled(network),))
        (scores,) = bundled_translator.score_many(original, [off])
        np.testing.assert_allclose(matrix.values[row], np.exp(scores), rtol=2e-3)
        freely = bundled_translator.run(off).predicted_tokens
        changed = [
            step
            for step, token in enumerate(original.predicted_tokens)
            if freely[step : step + 1] != (token,)
        ]
        # the first change; what follows reads other tokens
        framed |= {(row, step) for step in changed[:1]}
    assert {(cell.row, cell.column) for cell in figure.dependent} == framed
    assert "decoder 3: “a” instead of “the”" in figure.says.text()
    row = figure.networks.index(Network("decoder", 2))
    figure.matrix.clicked.emit(MatrixCell(0, row, 0))
    settle(qtbot, page)
    assert page.state.experiment.networks_off == {Network("decoder", 2)}
    assert page.state.translation is not None
    assert original.text.endswith("playing the guitar.")
    assert page.state.translation.text == original.text.replace("the guitar", "a guitar")
    assert figure.matrix.matrices[0].row_labels[row] == "decoder 3, off now"
    assert figure.matrix.matrices[0].column_labels == original.predicted_tokens, (
        "the table is about the original"
    )
    figure.matrix.clicked.emit(MatrixCell(0, 0, 0))
    figure.matrix.clicked.emit(MatrixCell(0, row, 0))
    settle(qtbot, page)
    assert not page.state.experiment.networks_off


@pytest.mark.slow
def test_without_its_networks_the_decoder_repeats_words_and_without_the_encoders_it_does_not(
    qtbot: QtBot, page: LearnPage, bundled_translator: Translator
) -> None:
    page.sentence.input.set_text(CASTLE)
    settle(qtbot, page)
    view = chapter(qtbot, page, "feed-forward")
    verdict = answer(qtbot, view.text.predictions[0], "repeats")
    assert verdict.startswith("Right. It becomes “… castle on the beach")
    assert "In 1 place, a token follows itself. Attention only mixes" in verdict
    settle(qtbot, page)
    assert page.state.experiment.networks_off == {Network("decoder", layer) for layer in range(3)}
    view.text.tries[0].click()
    settle(qtbot, page)
    assert page.state.experiment == Experiment(
        "Der alte Mann, der am Fenster sitzt, spielt Gitarre."
    ), "its own sentence, unchanged"
    check, question = CHECKS["without-networks"], Question({"network-off": "encoder"})
    for text, choice in (
        (CASTLE, "same"),
        ("Auf dem Markt verkauft eine junge Frau frische Blumen.", "other"),
    ):
        page.sentence.input.set_text(text)
        rest(qtbot, page, view)
        job = check.ask(page.state, question)
        assert job is not None
        translations = tuple(bundled_translator.run_many(job.experiments))
        assert check.judge(page.state, question, translations).choice == choice


def test_the_parts_of_a_word_are_bars_on_one_scale_and_their_sums_by_kind_add_up(
    qtbot: QtBot, page: LearnPage
) -> None:
    view = chapter(qtbot, page, "layers")
    figure = next(figure for figure in view.figures if isinstance(figure, WordPartsFigure))
    qtbot.waitUntil(lambda: bool(figure.words), timeout=TIMEOUT_MS)
    answered, translation = figure.answer, page.state.translation
    assert answered is not None
    assert translation is not None
    assert [button.text() for button in figure.words] == list(translation.predicted_tokens)
    assert figure.words[figure.step].isChecked()
    step = translation.predicted_tokens.index("kitchen")
    figure.words[step].click()
    parts = answered[step]
    ratio = np.exp(translation.log_probabilities[step] - parts.foil.log_probability)
    assert (
        f"“kitchen” is {ratio:,.0f} times as probable as “{parts.foil.token}”" in figure.says.text()
    )
    sums = [
        float(number.replace("−", "-"))
        for number in re.findall(r"[+−]\d+\.\d+", figure.sums.text())
    ]
    assert len(sums) == 5
    assert sum(sums) == pytest.approx(parts.difference, abs=0.03)
    assert sum(bar.value for bar in figure.bars.bars) == pytest.approx(parts.difference, abs=1e-3)
    shown = [line.subject for line in figure.bars.lines]
    assert len(shown) == NUM_PARTS_SHOWN + 1, "the others are in one line"
    assert any(isinstance(component, Network) for component in shown)
    row, head = next(
        (row, component) for row, component in enumerate(shown) if isinstance(component, Head)
    )
    figure.bars.label_clicked.emit(row)
    assert page.state.selection.head == head
    view.text.tries[-1].click()
    settle(qtbot, page)
    qtbot.waitUntil(lambda: figure.answer is not answered, timeout=TIMEOUT_MS)
    assert head in page.state.experiment.heads_off
    assert figure.step == step, "the reader still asks about the same word"
    assert figure.says.text().endswith(f"Without changes: +{parts.difference:.2f}.")
    assert figure.answer is not None
    assert figure.answer[step].value_of(head) == 0


def test_one_query_is_shown_in_all_heads_of_a_layer(qtbot: QtBot, page: LearnPage) -> None:
    view = chapter(qtbot, page, "heads")
    figure = next(figure for figure in view.figures if isinstance(figure, OneQueryFigure))
    (matrix,) = figure.matrix.matrices
    assert page.state.translation is not None
    weights = page.state.translation.maps.cross[0, :, figure.query]
    np.testing.assert_allclose(matrix.values[:-1], weights)
    np.testing.assert_allclose(matrix.values[-1], weights.mean(axis=0))
    places = {int(row.argmax()) for row in weights if row.max() >= SHARP}
    assert len(places) >= 3, "several heads look sharply at several places"
    assert matrix.values[-1].max() < SHARP, "one head that did so would look sharply at none"
    assert figure.title.text().endswith("the 8 heads differ most here")
    figure.matrix.clicked.emit(MatrixCell(0, 4, 0))
    assert page.state.selection.head == Head("cross", 0, 4)
    figure.matrix.clicked.emit(MatrixCell(0, 8, 0))
    assert page.state.selection.head == Head("cross", 0, 4), "the mean is no head"
    page.state.selection.pinned = Pair(1, 2)
    assert figure.query == 1
    assert figure.title.text().endswith("all 8 heads, and their mean")


def test_heads_differ_most_where_they_look_at_the_most_places() -> None:
    layer = np.zeros((3, 5, 4), dtype=np.float32)
    for query, keys in enumerate(((0, 1, 2), (0, 0, 0), (0, 0, 1), (1, 2, 3), (0, 1, 2))):
        layer[np.arange(3), query, keys] = 1
    layer[2, 3] = (0, 0.2, 0.2, 0.6)
    assert most_different(layer, first=1) == 3, (
        "neither the start nor the end, which stand for no word"
    )
    layer[2, 1] = (0, 0, 0.6, 0.4)
    layer[1, 1] = (0, 1, 0, 0)
    assert most_different(layer, first=1) == 1, "of several, where the mean is flattest"
    assert most_different(layer[:, :1], first=0) == 0


def test_a_hidden_chapter_makes_no_page_higher(qtbot: QtBot, page: LearnPage) -> None:
    """A picture of the window gives hidden chapters the width that they had at another scale."""
    view = chapter(qtbot, page, "weight")
    chapter(qtbot, page, "words")
    height = page.minimumSizeHint().height()
    view.resize(500, 400)
    view.resizeEvent(QResizeEvent(QSize(500, 400), QSize(1000, 400)))
    assert page.minimumSizeHint().height() == height


def test_the_word_of_the_first_try_is_new_to_the_model_and_read_in_pieces(
    qtbot: QtBot, page: LearnPage
) -> None:
    view = chapter(qtbot, page, "words")
    view.text.tries[0].click()
    settle(qtbot, page)
    translation = page.state.translation
    assert translation is not None
    assert translation.text == "Three men are playing in a street band."
    verdict = answer(qtbot, view.text.predictions[0], "more")
    assert "straßenband (2 pieces)" in verdict


def test_the_axes_of_the_waves_go_from_end_to_end(qtbot: QtBot, page: LearnPage) -> None:
    figure = chapter(qtbot, page, "positions").figures[0]
    assert isinstance(figure, PositionsFigure)
    qtbot.waitUntil(lambda: figure.answer is not None, timeout=TIMEOUT_MS)
    positions, values = figure.chart.ticks
    assert positions == [0, 20, 40, 60, 80, 100]
    assert values == [-1, -0.5, 0, 0.5, 1]


def test_entering_a_chapter_again_takes_back_what_was_changed_there(
    qtbot: QtBot, page: LearnPage
) -> None:
    chapter(qtbot, page, "weight").text.tries[0].click()
    settle(qtbot, page)
    assert page.state.experiment.interventions
    chapter(qtbot, page, "layers")
    assert page.state.experiment.interventions == ()
    assert page.state.experiment.source_text == FIRST_EXAMPLE


def test_a_chapter_begins_with_the_same_head_whatever_was_tried_before(
    qtbot: QtBot, page: LearnPage
) -> None:
    chapter(qtbot, page, "weight")
    state = page.state
    first = state.selection.head, state.selection.pinned
    assert first[1] is not None
    chapter(qtbot, page, "mask").text.tries[0].click()
    settle(qtbot, page)
    assert state.experiment.lifts_mask
    chapter(qtbot, page, "weight")
    assert (state.selection.head, state.selection.pinned) == first


def test_shuffled_words_change_the_translation_and_the_map(qtbot: QtBot, page: LearnPage) -> None:
    view = chapter(qtbot, page, "positions")
    figure = view.figures[0]
    assert isinstance(figure, PositionsFigure)
    qtbot.waitUntil(lambda: figure.answer is not None, timeout=TIMEOUT_MS)
    own = page.state.original
    assert own is not None
    verdict = answer(qtbot, view.text.predictions[0], "same")
    assert verdict.startswith("No: ")
    settle(qtbot, page)
    assert page.state.experiment.source_text == shuffled(FIRST_EXAMPLE, "1") != FIRST_EXAMPLE
    assert page.state.translation is not None
    assert page.state.translation.text != own.text
    first_words = [text.split()[0] for text in (own.text, page.state.translation.text)]
    assert re.search("“{} .+” becomes “{} .+”".format(*first_words), verdict)
    assert view.text.predictions[0].verdict.text() == verdict, (
        "the shuffled sentence does not take the answer away"
    )
    assert FIRST_EXAMPLE in view.text.predictions[0].question.text(), (
        "the question is the one that was answered"
    )
    assert len(figure.matrix.matrices[0].row_labels) == len(page.state.translation.source_tokens)
    page.sentence.input.set_text("Zwei Hunde spielen im Schnee.")
    settle(qtbot, page)
    assert view.text.predictions[0].verdict.text() == "", "another sentence is another question"
    assert "Zwei Hunde" in view.text.predictions[0].question.text()


def test_whether_the_chosen_head_aligns_is_what_was_measured(qtbot: QtBot, page: LearnPage) -> None:
    view = chapter(qtbot, page, "heads")
    roles = page.state.roles.sample
    assert roles is not None
    for role, expected in (("aligner", "yes"), ("mixed", "no")):
        head = next(
            Head("cross", layer, head)
            for layer in range(3)
            for head in range(8)
            if roles.role(Head("cross", layer, head)) == role
        )
        page.state.intents.choose_head(head)
        verdict = answer(qtbot, view.text.predictions[0], expected)
        assert verdict.startswith(
            "Right. Its role" if expected == "yes" else "Right. It has no clear role over"
        )
        assert ("“aligner”" in verdict) == (expected == "yes")


def test_a_lifted_mask_is_seen_in_both_figures_and_makes_the_translation_less_probable(
    qtbot: QtBot, page: LearnPage
) -> None:
    view = chapter(qtbot, page, "mask")
    figure = view.figures[0]
    assert isinstance(figure, MaskFigure)
    (mask,) = figure.matrix.matrices
    assert mask.values.tolist() == np.tril(np.ones_like(mask.values)).tolist()
    assert page.state.translation is not None
    assert mask.row_labels == page.state.translation.predicted_tokens, (
        "rows are named as those of the map below"
    )
    assert mask.column_labels == page.state.translation.read_tokens
    verdict = answer(qtbot, view.text.predictions[0], "falls")
    assert verdict.startswith("Right.")
    assert re.search("over 10[⁰¹²³⁴⁵⁶⁷⁸⁹]+ times less probable", verdict), "small ones differ, too"
    settle(qtbot, page)
    assert page.state.experiment.lifts_mask
    assert figure.matrix.matrices[0].values.min() == 1
    assert page.state.translation is not None
    assert page.state.translation.maps.decoder[0, 0, 0, 1:].sum() > 0
    view.text.tries[1].click()
    settle(qtbot, page)
    assert page.state.experiment.interventions == ()
    assert page.state.experiment.output == Greedy()


def test_a_kind_is_chosen_in_the_table_and_rows_are_counted(qtbot: QtBot, page: LearnPage) -> None:
    page.sentence.input.set_text(CASTLE)
    settle(qtbot, page)
    view = chapter(qtbot, page, "kinds")
    figure = view.figures[0]
    assert isinstance(figure, KindsFigure)
    translation = page.state.translation
    assert translation is not None
    num_source, num_target = len(translation.source_tokens), len(translation.predicted_tokens)
    assert num_source != num_target
    assert figure.shapes["cross"].text() == f"{num_target} × {num_source}"
    figure.buttons["encoder"].click()
    assert page.state.selection.head.kind == "encoder"
    assert not figure.buttons["cross"].isChecked()


@pytest.mark.parametrize(
    "text", ["Zwei Hunde spielen im Schnee.", CASTLE], ids=["as long", "longer"]
)
def test_what_rows_and_columns_stand_for_is_seen_where_a_word_is_taken_out(
    qtbot: QtBot, page: LearnPage, text: str
) -> None:
    """Also where source and translation have equally many tokens, which a count of rows would not
    tell apart."""
    page.sentence.input.set_text(text)
    settle(qtbot, page)
    view = chapter(qtbot, page, "kinds")
    figure, prediction, before = view.figures[0], view.text.predictions[0], page.state.translation
    assert isinstance(figure, KindsFigure)
    assert before is not None
    num_source, num_target = len(before.source_tokens), len(before.predicted_tokens)
    assert (num_source == num_target) is (text != CASTLE)
    word = text.split()[-1].removesuffix(".")
    assert f"**{word.lower()}**" in prediction.question.text().lower()
    verdict = answer(qtbot, prediction, "columns")
    assert verdict.startswith("Right.")
    assert (
        f"{num_target} rows and {num_source} columns, and now has {num_target} and "
        f"{num_source - 1}." in verdict
    )
    settle(qtbot, page)
    assert figure.shapes["cross"].text() == f"{num_target} × {num_source - 1}", (
        "it is seen in the table"
    )
    assert page.state.translation is not None
    assert page.state.translation.text == before.text
    assert f"**{word.lower()}**" in prediction.question.text().lower(), (
        "the question is the one that was answered"
    )
    assert prediction.verdict.text() == verdict
    answer(qtbot, prediction, "rows")
    qtbot.waitUntil(
        lambda: prediction.verdict.text().startswith("No: they have fewer columns."),
        timeout=TIMEOUT_MS,
    )


def test_the_map_of_a_chapter_before_layers_and_heads_are_explained_names_none(
    qtbot: QtBot, page: LearnPage
) -> None:
    view = chapter(qtbot, page, "positions")
    assert (
        view.figures[1]
        .title.text()
        .startswith("Attention. Each row: where the encoder looks in the whole German")
    )
    shown = " ".join(
        [
            *(text.text() for _, text in view.text.texts),
            *(figure.title.text() for figure in view.figures),
        ]
    )
    assert " · head" not in shown
    assert "layer" not in shown


def test_the_softmax_has_a_formula_where_it_is_first_used_and_in_the_glossary(
    qtbot: QtBot, page: LearnPage
) -> None:
    for chapter in page.chapters:
        text = " ".join(
            block.markdown for block in chapter.blocks if isinstance(block, texts.Paragraph)
        )
        if "softmax" in text:
            assert chapter.name == "weight", "the first chapter that uses it"
            assert "exp(s) / Σ exp(s)" in text
            break
    (entry,) = (entry for entry in glossary() if entry.title == "softmax")
    assert "exp(sᵢ) / Σⱼ exp(sⱼ)" in entry.formula
    assert "exponential" in entry.text


def test_a_verdict_goes_with_the_head_that_it_is_about(qtbot: QtBot, page: LearnPage) -> None:
    view = chapter(qtbot, page, "not")
    state, (prediction,) = page.state, view.text.predictions
    answer(qtbot, prediction, "same")
    settle(qtbot, page)
    assert state.experiment.interventions
    assert prediction.verdict.text(), "what looking itself has changed is no other question"
    head = state.selection.head
    state.intents.choose_head(Head("cross", (head.layer + 1) % 2, head.head))
    assert not prediction.verdict.text()
    assert state.experiment.interventions
    view.text.tries[1].click()
    settle(qtbot, page)
    assert state.experiment.interventions == (), (
        "the sentence of the shirt is shown as the model translates it"
    )


def test_a_question_about_cross_attention_is_asked_of_no_other_head(
    qtbot: QtBot, page: LearnPage
) -> None:
    (prediction,) = chapter(qtbot, page, "heads").text.predictions
    prediction.choices["no"].click()
    assert prediction.look.isEnabled()
    page.state.intents.choose_head(Head("encoder", 0, 0))
    assert not prediction.look.isEnabled()
    assert "Encoder" not in prediction.question.text()
    page.state.intents.choose_head(Head("cross", 0, 0))
    assert prediction.look.isEnabled()


def test_a_click_on_a_candidate_forces_it(qtbot: QtBot, page: LearnPage) -> None:
    view = chapter(qtbot, page, "decoding")
    figure = view.figures[0]
    assert isinstance(figure, DecodingFigure)
    assert page.state.translation is not None
    second = page.state.translation.alternatives[1][1]
    center = figure.drawing.place_of(1, 1).center().toPoint()
    qtbot.mouseClick(figure.drawing, Qt.MouseButton.LeftButton, pos=center)
    settle(qtbot, page)
    assert page.state.experiment.interventions == (ForcedToken(1, second.entry),)
    assert page.state.translation.predicted_tokens[1] == second.token


def test_candidates_of_a_long_sentence_stand_in_two_lines_where_there_is_height_and_can_be_clicked(
    qtbot: QtBot, page: LearnPage
) -> None:
    page.resize(*PAGE_OF_A_LAPTOP)
    page.sentence.input.set_text(OF_16_WORDS)
    settle(qtbot, page)
    view = chapter(qtbot, page, "decoding")
    resting_heights(qtbot, view)
    figure = view.figures[0]
    assert isinstance(figure, DecodingFigure)
    table = figure.drawing
    assert table.width() <= figure.width(), "nothing scrolls sideways"
    assert page.state.translation is not None
    step = len(page.state.translation.predicted_tokens) - 3
    second = page.state.translation.alternatives[step][1]
    box = table.place_of(step, 1)
    tops = sorted({table.place_of(column, 1).top() for column in range(step + 3)})
    assert [table.place_of(0, 1).top(), box.top()] == tops, "two lines"
    assert box.top() > table.place_of(0, 3).bottom(), "below the whole first line"
    assert table.rect().contains(box.toAlignedRect())
    qtbot.mouseClick(table, Qt.MouseButton.LeftButton, pos=box.center().toPoint())
    assert page.state.experiment.interventions == (ForcedToken(step, second.entry),)


def test_a_tree_goes_on_in_a_second_line_where_it_is_high_enough(
    qtbot: QtBot, page: LearnPage
) -> None:
    figure = chapter(qtbot, page, "decoding").figures[1]
    assert isinstance(figure, BeamFigure)
    qtbot.waitUntil(lambda: figure.answer is not None, timeout=TIMEOUT_MS)
    assert figure.answer is not None
    drawing = figure.drawing
    first, last = figure.answer.nodes[0], figure.answer.nodes[-1]
    drawing.fit(3000, 2000)
    assert drawing.place_of(last.step, last.rank).left() > 300
    drawing.fit(300, 200)
    assert drawing.height() > 200, "letters stay as large as body text"
    assert drawing.theme.font("body") == current_theme().font("body")
    assert (
        drawing.place_of(last.step, last.rank).top()
        > drawing.place_of(first.step, first.rank).bottom()
    )
    places = [drawing.place_of(node.step, node.rank) for node in figure.answer.nodes]
    assert all(drawing.rect().contains(box.toAlignedRect()) for box in places)
    assert not any(
        one.intersects(other) for index, one in enumerate(places) for other in places[:index]
    )
    assert not drawing.grab().isNull()


def test_chips_fit_again_where_a_scroll_bar_takes_some_of_the_width(
    qtbot: QtBot, page: LearnPage
) -> None:
    figure = chapter(qtbot, page, "decoding").figures[1]
    assert isinstance(figure, BeamFigure)
    qtbot.waitUntil(lambda: figure.answer is not None, timeout=TIMEOUT_MS)
    for width in range(figure.width(), figure.width() // 2, -12):
        figure.resize(width, figure.height())
        assert figure.drawing.natural_size().width() <= width - 2 * PANEL_MARGIN


def test_chips_show_whole_tokens_however_small(qtbot: QtBot, page: LearnPage) -> None:
    page.resize(1080, 600)
    view = chapter(qtbot, page, "decoding")
    figure = view.figures[0]
    assert isinstance(figure, DecodingFigure)
    translation = page.state.translation
    assert translation is not None
    for factor in (FACTORS[-1], 1.0, 1.3):
        figure.drawing.factor = factor
        figure.drawing.natural_size()
        for step, token in enumerate(translation.predicted_tokens):
            width = int(figure.drawing.place_of(step, 0).width())
            assert chip_text(figure.drawing.theme, token, width, is_bold=True) == token, factor


@pytest.mark.parametrize("sentence", [0, 1])
def test_the_beam_finds_what_greedy_decoding_misses(
    qtbot: QtBot, page: LearnPage, sentence: int
) -> None:
    view = chapter(qtbot, page, "decoding")
    view.text.tries[sentence].click()
    settle(qtbot, page)
    figure = view.figures[1]
    assert isinstance(figure, BeamFigure)
    qtbot.waitUntil(
        lambda: figure.answer is not None and figure.answer.texts[1] == page.state.translation.text,  # type: ignore[union-attr]
        timeout=TIMEOUT_MS,
    )
    assert figure.answer is not None
    assert figure.answer.log_probabilities[0] > figure.answer.log_probabilities[1]
    assert figure.drawing.width() > 200
    qtbot.waitUntil(lambda: all(text in figure.says.text() for text in figure.answer.texts))  # type: ignore[union-attr]
    assert "Orange, greedy" in figure.says.text()


def test_beam_search_can_end_with_a_less_probable_translation_than_greedy_decoding(
    qtbot: QtBot, page: LearnPage, bundled_translator: Translator
) -> None:
    view = chapter(qtbot, page, "decoding")
    view.text.tries[2].click()
    rest(qtbot, page, view)
    figure, text = view.figures[1], page.state.experiment.source_text
    assert isinstance(figure, BeamFigure)
    assert figure.answer is not None
    by_beam, by_greedy = figure.answer.log_probabilities
    assert by_beam < by_greedy - 0.01
    for output, shown in ((Beam(4, 0.0), by_beam), (Greedy(), by_greedy)):
        searched = bundled_translator.run(Experiment(text, output))
        scored = bundled_translator.run(Experiment(text, GivenTarget(searched.text)))
        assert shown == pytest.approx(scored.log_probability, abs=1e-3)
    assert "less probable" in view.text.tries[2].text()


@pytest.mark.parametrize(
    ("text", "second", "choice"),
    [
        ("Zwei Hunde spielen im Schnee.", "are", "other"),
        ("Ein Hund springt über einen Baumstamm.", "jumping", "same"),
        ("Ein Mann trägt kein Hemd.", "wearing", "same"),
    ],
)
def test_what_follows_the_second_choice_of_any_sentence_is_asked_and_shown(
    qtbot: QtBot, page: LearnPage, text: str, second: str, choice: str
) -> None:
    view = chapter(qtbot, page, "decoding")
    page.sentence.input.set_text(text)
    qtbot.waitUntil(
        lambda: page.state.translation is not None and page.state.translation.source_text == text
    )
    settle(qtbot, page)
    prediction = view.text.predictions[0]
    assert f"**{second}**" in prediction.question.text()
    before = page.state.translation
    verdict = answer(qtbot, prediction, choice)
    settle(qtbot, page)
    assert verdict.startswith("Right.")
    after = page.state.translation
    assert before is not None
    assert after is not None
    (forced,) = page.state.experiment.forced
    assert after.predicted_tokens[forced.step] == second
    followed = before.predicted_tokens[forced.step + 1 :]
    if followed[0] == second:  # “is wearing a shirt” becomes “wearing a shirt”
        followed = followed[1:]
    assert (after.predicted_tokens[forced.step + 1 :] == followed) == (choice == "same")
    assert after.text in verdict
    times = np.exp(before.log_probability - after.log_probability)
    assert f"{times:.1f} times less probable" in verdict
    assert f"**{second}**" in prediction.question.text(), (
        "the question is the one that was answered"
    )
    assert prediction.verdict.text() == verdict


def test_nothing_can_be_looked_at_that_the_sentence_does_not_have(
    qtbot: QtBot, page: LearnPage
) -> None:
    page.sentence.input.set_text("1")
    qtbot.waitUntil(lambda: page.state.withheld is not None)
    page.state.show_withheld()
    settle(qtbot, page)
    prediction = chapter(qtbot, page, "kinds").text.predictions[0]
    prediction.choices["rows"].click()
    assert not prediction.look.isEnabled(), "there is no word to take out"
    assert prediction.verdict.text() == NO_SUCH_WORD
    page.sentence.input.set_text(FIRST_EXAMPLE)
    qtbot.waitUntil(prediction.look.isEnabled)
    assert prediction.verdict.text() == ""
    prediction = chapter(qtbot, page, "weight").text.predictions[0]
    page.state.selection.pinned = None
    prediction.choices["falls"].click()
    assert prediction.look.isEnabled(), "without a pinned cell, it asks about a large weight"
    assert UNKNOWN not in prediction.question.text()


def test_the_loss_with_smoothing_is_drawn_once_the_reader_has_predicted(
    qtbot: QtBot, page: LearnPage
) -> None:
    view = chapter(qtbot, page, "training")
    figure = next(figure for figure in view.figures if isinstance(figure, SmoothingFigure))
    qtbot.waitUntil(lambda: bool(figure.chart.curves), timeout=TIMEOUT_MS)
    assert [curve.name for curve in figure.chart.curves] == ["no smoothing"]
    answer(qtbot, view.text.predictions[0], "rises")
    assert [curve.name for curve in figure.chart.curves] == ["smoothing 0.1", "no smoothing"]
    smoothed = figure.chart.curves[0]
    _, heights = figure.chart.places(smoothed.x, smoothed.y)
    assert heights.max() - heights[-1] > 0.1 * figure.chart.area.height(), (
        "that the loss rises again can be seen"
    )

    def is_scrolled_to() -> bool:
        return figure.chart.visibleRegion().boundingRect().height() == figure.chart.height()

    qtbot.waitUntil(is_scrolled_to)
    resting_heights(qtbot, view)
    assert is_scrolled_to(), "also when all figures have their final heights"


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("text", ["Zwei Hunde spielen im Schnee.", OF_16_WORDS], ids=["6", "16"])
def test_text_and_question_of_a_chapter_are_in_sight_together_on_a_laptop_and_figures_of_a_short_sentence(
    qtbot: QtBot, page: LearnPage, text: str
) -> None:
    """In a window of 1440 × 900.

    Training has three figures, and the thumbnails of all heads scroll by themselves.
    """
    page.resize(*PAGE_OF_A_LAPTOP)
    page.sentence.input.set_text(text)
    settle(qtbot, page)
    for name in (chapter.name for chapter in page.chapters):
        view = chapter(qtbot, page, name)
        qtbot.waitUntil(
            lambda view=view: not any(f.request.is_running for f in view.figures),
            timeout=TIMEOUT_MS,
        )
        resting_heights(qtbot, view)
        areas = [area for area in view.findChildren(VerticalScrollArea) if area.parent() is view]
        assert len(areas) == 2
        scrolls = [area.verticalScrollBar().maximum() for area in areas]
        # the empty room of an answer may be below the edge
        room = max((question.verdict.height() for question in view.text.predictions), default=0)
        assert scrolls[0] <= room, f"the text of {name}"
        assert scrolls[1] == 0 or name == "training" or text == OF_16_WORDS, (
            f"the figures of {name}"
        )


def test_chapters_have_their_names_in_a_window_of_1280_pixels(page: LearnPage) -> None:
    for width, name in (
        (1280 - 2 * PAGE_MARGIN, "4  One weight, end to end"),
        (SMALLEST_PAGE[0], "4  One weight,\n    end to end"),
    ):
        page.resize(width, SMALLEST_PAGE[1])
        assert page.list.buttons[3].text() == name


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_names_of_chapters_are_whole_at_every_scale(
    qapp: QApplication, page: LearnPage, scale: float
) -> None:
    Theme.light(scale).apply(qapp)
    page.resize(1064, 638)
    assert page.list.buttons[2].text() == "3  Positions"
    for button in page.list.buttons:
        assert " ".join(button.text().partition("  ")[2].split()) == button.toolTip()
        assert button.minimumSizeHint().width() <= page.list.contentsRect().width()
    Theme.light().apply(qapp)


@pytest.mark.slow
@pytest.mark.heavy
def test_nothing_is_clipped_at_the_side_of_the_smallest_page(qtbot: QtBot, page: LearnPage) -> None:
    """A window is at least as wide as `CONTENT_SIZE`, at every scale; see there."""
    page.resize(*SMALLEST_PAGE)
    for name in (chapter.name for chapter in page.chapters):
        view = chapter(qtbot, page, name)
        qtbot.waitUntil(
            lambda view=view: not any(f.request.is_running for f in view.figures),
            timeout=TIMEOUT_MS,
        )
        resting_heights(qtbot, view)
        assert page.width() == SMALLEST_PAGE[0], f"{name} makes the page wider"
        for area in view.findChildren(VerticalScrollArea):
            if area.parent() is view:
                assert area.horizontalScrollBar().maximum() == 0, name
                assert area.geometry().right() <= view.width(), name


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("text", ["Zwei Hunde spielen im Schnee.", OF_16_WORDS], ids=["6", "16"])
def test_letters_of_tables_and_maps_are_body_text_on_the_smallest_page(
    qtbot: QtBot, page: LearnPage, text: str
) -> None:
    page.resize(*SMALLEST_PAGE)
    page.sentence.input.set_text(text)
    settle(qtbot, page)
    body = QFontMetrics(current_theme().font("body"))
    for name in ("positions", "weight", "heads", "mask", "decoding"):
        view = chapter(qtbot, page, name)
        qtbot.waitUntil(
            lambda view=view: not any(f.request.is_running for f in view.figures),
            timeout=TIMEOUT_MS,
        )
        resting_heights(qtbot, view)
        for figure in view.figures:
            if isinstance(figure, OneWeightFigure):
                assert figure.table.line_of(0).height() >= body.height()
            if isinstance(figure, ChipFigure):
                assert figure.drawing.theme.base_px >= current_theme().base_px
            if isinstance(figure, MatrixFigure):
                height = figure.matrix.cell_rect(MatrixCell(0, 0, 0)).height()
                assert height >= row_height(current_theme().font("body")) - 0.5, (
                    "every row of up to 20 has its label"
                )
            if isinstance(figure, MapFigure):
                layout = figure.map.layout_now
                assert layout is not None
                assert layout.row_step == 1
                rows = figure.state.maps.view()
                assert rows is not None
                num_rows = len(rows.row_labels)
                assert num_rows > 12 or layout.map.height() / num_rows > 14, "labels do not touch"
                assert layout.font.pixelSize() >= 12


@pytest.mark.heavy
def test_the_value_of_a_cell_stands_below_the_map_of_a_chapter(
    qtbot: QtBot, page: LearnPage
) -> None:
    view = chapter(qtbot, page, "weight")
    figure = view.figures[0]
    assert isinstance(figure, MapFigure)
    pinned = page.state.selection.pinned
    assert pinned is not None
    assert figure.value.text() == ": ".join(map_text.describe(page.state, pinned) or ())
    page.state.selection.hovered = Pair(0, 0)
    assert figure.value.text() == ": ".join(map_text.describe(page.state, Pair(0, 0)) or ())
    assert figure.map._painter is not None
    assert not figure.map._painter.shows_value


@pytest.mark.parametrize("size", [(904, 530), (1064, 600), (1244, 700), (1330, 700)])
def test_the_small_drawing_marks_the_parts_of_a_chapter_beside_every_list(
    qtbot: QtBot, page: LearnPage, size: tuple[int, int]
) -> None:
    page.resize(*size)
    chapter(qtbot, page, "kinds")
    diagram = page.list.diagram
    qtbot.waitUntil(lambda: diagram.height() >= 90)
    assert diagram.marked == set(page.chapters[page.place].parts)
    assert page.list._area.verticalScrollBar().maximum() == 0, (
        "and all chapters and lessons are in sight"
    )
    accent = current_theme().color("accent").rgb()
    image = diagram.grab().toImage()
    assert any(
        image.pixel(x, y) == accent for x in range(image.width()) for y in range(image.height())
    )


def test_numbers_of_chapters_have_room_beside_the_scroll_bar(qtbot: QtBot, page: LearnPage) -> None:
    page.resize(1064, 600)
    page.list.setFixedHeight(150)
    area = page.list._area
    qtbot.waitUntil(lambda: area.verticalScrollBar().isVisible(), timeout=3000)
    widths = [button.minimumSizeHint().width() for button in page.list.buttons]
    assert area.viewport().width() >= max(widths)


@pytest.mark.heavy
def test_a_verdict_is_brought_into_sight(qtbot: QtBot, page: LearnPage) -> None:
    page.resize(1080, 600)
    view = chapter(qtbot, page, "decoding")
    prediction = view.text.predictions[0]
    qtbot.waitUntil(lambda: "…" not in prediction.question.text())
    answer(qtbot, prediction, "same")

    def is_in_sight() -> bool:
        area = view._text_area.viewport()
        bottom = prediction.verdict.mapTo(area, prediction.verdict.rect().bottomLeft()).y()
        return 0 < bottom <= area.height()

    qtbot.waitUntil(is_in_sight)


def test_a_chapter_does_not_scroll_for_a_verdict_whose_words_are_in_sight(
    qtbot: QtBot, page: LearnPage
) -> None:
    """Only a part of the room that is kept for longer ones is not."""
    view = chapter(qtbot, page, "heads")
    prediction = view.text.predictions[0]
    qtbot.waitUntil(lambda: "…" not in prediction.question.text())
    settle_layout()
    card = prediction.mapTo(view.text, prediction.rect().bottomLeft()).y()
    missing = card - view._text_area.viewport().height()
    page.resize(page.width(), page.height() + missing - 30)
    settle_layout()
    answer(qtbot, prediction, "no")
    settle_layout()
    assert view._text_area.verticalScrollBar().maximum() > 0, "it could scroll"
    assert view._text_area.verticalScrollBar().value() == 0


def test_rates_and_smoothing_are_those_of_the_engine(qtbot: QtBot, page: LearnPage) -> None:
    view = chapter(qtbot, page, "training")
    rates = next(figure for figure in view.figures if isinstance(figure, RatesFigure))
    smoothing = next(figure for figure in view.figures if isinstance(figure, SmoothingFigure))
    qtbot.waitUntil(lambda: smoothing.answer is not None, timeout=TIMEOUT_MS)
    peaks = [curve.x[curve.y.argmax()] for curve in rates.chart.curves]
    assert peaks[:3] == pytest.approx([4000, 8000, 4000], abs=51)
    assert rates.chart.curves[2].y.max() == pytest.approx(256**-0.5 * 4000**-0.5, rel=0.02)
    own = rates.chart.curves[3]
    curves = rates.chart.curves
    rates.redraw()
    assert rates.chart.curves is curves, "thousands of rates are computed once for a model"
    history = read_history(resource_path("multi30k-de-en.history.csv"))
    assert own.x[-1] == history[-1].step == 6832
    drawn = np.interp([record.step for record in history], own.x, own.y)
    assert drawn == pytest.approx([record.learning_rate for record in history], rel=0.01)
    smoothing_curves = smoothing.answer
    assert smoothing_curves is not None
    assert smoothing_curves.target.tolist() == pytest.approx([0, 0.1 / 3, 0.9, 0.1 / 3, 0.1 / 3])
    assert smoothing_curves.odds[smoothing_curves.smoothed_loss.argmin()] == pytest.approx(
        27, abs=0.3
    ), "where the model says 0.9 too"
    assert smoothing_curves.smoothed_loss.min() == pytest.approx(0, abs=1e-4)
    assert (np.diff(smoothing_curves.plain_loss) < 0).all()
    assert smoothing_curves.plain_loss[-1] == pytest.approx(-np.log(100 / 103))
    assert answer(qtbot, view.text.predictions[0], "rises").startswith("Right.")


def test_the_rank_correlation_is_that_of_spearman() -> None:
    assert rank_correlation([1, 2, 3, 4], [0.1, 1, 10, 100]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    assert rank_correlation([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]) == pytest.approx(0.8), (
        "1 − 6·4 / (5·24)"
    )
    assert rank_correlation([1, 1, 2], [1, 2, 3]) == pytest.approx(3**0.5 / 2), "ranks 1.5, 1.5, 3"
    assert np.isnan(rank_correlation([1, 1, 1], [1, 2, 3]))


def test_a_point_for_each_head_and_a_click_chooses_it(qtbot: QtBot, page: LearnPage) -> None:
    page.sentence.input.set_text(CASTLE)
    settle(qtbot, page)
    view = chapter(qtbot, page, "not")
    figure = view.figures[0]
    assert isinstance(figure, ClarityVsImportanceFigure)
    qtbot.waitUntil(lambda: len(figure.plot.points) == 72, timeout=TIMEOUT_MS)
    most = min(figure.plot.points, key=lambda point: point.effect)
    least = max(figure.plot.points, key=lambda point: point.effect)
    assert figure.correlations.text().startswith(
        "Rank correlation of clarity and change: encoder self-attention +0.18, decoder "
        "self-attention +0.14, cross-attention −0.08; all heads together −0.17 "
    )
    assert figure.plot.ticks[1] == pytest.approx([-0.1, -0.05, 0, 0.05, 0.1, 0.15])
    assert (round(most.effect, 3), round(least.effect, 3)) == (-0.148, 0.178), (
        "no tick is beyond them"
    )
    whole = figure.plot.points
    figure.plot.points = [
        HeadPoint(point.head, point.clarity, point.effect / 1000) for point in whole
    ]
    assert figure.plot.ticks[1] == pytest.approx([-0.1, -0.05, 0, 0.05, 0.1]), (
        "small changes look small"
    )
    figure.plot.points = whole
    qtbot.mouseClick(
        figure.plot, Qt.MouseButton.LeftButton, pos=figure.plot.place_of(most).toPoint()
    )
    assert page.state.selection.head == most.head
    assert display_text(most.head.title) in figure.says.text()
    assert page.state.original is not None
    page.state.submit(toggle(most.head))
    settle(qtbot, page)
    result = page.state.result
    assert result is not None
    change = sum(result.original_log_probabilities) - result.original.log_probability
    assert change == pytest.approx(most.effect, abs=1e-3)
    assert figure.waiting.isHidden()


def test_a_quiet_head_is_needed_for_a_word(qtbot: QtBot, page: LearnPage) -> None:
    """What the text says: the head that is needed most points at nothing clearly; without it a word
    is wrong.
    """
    view = chapter(qtbot, page, "not")
    figure = view.figures[0]
    assert isinstance(figure, ClarityVsImportanceFigure)
    view.text.tries[0].click()
    settle(qtbot, page)
    qtbot.waitUntil(lambda: figure.has_answer, timeout=TIMEOUT_MS)
    most = min(figure.plot.points, key=lambda point: point.effect)
    assert page.state.selection.head == most.head, (
        "the head that is shown is the one that is needed most"
    )
    assert sum(point.clarity < most.clarity for point in figure.plot.points) < 72 / 4, (
        "it is in the quietest quarter"
    )
    assert most.clarity < 0.3
    loudest = max(figure.plot.points, key=lambda point: point.clarity)
    assert abs(loudest.effect) < 0.25 * abs(most.effect)
    assert page.state.translation is not None
    assert page.state.translation.text == "A man is talking on the phone in a messy office."
    view.text.tries[2].click()
    settle(qtbot, page)
    assert page.state.translation.text == "A man is talking on the phone in an unfined office."


def test_the_shirt_is_looked_at_in_vain(qtbot: QtBot, page: LearnPage) -> None:
    view = chapter(qtbot, page, "not")
    view.text.tries[1].click()
    settle(qtbot, page)
    translation = page.state.translation
    assert translation is not None
    assert translation.text == "A man is wearing a shirt."
    shirt, no = (
        next(slice(word.start, word.end) for word in words if word.text == text)
        for words, text in ((translation.target_words, "shirt"), (translation.source_words, "kein"))
    )
    assert no.stop - no.start == 2, "the text says that it is read in two pieces"
    head = page.state.selection.head
    assert head.kind == "cross"
    assert translation.maps.cross[head.layer, head.head, shirt, no].sum() > 0.9, (
        "the head that is shown looks at it"
    )
    assert answer(qtbot, view.text.predictions[0], "same").startswith(
        "Right. The whole translation is "
    )


def test_the_hint_names_nothing_that_is_not_on_the_page(page: LearnPage) -> None:
    hint = page.sentence.interventions.hint.text()
    assert hint
    assert "head" not in hint


def resting_heights(qtbot: QtBot, view: ChapterView) -> list[int]:
    """Of the figures, when they change no more."""
    seen: list[list[int]] = [[]]

    def rest() -> bool:
        seen.append([figure.height() for figure in view.figures])
        return len(seen) > 8 and all(heights == seen[-1] for heights in seen[-8:])

    qtbot.waitUntil(rest, timeout=TIMEOUT_MS)
    return seen[-1]


def share_of_height(page: LearnPage, view: ChapterView) -> float:
    """How much of the page's height the figures of a chapter take, all together."""
    return sum(figure.height() for figure in view.figures) / view.height()


@pytest.mark.parametrize("name", ["words", "layers", "decoding"])
def test_figures_are_larger_on_a_large_page_and_clipped_on_none(
    qtbot: QtBot, page: LearnPage, name: str
) -> None:
    page.resize(1080, 600)
    page.sentence.input.set_text(CASTLE)
    settle(qtbot, page)
    view = chapter(qtbot, page, name)
    qtbot.waitUntil(
        lambda: not any(figure.request.is_running for figure in view.figures), timeout=TIMEOUT_MS
    )
    small = resting_heights(qtbot, view)
    letters = [figure.drawing.factor for figure in view.figures if isinstance(figure, ChipFigure)]
    page.resize(1890, 1000)
    large = resting_heights(qtbot, view)
    if letters:  # they wrapped into several lines on the small page
        assert all(
            figure.drawing.factor > 1.2 * before
            for figure, before in zip(view.figures, letters, strict=True)
            if isinstance(figure, ChipFigure)
        )
    else:
        assert sum(large) > 1.05 * sum(small)
    assert 0.55 < share_of_height(page, view) <= 1.0, "it is used, and nothing scrolls"
    for figure in view.figures:
        assert figure.width() <= view.width()
    page.resize(1080, 600)
    qtbot.waitUntil(
        lambda: [figure.height() for figure in view.figures] == pytest.approx(small, abs=2)
    )


def test_points_of_heads_and_their_map_share_a_large_page(qtbot: QtBot, page: LearnPage) -> None:
    page.resize(1890, 1000)
    view = chapter(qtbot, page, "not")
    qtbot.waitUntil(
        lambda: not any(figure.request.is_running for figure in view.figures), timeout=TIMEOUT_MS
    )
    resting_heights(qtbot, view)
    points = view.figures[0]
    assert isinstance(points, ClarityVsImportanceFigure)
    assert points.plot.height() > 1.25 * points.plot.minimumHeight()


def test_the_published_mask_of_20_positions_is_shown_in_place_of_the_sentences(
    qtbot: QtBot, page: LearnPage
) -> None:
    figure = chapter(qtbot, page, "mask").figures[0]
    assert isinstance(figure, MaskFigure)
    figure.published.click()
    (matrix,) = figure.matrix.matrices
    assert (matrix.values == np.tril(np.ones((20, 20)))).all()
    assert "20 positions" in figure.title.text()
    figure._say(MatrixCell(0, 3, 4))
    assert figure.says.text() == "Position 4 may not look at position 5."
    figure.published.click()
    assert page.state.translation is not None
    assert figure.matrix.matrices[0].values.shape == (len(page.state.translation.read_tokens),) * 2


def test_the_model_shows_how_much_attention_padding_would_get(
    qtbot: QtBot, page: LearnPage
) -> None:
    view = chapter(qtbot, page, "mask")
    assert any("padding mask" in text.text() for _, text in view.text.texts), "in the main text"
    figure = view.figures[0]
    assert isinstance(figure, MaskFigure)
    figure.padding.click()
    qtbot.waitUntil(lambda: "Without the mask" in figure.says.text(), timeout=TIMEOUT_MS)
    (matrix,) = figure.matrix.matrices
    assert matrix.column_labels[-5:] == ("<eos>", *["<pad>"] * 4)
    masked, unmasked = matrix.values
    assert masked.sum() == pytest.approx(1, abs=1e-5)
    assert unmasked.sum() == pytest.approx(1, abs=1e-5)
    assert page.state.translation is not None
    mean = page.state.translation.maps.encoder.mean(axis=(0, 1, 2))
    assert masked == pytest.approx([*mean, 0, 0, 0, 0], abs=1e-3), "padding changes nothing"
    assert unmasked[-4:].sum() > 0.01
    assert percent_in_words(float(unmasked[-4:].sum())) in figure.says.text()
    figure.published.click()
    assert not figure.padding.isChecked()
    figure.published.click()
    assert figure.matrix.matrices[0].values.shape == (len(page.state.translation.read_tokens),) * 2


@pytest.mark.parametrize("name", ["layers", "feed-forward"])
def test_no_framed_cell_says_that_its_token_has_no_probability(
    qtbot: QtBot, page: LearnPage, name: str
) -> None:
    """A token can lead ten thousand others with 0.4%."""
    view = chapter(qtbot, page, name)
    figure = view.figures[0]
    assert isinstance(figure, MatrixFigure)
    cell_text = figure.matrix_style.cell_text
    assert cell_text is not None
    assert [cell_text(share) for share in (0.0, 0.004, 0.57, 0.999, 1.0)] == [
        "0",
        "<1",
        "57",
        ">99",
        "100",
    ]


def test_a_cell_moved_by_a_button_is_framed_no_longer_than_its_change(
    qtbot: QtBot, page: LearnPage
) -> None:
    view = chapter(qtbot, page, "weight")
    back, move = view.text.tries[1:3]
    move.click()
    qtbot.waitUntil(lambda: bool(page.state.experiment.attention_rows), timeout=TIMEOUT_MS)
    settle(qtbot, page)
    moved = page.state.selection.pinned
    back.click()
    settle(qtbot, page)
    pinned = page.state.selection.pinned
    assert pinned is not None
    assert pinned != moved
    head, translation = page.state.selection.head, page.state.translation
    assert translation is not None
    assert translation.maps.cross[head.layer, head.head][pinned.query, pinned.key] > 0.5


@pytest.mark.parametrize("text", example_sentences()[:11])
def test_the_second_choice_is_no_form_of_the_word_that_follows_anyway(
    bundled_translator: Translator, text: str
) -> None:
    """“is reading” and “reads” say the same: nobody could tell whether other words follow."""
    before = bundled_translator.translate(text)
    step = unsure_step(before)
    assert step is not None
    second = before.alternatives[step][1]
    after = bundled_translator.run(
        Experiment(text).with_interventions(ForcedToken(step, second.entry))
    )
    if second.token[:4] == before.predicted_tokens[step + 1][:4]:
        assert after.predicted_ids[step + 1 :] == before.predicted_ids[step + 2 :], (
            "without a better one, the words after it are the same, as the verdict says"
        )


@pytest.mark.slow
def test_another_language_of_the_texts_is_chosen_where_there_is_one(
    qtbot: QtBot, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: LearnPage
) -> None:
    assert page.list.language_menu.isHidden(), "there is English alone"
    shutil.copytree(texts.chapters_folder(), tmp_path / "learn" / "en")
    (tmp_path / "learn" / "de").mkdir()
    german = "# Ein Gewicht\n> Ein Kopf vergleicht.\n\n::: figure map\n"
    (tmp_path / "learn" / "de" / "03-weight.md").write_text(german, encoding="utf-8")
    monkeypatch.setattr(texts, "resource_path", lambda name: tmp_path / name)
    other = LearnPage(InferenceWorker())
    qtbot.addWidget(other)
    other.resize(1400, 850)
    with qtbot.waitSignal(other.ready, timeout=TIMEOUT_MS):
        other.show()
    qtbot.waitUntil(lambda: other.view is not None, timeout=TIMEOUT_MS)
    assert other.list.language_menu.isVisible()
    chapter(qtbot, other, "weight")
    with qtbot.waitSignal(other.language_chosen):
        other.list.language_menu.actions_by_name["de"].trigger()
    assert other.view is not None
    assert other.view.chapter.title == "Ein Gewicht"
    assert any("Ein Gewicht" in button.text() for button in other.list.buttons)
    assert chapter(qtbot, other, "mask").chapter.title == "The causal mask"
    other.shutdown()


def words_of(textbook: TextbookView) -> str:
    return " ".join(paragraph.text() for paragraph in textbook.findChildren(QLabel))


def test_textbook_texts_are_folded_and_give_the_numbers_of_the_chosen_head(
    qtbot: QtBot, page: LearnPage
) -> None:
    view = chapter(qtbot, page, "weight")
    (textbook,) = view.text.textbooks
    assert textbook.isHidden()
    assert textbook.button.text() == "▸ Textbook"
    qtbot.mouseClick(textbook.button, Qt.MouseButton.LeftButton)
    assert textbook.isVisible()
    translation = page.state.translation
    assert translation is not None
    num_queries, num_keys = translation.maps.cross.shape[-2:]
    assert f"Q has {num_queries} rows, K and V\nhave {num_keys}, each of" in words_of(textbook)
    assert "√32 = 5.66" in words_of(textbook)
    page.state.intents.choose_head(Head("encoder", 0, 0))
    assert f"Q has {num_keys} rows, K and V\nhave {num_keys}, each of" in words_of(textbook)
    qtbot.mouseClick(textbook.button, Qt.MouseButton.LeftButton)
    assert textbook.isHidden()


@pytest.mark.parametrize("name", ["weight", "training"])
def test_a_textbook_text_that_is_opened_comes_into_sight(
    qtbot: QtBot, page: LearnPage, name: str
) -> None:
    """It is higher than the page in one chapter, and then begins at the top."""
    page.resize(1064, 600)
    view = chapter(qtbot, page, name)
    (textbook,) = view.text.textbooks
    (area,) = (
        area for area in view.findChildren(VerticalScrollArea) if area.isAncestorOf(textbook)
    )
    assert not textbook.button.visibleRegion().isEmpty(), "it is below the text, always in sight"
    qtbot.mouseClick(textbook.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: textbook.height() > 200)

    def is_in_sight() -> bool:
        top = textbook.mapTo(area, QPoint(0, 0)).y()
        is_whole = top + textbook.height() <= area.height()
        return top >= 0 and (is_whole or top < area.height() / 4)

    qtbot.waitUntil(is_in_sight)


def test_textbook_texts_give_the_settings_of_the_model(qtbot: QtBot, page: LearnPage) -> None:
    assert page.state.model is not None
    run = page.state.model.run
    shown = " ".join(
        words_of(textbook)
        for name in ("positions", "layers", "training")
        for textbook in chapter(qtbot, page, name).text.textbooks
    )
    assert run.model.scale_embeddings
    assert f"√{run.model.width} = {run.model.width**0.5:g}" in shown
    assert f"This model is {run.model.norm_position}-norm." in shown
    assert f"the probability p, here {run.model.dropout:.0%}" in shown
    assert f"β₁ = {run.training.adam_beta1} and β₂ = {run.training.adam_beta2}" in shown


def test_moving_a_row_by_hand_changes_the_translation(
    qtbot: QtBot, page: LearnPage, bundled_translator: Translator
) -> None:
    view = chapter(qtbot, page, "weight")
    button = next(button for button in view.text.tries if "Garten" in button.text())
    button.click()
    qtbot.waitUntil(lambda: bool(page.state.experiment.attention_rows), timeout=TIMEOUT_MS)
    rest(qtbot, page, view)
    result = page.state.result
    assert result is not None
    assert (result.original.predicted_tokens[9], result.original.source_tokens[3]) == (
        "garden",
        "baut",
    )
    weights = tuple(float(index == 3) for index in range(len(result.original.source_tokens)))
    row = AttentionRow(Head("cross", 1, 7), 9, weights)
    expected = bundled_translator.run(
        Experiment(result.original.source_text).with_interventions(row)
    )
    assert result.changed.text == expected.text != result.original.text
    figure = next(figure for figure in view.figures if isinstance(figure, OneWeightFigure))
    assert figure.equation.text().endswith("The row is set by hand: 1.000")


def test_the_whole_row_moves_to_the_pinned_key(qtbot: QtBot, page: LearnPage) -> None:
    view = chapter(qtbot, page, "weight")
    figure = next(figure for figure in view.figures if isinstance(figure, OneWeightFigure))
    qtbot.waitUntil(lambda: bool(figure.equation.text()), timeout=TIMEOUT_MS)
    pinned = page.state.selection.pinned
    assert pinned is not None
    page.state.selection.pinned = Pair(pinned.query, 2)
    assert figure.move_button.text() == "Move the whole row to “koch”"
    figure.move_button.click()
    settle(qtbot, page)
    (row,) = page.state.experiment.attention_rows
    assert (row.head, row.row, row.weights.index(1.0)) == (
        page.state.selection.head,
        pinned.query,
        2,
    )
    translation = page.state.translation
    assert translation is not None
    weights = translation.maps.cross[row.head.layer, row.head.head, row.row]
    np.testing.assert_allclose(weights, row.weights, atol=1e-6)


def test_a_row_of_the_decoder_cannot_move_to_a_token_that_is_hidden(
    qtbot: QtBot, page: LearnPage
) -> None:
    page.state.intents.choose_head(Head("decoder", 0, 0))
    page.state.selection.pinned = Pair(1, 3)
    move_row(page.state, "pinned")
    assert page.state.experiment.attention_rows == ()
    page.state.selection.pinned = Pair(3, 1)
    move_row(page.state, "pinned")
    assert page.state.experiment.attention_rows[0].weights == (0.0, 1.0, 0.0, 0.0)


def test_without_cross_attention_every_sentence_has_the_same_translation(
    qtbot: QtBot, page: LearnPage, bundled_translator: Translator
) -> None:
    view = chapter(qtbot, page, "kinds")
    off, another, on = view.text.tries[:3]
    heads = [HeadScaled(head) for head in page.state.maps.all_heads if head.kind == "cross"]
    shown = []
    for button, text in ((off, FIRST_EXAMPLE), (another, "Ein Hund schläft.")):
        button.click()
        settle(qtbot, page)
        result = page.state.result
        assert result is not None
        expected = bundled_translator.run(Experiment(text).with_interventions(*heads)).text
        assert result.changed.text == expected != result.original.text
        shown.append(expected)
    assert shown[0] == shown[1]
    on.click()
    settle(qtbot, page)
    assert page.state.experiment.interventions == ()
