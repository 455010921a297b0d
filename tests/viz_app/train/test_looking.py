"""Earlier runs on the page: those that have not come to their end can go on, whatever was done in between."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from core.training.events import TrainingFinished
from core.training.folder import LAST
from tests.core.training.runs import copy_run, record
from tests.viz_app.train.scripted import ScriptedTraining
from viz_app.theme import Theme
from viz_app.train import memory
from viz_app.train.page import TrainPage
from viz_app.train.run_files import read_run, runs_in

pytestmark = pytest.mark.training


def make_run(folder: Path, stop_after: int | None) -> TrainingFinished:
    """A real one of 7 steps an epoch, two epochs."""
    return record(copy_run(num_epochs=2), folder, stop_after=stop_after)[0]


@pytest.fixture
def script() -> ScriptedTraining:
    return ScriptedTraining()


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path, script: ScriptedTraining) -> Iterator[TrainPage]:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    page = TrainPage(Theme.light(), settings, body=script)
    qtbot.addWidget(page)
    page.form.set_choices(replace(page.form.choices(), preset="notebook", parent_folder=tmp_path / "runs"))
    page.resize(1200, 760)
    with qtbot.waitExposed(page):
        page.show()
    yield page
    page.shutdown()


def choose(page: TrainPage, name: str) -> None:
    """Opens the menu of earlier runs and picks one."""
    page.panel.look_menu.menu().aboutToShow.emit()
    next(action for action in page.panel.look_menu.menu().actions() if action.text() == name).trigger()


@pytest.mark.parametrize("stop_after", [3, 10], ids=["within its first epoch", "later"])
def test_unfinished_run_goes_on_after_another_was_looked_at(
    page: TrainPage, qtbot: QtBot, tmp_path: Path, script: ScriptedTraining, stop_after: int
) -> None:
    runs = tmp_path / "runs"
    make_run(runs / "ended", None)
    stopped = make_run(runs / "stopped", stop_after)
    choose(page, "stopped")
    choose(page, "ended")
    assert not page.panel.resume_button.isVisible()
    choose(page, "stopped")
    assert page.panel.resume_button.isVisible()
    assert page.state.best is not None
    assert page.state.best.loss == stopped.best_validation_loss, "what Stop said"
    assert not page.panel.discard_button.isVisible()
    page.panel.resume_button.click()
    qtbot.waitUntil(lambda: bool(script.requests))
    request = script.requests[0]
    assert (request.folder, request.resume, request.source) == (runs / "stopped", True, "copy")
    assert request.run == copy_run(num_epochs=2)


def test_run_paused_before_its_first_validation_is_in_the_menu_and_can_go_on(page: TrainPage, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "paused"
    make_run(folder, 3)
    (folder / "best.safetensors").unlink()  # a pause writes none
    choose(page, "paused")
    assert "Not validated yet" in page.strip.text()
    assert page.panel.resume_button.isVisible()
    assert "not finished: step 3" in read_run(folder).summary
    page._comparing.offer(tmp_path / "runs", page.state, is_notebook=False)
    (folder / LAST).unlink()
    assert runs_in(tmp_path / "runs") == []


def test_data_of_a_run_is_remembered_with_it(page: TrainPage, tmp_path: Path) -> None:
    for number in range(memory.NUM_SOURCES + 1):
        memory.save_source(page._settings, tmp_path / str(number), "multi30k")
    memory.save_source(page._settings, tmp_path / "mine", tmp_path / "data")
    assert memory.load_source(page._settings, tmp_path / "mine") == tmp_path / "data"
    assert memory.load_source(page._settings, tmp_path / "1") is None
    assert memory.load_source(page._settings, tmp_path / "2") == "multi30k"
    for text in ("[]", "{", '{"a": 3}'):
        page._settings.setValue("train/sources", text)
        assert memory.load_source(page._settings, Path("a")) is None


def test_page_says_what_resuming_does_whatever_the_form_says(page: TrainPage, tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "stopped", 3)
    make_run(tmp_path / "runs" / "ended", None)
    assert not page.panel.resumption.isVisible()
    choose(page, "stopped")
    page.form.set_choices(replace(page.form.choices(), preset="multi30k", num_epochs="8"))
    said = page.panel.resumption.text()
    assert page.panel.resumption.isVisible()
    assert said.startswith("Resume goes on with stopped as it was begun: copy-task-small, copy task, 2 epochs.")
    assert "the rest is for a new run" in said
    choose(page, "ended")
    assert not page.panel.resumption.isVisible()
