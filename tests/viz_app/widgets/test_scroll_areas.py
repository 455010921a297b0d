import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from viz_app.theme import Theme
from viz_app.widgets.scroll_areas import ContentHeightScrollArea, VerticalScrollArea


def test_area_is_as_high_as_its_content_up_to_the_greatest_height(qtbot: QtBot, theme: Theme) -> None:
    label = QLabel("word " * 40)
    label.setWordWrap(True)
    area = ContentHeightScrollArea(label, lambda: 120)
    qtbot.addWidget(area)
    area.resize(900, 10)
    with qtbot.waitExposed(area):
        area.show()
    low = area.height()
    assert low == label.heightForWidth(900) < 120
    area.resize(300, low)
    assert low < area.height() == label.heightForWidth(300) < 120
    area.resize(60, low)
    assert area.height() == 120
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0)


@pytest.mark.parametrize("takes_keys", [True, False])
def test_keys_scroll_or_are_left_to_the_page(qtbot: QtBot, theme: Theme, takes_keys: bool) -> None:
    content = QWidget()
    field = QLineEdit()
    column = QVBoxLayout(content)
    column.addWidget(field)
    column.addSpacing(1000)
    area = VerticalScrollArea(content, takes_keys=takes_keys)
    qtbot.addWidget(area)
    area.resize(200, 100)
    with qtbot.waitExposed(area):
        area.show()
    qtbot.keyClick(area, Qt.Key.Key_PageDown)
    assert (area.verticalScrollBar().value() > 0) is takes_keys
    assert area.focusPolicy() == (Qt.FocusPolicy.StrongFocus if takes_keys else Qt.FocusPolicy.NoFocus)
