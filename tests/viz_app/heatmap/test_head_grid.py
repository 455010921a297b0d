from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.translation.experiment import ForcedToken, HeadScaled
from augenmerk.core.translation.result import ExperimentResult
from augenmerk.viz_app.heatmap.head_grid import HeadGrid, HeadGridArea, numbered_heads
from augenmerk.viz_app.heatmap.map_image import map_image
from augenmerk.viz_app.state.color_scale import EMBER, PAPER, SIGNED_PAPER
from augenmerk.viz_app.state.experiment_editor import scale, toggle
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_source import top_value
from augenmerk.viz_app.state.map_view_settings import Scale
from augenmerk.viz_app.theme import Theme
from tests.viz_app.builders import click, shown, state_of
from tests.viz_app.synthetic import make_translation


def _grid(
    qtbot: QtBot, theme: Theme, *, num_layers: int = 3
) -> tuple[ExperimentState, HeadGrid, HeadGridArea]:
    state = state_of(num_layers=num_layers)
    grid = HeadGrid(state)
    area = shown(qtbot, HeadGridArea(grid), (540, 600))
    grid.rebuild()
    return state, grid, area


@pytest.mark.parametrize(
    ("pitch", "shown"),
    [(56, range(0, 16)), (19, range(0, 16)), (18, range(0, 16, 2)), (9, range(0, 16, 3))],
)
def test_numbers_of_columns_never_touch(pitch: int, shown: range) -> None:
    assert numbered_heads(16, pitch, 19) == shown


def test_thumbnails_are_higher_than_wide_where_height_is_left(qtbot: QtBot, theme: Theme) -> None:
    _, grid, area = _grid(qtbot, theme)
    area.resize(380, 600)
    grid.rebuild()
    box = grid.place_of(Head("cross", 2, 7))
    assert box is not None
    assert 1.4 < box.height() / box.width() < 1.9
    assert area.height() - box.bottom() < 40, "little is left empty below"
    area.resize(760, 560)
    grid.rebuild()
    box = grid.place_of(Head("cross", 2, 7))
    assert box is not None
    assert 1 <= box.width() / box.height() < 1.5


def test_every_head_of_every_kind_has_a_place_of_its_own(qtbot: QtBot, theme: Theme) -> None:
    _, grid, _ = _grid(qtbot, theme)
    places = [
        grid.place_of(Head(kind, layer, head))
        for kind in ATTENTION_KINDS
        for layer in range(3)
        for head in range(8)
    ]
    assert len(places) == 72
    for index, box in enumerate(places):
        assert box is not None
        assert grid.rect().contains(box)
        assert not any(box.intersects(other) for other in places[index + 1 :] if other is not None)


def test_a_click_on_the_title_of_a_kind_folds_its_heads(qtbot: QtBot, theme: Theme) -> None:
    state, grid, _ = _grid(qtbot, theme, num_layers=6)
    before = grid.place_of(Head("cross", 0, 0))
    assert before is not None
    title = QPoint(20, before.top() - 8)
    assert grid.header_at(title) == "cross"
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=title)
    assert state.settings.folded_kinds == ("cross",)
    assert grid.place_of(Head("cross", 0, 0)) is None
    unfolded = grid.place_of(Head("encoder", 5, 7))
    assert unfolded is not None
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=QPoint(20, 24))
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=QPoint(20, 24 + 27))
    assert state.settings.folded_kinds == ATTENTION_KINDS
    assert grid.height() > 60, "the titles stay, to unfold them again"
    grid.grab()
    state.intents.choose_head(Head("decoder", 2, 2))
    for kind in ("encoder", "cross", "decoder"):
        state.settings.toggle_fold(kind)
    assert grid.place_of(Head("cross", 0, 0)) == before


def test_what_is_folded_leaves_its_room_to_the_others(qtbot: QtBot, theme: Theme) -> None:
    state, grid, _ = _grid(qtbot, theme, num_layers=6)
    before = grid.place_of(Head("cross", 5, 7))
    state.settings.folds_encoder = state.settings.folds_decoder = True
    after = grid.place_of(Head("cross", 5, 7))
    assert before is not None
    assert after is not None
    assert after.height() > before.height()
    assert after.bottom() < 600


def test_a_click_chooses_the_head_under_the_mouse(qtbot: QtBot, theme: Theme) -> None:
    state, grid, _ = _grid(qtbot, theme)
    click(qtbot, grid, Head("decoder", 1, 6))
    assert state.selection.head == Head("decoder", 1, 6)


def test_a_thumbnail_shows_the_weights_of_its_head(qtbot: QtBot, theme: Theme) -> None:
    state, grid, _ = _grid(qtbot, theme)
    assert state.translation is not None
    weights = state.translation.maps.cross[2, 3]
    box = grid.place_of(Head("cross", 2, 3))
    assert box is not None
    picture = grid.grab().toImage()
    table = PAPER.packed
    num_rows, num_columns = weights.shape
    for row, column in ((0, 3), (4, 7), (5, 0)):
        x = box.left() + int((column + 0.5) * box.width() / num_columns)
        y = box.top() + int((row + 0.5) * box.height() / num_rows)
        assert picture.pixel(x, y) == table[PAPER.indices(weights)[row, column]]


def test_twelve_layers_scroll_and_the_chosen_head_comes_into_sight(
    qtbot: QtBot, theme: Theme
) -> None:
    state, grid, area = _grid(qtbot, theme, num_layers=6)
    assert grid.height() > area.viewport().height()
    state.selection.choose(Head("cross", 5, 0))
    box = grid.place_of(Head("cross", 5, 0))
    assert box is not None
    assert grid.visibleRegion().boundingRect().contains(box)
    state.selection.choose(Head("encoder", 0, 0))
    assert area.verticalScrollBar().value() == 0


def test_an_image_has_one_pixel_for_each_weight_in_the_colours_of_the_table() -> None:
    weights = np.array([[0.0, 0.5, 1.0], [0.25, 0.75, 0.1]], dtype=np.float32)
    image = map_image(weights, EMBER)
    assert (image.width(), image.height()) == (3, 2)
    for row in range(2):
        for column in range(3):
            assert image.pixel(column, row) == EMBER.packed[EMBER.indices(weights)[row, column]]


@pytest.mark.parametrize("size", [7, 50, 99])
def test_a_diagonal_survives_being_made_small(size: int) -> None:
    image = map_image(np.eye(size, dtype=np.float32), PAPER, max_pixels=20)
    side = min(size, 20)
    assert (image.width(), image.height()) == (side, side)
    assert all(image.pixel(index, index) == PAPER.packed[255] for index in range(side))


def test_another_scale_or_sentence_has_other_pictures_and_going_back_to_a_scale_the_same(
    qtbot: QtBot, theme: Theme
) -> None:
    state = state_of()
    grid = HeadGrid(state)
    qtbot.addWidget(grid)
    grid.available = QSize(400, 500)
    grid.resize(400, 500)
    grid.rebuild()
    before = grid.grab().toImage()
    state.settings.label_mode = "predicted"
    assert grid.grab().toImage() == before
    state.settings.scale = "own"
    assert grid.grab().toImage() != before
    state.settings.scale = "shared"
    assert grid.grab().toImage() == before
    state.show_translation(make_translation("ein hund läuft ."))
    assert grid.grab().toImage() != before


def test_the_frame_follows_the_choice_wherever_it_goes(qtbot: QtBot, theme: Theme) -> None:
    """Painting only what changed leaves the same picture as painting all of it."""
    state = state_of()
    grid = HeadGrid(state)
    qtbot.addWidget(grid)
    grid.available = QSize(400, 500)
    grid.rebuild()
    grid.show()
    qtbot.waitExposed(grid)
    for choice in (Head("encoder", 0, 1), Head("cross", 1, 0), Head("cross", 1, 1)):
        state.selection.choose(choice)
        qtbot.wait(20)
        seen = grid.screen().grabWindow(grid.winId()).toImage()
        grid.repaint()
        assert grid.screen().grabWindow(grid.winId()).toImage() == seen


@pytest.mark.parametrize("scale", ["layer", "own"])
def test_another_scale_is_seen_in_every_head(qtbot: QtBot, theme: Theme, scale: Scale) -> None:
    """The same: only the pictures are painted anew, and nothing around them."""
    state = state_of()
    grid = HeadGrid(state)
    qtbot.addWidget(grid)
    grid.available = QSize(400, 500)
    grid.rebuild()
    grid.show()
    qtbot.waitExposed(grid)
    before = grid.screen().grabWindow(grid.winId()).toImage()
    state.settings.scale = scale
    state.selection.choose(Head("decoder", 1, 1))
    qtbot.wait(20)
    seen = grid.screen().grabWindow(grid.winId()).toImage()
    assert seen != before
    grid.repaint()
    assert grid.screen().grabWindow(grid.winId()).toImage() == seen


def test_another_theme_size_and_translation_leave_nothing_of_the_sheet_before(
    qapp: QApplication, qtbot: QtBot, theme: Theme
) -> None:
    def made(size: QSize) -> HeadGrid:
        grid = HeadGrid(state)
        qtbot.addWidget(grid)
        fit(grid, size)
        return grid

    def fit(grid: HeadGrid, size: QSize) -> None:
        grid.available = size
        grid.resize(size)
        grid.rebuild()

    state = state_of()
    grid = made(QSize(400, 500))
    pictures = [grid.grab().toImage()]
    fit(grid, QSize(300, 420))
    pictures.append(grid.grab().toImage())
    assert pictures[-1] == made(QSize(300, 420)).grab().toImage()
    Theme.of_choice("dark").apply(qapp)
    pictures.append(grid.grab().toImage())
    dark = made(QSize(300, 420))
    assert pictures[-1] == dark.grab().toImage()
    state.show_translation(make_translation("ein hund läuft ."))
    pictures.append(grid.grab().toImage())
    assert pictures[-1] == dark.grab().toImage()
    assert all(one != other for one, other in pairwise(pictures))


def test_heads_are_shown_together_switched_off_and_on_by_the_mouse(
    qtbot: QtBot, theme: Theme
) -> None:
    state, grid, _ = _grid(qtbot, theme)
    state.selection.choose(Head("cross", 0, 0))
    other = grid.place_of(Head("cross", 1, 3))
    assert other is not None
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, control, other.center())
    assert state.settings.several == {Head("cross", 0, 0), Head("cross", 1, 3)}
    assert state.selection.head == Head("cross", 0, 0)
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=other.center())
    assert (state.settings.scope, state.selection.head) == ("head", Head("cross", 1, 3))
    before = grid.grab().toImage()
    qtbot.mouseClick(grid, Qt.MouseButton.RightButton, pos=other.center())
    assert state.experiment.heads_off == {Head("cross", 1, 3)}
    assert grid.grab().toImage() != before
    switch = grid.switch_of(Head("cross", 1, 3))
    assert switch is not None
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=switch.center())
    assert not state.experiment.heads_off


def test_a_difference_has_colours_on_both_sides_and_a_neutral_tone_for_what_is_new(
    qtbot: QtBot, theme: Theme
) -> None:
    state, grid, _ = _grid(qtbot, theme)
    original = make_translation()
    changed = make_translation(
        target="a man now is standing on a ladder .", interventions=(ForcedToken(2, "now"),)
    )
    state.accept(ExperimentResult(changed, original, original.log_probabilities))
    unsigned = grid.grab().toImage()
    state.settings.shown, state.settings.label_mode = "difference", "predicted"
    picture = grid.grab().toImage()
    assert picture != unsigned
    box, values = grid.place_of(Head("cross", 0, 1)), state.maps.view_all("cross").values[0, 1]
    assert box is not None
    colors, top = SIGNED_PAPER.packed, top_value(state.maps, Head("cross", 0, 1), values)
    num_rows, num_columns = values.shape
    assert np.isnan(values[2]).all()
    assert values[np.isfinite(values)].min() < 0 < values[np.isfinite(values)].max()
    for row, column in ((2, 4), (4, 3), (5, 6), (0, 0)):
        x = box.left() + int((column + 0.5) * box.width() / num_columns)
        y = box.top() + int((row + 0.5) * box.height() / num_rows)
        value = values[row, column]
        expected = (
            SIGNED_PAPER.packed[-1] if np.isnan(value) else colors[SIGNED_PAPER.indices(value, top)]
        )
        assert picture.pixel(x, y) == expected
    state.settings.shown = "changed"
    state.settings.label_mode = "read"
    assert grid.grab().toImage() == grid.grab().toImage() != picture


def test_a_head_that_is_off_still_shows_its_map(qtbot: QtBot, theme: Theme) -> None:
    state, grid, _ = _grid(qtbot, theme)
    head = Head("cross", 2, 3)
    state.selection.choose(Head("encoder", 0, 0))
    before = grid.grab().toImage()
    off = make_translation(interventions=(HeadScaled(head),))
    state.submit(toggle(head))
    state.accept(ExperimentResult(off, make_translation(), off.log_probabilities))
    box = grid.place_of(head)
    assert box is not None
    picture = grid.grab().toImage()
    assert picture.copy(box) != before.copy(box)
    colors = {
        picture.pixel(x, y)
        for x in range(box.left(), box.right())
        for y in range(box.top(), box.bottom())
    }
    assert len(colors) > 10, "the map is seen through the dimmed"


def test_the_factor_of_a_scaled_head_stands_on_its_map_alone(qtbot: QtBot, theme: Theme) -> None:
    state, grid, _ = _grid(qtbot, theme)
    head = Head("cross", 2, 3)

    def pictures(factor: float) -> dict[Head, QImage]:
        scaled = make_translation(interventions=(HeadScaled(head, factor),))
        state.submit(scale(head, factor))
        state.accept(ExperimentResult(scaled, make_translation(), scaled.log_probabilities))
        picture, places = (
            grid.grab().toImage(),
            {head: grid.place_of(head) for head in state.maps.all_heads},
        )
        return {head: picture.copy(box) for head, box in places.items() if box is not None}

    half, other, plain = pictures(0.5), pictures(-1.23456), pictures(1.0)
    assert half[head] != other[head] != plain[head] != half[head]
    assert all(half[other_head] == other[other_head] for other_head in half if other_head != head)


@pytest.mark.parametrize("width", [340, 540])
def test_288_heads_have_thumbnails_that_can_be_told_apart_and_none_lies_beside_the_sheet(
    qtbot: QtBot, theme: Theme, width: int
) -> None:
    state = state_of(num_layers=6, num_heads=16)
    grid = HeadGrid(state)
    area = shown(qtbot, HeadGridArea(grid), (width, 400))
    grid.rebuild()
    heads = [
        Head(kind, layer, head)
        for kind in ATTENTION_KINDS
        for layer in range(6)
        for head in range(16)
    ]
    places = [box for box in map(grid.place_of, heads) if box is not None]
    assert len(places) == 288
    for box in places:
        assert min(box.width(), box.height()) >= 10
        assert box.right() <= area.viewport().width()
    assert not any(
        one.intersects(other) for number, one in enumerate(places) for other in places[:number]
    )
