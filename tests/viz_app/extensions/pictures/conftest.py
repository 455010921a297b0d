"""A page with maps that can be exported."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.extensions.pictures.menu import ExportMenu
from augenmerk.viz_app.extensions.pictures.saving import Saving
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.views.all_heads_panel import AllHeadsPanel
from augenmerk.viz_app.views.export_source import ExportSource
from augenmerk.viz_app.views.large_map_panel import HeadPanel
from augenmerk.viz_app.worker.inference import ExperimentController, InferenceWorker
from tests.viz_app.builders import shown
from tests.viz_app.extensions.pictures.browser import SENTENCE as SENTENCE_OF_PAGE
from tests.viz_app.extensions.pictures.browser import Browser, chromium
from tests.viz_app.synthetic import FakeTranslator, make_translation

SENTENCE = "Der schöne große Bär überquert die Straße ."


class MapsPage(QWidget):
    """All heads, and one of them large: what the pages with maps are made of.

    Attributes:
        state: whose maps.
        heads, head: the panels.
        in_sight: the page that the user looks at: this one, until a test puts another one there.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.state = ExperimentState()
        self.worker = InferenceWorker(FakeTranslator)
        self.controller = ExperimentController(self.state, self.worker, self)
        self.heads, self.head = AllHeadsPanel(self.state), HeadPanel(self.state)
        row = QHBoxLayout(self)
        row.addWidget(self.heads, 4)
        row.addWidget(self.head, 5)
        self.in_sight: MapsPage | EmptyPage = self

    def export_source(self) -> ExportSource:
        """All of it."""
        return ExportSource(self, self.state, self.head.map, "model")


class EmptyPage(QWidget):
    """A page without maps."""

    def export_source(self) -> ExportSource:
        """All of it."""
        return ExportSource(self, caption="nothing but charts")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser for all tests of a module."""
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def translation() -> Translation:
    """Words are copied."""
    words = " ".join(SENTENCE.lower().split())
    return make_translation(words, words, text=SENTENCE)


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, translation: Translation) -> Iterator[MapsPage]:
    """A page that shows a translation, and one of its heads large."""
    page = shown(qtbot, MapsPage(theme), (1280, 760))
    page.state.show_translation(translation)
    page.state.selection.choose(Head("cross", 1, 4))
    yield page
    page.worker.close()


@pytest.fixture
def menu(page: MapsPage, preferences: Preferences) -> ExportMenu:
    """The menu of the page in sight."""
    menu = ExportMenu(lambda: page.in_sight, preferences, page)
    page.addActions(menu.actions())
    return menu


@pytest.fixture
def saving(page: MapsPage) -> Saving:
    """Writes what the page shows."""
    return Saving(page.export_source())


@pytest.fixture(scope="session")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page that runs the bundled model."""
    target = tmp_path_factory.mktemp("page") / "laboratory.html"
    command = [sys.executable, "-m", "augenmerk", "page", "--out", str(target)]
    subprocess.run([*command, "--text", SENTENCE_OF_PAGE], check=True, capture_output=True)
    return target
