"""Runs opened from the disk: unfinished ones can be resumed, whatever was done in between."""

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.extensions.training.corpora.loading import load_corpus
from augenmerk.core.extensions.training.events import (
    StepDone,
    TrainingEvent,
    TrainingFinished,
    TrainingRequest,
)
from augenmerk.core.extensions.training.folder import RunInputs, locked, write_run_inputs
from augenmerk.core.extensions.training.history_file import read_history, write_history
from augenmerk.core.run_files import HISTORY, LAST, RUN_SETTINGS
from augenmerk.viz_app.extensions.train.page import TrainPage
from augenmerk.viz_app.extensions.train.run import settings as run_settings
from augenmerk.viz_app.extensions.train.run.status_text import metric_rows
from augenmerk.viz_app.extensions.train.run_files import known_records, read_run, runs_in
from tests.core.extensions.training.runs import copy_run, record, sentences, text_run
from tests.viz_app.extensions.train.scripted import ScriptedTraining

pytestmark = pytest.mark.training


def make_run(folder: Path, stop_after: int | None) -> TrainingFinished:
    """A real one of 7 steps an epoch, two epochs."""
    return record(copy_run(num_epochs=2), folder, stop_after=stop_after)[0]


@pytest.fixture
def script() -> ScriptedTraining:
    return ScriptedTraining()


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def page(
    qtbot: QtBot, tmp_path: Path, settings: QSettings, script: ScriptedTraining
) -> Iterator[TrainPage]:
    page = TrainPage(settings, body=script)
    qtbot.addWidget(page)
    page.form.set_choices(
        replace(page.form.choices(), preset="notebook", parent_folder=tmp_path / "runs")
    )
    page.resize(1200, 760)
    with qtbot.waitExposed(page):
        page.show()
    yield page
    page.shutdown()


def choose(page: TrainPage, name: str) -> None:
    """Opens the menu of earlier runs and picks one."""
    page.panel.open_menu.menu().aboutToShow.emit()
    next(
        action for action in page.panel.open_menu.menu().actions() if action.text() == name
    ).trigger()


@pytest.mark.parametrize("stop_after", [3, 10], ids=["within its first epoch", "later"])
@pytest.mark.slow
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
    assert page.state.run.curves.best is not None
    assert page.state.run.curves.best.validation_loss == stopped.best_validation_loss, (
        "what Stop said"
    )
    assert not page.panel.discard_button.isVisible()
    page.panel.resume_button.click()
    qtbot.waitUntil(lambda: bool(script.requests))
    request = script.requests[0]
    assert (request.folder, request.resume, request.source) == (runs / "stopped", True, "copy")
    assert request.run == copy_run(num_epochs=2)


@pytest.mark.slow
def test_run_paused_before_its_first_validation_is_in_the_menu_and_can_go_on(
    page: TrainPage, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "paused"
    make_run(folder, 3)
    (folder / "best.safetensors").unlink()  # a pause writes none
    choose(page, "paused")
    assert "Not validated yet" in page.notice_bar.text()
    assert page.panel.resume_button.isVisible()
    assert "unfinished: step 3" in read_run(folder).summary
    assert page.run_view is not None
    page.run_view.charts.compare.menu().aboutToShow.emit()
    (folder / LAST).unlink()
    assert runs_in(tmp_path / "runs") == []


def test_data_of_a_run_is_remembered_with_it(
    page: TrainPage, settings: QSettings, tmp_path: Path
) -> None:
    """In its folder; earlier versions kept it in the settings of the window."""
    sources = {str(tmp_path / name): str(tmp_path / "data") for name in ("earlier", "mine")}
    settings.setValue("train/sources", json.dumps(sources | {str(tmp_path / "known"): "multi30k"}))
    (tmp_path / "mine").mkdir()
    write_run_inputs(tmp_path / "mine", RunInputs((Path("a.de"), Path("a.en"))))
    assert run_settings.load_source(settings, tmp_path / "mine") == (
        Path("a.de"),
        Path("a.en"),
    )
    assert run_settings.load_source(settings, tmp_path / "earlier") == tmp_path / "data"
    assert run_settings.load_source(settings, tmp_path / "known") == "multi30k"
    assert run_settings.load_source(settings, tmp_path / "none") is None
    for text in ("[]", "{", '{"a": 3}'):
        settings.setValue("train/sources", text)
        assert run_settings.load_source(settings, Path("a")) is None


@pytest.mark.parametrize("has_moved", [False, True])
def test_a_run_of_the_terminal_is_resumed_with_its_data_or_if_they_moved_with_those_of_the_form(
    page: TrainPage, qtbot: QtBot, tmp_path: Path, script: ScriptedTraining, has_moved: bool
) -> None:
    data, run = tmp_path / "data", text_run(num_epochs=2)
    data.mkdir()
    pairs = sentences(40)
    for language, lines in (("de", pairs.source), ("en", pairs.target)):
        (data / f"train.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    record(run, tmp_path / "runs" / "stopped", corpus=load_corpus(data, run), stop_after=2)
    choose(page, "stopped")
    assert shown_settings(page)["data"] == str(data)
    if has_moved:
        data.rename(tmp_path / "moved")
    page.form.set_choices(
        replace(page.form.choices(), data_kind="folder", data_path=str(tmp_path / "moved"))
    )
    page.panel.resume_button.click()
    qtbot.waitUntil(lambda: bool(script.requests))
    assert script.requests[0].source == (tmp_path / "moved" if has_moved else data)


def shown_settings(page: TrainPage) -> dict[str, str]:
    """What stands in place of the form."""
    table = page.panel._settings
    return {name.text(): value.text() for name, value in table._rows if value.isVisible()}


def test_a_reopened_run_stands_in_the_panel_with_its_own_settings(
    page: TrainPage, qtbot: QtBot, tmp_path: Path
) -> None:
    make_run(tmp_path / "runs" / "stopped", 3)
    page.form.set_choices(
        replace(page.form.choices(), preset="multi30k", settings={"training.num_epochs": "8"})
    )
    choose(page, "stopped")
    assert not page.form.isVisible()
    assert not page.panel.start_button.isVisible()
    shown = shown_settings(page)
    assert (shown["preset"], shown["epochs"], shown["data"]) == (
        "copy-task-small",
        "2",
        "copy task",
    )
    assert shown["width"].startswith("16 ")
    page.panel.switch_button.click()
    assert page.form.isVisible()
    assert page.form.choices().preset == "multi30k"
    for button in (page.panel.resume_button, page.panel.discard_button, page.panel.stop_button):
        assert not button.isVisible()
    page.panel.switch_button.click()
    assert page.panel.resume_button.isVisible()
    assert not page.form.isVisible()


@pytest.mark.slow
def test_a_run_whose_settings_cannot_be_read_does_not_show_those_of_another(
    page: TrainPage, tmp_path: Path
) -> None:
    for name in ("good", "unreadable"):
        make_run(tmp_path / "runs" / name, None)
    (tmp_path / "runs" / "unreadable" / RUN_SETTINGS).write_text("[")
    choose(page, "good")
    assert shown_settings(page)["preset"] == "copy-task-small"
    choose(page, "unreadable")
    assert shown_settings(page) == {}
    assert not page.panel.extend_button.isVisible()


@pytest.mark.slow
def test_a_finished_run_is_given_more_epochs(
    page: TrainPage, qtbot: QtBot, tmp_path: Path, script: ScriptedTraining
) -> None:
    make_run(tmp_path / "runs" / "ended", None)
    choose(page, "ended")
    assert not page.panel.resume_button.isVisible()
    assert page.panel.extend_button.isVisible()
    assert page.panel.epochs_edit.text() == "3"
    page.panel.epochs_edit.setText("2")
    page.panel.extend_button.click()
    assert "at least 3" in page.panel.message.text()
    page.panel.epochs_edit.setText("5")
    page.panel.extend_button.click()
    qtbot.waitUntil(lambda: bool(script.requests))
    request = script.requests[0]
    assert (request.folder.name, request.resume, request.run.training.num_epochs) == (
        "ended",
        True,
        5,
    )
    assert not page.panel.message.isVisible()


@pytest.mark.slow
def test_more_epochs_are_really_trained(qtbot: QtBot, tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    make_run(tmp_path / "runs" / "ended", None)
    page = TrainPage(settings)
    qtbot.addWidget(page)
    page.form.set_choices(replace(page.form.choices(), parent_folder=tmp_path / "runs"))
    page.show()
    choose(page, "ended")
    page.panel.epochs_edit.setText("3")
    page.panel.extend_button.click()
    qtbot.waitUntil(lambda: not page.is_running(), timeout=60_000)
    page.shutdown()
    assert page.state.run.finish is not None
    assert (page.state.run.finish.reason, page.state.run.finish.step) == ("completed", 21)
    assert [record.epoch for record in read_history(tmp_path / "runs" / "ended" / HISTORY)] == [
        1,
        2,
        3,
    ]


@pytest.mark.slow
def test_a_reopened_run_has_the_curves_that_it_had(qtbot: QtBot, tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    page = TrainPage(settings)
    qtbot.addWidget(page)
    page.resize(1200, 760)
    page.show()
    request = TrainingRequest(copy_run(num_epochs=2), "copy", tmp_path / "runs" / "mine", "cpu")
    page.run_actions.begin(request)
    qtbot.waitUntil(lambda: not page.is_running(), timeout=60_000)
    before = page.state.run.curves
    figures = dict(metric_rows(page.state.run))
    page.run_actions.open_run(request.folder)
    page.shutdown()
    after = page.state.run.curves
    assert after is not before
    for name in ("training_loss", "learning_rate", "gradient_norm", "tokens_per_second"):
        shown, again = getattr(before, name), getattr(after, name)
        assert len(again) == 14
        assert np.array_equal(shown.xy(), again.xy()), name
        assert np.array_equal(shown.since(3)[1], again.since(3)[1]), name
    for point, again_point in zip(before.validations, after.validations, strict=True):
        assert all(
            getattr(point, field.name) == getattr(again_point, field.name)
            for field in fields(EpochRecord)
        )
    assert after.bleu == before.bleu
    assert page.state.run.fraction_done == 1
    again = dict(metric_rows(page.state.run))
    assert {
        name: again[name]
        for name in ("loss", "learning rate", "gradient norm", "tokens / s", "best")
    } == {
        name: figures[name]
        for name in ("loss", "learning rate", "gradient norm", "tokens / s", "best")
    }


@pytest.mark.slow
def test_the_next_start_tells_how_many_steps_are_lost_and_shows_them(
    qtbot: QtBot, page: TrainPage, settings: QSettings, tmp_path: Path
) -> None:
    def cut_off(event: TrainingEvent) -> None:
        if isinstance(event, StepDone) and event.step == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(copy_run(num_epochs=2), tmp_path / "cut", on_event=cut_off)
    remember_unfinished(settings, tmp_path / "cut")
    later = TrainPage(settings)
    qtbot.addWidget(later)
    assert "from step 7; 2 steps will be repeated" in later.notice_bar.text()
    assert later.state.run.curves.training_loss.xy()[0].tolist() == list(range(1, 10))
    assert dict(metric_rows(later.state.run))["step"] == "9"
    assert later.run_view is None, "the start does not wait for the charts"
    later.show()
    qtbot.waitUntil(lambda: later.run_view is not None and later.run_view.isVisible())


def test_history_of_a_run_is_read_back(tmp_path: Path) -> None:
    records = [
        EpochRecord(1, 227, 3.5, 3.1, 3.2, 5e-4, 61.5, 12.5),
        EpochRecord(2, 454, 2.5, 2.4, 2.5, 5e-4, 60.0),
    ]
    write_history(tmp_path / "history.csv", records)
    assert [replace(record, seconds=0.0) for record in known_records(tmp_path)] == [
        replace(record, seconds=0.0) for record in records
    ]


@pytest.mark.parametrize("line", [None, "1,x", "1," + "1" * 200_000])
def test_missing_or_damaged_history_is_no_obstacle(tmp_path: Path, line: str | None) -> None:
    if line is not None:
        (tmp_path / "history.csv").write_text(f"epoch,step\n{line}\n", encoding="utf-8")
    assert known_records(tmp_path) == ()


@pytest.mark.slow
def test_the_menu_lists_the_run_on_the_page_too(page: TrainPage, tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "ended", None)
    choose(page, "ended")
    page.panel.open_menu.menu().aboutToShow.emit()
    first = page.panel.open_menu.menu().actions()[0]
    assert (first.text(), first.isEnabled()) == ("ended  (shown)", False)
    page._make_run_view()
    assert page.run_view is not None
    page.run_view.charts.compare.menu().aboutToShow.emit()
    assert page.run_view.charts.compare.menu().actions()[0].text() == "no other runs in this folder"


def remember_unfinished(settings: QSettings, folder: Path) -> None:
    """As a window does with each checkpoint of its run."""
    run_settings.save_unfinished(
        settings,
        run_settings.UnfinishedRun(
            TrainingRequest(copy_run(num_epochs=2), "copy", folder, "cpu"), folder / LAST, None
        ),
    )


def notice_at_the_next_start(qtbot: QtBot, settings: QSettings) -> str:
    page = TrainPage(settings)
    qtbot.addWidget(page)
    return page.notice_bar.text()


@pytest.mark.slow
def test_next_start_tells_a_run_that_was_saved_from_one_that_was_cut_off(
    qtbot: QtBot, page: TrainPage, settings: QSettings, tmp_path: Path
) -> None:
    make_run(tmp_path / "saved", 10)
    remember_unfinished(settings, tmp_path / "saved")
    said = notice_at_the_next_start(qtbot, settings)
    assert "saved was saved at step 10; Resume continues exactly from there." in said

    def cut_off(event: TrainingEvent) -> None:
        if isinstance(event, StepDone) and event.step == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(copy_run(num_epochs=2), tmp_path / "cut", on_event=cut_off)
    remember_unfinished(settings, tmp_path / "cut")
    said = notice_at_the_next_start(qtbot, settings)
    assert (
        "cut ended without saving. Resume continues from step 7; 2 steps will be repeated." in said
    )


@pytest.mark.slow
def test_a_run_that_another_process_goes_on_with_says_so_when_it_is_opened(
    page: TrainPage, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "elsewhere"
    make_run(folder, 10)
    with locked(folder):
        page.run_actions.open_run(folder)
        assert "in epoch 2. Another process is training it. Open it again" in page.notice_bar.text()
        assert not page.panel.resume_button.isVisible()
    page.run_actions.open_run(folder)
    assert (
        "in epoch 2. Unfinished: Resume continues from its last checkpoint."
        in page.notice_bar.text()
    )


@pytest.mark.slow
def test_a_run_that_another_process_goes_on_with_is_not_offered(
    qtbot: QtBot, page: TrainPage, settings: QSettings, tmp_path: Path
) -> None:
    make_run(tmp_path / "saved", 10)
    remember_unfinished(settings, tmp_path / "saved")
    with locked(tmp_path / "saved"):
        assert "saved" not in notice_at_the_next_start(qtbot, settings)
    assert "saved was saved" in notice_at_the_next_start(qtbot, settings)
