import pytest
from PySide6.QtCore import QPoint, QPointF, QSize, Qt
from pytestqt.qtbot import QtBot

from tests.viz_app.synthetic import make_translation
from viz_app.colormap import PAPER, color_table, quantize
from viz_app.state.translate_state import Cell, HeadChoice, TranslateState
from viz_app.theme import Theme
from viz_app.widgets.heatmap import Heatmap
from viz_app.widgets.heatmap_layout import MIN_LABEL_PX, lay_out, thinned


@pytest.fixture
def state() -> TranslateState:
    state = TranslateState()
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
    layout = lay_out(view, QSize(*size), theme)
    assert layout.map.left() >= layout.row_label_width
    assert layout.map.right() <= size[0]
    assert layout.map.bottom() <= size[1]
    assert layout.font.pixelSize() >= MIN_LABEL_PX
    assert layout.row_step * layout.cell.y() >= MIN_LABEL_PX * 0.86  # labels do not run into each other


def test_a_lit_label_silences_its_close_neighbours_only() -> None:
    assert thinned(10, 3, []) == [0, 3, 6, 9]
    assert thinned(10, 3, [4]) == [0, 4, 9]
    assert thinned(3, 1, [1]) == [0, 1, 2]
