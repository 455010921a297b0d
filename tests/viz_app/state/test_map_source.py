"""The maps that follow from a result and the settings: merged, hidden, combined, scaled, put in order."""

import numpy as np
import pytest

from core.analysis.roles import ROLES, Role
from core.analysis.sample_roles import SampleRoles
from core.model.heads import Head
from core.translation.result import MAP_KINDS, Translation
from tests.viz_app.synthetic import make_result, make_translation, measure_by_halves
from viz_app.state.experiment_state import ExperimentState
from viz_app.state.map_source import clarity, clearest_head
from viz_app.state.map_text import describe, hiding_note, title
from viz_app.state.map_view import MapView, Pair
from viz_app.state.map_view_settings import SCALES, MapViewSettings, Scale


@pytest.fixture
def state() -> ExperimentState:
    state = ExperimentState(MapViewSettings(label_mode="read", merges_words=False))
    state.accept(make_result(make_translation("ein mann schläft .", "a man is sleep|ing .")))
    state.choose_head(Head("cross", 1, 2))
    return state


def view_of(state: ExperimentState) -> MapView:
    view = state.maps.view()
    assert view is not None
    return view


def translation_of(state: ExperimentState) -> Translation:
    assert state.translation is not None
    return state.translation


def test_merged_words_are_summed_over_keys_and_averaged_over_queries(state: ExperimentState) -> None:
    state.settings.merges_words = True
    view, maps = view_of(state), translation_of(state).maps
    assert view.row_labels == ("<sos>", "a", "man", "is", "sleeping", ".")
    np.testing.assert_allclose(view.values[4], maps.cross[1, 2, 4:6].mean(axis=0), rtol=1e-6)
    state.choose_head(Head("decoder", 0, 0))
    values = view_of(state).values
    np.testing.assert_allclose(values[5, 4], maps.decoder[0, 0, 6, 4:6].sum(), rtol=1e-6)
    np.testing.assert_allclose(values.sum(axis=1), 1, rtol=1e-5)


def test_a_cell_of_a_merged_word_is_found_by_any_of_its_pieces(state: ExperimentState) -> None:
    state.settings.merges_words = True
    assert describe(state, Pair(4, 2)) == describe(state, Pair(5, 2))
    assert describe(state, Pair(4, 2))[0] == "reading  sleeping → mann"  # type: ignore[index]


def test_hiding_punctuation_leaves_queries_that_sum_to_one(state: ExperimentState) -> None:
    state.settings.hides_punctuation = True
    view = view_of(state)
    assert "." not in (*view.row_labels, *view.column_labels)
    np.testing.assert_allclose(view.values.sum(axis=1), 1, rtol=1e-5)
    assert 0 < view.hidden_share < 1
    assert describe(state, Pair(0, 4)) is None


def test_rounding_never_makes_the_hidden_share_negative(state: ExperimentState) -> None:
    maps = translation_of(state).maps.cross
    maps[:] = 0
    maps[..., 1:-1] = np.float32(1.0000001) / 3
    state.settings.hides_wrapping = True
    assert view_of(state).hidden_share >= 0


def test_a_sentence_of_punctuation_alone_is_not_hidden_away() -> None:
    state = ExperimentState(MapViewSettings(hides_punctuation=True, hides_wrapping=True))
    state.accept(make_result(make_translation(". !", ". !")))
    assert view_of(state).values.shape == (3, 4)
    assert hiding_note(state) == (
        "Without start, end and punctuation nothing would be left of this map, so nothing is hidden."
    )
    state.settings.hides_punctuation = False
    assert "lies on hidden tokens" in hiding_note(state)


def test_mean_and_maximum_of_a_layer_a_kind_and_a_set(state: ExperimentState) -> None:
    cross, settings = translation_of(state).maps.cross, state.settings
    settings.scope = "layer"
    np.testing.assert_allclose(view_of(state).values, cross[1].mean(axis=0), rtol=1e-6)
    assert title(state) == "Cross-attention · layer 2 · mean of 8 heads"
    settings.combination = "max"
    np.testing.assert_allclose(view_of(state).values, cross[1].max(axis=0), rtol=1e-6)
    settings.scope = "all"
    np.testing.assert_allclose(view_of(state).values, cross.max(axis=(0, 1)), rtol=1e-6)
    assert title(state) == "Cross-attention · maximum of 24 heads in all layers"
    settings.combination = "mean"
    settings.show_together(Head("cross", 0, 0), state.selection.head)
    assert settings.scope == "chosen"
    np.testing.assert_allclose(view_of(state).values, (cross[1, 2] + cross[0, 0]) / 2, rtol=1e-5)


def test_a_set_of_heads_stays_within_a_kind_and_ends_with_the_next_choice(state: ExperimentState) -> None:
    settings, chosen = state.settings, state.selection.head
    settings.show_together(Head("cross", 0, 0), chosen)
    assert settings.several == {chosen, Head("cross", 0, 0)}
    settings.show_together(Head("encoder", 0, 1), chosen)
    assert settings.several == {Head("encoder", 0, 1)}
    settings.show_together(Head("encoder", 0, 1), chosen)
    assert settings.scope == "head"
    settings.show_together(Head("encoder", 2, 2), chosen)
    state.choose_head(Head("encoder", 1, 1))
    assert (settings.scope, settings.several) == ("head", frozenset())


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", MAP_KINDS)
@pytest.mark.parametrize("measure", ["weight", "norm"])
def test_top_values_of_a_kind_at_once_are_those_of_its_heads(
    state: ExperimentState, kind, scale: Scale, measure
) -> None:
    state.settings.scale, state.settings.measure = scale, measure
    measure_all(state)
    maps, found = state.maps.thumbnails(kind), state.maps.top_values(kind)
    assert found.shape == maps.shape[:2]
    for place in np.ndindex(*found.shape):
        assert found[place] == pytest.approx(state.maps.top_value(Head(kind, *place), maps[place]))


def test_the_scale_of_a_layer_reaches_to_its_largest_weight(state: ExperimentState) -> None:
    state.settings.scale = "layer"
    top = state.maps.top_value(state.selection.head, view_of(state).values)
    assert top == pytest.approx(translation_of(state).maps.cross[1].max())


def measure_all(state: ExperimentState) -> None:
    """Lets every measure be half the weight."""
    state.take_measured(measure_by_halves(translation_of(state)))


def test_norms_share_a_scale_that_reaches_to_the_largest_of_their_kind(state: ExperimentState) -> None:
    state.settings.measure = "norm"
    measure_all(state)
    top = state.maps.top_value(state.selection.head, view_of(state).values)
    assert top == float(translation_of(state).maps.cross.max() / 2)


def test_measured_maps_are_shown_until_another_result_is(state: ExperimentState) -> None:
    state.settings.measure = "norm"
    assert state.maps.lacking_measure() is state.translation
    assert state.maps.shown_measure("cross") == "weight"
    measure_all(state)
    assert state.maps.lacking_measure() is None
    assert state.maps.shown_measure("cross") == "norm"
    state.accept(make_result(make_translation()))
    assert state.maps.shown_measure("cross") == "weight"


def test_thumbnails_follow_what_is_hidden_and_merged(state: ExperimentState) -> None:
    state.settings.merges_words = state.settings.hides_wrapping = True
    for kind in MAP_KINDS:
        state.choose_head(Head(kind, 1, 3))
        np.testing.assert_allclose(state.maps.thumbnails(kind)[1, 3], view_of(state).values, rtol=1e-6)


def test_another_translation_brings_other_maps(state: ExperimentState) -> None:
    before = view_of(state)
    state.accept(make_result(make_translation("zwei", "two")))
    assert view_of(state).values.shape != before.values.shape


def test_roles_of_this_sentence_are_counted(state: ExperimentState) -> None:
    assert sum(state.maps.count_roles().values()) == 72
    assert state.maps.role(Head("encoder", 0, 0)) == "self"
    assert state.maps.role(Head("encoder", 0, 1)) == "next"
    assert state.maps.where_roles_hold == "in this sentence"


def all_of(role: Role, translation: Translation) -> SampleRoles:
    """A sample on which every head does one thing."""
    shapes = {kind: translation.maps.of_kind(kind).shape[:2] for kind in MAP_KINDS}
    return SampleRoles({kind: ((role,) * heads,) * layers for kind, (layers, heads) in shapes.items()}, "9 pairs")


def test_where_a_sample_was_measured_its_roles_count(state: ExperimentState) -> None:
    head = Head("encoder", 0, 0)
    state.take_roles(all_of("previous", translation_of(state)))
    assert state.maps.where_roles_hold == "on 9 pairs"
    assert state.maps.role(head) == "previous"
    assert state.maps.role_here(head) == "self"
    assert state.maps.count_roles() == {"previous": 72}


def test_heads_stand_by_the_roles_of_the_sample() -> None:
    state = ExperimentState(MapViewSettings(order="role"))
    translation = make_translation(num_layers=2, num_heads=4)
    state.accept(make_result(translation))
    last = state.maps.in_order("cross")[-1]
    roles = all_of("mixed", translation)
    layers = [list(layer) for layer in roles.by_kind["cross"]]
    layers[last.layer][last.head] = "aligner"
    state.take_roles(SampleRoles({**roles.by_kind, "cross": tuple(map(tuple, layers))}, "9 pairs"))
    assert state.maps.in_order("cross")[0] == last


def test_heads_stand_by_layer_by_role_or_the_clearest_first() -> None:
    state = ExperimentState()
    translation = make_translation(num_layers=2, num_heads=4)
    state.accept(make_result(translation))
    by_layer = [Head("cross", layer, head) for layer in range(2) for head in range(4)]
    assert state.maps.in_order("cross") == by_layer
    state.settings.order = "clarity"
    clearest = state.maps.in_order("cross")
    assert sorted(clearest) == by_layer
    scores = clarity(translation.maps.cross)
    assert [scores[head.layer, head.head] for head in clearest] == sorted(scores.flat, reverse=True)
    assert (clearest[0].layer, clearest[0].head) == clearest_head(translation.maps.cross)
    state.settings.order = "role"
    names = [state.maps.role(head) for head in state.maps.in_order("encoder")]
    assert names == sorted(names, key=list(ROLES).index)
    assert len(set(names)) > 1
