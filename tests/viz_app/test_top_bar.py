"""The bar at the top: what is left out of a narrow one is left out as a whole."""

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.models.loader import ModelLoader
from augenmerk.viz_app.pages import page_command
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.top_bar import TopBar
from augenmerk.viz_app.worker.inference import InferenceWorker
from tests.viz_app.synthetic import FakeTranslator

MODEL, DEVICE, NOTICE = (
    "multi30k-de-en · 3 + 3 layers · 8 heads",
    "cuda:0: NVIDIA H200 NVL",
    "saved attention-map.csv",
)


def shown_whole(bar: TopBar) -> bool:
    """Whether no label has an ellipsis, and no button less than its text needs."""
    labels = [label for label in (bar.status, bar.device) if label.isVisible()]
    buttons = [*bar.tabs.values(), bar.model_button, bar.menu_button]
    return all(label.shown_text() == label.text() for label in labels) and all(
        button.width() >= button.sizeHint().width() for button in buttons
    )


@pytest.fixture
def host(qtbot: QtBot, theme: Theme) -> QWidget:
    """What the bar stands in: in a window of its own, its layout keeps it wider than in the main
    window."""
    made = QWidget()
    qtbot.addWidget(made)
    made.resize(1920, 100)
    return made


@pytest.fixture
def bar(host: QWidget, preferences: Preferences) -> TopBar:
    loader = ModelLoader(InferenceWorker(FakeTranslator), preferences, host)
    made = TopBar(
        loader,
        {
            name: page_command(name, name.title(), "").on(None)
            for name in ("translate", "learn", "train")
        },
    )
    made.setParent(host)
    made.show_model(MODEL, DEVICE)
    host.show()
    return made


@pytest.mark.parametrize(
    ("width", "scale"), [(1100, 1.0), (1100, 1.25), (1100, 1.5), (1440, 1.25), (1440, 2.0)]
)
def test_a_narrow_bar_shows_the_notice_whole_and_never_a_letter_of_the_device(
    bar: TopBar, qapp: QApplication, width: int, scale: float
) -> None:
    bar.resize(width, bar.height())
    Theme.light(scale).apply(qapp)
    for notice in ("", NOTICE, ""):
        bar.show_notice(notice)
        for _ in range(3):
            QCoreApplication.processEvents()
        assert bar.width() == width
        assert shown_whole(bar), (notice, bar.status.shown_text(), bar.device.shown_text())
        assert DEVICE in bar.model_button.toolTip()
        assert MODEL in bar.model_button.toolTip() or MODEL in bar.model_button.text()
    bar.resize(1920, bar.height())
    Theme.light().apply(qapp)
    for _ in range(3):
        QCoreApplication.processEvents()
    assert bar.device.isVisible()
    assert bar.device.shown_text() == DEVICE
    assert MODEL in bar.model_button.text()


def test_a_long_notice_is_elided_and_moves_nothing(bar: TopBar, qtbot: QtBot) -> None:
    bar.resize(1100, bar.height())
    parts = bar.model_button, bar.device, bar.menu_button
    qtbot.waitUntil(lambda: bar.model_button.width() >= bar.model_button.sizeHint().width())
    before = [(part.isVisible(), part.geometry()) for part in parts]
    notice = "a notice that is so long that the device and the model would not fit beside it"
    bar.show_notice(notice)
    for _ in range(3):
        QCoreApplication.processEvents()
    assert [(part.isVisible(), part.geometry()) for part in parts] == before
    bar.status.grab()
    assert bar.status.shown_text().endswith("…")
    assert bar.status.toolTip() == notice


@pytest.mark.parametrize("width", [880, 1100, 1280, 1440, 1920])
def test_the_button_of_the_model_keeps_its_place_whatever_the_model(
    bar: TopBar, width: int
) -> None:
    bar.resize(width, bar.height())
    ends, are_devices_visible = set(), set()
    for model, device in (
        (MODEL, "CPU"),
        ("copy-task-small-2026-11-29-1432/best · 2 + 2 layers · 4 heads", "CPU"),
        ("opening best…", ""),
        ("small · 2 + 2 layers · 4 heads", "CPU"),
    ):
        bar.show_model(model, device)
        for _ in range(3):
            QCoreApplication.processEvents()
        ends.add(bar.model_button.geometry().right())
        if device and width >= 1100:
            are_devices_visible.add(bar.device.isVisible())
    assert len(ends) == 1
    assert are_devices_visible <= {True}
