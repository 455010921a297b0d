"""Clicks gather tokens, and the sum of their rows is the sum."""

import numpy as np
import pytest

from tests.viz_app.synthetic import make_translation
from viz_app.state.marking import Cell
from viz_app.state.picking import PickedTokens
from viz_app.state.translate_state import HeadChoice, TranslateState


@pytest.fixture
def state() -> TranslateState:
    state = TranslateState()
    state.label_mode = "read"
    state.show(make_translation("ein mann schläft .", "a man is sleep|ing ."))
    state.choose(HeadChoice("cross", 1, 2))
    return state


def test_a_click_picks_alone_ctrl_adds_or_takes_away_and_shift_reaches_from_the_last() -> None:
    picked = PickedTokens().pick("target", [2])
    assert picked.tokens == {2}
    assert picked.pick("target", [4]).tokens == {4}
    assert picked.pick("target", [4], "also").tokens == {2, 4}
    assert picked.pick("target", [4], "also").pick("target", [2], "also").tokens == {4}
    assert picked.pick("target", [5], "through").tokens == {2, 3, 4, 5}
    assert picked.pick("target", [5], "through").pick("target", [0], "through").tokens == {0, 1, 2, 3, 4, 5}
    assert picked.pick("target", [2]).tokens == frozenset()
    assert picked.pick("source", [1], "also").tokens == {1}


def test_the_sum_is_that_of_the_rows_of_the_picked_words(state: TranslateState) -> None:
    assert state.row_sum() is None
    translation = state.translation
    assert translation is not None
    state.merges_words = False
    for word in (translation.target_words[1], translation.target_words[3]):
        state.pick_word(word, "also")
    total = state.row_sum()
    assert total is not None
    weights = translation.maps.cross[1, 2]
    np.testing.assert_allclose(total.weights, weights[2] + weights[4] + weights[5], rtol=1e-6)
    assert total.title == "Sum of 3 rows: man + sleep + ing"
    best = int(total.weights.argmax())
    assert f"→ {translation.source_tokens[best]} {total.weights[best]:.2f}" in total.sentence
    state.merges_words = True
    merged = state.row_sum()
    assert merged is not None
    np.testing.assert_allclose(merged.weights, weights[2] + (weights[4] + weights[5]) / 2, rtol=1e-5)
    assert merged.row_labels == ("man", "sleeping")


def test_a_picked_word_stays_the_same_word_in_the_other_label_mode(state: TranslateState) -> None:
    assert state.translation is not None
    state.pick_word(state.translation.target_words[1])
    assert state.row_sum().row_labels == ("man",)  # type: ignore[union-attr]
    assert state.lit_rows("cross") == (2,)
    state.label_mode = "predicted"
    assert state.row_sum().row_labels == ("man",)  # type: ignore[union-attr]
    assert state.lit_rows("cross") == (1,)


def test_a_picked_word_lights_up_in_every_map_that_has_a_row_for_it(state: TranslateState) -> None:
    assert state.translation is not None
    state.pick_word(state.translation.target_words[0])
    assert [state.lit_rows(kind) for kind in ("encoder", "decoder", "cross")] == [(), (1,), (1,)]
    state.choose(HeadChoice("encoder", 0, 0))
    assert state.row_sum() is None
    state.pick_rows((3,))
    assert [state.lit_rows(kind) for kind in ("encoder", "decoder", "cross")] == [(3,), (), ()]


def test_a_pinned_cell_lights_up_its_query_and_its_key(state: TranslateState) -> None:
    state.pinned = Cell(2, 3)
    assert [state.lit_rows(kind) for kind in ("encoder", "decoder", "cross")] == [(3,), (2,), (2,)]
    assert [state.lit_columns(kind) for kind in ("encoder", "decoder", "cross")] == [(3,), (), (3,)]
    state.choose(HeadChoice("decoder", 0, 0))
    state.pinned = Cell(4, 2)
    assert [state.lit_rows(kind) for kind in ("encoder", "decoder", "cross")] == [(), (4,), (4,)]
    assert [state.lit_columns(kind) for kind in ("encoder", "decoder", "cross")] == [(), (2,), ()]


def test_shares_of_the_words_looked_at_are_those_of_the_summed_rows(state: TranslateState) -> None:
    translation = state.translation
    assert translation is not None
    assert state.key_shares("source") == {}
    for word in translation.target_words[:2]:
        state.pick_word(word, "also")
    rows = translation.maps.cross[1, 2][[1, 2]].sum(axis=0)
    shares = state.key_shares("source")
    for word in translation.source_words:
        assert shares[word] == pytest.approx(float(rows[word.start : word.end].sum() / rows.sum()), rel=1e-5)
    assert state.key_shares("target") == {}
    state.choose(HeadChoice("decoder", 0, 0))
    assert sum(state.key_shares("target").values()) > 0


def test_what_is_picked_is_said_in_words_and_forgotten_with_the_sentence(state: TranslateState) -> None:
    assert state.marks_in_words() == ""
    state.pinned = Cell(1, 1)
    assert state.marks_in_words().startswith("Pinned: reading a → ein, weight ")
    state.pick_rows((1,))
    assert state.marks_in_words().startswith("Row a → ")
    state.show(make_translation())
    assert not state.has_marks
