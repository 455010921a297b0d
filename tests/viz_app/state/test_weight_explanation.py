"""The products of query and key behind a pinned weight, by a real model of a few dimensions."""

import numpy as np
import pytest

from core.analysis.capture import trace_translation
from core.model.heads import Head
from core.translation.experiment import AttentionRow, Experiment, GivenTarget, HeadScaled
from core.translation.result import MAP_KINDS
from core.translation.translator import Translator
from tests.checkpoints import write_untrained_checkpoint
from viz_app.state.experiment_state import ExperimentState
from viz_app.state.map_view import Pair
from viz_app.state.weight_explanation import QueryKeyView, WeightExplanation, query_key_view

GIVEN = Experiment("Ein Mann schläft.", GivenTarget("A man sleeps."))


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return Translator.load(write_untrained_checkpoint(tmp_path_factory.mktemp("model") / "tiny.safetensors"), "cpu")


@pytest.fixture
def state(translator: Translator) -> ExperimentState:
    state = ExperimentState()
    state.show_translation(translator.run(GIVEN))
    return state


@pytest.fixture
def explanation(translator: Translator, state: ExperimentState) -> WeightExplanation:
    """With queries and keys of what is shown."""
    explanation, translation = WeightExplanation(), state.translation
    assert translation is not None
    explanation.take(translation, trace_translation(translator, translation))
    return explanation


@pytest.mark.parametrize("kind", MAP_KINDS)
def test_products_sum_to_the_logit_and_its_softmax_is_the_weight(
    state: ExperimentState, explanation: WeightExplanation, kind
) -> None:
    state.selection.choose(Head(kind, 1, 1))
    state.selection.pin(Pair(3, 2))
    view = query_key_view(state, explanation)
    assert isinstance(view, QueryKeyView)
    assert view.running[-1] == pytest.approx(view.detail.logit, abs=1e-5)
    assert view.row_logits[2] == pytest.approx(view.detail.logit, abs=1e-5)
    weights = np.exp(view.row_logits - np.logaddexp.reduce(view.row_logits))
    assert state.translation is not None
    np.testing.assert_allclose(weights, state.translation.maps.of_kind(kind)[1, 1, 3], atol=1e-5)
    assert f"{view.detail.weight:.3f}" in view.sentence
    assert "dimension 1:" in view.tip(0)


def test_a_masked_key_has_a_logit_and_no_weight(state: ExperimentState, explanation: WeightExplanation) -> None:
    state.selection.choose(Head("decoder", 0, 0))
    state.selection.pin(Pair(1, 3))
    view = query_key_view(state, explanation)
    assert isinstance(view, QueryKeyView)
    assert view.detail.weight == 0
    assert "mask hides" in view.sentence


def test_what_is_missing_is_said(state: ExperimentState, explanation: WeightExplanation) -> None:
    assert "Pin a cell" in str(query_key_view(state, explanation))
    state.selection.pin(Pair(0, 0))
    state.settings.scope = "layer"
    assert "one head alone" in str(query_key_view(state, explanation))
    state.settings.scope = "head"
    assert "Reading queries" in str(query_key_view(state, WeightExplanation()))
    failed = WeightExplanation()
    failed.request.finish("The memory is full.")
    assert query_key_view(state, failed) == "The memory is full."
    state.selection.pin(Pair(99, 0))
    assert "not in the map" in str(query_key_view(state, explanation))


def test_the_weight_under_the_interventions_is_explained(state: ExperimentState, translator: Translator) -> None:
    """A head of the encoder that is off changes queries and keys of the layers above it."""
    result = translator.compare(GIVEN.with_interventions(HeadScaled(Head("encoder", 0, 0))))
    state.accept(result)
    state.selection.choose(Head("cross", 1, 1))
    state.selection.pin(Pair(2, 1))
    explanation = WeightExplanation()
    weights = {}
    for shown, translation in (("changed", result.changed), ("original", result.original)):
        state.settings.shown = shown  # type: ignore[assignment]
        explanation.take(translation, trace_translation(translator, translation))
        view = query_key_view(state, explanation)
        assert isinstance(view, QueryKeyView)
        assert view.detail.weight == pytest.approx(float(translation.maps.cross[1, 1, 2, 1]), abs=1e-6)
        weights[shown] = view.detail.weight
        assert ("original" in view.sentence) == (shown == "original")
    assert weights["changed"] != weights["original"]
    state.settings.shown = "difference"
    explanation.take(result.changed, trace_translation(translator, result.changed))
    view = query_key_view(state, explanation)
    assert isinstance(view, QueryKeyView)
    assert view.detail.weight == weights["changed"]
    assert "not the difference" in view.sentence


def test_a_row_set_by_hand_is_not_explained(state: ExperimentState, translator: Translator) -> None:
    assert state.translation is not None
    row = AttentionRow(Head("decoder", 0, 0), 1, (1, 0))
    state.accept(translator.compare(GIVEN.with_interventions(row)))
    state.selection.choose(Head("decoder", 0, 0))
    state.selection.pin(Pair(1, 0))
    assert "set by hand" in str(query_key_view(state, WeightExplanation()))
    state.settings.shown = "original"
    assert "Reading queries" in str(query_key_view(state, WeightExplanation()))
