"""Runs opened from the disk: unfinished ones can be resumed, whatever was done in between."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from core.training.events import StepDone, TrainingEvent, TrainingFinished
from core.training.folder import LAST
from core.training.lock import locked
from tests.core.training.runs import copy_run, record
from tests.viz_app.train.scripted import ScriptedTraining
from viz_app.train import settings as run_settings
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
    page = TrainPage(settings, body=script)
    qtbot.addWidget(page)
    page.form.set_choices(replace(page.form.choices(), preset="notebook", parent_folder=tmp_path / "runs"))
    page.resize(1200, 760)
    with qtbot.waitExposed(page):
        page.show()
    yield page
    page.shutdown()


def choose(page: TrainPage, name: str) -> None:
    """Opens the menu of earlier runs and picks one."""
    page.panel.open_menu.menu().aboutToShow.emit()
    next(action for action in page.panel.open_menu.menu().actions() if action.text() == name).trigger()


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
    assert "Not validated yet" in page.notice_bar.text()
    assert page.panel.resume_button.isVisible()
    assert "unfinished: step 3" in read_run(folder).summary
    page._comparison_controller.offer(tmp_path / "runs", page.state, is_notebook=False)
    (folder / LAST).unlink()
    assert runs_in(tmp_path / "runs") == []


def test_data_of_a_run_is_remembered_with_it(page: TrainPage, tmp_path: Path) -> None:
    for number in range(run_settings.NUM_SOURCES + 1):
        run_settings.save_source(page._settings, tmp_path / str(number), "multi30k")
    run_settings.save_source(page._settings, tmp_path / "mine", tmp_path / "data")
    assert run_settings.load_source(page._settings, tmp_path / "mine") == tmp_path / "data"
    assert run_settings.load_source(page._settings, tmp_path / "1") is None
    assert run_settings.load_source(page._settings, tmp_path / "2") == "multi30k"
    for text in ("[]", "{", '{"a": 3}'):
        page._settings.setValue("train/sources", text)
        assert run_settings.load_source(page._settings, Path("a")) is None


def test_page_says_what_resuming_does_whatever_the_form_says(page: TrainPage, tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "stopped", 3)
    make_run(tmp_path / "runs" / "ended", None)
    assert not page.panel.resume_summary.isVisible()
    choose(page, "stopped")
    page.form.set_choices(replace(page.form.choices(), preset="multi30k", num_epochs="8"))
    said = page.panel.resume_summary.text()
    assert page.panel.resume_summary.isVisible()
    assert said.startswith("Resume uses the settings with which stopped was started: copy-task-small, copy task, 2 ")
    assert "the rest is for a new run" in said
    choose(page, "ended")
    assert not page.panel.resume_summary.isVisible()


def remember_unfinished(settings: QSettings, folder: Path) -> None:
    """As a window does with each checkpoint of its run."""
    run_settings.save_unfinished(
        settings, run_settings.UnfinishedRun(copy_run(num_epochs=2), "copy", folder, "cpu", folder / LAST, None)
    )


def notice_at_the_next_start(qtbot: QtBot, settings: QSettings) -> str:
    page = TrainPage(settings)
    qtbot.addWidget(page)
    return page.notice_bar.text()


def test_next_start_tells_a_run_that_was_saved_from_one_that_was_cut_off(
    qtbot: QtBot, page: TrainPage, tmp_path: Path
) -> None:
    settings = page._settings
    make_run(tmp_path / "saved", 10)
    remember_unfinished(settings, tmp_path / "saved")
    said = notice_at_the_next_start(qtbot, settings)
    assert "saved is unfinished, and was saved when it ended, at step 10. Resume continues exactly from there." in said

    def cut_off(event: TrainingEvent) -> None:
        if isinstance(event, StepDone) and event.step == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(copy_run(num_epochs=2), tmp_path / "cut", on_event=cut_off)
    remember_unfinished(settings, tmp_path / "cut")
    said = notice_at_the_next_start(qtbot, settings)
    assert "cut was interrupted: it ended without saving" in said
    assert "its last checkpoint, at step 7; steps after that are lost" in said


def test_a_run_that_another_process_goes_on_with_is_not_offered(qtbot: QtBot, page: TrainPage, tmp_path: Path) -> None:
    make_run(tmp_path / "saved", 10)
    remember_unfinished(page._settings, tmp_path / "saved")
    with locked(tmp_path / "saved"):
        assert "saved" not in notice_at_the_next_start(qtbot, page._settings)
    assert "saved is unfinished" in notice_at_the_next_start(qtbot, page._settings)
