"""Cells and marks of a drawing by `QPainter`: maps as images, and shapes."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPaintEngine, QPainter, QPen

from augenmerk.core.translation.result import FloatArray

from ..state.color_scale import ColorTable
from ..theme import Theme
from .drawing import DIMMED_OPACITY, Shape

HATCH_STEP = 6.0
"""Pixels between two lines of a hatching."""


VECTOR_ENGINES = (QPaintEngine.Type.SVG, QPaintEngine.Type.Pdf)
SEAM = 1.0
"""Pixels of a vector picture's cell under the next one, so that no ground shows between them."""
PIXELS_PER_CELL = 8


def map_image(
    values: FloatArray, colors: ColorTable, top: float = 1.0, max_pixels: int | None = None
) -> QImage:
    """One map [rows, columns] as an image of one pixel per cell; see `map_images`."""
    return map_images(values[None], colors, np.float32(top), max_pixels)[0]


def map_images(
    values: FloatArray,
    colors: ColorTable,
    tops: FloatArray | np.float32,
    max_pixels: int | None = None,
) -> list[QImage]:
    """Many maps at once, which is several times quicker than one after the other.

    The images hold colours, not indices into a table: a painter would look these up each time.

    Args:
        values: [N, rows, columns].
        colors: colour table.
        tops: the value of the last colour, of all maps or of each, [N]; if it is not above 0, all
            cells have the colour of 0.
        max_pixels: if the maps have more rows or columns than this, the cell farthest from 0
            represents its neighbours: a thin line stays visible in a thumbnail that is smaller than
            the map.
    """
    if max_pixels is not None and max(values.shape[1:]) > max_pixels:
        highest = _merged(values, max_pixels, np.fmax)
        lowest = _merged(values, max_pixels, np.fmin) if colors.is_signed else np.float32(0)
        values = np.where(highest >= -lowest, highest, lowest)
    pixels = colors.packed[
        colors.indices(values, np.broadcast_to(tops, values.shape[:1])[:, None, None])
    ]
    _, num_rows, num_columns = pixels.shape
    line_bytes = num_columns * pixels.itemsize
    return [
        QImage(
            map_pixels.data, num_columns, num_rows, line_bytes, QImage.Format.Format_RGB32
        ).copy()
        for map_pixels in np.ascontiguousarray(pixels)
    ]


def _merged(values: FloatArray, max_pixels: int, largest: np.ufunc) -> FloatArray:
    for axis in (-2, -1):
        size = values.shape[axis]
        if size > max_pixels:
            values = largest.reduceat(values, np.arange(max_pixels) * size // max_pixels, axis=axis)
    return values


def draw_map(painter: QPainter, target: QRectF, image: QImage) -> None:
    """Draws an image with hard edges between its pixels: in a vector picture as rectangles."""
    if draws_shapes(painter):
        _draw_rectangles(painter, target, image)
        return
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    painter.drawImage(target, image)


def draw_thumbnail(painter: QPainter, target: QRect, image: QImage) -> None:
    """Draws a small image with hard edges: enlarged in a vector picture, as viewers blur it."""
    if draws_shapes(painter):
        image = enlarged(image, 2 * max(target.width(), target.height()))
    painter.drawImage(target, image)


def draws_shapes(painter: QPainter) -> bool:
    """Whether the painter writes shapes to a file, not pixels."""
    return painter.paintEngine().type() in VECTOR_ENGINES


def enlarged(image: QImage, least: int) -> QImage:
    """An image with `PIXELS_PER_CELL` both ways, or more, until its smaller side has `least`."""
    factor = max(PIXELS_PER_CELL, -(-least // max(1, min(image.width(), image.height()))))
    size = QSize(image.width() * factor, image.height() * factor)
    return image.scaled(
        size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.FastTransformation
    )


def _draw_rectangles(painter: QPainter, target: QRectF, image: QImage) -> None:
    """One rectangle for each run of one colour in a row, within the painter's clip.

    Files may ignore the clip.
    """
    window = painter.clipBoundingRect() & target if painter.hasClipping() else target
    width = target.width() / max(image.width(), 1)
    height = target.height() / max(image.height(), 1)
    for row in range(image.height()):
        first = 0
        for column in range(1, image.width() + 1):
            if column < image.width() and image.pixel(column, row) == image.pixel(first, row):
                continue
            x = target.left() + first * width
            y = target.top() + row * height
            run = QRectF(x, y, (column - first) * width + SEAM, height + SEAM) & window
            if not run.isEmpty():
                painter.fillRect(run, image.pixelColor(first, row))
            first = column


def hatch(painter: QPainter, area: QRectF) -> None:
    """Draws slanted lines one by one: vector pictures do not know hatched brushes."""
    width, height = area.width(), area.height()
    count = int((width + height) / HATCH_STEP)
    lines = []
    for number in range(1, count + 1):
        reach = number * HATCH_STEP
        right, down = min(reach, width), min(reach, height)
        start, end = QPointF(right, reach - right), QPointF(reach - down, down)
        lines.append(QLineF(area.topLeft() + start, area.topLeft() + end))
    if lines:
        painter.drawLines(lines)


def paint_shapes(painter: QPainter, shapes: Sequence[Shape], corner: QPointF, theme: Theme) -> None:
    """Marks, with this corner of the cells."""
    for shape in shapes:
        color = theme.color(shape.color)
        box = QRectF(*shape.box).translated(corner)
        pen = QPen(color, shape.pen_px)
        if shape.kind == "line":
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen if shape.pen_px else Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        match shape.kind:
            case "fill":
                painter.fillRect(box, color)
            case "frame":
                painter.drawRect(box)
            case "line":
                painter.drawLine(box.topLeft(), box.bottomRight())
            case "dot":
                painter.setBrush(color)
                painter.drawEllipse(box)
            case "ring":
                painter.drawEllipse(box)
            case "dimmed":
                painter.fillRect(box, theme.color("panel", DIMMED_OPACITY))
