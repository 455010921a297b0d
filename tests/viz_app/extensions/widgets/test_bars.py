"""Bars around a common zero line, with notes and a menu."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.extensions.widgets.bars import Bar, BarList
from augenmerk.viz_app.theme import Theme

BARS = (
    Bar("more", 3.0, "+3.00"),
    Bar("less", -1.0, "−1.00", "off +0.90", before=-2.0),
    Bar("nothing", 0.0, "+0.00"),
)


def _shown(qtbot: QtBot, *, is_signed: bool) -> BarList:
    bars = BarList("Parts", "a tip", is_signed=is_signed)
    qtbot.addWidget(bars)
    bars.show_bars(BARS)
    bars.resize(400, bars.sizeHint().height())
    bars.show()
    return bars


def test_signed_bars_share_one_scale_around_one_zero_line(qtbot: QtBot, theme: Theme) -> None:
    bars = _shown(qtbot, is_signed=True)
    room = bars.bar_place(0)
    zero, most, least = (bars.x_of(0, value) for value in (0.0, 3.0, -2.0))
    assert (most, least) == pytest.approx((room.right(), room.left())), (
        "the original's value counts too"
    )
    assert zero - least == pytest.approx((most - least) * 2 / 5)
    assert [bars.x_of(index, 0.0) for index in range(3)] == [zero] * 3
    assert bars.tick_place(1).left() == pytest.approx(least)
    image = bars.grab().toImage()
    colors = [
        {
            image.pixelColor(round(x), round(bars.bar_place(index).center().y())).name()
            for x in places
        }
        for index, places in enumerate(
            [(zero + 4, most - 4), (zero - 4, bars.x_of(1, -1.0) + 4), (zero - 4, zero + 4)]
        )
    ]
    assert all(len(color) == 1 for color in colors), "each bar is filled from zero to its value"
    assert colors[:2] == [{theme.palette.warm}, {theme.palette.accent}], (
        "orange above 0, blue below"
    )
    assert colors[2].isdisjoint(colors[0] | colors[1])


def test_presented_bars_move_together_where_there_is_little_room(
    qtbot: QtBot, qapp: QApplication, theme: Theme
) -> None:
    bars = _shown(qtbot, is_signed=False)
    assert bars.minimumSizeHint().height() == bars.sizeHint().height()
    replace(theme, is_presented=True).apply(qapp)
    letters = QFontMetrics(theme.font("body")).height()
    assert bars.minimumSizeHint().height() == 3 * letters
    for height, expected in (
        (1000, bars.sizeHint().height() / 3),
        (3 * letters + 5, letters + 1),
        (10, letters),
    ):
        bars.resize(400, height)
        assert bars.label_place(1).top() == expected
    theme.apply(qapp)


def test_unsigned_bars_reach_from_nothing_to_the_whole(qtbot: QtBot, theme: Theme) -> None:
    bars = _shown(qtbot, is_signed=False)
    room = bars.bar_place(0)
    assert [bars.x_of(0, value) for value in (0.0, 1.0, 7.0)] == pytest.approx(
        [room.left(), room.right(), room.right()]
    )


def test_bars_grow_with_the_letters(qtbot: QtBot, qapp: QApplication, theme: Theme) -> None:
    heights = []
    for scale in (1.0, 2.0):
        Theme.of_choice("light", scale).apply(qapp)
        bars = _shown(qtbot, is_signed=True)
        room, x = bars.bar_place(0), round(bars.x_of(0, 1.5))
        column = bars.grab(bars.rect()).toImage()
        is_warm = [
            column.pixelColor(x, y).name() == theme.palette.warm
            for y in range(round(room.height()))
        ]
        heights.append(sum(is_warm))
    theme.apply(qapp)
    assert heights[1] >= 2 * heights[0] > 8, "edges between pixels are blended"


def test_notes_have_a_column_and_are_read_aloud(qtbot: QtBot, theme: Theme) -> None:
    bars = _shown(qtbot, is_signed=True)
    assert "less −1.00 off +0.90" in bars.accessibleDescription()
    with_notes = bars.bar_place(0).right()
    bars.show_bars([Bar("more", 3.0, "+3.00")])
    assert bars.bar_place(0).right() > with_notes + 30


def test_a_right_click_asks_for_the_menu_of_its_line(qtbot: QtBot, theme: Theme) -> None:
    bars = _shown(qtbot, is_signed=True)
    clicked: list[int] = []
    bars.label_clicked.connect(clicked.append)
    center = bars.label_place(1).center().toPoint()
    with qtbot.waitSignal(bars.menu_requested) as asked:
        qtbot.mouseClick(bars, Qt.MouseButton.RightButton, pos=center)
    assert asked.args == [1, bars.mapToGlobal(center)]
    assert clicked == []
    qtbot.mouseClick(bars, Qt.MouseButton.RightButton, pos=QPoint(5, bars.height() + 50))


def test_numbers_are_as_large_as_the_labels(qtbot: QtBot, theme: Theme) -> None:
    bars = BarList("Bars", "a tip")
    qtbot.addWidget(bars)
    bars.resize(800, 10)
    text = "2,048,000 of 7,578,624 parameters of the model"
    bars.show_bars((Bar("a", 0.5, text),))
    width = QFontMetrics(theme.font("body")).horizontalAdvance(text)
    assert bars.width() - bars.bar_place(0).right() >= width


@pytest.mark.parametrize("is_clickable", [False, True])
def test_only_lines_that_a_click_changes_look_like_buttons(
    qtbot: QtBot, theme: Theme, is_clickable: bool
) -> None:
    bars = BarList("Parts", "a tip", is_clickable=is_clickable)
    qtbot.addWidget(bars)
    bars.show_bars([Bar("more", 0.5, "+3.00", tip="tip of the line")])
    bars.resize(400, bars.sizeHint().height())
    bars.show()
    before = bars.grab().toImage()
    QTest.mouseMove(bars, QPoint(0, bars.height() - 1))  # a move to the same place is no move
    QTest.mouseMove(bars, bars.label_place(0).center().toPoint())
    qtbot.waitUntil(lambda: bars.toolTip() == "tip of the line")
    assert (bars.cursor().shape() == Qt.CursorShape.PointingHandCursor) == is_clickable
    assert (bars.grab().toImage() != before) == is_clickable
