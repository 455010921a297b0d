"""The products of query and key behind the pinned weight, by a real model of a few dimensions."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.counting import display_text
from augenmerk.core.device import DeviceChoice
from augenmerk.core.extensions.analyses.parts import Baseline
from augenmerk.core.extensions.analyses.weight_origin import QueryKeyDetail
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.model.heads import Head
from augenmerk.core.quantities import number
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    GivenTarget,
    HeadScaled,
    SoftmaxTemperature,
)
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.weights.explanation import (
    ComponentsView,
    QueryKeyView,
    WeightExplanation,
    components_view,
    query_key_view,
)
from augenmerk.viz_app.extensions.weights.jobs import RowPartsJob
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.worker.jobs import TraceJob

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
    explanation.take(
        translation, TraceJob(translation).run(translator, lambda _: None, lambda: False)
    )
    return explanation


def view_of(state: ExperimentState, translator: Translator) -> QueryKeyView:
    view = query_key_view(state, explained(state, translator))
    assert isinstance(view, QueryKeyView)
    return view


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_products_sum_to_the_score_and_its_softmax_is_the_weight(
    state: ExperimentState, translator: Translator, kind
) -> None:
    state.intents.choose_head(Head(kind, 1, 1))
    state.selection.pin(Pair(3, 2))
    view = view_of(state, translator)
    assert view.running[-1] == pytest.approx(view.detail.score, abs=1e-5)
    assert view.row_scores[2] == pytest.approx(view.detail.score, abs=1e-5)
    weights = np.exp(view.row_scores - np.logaddexp.reduce(view.row_scores))
    assert state.translation is not None
    np.testing.assert_allclose(weights, state.translation.maps.of_kind(kind)[1, 1, 3], atol=1e-5)
    assert f"{view.detail.weight:.3f}" in view.sentence
    assert "dimension 1:" in view.tip(0)


@pytest.mark.parametrize("temperature", [1.0, 0.5, 4.0])
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_calculator_gives_the_numbers_of_the_sentence(
    translator: Translator, kind, temperature: float
) -> None:
    head = Head(kind, 1, 1)
    changes = () if temperature == 1 else (SoftmaxTemperature(head, temperature),)
    state = state_of(translator, Experiment(SENTENCE, GIVEN, changes))
    state.intents.choose_head(head)
    for key in range(4):
        state.selection.pinned = Pair(3, key)
        sentence = view_of(state, translator).sentence.replace("−", "-").replace(",", "")
        divided = "" if temperature == 1 else rf" / {temperature:g}"
        match = re.search(
            rf"attention score (\S+)\. Softmax: exp\((\S+){divided}\) / Σ exp\(scores of (\d+) keys{divided}\) = "
            r"(\S+) / (\S+) = weight (0\.\d{3}|1\.000)\. ",
            sentence,
        )
        assert match is not None, sentence
        score, typed, num_keys, power, total, weight = map(float, match.groups())
        assert score == typed
        assert power == pytest.approx(math.exp(score / temperature), rel=2e-4)
        assert power / total == pytest.approx(weight, abs=6e-4)
        assert state.translation is not None
        assert num_keys == (
            4 if kind == "decoder" else state.translation.maps.of_kind(kind).shape[-1]
        )


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        (9.7308, "exp(9.7308) / Σ exp(scores of 2 keys) = 16,828 / 16,830 = "),
        (-12.5, "= 3.7267·10⁻⁶ / 1.1353 = "),
    ],
)
def test_large_and_small_exponentials_are_shown_with_five_digits(score: float, shown: str) -> None:
    vectors = np.array([score], dtype=np.float32), np.ones(1, dtype=np.float32)
    detail = QueryKeyDetail(
        Head("cross", 0, 0), 0, 0, *vectors, vectors[0], score, 0.5, is_visible=True
    )
    other = math.log(2.0) if score > 0 else math.log(1.1353)
    assert shown in QueryKeyView(detail, "", np.array([score, other])).sentence


def test_a_masked_key_has_a_score_and_no_weight(
    state: ExperimentState, translator: Translator
) -> None:
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
    state.begin_model(
        ModelInfo("two", None, preset("notebook"), DeviceChoice("cpu", "asked for"), 1)
    )
    assert "Waiting for the current model" in str(query_key_view(state, explanation))


def test_of_a_changed_experiment_that_translation_is_explained_whose_maps_are_shown(
    translator: Translator,
) -> None:
    """A head of the first layer is off, so queries of the second are others."""
    off = tuple(HeadScaled(Head("cross", 0, head)) for head in range(2))
    state = state_of(translator, Experiment(SENTENCE, GIVEN, off))
    state.intents.choose_head(Head("cross", 1, 1))
    state.selection.pin(Pair(3, 2))
    weights = {}
    for state.settings.shown, whose in (
        ("changed", ""),
        ("original", "of the original translation"),
        ("difference", "not the difference"),
    ):
        view, translation = view_of(state, translator), state.maps.translation
        assert translation is not None
        assert view.detail.weight == pytest.approx(
            float(translation.maps.cross[1, 1, 3, 2]), abs=1e-5
        )
        assert whose in view.whose
        weights[state.settings.shown] = view.detail.weight
    assert weights["changed"] == weights["difference"] != weights["original"]


def test_a_row_that_was_set_by_hand_has_no_products(
    state: ExperimentState, translator: Translator
) -> None:
    assert state.translation is not None
    num_keys = len(state.translation.source_tokens)
    row = AttentionRow(Head("cross", 0, 0), 1, (1.0, *(0.0 for _ in range(num_keys - 1))))
    state = state_of(translator, Experiment(SENTENCE, GIVEN, (row,)))
    state.intents.choose_head(Head("cross", 0, 0))
    state.selection.pin(Pair(1, 0))
    assert "set by hand" in str(query_key_view(state, explained(state, translator)))


def components_of(
    state: ExperimentState,
    translator: Translator,
    baseline: Baseline = "mean",
    opened: tuple[str, str] = ("", ""),
) -> ComponentsView:
    explanation, translation, pair = (
        WeightExplanation(),
        state.maps.translation,
        state.selection.pinned,
    )
    assert translation is not None
    assert pair is not None
    explanation.baseline, explanation.opened = baseline, opened
    job = RowPartsJob(translation, state.selection.head, pair.query)
    explanation.take(translation, job.run(translator, lambda _: None, lambda: False))
    view = components_view(state, explanation)
    assert isinstance(view, ComponentsView)
    return view


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_components_sum_to_the_score_of_the_dimensions(
    state: ExperimentState, translator: Translator, kind
) -> None:
    state.intents.choose_head(Head(kind, 1, 1))
    state.selection.pin(Pair(3, 2))
    scores = view_of(state, translator).row_scores
    scores = scores[np.isfinite(scores)]
    for baseline, expected in (("none", 0.0), ("mean", scores.mean()), (0, scores[0])):
        view = components_of(state, translator, baseline)  # type: ignore[arg-type]
        assert view.table.values.sum() == pytest.approx(scores[2] - expected, abs=1e-4)
        assert f"Attention score {number(scores[2])}" in view.sentence
    assert len(view.keys) == len(scores)
    assert set(view.baselines) == {
        "mean",
        "none",
        *(str(key) for key in range(len(scores)) if key != 2),
    }


def test_the_sentence_names_what_is_subtracted(translator: Translator) -> None:
    head = Head("cross", 1, 0)
    state = state_of(translator, Experiment(SENTENCE, GIVEN, (SoftmaxTemperature(head, 2.0),)))
    state.intents.choose_head(head)
    state.selection.pin(Pair(1, 2))
    view = components_of(state, translator, 1)
    side = "below" if view.cell.total < 0 else "above"
    token = state.translation.source_tokens[1]  # type: ignore[union-attr]
    assert ", divided by temperature 2, " in view.sentence
    assert f"{number(abs(view.cell.total))} {side} that of “{token}” (" in view.sentence
    assert "the mean of " in components_of(state, translator).sentence
    assert "below" not in components_of(state, translator, "none").sentence
    state.selection.pinned = Pair(1, 1)
    assert components_of(state, translator, 1).cell.baseline == "mean", "a key minus itself is 0"
    assert components_of(state, translator, 99).cell.baseline == "mean", "there is no such key"


def test_open_groups_show_their_heads(state: ExperimentState, translator: Translator) -> None:
    state.intents.choose_head(Head("cross", 1, 0))
    state.selection.pin(Pair(1, 2))
    view = components_of(state, translator, "mean", ("heads 0", ""))
    names = [display_text(group.name) for group in view.table.rows]
    assert names[0] == "decoder 1·1"
    assert names[-1] == "others"
    assert "Click again to close" in view.tip(0, 0)
    assert components_of(state, translator, "mean", ("heads 9", "heads 9")).opened == ("", ""), (
        "of another head"
    )
    assert view.tip(0, 0).startswith(
        "Query: Decoder self-attention · layer 1 · head 1\nKey: Vector of the token\n"
    )


def test_components_of_a_hidden_key_or_a_row_set_by_hand_are_not_shown(
    state: ExperimentState, translator: Translator
) -> None:
    state.intents.choose_head(Head("decoder", 0, 0))
    state.selection.pin(Pair(1, 0))
    assert components_of(state, translator).cell.key == 0
    explanation, translation = WeightExplanation(), state.translation
    assert translation is not None
    row = RowPartsJob(translation, Head("decoder", 0, 0), 1).run(
        translator, lambda _: None, lambda: False
    )
    explanation.take(translation, row)
    state.selection.pinned = Pair(1, 3)
    assert "mask hides" in str(components_view(state, explanation))
    state.selection.pinned = Pair(2, 1)
    assert "Reading queries" in str(components_view(state, explanation)), "another query"
    state.settings.scope = "layer"
    assert "a single head" in str(components_view(state, explanation))
