"""The real window, a real training in its thread, and hands that type, scroll and switch heads."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.translate.page import TranslatePage
from augenmerk.viz_app.worker.interpreter import SWITCH_INTERVAL_SECONDS
from benchmarks.gui_load import measure
from benchmarks.hands import Hands
from tests.viz_app.parts import TRAIN, TRANSLATE, close_in_training, train_page_of

pytestmark = pytest.mark.training


@pytest.fixture
def window(qtbot: QtBot, preferences: Preferences, theme: Theme) -> Iterator[MainWindow]:
    """The window with the bundled model."""
    window = MainWindow(preferences, sentence="Ein Mann .")
    window.resize(1000, 640)
    window.translate_page.heads.area.setMaximumHeight(200)  # so low that the heads must be scrolled
    with qtbot.waitSignal(window.translation_shown, timeout=60_000):
        window.show()
    yield window
    close_in_training(window)
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=60_000)
    window.deleteLater()


def _train(window: MainWindow, qtbot: QtBot, folder: Path) -> None:
    window.pages.show(TRAIN)
    page = train_page_of(window)
    assert page is not None
    choices = replace(
        page.form.choices(), preset="copy-task-small", settings={"training.num_epochs": "500"}
    )
    page.form.set_choices(replace(choices, device="cpu", parent_folder=folder))
    page.run_actions.start()
    window.pages.show(TRANSLATE)
    qtbot.waitUntil(lambda: page.state.run.latest_step is not None, timeout=60_000)


def _shown(page: TranslatePage) -> str:
    return page.state.translation.source_text.strip() if page.state.translation is not None else ""


@pytest.mark.slow
def test_hands_are_answered_while_a_real_training_goes_on(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    _train(window, qtbot, tmp_path / "runs")
    page, training = window.translate_page, train_page_of(window)
    assert training is not None
    assert training.state.run.latest_step is not None
    first_step = training.state.run.latest_step.step
    translations = []
    window.translation_shown.connect(translations.append)
    hands = Hands(window)
    hands.start()
    qtbot.waitUntil(lambda: hands.num_typed > 20 and len(translations) >= 2, timeout=60_000)
    hands.stop()
    assert page.sentence.input.text == hands.typed
    assert hands.num_switched >= 12
    assert hands.num_heads_seen >= hands.num_switched // 2
    assert hands.num_scrolled >= 12
    assert hands.num_places_seen >= 2
    qtbot.waitUntil(lambda: _shown(page) == hands.typed.strip(), timeout=60_000)
    assert training.state.run.latest_step.step > first_step
    assert training.is_running()


@pytest.mark.slow
def test_lag_is_measured_beside_a_real_training(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    _train(window, qtbot, tmp_path / "runs")
    lags = measure(window, 1.0)
    assert lags
    assert min(lags) >= 0


@pytest.mark.slow
def test_a_training_shares_the_interpreter_fairly_and_gives_the_setting_back(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    before = sys.getswitchinterval()
    _train(window, qtbot, tmp_path / "runs")
    assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL_SECONDS)
    page = train_page_of(window)
    assert page is not None
    page.controller.stop("discard")
    qtbot.waitUntil(lambda: not page.is_running(), timeout=60_000)
    assert sys.getswitchinterval() == pytest.approx(before)
