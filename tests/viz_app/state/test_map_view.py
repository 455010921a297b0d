"""Pairs and places are translated into each other; the words for axes come from one place."""

import numpy as np
import pytest

from augenmerk.core.model.heads import Head
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Band, MapView, Pair, Place
from tests.viz_app.builders import state_of


@pytest.fixture
def state() -> ExperimentState:
    return state_of(
        "ein mann schläft .", "a man is sleep|ing .", head=Head("cross", 1, 2), label_mode="read"
    )


@pytest.fixture
def view(state: ExperimentState) -> MapView:
    state.settings.hides_wrapping = True
    view = state.maps.view()
    assert view is not None
    return view


def test_each_cell_has_a_pair_and_each_pair_its_cell(view: MapView) -> None:
    for row in range(len(view.row_labels)):
        for column in range(len(view.column_labels)):
            cell = Place(row, column)
            pair = view.pair_at(cell)
            assert view.place_of(pair) == cell
            assert pair.query in view.queries_of(Band(row, is_row=True))
            assert pair.key in view.keys_of(Band(column, is_row=False))


def test_every_token_of_a_merged_word_stands_in_its_cell_and_hidden_tokens_in_none(
    view: MapView,
) -> None:
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


def test_the_maps_of_all_heads_are_drawn_as_the_large_one(
    state: ExperimentState, view: MapView
) -> None:
    of_all = state.maps.view_all("cross")
    np.testing.assert_allclose(of_all.values[1, 2], view.values, rtol=1e-6)
    assert (of_all.row_labels, of_all.column_labels) == (view.row_labels, view.column_labels)


@pytest.fixture
def transposed(state: ExperimentState) -> MapView:
    state.settings.transposes = True
    view = state.maps.view()
    assert view is not None
    return view


def test_a_transposed_map_has_keys_in_rows_and_the_same_weights(
    state: ExperimentState, transposed: MapView
) -> None:
    state.settings.transposes = False
    upright = state.maps.view()
    assert upright is not None
    np.testing.assert_array_equal(transposed.values, upright.values.T)
    np.testing.assert_array_equal(transposed.weights, upright.weights)
    assert (transposed.row_labels, transposed.column_labels) == (
        upright.column_labels,
        upright.row_labels,
    )
    assert transposed.axes == upright.axes[::-1]
    assert transposed.table_header == ("key \\ query", *upright.row_labels)


def test_a_transposed_cell_has_the_same_pair(transposed: MapView) -> None:
    pair = transposed.pair_at(Place(row=1, column=3))
    assert transposed.place_of(pair) == Place(1, 3)
    assert pair.query in transposed.queries_of(Band(3, is_row=False))
    assert pair.key in transposed.keys_of(Band(1, is_row=True))
    assert transposed.query_band(Place(1, 3)) == Band(3, is_row=False)
    assert transposed.cell(pair) == (
        transposed.column_labels[3],
        transposed.row_labels[1],
        pytest.approx(float(transposed.values[1, 3])),
    )


def test_the_sum_of_queries_of_a_transposed_map_has_no_row_of_sums(transposed: MapView) -> None:
    total = transposed.sum_of([0, 1])
    assert total is not None
    assert total.name == "Sum of 2 columns"
    assert total.sums is None


def test_every_head_is_transposed(state: ExperimentState) -> None:
    rows, columns = state.maps.view_all("cross").values.shape[-2:]
    state.settings.transposes = True
    assert state.maps.view_all("cross").values.shape[-2:] == (columns, rows)
