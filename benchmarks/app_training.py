"""Training in the thread of an open window, against training in a terminal with as many threads."""

import os
import tempfile
import time
from pathlib import Path

import torch

from augenmerk.core.config import RunConfig
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.loading import COPY, load_corpus
from augenmerk.core.extensions.training.events import StepDone, TrainingEvent, TrainingStarted
from augenmerk.core.extensions.training.loop import train
from benchmarks.ratio import Ratio

STEPS, TURNS = 90, 5


def run() -> list[Ratio]:
    """Median seconds for the steps of `copy-task-small`, with both in turn."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    base = preset("copy-task-small")
    limited = RunConfig.from_dict(
        {**base.to_dict(), "training": {**base.training.to_dict(), "max_steps": STEPS}}
    )
    in_app = []
    in_terminal = []
    for _ in range(TURNS):
        in_app.append(_in_app(limited))
        in_terminal.append(_in_terminal(limited))
    middle = TURNS // 2
    seconds = sorted(in_app)[middle], sorted(in_terminal)[middle]
    name = f"{STEPS} training steps in the app / in a terminal"
    return [Ratio(name, *seconds, 0.9, 1.0, "seconds of wall time")]


class _Clock:
    """Wall time from the first step to the last."""

    def __init__(self) -> None:
        self.began = self.ended = 0.0

    def __call__(self, event: TrainingEvent) -> None:
        if isinstance(event, TrainingStarted):
            self.began = time.perf_counter()
        elif isinstance(event, StepDone):
            self.ended = time.perf_counter()


def _in_terminal(run_config: RunConfig) -> float:
    clock = _Clock()
    with tempfile.TemporaryDirectory() as folder:
        train(run_config, load_corpus(COPY, run_config), Path(folder), device="cpu", on_event=clock)
    return clock.ended - clock.began


def _in_app(run_config: RunConfig) -> float:
    """Wall time through `TrainingRun`, with the Train page drawing it."""
    from PySide6.QtCore import QEventLoop, QSettings, QTimer
    from PySide6.QtWidgets import QApplication

    from augenmerk.core.extensions.training.events import TrainingRequest
    from augenmerk.viz_app.extensions.train.page import TrainPage
    from augenmerk.viz_app.extensions.train.worker import _read_and_train

    app = QApplication.instance() or QApplication([])
    clock = _Clock()

    def body(request, on_event, should_stop, on_save_failed):  # type: ignore[no-untyped-def]
        def both(event: TrainingEvent) -> None:
            clock(event)
            on_event(event)

        return _read_and_train(request, both, should_stop, on_save_failed)

    with tempfile.TemporaryDirectory() as folder:
        settings = QSettings(str(Path(folder) / "settings.ini"), QSettings.Format.IniFormat)
        page = TrainPage(settings, body=body)
        page.resize(1280, 800)
        page.show()
        page.run_actions.begin(TrainingRequest(run_config, COPY, Path(folder) / "run", "cpu"))
        look = QTimer(page, interval=200)
        # not the application's own loop: once that was quit, no loop of a later benchmark runs
        loop = QEventLoop()
        look.timeout.connect(lambda: None if page.is_running() else loop.quit())
        look.start()
        loop.exec()
        look.stop()
        page.shutdown()
        page.deleteLater()
        app.processEvents()
    return clock.ended - clock.began
