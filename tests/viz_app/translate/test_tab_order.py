"""The key Tab reaches every control of the Translate page, in the order in which they are seen."""

from collections.abc import Iterator, Sequence

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QRadioButton, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.viz_app.heatmap.head_grid import HeadGrid
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.state.experiment_editor import toggle
from augenmerk.viz_app.views.large_map_panel import HeadPanel
from tests.conftest import open_once
from tests.viz_app.builders import settle_layout
from tests.viz_app.conftest import MakeWindow

SEEN = (
    "Examples",
    "Analysis",
    "✎ Edit",
    "Copy",
    "↶",
    "Reset",
    "cross 1·1 off",
    "encoder 1·2 off",
    "Open a bigger model…",
    "Original",
    "by layer",
    "scale",
    "weight α",
    "Export",
    "?",
    "Explain this weight",
    "−",
    "Fit",
    "+",
)


def tab_stops(window: MainWindow) -> Iterator[QWidget]:
    """What has the focus after each press of Tab, from the sentence on and back to it."""
    start = window.translate_page.sentence.input
    start.setFocus()
    stop: QWidget | None = start
    for _ in range(200):
        assert stop is not None
        yield stop
        QTest.keyClick(stop, Qt.Key.Key_Tab)
        stop = window.focusWidget()
        if stop is start:
            return
    pytest.fail("Tab never comes back")


@pytest.mark.heavy
@pytest.mark.parametrize("size", [(1100, 700), (1920, 1080)])
def test_tab_reaches_each_control_in_the_order_in_which_they_are_seen(
    make_window: MakeWindow, qtbot: QtBot, size: tuple[int, int]
) -> None:
    window = make_window(None, sentence="Gestern stieg der Umsatz wieder.", loader=open_once)
    window.resize(*size)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    state = window.state
    for head in (Head("cross", 0, 0), Head("encoder", 0, 1)):
        state.submit(toggle(head))
        qtbot.waitUntil(lambda: state.current is not None and not state.request.is_running)
    settle_layout()
    stops = list(tab_stops(window))
    missed = [
        button.text() or button.toolTip()
        for button in window.findChildren(QAbstractButton)
        if button.isVisible()
        and button.isEnabled()
        and button not in stops
        and not _is_reached_by_arrows(button, stops)
    ]
    assert not missed
    texts = [stop.text() for stop in stops if isinstance(stop, QAbstractButton)]
    seen = [name for text in texts for name in SEEN if text.startswith(name)]
    assert seen == list(SEEN)
    original = next(
        stop for stop in stops if isinstance(stop, QAbstractButton) and stop.text() == "Original"
    )
    original.setFocus()
    QTest.keyClick(original, Qt.Key.Key_Right)
    reached = window.focusWidget()
    assert isinstance(reached, QAbstractButton)
    assert reached.text() == "Changed"


@pytest.mark.heavy
def test_tab_follows_the_tools_of_the_map_into_a_line_of_their_own(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    window.resize(1280, 800)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    settle_layout()
    panel = window.translate_page.findChild(HeadPanel)
    assert panel is not None
    assert panel.measure_menu.mapTo(panel, QPoint()).y() > panel.export_button.y()
    stops = [stop for stop in tab_stops(window) if panel.isAncestorOf(stop)]
    assert stops[:3] == [panel.export_button, panel.explain_button, panel.measure_menu]


def _is_reached_by_arrows(button: QAbstractButton, stops: Sequence[QWidget]) -> bool:
    """Whether it is one of several of which one is chosen, and arrows lead to it from another."""
    group = button.group()
    if group is not None and group.exclusive():
        return any(other in stops for other in group.buttons())
    return isinstance(button, QRadioButton) and not button.isChecked()


@pytest.mark.heavy
def test_the_grid_of_heads_shows_that_tab_brought_the_keys_to_it(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    grid = window.translate_page.findChild(HeadGrid)
    assert grid is not None
    plain = grid.grab().toImage()
    for reason, is_shown in (
        (Qt.FocusReason.MouseFocusReason, False),
        (Qt.FocusReason.TabFocusReason, True),
        (Qt.FocusReason.BacktabFocusReason, True),
    ):
        window.translate_page.sentence.input.setFocus()
        grid.setFocus(reason)
        assert (grid.grab().toImage() != plain) == is_shown
