"""A label shows whole lines, and scrolls the others."""

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.extensions.train.film import FilmPanel
from augenmerk.viz_app.extensions.train.state import TrainState
from augenmerk.viz_app.extensions.widgets.max_lines_label import MaxLinesLabel
from augenmerk.viz_app.theme import Theme
from tests.viz_app.builders import shown
from tests.viz_app.extensions.train.scripted import probe

LONG = "dah " * 99
LARGE = 'QLabel[role="sentence"] { font-size: 20px; }'


@pytest.mark.parametrize("width", [180, 300, 620])
def test_long_text_is_cut_between_lines_and_scrolls_by_lines(
    qtbot: QtBot, theme: Theme, width: int
) -> None:
    text = MaxLinesLabel("sentence", 3)
    text.setStyleSheet(LARGE)
    qtbot.addWidget(text)
    text.set_text("a man .")
    text.resize(width, 30)
    with qtbot.waitExposed(text):
        text.show()
    line = text.line_height()
    assert text.height() == line
    text.set_text(LONG)
    assert text.height() == 3 * line
    qtbot.waitUntil(lambda: text.verticalScrollBar().maximum() > 0)
    assert text.verticalScrollBar().maximum() % line == 0
    assert text.verticalScrollBar().singleStep() == line
    assert text.text() == LONG
    text.verticalScrollBar().setValue(2 * line)
    text.set_text(LONG + "dah")
    assert text.verticalScrollBar().value() == 0


@pytest.mark.parametrize("scale", [1.0, 1.25, 1.5, 2.0])
@pytest.mark.parametrize("role", ["", "heading", "sentence"])
def test_as_many_lines_as_allowed_do_not_scroll(
    qapp: QApplication, qtbot: QtBot, role: str, scale: float
) -> None:
    Theme.light(scale).apply(qapp)
    text = shown(qtbot, MaxLinesLabel(role, 3), (300, 10))
    text.set_text("one\ntwo\nthree")
    qtbot.waitUntil(lambda: text.verticalScrollBar().maximum() == 0)
    text.set_text("one\ntwo\nthree\nfour")
    qtbot.waitUntil(lambda: text.verticalScrollBar().maximum() > 0)
    Theme.light().apply(qapp)


@pytest.mark.parametrize(("width", "height"), [(560, 320), (640, 340), (900, 420)])
@pytest.mark.heavy
def test_heads_keep_their_room_beside_a_long_translation(
    qtbot: QtBot, theme: Theme, width: int, height: int
) -> None:
    state = TrainState()
    for epoch, said in enumerate((". .", LONG)):
        state.apply(probe(epoch, said))
    panel = FilmPanel(state)
    panel.setStyleSheet(LARGE)
    qtbot.addWidget(panel)
    panel.setFixedSize(width, height)
    with qtbot.waitExposed(panel):
        panel.show()
    line = panel.text.label.fontMetrics().lineSpacing()
    qtbot.waitUntil(lambda: panel.text.height() % line == 0)
    assert panel.area.height() >= 50
    assert not panel.text.geometry().intersects(panel.area.geometry())
    assert panel.text.height() >= line
    assert panel.area.mapTo(panel, panel.area.rect().bottomLeft()).y() < panel.height()
