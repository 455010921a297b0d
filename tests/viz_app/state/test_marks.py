"""Clicks gather tokens; what is picked lights up where it belongs, and the sum of its queries is
the sum.
"""

import numpy as np
import pytest

from augenmerk.core.model.heads import Head
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_text import marks_in_words
from augenmerk.viz_app.state.map_view import Pair, PickedTokens, token_shift_of_queries
from augenmerk.viz_app.state.marks import (
    key_shares,
    lit_keys,
    lit_queries,
    queries_of_word,
    query_sum,
    word_of_query,
)
from augenmerk.viz_app.state.sentence_text import elided
from tests.viz_app.builders import state_of
from tests.viz_app.synthetic import make_result, make_translation

KINDS = ("encoder", "decoder", "cross")


@pytest.fixture
def state() -> ExperimentState:
    return state_of(
        "ein mann schläft .",
        "a man is sleep|ing .",
        head=Head("cross", 1, 2),
        label_mode="read",
        merges_words=False,
    )


def test_a_click_picks_alone_ctrl_adds_or_takes_away_and_shift_reaches_from_the_last() -> None:
    picked = PickedTokens().pick("target", [2])
    assert picked.tokens == {2}
    assert picked.pick("target", [4]).tokens == {4}
    assert picked.pick("target", [4], "also").tokens == {2, 4}
    assert picked.pick("target", [4], "also").pick("target", [2], "also").tokens == {4}
    assert picked.pick("target", [5], "through").tokens == {2, 3, 4, 5}
    assert picked.pick("target", [5], "through").pick("target", [0], "through").tokens == {
        0,
        1,
        2,
        3,
        4,
        5,
    }
    assert picked.pick("target", [2]).tokens == frozenset()
    assert picked.pick("source", [1], "also").tokens == {1}


def test_the_sum_is_that_of_the_queries_of_the_picked_words(state: ExperimentState) -> None:
    assert query_sum(state) is None
    translation = state.translation
    assert translation is not None
    for word in (translation.target_words[1], translation.target_words[3]):
        state.selection.pick_word(word, "also")
    total = query_sum(state)
    assert total is not None
    weights = translation.maps.cross[1, 2]
    np.testing.assert_allclose(total.weights, weights[2] + weights[4] + weights[5], rtol=1e-6)
    assert total.title == "Sum of 3 rows: man + sleep + ing"
    best = int(total.weights.argmax())
    assert f"→ {translation.source_tokens[best]} {total.weights[best]:.2f}" in total.sentences[0]
    state.settings.merges_words = True
    merged = query_sum(state)
    assert merged is not None
    np.testing.assert_allclose(
        merged.weights, weights[2] + (weights[4] + weights[5]) / 2, rtol=1e-5
    )
    assert merged.query_labels == ("man", "sleeping")


def test_a_picked_word_stays_the_same_word_in_the_other_label_mode(state: ExperimentState) -> None:
    assert state.translation is not None
    state.selection.pick_word(state.translation.target_words[1])
    for state.settings.label_mode, query in (("read", 2), ("predicted", 1)):
        assert query_sum(state).query_labels == ("man",)  # type: ignore[union-attr]
        assert lit_queries(state, "cross") == (query,)


def test_a_picked_word_lights_up_in_every_map_that_has_a_query_for_it(
    state: ExperimentState,
) -> None:
    assert state.translation is not None
    state.selection.pick_word(state.translation.target_words[0])
    assert [lit_queries(state, kind) for kind in KINDS] == [(), (1,), (1,)]
    state.intents.choose_head(Head("encoder", 0, 0))
    assert query_sum(state) is None
    state.selection.pick_queries((3,), token_shift_of_queries("encoder", "read"))
    assert [lit_queries(state, kind) for kind in KINDS] == [(3,), (), ()]


def test_a_pinned_pair_lights_up_its_query_and_its_key(state: ExperimentState) -> None:
    state.selection.pin(Pair(2, 3))
    assert [lit_queries(state, kind) for kind in KINDS] == [(3,), (2,), (2,)]
    assert [lit_keys(state, kind) for kind in KINDS] == [(3,), (), (3,)]
    state.intents.choose_head(Head("decoder", 0, 0))
    state.selection.pin(Pair(4, 2))
    assert [lit_queries(state, kind) for kind in KINDS] == [(), (4,), (4,)]
    assert [lit_keys(state, kind) for kind in KINDS] == [(), (2,), ()]


def test_shares_of_the_words_looked_at_are_those_of_the_summed_queries(
    state: ExperimentState,
) -> None:
    translation = state.translation
    assert translation is not None
    assert key_shares(state, "source") == {}
    for word in translation.target_words[:2]:
        state.selection.pick_word(word, "also")
    rows = translation.maps.cross[1, 2][[1, 2]].sum(axis=0)
    shares = key_shares(state, "source")
    for word in translation.source_words:
        assert shares[word] == pytest.approx(
            float(rows[word.start : word.end].sum() / rows.sum()), rel=1e-5
        )
    assert key_shares(state, "target") == {}
    state.intents.choose_head(Head("decoder", 0, 0))
    assert sum(key_shares(state, "target").values()) > 0


def test_a_word_is_found_in_the_queries_that_read_or_predict_its_tokens(
    state: ExperimentState,
) -> None:
    assert state.translation is not None
    word = state.translation.target_words[3]
    assert word.text == "sleeping"
    for state.settings.label_mode in ("read", "predicted"):
        view = state.maps.view()
        assert view is not None
        assert [view.row_labels[query] for query in queries_of_word(state, word)] == [
            "sleep",
            "ing",
        ]
    assert word_of_query(state, queries_of_word(state, word)[1]) == word
    state.intents.choose_head(Head("encoder", 0, 0))
    assert queries_of_word(state, word) == ()


def test_a_long_text_gives_way_between_its_ends() -> None:
    assert elided("sleeping", 8) == "sleeping"
    assert [elided("sleeping", length) for length in (7, 4, 3)] == ["sle…ing", "sl…g", "s…g"]


def test_what_is_picked_is_said_in_words_and_forgotten_with_the_sentence(
    state: ExperimentState,
) -> None:
    assert marks_in_words(state) == ""
    state.selection.pin(Pair(1, 1))
    assert marks_in_words(state).startswith("Pinned: reading a → ein, weight ")
    state.selection.pick_queries((1,), token_shift_of_queries("cross", "read"))
    assert marks_in_words(state).startswith("Row a → ")
    state.accept(make_result(make_translation("zwei", "two")))
    assert not state.selection.has_marks


def test_words_of_a_pinned_cell_are_shortened_only_where_the_whole_does_not_fit(
    state: ExperimentState,
) -> None:
    words = "sleeping → schlafend"
    state.accept(make_result(make_translation("schlafend", "sleeping")))
    state.selection.pin(Pair(1, 1))
    forms = marks_in_words(state).split("\n")
    *whole, shortest_whole = [form for form in forms if words in form]
    assert forms[: len(whole) + 1] == [*whole, shortest_whole]
    assert "weight" not in shortest_whole
    shortened = forms[len(whole) + 1 : -1]
    assert shortened
    assert all(len(form) < len(shortest_whole) for form in shortened)
