"""What maps are made of what settings ask for; how they are explained; what heads do."""

import gc
import sys
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from augenmerk.core.maps.roles import ROLES, Role, SampleRoles
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.translation.experiment import ForcedToken, HeadScaled
from augenmerk.core.translation.result import ExperimentResult, Translation
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.pictures.saving import take_snapshot
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.experiment_editor import show_experiment
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.head_roles import (
    clarity,
    clearest_head,
    role_in_short,
    role_in_words,
    role_name,
)
from augenmerk.viz_app.state.map_source import top_value, top_values
from augenmerk.viz_app.state.map_text import HeadedText, explain
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.map_view_settings import Scale
from augenmerk.viz_app.state.model_info import ModelInfo
from tests.viz_app.builders import state_of
from tests.viz_app.synthetic import FakeTranslator, make_translation, measure_by_halves


@pytest.fixture
def state() -> ExperimentState:
    state = ExperimentState()
    state.settings.label_mode, state.settings.merges_words = "read", False
    state.show_translation(make_translation("ein mann schläft .", "a man is sleep|ing ."))
    state.intents.choose_head(Head("cross", 1, 2))
    return state


def _weights(state: ExperimentState) -> np.ndarray:
    view = state.maps.view()
    assert view is not None
    return view.values


def test_merged_words_are_summed_over_keys_and_averaged_over_queries(
    state: ExperimentState,
) -> None:
    assert state.translation is not None
    state.settings.merges_words = True
    view = state.maps.view()
    assert view is not None
    assert view.row_labels == ("<sos>", "a", "man", "is", "sleeping", ".")
    maps = state.translation.maps
    np.testing.assert_allclose(view.values[4], maps.cross[1, 2, 4:6].mean(axis=0), rtol=1e-6)
    state.intents.choose_head(Head("decoder", 0, 0))
    np.testing.assert_allclose(_weights(state)[5, 4], maps.decoder[0, 0, 6, 4:6].sum(), rtol=1e-6)
    np.testing.assert_allclose(_weights(state).sum(axis=1), 1, rtol=1e-5)


def test_a_cell_of_a_merged_word_is_found_by_any_of_its_pieces(state: ExperimentState) -> None:
    state.settings.merges_words = True
    assert map_text.describe(state, Pair(4, 2)) == map_text.describe(state, Pair(5, 2))
    assert map_text.describe(state, Pair(4, 2))[0] == "sleeping → mann"  # type: ignore[index]


def test_hiding_punctuation_leaves_queries_that_sum_to_one(state: ExperimentState) -> None:
    state.settings.hides_punctuation = True
    view = state.maps.view()
    assert view is not None
    assert "." not in (*view.row_labels, *view.column_labels)
    np.testing.assert_allclose(view.values.sum(axis=1), 1, rtol=1e-5)
    assert 0 < view.labelled.hidden_share < 1
    assert map_text.describe(state, Pair(0, 4)) is None


def test_a_sentence_of_punctuation_alone_is_not_hidden_away() -> None:
    state = state_of(". !", ". !")
    state.settings.hides_punctuation = state.settings.hides_wrapping = True
    assert _weights(state).shape == (3, 4)
    assert map_text.hiding_note(state) == (
        "Without start, end and punctuation nothing would be left of this map, so nothing is "
        "hidden."
    )
    snapshot = take_snapshot(state, "model")
    assert snapshot is not None
    assert snapshot.facts["hidden"] == "nothing: no token would be left"
    state.settings.hides_punctuation = False
    assert "lies on hidden tokens" in map_text.hiding_note(state)


def test_mean_and_maximum_of_a_layer_a_kind_and_a_set(state: ExperimentState) -> None:
    assert state.translation is not None
    cross = state.translation.maps.cross
    state.settings.scope = "layer"
    np.testing.assert_allclose(_weights(state), cross[1].mean(axis=0), rtol=1e-6)
    assert map_text.title(state) == "Cross-attention · layer 2 · mean of 8 heads"
    state.settings.combination = "max"
    np.testing.assert_allclose(_weights(state), cross[1].max(axis=0), rtol=1e-6)
    state.settings.scope = "all"
    np.testing.assert_allclose(_weights(state), cross.max(axis=(0, 1)), rtol=1e-6)
    assert map_text.title(state) == "Cross-attention · maximum of 24 heads in all layers"
    state.settings.combination = "mean"
    state.settings.show_together(Head("cross", 0, 0), state.selection.head)
    assert state.settings.scope == "chosen"
    np.testing.assert_allclose(_weights(state), (cross[1, 2] + cross[0, 0]) / 2, rtol=1e-5)


def test_a_set_of_heads_stays_within_a_kind_and_ends_with_the_next_choice(
    state: ExperimentState,
) -> None:
    settings, chosen = state.settings, state.selection.head
    settings.show_together(Head("cross", 0, 0), chosen)
    assert settings.several == {Head("cross", 0, 0), chosen}
    settings.show_together(Head("encoder", 0, 1), chosen)
    assert settings.several == {Head("encoder", 0, 1)}
    settings.show_together(Head("encoder", 0, 1), chosen)
    assert settings.scope == "head"
    settings.show_together(Head("encoder", 2, 2), chosen)
    state.intents.choose_head(Head("encoder", 1, 1))
    assert (settings.scope, settings.several) == ("head", frozenset())


def test_the_scale_of_a_layer_reaches_to_its_largest_weight(state: ExperimentState) -> None:
    assert state.translation is not None
    state.settings.scale = "layer"
    assert top_value(state.maps, state.selection.head, _weights(state)) == pytest.approx(
        state.translation.maps.cross[1].max()
    )


def test_thumbnails_follow_what_is_hidden_and_merged(state: ExperimentState) -> None:
    assert state.translation is not None
    state.settings.merges_words = state.settings.hides_wrapping = True
    for kind in ATTENTION_KINDS:
        state.intents.choose_head(Head(kind, 1, 3))
        np.testing.assert_allclose(
            state.maps.view_all(kind).values[1, 3], _weights(state), rtol=1e-6
        )


def test_another_translation_brings_other_maps(state: ExperimentState) -> None:
    before = _weights(state)
    state.show_translation(make_translation("zwei", "two"))
    assert _weights(state).shape != before.shape


def test_every_way_of_seeing_is_explained_in_its_own_words(state: ExperimentState) -> None:
    assert explain(ExperimentState()) == ()
    texts = set()
    for kind in ATTENTION_KINDS:
        state.intents.choose_head(Head(kind, 0, 0))
        for state.settings.label_mode in ("read", "predicted"):
            texts.add(explain(state))
    assert len(texts) == 5
    state.settings.hides_wrapping = state.settings.merges_words = True
    state.settings.scope = "layer"
    text = " ".join(f"{about} {words}" for about, words in explain(state))
    assert "mean over 8 heads" in text
    assert "scaled up" in text
    assert "their mean as a query" in text


def test_the_example_is_the_largest_cell_between_two_words(state: ExperimentState) -> None:
    translation = state.translation
    assert translation is not None
    state.settings.merges_words = False
    cross = translation.maps.cross.copy()
    cross[0, 0] = 0.01
    cross[0, 0, 0, 0] = 1  # <sos> looks at itself: no example for anybody
    cross[0, 0, 2, 3] = 0.87
    state.show_translation(_with_cross(translation, cross.copy()))
    state.intents.choose_head(Head("cross", 0, 0))
    column = translation.source_tokens[3]
    for state.settings.label_mode, verb in (("read", "reads"), ("predicted", "predicts")):
        row = state.maps.view().row_labels[2]  # type: ignore[union-attr]
        expected = (
            f"While the model {verb} “{row}”, this head gives 87% of its attention to “{column}”."
        )
        assert explain(state)[0] == ("For example:", expected)
    state.settings.label_mode = "read"
    for weight, share in ((0.999, "more than 99%"), (1.0, "100%")):
        cross[0, 0, 2, 3] = weight
        state.show_translation(_with_cross(translation, cross.copy()))
        assert f"this head gives {share} of its attention" in explain(state)[0].text
    state.settings.scope, state.settings.combination = "layer", "max"
    assert "one of these 8 heads gives" in explain(state)[0].text
    state.settings.combination = "mean"
    assert "these 8 heads give on average" in explain(state)[0].text


def test_lines_are_explained_as_lines(state: ExperimentState) -> None:
    assert [part.about for part in explain(state)][1:4] == ["Rows:", "Columns:", "Cells:"]
    state.settings.picture, state.settings.line_threshold = "lines", 0.25
    parts = {part.about: part.text for part in explain(state)}
    assert "under 25%" in parts["Lines:"]
    assert "Cells:" not in parts
    assert "German tokens" in parts["Tokens on the right:"]


def test_a_sentence_of_punctuation_has_an_example_too() -> None:
    state = state_of(".", ".", num_layers=1, num_heads=1)
    assert "this head gives" in explain(state)[0].text


def test_roles_of_this_sentence_are_counted(state: ExperimentState) -> None:
    assert state.translation is not None
    counts = state.roles.count()
    assert sum(counts.values()) == 72
    assert state.roles.of(Head("encoder", 0, 0)) == "self"
    assert state.roles.of(Head("encoder", 0, 1)) == "next"


def _all_of(role: Role, translation: Translation) -> SampleRoles:
    """A sample on which every head does one thing."""
    shapes = {kind: translation.maps.of_kind(kind).shape[:2] for kind in ATTENTION_KINDS}
    return SampleRoles(
        {kind: ((role,) * heads,) * layers for kind, (layers, heads) in shapes.items()}, "9 pairs"
    )


def test_where_a_sample_was_measured_its_roles_count_and_the_sentence_stands_beside(
    state: ExperimentState,
) -> None:
    translation = state.translation
    assert translation is not None
    head = Head("encoder", 0, 0)
    assert state.roles.where_they_hold == "in this sentence"
    assert role_in_words(state.roles, head).startswith(
        "Its role in this sentence is “self”: it gives at least 30% of"
    )
    assert role_name(state.roles, head) == "self"
    state.intents.choose_head(head)
    state.take_roles(_all_of("previous", translation))
    assert state.roles.of(head) == "previous"
    assert state.roles.here(head) == "self"
    assert state.roles.count() == {"previous": 72}
    assert role_name(state.roles, head) == "usually previous, not here"
    assert role_in_short(state.roles, head).endswith(
        "on 9 pairs\nnot in this sentence: only 0 of 6 rows fit"
    )
    expected = (
        "Its role is usually “previous”, but not here: over 9 pairs, it gives at least 30% of "
        "its weight to the token before the one it reads; in this sentence, only 0 of 6 rows fit."
    )
    assert HeadedText("This head:", expected) in explain(state)
    state.take_roles(_all_of("self", translation))
    assert role_in_words(state.roles, head) == (
        "Its role is “self”: over 9 pairs, as in this sentence, it gives at least 30% of its "
        "weight to the token it reads."
    )
    assert role_name(state.roles, head) == "self"
    assert "\n" not in role_in_short(state.roles, head)
    state.take_roles(_all_of("broad", translation))
    assert role_in_words(state.roles, head).startswith(
        "Its role is usually “broad”, but not here: over 9 pairs, it spreads its weight over "
        "many tokens"
    )
    state.take_roles(_all_of("mixed", translation))
    assert role_name(state.roles, head) == ""
    assert role_in_words(state.roles, head) == "It has no clear role over 9 pairs."
    state.take_roles(_all_of("broad", translation))
    assert "at least as widely as equal weights on 9 of 20 tokens, on 9 pairs" in role_in_short(
        state.roles, head
    )


def test_heads_stand_by_the_roles_of_the_sample() -> None:
    state = ExperimentState()
    translation = make_translation(num_layers=2, num_heads=4)
    state.show_translation(translation)
    state.settings.order = "role"
    before = state.roles.in_order("cross")
    roles = _all_of("mixed", translation)
    last = before[-1]
    layers = [list(layer) for layer in roles.by_kind["cross"]]
    layers[last.layer][last.head] = "aligner"
    state.take_roles(SampleRoles({**roles.by_kind, "cross": tuple(map(tuple, layers))}, "9 pairs"))
    assert state.roles.in_order("cross")[0] == last


def _model(roles: SampleRoles | None = None) -> ModelInfo:
    translator = FakeTranslator(None, "cpu")
    return ModelInfo(
        "model", None, translator.run_config, translator.device, translator.num_parameters, roles
    )


def test_another_model_brings_its_own_roles_with_its_first_answer(state: ExperimentState) -> None:
    translation = state.translation
    assert translation is not None
    state.take_roles(_all_of("previous", translation))
    state.begin_model(_model())
    assert state.roles.of(state.selection.head) == "previous", (
        "what is shown is still of the earlier model"
    )
    state.show_translation(make_translation("ein mann .", "a man ."))
    assert state.roles.sample is None
    state.begin_model(_model(_all_of("self", translation)))
    state.show_translation(translation)
    assert state.roles.count() == {"self": 72}


def test_rounding_never_makes_the_hidden_share_negative(state: ExperimentState) -> None:
    cross = np.zeros_like(state.translation.maps.cross)  # type: ignore[union-attr]
    cross[..., 1:-1] = np.float32(1.0000001) / 3
    state.show_translation(_with_cross(state.translation, cross))
    state.settings.hides_wrapping = True
    view = state.maps.view()
    assert view is not None
    assert view.labelled.hidden_share >= 0


def _with_cross(translation: Translation | None, cross: np.ndarray) -> Translation:
    """The same with other cross-attention."""
    assert translation is not None
    return replace(translation, attention=replace(translation.maps, cross=cross))


def test_heads_stand_by_layer_by_role_or_the_clearest_first() -> None:
    state = ExperimentState()
    translation = make_translation(num_layers=2, num_heads=4)
    state.show_translation(translation)
    by_layer = [Head("cross", layer, head) for layer in range(2) for head in range(4)]
    assert state.roles.in_order("cross") == by_layer
    state.settings.order = "clarity"
    clearest = state.roles.in_order("cross")
    assert sorted(clearest) == by_layer
    scores = clarity(translation.maps.cross)
    assert [scores[head.layer, head.head] for head in clearest] == sorted(scores.flat, reverse=True)
    assert clearest[0] == Head("cross", *clearest_head(translation.maps.cross))
    state.settings.order = "role"
    names = [state.roles.of(head) for head in state.roles.in_order("encoder")]
    assert names == sorted(names, key=list(ROLES).index)
    assert len(set(names)) > 1


def test_arrows_follow_the_order_in_which_heads_stand() -> None:
    state = ExperimentState()
    translation = make_translation()
    state.show_translation(translation)
    state.settings.order = "clarity"
    first, second = state.roles.in_order("cross")[:2]
    state.intents.choose_head(first)
    assert state.roles.neighbour("right") == second


@pytest.mark.parametrize("scale", get_args(Scale))
@pytest.mark.parametrize("kind", ATTENTION_KINDS)
@pytest.mark.parametrize("shown", ["changed", "difference"])
def test_top_values_of_a_kind_are_those_of_its_heads(kind, shown, scale: Scale) -> None:
    state = ExperimentState()
    state.accept(_changed(make_translation()))
    state.settings.scale, state.settings.shown = scale, shown
    assert state.maps.is_signed(kind) == (shown == "difference")
    maps = state.maps.view_all(kind).values
    tops = top_values(state.maps, kind)
    assert tops.shape == maps.shape[:2]
    for index in np.ndindex(*tops.shape):
        assert tops[index] == pytest.approx(top_value(state.maps, Head(kind, *index), maps[index]))


def _changed(original: Translation) -> ExperimentResult:
    """A head is off, and a word is new in the translation."""
    interventions = HeadScaled(Head("cross", 1, 2)), ForcedToken(2, "now")
    changed = make_translation(
        target="a man now is standing on a ladder .", interventions=interventions
    )
    return ExperimentResult(changed, original, original.log_probabilities)


def test_new_entries_are_the_tokens_that_the_original_does_not_have() -> None:
    state = ExperimentState()
    original = make_translation()
    state.show_translation(original)
    assert state.maps.new_entries("cross") == (frozenset(), frozenset())
    state.accept(_changed(original))
    state.settings.label_mode = "predicted"
    assert state.maps.new_entries("encoder") == (frozenset(), frozenset())
    assert state.maps.new_entries("cross") == ({2}, frozenset())
    assert state.maps.new_entries("decoder") == ({2}, {3})
    state.settings.hides_wrapping = True
    assert state.maps.new_entries("decoder") == ({2}, {2})
    state.settings.shown = "original"
    assert state.maps.new_entries("decoder") == (frozenset(), frozenset())


def test_an_experiment_is_explained_by_what_was_changed_and_which_maps_are_shown() -> None:
    state = ExperimentState()
    original = make_translation()
    state.show_translation(original)
    state.intents.choose_head(Head("cross", 1, 2))
    assert explain(state)[0].about == "For example:"
    result = _changed(original)
    state.submit(show_experiment(result.experiment))
    state.accept(result)
    texts = set()
    for state.settings.shown in ("original", "changed", "difference"):
        parts = {part.about: part.text for part in explain(state)}
        texts.add(parts["Changed:"])
        assert parts["Changed:"].startswith("cross 2·3 off, step 3: now.")
        assert ("It is switched off" in parts["This head:"]) == (state.settings.shown != "original")
        is_difference = state.settings.shown == "difference"
        assert ("percentage points" in parts["For example:"]) == is_difference
        assert ("from the original to the changed translation" in parts["Cells:"]) == is_difference
    assert len(texts) == 3
    state.settings.picture = "lines"
    assert "Orange lines mean more" in {part.about: part.text for part in explain(state)}["Lines:"]


def test_the_example_of_a_difference_is_the_largest_change() -> None:
    state = ExperimentState()
    original = make_translation()
    cross = original.maps.cross.copy()
    cross[0, 0, 2, 3] -= 0.5
    changed = replace(
        _with_cross(original, cross),
        experiment=original.experiment.with_interventions(HeadScaled(Head("cross", 0, 0))),
    )
    state.accept(ExperimentResult(changed, original, original.log_probabilities))
    state.intents.choose_head(Head("cross", 0, 0))
    state.settings.shown, state.settings.label_mode = "difference", "read"
    row, column = original.read_tokens[2], original.source_tokens[3]
    assert explain(state)[0].text.startswith("cross 1·1 off.")
    assert explain(state)[1].text == (
        f"While the model reads “{row}”, this head gives “{column}” 50 percentage points less of "
        "its attention than in the original."
    )


def _measure_all(state: ExperimentState) -> None:
    """Lets every measure be half the weight."""
    assert state.translation is not None
    state.measuring.take(measure_by_halves(state.translation, state.settings.measure))


def test_norms_share_a_scale_that_reaches_to_the_largest_of_their_kind(
    state: ExperimentState,
) -> None:
    state.settings.measure = "norm"
    _measure_all(state)
    top = top_value(state.maps, state.selection.head, _weights(state))
    assert state.translation is not None
    assert top == float(state.translation.maps.cross.max() / 2)


def test_measured_maps_are_shown_until_another_result_is(state: ExperimentState) -> None:
    state.settings.measure = "norm"
    assert state.maps.lacking_measure() is state.translation
    assert state.maps.shown_measure("cross") == "weight"
    _measure_all(state)
    assert state.maps.lacking_measure() is None
    assert state.maps.shown_measure("cross") == "norm"
    state.show_translation(make_translation())
    assert state.maps.shown_measure("cross") == "weight"


@pytest.mark.slow
def test_maps_shown_in_another_way_for_a_moment_leave_nothing_behind(
    state: ExperimentState,
) -> None:
    """psygnal keeps a string of each signal of a dataclass that was ever made: 18 for each
    redrawing of *Alignment*."""

    def show_in_another_way(times: int) -> None:
        for _ in range(times):
            other = state.maps.with_settings(shown="changed", merges_words=True)
            assert (other.settings.merges_words, other.settings.label_mode) == (True, "read")

    show_in_another_way(3)
    gc.collect()
    before = sys.getallocatedblocks()
    show_in_another_way(200)
    gc.collect()
    assert sys.getallocatedblocks() - before < 200
    assert state.settings.merges_words is False
    with pytest.raises(TypeError, match="colour"):
        state.maps.with_settings(colour="red")


@pytest.mark.heavy
def test_the_clearest_head_looks_at_each_word_from_its_own_row(
    bundled_translator: Translator,
) -> None:
    translation = bundled_translator.translate(
        "Ein kleines Mädchen springt über eine Pfütze, während ihr Bruder lacht."
    )
    maps = translation.maps.cross
    layer, head = clearest_head(maps)
    columns = dict(
        zip(translation.predicted_tokens, maps[layer, head].argmax(axis=-1), strict=True)
    )
    for target, source in (
        ("girl", "mädchen"),
        ("puddle", "pfütze"),
        ("brother", "bruder"),
        ("laughs", "lacht"),
    ):
        assert translation.source_tokens[columns[target]] == source
    clearest = np.unravel_index(clarity(maps).argmax(), maps.shape[:2])
    assert clearest != (layer, head), "that one looks back at the word just translated"
