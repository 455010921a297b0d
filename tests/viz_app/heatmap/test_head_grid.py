from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QSize, Qt
from pytestqt.qtbot import QtBot

from core.translation.result import MAP_KINDS
from tests.viz_app.synthetic import make_translation
from viz_app.heatmap.colormap import EMBER, PAPER, color_table, quantize
from viz_app.heatmap.head_grid import HeadGrid, HeadGridArea
from viz_app.heatmap.map_image import map_image
from viz_app.state.seeing import Scale
from viz_app.state.translate_state import HeadChoice, TranslateState
from viz_app.theme import Theme


def _grid(qtbot: QtBot, theme: Theme, *, num_layers: int = 3) -> tuple[TranslateState, HeadGrid, HeadGridArea]:
    state = TranslateState()
    state.show(make_translation(num_layers=num_layers))
    grid = HeadGrid(state, theme)
    area = HeadGridArea(grid)
    qtbot.addWidget(area)
    area.resize(540, 600)
    area.show()
    grid.rebuild()
    return state, grid, area


def test_every_head_of_every_kind_has_a_place_of_its_own(qtbot: QtBot, theme: Theme) -> None:
    _, grid, _ = _grid(qtbot, theme)
    places = [
        grid.place_of(HeadChoice(kind, layer, head)) for kind in MAP_KINDS for layer in range(3) for head in range(8)
    ]
    assert len(places) == 72
    for index, place in enumerate(places):
        assert place is not None
        assert grid.rect().contains(place)
        assert not any(place.intersects(other) for other in places[index + 1 :] if other is not None)


def test_a_click_chooses_the_head_under_the_mouse(qtbot: QtBot, theme: Theme) -> None:
    _, grid, _ = _grid(qtbot, theme)
    place = grid.place_of(HeadChoice("decoder", 1, 6))
    assert place is not None
    with qtbot.waitSignal(grid.chosen) as chosen:
        qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=place.center())
    assert chosen.args == [HeadChoice("decoder", 1, 6)]


def test_a_thumbnail_shows_the_weights_of_its_head(qtbot: QtBot, theme: Theme) -> None:
    state, grid, _ = _grid(qtbot, theme)
    assert state.translation is not None
    weights = state.translation.maps.cross[2, 3]
    place = grid.place_of(HeadChoice("cross", 2, 3))
    assert place is not None
    picture = grid.grab().toImage()
    table = color_table(PAPER)
    num_rows, num_columns = weights.shape
    for row, column in ((0, 3), (4, 7), (5, 0)):
        x = place.left() + int((column + 0.5) * place.width() / num_columns)
        y = place.top() + int((row + 0.5) * place.height() / num_rows)
        assert picture.pixel(x, y) == table[quantize(weights)[row, column]]


def test_twelve_layers_scroll_and_the_chosen_head_comes_into_sight(qtbot: QtBot, theme: Theme) -> None:
    _, grid, area = _grid(qtbot, theme, num_layers=6)
    assert grid.height() > area.viewport().height()
    area.show_choice(HeadChoice("cross", 5, 0))
    place = grid.place_of(HeadChoice("cross", 5, 0))
    assert place is not None
    assert grid.visibleRegion().boundingRect().contains(place)
    area.show_choice(HeadChoice("encoder", 0, 0))
    assert area.verticalScrollBar().value() == 0


def test_an_image_has_one_pixel_for_each_weight_in_the_colours_of_the_table() -> None:
    weights = np.array([[0.0, 0.5, 1.0], [0.25, 0.75, 0.1]], dtype=np.float32)
    image = map_image(weights, EMBER)
    assert (image.width(), image.height()) == (3, 2)
    for row in range(2):
        for column in range(3):
            assert image.pixel(column, row) == color_table(EMBER)[quantize(weights)[row, column]]


@pytest.mark.parametrize("size", [7, 50, 99])
def test_a_diagonal_survives_being_made_small(size: int) -> None:
    image = map_image(np.eye(size, dtype=np.float32), PAPER, max_pixels=20)
    side = min(size, 20)
    assert (image.width(), image.height()) == (side, side)
    assert all(image.pixel(place, place) == color_table(PAPER)[255] for place in range(side))


def test_another_label_mode_makes_no_picture_anew_and_another_scale_does(qtbot: QtBot, theme: Theme) -> None:
    state = TranslateState()
    state.show(make_translation())
    grid = HeadGrid(state, theme)
    qtbot.addWidget(grid)
    grid.available = QSize(400, 500)
    grid.resize(400, 500)
    grid.rebuild()
    before = grid.grab().toImage()
    pictures = grid._images["cross"]
    state.label_mode = "predicted"
    grid.rebuild()
    assert grid._images["cross"] is pictures
    state.scale = "own"
    grid.rebuild()
    assert grid._images["cross"] is not pictures
    assert grid.grab().toImage() != before
    state.scale = "shared"
    grid.rebuild()
    assert grid._images["cross"] is pictures  # they were made already
    assert grid.grab().toImage() == before
    state.show(make_translation("ein hund läuft ."))
    grid.rebuild()
    assert grid._images["cross"] is not pictures


def test_the_frame_follows_the_choice_wherever_it_goes(qtbot: QtBot, theme: Theme) -> None:
    """Painting only what changed leaves the same picture as painting all of it."""
    state = TranslateState()
    state.show(make_translation())
    grid = HeadGrid(state, theme)
    qtbot.addWidget(grid)
    grid.available = QSize(400, 500)
    grid.rebuild()
    grid.show()
    qtbot.waitExposed(grid)
    for choice in (HeadChoice("encoder", 0, 1), HeadChoice("cross", 1, 0), HeadChoice("cross", 1, 1)):
        state.choose(choice)
        grid.show_choice()
        qtbot.waitUntil(lambda wanted=choice: grid._painted_choice == wanted)
        seen = grid.screen().grabWindow(grid.winId()).toImage()
        grid.repaint()
        assert grid.screen().grabWindow(grid.winId()).toImage() == seen


@pytest.mark.parametrize("scale", ["layer", "own"])
def test_another_scale_is_seen_in_every_head(qtbot: QtBot, theme: Theme, scale: Scale) -> None:
    """The same: only the pictures are painted anew, and nothing around them."""
    state = TranslateState()
    state.show(make_translation())
    grid = HeadGrid(state, theme)
    qtbot.addWidget(grid)
    grid.available = QSize(400, 500)
    grid.rebuild()
    grid.show()
    qtbot.waitExposed(grid)
    before = grid.screen().grabWindow(grid.winId()).toImage()
    state.scale = scale
    state.choose(HeadChoice("decoder", 1, 1))
    grid.rebuild()
    qtbot.waitUntil(lambda: grid._painted_choice == state.choice)
    seen = grid.screen().grabWindow(grid.winId()).toImage()
    assert seen != before
    grid.repaint()
    assert grid.screen().grabWindow(grid.winId()).toImage() == seen


def test_another_theme_size_and_translation_leave_nothing_of_the_sheet_before(qtbot: QtBot, theme: Theme) -> None:
    def made(size: QSize) -> HeadGrid:
        grid = HeadGrid(state, theme)
        qtbot.addWidget(grid)
        fit(grid, size)
        return grid

    def fit(grid: HeadGrid, size: QSize) -> None:
        grid.available = size
        grid.resize(size)
        grid.rebuild()

    state = TranslateState()
    state.show(make_translation())
    grid = made(QSize(400, 500))
    pictures = [grid.grab().toImage()]
    fit(grid, QSize(300, 420))
    pictures.append(grid.grab().toImage())
    assert pictures[-1] == made(QSize(300, 420)).grab().toImage()
    grid.apply_theme(Theme.of_choice("dark"))
    pictures.append(grid.grab().toImage())
    dark = made(QSize(300, 420))
    dark.apply_theme(Theme.of_choice("dark"))
    assert pictures[-1] == dark.grab().toImage()
    state.show(make_translation("ein hund läuft ."))
    grid.rebuild()
    dark.rebuild()
    pictures.append(grid.grab().toImage())
    assert pictures[-1] == dark.grab().toImage()
    assert all(one != other for one, other in pairwise(pictures))
