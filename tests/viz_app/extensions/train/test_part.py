"""The page Train in the window: closing the window during a training."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from augenmerk.core.errors import TrainingError
from augenmerk.viz_app.extensions.train.page import TrainPage
from augenmerk.viz_app.main_window import MainWindow
from tests.builders import first_quick
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.extensions.train.scripted import ScriptedTraining, request
from tests.viz_app.parts import TRAIN, train_page_of


def training_window(
    make_window: MakeWindow, monkeypatch: pytest.MonkeyPatch, script: ScriptedTraining
) -> tuple[MainWindow, TrainPage]:
    """A window on its Train page, whose trainings follow the script."""
    window: MainWindow = make_window()
    make: Callable[..., None] = TrainPage.__init__
    monkeypatch.setattr(
        TrainPage, "__init__", lambda self, *arguments: make(self, *arguments, body=script)
    )
    window.pages.show(TRAIN)
    page = train_page_of(window)
    assert page is not None
    return window, page


def question_in(window: MainWindow) -> QMessageBox:
    (box,) = [box for box in window.findChildren(QMessageBox) if box.isVisible()]
    return box


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("has_failed", first_quick([False, True]))
def test_the_question_follows_a_training_that_ends_behind_it(
    make_window: MakeWindow,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    has_failed: bool,
) -> None:
    error = TrainingError("The loss is no longer a number.") if has_failed else None
    script = ScriptedTraining(error=error, error_step=9)
    window, page = training_window(make_window, monkeypatch, script)
    page.run_actions.begin(request(tmp_path / "run"))
    script.allow(6)
    qtbot.waitUntil(lambda: page.state.run.latest_step is not None)
    window.close()
    box = question_in(window)
    assert box.text() == "A training is running"
    box.grab()  # all is laid out
    button = box.defaultButton()
    corner, size = button.mapTo(box, QPoint()), button.size()
    script.allow(9)
    qtbot.waitUntil(lambda: not page.is_running())
    box.grab()
    assert box.text() == f"The training has {'failed' if has_failed else 'ended'}"
    assert "paused and saved before" not in box.informativeText()
    assert "can close at once" in box.informativeText()
    assert button.text() == "Close"
    assert (button.mapTo(box, QPoint()), button.size()) == (corner, size)
    assert window.isVisible()
    button.click()
    assert not window.isVisible()


@pytest.mark.slow
@pytest.mark.heavy
def test_the_window_stays_if_closing_is_cancelled_after_the_end(
    make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = ScriptedTraining()
    window, page = training_window(make_window, monkeypatch, script)
    page.run_actions.begin(request(tmp_path / "run"))
    window.close()
    script.allow(15)
    qtbot.waitUntil(lambda: not page.is_running())
    qtbot.keyClick(question_in(window), Qt.Key.Key_Escape)
    assert window.isVisible()
    window.close()
    assert not window.isVisible()
