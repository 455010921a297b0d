"""A training inside the Learn page: real, watched epoch by epoch, stopped when the page is
closed."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.training.events import PhaseStarted, StepDone
from augenmerk.core.translation.result import AttentionMaps
from augenmerk.viz_app.extensions.learn.figures.figure import LearnContext
from augenmerk.viz_app.extensions.learn.figures.training import TrainHereFigure, best_copier
from augenmerk.viz_app.extensions.learn.sentence import OwnSentence
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.theme import Theme, current_theme
from augenmerk.viz_app.worker.inference import ExperimentController, InferenceWorker
from tests.viz_app.builders import settle_layout, shown
from tests.viz_app.synthetic import make_translation

pytestmark = pytest.mark.training


@pytest.fixture
def figure(qtbot: QtBot, theme: Theme) -> TrainHereFigure:
    state = ExperimentState()
    figure = TrainHereFigure(
        LearnContext(state, ExperimentController(state, InferenceWorker()), OwnSentence(state)), {}
    )
    shown(qtbot, figure, (700, 400))
    return figure


@pytest.mark.slow
def test_the_diagonal_appears_and_the_guess_is_judged(
    qtbot: QtBot, figure: TrainHereFigure
) -> None:
    figure.guess.setValue(10)
    qtbot.mouseClick(figure.button, Qt.MouseButton.LeftButton)
    assert figure.run is not None
    assert figure.button.text() == "Stop"
    assert not figure.guess.isEnabled()
    qtbot.waitUntil(lambda: figure.appeared_in is not None, timeout=120_000)
    appeared = figure.appeared_in
    assert appeared is not None
    assert 1 <= appeared <= 9, "chance gives a tenth, and ten epochs are plenty"
    assert f"appeared in epoch {appeared}" in figure.verdict.text()
    drawn = [picture.epoch for picture in figure.pictures if picture.weights is not None]
    assert drawn == list(range(len(drawn)))
    assert figure.pictures[0].share < 0.5
    assert figure.pictures[1].x() > figure.pictures[0].geometry().right()
    with qtbot.waitSignal(figure.run.finished, timeout=60_000):
        qtbot.mouseClick(figure.button, Qt.MouseButton.LeftButton)
    assert figure.button.text() == "Train again"
    figure.shutdown()


def test_a_training_ends_with_the_page_and_leaves_no_files(
    qtbot: QtBot, figure: TrainHereFigure
) -> None:
    qtbot.mouseClick(figure.button, Qt.MouseButton.LeftButton)
    assert figure.run is not None
    folder = figure.run.request.folder
    qtbot.waitUntil(lambda: figure.pictures[0].weights is not None, timeout=60_000)
    assert folder.exists()
    figure.shutdown()
    assert not folder.parent.exists()
    assert not any("training" in thread.name for thread in threading.enumerate())
    assert not Path(folder).exists()


@pytest.mark.parametrize("width", [330, 500, 640, 900])
def test_frames_and_what_is_written_below_them_fit(figure: TrainHereFigure, width: int) -> None:
    figure.resize(width, 600)
    figure.column.activate()
    places = [picture.geometry() for picture in figure.pictures]
    assert min(box.left() for box in places) >= 0
    assert max(box.right() for box in places) <= figure.pictures[0].parentWidget().width()
    assert not any(
        one.intersects(other) for index, one in enumerate(places) for other in places[:index]
    )
    font = QFontMetrics(current_theme().font("small"))
    assert font.horizontalAdvance("epoch 10") <= places[0].width()
    assert places[0].height() >= places[0].width() + 2 * font.height()


def test_the_progress_of_a_training_does_not_widen_the_figure(figure: TrainHereFigure) -> None:
    width = figure.minimumSizeHint().width()
    figure.resize(width, 600)
    place = figure.button.geometry()
    figure._on_events([StepDone(1234, 10, 0.55, 0.001, 1.0, 100, 1000.0, 1.0)])
    settle_layout()
    assert figure.minimumSizeHint().width() == width
    assert figure.button.geometry() == place


def test_nothing_is_said_to_go_on_once_the_training_has_ended(figure: TrainHereFigure) -> None:
    figure._on_events([PhaseStarted("Translating a sample")])
    assert figure.progress.text() == "Translating a sample…"
    figure.pictures[1].show_map(*best_copier(make_translation()))
    figure._on_finished(None)
    assert figure.progress.text() == "1 epoch done"


def test_the_weight_on_what_is_to_be_copied_is_found_in_whichever_head_has_it() -> None:
    cross = np.full((2, 3, 4, 5), 0.2, dtype=np.float32)
    for step in range(4):
        cross[1, 2, step] = 0
        cross[1, 2, step, step + 1] = 1
    self_maps = np.zeros((2, 3, 4, 4), dtype=np.float32), np.zeros((2, 3, 5, 5), dtype=np.float32)
    translation = replace(
        make_translation(), attention=AttentionMaps(self_maps[1], self_maps[0], cross)
    )
    weights, share = best_copier(translation)
    assert share == 1
    assert (weights == cross[1, 2]).all()
