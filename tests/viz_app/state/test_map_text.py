"""What is said about the measure of the large map."""

from dataclasses import replace

import numpy as np
import pytest

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import HeadScaled
from augenmerk.viz_app.state.experiment_editor import scale
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_text import FAINT_ON_SCALE, measure_note, scale_note, titles
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from tests.viz_app.builders import state_of
from tests.viz_app.synthetic import make_result, make_translation


@pytest.fixture
def state() -> ExperimentState:
    return state_of(head=Head("cross", 0, 0), measure="norm")


def test_a_failed_measurement_is_told_where_it_was_announced(state: ExperimentState) -> None:
    state.measuring.request.begin()
    assert measure_note(state).startswith("Computing: ")
    state.measuring.request.finish("Not enough memory.")
    assert measure_note(state).endswith("could not be computed; the weights are shown.")
    state.measuring.request.begin()
    assert measure_note(state).startswith("Computing: ")


def test_nothing_is_said_about_weights(state: ExperimentState) -> None:
    state.settings.measure = "weight"
    assert measure_note(state) == ""
    assert measure_note(ExperimentState(MapViewSettings(measure="norm"))) == ""


def test_a_map_that_its_scale_leaves_pale_names_the_other_scale() -> None:
    even = make_translation("wort " * 60, "word " * 60)
    cross = np.full_like(even.maps.cross, 1 / even.maps.cross.shape[-1])
    long = ExperimentState()
    long.accept(make_result(replace(even, attention=replace(even.maps, cross=cross))))
    long.intents.choose_head(Head("cross", 0, 0))
    assert scale_note(long) == FAINT_ON_SCALE
    long.settings.scale = "own"
    assert scale_note(long) == ""
    cross = cross.copy()
    cross[..., :5, 0] = 0.9
    long.accept(make_result(replace(even, attention=replace(even.maps, cross=cross))))
    assert "a few of its values are far larger" in scale_note(long)
    long.settings.scale = "shared"
    assert "a few of its values are far larger" in scale_note(long)
    assert scale_note(state_of("ein mann", "a man", head=Head("cross", 0, 0))) == ""
    assert scale_note(ExperimentState(MapViewSettings())) == ""


@pytest.mark.parametrize(
    ("factor", "note"), [(0.0, ["off"]), (0.5, ["×0.5"]), (-2.0, ["×−2"]), (1.0, [])]
)
def test_a_title_names_what_happens_to_the_output_of_its_head(
    state: ExperimentState, factor: float, note: list[str]
) -> None:
    head = Head("cross", 0, 0)
    state.submit(scale(head, factor))
    state.accept(
        make_result(make_translation(interventions=(HeadScaled(head, factor),)), make_translation())
    )
    assert titles(state) == ["Cross-attention · layer 1 · head 1", *note]
    state.settings.scope = "layer"
    assert len(titles(state)) == 1, "not all heads of the layer are scaled"
    state.settings.scope = "head"
    state.settings.shown = "original"
    assert len(titles(state)) == 1
