import pytest
from PySide6.QtCore import QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from tests.viz_app.synthetic import make_translation
from viz_app.heatmap.colormap import PAPER, color_table, quantize
from viz_app.heatmap.heatmap import Heatmap
from viz_app.heatmap.heatmap_layout import MIN_LABEL_PX, lay_out, thinned
from viz_app.state.translate_state import Cell, HeadChoice, TranslateState
from viz_app.state.zoom import FIT, zoomed
from viz_app.theme import Theme


@pytest.fixture
def state() -> TranslateState:
    state = TranslateState()
    state.label_mode = "read"
    state.show(make_translation())
    state.choose(HeadChoice("cross", 1, 2))
    return state


@pytest.fixture
def heatmap(qtbot: QtBot, theme: Theme, state: TranslateState) -> Heatmap:
    heatmap = Heatmap(state, theme)
    qtbot.addWidget(heatmap)
    heatmap.resize(700, 560)
    heatmap.show()
    heatmap.rebuild()
    return heatmap


def _center(heatmap: Heatmap, cell: Cell) -> QPoint:
    place = heatmap.cell_rect(cell)
    assert place is not None
    return place.center().toPoint()


def test_cells_show_the_weights_of_the_chosen_head(heatmap: Heatmap, state: TranslateState) -> None:
    view = state.view()
    assert view is not None
    picture, indices = heatmap.grab().toImage(), quantize(view.weights)
    for row in range(len(view.rows)):
        for column in range(len(view.columns)):
            expected = color_table(PAPER)[indices[row, column]]
            assert picture.pixel(_center(heatmap, Cell(row, column))) == expected


def test_the_mouse_finds_every_cell(heatmap: Heatmap) -> None:
    for cell in (Cell(0, 0), Cell(3, 5), Cell(8, 8)):
        assert heatmap.cell_at(QPointF(_center(heatmap, cell))) == cell
    assert heatmap.cell_at(QPointF(1, 1)) is None


def test_hidden_rows_and_columns_do_not_shift_the_cells_found(heatmap: Heatmap, state: TranslateState) -> None:
    state.hides_wrapping = True
    heatmap.rebuild()
    assert heatmap.cell_rect(Cell(0, 4)) is None
    assert heatmap.cell_at(QPointF(_center(heatmap, Cell(2, 4)))) == Cell(2, 4)


def test_hover_and_click_tell_the_cell(qtbot: QtBot, heatmap: Heatmap) -> None:
    with qtbot.waitSignal(heatmap.cell_hovered) as hovered:
        qtbot.mouseMove(heatmap, _center(heatmap, Cell(4, 2)))
    assert hovered.args == [Cell(4, 2)]
    with qtbot.waitSignal(heatmap.cell_clicked) as clicked:
        qtbot.mouseClick(heatmap, Qt.MouseButton.LeftButton, pos=_center(heatmap, Cell(1, 6)))
    assert clicked.args == [Cell(1, 6)]


def test_the_cross_hair_and_value_are_drawn(heatmap: Heatmap, state: TranslateState) -> None:
    before = heatmap.grab().toImage()
    state.hovered = Cell(4, 4)
    assert heatmap.grab().toImage() != before


@pytest.mark.parametrize("num_tokens", [1, 15, 40, 100])
@pytest.mark.parametrize("size", [(420, 300), (700, 560), (1300, 900)])
def test_any_number_of_tokens_fits_any_size(theme: Theme, num_tokens: int, size: tuple[int, int]) -> None:
    words = " ".join(f"word{number}" for number in range(num_tokens))
    state = TranslateState()
    state.show(make_translation(words, words, num_layers=1, num_heads=1))
    view = state.view()
    assert view is not None
    layout = lay_out(view, QSize(*size), theme, FIT)
    assert layout.map.left() >= layout.row_label_width
    assert layout.map.right() <= size[0]
    assert layout.map.bottom() <= size[1]
    assert layout.font.pixelSize() >= MIN_LABEL_PX
    assert layout.row_step * layout.cell.y() >= MIN_LABEL_PX * 0.86  # labels do not run into each other


def test_a_lit_label_silences_its_close_neighbours_only() -> None:
    assert thinned(10, 3, []) == [0, 3, 6, 9]
    assert thinned(10, 3, [4]) == [0, 4, 9]
    assert thinned(3, 1, [1]) == [0, 1, 2]


def _long_state(num_tokens: int) -> TranslateState:
    words = " ".join(f"word{number}" for number in range(num_tokens))
    state = TranslateState()
    state.show(make_translation(words, words, num_layers=1, num_heads=1))
    return state


def test_a_long_map_has_legible_rows_and_scrolls_under_labels_that_stay(qtbot: QtBot, theme: Theme) -> None:
    state = _long_state(100)
    heatmap = Heatmap(state, theme)
    qtbot.addWidget(heatmap)
    heatmap.resize(700, 560)
    heatmap.show()
    heatmap.rebuild()
    layout = heatmap.layout_now
    assert layout is not None
    assert layout.row_step == 1
    assert layout.window.bottom() <= 560
    assert heatmap.down.isVisible()
    assert heatmap.cell_at(layout.window.topLeft() + QPointF(2, 2)) == Cell(0, 0)
    heatmap.down.setValue(heatmap.down.maximum())
    heatmap.across.setValue(heatmap.across.maximum())
    layout = heatmap.layout_now
    assert layout is not None
    assert heatmap.cell_at(layout.window.bottomRight() - QPointF(2, 2)) == Cell(100, 101)
    assert 100 in layout.rows_in_sight
    assert 0 not in layout.rows_in_sight


def test_zooming_keeps_what_is_under_the_mouse_where_it_is(qtbot: QtBot, heatmap: Heatmap) -> None:
    state = heatmap._state
    heatmap.zoom_wanted.connect(lambda steps: _zoom(heatmap, state, steps))
    point = QPointF(_center(heatmap, Cell(7, 7)))
    heatmap.zoom_about(point, 3)
    layout = heatmap.layout_now
    assert layout is not None
    assert layout.hidden.height() > 0
    assert heatmap.cell_at(point) == Cell(7, 7)
    assert heatmap.grab().size() == heatmap.size()


def _zoom(heatmap: Heatmap, state: TranslateState, steps: float) -> None:
    assert heatmap.layout_now is not None
    state.zoom = zoomed(heatmap.layout_now.cell.y(), steps)
    heatmap.lay_out()


def test_the_strip_under_the_map_shows_the_sum_of_the_picked_rows(heatmap: Heatmap, state: TranslateState) -> None:
    for row, manner in ((2, "alone"), (5, "also")):
        state.pick_rows((row,), manner)
    heatmap.lay_out()
    layout, view = heatmap.layout_now, state.view()
    assert layout is not None
    assert layout.strip is not None
    assert view is not None
    total = view.weights[2] + view.weights[5]
    indices = quantize(total[None, :], max(1.0, float(total.max())))[0]
    picture = heatmap.grab().toImage()
    for column in range(len(view.columns)):
        x = layout.strip.left() + (column + 0.5) * layout.cell.x()
        place = QPointF(x, layout.strip.center().y())
        assert heatmap.sum_at(place) == column
        assert picture.pixel(place.toPoint()) == color_table(PAPER)[indices[column]]


def test_labels_are_found_under_the_mouse(qtbot: QtBot, heatmap: Heatmap) -> None:
    layout = heatmap.layout_now
    assert layout is not None
    place = _center(heatmap, Cell(4, 0))
    with qtbot.waitSignal(heatmap.rows_clicked) as clicked:
        qtbot.mouseClick(
            heatmap,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.ShiftModifier,
            QPoint(int(layout.window.left()) - 15, place.y()),
        )
    assert clicked.args == [(4,), "through"]
    above = QPoint(_center(heatmap, Cell(0, 6)).x() + 7, int(layout.window.top()) - 10)
    with qtbot.waitSignal(heatmap.columns_clicked) as columns:
        qtbot.mouseClick(heatmap, Qt.MouseButton.LeftButton, pos=above)
    assert columns.args == [(6,)]


def test_painting_only_the_cells_leaves_the_picture_of_painting_all(
    heatmap: Heatmap, state: TranslateState, qtbot: QtBot
) -> None:
    qtbot.waitExposed(heatmap)

    def seen() -> QImage:
        return heatmap.screen().grabWindow(heatmap.winId()).toImage()

    def choose(head: int) -> None:
        state.choose(HeadChoice("cross", 0, head))

    heatmap.repaint()
    before = seen()
    for change in (
        lambda: choose(1),
        lambda: setattr(state, "scale", "own"),
        lambda: setattr(state, "label_mode", "predicted"),
        lambda: setattr(state, "hovered", Cell(1, 2)),
        lambda: state.forget_hovered(),
        lambda: setattr(state, "pinned", Cell(2, 2)),
        lambda: choose(0),
        lambda: state.forget_marks(),
    ):
        change()
        heatmap.rebuild()
        qtbot.wait(30)
        now = seen()
        assert now != before
        heatmap.repaint()
        assert seen() == now
        before = now
