"""Pairs and places are translated into each other; the words for axes come from one place."""

import numpy as np
import pytest

from augenmerk.core.model.heads import Head
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Band, MapView, Pair, Place
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
    for row in range(len(view.row_labels)):
        for column in range(len(view.column_labels)):
            place = Place(row, column)
            pair = view.pair_at(place)
            assert view.place_of(pair) == place
            assert pair.query in view.queries_of(Band(row, is_row=True))
            assert pair.key in view.keys_of(Band(column, is_row=False))


def test_every_token_of_a_merged_word_stands_in_its_cell_and_hidden_tokens_in_none(view: MapView) -> None:
    merged = view.row_labels.index("sleeping")
    first, second = view.queries_of(Band(merged, is_row=True))
    key = view.keys_of(Band(0, is_row=False))[0]
    assert view.place_of(Pair(first, key)) == view.place_of(Pair(second, key)) == Place(merged, 0)
    assert view.bands(queries=[first, second]) == [Band(merged, is_row=True)]
    assert view.place_of(Pair(0, key)) is None, "query 0 reads the start token"
    assert view.bands(keys=[0]) == [], "key 0 is the start token"


def test_bands_are_rows_and_then_columns_in_order(view: MapView) -> None:
    keys = [view.keys_of(Band(column, is_row=False))[0] for column in (2, 0)]
    queries = [view.queries_of(Band(row, is_row=True))[-1] for row in (2, 0)]
    assert view.bands(queries, keys) == view.bands_at([0, 2], [0, 2])


def test_the_maps_of_all_heads_are_drawn_as_the_large_one(state: ExperimentState, view: MapView) -> None:
    of_all = state.maps.view_all("cross")
    np.testing.assert_allclose(of_all.values[1, 2], view.values, rtol=1e-6)
    assert (of_all.row_labels, of_all.column_labels) == (view.row_labels, view.column_labels)
