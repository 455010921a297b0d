"""The contents of a drawing of labelled maps: screen, files, films and pages draw the same one.

No Qt.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from augenmerk.core.translation.result import FloatArray

from ..state import map_text
from ..state.color_scale import PLAIN, ColorScale
from ..state.experiment_state import ExperimentState
from ..state.map_source import color_scale
from ..state.map_view import NO_MARKS, Band, Marks, Pointed, PointerStyle, Sums
from ..state.marks import marks_of_large_map, query_sum

BAR_PX, DOT_PX = 3.0, 4.0
"""Pixels: thickness of the short bars, and diameter of the dots, next to rows and columns."""
CHANGED_PX, SET_PX, FORCED_PX = 6.0, 2.0, 8.0
"""Pixels between such a mark and the cells."""
SMALL_SCALE = 0.5
"""Scale of the marks next to small maps."""
POINTER_PX, ARROW_PX, ARROW_HEAD_PX = 3.5, 34.0, 11.0
"""Thickness of a pointer; lengths of an arrow and its head along each side."""
POINTED_PX, MAX_LARGER = 24.0, 2.5
"""Height of a cell for these lengths; those of a higher cell are larger, at most by this factor."""
RING_MARGIN_PX, MAX_RING_MARGIN_PX = 5.0, 9.0
"""Least and greatest distance of a ring from its cell."""
RING_MARGIN_SHARE = 0.12
"""Distance of a ring from its cell, as a share of the cell's side."""
LEVEL_OVERLAP_PX = 5.0
"""How far a level arrow reaches into the cell that it points at."""
DIMMED_OPACITY = 0.72
"""Opacity of the ground over dimmed cells."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """One map as drawn.

    Attributes:
        values: [rows, columns]; NaN: a cell without a value, which is hatched.
        row_labels: one for each row; none where the map is drawn without labels.
        column_labels: one for each column; none likewise.
        scale: the colours of the values.
        row_axis: the meaning of rows, such as "source token"; may be empty.
        column_axis: the meaning of columns; may be empty.
        title: a few words.
        caption: a description; may be empty.
        marks: the marks on it.
        sums: the sum of picked queries; None if there is none.
    """

    values: FloatArray
    row_labels: Sequence[str] = ()
    column_labels: Sequence[str] = ()
    scale: ColorScale = PLAIN
    row_axis: str = ""
    column_axis: str = ""
    title: str = ""
    caption: str = ""
    marks: Marks = NO_MARKS
    sums: Sums | None = None

    def colors(self) -> NDArray[np.uint8]:
        """The colours of the cells on white ground, as sRGB bytes, [rows, columns, 3]."""
        return self.scale.colors(self.values)

    @property
    def sums_scale(self) -> ColorScale:
        """Colours of the row of sums; the last is that of the map, or of the largest sum."""
        assert self.sums is not None
        return replace(self.scale, top=max(self.scale.top, self.sums.largest))

    def missing(self) -> list[tuple[int, int]]:
        """Row and column of each cell without a value."""
        return [(row, column) for row, column in np.argwhere(np.isnan(self.values)).tolist()]


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + self.height

    @property
    def middle_x(self) -> float:
        """The middle between the left and the right edge."""
        return self.left + self.width / 2

    @property
    def middle_y(self) -> float:
        """The middle between the upper and the lower edge."""
        return self.top + self.height / 2


@dataclass(frozen=True)
class Shape:
    """The form of a mark in every back end.

    Attributes:
        kind: a filled rectangle, a filled ellipse, an outline, a line from the upper left to the
            lower right corner, an outlined ellipse, or a rectangle of the ground that lets a little
            through (`DIMMED_OPACITY`).
        box: its place, in pixels from the upper left cell; of a line, width and height may be
            negative.
        color: the role of its colour: "accent" for selected items, "warm" for changed ones,
            "pointer".
        pen_px: width of outline or line.
    """

    kind: Literal["fill", "dot", "frame", "line", "ring", "dimmed"]
    box: Box
    color: Literal["accent", "warm", "pointer"]
    pen_px: float = 0.0

    @property
    def is_beside(self) -> bool:
        """Whether it is next to the cells, or reaches beyond them."""
        return self.kind in ("fill", "dot", "ring")


def mark_shapes(
    marks: Marks, cell: tuple[float, float], window: Box, scale: float = 1.0
) -> list[Shape]:
    """The marks of a map as shapes.

    Args:
        marks: of the map.
        cell: width and height of a cell, in pixels.
        window: the visible part of the cells; marks next to the map are next to it.
        scale: of the marks next to it; below 1 for small maps, which are close together.
    """
    bar_px = BAR_PX * scale
    dot_px = DOT_PX * scale
    dimmed_areas = [Shape("dimmed", window, "pointer")] if marks.is_dimmed else []
    changed, set_by_hand, forced = (
        _visible(bands, cell, window) for bands in (marks.changed, marks.set, marks.forced)
    )
    bars = [_beside(band, box, window, -CHANGED_PX * scale, bar_px) for band, box in changed]
    bars += [_beside(band, box, window, SET_PX * scale, bar_px) for band, box in set_by_hand]
    dots = [_beside(band, box, window, FORCED_PX * scale, dot_px) for band, box in forced]
    shapes = dimmed_areas + [Shape("fill", bar, "warm") for bar in bars]
    shapes += [Shape("dot", _middle(bar, dot_px), "warm") for bar in dots]
    shapes += [Shape("frame", box, "accent", 1.4) for _, box in _visible(marks.lit, cell, window)]
    if marks.pinned is not None:
        left = marks.pinned.column * cell[0]
        top = marks.pinned.row * cell[1]
        shapes.append(Shape("frame", Box(left, top, *cell), "accent", 2))
    if marks.is_off:
        shapes.append(Shape("line", window, "warm", 2))
    if marks.pointed is not None:
        at = _pointed_box(marks.pointed, cell, window)
        is_in_width = 0 <= at.middle_x - window.left <= window.width
        is_in_height = 0 <= at.middle_y - window.top <= window.height
        if is_in_width and is_in_height:
            shapes += pointer_shapes(marks.pointed.style, at, window)
    return shapes


def _pointed_box(pointed: Pointed, cell: tuple[float, float], window: Box) -> Box:
    """The cell, row, column or map that a pointer points at."""
    width, height = cell
    left, box_width = (
        (window.left, window.width) if pointed.column is None else (pointed.column * width, width)
    )
    top, box_height = (
        (window.top, window.height) if pointed.row is None else (pointed.row * height, height)
    )
    return Box(left, top, box_width, box_height)


def pointer_shapes(style: PointerStyle, at: Box, around: Box) -> list[Shape]:
    """A pointer at a box.

    `around`: the part of the drawing around the box. It limits what is dimmed and the size, and
    decides the side of an arrow.
    """
    if style == "dim":
        return [Shape("dimmed", box, "pointer") for box in _boxes_around(at, around)]
    factor = min(max(at.height / POINTED_PX, 1.0), MAX_LARGER) if at.height < around.height else 1.0
    lines_px = POINTER_PX * factor**0.5
    if style == "ring":
        return [Shape("ring", _ring(at), "pointer", lines_px)]
    return [Shape("line", line, "pointer", lines_px) for line in _arrow(at, around, factor)]


def _boxes_around(at: Box, around: Box) -> list[Box]:
    """The parts of `around` above, below, left and right of a box; none that are empty."""
    boxes = (
        Box(around.left, around.top, around.width, at.top - around.top),
        Box(around.left, at.bottom, around.width, around.bottom - at.bottom),
        Box(around.left, at.top, at.left - around.left, at.height),
        Box(at.right, at.top, around.right - at.right, at.height),
    )
    return [box for box in boxes if box.width > 0 and box.height > 0]


def _ring(at: Box) -> Box:
    """The box of a ring around another, with a margin that grows with its sides."""
    x_margin, y_margin = (
        min(max(RING_MARGIN_PX, RING_MARGIN_SHARE * side), MAX_RING_MARGIN_PX)
        for side in (at.width, at.height)
    )
    return Box(
        at.left - x_margin, at.top - y_margin, at.width + 2 * x_margin, at.height + 2 * y_margin
    )


def _arrow(at: Box, around: Box, factor: float) -> list[Box]:
    """The shaft and both sides of the head of an arrow at a box, as lines that begin at its tip."""
    shaft_px = ARROW_PX * factor
    head_px = ARROW_HEAD_PX * factor
    x, y = _side_of_arrow(at, around, shaft_px)
    tip_x = at.right if x > 0 else at.left
    tip_y = at.bottom if y > 0 else at.top
    if at.width == around.width:  # a row: at its middle
        tip_x = at.middle_x
    lines = [(shaft_px * x, shaft_px * y), (head_px * x, 0.0), (0.0, head_px * y)]
    if around.height < 2 * at.height + shaft_px:  # no room above or below: a short level arrow
        tip_x -= LEVEL_OVERLAP_PX * x
        tip_y = at.middle_y
        head_px = ARROW_HEAD_PX / 2
        lines = [(ARROW_PX / 2 * x, 0.0), (head_px * x, head_px), (head_px * x, -head_px)]
    return [Box(tip_x, tip_y, *line) for line in lines]


def _side_of_arrow(at: Box, around: Box, shaft_px: float) -> tuple[int, int]:
    """The side from which an arrow comes: right or left (1 or -1), and below or above (1 or -1).

    It is the roomier one, if possible across the diagonal, on which many maps have their large
    weights.
    """
    x = 1 if at.middle_x < around.middle_x else -1
    y = 1 if at.middle_y < around.middle_y else -1
    if x == y and at.width < around.width:
        if min(at.left - around.left, around.bottom - at.bottom) >= shaft_px:
            return -1, 1
        if min(around.right - at.right, at.top - around.top) >= shaft_px:
            return 1, -1
    return x, y


def _visible(
    bands: Collection[Band], cell: tuple[float, float], window: Box
) -> list[tuple[Band, Box]]:
    """The visible parts of the rows and columns whose middle is in the window."""
    band_boxes = []
    for band in sorted(bands):
        size = cell[1] if band.is_row else cell[0]
        first, length = (window.top, window.height) if band.is_row else (window.left, window.width)
        if first <= (band.index + 0.5) * size <= first + length:
            row = Box(window.left, band.index * size, window.width, size)
            band_boxes.append(
                (
                    band,
                    row if band.is_row else Box(band.index * size, window.top, size, window.height),
                )
            )
    return band_boxes


def _beside(band: Band, box: Box, window: Box, distance: float, thickness: float) -> Box:
    """A bar along a row or column, at a distance from the right or lower edge.

    A negative `distance` is from the other edge.
    """
    if band.is_row:
        edge = window.right if distance > 0 else window.left
        return Box(edge + distance, box.top + 1, thickness, max(box.height - 2, 1.0))
    edge = window.bottom if distance > 0 else window.top
    return Box(box.left + 1, edge + distance, max(box.width - 2, 1.0), thickness)


def _middle(box: Box, size: float) -> Box:
    """A square in the middle of a box."""
    return Box(box.left + (box.width - size) / 2, box.top + (box.height - size) / 2, size, size)


LabelColor = Literal["accent", "warm", ""]


def marked_labels(marks: Marks, count: int, *, is_row: bool) -> list[LabelColor]:
    """The role of the colour of each row's or column's label: selected, changed, or neither."""
    colors: dict[int, LabelColor] = {
        band.index: "warm" for band in marks.changed if band.is_row == is_row
    }
    colors |= {band.index: "accent" for band in marks.lit if band.is_row == is_row}
    if marks.pinned is not None:
        colors[marks.pinned.row if is_row else marks.pinned.column] = "accent"
    return [colors.get(index, "") for index in range(count)]


def large_map(state: ExperimentState) -> Drawing | None:
    """The large map in its current state; None while nothing is shown."""
    view = state.maps.view()
    head = state.selection.head
    maps = state.maps
    if view is None:
        return None
    row_axis, column_axis = (axis.meaning for axis in view.axes)
    total = query_sum(state)
    return Drawing(
        values=view.values,
        row_labels=view.row_labels,
        column_labels=view.column_labels,
        scale=color_scale(maps, head, view.weights),
        row_axis=row_axis,
        column_axis=column_axis,
        title=map_text.title(state),
        marks=marks_of_large_map(state, view),
        sums=None if total is None else total.sums,
    )
