from PySide6.QtCore import QRect, QSize
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from viz_app.widgets.flow_layout import FlowLayout, flow


def sizes(*widths: int, height: int = 20) -> list[QSize]:
    return [QSize(width, height) for width in widths]


def test_places_wrap_where_the_line_is_full() -> None:
    places = flow(sizes(40, 40, 40), 100, spacing=4, line_spacing=6, inset=3)
    assert places == [QRect(3, 0, 40, 20), QRect(47, 0, 40, 20), QRect(3, 26, 40, 20)]


def test_what_is_wider_than_a_line_has_one_of_its_own() -> None:
    places = flow(sizes(30, 500, 30), 100, spacing=4, line_spacing=6)
    assert [(place.x(), place.y()) for place in places] == [(0, 0), (0, 26), (0, 52)]


def test_what_just_fits_stays_in_its_line() -> None:
    assert flow(sizes(48, 48), 100, spacing=4, line_spacing=6)[1].topLeft().toTuple() == (52, 0)
    assert flow(sizes(48, 48), 99, spacing=4, line_spacing=6)[1].topLeft().toTuple() == (0, 26)


def test_a_line_is_as_high_as_its_highest_place() -> None:
    places = flow([QSize(40, 20), QSize(40, 30), QSize(40, 20)], 100, spacing=4, line_spacing=6)
    assert places[2].top() == 36


def test_the_layout_wraps_its_visible_widgets_and_knows_its_height(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    layout = FlowLayout(5, parent)
    children = [QWidget() for _ in range(4)]
    for child in children:
        child.setFixedSize(40, 20)
        layout.addWidget(child)
    parent.resize(90, 100)
    with qtbot.waitExposed(parent):
        parent.show()
    children[1].hide()
    qtbot.waitUntil(lambda: children[2].pos().toTuple() == (45, 0))
    assert [children[index].pos().toTuple() for index in (0, 2, 3)] == [(0, 0), (45, 0), (0, 25)]
    assert layout.heightForWidth(90) == 45
    assert layout.heightForWidth(40) == 70
    assert layout.minimumSize() == QSize(40, 20)
