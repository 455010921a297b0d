"""Lag of the window's event loop during typing, scrolling and switching heads, idle and next to a
training.
"""

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from augenmerk.core.config import RunConfig
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.loading import COPY
from benchmarks.lag import allowed_lag, lags, percentile
from benchmarks.ratio import Ratio

if TYPE_CHECKING:
    from augenmerk.viz_app.main_window import MainWindow

TICK_MS = 4
TURNS = 3
SECONDS = 8.0
WAIT_SECONDS = 300.0


def run() -> list[Ratio]:
    """The 99th percentile of the lag next to a training, against twice the idle lag plus a
    frame.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QSettings
    from PySide6.QtWidgets import QApplication

    from augenmerk.viz_app.main_window import MainWindow
    from augenmerk.viz_app.pages import TRANSLATE
    from augenmerk.viz_app.preferences import Preferences
    from augenmerk.viz_app.theme import Theme
    from augenmerk.viz_app.worker.interpreter import interpreter_shared_fairly

    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    Theme.light().apply(app)
    with tempfile.TemporaryDirectory() as folder:
        settings = QSettings(str(Path(folder) / "settings.ini"), QSettings.Format.IniFormat)
        window = MainWindow(Preferences(settings), sentence="Ein Mann .")
        window.resize(1280, 800)
        window.show()
        _wait(lambda: window.translate_page.state.translation is not None)
        window.pages.show("train")
        _wait(lambda: window.pages.current == "train")
        window.pages.show(TRANSLATE)
        try:
            with interpreter_shared_fairly():  # as the app has it
                return [
                    _compare(window, name, trained, Path(folder))
                    for name, trained in (
                        ("copy-task-small", _small()),
                        ("notebook's model", _large()),
                    )
                ]
        finally:
            window.close()
            window.deleteLater()
            app.processEvents()


def _small() -> RunConfig:
    """Training steps of a few milliseconds: both threads compete for the interpreter."""
    return _endless(preset("copy-task-small"))


def _large() -> RunConfig:
    """Long matrix products: both threads compete for the processor."""
    run = preset("copy-task-small")
    return _endless(
        replace(run, model=preset("notebook").model, training=run.training.replace(batch_size=128))
    )


def _endless(run: RunConfig) -> RunConfig:
    return replace(run, training=run.training.replace(num_epochs=10_000))


def _compare(window: "MainWindow", name: str, run: RunConfig, folder: Path) -> Ratio:
    """Measure idle and next to a training in turn, so that changes in the machine's speed affect
    both.
    """
    from augenmerk.core.extensions.training.events import TrainingRequest
    from augenmerk.viz_app.extensions.train.page import TrainPage

    page: TrainPage = window.pages.parts["train"].widget  # type: ignore[assignment]
    idle: list[float] = []
    beside: list[float] = []
    measure(window, 2.0)
    for turn in range(TURNS):
        idle += measure(window, SECONDS)
        page.run_actions.begin(TrainingRequest(run, COPY, folder / f"{name}-{turn}", "cpu"))
        _wait(lambda: page.state.run.latest_step is not None)
        beside += measure(window, SECONDS)
        page.controller.stop("discard")
        _wait(lambda: not page.is_running())
    idle_lag, lag = percentile(idle, 0.99), percentile(beside, 0.99)
    note = (
        f"99th percentile of the loop's lag; idle {idle_lag * 1e3:.1f} ms; other: twice that + "
        "16 ms"
    )
    return Ratio(
        f"lag of the window beside {name} / allowed", lag, allowed_lag(idle_lag), 1.0, 1.5, note
    )


def measure(window: "MainWindow", seconds: float) -> list[float]:
    """The lag of the loop in seconds during input; see `benchmarks.lag.lags`."""
    from PySide6.QtCore import QEventLoop, Qt, QTimer

    from benchmarks.hands import Hands

    ticks: list[float] = []
    loop = QEventLoop()
    hands = Hands(window)
    pulse = QTimer(hands, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
    pulse.timeout.connect(lambda: ticks.append(time.perf_counter()))
    QTimer.singleShot(round(seconds * 1e3), loop.quit)
    hands.start()
    pulse.start()
    loop.exec()
    pulse.stop()
    hands.stop()
    hands.deleteLater()
    return lags(ticks, TICK_MS / 1e3)


def _wait(is_done: Callable[[], bool]) -> None:
    """Run the event loop until `is_done`. Raises `TimeoutError`."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    end = time.monotonic() + WAIT_SECONDS
    look = QTimer(loop, interval=20)
    look.timeout.connect(lambda: loop.quit() if is_done() or time.monotonic() > end else None)
    look.start()
    loop.exec()
    look.stop()
    if not is_done():
        raise TimeoutError(f"The window was not ready within {WAIT_SECONDS:.0f} seconds.")
