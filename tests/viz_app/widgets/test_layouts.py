import ctypes
import gc

import pytest
from PySide6.QtCore import QEvent, QRect, QSize
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from augenmerk.viz_app.widgets.layouts import FlowLayout, flow

NUM_WIDGETS = 20


def sizes(*widths: int, height: int = 20) -> list[QSize]:
    return [QSize(width, height) for width in widths]


def add_widgets(layout: FlowLayout, number: int) -> list[QWidget]:
    children = [QWidget() for _ in range(number)]
    for child in children:
        child.setFixedSize(40, 20)
        layout.addWidget(child)
    return children


def test_places_wrap_where_the_line_is_full() -> None:
    places = flow(sizes(40, 40, 40), 100, spacing=4, line_spacing=6, inset=3)
    assert places == [QRect(3, 0, 40, 20), QRect(47, 0, 40, 20), QRect(3, 26, 40, 20)]


def test_what_is_wider_than_a_line_has_one_of_its_own() -> None:
    places = flow(sizes(30, 500, 30), 100, spacing=4, line_spacing=6)
    assert [(box.x(), box.y()) for box in places] == [(0, 0), (0, 26), (0, 52)]


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
    children = add_widgets(layout, 4)
    parent.resize(90, 100)
    with qtbot.waitExposed(parent):
        parent.show()
    children[1].hide()
    qtbot.waitUntil(lambda: children[2].pos().toTuple() == (45, 0))
    assert [children[index].pos().toTuple() for index in (0, 2, 3)] == [(0, 0), (45, 0), (0, 25)]
    assert layout.heightForWidth(90) == 45
    assert layout.heightForWidth(40) == layout.minimumHeightForWidth(40) == 70
    assert layout.minimumSize() == QSize(40, 20)


def test_a_layout_that_was_never_placed_knows_its_least_height(qtbot: QtBot) -> None:
    """Within a column whose height is asked for first: the text above the map was cut for lack of
    16 million pixels."""
    column, row = QWidget(), QWidget()
    qtbot.addWidget(column)
    add_widgets(FlowLayout(5, row), 4)
    box = QVBoxLayout(column)
    box.setContentsMargins(0, 0, 0, 0)
    box.addWidget(row)
    assert box.minimumHeightForWidth(90) == box.totalMinimumHeightForWidth(90) == 45


def test_a_deleted_widget_leaves_its_place(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    layout = FlowLayout(5, parent)
    children = add_widgets(layout, 3)
    children[0].deleteLater()
    layout.removeWidget(children[1])
    children[1].setParent(None)
    qtbot.waitUntil(lambda: not isValid(children[0]))
    assert layout.sizeHint() == QSize(40, 20)
    assert layout.count() == 1


class _Heap(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks")
    ] + [(name, ctypes.c_size_t) for name in ("fsmblks", "uordblks", "fordblks", "keepcost")]


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.skipif(
    not hasattr(ctypes.pythonapi, "mallinfo2"), reason="needs glibc, to count bytes in use"
)
def test_layouts_that_are_gone_keep_no_memory(qapp: QApplication) -> None:
    mallinfo = ctypes.pythonapi.mallinfo2
    mallinfo.restype = _Heap

    def make_and_delete(times: int) -> None:
        for _ in range(times):
            parent = QWidget()
            layout = FlowLayout(5, parent)
            for _ in range(NUM_WIDGETS):
                layout.addWidget(QWidget())
            layout.heightForWidth(100)
            parent.deleteLater()
            del layout, parent
            qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()

    make_and_delete(20)
    before = mallinfo().uordblks
    make_and_delete(100)
    assert (mallinfo().uordblks - before) / (100 * NUM_WIDGETS) < 40  # an item of Qt's has 96 bytes
