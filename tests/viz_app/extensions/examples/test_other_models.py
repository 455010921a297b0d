"""An example that nobody has touched gives way to one for the next model."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from augenmerk.core.device import DeviceChoice
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.model.heads import Head
from augenmerk.core.resources import bundled_model_path, example_sentences
from augenmerk.core.translation.experiment import Experiment, ForcedToken, HeadScaled
from augenmerk.viz_app.extensions.examples.gallery import gallery
from augenmerk.viz_app.extensions.examples.menu import ExamplesMenu
from augenmerk.viz_app.state.experiment_editor import edit_text, intervene, open_experiment, undo
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.views.sentence import SentencePanel
from tests.viz_app.synthetic import FakeTranslator, make_result, make_translation

MODEL = ModelInfo(
    "one", Path("one.safetensors"), preset("notebook"), DeviceChoice("cpu", "requested"), 1
)
COPY = replace(MODEL, run=preset("copy-task-small"))


@pytest.fixture
def state() -> ExperimentState:
    state = ExperimentState()
    state.begin_model(MODEL)
    return state


def answer(state: ExperimentState) -> None:
    """Computes what is asked for."""
    state.accept(FakeTranslator(None, "cpu").compare(state.experiment))


def test_an_untouched_example_gives_way_to_one_of_the_next_model(
    qtbot: QtBot, theme: Theme, state: ExperimentState
) -> None:
    state.prepare_text(example_sentences()[0])
    panel = SentencePanel(state)
    qtbot.addWidget(panel)
    ExamplesMenu(panel)
    state.begin_model(COPY)
    assert state.experiment.source_text.split()[0] == "1"
    assert panel.input.placeholderText() == "Type numbers separated by spaces"
    state.submit(open_experiment(Experiment("1 2 2 2")), asks=False)
    state.begin_model(replace(COPY, path=Path("other.safetensors")))
    assert state.experiment.source_text == "1 2 2 2", "what somebody typed stays"


@pytest.mark.parametrize("typed", ["", "1 2 2 2"])
def test_the_own_sentence_returns_after_models_of_another_task_were_tried(
    qtbot: QtBot, theme: Theme, state: ExperimentState, typed: str
) -> None:
    own, probes = "Ein eigener Satz.", ("7 7 7 1 2", "3 3 3 1 2")
    panel = SentencePanel(state)
    qtbot.addWidget(panel)
    ExamplesMenu(panel)
    state.begin_model(MODEL)
    state.submit(edit_text(own), asks=False)
    for probe in probes:  # as `MainWindow.try_model` does
        panel.offered_text = probe
        state.begin_model(COPY)
        state.submit(open_experiment(Experiment(probe)), asks=False)
    if typed:
        state.submit(edit_text(typed), asks=False)
    state.begin_model(MODEL)
    assert state.experiment.source_text == own
    state.begin_model(COPY)
    assert state.experiment.source_text == (typed or own)
    state.submit(undo, asks=False)
    assert state.experiment.source_text in (own, *probes), "nothing is lost"


def test_the_own_sentence_returns_after_a_sentence_came_with_a_model_of_its_language(
    qtbot: QtBot, theme: Theme, state: ExperimentState
) -> None:
    panel = SentencePanel(state)
    qtbot.addWidget(panel)
    ExamplesMenu(panel)
    state.begin_model(MODEL)
    state.submit(edit_text("Ein eigener Satz."), asks=False)
    panel.offered_text = "Zwei Hunde."
    state.begin_model(replace(MODEL, path=Path("trained.safetensors")))
    state.submit(open_experiment(Experiment("Zwei Hunde.")), asks=False)
    state.begin_model(MODEL)
    assert state.experiment.source_text == "Ein eigener Satz."


def test_a_sentence_that_came_with_a_model_gives_way_to_one_of_the_next(
    qtbot: QtBot, theme: Theme, state: ExperimentState
) -> None:
    state.prepare_text(example_sentences()[0])
    panel = SentencePanel(state)
    qtbot.addWidget(panel)
    ExamplesMenu(panel)
    panel.offered_text = "7 7 7 1 2"  # the probe of the film of a training
    state.begin_model(COPY)
    state.submit(open_experiment(Experiment("7 7 7 1 2")), asks=False)
    state.begin_model(MODEL)
    assert state.experiment.source_text == example_sentences()[0]


def test_a_sentence_has_no_change_of_the_example_of_the_gallery_before_it(
    qtbot: QtBot, theme: Theme, state: ExperimentState
) -> None:
    panel = SentencePanel(state)
    qtbot.addWidget(panel)
    menu = ExamplesMenu(panel)
    example = next(example for example in gallery() if example.off is not None)
    state.begin_model(replace(MODEL, path=bundled_model_path()))
    menu.show_example(example)
    assert state.experiment.interventions
    (more,) = menu.menu().findChildren(QMenu)
    more.actions()[0].trigger()
    assert state.experiment == Experiment(more.actions()[0].text())
    state.submit(intervene(HeadScaled(Head("cross", 0, 0), 0.0)))
    more.actions()[1].trigger()
    assert state.experiment.interventions, "an experiment of the user's own is kept"


@pytest.mark.heavy
def test_an_example_that_gives_way_keeps_what_concerns_heads_and_names_what_it_drops(
    qtbot: QtBot, theme: Theme, state: ExperimentState
) -> None:
    state.prepare_text(example_sentences()[0])
    panel = SentencePanel(state)
    qtbot.addWidget(panel)
    ExamplesMenu(panel)
    there, missing = HeadScaled(Head("cross", 1, 3)), HeadScaled(Head("encoder", 0, 7))
    answer(state)
    state.submit(intervene(there, missing, ForcedToken(1, "dog")))
    answer(state)
    before = state.experiment
    state.begin_model(COPY)
    assert state.experiment.source_text.split()[0] == "1"
    assert state.experiment.interventions == (missing, there)
    told = "Dropped with the sentence that it belongs to: step 2: dog. Undo restores it."
    assert state.notice == told
    result = make_result(make_translation(state.experiment.source_text))
    state.accept(replace(result, dropped=(missing,)))
    assert state.notice.startswith(told)
    assert "encoder 1·8 off" in state.notice.removeprefix(told)
    state.submit(undo)
    state.submit(undo)
    assert state.experiment == before
