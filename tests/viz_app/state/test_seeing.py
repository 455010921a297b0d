import numpy as np
import pytest
from viz_app.state.seeing import clarity, clearest_head
from viz_app.state.translate_state import Cell, HeadChoice, TranslateState

from core.analysis.roles import ROLES, Role
from core.analysis.sample_roles import SampleRoles
from core.translation.result import MAP_KINDS, Translation
from tests.viz_app.synthetic import make_translation
from viz_app.state.explain import Part, explain
from viz_app.state.role_words import role_in_short, role_in_words
from viz_app.state.snapshot import take_snapshot


@pytest.fixture
def state() -> TranslateState:
    state = TranslateState()
    state.label_mode = "read"
    state.show(make_translation("ein mann schläft .", "a man is sleep|ing ."))
    state.choose(HeadChoice("cross", 1, 2))
    return state


def _weights(state: TranslateState) -> np.ndarray:
    view = state.view()
    assert view is not None
    return view.weights


def test_merged_words_are_summed_over_columns_and_averaged_over_rows(state: TranslateState) -> None:
    assert state.translation is not None
    state.merges_words = True
    view = state.view()
    assert view is not None
    assert view.row_labels == ("<sos>", "a", "man", "is", "sleeping", ".")
    maps = state.translation.maps
    np.testing.assert_allclose(view.weights[4], maps.cross[1, 2, 4:6].mean(axis=0), rtol=1e-6)
    state.choose(HeadChoice("decoder", 0, 0))
    np.testing.assert_allclose(_weights(state)[5, 4], maps.decoder[0, 0, 6, 4:6].sum(), rtol=1e-6)
    np.testing.assert_allclose(_weights(state).sum(axis=1), 1, rtol=1e-5)


def test_a_cell_of_a_merged_word_is_found_by_any_of_its_pieces(state: TranslateState) -> None:
    state.merges_words = True
    assert state.describe(Cell(4, 2)) == state.describe(Cell(5, 2))
    assert state.describe(Cell(4, 2))[0] == "reading  sleeping → mann"  # type: ignore[index]


def test_hiding_punctuation_leaves_rows_that_sum_to_one(state: TranslateState) -> None:
    state.hides_punctuation = True
    view = state.view()
    assert view is not None
    assert "." not in (*view.row_labels, *view.column_labels)
    np.testing.assert_allclose(view.weights.sum(axis=1), 1, rtol=1e-5)
    assert 0 < view.hidden_share < 1
    assert state.describe(Cell(0, 4)) is None


def test_a_sentence_of_punctuation_alone_is_not_hidden_away() -> None:
    state = TranslateState()
    state.show(make_translation(". !", ". !"))
    state.hides_punctuation = state.hides_wrapping = True
    assert _weights(state).shape == (3, 4)
    assert state.hiding_note() == (
        "Without start, end and punctuation nothing would be left of this map, so nothing is hidden."
    )
    snapshot = take_snapshot(state, "model")
    assert snapshot is not None
    assert snapshot.facts["hidden"] == "nothing: no token would be left"
    state.hides_punctuation = False
    assert "lies on hidden tokens" in state.hiding_note()


def test_mean_and_maximum_of_a_layer_a_kind_and_a_set(state: TranslateState) -> None:
    assert state.translation is not None
    cross = state.translation.maps.cross
    state.scope = "layer"
    np.testing.assert_allclose(_weights(state), cross[1].mean(axis=0), rtol=1e-6)
    assert state.title() == "Cross-attention · layer 2 · mean of 8 heads"
    state.combination = "max"
    np.testing.assert_allclose(_weights(state), cross[1].max(axis=0), rtol=1e-6)
    state.scope = "all"
    np.testing.assert_allclose(_weights(state), cross.max(axis=(0, 1)), rtol=1e-6)
    assert state.title() == "Cross-attention · maximum of 24 heads in all layers"
    state.combination = "mean"
    state.add(HeadChoice("cross", 0, 0))
    assert state.scope == "chosen"
    np.testing.assert_allclose(_weights(state), (cross[1, 2] + cross[0, 0]) / 2, rtol=1e-5)


def test_a_set_of_heads_stays_within_a_kind_and_ends_with_the_next_choice(state: TranslateState) -> None:
    state.add(HeadChoice("cross", 0, 0))
    state.add(HeadChoice("encoder", 0, 1))
    assert state.choice == HeadChoice("encoder", 0, 1)
    assert state.several == {HeadChoice("encoder", 0, 1)}
    state.add(HeadChoice("encoder", 0, 1))
    assert state.scope == "head"
    state.add(HeadChoice("encoder", 2, 2))
    state.choose(HeadChoice("encoder", 1, 1))
    assert (state.scope, state.several) == ("head", frozenset())


def test_the_scale_of_a_layer_reaches_to_its_largest_weight(state: TranslateState) -> None:
    assert state.translation is not None
    state.scale = "layer"
    assert state.top_weight(_weights(state)) == pytest.approx(state.translation.maps.cross[1].max())


def test_thumbnails_follow_what_is_hidden_and_merged(state: TranslateState) -> None:
    assert state.translation is not None
    state.merges_words = state.hides_wrapping = True
    for kind in MAP_KINDS:
        state.choose(HeadChoice(kind, 1, 3))
        np.testing.assert_allclose(state.thumbnails(state.translation, kind)[1, 3], _weights(state), rtol=1e-6)


def test_another_translation_brings_other_maps(state: TranslateState) -> None:
    before = _weights(state)
    state.show(make_translation("zwei", "two"))
    assert _weights(state).shape != before.shape


def test_every_way_of_seeing_is_explained_in_its_own_words(state: TranslateState) -> None:
    assert explain(TranslateState()) == ()
    texts = set()
    for kind in MAP_KINDS:
        state.choose(HeadChoice(kind, 0, 0))
        for state.label_mode in ("read", "predicted"):
            texts.add(explain(state))
    assert len(texts) == 5
    state.hides_wrapping = state.merges_words = True
    state.scope = "layer"
    text = " ".join(f"{about} {words}" for about, words in explain(state))
    assert "mean over 8 heads" in text
    assert "scaled up" in text
    assert "averaged over its rows" in text


def test_the_example_is_the_largest_cell_between_two_words(state: TranslateState) -> None:
    translation = state.translation
    assert translation is not None
    state.merges_words = False
    translation.maps.cross[0, 0] = 0.01
    translation.maps.cross[0, 0, 0, 0] = 1  # <sos> looks at itself: no example for anybody
    translation.maps.cross[0, 0, 2, 3] = 0.87
    state.choose(HeadChoice("cross", 0, 0))
    column = translation.source_tokens[3]
    for state.label_mode, verb in (("read", "reads"), ("predicted", "predicts")):
        row = state.row_labels()[2]
        expected = f"While the model {verb} “{row}”, this head gives 87 % of its attention to “{column}”."
        assert explain(state)[0] == ("For example:", expected)
    state.scope, state.combination = "layer", "max"
    assert "one of these 8 heads gives" in explain(state)[0].text
    state.combination = "mean"
    assert "these 8 heads give on average" in explain(state)[0].text


def test_lines_are_explained_as_lines(state: TranslateState) -> None:
    assert [part.about for part in explain(state)][1:4] == ["Rows", "Columns", "Cells"]
    state.picture, state.line_threshold = "lines", 0.25
    parts = {part.about: part.text for part in explain(state)}
    assert "under 25%" in parts["Lines"]
    assert "Cells" not in parts
    assert "German tokens" in parts["At the right"]


def test_a_sentence_of_punctuation_has_an_example_too() -> None:
    state = TranslateState()
    state.show(make_translation(".", ".", num_layers=1, num_heads=1))
    assert "this head gives" in explain(state)[0].text


def test_roles_of_this_sentence_are_counted(state: TranslateState) -> None:
    assert state.translation is not None
    counts = state.count_roles(state.translation)
    assert sum(counts.values()) == 72
    assert state.role(state.translation, HeadChoice("encoder", 0, 0)) == "self"
    assert state.role(state.translation, HeadChoice("encoder", 0, 1)) == "next"


def _all_of(role: Role, translation: Translation) -> SampleRoles:
    """A sample on which every head does one thing."""
    shapes = {kind: translation.maps.of_kind(kind).shape[:2] for kind in MAP_KINDS}
    return SampleRoles({kind: ((role,) * heads,) * layers for kind, (layers, heads) in shapes.items()}, "9 pairs")


def test_where_a_sample_was_measured_its_roles_count_and_the_sentence_stands_beside(state: TranslateState) -> None:
    translation = state.translation
    assert translation is not None
    head = HeadChoice("encoder", 0, 0)
    assert state.where_roles_hold == "in this sentence"
    assert role_in_words(state, translation, head).startswith("In this sentence this head gives at least 30% of its")
    state.choose(head)
    state.take_roles(_all_of("previous", translation))
    assert state.role(translation, head) == "previous"
    assert state.role_here(translation, head) == "self"
    assert state.count_roles(translation) == {"previous": 72}
    assert role_in_short(state, translation, head).endswith("on 9 pairs\nself in this sentence")
    expected = (
        "Over 9 pairs this head gives at least 30% of its weight to the token before (“previous”); in this sentence it "
        "gives at least 30% of its weight to the token itself (“self”)."
    )
    assert Part("This head", expected) in explain(state)
    state.take_roles(_all_of("self", translation))
    assert role_in_words(state, translation, head).startswith("Over 9 pairs, as in this sentence, this head gives")
    assert "\n" not in role_in_short(state, translation, head)


def test_heads_stand_by_the_roles_of_the_sample() -> None:
    state = TranslateState()
    translation = make_translation(num_layers=2, num_heads=4)
    state.show(translation)
    state.order = "role"
    before = state.in_order(translation, "cross")
    roles = _all_of("mixed", translation)
    last = before[-1]
    layers = [list(layer) for layer in roles.by_kind["cross"]]
    layers[last[0]][last[1]] = "aligner"
    state.take_roles(SampleRoles({**roles.by_kind, "cross": tuple(map(tuple, layers))}, "9 pairs"))
    assert state.in_order(translation, "cross")[0] == last


def test_another_model_brings_its_own_roles_with_its_first_answer(state: TranslateState) -> None:
    translation = state.translation
    assert translation is not None
    state.take_roles(_all_of("previous", translation))
    state.begin_model("German", "English")
    assert state.role(translation, state.choice) == "previous", "what is shown is still of the earlier model"
    state.show(make_translation("ein mann .", "a man ."))
    assert state.sample_roles is None
    state.begin_model("German", "English", _all_of("self", translation))
    state.show(translation)
    assert state.count_roles(translation) == {"self": 72}


def test_rounding_never_makes_the_hidden_share_negative(state: TranslateState) -> None:
    assert state.translation is not None
    state.translation.maps.cross[:] = 0
    state.translation.maps.cross[..., 1:-1] = np.float32(1.0000001) / 3
    state.hides_wrapping = True
    view = state.view()
    assert view is not None
    assert view.hidden_share >= 0


def test_heads_stand_by_layer_by_role_or_the_clearest_first() -> None:
    state = TranslateState()
    translation = make_translation(num_layers=2, num_heads=4)
    state.show(translation)
    by_layer = [(layer, head) for layer in range(2) for head in range(4)]
    assert state.in_order(translation, "cross") == by_layer
    state.order = "clarity"
    clearest = state.in_order(translation, "cross")
    assert sorted(clearest) == by_layer
    scores = clarity(translation.maps.cross)
    assert [scores[place] for place in clearest] == sorted(scores.flat, reverse=True)
    assert clearest[0] == clearest_head(translation.maps.cross)
    state.order = "role"
    names = [state.role(translation, HeadChoice("encoder", *place)) for place in state.in_order(translation, "encoder")]
    assert names == sorted(names, key=list(ROLES).index)
    assert len(set(names)) > 1


def test_arrows_follow_the_order_in_which_heads_stand() -> None:
    state = TranslateState()
    translation = make_translation()
    state.show(translation)
    state.order = "clarity"
    first, second = state.in_order(translation, "cross")[:2]
    state.choose(HeadChoice("cross", *first))
    assert state.move("right")
    assert state.choice == HeadChoice("cross", *second)
