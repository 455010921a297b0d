"""The time that drawing may take."""

from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from augenmerk.viz_app.extensions.train.run.controller import DRAWING_SHARE, RunController
from augenmerk.viz_app.extensions.train.state import TrainState
from augenmerk.viz_app.preferences import Preferences
from tests.viz_app.extensions.train.scripted import epoch_done, request, started, step_done

DRAWING_S = 0.010


def test_a_drawing_waits_until_the_last_one_is_a_small_share_of_the_time(
    qapp: QApplication, preferences: Preferences, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(
        "augenmerk.viz_app.extensions.train.run.controller.perf_counter", lambda: now
    )
    state, parent = TrainState(), QObject()
    controller = RunController(state, preferences.settings, parent, None)
    state.begin(request(Path("runs")))
    state.apply(started(Path("runs")))

    def draw() -> None:
        nonlocal now
        now += DRAWING_S

    state.run_changed.connect(draw, max_args=0)

    def send(*events: object) -> int:
        controller._on_events(list(events))  # type: ignore[arg-type]
        return state.run.curves.last_step

    assert send(step_done(1)) == 1
    now += DRAWING_S * (1 / DRAWING_SHARE - 1) - 0.001
    assert send(step_done(2)) == 1
    assert send(epoch_done(1)) == 5, "a validation is drawn at once"
    assert send(step_done(6)) == 5
    now += DRAWING_S * (1 / DRAWING_SHARE - 1) + 0.001
    assert send(step_done(7)) == 7
    state.drawn.emit(DRAWING_S)  # a chart was redrawn in an event of its own
    now += DRAWING_S * (1 / DRAWING_SHARE - 1) + 0.001
    assert send(step_done(8)) == 7
    now += DRAWING_S * (1 / DRAWING_SHARE - 1) + 0.001
    assert send(step_done(9)) == 9
