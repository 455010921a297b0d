"""The products of query and key behind the pinned weight, by a real model of a few dimensions."""

from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.config import preset
from augenmerk.core.device import DeviceChoice
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import AttentionRow, Experiment, GivenTarget, HeadScaled
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.state.weight_explanation import QueryKeyView, WeightExplanation, query_key_view
from augenmerk.viz_app.worker.inference import TraceJob

SENTENCE, GIVEN = "Ein Mann schläft.", GivenTarget("A man sleeps.")


@pytest.fixture(scope="module")
def translator(untrained_checkpoint: Path) -> Translator:
    return Translator.load(untrained_checkpoint, "cpu")


@pytest.fixture
def state(translator: Translator) -> ExperimentState:
    return state_of(translator, Experiment(SENTENCE, GIVEN))


def state_of(translator: Translator, experiment: Experiment) -> ExperimentState:
    state = ExperimentState()
    state.accept(translator.compare(experiment))
    return state


def explained(state: ExperimentState, translator: Translator) -> WeightExplanation:
    explanation, translation = WeightExplanation(), state.maps.translation
    assert translation is not None
    explanation.take(translation, TraceJob(translation).run(translator, lambda _: None, lambda: False))
    return explanation


def view_of(state: ExperimentState, translator: Translator) -> QueryKeyView:
    view = query_key_view(state, explained(state, translator))
    assert isinstance(view, QueryKeyView)
    return view


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_products_sum_to_the_logit_and_its_softmax_is_the_weight(
    state: ExperimentState, translator: Translator, kind
) -> None:
    state.intents.choose_head(Head(kind, 1, 1))
    state.selection.pin(Pair(3, 2))
    view = view_of(state, translator)
    assert view.running[-1] == pytest.approx(view.detail.logit, abs=1e-5)
    assert view.row_logits[2] == pytest.approx(view.detail.logit, abs=1e-5)
    weights = np.exp(view.row_logits - np.logaddexp.reduce(view.row_logits))
    assert state.translation is not None
    np.testing.assert_allclose(weights, state.translation.maps.of_kind(kind)[1, 1, 3], atol=1e-5)
    assert f"{view.detail.weight:.3f}" in view.sentence
    assert "dimension 1:" in view.tip(0)


def test_a_masked_key_has_a_logit_and_no_weight(state: ExperimentState, translator: Translator) -> None:
    state.intents.choose_head(Head("decoder", 0, 0))
    state.selection.pin(Pair(1, 3))
    view = view_of(state, translator)
    assert view.detail.weight == 0
    assert "mask hides" in view.sentence


def test_what_is_missing_is_said(state: ExperimentState) -> None:
    explanation = WeightExplanation()
    assert "Pin a cell" in str(query_key_view(state, explanation))
    state.selection.pinned = Pair(0, 0)
    state.settings.scope = "layer"
    assert "a single head" in str(query_key_view(state, explanation))
    state.settings.scope = "head"
    assert "Reading queries" in str(query_key_view(state, explanation))
    explanation.request.begin()
    explanation.request.finish("Not enough memory.")
    assert query_key_view(state, explanation) == "Not enough memory."
    state.begin_model(ModelInfo("two", None, preset("notebook"), DeviceChoice("cpu", "asked for"), 1))
    assert "Waiting for the current model" in str(query_key_view(state, explanation))


def test_of_a_changed_experiment_that_translation_is_explained_whose_maps_are_shown(translator: Translator) -> None:
    """A head of the first layer is off, so queries of the second are others."""
    off = tuple(HeadScaled(Head("cross", 0, head)) for head in range(2))
    state = state_of(translator, Experiment(SENTENCE, GIVEN, off))
    state.intents.choose_head(Head("cross", 1, 1))
    state.selection.pin(Pair(3, 2))
    found = {}
    for state.settings.shown, whose in (
        ("changed", ""),
        ("original", "of the original translation"),
        ("difference", "not the difference"),
    ):
        view, translation = view_of(state, translator), state.maps.translation
        assert translation is not None
        assert view.detail.weight == pytest.approx(float(translation.maps.cross[1, 1, 3, 2]), abs=1e-5)
        assert whose in view.whose
        found[state.settings.shown] = view.detail.weight
    assert found["changed"] == found["difference"] != found["original"]


def test_a_row_that_was_set_by_hand_has_no_products(state: ExperimentState, translator: Translator) -> None:
    assert state.translation is not None
    num_keys = len(state.translation.source_tokens)
    row = AttentionRow(Head("cross", 0, 0), 1, (1.0, *(0.0 for _ in range(num_keys - 1))))
    state = state_of(translator, Experiment(SENTENCE, GIVEN, (row,)))
    state.intents.choose_head(Head("cross", 0, 0))
    state.selection.pin(Pair(1, 0))
    assert "set by hand" in str(query_key_view(state, explained(state, translator)))
