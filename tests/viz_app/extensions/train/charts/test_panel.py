from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.extensions.help.explain import entries_in, own_text
from augenmerk.viz_app.extensions.train.charts.panel import ChartPanel, legend_entries
from augenmerk.viz_app.extensions.train.curves import RunCurves
from augenmerk.viz_app.extensions.train.state import TrainState
from augenmerk.viz_app.theme import Theme
from tests.viz_app.builders import shown
from tests.viz_app.extensions.train.scripted import request, started, step_done


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme) -> ChartPanel:
    return shown(qtbot, ChartPanel("loss"), (600, 300))


def begin(state: TrainState, folder: Path, *, first_step: int = 0) -> None:
    state.begin(request(folder, resume=bool(first_step)))
    state.apply(started(folder, num_epochs=100, first_step=first_step))
    for step in range(first_step + 1, first_step + 51):
        state.apply(step_done(step))


@pytest.mark.heavy
def test_zoom_ends_with_its_run_and_outlives_a_pause(panel: ChartPanel) -> None:
    state = TrainState()
    begin(state, Path("one"))
    panel.show_run(state.run, (), None)
    panel.chart.range_chosen.emit(10.0, 20.0)
    panel.show_run(state.run, (), None)
    assert panel.chart.axes.get_xlim() == (10, 20)
    begin(state, Path("one"), first_step=50)
    panel.show_run(state.run, (), None)
    assert panel.chart.axes.get_xlim() == (10, 20)
    state.discard()
    begin(state, Path("two"))
    panel.show_run(state.run, (), None)
    assert panel.chart.axes.get_xlim() == (0, 100)
    assert panel.shown_menu.text().startswith("all steps")


def test_steps_chosen_by_menu_stay_chosen_for_the_next_run(panel: ChartPanel) -> None:
    state = TrainState()
    begin(state, Path("one"))
    panel.show_run(state.run, (), None)
    panel.choose(shown="500")
    begin(state, Path("two"))
    panel.show_run(state.run, (), None)
    assert panel.choices.shown == "500"


@pytest.mark.heavy
def test_the_lines_of_the_loss_explain_why_validation_lies_below_training(
    panel: ChartPanel,
) -> None:
    panel.legend.show_entries(legend_entries("loss", RunCurves(), ()))
    training, validation = panel.legend.buttons
    assert {entry.title for entry in entries_in(own_text(training))} >= {
        "dropout",
        "label smoothing",
    }
    assert "without dropout and label smoothing" in validation.toolTip()
    assert "often lies below training" in validation.toolTip()
    assert "overfitting" in {entry.title for entry in entries_in(own_text(validation))}
