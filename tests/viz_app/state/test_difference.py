"""Original, changed, difference: which maps are shown, on which tokens, with which scale."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, HeadScaled
from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_source import LEAST_DIFFERENCE, top_value, top_values
from augenmerk.viz_app.state.map_text import describe, difference_note
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from tests.viz_app.synthetic import make_result, make_translation, measure_by_halves

HEAD = Head("cross", 0, 1)


def changed_one(target: str) -> Translation:
    experiment = Experiment("ein mann .", interventions=(HeadScaled(HEAD),))
    made = make_translation("ein mann .", target, experiment=experiment)
    return replace(made, attention=replace(made.maps, cross=made.maps.cross[:, ::-1].copy()))


@pytest.fixture
def state() -> ExperimentState:
    state = ExperimentState(MapViewSettings(merges_words=False))
    original = make_translation("ein mann .", "a man .")
    state.accept(make_result(changed_one("a dog ."), original))
    state.intents.choose_head(HEAD)
    return state


def test_the_switch_decides_whose_maps_are_shown(state: ExperimentState) -> None:
    result = state.result
    assert result is not None
    for state.settings.shown, translation in (
        ("original", result.original),
        ("changed", result.changed),
    ):
        np.testing.assert_array_equal(state.maps.view_all("cross").values, translation.maps.cross)
        view = state.maps.view()
        assert view is not None
        assert view.row_labels == translation.predicted_tokens


def test_without_changes_there_is_one_kind_of_maps(state: ExperimentState) -> None:
    state.settings.shown = "difference"
    state.accept(make_result(make_translation()))
    assert state.maps.shown == "changed"
    assert not state.maps.is_signed("cross")


def test_a_difference_is_changed_minus_original_on_what_both_have(state: ExperimentState) -> None:
    state.settings.shown = "difference"
    result, view = state.result, state.maps.view()
    assert result is not None
    assert view is not None
    expected = result.changed.maps.cross[0, 1] - result.original.maps.cross[0, 1]
    assert view.row_labels == ("a", "dog", ".", "<eos>")
    np.testing.assert_allclose(view.values[[0, 2, 3]], expected[[0, 2, 3]], rtol=1e-5)
    assert np.isnan(view.values[1]).all(), "a word that the original does not have"
    assert describe(state, Pair(1, 1)) == ("dog → ein", "not in the original")
    assert describe(state, Pair(0, 1))[1].startswith("change of weight ")  # type: ignore[index]
    np.testing.assert_allclose(state.maps.view_all("cross").values[0, 1], view.values, rtol=1e-6)


def test_colours_of_a_difference_reach_to_its_largest_change_on_both_sides(
    state: ExperimentState,
) -> None:
    state.settings.shown = "difference"
    values = state.maps.view_all("cross").values
    assert top_value(state.maps, HEAD, values[0, 1]) == pytest.approx(np.nanmax(np.abs(values)))
    state.settings.scale = "own"
    assert top_value(state.maps, HEAD, values[0, 1]) == pytest.approx(
        np.nanmax(np.abs(values[0, 1]))
    )
    tops = top_values(state.maps, "encoder")
    assert tops == pytest.approx(np.full((3, 8), LEAST_DIFFERENCE)), (
        "equal maps do not look like a finding"
    )


@pytest.mark.parametrize("scale", ["shared", "layer", "own"])
@pytest.mark.parametrize("shown", ["changed", "difference"])
def test_top_values_of_a_kind_are_those_of_its_heads(state: ExperimentState, scale, shown) -> None:
    state.settings.scale, state.settings.shown = scale, shown
    for kind in ("encoder", "cross"):
        maps, tops = state.maps.view_all(kind).values, top_values(state.maps, kind)
        for index in np.ndindex(*tops.shape):
            assert tops[index] == pytest.approx(
                top_value(state.maps, Head(kind, *index), maps[index])
            )


def test_where_nothing_pairs_the_changed_maps_are_shown_and_the_note_says_why(
    state: ExperimentState,
) -> None:
    state.settings.hides_wrapping = True
    state.accept(make_result(changed_one("dogs"), make_translation("ein mann .", "someone")))
    state.intents.choose_head(HEAD)
    state.settings.shown = "difference"
    assert not state.maps.is_signed("cross")
    assert state.maps.is_signed("encoder")
    assert difference_note(state).startswith(
        "There is no difference to show; these are the changed maps."
    )
    np.testing.assert_array_equal(state.maps.view().values >= 0, True)  # type: ignore[union-attr]


def test_a_difference_needs_both_translations_measured(state: ExperimentState) -> None:
    result = state.result
    assert result is not None
    state.settings.shown, state.settings.measure = "difference", "norm"
    lacking = []
    while (translation := state.maps.lacking_measure()) is not None:
        lacking.append(translation)
        state.measuring.take(measure_by_halves(translation, state.settings.measure))
    assert lacking == [result.original, result.changed]
    weights = (result.changed.maps.cross - result.original.maps.cross) / 2
    np.testing.assert_allclose(
        state.maps.view_all("cross").values[:, :, 0], weights[:, :, 0], rtol=1e-5, atol=1e-7
    )


def test_the_same_maps_can_be_shown_in_another_way_beside(state: ExperimentState) -> None:
    result = state.result
    assert result is not None
    before = asdict(state.settings)
    told: list[object] = []
    state.settings.events.connect(told.append)
    original = state.maps.with_settings(shown="original", hides_wrapping=True)
    labelled = original.view()
    assert labelled is not None
    assert original.translation is result.original
    assert labelled.row_labels == ("a", "man", ".")
    state.intents.choose_head(Head("cross", 1, 0))
    other = original.view()
    assert other is not None
    assert not np.array_equal(other.values, labelled.values), "they follow the chosen head"
    assert state.maps.translation is result.changed
    assert (asdict(state.settings), told) == (before, [])
