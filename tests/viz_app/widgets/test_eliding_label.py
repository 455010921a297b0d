from pytestqt.qtbot import QtBot

from viz_app.theme import Theme
from viz_app.widgets.eliding_label import ElidingLabel


def test_a_long_text_ends_in_an_ellipsis_and_a_tool_tip(qtbot: QtBot, theme: Theme) -> None:
    label = ElidingLabel("muted", "training copy-task-small · epoch 3 of 500")
    qtbot.addWidget(label)
    label.resize(label.sizeHint())
    label.grab()
    assert label.shown_text() == label.text()
    assert label.toolTip() == ""
    label.resize(100, 20)
    label.grab()
    assert label.shown_text().endswith("…")
    assert label.toolTip() == label.text()
