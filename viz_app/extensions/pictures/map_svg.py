"""A map as an SVG drawing, for pages without scripts and for print. No Qt."""

import html
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from augenmerk.core.plain_text import one_line

from ...heatmap.drawing import DIMMED_OPACITY, Box, Drawing, Shape, mark_shapes, marked_labels
from ...state.color_scale import ink_on
from .printed_maps import PRINT_COLORS, cell_text, scale_ends

WIDTH, HEIGHT = 680, 255
"""The room of a map in pixels: the text width of a printed page, and a part of half its height."""
MIN_CELL = (12, 9)
MAX_CELL = (90, 26)
MAX_ASPECT = 5
LETTER, MAX_LABEL = 6.2, 16
"""The width of a letter in pixels; characters of a label."""
TEXT_PX, LABEL_GAP, MARKS_ROOM, AXIS_ROOM = 11, 8, 14, 16
NUMBER_ROOM = 24, 11
"""The smallest cell that holds a number."""
BOLD_AT_END = ' text-anchor="end" font-weight="bold"'
BAR_GAP, BAR_WIDTH, BAR_STEPS, BAR_ROOM = 24, 10, 32, 94
INK, SOFT, GRID_COLOR, HATCH_COLOR = "#1d2126", "#5a626b", "#d8dbe0", "#9aa0a8"


class _Layout(NamedTuple):
    """The labels as drawn, the box of all cells, the size of one, and of the whole drawing."""

    rows: list[str]
    columns: list[str]
    cells: Box
    cell: tuple[int, int]
    width: float
    height: float


def _laid_out(drawing: Drawing, width: int, height: int) -> _Layout:
    rows, columns = _short(drawing.row_labels), _short(drawing.column_labels)
    left = round(max(map(len, [*rows, f"{drawing.row_axis} ↓"])) * LETTER) + LABEL_GAP + 4
    slanted = round(max(map(len, columns), default=0) * LETTER * 0.77) + LABEL_GAP + TEXT_PX
    top = slanted + AXIS_ROOM
    across = (width - left - BAR_ROOM) // max(1, len(columns))
    down = (height - top - MARKS_ROOM) // max(1, len(rows))
    cell_height = min(max(MIN_CELL[1], down), MAX_CELL[1])
    cell_width = min(max(MIN_CELL[0], across), MAX_CELL[0], MAX_ASPECT * cell_height)
    cells = Box(left, top, len(columns) * cell_width, len(rows) * cell_height)
    whole = left + cells.width + BAR_ROOM, top + cells.height + MARKS_ROOM
    return _Layout(rows, columns, cells, (cell_width, cell_height), *whole)


def svg_height(drawing: Drawing, height: int) -> float:
    """The height of the map as drawn in a room of this height."""
    return _laid_out(drawing, WIDTH, height).height


def map_svg(
    drawing: Drawing, *, has_numbers: bool = True, width: int = WIDTH, height: int = HEIGHT
) -> str:
    """A map as an SVG element that fills the room, with axes, marks and scale of colours.

    Args:
        drawing: the map.
        has_numbers: whether cells hold their values, in a group of the class "numbers", if they
            have room for them.
        width, height: of the room; the drawing exceeds it where cells would be smaller than
            `MIN_CELL`.
    """
    rows, columns, cells, cell, *whole = _laid_out(drawing, width, height)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{whole[0]:g}" height="{whole[1]:g}" '
        f'viewBox="0 0 {whole[0]:g} {whole[1]:g}" font-family="sans-serif" font-size="{TEXT_PX}" '
        f'aria-label="{escaped(drawing.title)}">'
    )
    parts = [head, *_labels(drawing, rows, columns, cells, cell), *_cells(drawing, cells, cell)]
    if has_numbers and cell[0] >= NUMBER_ROOM[0] and cell[1] >= NUMBER_ROOM[1]:
        parts.append(f'<g class="numbers">{"".join(_numbers(drawing, cells, cell))}</g>')
    inside = Box(0, 0, cells.width, cells.height)
    parts += [
        _shape_svg(shape, cells.left, cells.top)
        for shape in mark_shapes(drawing.marks, cell, inside)
    ]
    parts += _scale(drawing, cells)
    if drawing.marks.scaling:
        position = cells.left - LABEL_GAP, cells.top + cells.height + MARKS_ROOM - 3
        parts.append(_text(*position, drawing.marks.scaling, BOLD_AT_END, PRINT_COLORS["warm"]))
    return f"{''.join(parts)}</svg>"


def escaped(text: str) -> str:
    """One line of text for HTML."""
    return html.escape(one_line(text))


def _short(labels: Sequence[str]) -> list[str]:
    return [
        label if len(label) <= MAX_LABEL else f"{label[: MAX_LABEL - 1]}…"
        for label in map(one_line, labels)
    ]


def _text(x: float, y: float, text: str, more: str = "", color: str = INK) -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{color}"{more}>{escaped(text)}</text>'


def _labels(
    drawing: Drawing, rows: Sequence[str], columns: Sequence[str], cells: Box, cell: tuple[int, int]
) -> Iterator[str]:
    """Rows at their left, columns above them and turned, and the meaning of both."""
    colors = PRINT_COLORS | {"": INK}
    for column, color in enumerate(marked_labels(drawing.marks, len(columns), is_row=False)):
        x = round(cells.left + (column + 0.6) * cell[0])
        y = cells.top - LABEL_GAP
        yield _text(x, y, columns[column], f' transform="rotate(-50 {x} {y:g})"', colors[color])
    size = min(TEXT_PX, cell[1])  # labels of low rows would overlap
    for row, color in enumerate(marked_labels(drawing.marks, len(rows), is_row=True)):
        y = round(cells.top + (row + 0.5) * cell[1] + 0.35 * size)
        yield _text(
            cells.left - LABEL_GAP,
            y,
            rows[row],
            f' text-anchor="end" font-size="{size}"',
            colors[color],
        )
    if drawing.row_axis:
        yield _text(
            cells.left - LABEL_GAP,
            cells.top - LABEL_GAP,
            f"{drawing.row_axis} ↓",
            ' text-anchor="end"',
            SOFT,
        )
    if drawing.column_axis:
        yield _text(cells.left, TEXT_PX, f"{drawing.column_axis} →", "", SOFT)


def _cells(drawing: Drawing, cells: Box, cell: tuple[int, int]) -> Iterator[str]:
    missing = set(drawing.missing())
    (wide, high) = cell
    for row, colors in enumerate(drawing.colors().tolist()):
        for column, color in enumerate(colors):
            x = cells.left + column * wide
            y = cells.top + row * high
            yield (
                f'<rect x="{x:g}" y="{y:g}" width="{wide}" height="{high}" fill="#{bytes(color).hex()}" '
                f'stroke="{GRID_COLOR}"/>'
            )
            if (row, column) in missing:
                yield f'<path d="M{x:g} {y + high:g}l{wide} {-high}" stroke="{HATCH_COLOR}" fill="none"/>'


def _numbers(drawing: Drawing, cells: Box, cell: tuple[int, int]) -> Iterator[str]:
    """The values, dark on light colours and light on dark ones."""
    size = min(TEXT_PX - 1, cell[1] - 2)
    for row, (values, colors) in enumerate(
        zip(drawing.values.tolist(), drawing.colors().tolist(), strict=True)
    ):
        for column, (value, (red, green, blue)) in enumerate(zip(values, colors, strict=True)):
            x = cells.left + (column + 0.5) * cell[0]
            y = cells.top + (row + 0.5) * cell[1] + 0.35 * size
            ink = ink_on(red, green, blue)
            if text := cell_text(value, is_signed=drawing.scale.is_signed):
                yield _text(x, y, text, f' text-anchor="middle" font-size="{size}"', ink)


def _scale(drawing: Drawing, cells: Box) -> Iterator[str]:
    """The colours from the largest value down to the smallest, next to the cells."""
    table = drawing.scale.table().rgb.tolist()
    x = cells.left + cells.width + BAR_GAP
    step = cells.height / BAR_STEPS
    for index in range(BAR_STEPS):
        color = table[round((BAR_STEPS - 1 - index) / (BAR_STEPS - 1) * (len(table) - 1))]
        y = cells.top + index * step
        yield f'<rect x="{x:g}" y="{y:g}" width="{BAR_WIDTH}" height="{step + 0.3:g}" fill="#{bytes(color).hex()}"/>'
    least, most = scale_ends(drawing.scale)
    yield _text(x + BAR_WIDTH + 4, cells.top + TEXT_PX - 2, most, "", SOFT)
    yield _text(x + BAR_WIDTH + 4, cells.top + cells.height, least, "", SOFT)


def _shape_svg(shape: Shape, left: float, top: float) -> str:
    x = left + shape.box.left
    y = top + shape.box.top
    width = shape.box.width
    height = shape.box.height
    color = PRINT_COLORS[shape.color]
    if shape.kind == "line":
        ends = f"M{x:g} {y:g}l{width:g} {height:g}"
        return f'<path d="{ends}" stroke="{color}" stroke-width="{shape.pen_px:g}" fill="none"/>'
    radius = f' rx="{width / 2:g}" ry="{height / 2:g}"' if shape.kind in ("dot", "ring") else ""
    ink = f'fill="{color}"'
    if shape.kind == "dimmed":
        ink = f'fill="#fff" fill-opacity="{DIMMED_OPACITY}"'
    if shape.kind in ("frame", "ring"):
        ink = f'fill="none" stroke="{color}" stroke-width="{shape.pen_px:g}"'
    outline = ""
    if shape.kind == "frame":  # seen on dark cells printed in grey, too
        box = f'x="{x + 1.5:g}" y="{y + 1.5:g}" width="{width - 3:g}" height="{height - 3:g}"'
        outline = f'<rect {box} fill="none" stroke="#fff"/>'
    return (
        f'{outline}<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"{radius} {ink}/>'
    )
