"""Both pages together, with the real engine: train, try the model while training goes on, close."""

from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.main_window import TRAIN, MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.theme import Theme
from tests.checkpoints import write_untrained_checkpoint

pytestmark = pytest.mark.training


def _close(window: MainWindow, qtbot: QtBot) -> None:
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=60_000)
    window.deleteLater()


@pytest.mark.slow
def test_a_model_can_be_tried_while_it_is_trained_and_closing_keeps_it(
    qtbot: QtBot, preferences: Preferences, theme: Theme, tmp_path: Path
) -> None:
    checkpoint = write_untrained_checkpoint(tmp_path / "small.safetensors")
    window = MainWindow(preferences, checkpoint=checkpoint, sentence=None)  # an example sentence, so it may give way
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitSignal(window.translation_shown, timeout=60_000):
        window.show()
    window.pages.show(TRAIN)
    page = window.pages.train
    assert page is not None
    choices = replace(page.form.choices(), preset="copy-task-small", settings={"training.num_epochs": "500"})
    page.form.set_choices(replace(choices, device="cpu", parent_folder=tmp_path / "runs"))
    page.run_actions.start()
    qtbot.waitUntil(lambda: page.state.run.best_checkpoint is not None, timeout=120_000)
    assert "copy-task-small" in window.top_bar.status.text()

    assert page.state.run.best_checkpoint is not None
    with qtbot.waitSignal(window.translation_shown, timeout=60_000):
        page.model_ready.emit(page.state.run.best_checkpoint)
    assert page.is_running()
    assert window.translate_page.isVisible()
    assert window.loader.model is not None
    assert window.loader.model.run.preset == "copy-task-small"
    assert window.translate_page.sentence.input.text.split() == [str(number) for number in range(1, 11)]

    folder = page.state.run.best_checkpoint.parent
    _close(window, qtbot)
    assert (folder / "last.safetensors").is_file()


@pytest.mark.slow
def test_the_small_copy_task_is_learned_in_the_app(
    qtbot: QtBot, preferences: Preferences, theme: Theme, tmp_path: Path
) -> None:
    """The preset as it is; on two cores it takes well under its two minutes, of which nothing is asserted."""
    checkpoint = write_untrained_checkpoint(tmp_path / "small.safetensors")
    window = MainWindow(preferences, checkpoint=checkpoint, sentence=None)
    qtbot.addWidget(window)
    window.show()
    window.pages.show(TRAIN)
    page = window.pages.train
    assert page is not None
    choices = replace(page.form.choices(), preset="copy-task-small", settings={"training.num_epochs": "10"})
    page.form.set_choices(replace(choices, device="cpu", parent_folder=tmp_path / "runs"))
    page.run_actions.start()
    qtbot.waitUntil(lambda: not page.is_running(), timeout=240_000)
    assert page.state.run.best_checkpoint is not None
    with qtbot.waitSignal(window.translation_shown, timeout=60_000) as shown:
        page.model_ready.emit(page.state.run.best_checkpoint)
    assert shown.args[0].text == "1 2 3 4 5 6 7 8 9 10"
    assert (page.state.run.best_checkpoint.parent / "history.csv").read_text().count("\n") == 1 + 10
    _close(window, qtbot)
