"""Sentences and models at the edge, in every tab of the Analysis panel."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QAbstractScrollArea
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind, Head
from augenmerk.core.translation.experiment import Experiment, GivenTarget, HeadScaled
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.state.experiment_editor import force, intervene, set_output
from augenmerk.viz_app.state.tabs import TABS
from augenmerk.viz_app.translate.analysis_panel import MIN_WIDTH, AnalysisPanel
from augenmerk.viz_app.translate.analysis_tab import AnalysisContext
from tests.builders import first_quick
from tests.interventions import heads_switched_off
from tests.viz_app.builders import settle_layout, shown
from tests.viz_app.extensions.tabs.conftest import MakeContext, load, settle

SENTENCES = {
    "one word": "Hund",
    "a full stop": ".",
    "unknown words": "Quastenflosser xylophonieren Ω .",
    "one letter": "x",
    "a lone surrogate": "Hund \ud83d .",
    "far too long": "Ein Hund schläft im Gras . " * 40,
}
MODELS = ("words", "pieces", "single")
all_models = pytest.mark.parametrize("model", MODELS)


def _panel(context: AnalysisContext, qtbot: QtBot) -> AnalysisPanel:
    return shown(qtbot, AnalysisPanel(context), (430, 700))


def _check_every_tab(panel: AnalysisPanel, qtbot: QtBot) -> None:
    for index, tab in enumerate(panel.tabs):
        panel.show_tab(index)
        settle(qtbot, tab)
        assert tab.problem.text() == "", tab.tab.name
        assert not tab.grab().isNull()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("model", "sentence"),
    first_quick(
        [
            (model, sentence)
            for index, sentence in enumerate(SENTENCES.values())
            for model in (MODELS[index % 3], MODELS[(index + 1) % 3])
        ]
    ),
)
def test_every_tab_takes_short_long_and_unknown_sentences(
    make_context: MakeContext, qtbot: QtBot, model: str, sentence: str
) -> None:
    context = make_context(model, sentence)
    translation = context.state.translation
    assert translation is not None
    for kind in ATTENTION_KINDS:
        np.testing.assert_allclose(translation.maps.of_kind(kind).sum(axis=-1), 1, atol=1e-4)
    _check_every_tab(_panel(context, qtbot), qtbot)


@pytest.mark.heavy
@pytest.mark.parametrize("kind", first_quick(ATTENTION_KINDS))
@all_models
def test_all_heads_of_a_layer_off(
    make_context: MakeContext,
    qtbot: QtBot,
    translators: dict[str, Translator],
    model: str,
    kind: AttentionKind,
) -> None:
    context = make_context(model)
    panel = _panel(context, qtbot)
    num_heads = context.state.maps.shape(kind)[1]
    off = heads_switched_off(Head(kind, 0, head) for head in range(num_heads))
    context.state.submit(intervene(*off))
    settle(qtbot, panel.tab)
    result = context.state.result
    assert result is not None
    expected = translators[model].run(
        Experiment(context.state.experiment.source_text, interventions=off)
    )
    assert result.changed.predicted_ids == expected.predicted_ids
    assert np.isfinite(result.original_log_probabilities).all()
    _check_every_tab(panel, qtbot)


@all_models
@pytest.mark.heavy
def test_a_forced_token_that_ends_the_sentence_at_once(
    make_context: MakeContext, qtbot: QtBot, model: str
) -> None:
    context = make_context(model)
    panel = _panel(context, qtbot)
    context.state.submit(force(0, "<eos>"))
    settle(qtbot, panel.tab)
    translation = context.state.translation
    assert translation is not None
    assert translation.predicted_tokens == ("<eos>",)
    _check_every_tab(panel, qtbot)


@all_models
@pytest.mark.heavy
def test_a_given_translation_of_words_that_the_model_does_not_know(
    make_context: MakeContext, qtbot: QtBot, model: str
) -> None:
    context = make_context(model)
    panel = _panel(context, qtbot)
    context.state.submit(set_output(GivenTarget("Coelacanths xylophonise Ω")))
    settle(qtbot, panel.tab)
    assert context.state.translation is not None
    assert context.state.translation.is_given
    _check_every_tab(panel, qtbot)


@pytest.mark.heavy
def test_a_refused_experiment_leaves_every_tab_as_it_is(
    make_context: MakeContext, qtbot: QtBot
) -> None:
    context = make_context()
    panel, shown = _panel(context, qtbot), context.state.translation
    _check_every_tab(panel, qtbot)
    context.state.submit(intervene(HeadScaled(Head("cross", 77, 0))))
    settle(qtbot, panel.tab)
    assert context.state.request.problem
    assert context.state.translation is shown
    _check_every_tab(panel, qtbot)


@pytest.mark.heavy
def test_another_model_takes_over_while_every_tab_has_been_used(
    make_context: MakeContext, qtbot: QtBot, model_files: dict[str, Path]
) -> None:
    context = make_context("words")
    panel = _panel(context, qtbot)
    context.state.submit(intervene(HeadScaled(Head("cross", 2, 3))))
    settle(qtbot, panel.tab)
    _check_every_tab(panel, qtbot)
    before = context.state.translation
    load(context, model_files["single"])  # which has no such head
    qtbot.waitUntil(lambda: context.state.translation is not before, timeout=10_000)
    settle(qtbot, panel.tab)
    assert "Dropped" in context.state.notice
    _check_every_tab(panel, qtbot)


@pytest.mark.parametrize("name", TABS)
@pytest.mark.parametrize("width", [MIN_WIDTH, 430])
def test_without_a_translation_no_tab_scrolls(
    make_context: MakeContext, qtbot: QtBot, name: str, width: int
) -> None:
    context = make_context()
    context.state.clear()
    panel = shown(qtbot, AnalysisPanel(context, {name: TABS[name]}), (width, 420))
    settle_layout()
    assert panel.width() == width
    for area in panel.tab.findChildren(QAbstractScrollArea):
        for bar in (area.verticalScrollBar(), area.horizontalScrollBar()):
            assert not (area.isVisible() and bar.isVisible()), area
    explanation = panel.tab.explanation
    assert explanation.height() >= explanation.heightForWidth(explanation.width())
