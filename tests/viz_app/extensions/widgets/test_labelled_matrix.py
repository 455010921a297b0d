"""Labelled matrices: where cells stand, what colours they have, what the mouse tells."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QImage
from PySide6.QtWidgets import QApplication, QFrame, QToolTip
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.extensions.widgets.labelled_matrix import (
    LabelledMatrix,
    Matrix,
    MatrixCell,
    MatrixLayout,
    MatrixStyle,
)
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.widgets.layouts import ScrollArea, column_of
from tests.viz_app.builders import shown

SIGNED = MatrixStyle(
    "signed", (24, 24), 0, has_slanted_columns=False, cell_text=lambda value: f"{value:+.1f}"
)
WEIGHTS = MatrixStyle("sequential", (6, 16), 150)
VALUES = np.array([[0.0, 1.0, -1.0], [0.5, -0.5, np.nan]], dtype=np.float32)


def _shown(qtbot: QtBot, style: MatrixStyle, *matrices: Matrix, top: float = 1.0) -> LabelledMatrix:
    widget = LabelledMatrix("A matrix", style)
    qtbot.addWidget(widget)
    widget.resize(300, 100)
    widget.show_matrices(matrices, top)
    widget.show()
    return widget


def _matrix(num_rows: int, num_columns: int, value: float = 0.5, title: str = "") -> Matrix:
    values = np.full((num_rows, num_columns), value, dtype=np.float32)
    return Matrix(
        values,
        tuple(f"r{n}" for n in range(num_rows)),
        tuple(f"c{n}" for n in range(num_columns)),
        title,
    )


def _color(image: QImage, widget: LabelledMatrix, cell: MatrixCell) -> tuple[int, int, int]:
    rect = widget.cell_rect(cell)
    color = image.pixelColor(rect.topLeft().toPoint() + QPoint(4, 4))
    return color.red(), color.green(), color.blue()


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("colors", ["signed", "sequential"])
@pytest.mark.parametrize("theme_of", [Theme.light, Theme.dark])
def test_numbers_can_be_read_in_cells_of_every_colour(
    qtbot: QtBot,
    qapp: QApplication,
    theme_of: Callable[[], Theme],
    colors: Literal["signed", "sequential"],
) -> None:
    """Their contrast is at least 4.5:1 (WCAG 2)."""
    theme_of().apply(qapp)
    try:
        style = replace(SIGNED, colors=colors, cell_text=lambda _value: "888")
        values = np.linspace(-1.0 if colors == "signed" else 0.0, 1.0, 24, dtype=np.float32)
        rows = tuple(f"r{n}" for n in range(24))
        widget = _shown(qtbot, style, Matrix(values[:, None], rows, ("c",)))
        widget.resize(300, widget.heightForWidth(300))
        image = widget.grab().toImage()
        for row in range(24):
            cell = widget.cell_rect(MatrixCell(0, row, 0)).toRect().adjusted(2, 2, -2, -2)
            ground = _luminance(image.pixelColor(cell.topLeft()))
            letters = [
                _luminance(image.pixelColor(x, y))
                for x in range(cell.left(), cell.right())
                for y in range(cell.top(), cell.bottom())
            ]
            farthest = max(letters, key=lambda luminance: abs(luminance - ground))
            ink = float(farthest > ground)  # the edges of letters are blurred
            lighter, darker = max(ink, ground), min(ink, ground)
            assert farthest != ground
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, row
    finally:
        Theme.light().apply(qapp)


def _luminance(color: QColor) -> float:
    shares = np.array(color.getRgbF()[:3])
    linear = np.where(shares < 0.04, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


@pytest.mark.parametrize("style", [SIGNED, WEIGHTS])
def test_each_point_of_a_cell_finds_it(qtbot: QtBot, theme: Theme, style: MatrixStyle) -> None:
    widget = _shown(qtbot, style, _matrix(2, 3), _matrix(4, 3, title="Second"))
    cells = [MatrixCell(0, row, column) for row in range(2) for column in range(3)]
    cells += [MatrixCell(1, row, column) for row in range(4) for column in range(3)]
    for cell in cells:
        rect = widget.cell_rect(cell)
        assert widget.has_cell(cell)
        assert 0 <= rect.left() < rect.right() <= widget.width()
        assert 0 <= rect.top() < rect.bottom() <= widget.height()
        for point in (
            rect.center(),
            rect.topLeft() + QPointF(0.5, 0.5),
            rect.bottomRight() - QPointF(0.5, 0.5),
        ):
            assert widget.cell_at(point) == cell
    assert (
        widget.cell_rect(MatrixCell(0, 0, 2)).right()
        == widget.cell_rect(MatrixCell(1, 0, 2)).right()
    )
    assert (
        widget.cell_rect(MatrixCell(0, 1, 0)).bottom() < widget.cell_rect(MatrixCell(1, 0, 0)).top()
    )
    assert widget.cell_at(QPointF(1, 1)) is None
    assert not widget.has_cell(MatrixCell(0, 2, 0))
    assert not widget.has_cell(MatrixCell(2, 0, 0))


def test_more_is_warm_less_is_blue_and_what_is_no_number_is_no_cell(
    qtbot: QtBot, theme: Theme
) -> None:
    widget = _shown(qtbot, SIGNED, Matrix(VALUES, ("a", "b"), ("x", "y", "z")))
    image = widget.grab().toImage()
    zero, more, less = (_color(image, widget, MatrixCell(0, 0, column)) for column in range(3))
    assert more[0] > more[2]
    assert less[2] > less[0]
    assert max(zero) - min(zero) < 12, "nothing has no colour"
    lonely = widget.cell_rect(MatrixCell(0, 1, 2)).center()
    assert widget.cell_at(lonely) is None


def test_rows_are_as_high_as_there_is_room_within_limits(qtbot: QtBot, theme: Theme) -> None:
    heights = {
        rows: _shown(qtbot, WEIGHTS, _matrix(rows, 2)).cell_rect(MatrixCell(0, 0, 0)).height()
        for rows in (2, 15, 90)
    }
    assert heights == {2: 16, 15: 10, 90: 6}


def test_marks_and_numbers_are_drawn_and_go(qtbot: QtBot, theme: Theme) -> None:
    widget = _shown(qtbot, SIGNED, _matrix(2, 3))
    plain = widget.grab().toImage()
    widget.mark(framed=[MatrixCell(0, 0, 1)])
    framed = widget.grab().toImage()
    widget.mark(struck=[MatrixCell(0, 0, 1)])
    struck = widget.grab().toImage()
    assert plain != framed != struck != plain
    widget.mark()
    assert widget.grab().toImage() == plain
    without_text = _shown(
        qtbot, MatrixStyle("signed", (24, 24), 0, has_slanted_columns=False), _matrix(2, 3)
    )
    assert without_text.grab().toImage() != plain


def test_the_mouse_tells_cells_clicks_and_tips(qtbot: QtBot, theme: Theme) -> None:
    widget = _shown(qtbot, SIGNED, _matrix(2, 3))
    widget.tip_of = lambda cell: f"row {cell.row} column {cell.column}"
    hovered: list[object] = []
    widget.hovered.connect(hovered.append)
    point = widget.cell_rect(MatrixCell(0, 1, 2)).center().toPoint()
    qtbot.mouseMove(widget, point)
    with qtbot.waitSignal(widget.clicked) as clicked:
        qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=point)
    assert clicked.args == [MatrixCell(0, 1, 2)]
    QApplication.sendEvent(
        widget, QHelpEvent(QEvent.Type.ToolTip, point, widget.mapToGlobal(point))
    )
    assert QToolTip.text() == "row 1 column 2"
    QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))
    assert hovered == [MatrixCell(0, 1, 2), None]
    QToolTip.hideText()


def test_another_theme_has_other_colours(qtbot: QtBot, qapp: QApplication, theme: Theme) -> None:
    widget = _shown(qtbot, WEIGHTS, _matrix(2, 3))
    before = widget.grab().toImage()
    Theme.dark().apply(qapp)
    after = widget.grab().toImage()
    theme.apply(qapp)
    assert after != before
    assert widget.grab().toImage() == before


def test_nothing_is_drawn_before_there_is_something(qtbot: QtBot, theme: Theme) -> None:
    widget = shown(qtbot, LabelledMatrix("A matrix", WEIGHTS))
    assert widget.sizeHint().height() == 1
    assert widget.cell_at(QPointF(1, 1)) is None
    widget.grab()


def test_numbers_stand_in_no_cell_where_most_do_not_fit(qtbot: QtBot, theme: Theme) -> None:
    def has_ink(values: list[list[float]], cell: MatrixCell) -> bool:
        """Whether anything but its colour is in the middle of a cell."""
        widget = _shown(qtbot, style, _with(values))
        rect = widget.cell_rect(cell)
        part = widget.grab(rect.toRect().adjusted(2, 2, -2, -2)).toImage()
        return (
            len(
                {
                    part.pixelColor(x, y).rgb()
                    for x in range(part.width())
                    for y in range(part.height())
                }
            )
            > 1
        )

    def _with(values: list[list[float]]) -> Matrix:
        array = np.array(values, dtype=np.float32)
        return Matrix(array, ("a",), tuple(map(str, range(array.shape[1]))))

    style = MatrixStyle(
        "signed",
        (24, 24),
        0,
        has_slanted_columns=False,
        cell_text=lambda value: "0" if value == 0 else "+1234567",
    )
    zero = MatrixCell(0, 0, 0)
    assert has_ink([[0.0, 1.0]], MatrixCell(0, 0, 1)), "there is room for both"
    assert has_ink([[0.0] * 9 + [1.0]], zero)
    assert not has_ink([[0.0] * 9 + [1.0]], MatrixCell(0, 0, 9)), (
        "it does not fit, and most others do"
    )
    assert not has_ink([[0.0] + [1.0] * 9], zero), "alone it would look like all there is"


def test_texts_of_cells_are_shortened_and_left_out_where_cells_are_narrow(
    qtbot: QtBot, theme: Theme
) -> None:
    values = np.full((2, 3), 0.5, dtype=np.float32)
    texts = (("a", "photographer" * 3, "c"), ("d", "e", "f"))
    matrix = Matrix(values, ("r", "s"), ("x", "y", "z"), texts=texts)
    style = MatrixStyle("sequential", (24, 24), 0, has_slanted_columns=False)
    widget = _shown(qtbot, style, matrix)
    layout, font = widget._layout_now(), QFontMetrics(theme.font("small"))
    assert layout is not None
    fitting = layout.texts_that_fit(0, font)
    assert {cell: fitting[cell] for cell in ((0, 0), (1, 2))} == {(0, 0): "a", (1, 2): "f"}
    assert fitting[0, 1].startswith("ph")
    assert fitting[0, 1].endswith("…")
    assert MatrixLayout((matrix,), style, 40, theme).texts_that_fit(0, font) == {}
    low = replace(style, cell_heights=(5, 5))
    assert MatrixLayout((matrix,), low, 300, theme).texts_that_fit(0, font) == {}


@pytest.mark.parametrize("is_slanted", [False, True])
def test_a_click_on_a_label_finds_its_row_or_column(
    qtbot: QtBot, theme: Theme, is_slanted: bool
) -> None:
    style = MatrixStyle("signed", (20, 20), 60, has_slanted_columns=is_slanted, legend=None)
    matrix = LabelledMatrix("m", style)
    qtbot.addWidget(matrix)
    matrix.resize(400, 300)
    matrix.show_matrices(
        [Matrix(np.ones((3, 4), dtype=np.float32), ("a", "b", "c"), ("w", "x", "y", "z"), "title")],
        1,
    )
    clicked: list[MatrixCell] = []
    matrix.label_clicked.connect(clicked.append)
    for column in range(4):
        cell = matrix.cell_rect(MatrixCell(0, 0, column))
        above = QPoint(round(cell.center().x()) + (4 if is_slanted else 0), round(cell.top()) - 7)
        qtbot.mouseClick(matrix, Qt.MouseButton.LeftButton, pos=above)
        assert clicked.pop() == MatrixCell(0, -1, column)
    for row in range(3):
        cell = matrix.cell_rect(MatrixCell(0, row, 0))
        qtbot.mouseClick(
            matrix,
            Qt.MouseButton.LeftButton,
            pos=QPoint(round(cell.left()) - 6, round(cell.center().y())),
        )
        assert clicked.pop() == MatrixCell(0, row, -1)
    qtbot.mouseClick(matrix, Qt.MouseButton.LeftButton, pos=QPoint(300, 4))
    assert not clicked, "the title is no label"


FITTING = MatrixStyle(
    "sequential",
    (20, 20),
    40,
    has_slanted_columns=False,
    fits_texts=True,
    is_clickable=True,
    legend=None,
)
WORDS = (("a", "considerably", "x"), ("b", "incomprehensible", "y"))


def test_columns_are_as_wide_as_their_texts_however_narrow_the_widget(
    qtbot: QtBot, theme: Theme
) -> None:
    matrix = Matrix(
        np.ones((2, 3), dtype=np.float32),
        ("one", "two"),
        ("self 1", "cross 1", "feed-forward 1"),
        texts=WORDS,
    )
    widget = _shown(qtbot, FITTING, matrix)
    for width in (100, 900):
        widget.resize(width, widget.height())
        rects = [widget.cell_rect(MatrixCell(0, 1, column)) for column in range(3)]
        metrics = QFontMetrics(theme.font("small"))
        for rect, needed in zip(rects, ("b", "incomprehensible", "forward"), strict=True):
            assert rect.width() >= metrics.horizontalAdvance(needed)
            assert widget.cell_at(rect.center()) == MatrixCell(0, 1, rects.index(rect))
        assert rects[1].width() > rects[0].width() + 30
        assert all(
            one.right() == pytest.approx(other.left()) for one, other in itertools.pairwise(rects)
        )
    widget.resize(100, widget.height())
    assert widget.minimumSizeHint().width() > widget.cell_rect(MatrixCell(0, 0, 2)).right()
    widget.resize(900, widget.height())
    assert widget.cell_rect(MatrixCell(0, 0, 2)).right() == pytest.approx(widget.width() - 8)


def test_labels_of_rows_and_columns_keep_in_sight_when_a_wide_matrix_is_scrolled(
    qtbot: QtBot, theme: Theme
) -> None:
    area, panel = ScrollArea(LabelledMatrix("A matrix", FITTING)), QFrame()
    qtbot.addWidget(panel)
    panel.setProperty("role", "panel")
    column_of(area, within=panel)
    widget = area.widget()
    assert isinstance(widget, LabelledMatrix)
    rows = tuple(f"row {row}" for row in range(20))
    texts = tuple(("incomprehensible",) * 6 for _ in rows)
    widget.show_matrices(
        [Matrix(np.ones((20, 6), dtype=np.float32), rows, tuple("abcdef"), texts=texts)], 1.0
    )
    panel.resize(300, 150)
    panel.show()
    left = QRect(2, 40, 28, 60)
    before = panel.grab(left).toImage()
    area.horizontalScrollBar().setValue(200)
    assert widget.x() == -200
    assert panel.grab(left).toImage() == before, "labels of rows"
    header = QRect(60, 2, 200, 12)
    before = panel.grab(header).toImage()
    area.verticalScrollBar().setValue(100)
    assert panel.grab(header).toImage() == before, "labels of columns"


def test_cells_that_can_be_clicked_are_reached_by_keys(qtbot: QtBot, theme: Theme) -> None:
    widget = _shown(
        qtbot, replace(FITTING, fits_texts=False), Matrix(VALUES[:, :2], ("a", "b"), ("x", "y"))
    )
    widget.tip_of = lambda cell: f"cell {cell.row} {cell.column}"
    clicked: list[MatrixCell] = []
    widget.clicked.connect(clicked.append)
    widget.activateWindow()
    qtbot.waitUntil(widget.isActiveWindow)
    widget.setFocus()
    keys = (
        Qt.Key.Key_Down,
        Qt.Key.Key_Right,
        Qt.Key.Key_Right,
        Qt.Key.Key_Down,
        Qt.Key.Key_Left,
        Qt.Key.Key_Up,
    )
    places = [(0, 0), (0, 1), (0, 1), (1, 1), (1, 0), (0, 0)]
    for key, cell in zip(keys, places, strict=True):
        qtbot.keyClick(widget, key)
        assert widget.hovered_cell == MatrixCell(0, *cell)
    assert QToolTip.text() == "cell 0 0"
    qtbot.keyClick(widget, Qt.Key.Key_Return)
    assert clicked == [MatrixCell(0, 0, 0)]
    widget.clearFocus()
    assert widget.hovered_cell is None
    QToolTip.hideText()


def test_keys_do_not_reach_what_is_no_cell(qtbot: QtBot, theme: Theme) -> None:
    widget = _shown(qtbot, SIGNED, Matrix(VALUES, ("a", "b"), ("x", "y", "z")))
    assert not widget.has_cell(MatrixCell(0, 1, 2))
    for row_offset, column_offset in ((0, 0), (1, 0), (0, 1), (0, 1)):
        assert widget.walk(row_offset, column_offset)
    assert widget.hovered_cell == MatrixCell(0, 1, 1)
    widget.show_matrices([Matrix(VALUES[1:, 2:], ("a",), ("x",))], 1.0)
    assert widget.hovered_cell is None
    assert not widget.walk(1, 0)


def test_upright_labels_wrap_rather_than_touch(qtbot: QtBot, theme: Theme) -> None:
    style = MatrixStyle("signed", (20, 20), 40, has_slanted_columns=False, legend=None)
    values = np.ones((1, 4), dtype=np.float32)
    names = ("token", "feed-forward 1", "heads 2", "feed-forward 2")
    wide, narrow = (_shown(qtbot, style, Matrix(values, ("row",), names)) for _ in range(2))
    wide.resize(700, 100)
    wide.show_matrices(wide.matrices, 1.0)
    line = QFontMetrics(theme.font("small")).height()
    assert (
        narrow.cell_rect(MatrixCell(0, 0, 0)).top()
        >= wide.cell_rect(MatrixCell(0, 0, 0)).top() + line - 3
    )


def test_labels_of_columns_are_slanted_where_their_words_do_not_fit(
    qtbot: QtBot, theme: Theme
) -> None:
    style = MatrixStyle("signed", (20, 20), 40, has_slanted_columns=False, legend=None)
    names = ("token", "position", "feed-forward 1", "heads 2", "feed-forward 2", "others")
    widget = _shown(
        qtbot, style, Matrix(np.ones((1, 6), dtype=np.float32), ("feed-forward 1",), names)
    )
    metrics, tops = QFontMetrics(theme.font("small")), []
    for width, is_slanted in ((700, False), (300, True), (700, False)):
        widget.resize(width, widget.height())
        cell = widget.cell_rect(MatrixCell(0, 0, 0))
        assert (metrics.horizontalAdvance("position") > cell.width()) == is_slanted
        assert widget.height() >= cell.bottom(), "the height follows the labels"
        tops.append(cell.top())
    assert tops[1] > metrics.horizontalAdvance("feed-forward 1") * 0.7, "room for the slanted label"
    assert tops[0] == tops[2] < tops[1]


def test_slanted_labels_take_only_the_room_they_need_to_the_right(
    qtbot: QtBot, theme: Theme
) -> None:
    values, rows = np.zeros((2, 6), dtype=np.float32), ("a", "b")
    long_first = _shown(qtbot, WEIGHTS, Matrix(values, rows, ("mathematically", *"bcdef")))
    long_last = _shown(qtbot, WEIGHTS, Matrix(values, rows, (*"abcde", "mathematically")))
    last = MatrixCell(0, 0, 5)
    assert long_first.cell_rect(last).right() > 1.1 * long_last.cell_rect(last).right()
    image = long_last.grab().toImage()
    edge = image.width() - 1
    assert {image.pixelColor(edge, y).rgb() for y in range(image.height())} == {
        image.pixelColor(edge, 0).rgb()
    }


def test_the_values_of_a_narrow_legend_do_not_touch(qtbot: QtBot, theme: Theme) -> None:
    style = MatrixStyle(
        "signed",
        (20, 20),
        40,
        has_slanted_columns=False,
        legend=lambda top: ("first +0.12", "0", "second +0.12"),
    )
    matrix = Matrix(np.zeros((1, 2), dtype=np.float32), ("a long label",), ("w", "x"))
    widget = _shown(qtbot, style, matrix)
    space = QFontMetrics(theme.font("body")).horizontalAdvance("n")
    for width in (400, 205):
        widget.resize(width, widget.height())
        image = widget.grab().toImage()
        bottom = range(image.height() - theme.scaled(15), image.height())
        paper = image.pixelColor(0, image.height() - 1)
        inked = [
            x for x in range(image.width()) if any(image.pixelColor(x, y) != paper for y in bottom)
        ]
        assert max(after - before for before, after in itertools.pairwise(inked)) >= space
