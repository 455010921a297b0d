"""Windows with a laboratory that is open: on a translator of thin air, and on small real models."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.checkpoint.file import save_checkpoint
from core.config import preset
from tests.core.translators import SHAPE, untrained
from viz_app.analysis.area import MIN_WIDTH
from viz_app.analysis.tab import LabTab
from viz_app.main_window import MainWindow
from viz_app.preferences import Preferences
from viz_app.theme import Theme
from viz_app.worker import InferenceWorker

OpenTab = Callable[[MainWindow, str], LabTab]
MakeRealWindow = Callable[..., MainWindow]


@pytest.fixture
def open_tab(qtbot: QtBot) -> OpenTab:
    """Opens the laboratory and one of its tabs by clicks."""

    def open_one(window: MainWindow, name: str) -> LabTab:
        page = window.translate_page
        names = [tab.name for tab in page.lab.tabs]
        if page.lab.isHidden():
            page.lab.show_tab(names.index(name))  # so that no other tab asks for anything
            qtbot.mouseClick(page.lab_button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: page.lab.width() >= MIN_WIDTH)
        qtbot.wait(20)  # the layout settles
        qtbot.mouseClick(page.lab.buttons[names.index(name)], Qt.MouseButton.LeftButton)
        return page.lab.tab

    return open_one


@pytest.fixture
def make_real_window(qtbot: QtBot, preferences: Preferences, theme: Theme) -> Iterator[MakeRealWindow]:
    """Opens main windows on real checkpoints, and closes them."""
    windows: list[MainWindow] = []

    def make(checkpoint: Path, sentence: str = "Ein Mann steht auf einer Leiter .") -> MainWindow:
        window = MainWindow(preferences, checkpoint=checkpoint, sentence=sentence, worker=InferenceWorker())
        windows.append(window)
        window.resize(1280, 800)
        with qtbot.waitSignal(window.translation_shown, timeout=30_000):
            window.show()
        return window

    yield make
    for window in windows:
        window.close()
        window.deleteLater()


@pytest.fixture(scope="session")
def model_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Untrained checkpoints: whole words, subwords, and one layer with one head."""
    folder = tmp_path_factory.mktemp("models")
    words, pieces = preset("notebook"), preset("multi30k")
    single = {**SHAPE, "num_heads": 1, "num_encoder_layers": 1, "num_decoder_layers": 1}
    runs = {
        "words": replace(words, model=words.model.replace(**SHAPE)),
        "pieces": replace(pieces, model=pieces.model.replace(**SHAPE), data=pieces.data.replace(num_subwords=160)),
        "single": replace(words, model=words.model.replace(**single)),
    }
    for name, run in runs.items():
        save_checkpoint(untrained(run).checkpoint, folder / f"{name}.safetensors")
    return {name: folder / f"{name}.safetensors" for name in runs}
