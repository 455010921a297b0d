"""Pairs and places are translated into each other; the words for axes come from one place."""

import numpy as np
import pytest

from augenmerk.core.model.heads import Head
from augenmerk.viz_app.export.snapshot import take_snapshot
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_text import explain
from augenmerk.viz_app.state.map_view import Axes, Band, MapView, Pair, Place
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from tests.viz_app.synthetic import make_result, make_translation


@pytest.fixture
def state() -> ExperimentState:
    state = ExperimentState(MapViewSettings(label_mode="read"))
    state.accept(make_result(make_translation("ein mann schläft .", "a man is sleep|ing .")))
    state.intents.choose_head(Head("cross", 1, 2))
    return state


@pytest.fixture
def view(state: ExperimentState) -> MapView:
    state.settings.hides_wrapping = True
    view = state.maps.view()
    assert view is not None
    return view


def test_each_cell_has_a_pair_and_each_pair_its_cell(view: MapView) -> None:
    for row in range(len(view.rows)):
        for column in range(len(view.columns)):
            place = Place(row, column)
            pair = view.pair_at(place)
            assert view.place_of(pair) == place
            assert pair.query in view.queries_of(view.query_band_at(place))
            entries = view.entries_of(pair)
            assert entries is not None
            assert view.values[row, column] == view.labelled.weights[entries]


def test_every_token_of_a_merged_word_stands_in_its_cell_and_hidden_tokens_in_none(view: MapView) -> None:
    merged = view.row_labels.index("sleeping")
    first, second = view.queries_of(Band(merged, is_row=True))
    key = view.keys_of(Band(0, is_row=False))[0]
    assert view.place_of(Pair(first, key)) == view.place_of(Pair(second, key)) == Place(merged, 0)
    assert view.query_entries([first, second]) == {merged}
    assert view.place_of(Pair(0, key)) is None, "query 0 reads the start token"
    assert view.key_entries([0]) == set(), "key 0 is the start token"


def test_a_row_or_column_stands_for_queries_or_for_keys(view: MapView) -> None:
    for bands, stands_for, not_for in (
        (view.query_bands({2, 0}), view.queries_of, view.keys_of),
        (view.key_bands({2, 0}), view.keys_of, view.queries_of),
    ):
        assert len(bands) == 2
        assert bands[0].index < bands[1].index
        for band in bands:
            assert stands_for(band)
            assert not not_for(band)


def test_the_maps_of_all_heads_are_drawn_as_the_large_one(state: ExperimentState, view: MapView) -> None:
    of_all = state.maps.view_all("cross")
    np.testing.assert_allclose(of_all.values[1, 2], view.values, rtol=1e-6)
    assert (of_all.row_labels, of_all.column_labels) == (view.row_labels, view.column_labels)


def test_sentences_about_queries_and_keys_take_their_words_from_the_axes(
    state: ExperimentState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MapViewSettings, "axes", Axes("QUERY", "KEY", "at the WHERE", "QUERY \\ KEY"))
    state.settings.hides_punctuation = True
    state.selection.pick_queries([2], 1)
    view, snapshot = state.maps.view(), take_snapshot(state, "model")
    assert view is not None
    assert snapshot is not None
    parts = explain(state)
    texts = [
        map_text.meaning_of_query(state),
        map_text.marks_in_words(state),
        *(map_text.label_tip(view, band) for band in (*view.query_bands([1]), *view.key_bands([1]))),
        *(f"{part.about} {part.text}" for part in parts),
        snapshot.drawing.caption,
    ]
    told = " ".join(texts).lower()
    assert not {"row", "rows", "column", "columns"} & set(told.replace(":", " ").replace(".", " ").split())
    assert {"Querys:", "Keys:"} <= {part.about for part in parts}
    assert "Each QUERY: " in texts[0]
    assert "querys: token read" in told
