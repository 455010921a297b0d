import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.widgets.layouts import ContentHeightScrollArea, VerticalScrollArea
from tests.viz_app.builders import shown, turn_wheel


def test_area_is_as_high_as_its_content_up_to_the_greatest_height(
    qtbot: QtBot, theme: Theme
) -> None:
    label = QLabel("word " * 40)
    label.setWordWrap(True)
    area = shown(qtbot, ContentHeightScrollArea(label, lambda: 120), (900, 10))
    low = area.height()
    assert low == label.heightForWidth(900) < 120
    area.resize(300, low)
    assert low < area.height() == label.heightForWidth(300) < 120
    area.resize(60, low)
    assert area.height() == 120
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0)
    label.setText("few words")
    qtbot.waitUntil(lambda: area.height() == label.heightForWidth(60) < 120)


@pytest.mark.parametrize("takes_keys", [True, False])
def test_keys_scroll_or_are_left_to_the_page(qtbot: QtBot, theme: Theme, takes_keys: bool) -> None:
    content = QWidget()
    field = QLineEdit()
    column = QVBoxLayout(content)
    column.addWidget(field)
    column.addSpacing(1000)
    area = shown(qtbot, VerticalScrollArea(content, takes_keys=takes_keys), (200, 100))
    qtbot.keyClick(area, Qt.Key.Key_PageDown)
    assert (area.verticalScrollBar().value() > 0) is takes_keys
    assert area.focusPolicy() == (
        Qt.FocusPolicy.StrongFocus if takes_keys else Qt.FocusPolicy.NoFocus
    )


def test_a_widget_is_kept_in_sight_until_its_geometry_is_final_or_the_user_scrolls(
    qtbot: QtBot, theme: Theme
) -> None:
    content = QWidget()
    column = QVBoxLayout(content)
    above, kept = QLabel("above"), QLabel("kept")
    above.setFixedHeight(300)
    kept.setFixedHeight(20)
    for widget in (above, kept):
        column.addWidget(widget)
    column.addSpacing(500)
    area = shown(qtbot, VerticalScrollArea(content), (200, 200))
    bar = area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 500)

    def is_in_sight() -> bool:
        top = kept.mapTo(area.viewport(), kept.rect().topLeft()).y()
        return top >= 0 and top + kept.height() <= area.viewport().height()

    area.keep_in_sight(kept)
    assert is_in_sight()
    # as figures do that lay themselves out in steps
    for height, height_above in ((120, 300), (150, 300), (150, 700)):
        kept.setFixedHeight(height)
        above.setFixedHeight(height_above)
        qtbot.waitUntil(
            lambda height=height, top=height_above: kept.height() == height and kept.y() > top
        )
        assert is_in_sight()
    area.resize(200, 160)
    assert is_in_sight()
    turn_wheel(area.viewport(), 120 * 30)  # by a page, which is the most
    scrolled_to = bar.value()
    assert not is_in_sight()
    kept.setFixedHeight(100)
    qtbot.waitUntil(lambda: kept.height() == 100)
    assert bar.value() == scrolled_to, "the user looks at something else now"


def test_a_wider_area_needs_no_scroll_bar_for_the_width_of_its_scroll_bar(
    qtbot: QtBot, theme: Theme
) -> None:
    label = QLabel("word " * 30)
    label.setWordWrap(True)
    area = ContentHeightScrollArea(label, lambda: 40)
    qtbot.addWidget(area)
    width = next(width for width in range(200, 900) if label.heightForWidth(width) <= 40)
    assert label.heightForWidth(width - 8) > 40
    area.resize(100, 40)
    with qtbot.waitExposed(area):
        area.show()
    qtbot.waitUntil(lambda: area.verticalScrollBar().isVisible())
    area.resize(width, 40)
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0, timeout=3000)
    assert label.width() == width
