"""The page with a scripted run: real clicks, real thread, no torch in the worker."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QSettings, Qt
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

import augenmerk.viz_app.extensions.train.playback
import augenmerk.viz_app.state.experiment_state
from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.errors import DeviceError, StorageError, TrainingError
from augenmerk.core.extensions.run_settings.presets import PRESETS, preset
from augenmerk.core.extensions.run_settings.toml_file import to_toml
from augenmerk.core.extensions.training.duration import Speed
from augenmerk.core.extensions.training.events import (
    ChangedDataError,
    DivergedError,
    OutOfMemoryError,
    Proposal,
    TrainingRequest,
)
from augenmerk.core.extensions.training.film import FilmFrame, write_frame
from augenmerk.core.extensions.training.folder import remembered_run_folders
from augenmerk.core.extensions.training.history_file import write_history
from augenmerk.viz_app.extensions.clicks.part import DoubleClickFilter
from augenmerk.viz_app.extensions.train.charts.picture import _why_empty
from augenmerk.viz_app.extensions.train.page import TrainPage
from augenmerk.viz_app.extensions.train.run.choices import MEASURING
from augenmerk.viz_app.extensions.train.run.form import DEFAULT_DEVICES
from augenmerk.viz_app.extensions.train.run.status_text import metric_rows
from augenmerk.viz_app.extensions.train.state import Status
from augenmerk.viz_app.extensions.train.worker import DRAIN_INTERVAL_MS
from augenmerk.viz_app.extensions.widgets import late_clicks
from augenmerk.viz_app.theme import Theme
from tests.builders import first_quick
from tests.viz_app.builders import settle_layout, text_in
from tests.viz_app.extensions.train.scripted import ScriptedTraining, epoch_done, probe

MakePage = Callable[[ScriptedTraining], TrainPage]


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


@pytest.fixture
def make_page(
    qtbot: QtBot, settings: QSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakePage]:
    devices = DEFAULT_DEVICES | {"cuda:0": "cuda:0 · NVIDIA H200"}
    monkeypatch.setattr("augenmerk.viz_app.extensions.train.machine.find_devices", lambda: devices)
    monkeypatch.setattr(
        "augenmerk.viz_app.extensions.train.machine.measure_speed", lambda *_: Speed(0.01, 1 / 50e9)
    )
    pages: list[TrainPage] = []

    def make(script: ScriptedTraining) -> TrainPage:
        page = TrainPage(settings, body=script)
        qtbot.addWidget(page)
        page.form.set_choices(
            replace(page.form.choices(), preset="notebook", parent_folder=tmp_path / "runs")
        )
        page.resize(1200, 760)
        with qtbot.waitExposed(page):
            page.show()
        pages.append(page)
        return page

    yield make
    for page in pages:
        page.shutdown()


def click(qtbot: QtBot, button: QPushButton) -> None:
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def type_over(qtbot: QtBot, edit: QLineEdit, text: str) -> None:
    edit.selectAll()
    qtbot.keyClicks(edit, text)


def wait_for_step(qtbot: QtBot, page: TrainPage, step: int) -> None:
    qtbot.waitUntil(
        lambda: page.state.run.latest_step is not None and page.state.run.latest_step.step >= step
    )


def wait_for_end(qtbot: QtBot, page: TrainPage) -> None:
    qtbot.waitUntil(lambda: not page.is_running())


def start_and_take(qtbot: QtBot, page: TrainPage, script: ScriptedTraining, num_steps: int) -> None:
    click(qtbot, page.panel.start_button)
    script.allow(num_steps)
    wait_for_step(qtbot, page, num_steps)


def training_run(
    qtbot: QtBot, make_page: MakePage, num_steps: int, **script: Any
) -> tuple[TrainPage, ScriptedTraining]:
    """A page whose run has taken so many steps, and what steers it; `script` are its arguments."""
    body = ScriptedTraining(**script)
    page = make_page(body)
    start_and_take(qtbot, page, body, num_steps)
    return page, body


@pytest.mark.heavy
def test_page_says_what_will_happen_before_the_first_run(make_page: MakePage) -> None:
    page = make_page(ScriptedTraining())
    assert page.state.run.status is Status.IDLE
    assert page.panel.start_button.isVisible()
    assert not page.panel.stop_button.isVisible()
    assert not page.notice_bar.isVisible()


def test_a_long_run_folder_is_seen_whole(make_page: MakePage) -> None:
    form = make_page(ScriptedTraining()).form
    parent = Path("/somewhere/experiments_of_november/a second attempt/runs-with-a-long-name")
    form.set_choices(replace(form.choices(), parent_folder=parent))
    form.grab()
    label = form._folder_path
    assert "\n" in label.shown_text()
    assert "".join(label.shown_text().split()) == "".join(label.text().split())
    assert label.height() >= label.heightForWidth(label.width())


@pytest.mark.slow
@pytest.mark.heavy
def test_run_is_shown_step_by_step_to_its_end(
    make_page: MakePage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    script = ScriptedTraining()
    page = make_page(script)
    click(qtbot, page.panel.start_button)
    assert page.is_running()
    assert not page.form.isEnabled()
    qtbot.waitUntil(lambda: page.state.run.status is Status.TRAINING)
    script.allow(7)
    wait_for_step(qtbot, page, 7)
    assert dict(metric_rows(page.state.run))["step"] == "7 of 15"
    script.allow(8)
    wait_for_end(qtbot, page)
    assert page.state.run.status is Status.FINISHED
    assert page.form.isEnabled()
    assert page.notice_bar.text().startswith("Finished")
    assert not page.panel.resume_button.isVisible()
    request = script.requests[0]
    assert (request.source, request.device, request.resume) == ("multi30k", "auto", False)
    assert request.folder.parent.name == "runs"
    assert remembered_run_folders() == [request.folder.parent], "where `augenmerk runs` looks"


@pytest.mark.slow
@pytest.mark.heavy
def test_stop_is_said_at_once_and_the_run_can_be_resumed(make_page: MakePage, qtbot: QtBot) -> None:
    page, script = training_run(qtbot, make_page, 6)
    click(qtbot, page.panel.stop_button)
    assert page.panel.stop_button.text() == "Stopping…"
    assert not page.panel.stop_button.isEnabled()
    assert not page.panel.pause_button.isEnabled()
    assert page.notice_bar.text().startswith("Stopping…")
    wait_for_end(qtbot, page)
    assert page.notice_bar.text().startswith("Stopped")
    script.allow(9)
    click(qtbot, page.panel.resume_button)
    wait_for_end(qtbot, page)
    assert page.notice_bar.text().startswith("Finished")
    assert script.requests[1].resume
    assert script.requests[1].folder == script.requests[0].folder
    assert page.state.run.curves.training_loss.xy()[0].tolist() == list(range(1, 16))


@pytest.mark.heavy
def test_model_can_be_tried_while_training_goes_on(make_page: MakePage, qtbot: QtBot) -> None:
    page, script = training_run(qtbot, make_page, 4)
    assert not page.notice_bar.try_button.isVisible()
    script.allow(2)
    wait_for_step(qtbot, page, 6)
    with qtbot.waitSignal(page.run_actions.model_ready) as ready:
        click(qtbot, page.notice_bar.try_button)
    assert ready.args == [script.requests[0].folder / "best.safetensors", page.state.playback.probe]
    assert page.is_running()


@pytest.mark.heavy
def test_status_line_follows_the_run(make_page: MakePage, qtbot: QtBot) -> None:
    script = ScriptedTraining(num_epochs=1)
    page = make_page(script)
    spy = QSignalSpy(page.status_changed)
    start_and_take(qtbot, page, script, 3)
    script.allow(2)
    wait_for_end(qtbot, page)
    lines = [spy.at(index)[0] for index in range(spy.count())]
    assert "training notebook · epoch 1 of 1" in lines
    assert lines[-1] == "notebook: training finished"


@pytest.mark.slow
def test_page_is_redrawn_five_times_a_second_at_most(make_page: MakePage, qtbot: QtBot) -> None:
    assert DRAIN_INTERVAL_MS >= 200
    page, script = training_run(qtbot, make_page, 5, num_epochs=200)
    assert page.run_view is not None
    chart = page.run_view.charts.main.chart
    drawn, began = chart.num_blits + chart.num_full_draws, time.monotonic()
    while time.monotonic() < began + 1.0:
        script.allow(3)
        qtbot.wait(10)
    num_updates = chart.num_blits + chart.num_full_draws - drawn
    assert 1 <= num_updates <= 5 * (time.monotonic() - began) + 1


@pytest.mark.parametrize("typed", ["-3", "ten", "0"])
def test_wrong_epochs_are_refused_and_the_form_stays(
    make_page: MakePage, qtbot: QtBot, typed: str
) -> None:
    script = ScriptedTraining()
    page = make_page(script)
    type_over(qtbot, page.form.epochs_edit, typed)
    click(qtbot, page.panel.start_button)
    assert not page.is_running()
    assert script.requests == []
    assert not page.panel.start_button.isEnabled()
    assert (
        page.panel.message.text()
        == f"training.num_epochs is '{typed}'. Enter a whole number of at least 1."
    )
    assert page.panel.message.isVisible()
    assert page.form.epochs_edit.text() == typed
    type_over(qtbot, page.form.epochs_edit, "5")
    assert not page.panel.message.isVisible()
    assert page.panel.start_button.isEnabled()


@pytest.mark.heavy
@pytest.mark.parametrize(
    "error",
    first_quick(
        [
            TrainingError("At step 7 the loss became nan. Finite numbers were expected."),
            StorageError("Cannot write best.safetensors: No space left on device."),
            DeviceError("The device 'cuda:3' is not here."),
        ]
    ),
)
def test_error_in_the_worker_is_shown_and_loses_nothing(
    make_page: MakePage, qtbot: QtBot, error: Exception
) -> None:
    script = ScriptedTraining(error=error, error_step=7)
    page = make_page(script)
    type_over(qtbot, page.form.seed_edit, "99")
    click(qtbot, page.panel.start_button)
    script.allow(7)
    wait_for_end(qtbot, page)
    assert page.state.run.status is Status.FAILED
    assert str(error) in page.notice_bar.text()
    assert page.form.isEnabled()
    assert page.form.seed_edit.text() == "99"
    assert len(page.state.run.curves.training_loss) == 7
    assert not page.notice_bar.details_button.isVisible()
    assert page.panel.resume_button.isVisible()


@pytest.mark.heavy
@pytest.mark.allow_log_warnings
@pytest.mark.parametrize("error_step", [1, 7])
def test_failure_of_a_run_goes_when_another_is_prepared_and_started(
    make_page: MakePage, qtbot: QtBot, error_step: int
) -> None:
    script = ScriptedTraining(error=TrainingError("The loss became nan."), error_step=error_step)
    page = make_page(script)
    click(qtbot, page.panel.start_button)
    script.allow(error_step)
    wait_for_end(qtbot, page)
    page.form.set_speeds({})
    assert page.notice_bar.isVisible(), "the user has changed nothing"
    if not page.panel.shows_form:
        click(qtbot, page.panel.switch_button)
        assert not page.notice_bar.isVisible()
        click(qtbot, page.panel.switch_button)
        assert page.notice_bar.isVisible()
        click(qtbot, page.panel.switch_button)
    type_over(qtbot, page.form.seed_edit, "99")
    assert not page.notice_bar.isVisible()
    script.error = None
    start_and_take(qtbot, page, script, 1)
    assert "nan" not in page.notice_bar.text()
    page.shutdown()


@pytest.mark.heavy
@pytest.mark.allow_log_warnings
def test_unexpected_error_offers_its_details(make_page: MakePage, qtbot: QtBot) -> None:
    script = ScriptedTraining(error=RuntimeError("CUDA error: out of memory"), error_step=1)
    page = make_page(script)
    click(qtbot, page.panel.start_button)
    script.allow(1)
    wait_for_end(qtbot, page)
    assert "CUDA error: out of memory" in page.notice_bar.text()
    click(qtbot, page.notice_bar.details_button)
    box = page.findChild(QMessageBox)
    assert box is not None
    assert "Traceback" in box.detailedText()
    box.close()


@pytest.mark.heavy
def test_copy_presets_bring_their_own_data(make_page: MakePage, qtbot: QtBot) -> None:
    script = ScriptedTraining(num_epochs=1)
    page = make_page(script)
    assert next(iter(page.form.preset_menu.actions_by_name)) == "copy-task-small", "for beginners"
    while page.form.choices().preset != "copy-task-small":
        qtbot.keyClick(page.form.preset_menu, Qt.Key.Key_Up)
    assert set(page.form.preset_menu.actions_by_name) == set(PRESETS)
    assert list(page.form.data_menu.actions_by_name) == ["copy"]
    click(qtbot, page.panel.start_button)
    script.allow(5)
    wait_for_end(qtbot, page)
    assert script.requests[0].source == "copy"
    assert script.requests[0].run.preset == "copy-task-small"


def test_each_preset_states_its_duration_on_this_machine(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(ScriptedTraining())
    menu = page.form.preset_menu
    qtbot.waitUntil(lambda: "about" in menu.actions_by_name["copy-task-small"].text())
    texts = [action.text() for action in menu.actions_by_name.values()]
    # 2,400 layer passes of 10 ms, and 257 GFLOP
    assert texts[0] == "copy-task-small · about 30 seconds"
    assert all(" · about " in text for text in texts)
    page.form.set_choices(replace(page.form.choices(), preset="copy-task-small"))
    shown = " ".join(label.text() for label in page._intro.findChildren(QLabel))
    assert "10 epochs, about 30 seconds on this machine, in the background" in shown
    page.form.edit_settings("20", "training.num_epochs")
    assert page.form.duration == "about 1 minute"
    page.form.edit_settings("many", "training.num_epochs")
    assert page.form.duration == "", "a refused number has no duration"
    assert menu.actions_by_name["copy-task-small"].text().endswith("30 seconds"), (
        "that of the preset"
    )


def test_a_later_start_knows_the_speed_of_the_machine(
    make_page: MakePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = make_page(ScriptedTraining())
    qtbot.waitUntil(lambda: page.form.duration.startswith("about"))
    monkeypatch.setattr("augenmerk.viz_app.extensions.train.machine.SPEEDS_AFTER_MS", 1_000_000)
    later = make_page(ScriptedTraining())
    qtbot.waitUntil(lambda: later.form.duration.startswith("about"))


def test_durations_measured_on_a_busy_machine_are_corrected_by_a_later_start(
    make_page: MakePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("augenmerk.viz_app.extensions.train.machine.SPEEDS_AFTER_MS", 10)
    seen, measured = list[str](), list[str]()
    for seconds in (0.04, 0.01, 0.03):  # for a layer: busy, idle, busy

        def measure(*_: object, seconds: float = seconds) -> Speed:
            measured.append(f"{seconds}")
            return Speed(seconds, 1 / 50e9)

        monkeypatch.setattr("augenmerk.viz_app.extensions.train.machine.measure_speed", measure)
        page = make_page(ScriptedTraining())
        before = len(measured)
        qtbot.waitUntil(lambda before=before: len(measured) > before)
        qtbot.waitUntil(lambda page=page: not page.machine.worker._thread.is_alive())
        seen.append(
            page.form.preset_menu.actions_by_name["copy-task-small"].text().partition(" · ")[2]
        )
    assert seen == ["about 2 minutes", "about 30 seconds", "about 30 seconds"]


def test_durations_are_announced_while_they_are_measured_for_the_first_time(
    make_page: MakePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("augenmerk.viz_app.extensions.train.machine.SPEEDS_AFTER_MS", 10)
    may_end = threading.Event()
    monkeypatch.setattr(
        "augenmerk.viz_app.extensions.train.machine.measure_speed",
        lambda *_: may_end.wait(20) and None,
    )
    page = make_page(ScriptedTraining())
    qtbot.waitUntil(lambda: page.form.duration == MEASURING)
    assert (
        page.form.preset_menu.actions_by_name["copy-task-small"].text()
        == f"copy-task-small · {MEASURING}"
    )
    assert any(MEASURING in label.text() for label in page.findChildren(QLabel))
    may_end.set()
    qtbot.waitUntil(lambda: page.form.duration == "", timeout=20_000)


def test_charts_are_ready_before_the_training_begins(
    make_page: MakePage, qtbot: QtBot, qapp: QApplication
) -> None:
    """Next to a training, building them would stop the window for a third of a second."""
    windows: list[QWidget] = []

    class WindowsShown(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
            is_shown = event.type() == QEvent.Type.Show
            if is_shown and isinstance(watched, QWidget) and watched.isWindow():
                windows.append(watched)
            return False

    watcher = WindowsShown()
    qapp.installEventFilter(watcher)
    page = make_page(ScriptedTraining())
    qtbot.waitUntil(lambda: page.run_view is not None)
    qapp.removeEventFilter(watcher)
    assert windows == [page], "no part is a window of its own, which would take the focus"
    assert page.run_view is not None
    assert page.state.run.status is Status.IDLE
    assert not page.run_view.isVisible()


def test_a_training_ends_the_measurement_of_speeds(
    make_page: MakePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("augenmerk.viz_app.extensions.train.machine.SPEEDS_AFTER_MS", 10)
    began, ended = threading.Event(), threading.Event()

    def measure(_device: str, should_stop: Callable[[], bool]) -> None:
        began.set()
        while not should_stop():
            time.sleep(0.001)
        ended.set()

    monkeypatch.setattr("augenmerk.viz_app.extensions.train.machine.measure_speed", measure)
    script = ScriptedTraining()
    page = make_page(script)
    qtbot.waitUntil(began.is_set)
    assert not ended.is_set()
    start_and_take(qtbot, page, script, 1)
    qtbot.waitUntil(ended.is_set)


def test_a_page_measures_nothing_after_it_was_shut_down(
    make_page: MakePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("augenmerk.viz_app.extensions.train.machine.SPEEDS_AFTER_MS", 50)
    page = make_page(ScriptedTraining())
    qtbot.waitUntil(lambda: page.machine.name != "")
    page.shutdown()
    qtbot.wait(200)
    assert not [thread for thread in threading.enumerate() if thread.name == "augenmerk-inference"]


def test_folder_is_chosen_by_dialog_and_a_cancelled_dialog_changes_nothing(
    make_page: MakePage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = make_page(ScriptedTraining())
    actions = page.form.data_menu.actions_by_name
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "")
    actions["folder"].trigger()
    assert page.form.choices().data_kind == "multi30k"
    assert page.form.data_menu.choice == "multi30k"
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    actions = page.form.data_menu.actions_by_name
    actions["folder"].trigger()
    assert page.form.choices().source() == tmp_path


def test_languages_are_asked_for_where_the_data_are_ones_own(
    make_page: MakePage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = ScriptedTraining()
    page = make_page(script)
    form = page.form
    assert not form.target_language_edit.isVisible()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    form.data_menu.actions_by_name["folder"].trigger()
    assert form.target_language_edit.isVisible()
    assert (
        form.source_language_edit.placeholderText(),
        form.target_language_edit.placeholderText(),
    ) == ("de", "en")
    type_over(qtbot, form.target_language_edit, "French")
    assert form.choices().run_config().data.target_language == "fr"
    form.data_menu.actions_by_name["multi30k"].trigger()
    assert not form.target_language_edit.isVisible()
    assert form.choices().run_config().data.target_language == "en"


@pytest.mark.heavy
def test_devices_are_found_in_a_worker(make_page: MakePage, qtbot: QtBot) -> None:
    page = make_page(ScriptedTraining())
    qtbot.waitUntil(
        lambda: list(page.form.device_menu.actions_by_name) == ["auto", "cpu", "cuda:0"]
    )
    assert page.form.device_menu.choice == "auto"


def test_device_that_is_gone_stays_chosen_until_the_engine_says_what_is_here(
    make_page: MakePage,
) -> None:
    page = make_page(ScriptedTraining())
    page.form.set_choices(replace(page.form.choices(), device="cuda:7"))
    page.form.set_devices(DEFAULT_DEVICES)
    assert page.form.choices().device == "cuda:7"
    assert page.form.device_menu.text().startswith("cuda:7")


@pytest.mark.heavy
def test_choices_are_remembered(make_page: MakePage, qtbot: QtBot) -> None:
    first = make_page(ScriptedTraining())
    type_over(qtbot, first.form.epochs_edit, "3")
    qtbot.keyClick(first.form.device_menu, Qt.Key.Key_Down)
    second = make_page(ScriptedTraining())
    assert second.form.choices() == first.form.choices()
    assert second.form.choices().value("training.num_epochs") == 3
    assert second.form.choices().device == "cpu"


@pytest.mark.slow
@pytest.mark.heavy
def test_stopped_run_can_be_resumed_at_the_next_start(make_page: MakePage, qtbot: QtBot) -> None:
    script = ScriptedTraining()
    first = make_page(script)
    click(qtbot, first.panel.start_button)
    script.allow(6)
    wait_for_step(qtbot, first, 6)
    first.shutdown()
    second = make_page(script)
    assert "Resume continues" in second.notice_bar.text()
    script.allow(9)
    click(qtbot, second.panel.resume_button)
    wait_for_end(qtbot, second)
    assert second.state.run.status is Status.FINISHED
    third = make_page(script)
    assert not third.panel.resume_button.isVisible()


@pytest.mark.heavy
def test_shutdown_stops_the_run_and_delivers_its_end(make_page: MakePage, qtbot: QtBot) -> None:
    page, _ = training_run(qtbot, make_page, 2)
    page.shutdown()
    assert not page.is_running()
    assert page.state.run.finish is not None
    assert page.state.run.finish.reason == "paused"


@pytest.mark.heavy
def test_theme_changes_while_training(
    make_page: MakePage, qapp: QApplication, qtbot: QtBot
) -> None:
    page, _ = training_run(qtbot, make_page, 3)
    Theme.dark().apply(qapp)
    assert page.run_view is not None
    chart = page.run_view.charts.main.chart
    qtbot.waitUntil(
        lambda: chart.grab().toImage().pixelColor(2, 2).name() == Theme.dark().palette.panel
    )
    assert page.is_running()


@pytest.mark.slow
@pytest.mark.heavy
def test_runs_are_laid_over_one_another_and_taken_away_by_a_click(
    make_page: MakePage, qtbot: QtBot, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "earlier"
    write_history(folder / "history.csv", [EpochRecord(1, 5, 4.0, 3.0, 3.0, 1e-3, 9.0)])
    page, _ = training_run(qtbot, make_page, 6)
    assert page.run_view is not None
    charts = page.run_view.charts
    charts.compare.menu().aboutToShow.emit()
    actions = {action.text(): action for action in charts.compare.menu().actions()}
    actions["earlier"].trigger()
    charts.compare.menu().aboutToShow.emit()
    actions = {action.text(): action for action in charts.compare.menu().actions()}
    assert "earlier" not in actions
    actions["Published curve of notebook"].trigger()
    assert [run.name for run in page.comparison.runs] == ["earlier", "published notebook"]
    legend = charts.main.legend
    assert legend is not None
    qtbot.mouseClick(legend.buttons[2], Qt.MouseButton.LeftButton)
    assert [run.name for run in page.comparison.runs] == ["published notebook"]


@pytest.mark.heavy
def test_folder_without_a_run_is_refused_with_a_message(
    make_page: MakePage, qtbot: QtBot, tmp_path: Path
) -> None:
    page, _ = training_run(qtbot, make_page, 1)
    assert page.run_view is not None
    page.run_view.charts.compare.folder_chosen.emit(tmp_path)
    box = page.findChild(QMessageBox)
    assert box is not None
    assert "not the folder of a run" in box.informativeText()
    box.close()
    assert page.comparison.runs == []


@pytest.mark.heavy
def test_chart_follows_its_menus(make_page: MakePage, qtbot: QtBot) -> None:
    page, _ = training_run(qtbot, make_page, 6)
    assert page.run_view is not None
    panel = page.run_view.charts.main
    panel.quantity_menu.actions_by_name["gradient_norm"].trigger()
    picture = panel.chart.picture
    assert picture is not None
    assert picture.lines[-1].ys.tolist() == pytest.approx([0.84] * 6)
    panel.scale_menu.actions_by_name["log"].trigger()
    assert panel.chart.axes.get_yscale() == "log"
    panel.chart.range_chosen.emit(2.0, 4.0)
    assert panel.chart.axes.get_xlim() == (2, 4)
    assert panel.shown_menu.text().startswith("zoomed")
    panel.chart.range_reset.emit()
    assert panel.shown_menu.text().startswith("all steps")


@pytest.mark.heavy
@pytest.mark.parametrize("size", [(1076, 600), (1900, 980)])
def test_loss_and_learning_rate_are_both_in_sight_while_training(
    make_page: MakePage, qtbot: QtBot, size: tuple[int, int]
) -> None:
    script = ScriptedTraining(has_film=True)
    page = make_page(script)
    page.resize(*size)
    start_and_take(qtbot, page, script, 6)
    settle_layout()
    assert page.run_view is not None
    charts = page.run_view.charts
    for panel, quantity in ((charts.main, "loss"), (charts.second, "learning_rate")):
        assert panel.choices.quantity == quantity
        assert panel.chart.picture is not None
        assert panel.chart.visibleRegion().boundingRect().size() == panel.chart.size(), (
            "all of it is in sight"
        )
        area = panel.chart.axes.get_window_extent()
        assert area.height >= 40
    assert page.run_view.film.isVisible()


PAGE_SIZES = {
    (1100, 700): (1064, 639),
    (1280, 800): (1244, 739),
    (1440, 900): (1404, 839),
    (1920, 1080): (1884, 1019),
}
"""Sizes of the page in windows of these sizes."""


def _label_boxes(labels: list[Any]) -> list[Any]:
    return [text.get_window_extent() for text in labels if text.get_visible() and text.get_text()]


@pytest.mark.heavy
@pytest.mark.parametrize("window_size", first_quick(PAGE_SIZES, is_one_argument=True))
@pytest.mark.parametrize("num_steps", [6, 15])  # while it runs; below the notice of its end
def test_charts_take_half_of_the_page_with_readable_axes(
    make_page: MakePage, qtbot: QtBot, window_size: tuple[int, int], num_steps: int
) -> None:
    script = ScriptedTraining(has_film=True)
    page = make_page(script)
    page.resize(*PAGE_SIZES[window_size])
    start_and_take(qtbot, page, script, num_steps)
    settle_layout()
    view = page.run_view
    assert view is not None
    for panel in (view.charts.main, view.charts.second):
        chart = panel.chart
        assert chart.height() >= page.height() / 2
        assert chart.visibleRegion().boundingRect().size() == chart.size()
        chart.draw()
        for axis in (chart.axes.xaxis, chart.axes.yaxis):
            boxes = _label_boxes(axis.get_ticklabels())
            in_sight = [box for box in boxes if box.overlaps(chart.figure.bbox)]
            assert len(in_sight) >= 3
            assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert view.film.isVisible()
    for part in (view.film, view.film.grid, view.film.heatmap):
        assert part.visibleRegion().boundingRect().size() == part.size(), "it is not cut"
    assert view.parts.verticalScrollBar().maximum() == 0
    assert not view.samples.isVisible()
    view.film.tabs.tabs["samples"].click()
    assert view.samples.isVisible()
    assert not view.film.isVisible()


@pytest.mark.heavy
def test_a_narrow_page_shows_charts_and_film_below_one_another(
    make_page: MakePage, qtbot: QtBot
) -> None:
    script = ScriptedTraining(has_film=True)
    page = make_page(script)
    page.resize(817, 473)  # of a window of 1280 × 800 at 150%, in pixels at 100%
    start_and_take(qtbot, page, script, 15)
    wait_for_end(qtbot, page)
    settle_layout()
    view = page.run_view
    assert view is not None
    width = view.parts.viewport().width()
    for part in (view.charts, view.film, view.charts.export_button, view.film.head_menu):
        assert part.mapTo(view.parts, part.rect().topRight()).x() < width, "nothing is cut"
    for panel in (view.charts.main, view.charts.second):
        assert panel.chart.visibleRegion().boundingRect().size() == panel.chart.size()
    assert view.film.heatmap.mapTo(view, QPoint()).y() > view.film.strip.mapTo(view, QPoint()).y()


@pytest.mark.heavy
@pytest.mark.parametrize("preset_name", first_quick(PRESETS))
def test_start_is_in_sight_in_a_low_page(make_page: MakePage, preset_name: str) -> None:
    page = make_page(ScriptedTraining())
    page.resize(1244, 500)  # a lesson is open in a window of 1280 × 800
    page.form.set_choices(page.form.choices().with_preset(preset_name))
    settle_layout()
    button = page.panel.start_button
    assert button.visibleRegion().boundingRect().size() == button.size()


@pytest.mark.heavy
@pytest.mark.parametrize("height", first_quick([400, 560, 640]))
def test_charts_and_film_do_not_overlap_below_the_notice_of_a_finished_run(
    make_page: MakePage, qtbot: QtBot, height: int
) -> None:
    script = ScriptedTraining(has_film=True)
    page = make_page(script)
    page.resize(1064, height)
    start_and_take(qtbot, page, script, 15)
    wait_for_end(qtbot, page)
    settle_layout()
    view = page.run_view
    assert view is not None
    film = view.film
    assert (
        view.charts.mapTo(view, view.charts.rect().bottomLeft()).y()
        < film.mapTo(view, QPoint()).y()
    )
    for part in (view.charts.second, film):
        assert part.height() >= part.minimumSizeHint().height(), "nothing within it overlaps"
    view.parts.ensureWidgetVisible(film.play_button)
    assert film.play_button.visibleRegion().boundingRect().size() == film.play_button.size(), (
        "it is scrolled to"
    )


@pytest.mark.heavy
def test_film_goes_on_while_training_and_the_chart_marks_its_step(
    make_page: MakePage, qtbot: QtBot
) -> None:
    page, script = training_run(qtbot, make_page, 11, has_film=True)
    watch = page.run_view
    assert watch is not None
    picture = watch.charts.main.chart.picture
    assert picture is not None
    assert picture.shown_step == 10
    watch.film.slider.setValue(1)
    watch.charts.main.chart.step_chosen.emit(0.0)
    assert page.state.playback.shown_step == 0
    assert watch.film.slider.value() == 0
    watch.film.slider.setValue(1)
    picture = watch.charts.main.chart.picture
    assert picture is not None
    assert picture.shown_step == 5
    assert "epoch 1" in watch.samples.score.text()
    script.allow(4)
    wait_for_end(qtbot, page)
    assert watch.film.slider.maximum() == 3
    assert watch.film.slider.value() == 1


def answer(page: TrainPage, text: str) -> None:
    """Presses a button of the question that is open."""
    box = page.findChild(QMessageBox)
    assert box is not None
    next(button for button in box.buttons() if button.text() == text).click()


@pytest.mark.slow
@pytest.mark.heavy
def test_paused_run_offers_to_continue_and_does(make_page: MakePage, qtbot: QtBot) -> None:
    page, script = training_run(qtbot, make_page, 6)
    click(qtbot, page.panel.pause_button)
    assert page.panel.pause_button.text() == "Pausing…"
    wait_for_end(qtbot, page)
    assert page.notice_bar.text().startswith("Paused")
    assert page.panel.resume_button.text() == "Continue"
    script.allow(9)
    click(qtbot, page.panel.resume_button)
    wait_for_end(qtbot, page)
    assert page.state.run.curves.training_loss.xy()[0].tolist() == list(range(1, 16))


def place(page: TrainPage, button: QPushButton) -> tuple[int, int, int, int]:
    """Where a button stands in the panel."""
    assert button.isVisible()
    page.panel.layout().activate()
    corner = button.mapTo(page.panel, button.rect().topLeft())
    return corner.x(), corner.y(), button.width(), button.height()


@pytest.mark.heavy
def test_pause_becomes_continue_in_place_and_nothing_else_moves(
    make_page: MakePage, qtbot: QtBot
) -> None:
    page, _ = training_run(qtbot, make_page, 6)
    settle_layout()
    pause, discard = place(page, page.panel.pause_button), place(page, page.panel.discard_button)
    settings = page.panel._settings.geometry()
    click(qtbot, page.panel.pause_button)
    wait_for_end(qtbot, page)
    settle_layout()
    assert page.panel.resume_button.text() == "Continue"
    assert place(page, page.panel.resume_button) == pause
    assert place(page, page.panel.discard_button) == discard
    assert page.panel._settings.geometry() == settings
    assert not page.form.isVisible()


def click_in_window(qtbot: QtBot, page: TrainPage, pointer: QPoint) -> None:
    """As the window system reports it: to the window, which asks what is below the pointer."""
    qtbot.mousePress(page.windowHandle(), Qt.MouseButton.LeftButton, pos=pointer, delay=10)
    qtbot.mouseRelease(page.windowHandle(), Qt.MouseButton.LeftButton, pos=pointer, delay=10)
    settle_layout()


def double_click(qtbot: QtBot, page: TrainPage, button: QPushButton) -> None:
    settle_layout()
    pointer = button.mapTo(page, button.rect().center())
    for _ in range(2):
        click_in_window(qtbot, page, pointer)


@pytest.mark.slow
@pytest.mark.heavy
def test_the_second_click_of_a_double_click_does_nothing(make_page: MakePage, qtbot: QtBot) -> None:
    script = ScriptedTraining()
    page = make_page(script)
    DoubleClickFilter(page).watch(page.window().windowHandle())  # as the window does
    panel = page.panel
    double_click(qtbot, page, panel.start_button)
    assert page.is_running()
    script.allow(6)
    wait_for_step(qtbot, page, 6)
    assert not page.is_stopping
    double_click(qtbot, page, panel.pause_button)
    wait_for_end(qtbot, page)
    double_click(qtbot, page, panel.switch_button)
    assert panel.shows_form
    double_click(qtbot, page, panel.switch_button)
    assert not panel.shows_form
    place_of_resume = place(page, panel.resume_button)
    double_click(qtbot, page, panel.resume_button)
    assert page.is_running()
    assert not page.is_stopping
    assert place(page, panel.pause_button) == place_of_resume
    assert len(script.requests) == 2


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("end", first_quick(["finished", "paused", "failed"]))
def test_a_click_that_comes_too_late_does_nothing(
    make_page: MakePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    error = TrainingError("The loss is no longer a number.") if end == "failed" else None
    page, script = training_run(qtbot, make_page, 6, error=error, error_step=7)
    settle_layout()
    monkeypatch.setattr(late_clicks, "guard_ms", lambda: 1e9)
    pointer = page.panel.pause_button.mapTo(page, page.panel.pause_button.rect().center())
    if end == "paused":
        page.panel.pause_button.click()
    else:
        script.allow(9)
    wait_for_end(qtbot, page)
    settle_layout()
    button = page.childAt(pointer)
    assert isinstance(button, QPushButton), "another one has taken its place"
    click_in_window(qtbot, page, pointer)
    assert not page.is_running()
    page.hide()
    page.show()  # whoever comes to the page sees all of its buttons at the same time
    click(qtbot, button)
    assert page.is_running()


@pytest.mark.slow
@pytest.mark.heavy
def test_a_button_that_appears_takes_clicks_after_a_moment(
    make_page: MakePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, _ = training_run(qtbot, make_page, 6)
    moment = [1e9]
    monkeypatch.setattr(late_clicks, "guard_ms", lambda: moment[0])
    click(qtbot, page.panel.pause_button)
    wait_for_end(qtbot, page)
    click(qtbot, page.panel.resume_button)
    assert not page.is_running()
    click(qtbot, page.panel.switch_button)
    click(qtbot, page.panel.switch_button)  # what was asked for is expected
    assert not page.panel.shows_form
    moment[0] = 0
    click(qtbot, page.panel.resume_button)
    assert page.is_running()


@pytest.mark.heavy
def test_nothing_of_a_run_stands_under_the_form_of_another(
    make_page: MakePage, qtbot: QtBot
) -> None:
    page, _ = training_run(qtbot, make_page, 15)
    wait_for_end(qtbot, page)
    assert page.panel.discard_button.isVisible()
    assert page.panel.extend_button.isVisible()
    click(qtbot, page.panel.switch_button)
    while page.form.choices().preset != "copy-task-small":
        qtbot.keyClick(page.form.preset_menu, Qt.Key.Key_Up)
    for button in (page.panel.discard_button, page.panel.extend_button, page.panel.resume_button):
        assert not button.isVisible()
    assert page.panel.start_button.isVisible()
    click(qtbot, page.panel.switch_button)
    assert page.panel.discard_button.isVisible()


@pytest.mark.slow
@pytest.mark.heavy
def test_a_run_continues_on_the_device_chosen_beside_it(make_page: MakePage, qtbot: QtBot) -> None:
    page, script = training_run(qtbot, make_page, 6)
    click(qtbot, page.panel.pause_button)
    wait_for_end(qtbot, page)
    assert page.panel.device == "auto"
    page.panel.device_menu.actions_by_name["cpu"].trigger()
    script.allow(1)
    click(qtbot, page.panel.resume_button)
    wait_for_step(qtbot, page, 7)
    assert script.requests[1].device == "cpu"


@pytest.mark.heavy
def test_patience_is_a_bar_that_fills(make_page: MakePage, qtbot: QtBot) -> None:
    script = ScriptedTraining()
    page = make_page(script)
    type_over(qtbot, page.form.patience_edit, "4")
    start_and_take(qtbot, page, script, 1)
    assert page.panel._patience.isVisible()
    assert "patience: 0 of 4 epochs without a better loss" in text_in(page.panel)
    for epoch, loss in ((1, 2.0), (2, 2.5), (3, 2.1)):
        page.state.apply(epoch_done(epoch, loss))
    assert "patience: 2 of 4 epochs without a better loss" in text_in(page.panel)
    assert page.panel._patience.value() == 500


@pytest.mark.slow
@pytest.mark.heavy
def test_layers_width_heads_and_rate_are_those_of_the_preset_until_others_are_typed(
    make_page: MakePage, qtbot: QtBot
) -> None:
    script = ScriptedTraining()
    page = make_page(script)
    form = page.form
    fields = (form.layers_edit, form.width_edit, form.heads_edit, form.rate_edit)
    assert [edit.placeholderText() for edit in fields] == ["3", "256", "8", "0.0005"]
    assert form._rate_name.text() == "rate"
    type_over(qtbot, form.layers_edit, "2")
    type_over(qtbot, form.width_edit, "96")
    type_over(qtbot, form.heads_edit, "5")
    assert (
        "The width (96) must be a multiple of the number of heads (5), for example 95."
        in page.panel.message.text()
    )
    assert page.panel.message.isVisible()
    type_over(qtbot, form.heads_edit, "6")
    assert not page.panel.message.isVisible()
    type_over(qtbot, form.rate_edit, "fast")
    assert "training.learning_rate is 'fast'" in page.panel.message.text()
    type_over(qtbot, form.rate_edit, "1e-3")
    start_and_take(qtbot, page, script, 1)
    run = script.requests[0].run
    model = run.model
    assert (model.num_encoder_layers, model.num_decoder_layers, model.width, model.num_heads) == (
        2,
        2,
        96,
        6,
    )
    assert run.training.learning_rate == 1e-3
    page.shutdown()
    again = make_page(script)
    assert again.form.choices().value("model.width") == 96
    qtbot.keyClick(again.form.preset_menu, Qt.Key.Key_Down)
    assert again.form.choices().run_config() == preset("annotated-2018")
    assert again.form._rate_name.text() == "rate factor"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "epochs", "said"),
    first_quick(
        [
            ("multi30k", "30", ""),
            ("multi30k", "1", "is short for a warm-up of 400"),
            ("annotated-2018", "10", "rises for 2,000 steps (warm-up), but this run has 470"),
            ("annotated-2022", "8", ""),
            ("notebook", "1", ""),
            ("copy-task-small", "1", ""),
        ]
    ),
)
def test_the_form_warns_of_a_run_that_is_short_for_its_schedule(
    make_page: MakePage, qtbot: QtBot, name: str, epochs: str, said: str
) -> None:
    form = make_page(ScriptedTraining()).form
    form.set_choices(replace(form.choices(), preset=name))
    type_over(qtbot, form.epochs_edit, epochs)
    assert said in form.note.text()
    assert bool(form.note.text()) == bool(said)
    form.edit_settings("none", "training.num_epochs")
    assert not form.note.text()


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("height", first_quick([620, 500, 720, 980]))
def test_a_warning_about_the_run_is_in_sight_with_start(
    make_page: MakePage, qtbot: QtBot, theme: Theme, height: int
) -> None:
    page = make_page(ScriptedTraining())
    page.resize(1064, height)
    form, panel = page.form, page.panel
    form.set_choices(replace(form.choices(), preset="annotated-2018"))
    settle_layout()
    in_sight = [
        part
        for part in (form.note, panel.start_note)
        if part.visibleRegion().boundingRect().size() == part.size()
    ]
    assert any("24% of the highest" in part.text() for part in in_sight)
    assert len(in_sight) == 1, "once is enough"
    assert panel.start_button.toolTip() == form.note.text()
    watched = (panel.start_button, panel.open_menu, form.epochs_edit, form.folder_button)
    places = [part.mapTo(page, QPoint()) for part in watched]
    type_over(qtbot, form.epochs_edit, "100")
    settle_layout()
    assert not form.note.text()
    assert not panel.start_note.text()
    assert not panel.start_button.toolTip()
    assert [part.mapTo(page, QPoint()) for part in watched] == places
    click(qtbot, panel.start_button)
    assert not panel.start_note.isVisible()


@pytest.mark.heavy
def test_the_film_never_changes_its_head_by_itself(
    make_page: MakePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = ScriptedTraining(has_film=True)
    page = make_page(script)
    click(qtbot, page.panel.start_button)
    qtbot.waitUntil(lambda: bool(page.state.playback.frames))
    selection = page.state.playback.maps.selection
    chosen = selection.head
    others = (
        (layer, head)
        for layer in range(2)
        for head in range(2)
        if (layer, head) != (chosen.layer, chosen.head)
    )
    for module in (
        augenmerk.viz_app.extensions.train.playback,
        augenmerk.viz_app.state.experiment_state,
    ):
        # of each later frame it is another one
        monkeypatch.setattr(module, "clearest_head", lambda _: next(others))
    script.allow(11)
    wait_for_step(qtbot, page, 11)
    assert len(page.state.playback.frames) == 3
    assert selection.head == chosen
    page.state.playback.show_frame(0)
    assert selection.head == chosen


@pytest.mark.heavy
def test_a_chart_without_values_says_when_they_appear(make_page: MakePage, qtbot: QtBot) -> None:
    page, _ = training_run(qtbot, make_page, 2)
    assert page.run_view is not None
    panel = page.run_view.charts.main
    panel.choose(quantity="bleu")
    assert panel.chart.picture is not None
    assert panel.chart.picture.message == "BLEU appears\nafter the first validation."
    assert _why_empty("loss", is_live=True) == "The loss appears\nafter the first step."
    assert (
        _why_empty("tokens_per_second", is_live=True) == "Tokens / s appear\nafter the first step."
    )
    assert panel.chart.picture.message in [artist.get_text() for artist in panel.chart.axes.texts]
    panel.choose(quantity="loss")
    assert panel.chart.picture.message == ""


@pytest.mark.slow
@pytest.mark.heavy
def test_discarding_asks_first_and_removes_only_what_the_run_wrote(
    make_page: MakePage, qtbot: QtBot
) -> None:
    page, script = training_run(qtbot, make_page, 6)
    folder = script.requests[0].folder
    (folder / "my-notes.txt").write_text("mine", encoding="utf-8")
    click(qtbot, page.panel.discard_button)
    answer(page, "Keep the run")
    assert page.state.run.status is Status.TRAINING
    qtbot.waitUntil(lambda: page.findChild(QMessageBox) is None)
    click(qtbot, page.panel.discard_button)
    answer(page, "Discard the run")
    assert page.panel.discard_button.text() == "Discarding…"
    wait_for_end(qtbot, page)
    assert [path.name for path in folder.iterdir()] == ["my-notes.txt"]
    assert page.state.run.status is Status.IDLE
    assert "was discarded" in page.notice_bar.text()
    assert not page.panel.resume_button.isVisible()
    assert not make_page(script).panel.resume_button.isVisible()


@pytest.mark.heavy
def test_paused_run_can_be_discarded_with_its_folder(make_page: MakePage, qtbot: QtBot) -> None:
    page, script = training_run(qtbot, make_page, 6)
    click(qtbot, page.panel.pause_button)
    wait_for_end(qtbot, page)
    click(qtbot, page.panel.discard_button)
    answer(page, "Discard the run")
    assert not script.requests[0].folder.exists()
    assert page.state.run.status is Status.IDLE


@pytest.mark.slow
@pytest.mark.heavy
def test_failed_save_waits_and_is_tried_again(make_page: MakePage, qtbot: QtBot) -> None:
    page, script = training_run(qtbot, make_page, 6, failing_save_step=6, num_failing_saves=2)
    for _ in range(2):
        qtbot.waitUntil(lambda: page.state.run.status is Status.WAITING)
        assert "no space left" in page.notice_bar.text()
        click(qtbot, page.notice_bar.action_buttons[0])
        assert page.state.run.status is Status.TRAINING
    script.allow(9)
    wait_for_end(qtbot, page)
    assert page.state.run.status is Status.FINISHED
    assert not page.notice_bar.action_buttons[0].isVisible()


@pytest.mark.heavy
def test_failed_save_can_end_the_run(make_page: MakePage, qtbot: QtBot) -> None:
    page, _ = training_run(qtbot, make_page, 6, failing_save_step=6)
    qtbot.waitUntil(lambda: page.state.run.status is Status.WAITING)
    click(qtbot, page.notice_bar.action_buttons[1])
    wait_for_end(qtbot, page)
    assert page.state.run.status is Status.FAILED
    assert page.panel.resume_button.isVisible()


@pytest.mark.heavy
def test_page_can_be_closed_while_a_failed_save_waits(make_page: MakePage, qtbot: QtBot) -> None:
    page, _ = training_run(qtbot, make_page, 6, failing_save_step=6)
    qtbot.waitUntil(lambda: page.state.run.status is Status.WAITING)
    page.shutdown()
    assert not page.is_running()


@pytest.mark.slow
@pytest.mark.heavy
def test_proposal_goes_on_from_the_last_good_checkpoint_with_the_change(
    make_page: MakePage, qtbot: QtBot
) -> None:
    proposal = Proposal("a learning rate of 0.00025 instead of 0.0005", {"learning_rate": 0.00025})
    words = (
        f"The loss became nan. Resume from step 5 (last.safetensors) with {proposal.text}: "
        "--resume --change x."
    )
    script = ScriptedTraining(
        error=DivergedError(words, proposal, Path("last.safetensors")), error_step=7
    )
    page = make_page(script)
    start_and_take(qtbot, page, script, 7)
    wait_for_end(qtbot, page)
    assert page.notice_bar.text().startswith("Training failed")
    assert page.notice_bar.text().endswith("a learning rate of 0.00025 instead of 0.0005.")
    script.error = None
    script.allow(8)
    click(qtbot, page.notice_bar.action_buttons[0])
    wait_for_end(qtbot, page)
    assert script.requests[1].resume
    assert dict(script.requests[1].changes) == {"learning_rate": 0.00025}
    assert page.state.run.status is Status.FINISHED


@pytest.mark.slow
@pytest.mark.heavy
def test_changed_data_is_resumed_with_only_after_a_person_said_so(
    make_page: MakePage, qtbot: QtBot
) -> None:
    proposal = Proposal("the training data as it is now", allows_changed_data=True)
    words = (
        "The training data has changed: resume with the data as it is now: --resume "
        "--allow-changed-data"
    )
    script = ScriptedTraining(
        error=ChangedDataError(words, proposal, Path("last.safetensors")), error_step=7
    )
    page = make_page(script)
    start_and_take(qtbot, page, script, 7)
    wait_for_end(qtbot, page)
    assert not script.requests[0].allow_changed_data
    assert page.notice_bar.text().startswith("The training data has changed")
    assert "--resume" not in page.notice_bar.text()
    button = page.notice_bar.action_buttons[0]
    assert button.text() == "Resume with the changed data"
    script.error = None
    script.allow(8)
    click(qtbot, button)
    wait_for_end(qtbot, page)
    assert script.requests[1].resume
    assert script.requests[1].allow_changed_data


@pytest.mark.heavy
def test_change_is_remembered_with_the_run(make_page: MakePage, qtbot: QtBot) -> None:
    script = ScriptedTraining()
    page = make_page(script)
    page.run_actions.begin(
        TrainingRequest(
            preset("notebook"), "copy", page.form.choices().parent_folder / "x", changes={"seed": 5}
        )
    )
    script.allow(6)
    wait_for_step(qtbot, page, 6)
    page.shutdown()
    second = make_page(script)
    assert second.state.run.request is not None
    assert dict(second.state.run.request.changes) == {"seed": 5}


@pytest.mark.heavy
def test_without_a_checkpoint_the_proposal_starts_again(make_page: MakePage, qtbot: QtBot) -> None:
    proposal = Proposal("a batch size of 64 instead of 128", {"batch_size": 64})
    script = ScriptedTraining(
        error=OutOfMemoryError("No memory. Start again.", proposal, None), error_step=1
    )
    page = make_page(script)
    click(qtbot, page.panel.start_button)
    script.allow(1)
    wait_for_end(qtbot, page)
    assert page.notice_bar.action_buttons[0].text() == "Start again with this change"
    click(qtbot, page.notice_bar.action_buttons[0])
    qtbot.waitUntil(lambda: len(script.requests) == 2)
    assert not script.requests[1].resume


@pytest.mark.heavy
def test_only_one_training_runs_at_a_time(make_page: MakePage, qtbot: QtBot) -> None:
    page, script = training_run(qtbot, make_page, 1)
    page.run_actions.start()
    page.run_actions.resume()
    page.controller.open_run(Path("nowhere"))
    assert len(script.requests) == 1


@pytest.mark.heavy
def test_patience_and_probe_go_into_the_run(make_page: MakePage, qtbot: QtBot) -> None:
    script = ScriptedTraining()
    page = make_page(script)
    type_over(qtbot, page.form.patience_edit, "3")
    type_over(qtbot, page.form.probe_edit, "Zwei Hunde spielen.")
    start_and_take(qtbot, page, script, 1)
    assert script.requests[0].run.training.patience == 3
    assert script.requests[0].probe == "Zwei Hunde spielen."
    page.shutdown()
    assert make_page(script).form.choices().probe == "Zwei Hunde spielen."


@pytest.mark.slow
@pytest.mark.heavy
def test_keyboard_never_comes_upon_a_button_that_ends_the_run_by_itself(
    make_page: MakePage, qtbot: QtBot
) -> None:
    script = ScriptedTraining()
    page = make_page(script)
    panel = page.panel
    panel.start_button.setFocus()
    start_and_take(qtbot, page, script, 6)

    def focused() -> QWidget | None:
        return page.window().focusWidget()

    def press_space() -> None:
        widget = focused()
        assert widget is not None
        qtbot.keyClick(widget, Qt.Key.Key_Space)

    num_steps = 6
    for button in (panel.pause_button, panel.stop_button):
        assert focused() not in (panel.stop_button, panel.pause_button, panel.discard_button)
        press_space()
        assert page.state.run.status is Status.TRAINING
        button.setFocus()
        press_space()
        wait_for_end(qtbot, page)
        assert focused() is panel.resume_button
        num_steps += 2
        script.allow(2)
        press_space()
        wait_for_step(qtbot, page, num_steps)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "said"),
    first_quick([("copy-task-small", "source"), ("notebook", "German"), ("", "source")]),
)
def test_film_of_an_earlier_run_names_its_own_languages(
    make_page: MakePage, tmp_path: Path, name: str, said: str
) -> None:
    folder = tmp_path / "runs" / "earlier"
    write_history(folder / "history.csv", [EpochRecord(1, 5, 4.0, 3.0, 3.0, 1e-3, 9.0)])
    if name:
        (folder / "run.toml").write_text(to_toml(preset(name)), encoding="utf-8")
    write_frame(folder, FilmFrame(1, 5, None, probe(1).translation))
    page = make_page(ScriptedTraining())
    page.run_actions.open_run(folder)
    assert page.run_view is not None
    assert f"the {said}" in page.run_view.film.meaning.text()


def test_wrong_patience_is_refused(make_page: MakePage, qtbot: QtBot) -> None:
    script = ScriptedTraining()
    page = make_page(script)
    type_over(qtbot, page.form.patience_edit, "0")
    click(qtbot, page.panel.start_button)
    assert "training.patience is '0'" in page.panel.message.text()
    assert script.requests == []


@pytest.mark.slow
@pytest.mark.heavy
def test_earlier_run_is_looked_at_with_its_curves_and_its_film(
    make_page: MakePage, qtbot: QtBot, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "earlier"
    write_history(folder / "history.csv", [EpochRecord(1, 5, 4.0, 3.0, 3.0, 1e-3, 9.0)])
    for epoch, text in enumerate((". .", "a man .")):
        write_frame(folder, FilmFrame(epoch, 5 * epoch, None, probe(epoch, text).translation))
    script = ScriptedTraining()
    page = make_page(script)
    page.panel.open_menu.menu().aboutToShow.emit()
    next(
        action for action in page.panel.open_menu.menu().actions() if action.text() == "earlier"
    ).trigger()
    assert page.notice_bar.text().startswith("Run: earlier")
    watch = page.run_view
    assert watch is not None
    assert watch.film.slider.maximum() == 1
    watch.film.slider.setValue(0)
    assert page.state.playback.shown_step == 0
    assert not page.panel.discard_button.isVisible()
    page.run_actions.open_run(tmp_path)
    assert "not the folder of a run" in page.panel.message.text()
    click(qtbot, page.panel.switch_button)
    click(qtbot, page.panel.start_button)
    assert len(page.state.playback.frames) == 0
