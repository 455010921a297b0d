"""Every tab shows the current experiment: whatever is changed, all of them follow."""

import itertools

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.analyses.alti import contributions_of
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    Intervention,
    Output,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.tabs.source.view import SourceTab
from augenmerk.viz_app.extensions.tabs.steps.view import StepsTab
from augenmerk.viz_app.state.experiment_editor import (
    force,
    intervene,
    redo,
    reset,
    set_output,
    undo,
    use_own_decoding,
)
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.tabs import TABS
from augenmerk.viz_app.translate.analysis_panel import AnalysisPanel
from augenmerk.viz_app.translate.analysis_tab import AnalysisContext, AnalysisTab
from augenmerk.viz_app.worker.inference import ExperimentController
from tests.builders import first_quick
from tests.interventions import heads_switched_off
from tests.viz_app.builders import shown
from tests.viz_app.extensions.tabs.conftest import SENTENCE, MakeContext, settle

HEADS_OFF = heads_switched_off(
    Head("cross", layer, head) for layer in range(3) for head in range(3)
)
CROSS_ROW = AttentionRow(Head("cross", 1, 3), 2, (0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0))
DECODER_ROW = AttentionRow(Head("decoder", 0, 0), 2, (1.0, 0.0, 1.0))
CHANGES: dict[str, tuple[Output | None, tuple[Intervention, ...]]] = {
    "heads off": (None, HEADS_OFF),
    "a forced token": (None, (ForcedToken(1, "dog"),)),
    "rows": (None, (CROSS_ROW, DECODER_ROW)),
    "source words": (None, (SourceWordRemoved(2), SourceWordReplaced(1, "Mann"))),
    "a given target": (GivenTarget("A dog sleeps in the grass ."), ()),
    "a given target, heads off": (
        GivenTarget("A dog sleeps in the grass ."),
        (*HEADS_OFF, SourceWordRemoved(0)),
    ),
    "all at once": (
        None,
        (*HEADS_OFF[:2], ForcedToken(0, "dog"), DECODER_ROW, SourceWordReplaced(1, "Mann")),
    ),
}


@pytest.fixture
def context(make_context: MakeContext) -> AnalysisContext:
    return make_context()


def _panel(context: AnalysisContext, qtbot: QtBot) -> AnalysisPanel:
    return shown(qtbot, AnalysisPanel(context))


def _open(panel: AnalysisPanel, tab: type[AnalysisTab], qtbot: QtBot) -> AnalysisTab:
    panel.show_tab([type(listed_tab) for listed_tab in panel.tabs].index(tab))
    settle(qtbot, panel.tab)
    return panel.tab


def _check(
    panel: AnalysisPanel, experiment: Experiment, translator: Translator, qtbot: QtBot
) -> None:
    """Steps and Source show what the engine alone makes of the experiment."""
    expected = translator.run(experiment)
    steps, source = _open(panel, StepsTab, qtbot), _open(panel, SourceTab, qtbot)
    assert isinstance(steps, StepsTab)
    assert isinstance(source, SourceTab)
    assert tuple(chip.text for chip in steps.tokens.chips) == expected.predicted_tokens
    assert source.source.findings is not None
    np.testing.assert_allclose(
        source.source.findings.contributions.source,
        contributions_of(translator, expected).source,
        atol=1e-5,
    )
    shown = source.source.findings.contributions.translation
    assert shown is panel.tabs[0].state.translation
    assert shown.log_probability == pytest.approx(expected.log_probability, abs=1e-3)


@pytest.mark.heavy
@pytest.mark.parametrize("name", first_quick(CHANGES))
def test_steps_and_source_are_those_of_the_experiment(
    context: AnalysisContext, qtbot: QtBot, translators: dict[str, Translator], name: str
) -> None:
    output, interventions = CHANGES[name]
    panel = _panel(context, qtbot)
    settle(qtbot, panel.tab)
    if output is not None:
        context.state.submit(set_output(output))
    context.state.submit(intervene(*interventions))
    settle(qtbot, panel.tab)
    experiment = context.state.experiment
    assert set(experiment.interventions) == set(interventions)
    _check(panel, experiment, translators["words"], qtbot)
    context.state.submit(reset)
    settle(qtbot, panel.tab)
    assert context.state.experiment.interventions == ()
    _check(panel, context.state.experiment, translators["words"], qtbot)


@pytest.mark.heavy
def test_every_tab_follows_undo_and_redo(
    context: AnalysisContext, qtbot: QtBot, translators: dict[str, Translator]
) -> None:
    panel, state = _panel(context, qtbot), context.state
    asked = [state.experiment]
    for change in (HeadScaled(Head("cross", 0, 0)), ForcedToken(0, "dog"), SourceWordRemoved(1)):
        state.submit(intervene(change))
        settle(qtbot, panel.tab)
        asked.append(state.experiment)
    for step in (undo, undo, redo):
        state.submit(step)
        settle(qtbot, panel.tab)
    assert state.experiment == asked[2]
    _check(panel, asked[2], translators["words"], qtbot)


@pytest.mark.heavy
@pytest.mark.parametrize("index", first_quick(range(len(TABS))), ids=list(TABS))
def test_a_tab_stays_usable_whatever_is_changed_and_excuses_nothing(
    context: AnalysisContext, qtbot: QtBot, index: int
) -> None:
    panel = _panel(context, qtbot)
    tab = _open(panel, type(panel.tabs[index]), qtbot)
    for output, interventions in CHANGES.values():
        context.state.submit(reset)
        if output is not None:
            context.state.submit(set_output(output))
        context.state.submit(intervene(*interventions))
        settle(qtbot, tab)
        assert context.state.request.problem == ""
        assert tab.problem.text() == "", interventions
        said = " ".join(label.text() for label in tab.findChildren(QLabel) if label.isVisible())
        for excuse in (
            "every head is on",
            "every head on",
            "not of the given",
            "switched off above",
        ):
            assert excuse not in said
        context.state.submit(use_own_decoding)


@pytest.mark.slow
@pytest.mark.heavy
def test_two_experiments_live_side_by_side(
    context: AnalysisContext, qtbot: QtBot, translators: dict[str, Translator]
) -> None:
    other_state = ExperimentState()
    controller = ExperimentController(other_state, context.controller._worker)
    other = AnalysisContext(other_state, controller, context.preferences)
    other_state.prepare_text("Ein Mann wartet .")
    assert context.state.model is not None
    other_state.begin_model(context.state.model)
    other_state.ask_again()
    qtbot.waitUntil(lambda: other_state.result is not None, timeout=10_000)
    first, second = _panel(context, qtbot), _panel(other, qtbot)
    for panel, tab in itertools.product((first, second), (SourceTab, StepsTab)):
        _open(panel, tab, qtbot)
    context.state.submit(intervene(*HEADS_OFF))
    other_state.submit(force(0, "dog"))
    assert isinstance(first.tab, StepsTab)
    first.tab.forward.click()
    for panel in (first, second):
        settle(qtbot, panel.tab)
    assert context.state.experiment == Experiment(SENTENCE, interventions=HEADS_OFF)
    assert other_state.experiment == Experiment(
        "Ein Mann wartet .", interventions=(ForcedToken(0, "dog"),)
    )
    assert (context.state.selection.step, other_state.selection.step) == (1, 0)
    for panel, of in ((first, context), (second, other)):
        _check(panel, of.state.experiment, translators["words"], qtbot)
