"""Every back end draws the marks of the same description at the same places in the same colours."""

import io
import itertools
import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image
from PySide6.QtCore import QByteArray
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import AttentionRow, ForcedToken, HeadScaled
from augenmerk.viz_app.extensions.pictures.figures import grid_figure, map_figure
from augenmerk.viz_app.extensions.pictures.film import Film, Shot, save_film
from augenmerk.viz_app.extensions.pictures.map_svg import map_svg
from augenmerk.viz_app.extensions.pictures.printed_maps import (
    PRINT_COLORS,
    DrawingBlock,
    small_maps,
)
from augenmerk.viz_app.heatmap.drawing import (
    DIMMED_OPACITY,
    SMALL_SCALE,
    Box,
    Drawing,
    Shape,
    large_map,
    mark_shapes,
    marked_labels,
    pointer_shapes,
)
from augenmerk.viz_app.heatmap.heatmap import Heatmap
from augenmerk.viz_app.state.color_scale import ColorScale
from augenmerk.viz_app.state.experiment_editor import open_experiment
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Band, Marks, Place, Pointed, PointerStyle, Sums
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from tests.builders import first_quick
from tests.viz_app.builders import state_of
from tests.viz_app.synthetic import make_result, make_translation

ROWS, COLUMNS = 6, 5
FIRST_PINNED, LAST_PINNED = Marks(pinned=Place(0, 0)), Marks(pinned=Place(ROWS - 1, COLUMNS - 1))
ALL = Marks(
    factor=0.0,
    pinned=Place(4, 3),
    lit=frozenset({Band(2, is_row=True), Band(1, is_row=False)}),
    changed=frozenset({Band(1, is_row=True), Band(2, is_row=False)}),
    set=frozenset({Band(3, is_row=True), Band(4, is_row=False)}),
    forced=frozenset({Band(5, is_row=True), Band(0, is_row=False)}),
)
EACH = {name: replace(Marks(), **{name: value}) for name, value in vars(ALL).items() if value}
POINTERS = {
    f"{style} {column if column is not None else 'row'}": Marks(pointed=Pointed(style, 2, column))
    for style in ("ring", "arrow", "dim")
    for column in (1, 3, None)
} | {"dimmed": Marks(is_dimmed=True)}
CASES = EACH | {"all": ALL} | POINTERS
Pixels = np.ndarray


def drawing(marks: Marks) -> Drawing:
    values = np.full((ROWS, COLUMNS), 0.02, dtype=np.float32)
    return Drawing(values, [""] * ROWS, [""] * COLUMNS, marks=marks)


def by_figure(drawing: Drawing) -> Pixels:
    return figure_pixels(map_figure(drawing))


def by_grid(drawing: Drawing) -> Pixels:
    return figure_pixels(grid_figure([DrawingBlock("", [[drawing]])], ""))


def figure_pixels(figure) -> Pixels:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=96)
    return np.asarray(Image.open(content).convert("RGB")).astype(int)


@pytest.fixture
def by_film(tmp_path) -> Callable[[Drawing], Pixels]:
    def draw(drawing: Drawing) -> Pixels:
        save_film(Film("", "", "", (Shot([drawing], "", ""),)), tmp_path / "film.gif")
        with Image.open(tmp_path / "film.gif") as image:
            return np.asarray(image.convert("RGB")).astype(int)

    return draw


def by_svg(drawing: Drawing) -> Pixels:
    renderer = QSvgRenderer(QByteArray(map_svg(drawing).encode()))
    image = QImage(renderer.defaultSize(), QImage.Format.Format_RGB32)
    image.fill(0xFFFFFFFF)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    return image_pixels(image)


def image_pixels(image: QImage) -> Pixels:
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    lines = np.frombuffer(image.constBits(), dtype=np.uint8).reshape(
        image.height(), image.bytesPerLine()
    )
    return lines[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).astype(int)


def check_marks(draw: Callable[[Drawing], Pixels], marks: Marks, scale: float = 1.0) -> None:
    """The frames of two pinned cells say where the cells are; each mark stands where the
    description has it.
    """
    plain = draw(drawing(Marks()))
    left, top, *_ = bounds(plain, draw(drawing(FIRST_PINNED)))
    *_, right, bottom = bounds(plain, draw(drawing(LAST_PINNED)))
    # a frame reaches 1 pixel beyond its cell
    left, top, right, bottom = left + 1, top + 1, right - 1, bottom - 1
    window = Box(0, 0, right - left, bottom - top)
    shapes = mark_shapes(marks, (window.width / COLUMNS, window.height / ROWS), window, scale)
    check_shapes(plain, draw(drawing(marks)), (left, top), shapes)


def check_shapes(
    plain: Pixels, pixels: Pixels, corner: tuple[float, float], shapes: list[Shape]
) -> None:
    """Each shape is drawn, in its colour, and nothing else is."""
    left, top = corner
    difference = np.abs(pixels - plain).sum(axis=2) > 30
    assert shapes
    outside = difference.copy()
    for shape in shapes:
        x, y = left + shape.box.left, top + shape.box.top
        (x, x_end), (y, y_end) = sorted((x, x + shape.box.width)), sorted((y, y + shape.box.height))
        pad = 2 + int(shape.pen_px / 2)
        slices = (
            slice(max(0, round(y) - pad), round(y_end) + pad + 1),
            slice(max(0, round(x) - pad), round(x_end) + pad + 1),
        )
        color = np.array(to_rgb(PRINT_COLORS[shape.color])) * 255
        if shape.kind == "dimmed":
            inner = slice(round(y) + 3, round(y_end) - 2), slice(round(x) + 3, round(x_end) - 2)
            far, near = (255 - np.percentile(image[inner], 20) for image in (plain, pixels))
            assert near == pytest.approx((1 - DIMMED_OPACITY) * far, abs=4), shape
            outside[slices] = False
            continue
        is_drawn = difference[slices] & (np.abs(pixels[slices] - color).sum(axis=2) < 200)
        rows, columns = is_drawn.nonzero()
        assert len(rows), shape
        assert np.ptp(rows) >= abs(shape.box.height) - 4, shape
        assert np.ptp(columns) >= abs(shape.box.width) - 4, shape
        if shape.kind == "line" and len(shapes) == 1:
            on_line = np.abs(rows / is_drawn.shape[0] - columns / is_drawn.shape[1]) < 0.05
            assert on_line.all()
        outside[slices] = False
    assert not outside.any(), np.argwhere(outside)


IN_ROWS = [
    replace(marks, forced=frozenset(band for band in marks.forced if band.is_row))
    for marks in CASES.values()
]


@pytest.mark.parametrize("marks", IN_ROWS, ids=CASES)
def test_the_window_draws_each_mark_where_the_description_has_it(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, marks: Marks
) -> None:
    state = state_of(
        "ein mann schläft .", "a man is sleep|ing .", label_mode="read", merges_words=False
    )
    heatmap = Heatmap(state)
    qtbot.addWidget(heatmap)
    heatmap.resize(600, 500)

    def draw(shown: Marks) -> Pixels:
        monkeypatch.setattr(
            "augenmerk.viz_app.heatmap.drawing.marks_of_large_map", lambda state, view: shown
        )
        heatmap.lay_out()
        return image_pixels(heatmap.grab().toImage())

    plain, pixels, layout = draw(Marks()), draw(marks), heatmap.layout_now
    assert layout is not None
    map_area = layout.map
    window = Box(0, 0, map_area.width(), map_area.height())
    shapes = mark_shapes(marks, (layout.cell.x(), layout.cell.y()), window)
    is_label = np.ones(plain.shape[:2], dtype=bool)
    top, left = int(map_area.top()) - 6, int(map_area.left()) - 6
    is_label[top:, left:] = False
    pixels[is_label] = plain[is_label]  # labels are coloured, too
    check_shapes(plain, pixels, (map_area.left(), map_area.top()), shapes)


def bounds(plain: Pixels, marked: Pixels) -> tuple[int, int, int, int]:
    rows, columns = (np.abs(marked - plain).sum(axis=2) > 30).nonzero()
    return columns.min(), rows.min(), columns.max() + 1, rows.max() + 1


@pytest.mark.figures
@pytest.mark.parametrize("marks", first_quick(CASES.values()), ids=CASES)
@pytest.mark.parametrize("draw", [by_figure, by_grid, by_svg])
def test_a_back_end_draws_each_mark_where_the_description_has_it(qapp, draw, marks: Marks) -> None:
    check_marks(draw, marks, SMALL_SCALE if draw is by_grid else 1.0)


@pytest.mark.parametrize("marks", CASES.values(), ids=CASES)
def test_a_film_draws_each_mark_where_the_description_has_it(by_film, marks: Marks) -> None:
    check_marks(by_film, marks)


@pytest.mark.parametrize("scale", [1.0, SMALL_SCALE])
@pytest.mark.parametrize(
    ("num_rows", "num_columns", "cell"),
    [
        (6, 5, (20, 10)),
        (6, 5, (40, 20)),
        (7, 7, (50, 50)),
        (2, 5, (30, 60)),
        (1, 3, (30, 9)),
        (4, 4, (2, 3)),
    ],
    ids=str,
)
def test_the_script_of_the_page_makes_the_same_shapes(
    qapp, num_rows: int, num_columns: int, cell: tuple[int, int], scale: float
) -> None:
    from tests.viz_app.extensions.pictures.test_html_page import (
        content,
        page_html,
        read_by_the_script,
    )

    def bands(marked: frozenset[Band]) -> list[dict]:
        return [{"index": band.index, "isRow": band.is_row} for band in sorted(marked)]

    every_row, every_column = [None, *range(num_rows)], [None, *range(num_columns)]
    cells = list(itertools.product(every_row, every_column))
    names = ("lit", "changed", "set", "forced")
    in_map = {
        name: frozenset(
            band
            for band in getattr(ALL, name)
            if band.index < (num_rows if band.is_row else num_columns)
        )
        for name in names
    }
    every_mark = replace(ALL, pinned=Place(num_rows - 1, 2), **in_map)
    drawn = [
        replace(every_mark, pointed=Pointed(style, row, column))
        for style in ("ring", "arrow", "dim")
        for row, column in cells
    ]
    drawn += [Marks(is_dimmed=True, pinned=Place(0, 0)), every_mark]
    told = [
        {
            "factor": marks.factor,
            "isDimmed": marks.is_dimmed,
            "pinned": marks.pinned and [marks.pinned.row, marks.pinned.column],
            "pointed": marks.pointed
            and [marks.pointed.style, marks.pointed.row, marks.pointed.column],
        }
        | {name: bands(getattr(marks, name)) for name in names}
        for marks in drawn
    ]
    width, height = cell[0] * num_columns, cell[1] * num_rows
    tell = (
        f"JSON.stringify({json.dumps(told)}.map((marks) => markShapes(marks, {cell[0]}, {cell[1]}, "
        f"{width}, {height}, {scale})))"
    )
    window = Box(0, 0, width, height)
    for marks, shapes in zip(drawn, read_by_the_script(page_html(content()), tell), strict=True):
        expected = mark_shapes(marks, cell, window, scale)
        assert [(kind, color) for kind, _, color, _ in shapes] == [
            (shape.kind, shape.color) for shape in expected
        ]
        for (_, box, _, pen_px), shape in zip(shapes, expected, strict=True):
            assert (*box, pen_px) == pytest.approx((*shape.box, shape.pen_px)), (marks, shape)


@pytest.mark.parametrize("style", ["ring", "arrow", "dim"])
def test_a_pointer_moves_with_its_map(style: PointerStyle) -> None:
    for row, column in itertools.product(range(6), range(5)):
        at, around = Box(50 * column, 40 * row, 50, 40), Box(0, 0, 250, 240)
        moved = pointer_shapes(
            style, at._replace(left=at.left + 7, top=at.top - 900), Box(7, -900, 250, 240)
        )
        assert [
            replace(shape, box=shape.box._replace(left=shape.box.left - 7, top=shape.box.top + 900))
            for shape in moved
        ] == pointer_shapes(style, at, around)


@pytest.mark.parametrize("at", [Box(0, 0, 50, 40), Box(100, 80, 50, 40), Box(0, 40, 250, 40)])
def test_all_but_what_a_pointer_points_at_is_dimmed_once(at: Box) -> None:
    is_dimmed = np.zeros((120, 250), dtype=int)
    for box in [at, *(shape.box for shape in pointer_shapes("dim", at, Box(0, 0, 250, 120)))]:
        assert box.width > 0
        assert box.height > 0
        is_dimmed[box.top : box.bottom, box.left : box.right] += 1
    assert (is_dimmed == 1).all()


def test_marks_of_rows_out_of_sight_are_not_drawn() -> None:
    in_sight = mark_shapes(ALL, (20, 10), Box(0, 25, 20 * COLUMNS, 10))
    assert [
        shape.box.top for shape in in_sight if shape.color == "warm" and shape.box.width == 3
    ] == [31]


def test_labels_of_selected_and_changed_rows_are_coloured() -> None:
    assert marked_labels(ALL, ROWS, is_row=True) == ["", "warm", "accent", "", "accent", ""]
    assert marked_labels(ALL, COLUMNS, is_row=False) == ["", "accent", "warm", "accent", ""]


@pytest.mark.figures
def test_a_strip_and_cells_without_value_are_in_every_file(qapp, by_film) -> None:
    values = np.full((ROWS, COLUMNS), 0.02, dtype=np.float32)
    values[2, 2] = np.nan
    gap = replace(drawing(Marks()), values=values, scale=ColorScale(is_signed=True))
    for draw in (by_figure, by_film, by_svg):
        whole = replace(gap, values=np.nan_to_num(values, nan=0.02))
        assert (np.abs(draw(gap) - draw(whole)).sum(axis=2) > 30).sum() > 20
    sums = Sums(np.array([[0.1, 1.4, 0, 0, 0.2]], dtype=np.float32), "Σ 2 rows")
    figure = map_figure(replace(drawing(Marks()), sums=sums))
    assert figure.axes[1].get_yticklabels()[0].get_text() == "Σ 2 rows"
    np.testing.assert_array_equal(figure.axes[1].collections[0].get_array(), sums.values)


def test_marks_are_those_of_the_experiment() -> None:
    state = ExperimentState(MapViewSettings(label_mode="read", merges_words=False))
    changes = (
        ForcedToken(1, "cat"),
        HeadScaled(Head("cross", 1, 2)),
        AttentionRow(Head("cross", 0, 1), 2, (1.0, 0, 0, 0, 0)),
    )
    original = make_translation("ein mann schläft .", "a man is sleep|ing .")
    changed = make_translation("ein mann schläft .", "a cat is sleep|ing .", interventions=changes)
    state.submit(open_experiment(changed.experiment), asks=False)
    state.accept(make_result(changed, original))
    state.intents.choose_head(Head("cross", 1, 2))
    drawing = large_map(state)
    assert drawing is not None
    assert drawing.marks.is_off
    assert drawing.marks.forced == {Band(2, is_row=True)}, "the row that reads the forced token"
    assert not drawing.marks.set
    assert drawing.marks.changed == {Band(2, is_row=True)}
    state.intents.choose_head(Head("cross", 0, 1))
    drawing = large_map(state)
    assert drawing is not None
    assert drawing.marks.set == {Band(2, is_row=True)}
    assert not drawing.marks.is_off
    small = small_maps(state, "cross")
    assert small.lines[1][2].marks.is_off
    assert small.lines[0][1].marks.set == {Band(2, is_row=True)}
    assert small.lines[0][0].marks.forced == {Band(2, is_row=True)}


@pytest.mark.parametrize(
    "indices", [(0, 0), (0, 9), (3, 3), (5, 5), (7, 7), (8, 8), (9, 0), (9, 9)]
)
def test_an_arrow_stays_inside_the_map_and_crosses_the_diagonal(indices: tuple[int, int]) -> None:
    cell, around = 40.0, Box(0, 0, 400, 400)
    row, column = indices
    shaft, *_ = pointer_shapes("arrow", Box(column * cell, row * cell, cell, cell), around)
    assert 0 <= shaft.box.left + shaft.box.width <= around.width
    assert 0 <= shaft.box.top + shaft.box.height <= around.height
    if 2 <= row <= 7:
        assert shaft.box.width * shaft.box.height < 0, (
            "along the diagonal it would hide the neighbours' weights"
        )
