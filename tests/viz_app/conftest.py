"""Settings that belong to one test, a themed application, windows that are closed when it ends, a
full disk."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.theme import Theme, current_theme
from augenmerk.viz_app.worker.inference import InferenceWorker, Loader
from tests.limits import files_limited
from tests.viz_app.builders import settle_layout
from tests.viz_app.synthetic import FakeTranslator

if TYPE_CHECKING:
    from augenmerk.viz_app.main_window import MainWindow

MakeWindow = Callable[..., "MainWindow"]

BUSY_MACHINE_MS = 30_000
"""pytest-qt waits for 5 seconds at most; next to other jobs, importing torch in the worker can take
longer.
"""
for wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitCallback):
    assert wait.__kwdefaults__ is not None
    wait.__kwdefaults__["timeout"] = BUSY_MACHINE_MS


@pytest.fixture
def qtbot(qtbot: QtBot) -> QtBot:
    """Keeps the test's widgets until pytest-qt has closed them.

    pytest-qt refers to them weakly. After the test's function has returned, a widget that only a
    cycle of references keeps may be collected while it paints, which crashes the process.
    """
    widgets: list[QWidget] = []
    add = qtbot.addWidget

    def add_and_keep(widget: QWidget, **options: Any) -> None:
        widgets.append(widget)
        add(widget, **options)

    qtbot.addWidget = add_and_keep  # type: ignore[method-assign]
    return qtbot


@pytest.fixture
def preferences(tmp_path: Path) -> Preferences:
    """Preferences in a separate file for this test."""
    return Preferences(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    """The light theme, applied."""
    light = Theme.light()
    if current_theme() != light or not qapp.styleSheet():
        light.apply(qapp)
    return light


@pytest.fixture
def make_window(qtbot: QtBot, preferences: Preferences, theme: Theme) -> Iterator[MakeWindow]:
    """Opens main windows, with a translator of thin air unless another loader is given, and closes
    them."""
    from augenmerk.viz_app.main_window import MainWindow

    windows: list[MainWindow] = []

    def make(
        path: Path | None = Path("model.safetensors"),
        *,
        sentence: str | None = "Ein Mann .",
        loader: Loader | None = FakeTranslator,  # type: ignore[assignment]  # it has what windows use
        wait: bool = True,
    ) -> MainWindow:
        worker = InferenceWorker(loader)
        window = MainWindow(preferences, path=path, sentence=sentence, worker=worker)
        windows.append(window)
        window.resize(1280, 800)
        if not wait:
            window.show()
            return window
        with qtbot.waitSignal(window.translation_shown, timeout=30_000):
            window.show()
        settle_layout()  # the panels find their places
        # and what follows from that, on a machine so busy that 20 ms are over at once
        for _ in range(3):
            QCoreApplication.processEvents()
        return window

    yield make
    for window in windows:
        window.close()
        window.deleteLater()
    # a style sheet visits all that is left
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def full_disk() -> Callable[[int], AbstractContextManager[None]]:
    """Within the block, writing more bytes than that to a file fails with the system's own error:
    `tests.limits`."""
    pytest.importorskip("resource", reason="only POSIX can limit how large files become")
    return files_limited
