import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import AttentionRow, ForcedToken
from augenmerk.core.translation.result import ExperimentResult
from augenmerk.viz_app.heatmap.heatmap import (
    BAR_GAP,
    BAR_WIDTH,
    MIN_LABEL_PX,
    Heatmap,
    lay_out,
    thinned,
    value_place,
)
from augenmerk.viz_app.state.color_scale import PAPER, SIGNED_PAPER
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_source import top_value
from augenmerk.viz_app.state.map_view import Pair, Place, SelectionMode
from augenmerk.viz_app.state.map_view_settings import FIT
from augenmerk.viz_app.theme import Theme
from tests.viz_app.builders import shown, state_of, turn_wheel
from tests.viz_app.synthetic import make_translation


@pytest.fixture
def state() -> ExperimentState:
    return state_of(head=Head("cross", 1, 2), label_mode="read")


@pytest.fixture
def heatmap(qtbot: QtBot, theme: Theme, state: ExperimentState) -> Heatmap:
    heatmap = shown(qtbot, Heatmap(state), (700, 560))
    heatmap.show_map()
    return heatmap


def _center(heatmap: Heatmap, cell: Pair) -> QPoint:
    box = heatmap.cell_rect(cell)
    assert box is not None
    return box.center().toPoint()


def test_cells_show_the_weights_of_the_chosen_head(
    heatmap: Heatmap, state: ExperimentState
) -> None:
    view = state.maps.view()
    assert view is not None
    picture, indices = heatmap.grab().toImage(), PAPER.indices(view.values)
    for row in range(len(view.row_labels)):
        for column in range(len(view.column_labels)):
            expected = PAPER.packed[indices[row, column]]
            assert picture.pixel(_center(heatmap, Pair(row, column))) == expected


def test_the_mouse_finds_every_cell(heatmap: Heatmap) -> None:
    for cell in (Pair(0, 0), Pair(3, 5), Pair(8, 8)):
        assert heatmap.pair_at(QPointF(_center(heatmap, cell))) == cell
    assert heatmap.pair_at(QPointF(1, 1)) is None


def test_hidden_rows_and_columns_do_not_shift_the_cells_found(
    heatmap: Heatmap, state: ExperimentState
) -> None:
    state.settings.hides_wrapping = True
    assert heatmap.cell_rect(Pair(0, 4)) is None
    assert heatmap.pair_at(QPointF(_center(heatmap, Pair(2, 4)))) == Pair(2, 4)


def test_the_mouse_hovers_and_pins_in_the_selection(
    qtbot: QtBot, heatmap: Heatmap, state: ExperimentState
) -> None:
    qtbot.mouseMove(heatmap, _center(heatmap, Pair(4, 2)))
    assert state.selection.hovered == Pair(4, 2)
    qtbot.mouseClick(heatmap, Qt.MouseButton.LeftButton, pos=_center(heatmap, Pair(1, 6)))
    assert state.selection.pinned == Pair(1, 6)
    qtbot.mouseClick(heatmap, Qt.MouseButton.LeftButton, pos=_center(heatmap, Pair(1, 6)))
    assert state.selection.pinned is None


def test_the_cross_hair_and_value_are_drawn(heatmap: Heatmap, state: ExperimentState) -> None:
    before = heatmap.grab().toImage()
    state.selection.hovered = Pair(4, 4)
    assert heatmap.grab().toImage() != before


@pytest.mark.parametrize("num_tokens", [1, 15, 40, 100])
@pytest.mark.parametrize("size", [(420, 300), (700, 560), (1300, 900)])
def test_any_number_of_tokens_fits_any_size(
    theme: Theme, num_tokens: int, size: tuple[int, int]
) -> None:
    words = " ".join(f"word{number}" for number in range(num_tokens))
    state = state_of(words, words, num_layers=1, num_heads=1)
    view = state.maps.view()
    assert view is not None
    layout = lay_out(view, QSize(*size), theme, FIT)
    assert layout.map.left() >= layout.row_label_width
    assert layout.map.right() <= size[0]
    assert layout.map.bottom() <= size[1]
    assert layout.font.pixelSize() >= MIN_LABEL_PX
    # labels do not run into each other
    assert layout.row_step * layout.cell.y() >= MIN_LABEL_PX * 0.84


def test_a_lit_label_silences_its_close_neighbours_only() -> None:
    assert thinned(10, 3, []) == [0, 3, 6, 9]
    assert thinned(10, 3, [4]) == [0, 4, 9]
    assert thinned(3, 1, [1]) == [0, 1, 2]
    assert thinned(6, 2, [0, 1, 2, 3, 4, 5]) == [0, 2, 4], "not even lit labels overlap"


def _long_state(num_tokens: int) -> ExperimentState:
    words = " ".join(f"word{number}" for number in range(num_tokens))
    return state_of(words, words, num_layers=1, num_heads=1)


def test_a_long_map_is_all_in_sight_and_zoomed_scrolls_under_labels_that_stay(
    qtbot: QtBot, theme: Theme
) -> None:
    state = _long_state(100)
    heatmap = shown(qtbot, Heatmap(state), (700, 560))
    heatmap.show_map()
    layout = heatmap.layout_now
    assert layout is not None
    assert layout.hidden.isNull()
    assert layout.row_step == 3
    state.settings.zoom = 13.0
    layout = heatmap.layout_now
    assert layout is not None
    assert layout.row_step == 1
    assert layout.window.bottom() <= 560
    assert heatmap.down.isVisible()
    assert heatmap.pair_at(layout.window.topLeft() + QPointF(2, 2)) == Pair(0, 0)
    heatmap.down.setValue(heatmap.down.maximum())
    heatmap.across.setValue(heatmap.across.maximum())
    layout = heatmap.layout_now
    assert layout is not None
    assert heatmap.pair_at(layout.window.bottomRight() - QPointF(2, 2)) == Pair(100, 101)
    assert 100 in layout.rows_in_sight
    assert 0 not in layout.rows_in_sight


def test_a_cell_that_is_pinned_is_scrolled_to_and_stays_in_sight(
    qtbot: QtBot, theme: Theme
) -> None:
    state = _long_state(60)
    state.settings.zoom = 13.0
    heatmap = shown(qtbot, Heatmap(state), (500, 400))

    def is_in_sight() -> bool:
        layout, pinned = heatmap.layout_now, state.selection.pinned
        assert layout is not None
        assert pinned is not None
        cell = heatmap.cell_rect(pinned)
        return cell is not None and layout.window.adjusted(-1, -1, 1, 1).contains(cell)

    for pair in (Pair(45, 50), Pair(2, 1)):
        state.selection.pinned = pair
        assert is_in_sight(), "a step, an example or a lesson speaks of it"
    state.selection.pinned = Pair(30, 30)
    heatmap.resize(500, 250)
    assert is_in_sight(), "also in a smaller map"
    scrolled = heatmap.down.value()
    state.selection.pinned = None
    assert heatmap.down.value() == scrolled


def test_the_wheel_scrolls_a_map_to_its_end_and_then_what_is_around(
    qtbot: QtBot, theme: Theme
) -> None:
    state = _long_state(60)
    heatmap = shown(qtbot, Heatmap(state), (500, 400))
    heatmap.show_map()
    assert not turn_wheel(heatmap, -120), "all of it is in sight"
    state.settings.zoom = 13.0
    assert turn_wheel(heatmap, -120)
    assert heatmap.down.value() > 0
    heatmap.down.setValue(heatmap.down.maximum())
    assert not turn_wheel(heatmap, -120)


def test_zooming_keeps_what_is_under_the_mouse_where_it_is(qtbot: QtBot, heatmap: Heatmap) -> None:
    point = QPointF(_center(heatmap, Pair(7, 7)))
    heatmap.zoom_about(point, 3)
    layout = heatmap.layout_now
    assert layout is not None
    assert layout.hidden.height() > 0
    assert heatmap.pair_at(point) == Pair(7, 7)
    assert heatmap.grab().size() == heatmap.size()


def test_the_strip_under_the_map_shows_the_sum_of_the_picked_rows(
    heatmap: Heatmap, state: ExperimentState
) -> None:
    manners: list[tuple[int, SelectionMode]] = [(2, "alone"), (5, "also")]
    for row, manner in manners:
        state.selection.pick_queries((row,), 1, manner)
    layout, view = heatmap.layout_now, state.maps.view()
    assert layout is not None
    assert layout.sums is not None
    assert view is not None
    total = view.values[2] + view.values[5]
    indices = PAPER.indices(total[None, :], max(1.0, float(total.max())))[0]
    picture = heatmap.grab().toImage()
    for column in range(len(view.column_labels)):
        x = layout.sums.left() + (column + 0.5) * layout.cell.x()
        point = QPointF(x, layout.sums.center().y())
        assert heatmap.layout_now.sum_at(point) == column
        assert picture.pixel(point.toPoint()) == PAPER.packed[indices[column]]


def test_labels_are_found_under_the_mouse(
    qtbot: QtBot, heatmap: Heatmap, state: ExperimentState
) -> None:
    layout = heatmap.layout_now
    assert layout is not None
    beside = QPoint(int(layout.window.left()) - 15, _center(heatmap, Pair(4, 0)).y())
    above = QPoint(_center(heatmap, Pair(0, 6)).x() + 7, int(layout.window.top()) - 10)
    qtbot.mouseClick(heatmap, Qt.MouseButton.LeftButton, pos=beside)
    assert state.selection.picked.tokens == {3}, "query 4 reads token 3"
    further = _center(heatmap, Pair(6, 2))
    qtbot.mouseClick(heatmap, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, further)
    assert state.selection.picked.tokens == {3, 4, 5}
    qtbot.mouseClick(heatmap, Qt.MouseButton.LeftButton, pos=above)
    assert state.selection.picked_key.tokens == {6}
    assert heatmap.queries_at(QPointF(beside)) == (4,)
    assert heatmap.queries_at(QPointF(further)) == (6,)
    assert heatmap.queries_at(QPointF(1, 1)) == ()


@pytest.mark.heavy
def test_painting_only_the_cells_leaves_the_picture_of_painting_all(
    heatmap: Heatmap, state: ExperimentState, qtbot: QtBot
) -> None:
    qtbot.waitExposed(heatmap)

    def seen() -> QImage:
        return heatmap.screen().grabWindow(heatmap.winId()).toImage()

    def choose(head: int) -> None:
        state.selection.choose(Head("cross", 0, head))

    heatmap.repaint()
    before = seen()
    for change in (
        lambda: choose(1),
        lambda: setattr(state.settings, "scale", "own"),
        lambda: setattr(state.settings, "label_mode", "predicted"),
        lambda: setattr(state.selection, "hovered", Pair(1, 2)),
        lambda: state.selection.clear_hovered(),
        lambda: setattr(state.selection, "pinned", Pair(2, 2)),
        lambda: choose(0),
        lambda: state.selection.clear_marks(),
        lambda: state.accept(_changed()),
        lambda: setattr(state.settings, "shown", "difference"),
        lambda: choose(3),
        lambda: setattr(state.settings, "shown", "original"),
        lambda: setattr(state.selection, "step", 0),  # a frame at the upper edge
        lambda: setattr(state.selection, "step", None),
        lambda: setattr(state.selection, "hovered", Pair(0, 0)),
        lambda: state.selection.clear_hovered(),
    ):
        change()
        qtbot.wait(30)
        now = seen()
        assert now != before
        heatmap.repaint()
        assert seen() == now
        before = now


def _changed() -> ExperimentResult:
    """A word is new in the translation."""
    original = make_translation()
    changed = make_translation(
        target="a man now is standing on a ladder .", interventions=(ForcedToken(2, "now"),)
    )
    return ExperimentResult(changed, original, original.log_probabilities)


def test_a_difference_has_a_scale_of_its_own_and_hatches_what_is_new(
    heatmap: Heatmap, state: ExperimentState
) -> None:
    state.accept(_changed())
    state.settings.shown, state.settings.label_mode = "difference", "predicted"
    view, layout = state.maps.view(), heatmap.layout_now
    assert view is not None
    assert layout is not None
    picture, values = heatmap.grab().toImage(), view.values
    top = top_value(state.maps, state.selection.head, values)
    colors = SIGNED_PAPER.packed
    for row_and_column in ((0, 2), (5, 7), (8, 3)):
        pair = view.pair_at(Place(*row_and_column))
        assert (
            picture.pixel(_center(heatmap, pair))
            == colors[SIGNED_PAPER.indices(values[row_and_column], top)]
        )
    assert view.row_labels[2] == "now"
    assert np.isnan(values[2]).all()
    cell = heatmap.cell_rect(view.pair_at(Place(2, 4)))
    assert cell is not None
    area = cell.toRect().adjusted(2, 2, -2, -2)
    seen = {
        picture.pixel(x, y)
        for x in range(area.left(), area.right())
        for y in range(area.top(), area.bottom())
    }
    assert SIGNED_PAPER.packed[-1] in seen
    assert len(seen) > 1, "lines run over it"
    bar = QPoint(int(layout.window.right() + BAR_GAP + BAR_WIDTH / 2), 0)
    ends = (layout.window.top() + 2, layout.window.center().y(), layout.window.bottom() - 2)
    above, zero, below = (picture.pixelColor(bar.x(), int(y)) for y in ends)
    assert above.red() > above.blue()
    assert below.blue() > below.red()
    assert min(zero.red(), zero.green(), zero.blue()) > 235


def test_labels_of_new_words_are_marked_and_an_unchanged_map_has_none(
    heatmap: Heatmap, state: ExperimentState
) -> None:
    state.settings.label_mode = "predicted"

    def marked_rows() -> list[int]:
        """Rows with the bar of a new word beside them."""
        picture, layout, view = heatmap.grab().toImage(), heatmap.layout_now, state.maps.view()
        assert layout is not None
        assert view is not None
        x, warm = int(layout.window.left()) - 4, Theme.light().color("warm").rgb()
        middles = [
            layout.map.top() + (row + 0.5) * layout.cell.y() for row in range(len(view.row_labels))
        ]
        return [row for row, y in enumerate(middles) if picture.pixel(x, int(y)) == warm]

    assert marked_rows() == []
    state.accept(_changed())
    assert marked_rows() == [2]
    state.settings.shown = "original"
    assert marked_rows() == []


def test_without_a_partner_the_changed_map_is_shown_in_its_usual_colours(
    heatmap: Heatmap, state: ExperimentState
) -> None:
    original = make_translation(target="x y")
    changed = make_translation(target="a b", interventions=(ForcedToken(0, "a"),))
    state.accept(ExperimentResult(changed, original, original.log_probabilities))
    before = heatmap.grab().toImage()
    state.settings.shown = "difference"
    assert "no word in common" in state.maps.difference_problem("cross")
    assert heatmap.grab().toImage() == before


def test_two_maps_of_two_experiments_live_side_by_side(
    qtbot: QtBot, theme: Theme, state: ExperimentState
) -> None:
    other = state_of("zwei", "two")
    first, second = Heatmap(state), Heatmap(other)
    for heatmap in (first, second):
        qtbot.addWidget(heatmap)
        heatmap.resize(400, 300)
    before = second.grab().toImage()
    state.settings.scale = "own"
    state.selection.choose(Head("encoder", 0, 0))
    assert second.grab().toImage() == before
    assert first.cell_rect(Pair(8, 8)) is not None
    assert second.cell_rect(Pair(8, 8)) is None


def test_the_step_that_is_looked_at_has_no_colour_of_changes(
    heatmap: Heatmap, state: ExperimentState
) -> None:
    state.selection.step = 2
    picture, layout = heatmap.grab().toImage(), heatmap.layout_now
    assert layout is not None
    y = round(layout.map.top() + 2.5 * layout.cell.y())
    left = [picture.pixelColor(int(layout.map.left()) + x, y).rgb() for x in (-1, 0, 1)]
    assert Theme.light().color("accent").rgb() in left
    assert Theme.light().color("warm").rgb() not in left


def test_a_row_that_was_set_is_marked_at_the_right_of_its_head_alone(
    heatmap: Heatmap, state: ExperimentState
) -> None:
    original = make_translation()
    num_keys = len(original.source_tokens)
    row = AttentionRow(Head("cross", 1, 2), 3, (1.0,) * num_keys)
    changed = make_translation(interventions=(row,))

    def marked_rows() -> list[int]:
        picture, layout, view = heatmap.grab().toImage(), heatmap.layout_now, state.maps.view()
        assert layout is not None
        assert view is not None
        x, warm = int(layout.window.right()) + 4, Theme.light().color("warm").rgb()
        middles = [
            layout.map.top() + (row + 0.5) * layout.cell.y() for row in range(len(view.row_labels))
        ]
        return [row for row, y in enumerate(middles) if picture.pixel(x, int(y)) == warm]

    assert marked_rows() == []
    state.accept(ExperimentResult(changed, original, original.log_probabilities))
    assert marked_rows() == [3]
    state.settings.shown = "original"
    assert marked_rows() == []
    state.settings.shown = "changed"
    state.selection.choose(Head("cross", 1, 3))
    assert marked_rows() == []


@pytest.mark.parametrize("widget", [QSizeF(640, 400), QSizeF(420, 320)])
def test_the_box_of_a_value_covers_neither_labels_nor_bar_nor_the_row_of_its_cell(
    widget: QSizeF,
) -> None:
    cells = QRectF(90, 70, 220, 200)
    box = QSizeF(150, 40)
    for row in range(10):
        for column in range(10):
            cell = QRectF(90 + column * 22, 70 + row * 20, 22, 20)
            bar = QRectF(cells.right(), cells.top(), 60, cells.height())
            value_box = value_place(cell, box, widget, cells, bar)
            assert not value_box.intersects(bar)
            assert QRectF(cells.topLeft(), QPointF(widget.width(), widget.height())).contains(
                value_box
            )
            assert not value_box.intersects(QRectF(0, cell.top(), widget.width(), cell.height())), (
                "its row, and its label"
            )
            if widget.width() > 600:
                beside = QRectF(cell.left(), cells.top(), cell.width(), widget.height())
                assert not value_box.intersects(beside), "its column"


def test_the_box_of_a_value_stays_in_a_map_that_has_no_room_beside_the_cell() -> None:
    value_box = value_place(
        QRectF(60, 50, 20, 20),
        QSizeF(150, 40),
        QSizeF(170, 120),
        QRectF(40, 40, 100, 60),
        QRectF(140, 40, 30, 60),
    )
    assert QRectF(0, 0, 170, 120).contains(value_box)


@pytest.mark.parametrize("column", range(8))
@pytest.mark.parametrize("row", range(8))
def test_on_a_small_map_the_value_covers_neither_label_nor_bar(row: int, column: int) -> None:
    cells, widget, box = QRectF(70, 60, 160, 120), QSizeF(270, 190), QSizeF(150, 40)
    cell = QRectF(70 + 20 * column, 60 + 15 * row, 20, 15)
    value_box = value_place(cell, box, widget, cells, QRectF(230, 60, 40, 120))
    assert QRectF(cells.topLeft(), QPointF(230, 188)).contains(value_box)
    assert not value_box.intersects(cell)
