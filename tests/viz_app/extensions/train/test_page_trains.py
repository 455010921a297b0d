"""The page trains for real: clicks, thread, corpus, Transformer, checkpoints."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.extensions.train.page import TrainPage
from augenmerk.viz_app.extensions.train.state import Status

TIMEOUT_MS = 120_000


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path) -> Iterator[TrainPage]:
    """The page with the small copy task chosen, on the CPU."""
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    page = TrainPage(settings)
    qtbot.addWidget(page)
    choices = replace(
        page.form.choices(), preset="copy-task-small", device="cpu", parent_folder=tmp_path / "runs"
    )
    page.form.set_choices(choices)
    page.resize(1200, 760)
    with qtbot.waitExposed(page):
        page.show()
    yield page
    page.shutdown()


def click(qtbot: QtBot, button: QPushButton) -> None:
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def type_epochs(qtbot: QtBot, page: TrainPage, text: str) -> None:
    page.form.epochs_edit.selectAll()
    qtbot.keyClicks(page.form.epochs_edit, text)


def wait_for_end(qtbot: QtBot, page: TrainPage) -> None:
    qtbot.waitUntil(lambda: not page.is_running(), timeout=TIMEOUT_MS)


@pytest.mark.training
@pytest.mark.slow
def test_copy_task_is_trained_stopped_resumed_and_tried(page: TrainPage, qtbot: QtBot) -> None:
    type_epochs(qtbot, page, "2")
    click(qtbot, page.panel.start_button)
    qtbot.waitUntil(lambda: len(page.state.run.curves.training_loss) >= 5, timeout=TIMEOUT_MS)
    click(qtbot, page.panel.stop_button)
    assert page.panel.stop_button.text() == "Stopping…"
    wait_for_end(qtbot, page)
    assert page.state.run.finish is not None
    assert page.state.run.finish.reason == "stopped"
    stopped_at = page.state.run.finish.step
    assert page.state.run.finish.last_checkpoint.is_file()

    click(qtbot, page.panel.resume_button)
    qtbot.waitUntil(page.notice_bar.try_button.isVisible, timeout=TIMEOUT_MS)
    with qtbot.waitSignal(page.run_actions.model_ready) as ready:
        click(qtbot, page.notice_bar.try_button)
    assert ready.args[0].is_file()
    wait_for_end(qtbot, page)
    assert page.state.run.status is Status.FINISHED, page.notice_bar.text()
    assert page.state.run.finish.reason == "completed"
    assert page.state.run.finish.step > stopped_at
    steps = page.state.run.curves.training_loss.xy()[0].tolist()
    assert steps == list(range(1, page.state.run.finish.step + 1))
    assert page.notice_bar.text().startswith("Finished")
    assert page.state.run.curves.best is not None
    assert (
        page.state.run.curves.best.validation_loss < page.state.run.curves.training_loss.xy()[1][0]
    ), "it learned"


@pytest.mark.heavy
def test_device_that_is_not_here_is_said_and_the_form_stays(page: TrainPage, qtbot: QtBot) -> None:
    page.form.set_choices(replace(page.form.choices(), device="cuda:97"))
    click(qtbot, page.panel.start_button)
    wait_for_end(qtbot, page)
    assert page.state.run.status is Status.FAILED
    assert "cuda:97" in page.notice_bar.text()
    assert page.form.choices().device == "cuda:97"
    assert not page.panel.resume_button.isVisible()


@pytest.mark.heavy
def test_corpus_that_is_not_there_is_said_and_the_form_stays(
    page: TrainPage, qtbot: QtBot, tmp_path: Path
) -> None:
    missing = str(tmp_path / "no-such-folder")
    page.form.set_choices(
        replace(page.form.choices(), preset="notebook", data_kind="folder", data_path=missing)
    )
    click(qtbot, page.panel.start_button)
    wait_for_end(qtbot, page)
    assert page.state.run.status is Status.FAILED
    assert "no-such-folder" in page.notice_bar.text()
    assert page.form.choices().data_path == missing


@pytest.mark.heavy
def test_a_file_in_another_form_is_refused_with_those_that_are_read(
    page: TrainPage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("Ein Mann.,A man.\n", encoding="utf-8")
    page.form.set_choices(replace(page.form.choices(), preset="notebook"))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(table), ""))
    page.form.data_menu.actions_by_name["file"].trigger()
    click(qtbot, page.panel.start_button)
    wait_for_end(qtbot, page)
    assert page.state.run.status is Status.FAILED
    for words in (str(table), "CSV", "TSV", "JSON lines", "its own file"):
        assert words in page.notice_bar.text()
    table.write_text("Ein Mann.\tA man.\n", encoding="utf-8")
    click(qtbot, page.panel.start_button)
    wait_for_end(qtbot, page)
    assert "too few sentence pairs: 1" in page.notice_bar.text(), "it is read"


@pytest.mark.heavy
def test_folder_that_cannot_be_written_is_said_and_the_form_stays(
    page: TrainPage, qtbot: QtBot, tmp_path: Path
) -> None:
    blocked = tmp_path / "a-file-not-a-folder"
    blocked.write_text("", encoding="utf-8")
    page.form.set_choices(
        replace(page.form.choices(), parent_folder=blocked, settings={"training.num_epochs": "1"})
    )
    click(qtbot, page.panel.start_button)
    qtbot.waitUntil(
        lambda: len(page.state.run.curves.training_loss) > 0 or not page.is_running(),
        timeout=TIMEOUT_MS,
    )
    page.request_stop()
    wait_for_end(qtbot, page)
    assert page.state.run.status is Status.FAILED
    assert "Cannot write" in page.notice_bar.text()
    assert page.form.isEnabled()
