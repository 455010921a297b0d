"""Cells and marks of a drawing by `QPainter`: maps as images, a store of the newest of them, and shapes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPaintEngine, QPainter, QPen

from augenmerk.core.translation.result import FloatArray
from augenmerk.viz_app.heatmap.drawing import (
    EMBER,
    PAPER,
    SIGNED_EMBER,
    SIGNED_PAPER,
    Ramp,
    Shape,
    SignedRamp,
    color_table,
    quantize,
    signed_color_table,
    signed_indices,
)
from augenmerk.viz_app.theme import Theme

NUM_STORED = 24
HATCH_STEP = 6.0
"""Pixels between two lines of a hatching."""


@dataclass(frozen=True, eq=False)
class _Made:
    maps: FloatArray
    tops: FloatArray
    ramp: Ramp | SignedRamp
    max_pixels: int
    images: list[QImage]

    def is_of(self, maps: FloatArray, tops: FloatArray, ramp: Ramp | SignedRamp, max_pixels: int) -> bool:
        return (
            self.max_pixels == max_pixels
            and self.ramp is ramp
            and _are_equal(self.maps, maps)
            and (self.tops is tops or np.array_equal(self.tops, tops))
        )


class ImageStore:
    """The newest `NUM_STORED` lists of images."""

    def __init__(self) -> None:
        self._made: list[_Made] = []

    def images_of(self, maps: FloatArray, tops: FloatArray, ramp: Ramp | SignedRamp, max_pixels: int) -> list[QImage]:
        """One image for each map of [L, H, rows, columns], head by head: the very list as before for the same maps.

        Args:
            maps: what they show.
            tops: [L, H], the weight of the last colour.
            ramp: colour table.
            max_pixels: larger maps are merged, see `map_images`.
        """
        for made in self._made:
            if made.maps is maps and made.tops is tops and made.is_of(maps, tops, ramp, max_pixels):
                return made.images
        found = next((made.images for made in self._made if made.is_of(maps, tops, ramp, max_pixels)), None)
        images = found or map_images(maps.reshape(-1, *maps.shape[2:]), ramp, tops.reshape(-1), max_pixels)
        self._made = [_Made(maps, tops, ramp, max_pixels, images), *self._made[: NUM_STORED - 1]]
        return images


def _are_equal(maps: FloatArray, others: FloatArray) -> bool:
    """Whether maps are the same; those of another sentence are told by their last rows, which takes less time."""
    if maps is others:
        return True
    return np.array_equal(maps[..., -1:, :], others[..., -1:, :]) and np.array_equal(maps, others)


VECTOR_ENGINES = (QPaintEngine.Type.SVG, QPaintEngine.Type.Pdf)
SEAM = 1.0
"""How far a cell of a vector picture lies under the next one: a viewer that smooths edges shows no ground between."""
PIXELS_PER_CELL = 8


def ramp_of(theme: Theme) -> Ramp:
    """The colour table that belongs to a theme."""
    return EMBER if theme.is_dark else PAPER


def signed_ramp_of(theme: Theme) -> SignedRamp:
    """The diverging colour table that belongs to a theme."""
    return SIGNED_EMBER if theme.is_dark else SIGNED_PAPER


def map_image(weights: FloatArray, ramp: Ramp | SignedRamp, top: float = 1.0, max_pixels: int | None = None) -> QImage:
    """One map [rows, columns] as an image of one pixel per weight; the rest is as for `map_images`."""
    return map_images(weights[None], ramp, np.float32(top), max_pixels)[0]


def map_images(
    weights: FloatArray, ramp: Ramp | SignedRamp, tops: FloatArray | np.float32, max_pixels: int | None = None
) -> list[QImage]:
    """Many maps at once, which is several times quicker than one after the other.

    The images hold colours, not indices into a table: a painter would look these up each time.

    Args:
        weights: [N, rows, columns].
        ramp: colour table; with a signed one values may lie on both sides of 0, and NaN gets a tone of its own.
        tops: the weight of the last colour, of all maps or of each, [N]; where it is not above 0 all is of the first.
        max_pixels: if the maps have more rows or columns than this, neighbours are merged by their maximum: a thin line
            stays visible in a thumbnail that is smaller than the map.
    """
    if isinstance(ramp, SignedRamp):
        return _signed_images(weights, ramp, tops, max_pixels)
    if max_pixels is not None:
        weights = _merge_by_maximum(weights, max_pixels)
    tops = np.broadcast_to(np.asarray(tops, dtype=np.float32), weights.shape[:1])
    scaled = weights * np.where(tops > 0, 1 / np.where(tops > 0, tops, 1), 0)[:, None, None]
    return _images(_colors_of(ramp)[quantize(scaled)])


def _signed_images(
    values: FloatArray, ramp: SignedRamp, tops: FloatArray | np.float32, max_pixels: int | None
) -> list[QImage]:
    """Where neighbours are merged, the one farthest from 0 is kept."""
    if max_pixels is not None:
        highest, lowest = (_merge_by_maximum(values, max_pixels, each) for each in (np.fmax, np.fmin))
        values = np.where(highest >= -lowest, highest, lowest)
    tops = np.broadcast_to(np.asarray(tops, dtype=np.float32), values.shape[:1])
    scaled = values * np.where(tops > 0, 1 / np.where(tops > 0, tops, 1), 0)[:, None, None]
    table = _colors_of(ramp)
    return _images(table[np.where(np.isnan(values), len(table) - 1, signed_indices(scaled, 1.0))])


@cache
def _colors_of(ramp: Ramp | SignedRamp) -> NDArray[np.uint32]:
    """The table's colours, [N]."""
    colors = signed_color_table(ramp) if isinstance(ramp, SignedRamp) else color_table(ramp)
    table = np.array(colors, dtype=np.uint32)
    table.flags.writeable = False
    return table


def _images(pixels: NDArray[np.uint32]) -> list[QImage]:
    """[N, rows, columns] colours."""
    _, num_rows, num_columns = pixels.shape
    stride = num_columns * pixels.itemsize
    return [
        QImage(each.data, num_columns, num_rows, stride, QImage.Format.Format_RGB32).copy()
        for each in np.ascontiguousarray(pixels)
    ]


def draw_map(painter: QPainter, target: QRectF, image: QImage) -> None:
    """Draws an image with hard edges between its pixels: in a vector picture as rectangles."""
    if draws_shapes(painter):
        _draw_rectangles(painter, target, image)
        return
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    painter.drawImage(target, image)


def draw_thumbnail(painter: QPainter, target: QRect, image: QImage) -> None:
    """Draws a small image with hard edges; in a vector picture enlarged, for viewers smear what they enlarge."""
    if draws_shapes(painter):
        image = enlarged(image, 2 * max(target.width(), target.height()))
    painter.drawImage(target, image)


def draws_shapes(painter: QPainter) -> bool:
    """Whether what is painted becomes shapes of a file, not pixels."""
    return painter.paintEngine().type() in VECTOR_ENGINES


def enlarged(image: QImage, least: int) -> QImage:
    """An image with as many pixels for each of its own, at least `PIXELS_PER_CELL` both ways, as give `least`."""
    factor = max(PIXELS_PER_CELL, -(-least // max(1, min(image.width(), image.height()))))
    size = QSize(image.width() * factor, image.height() * factor)
    return image.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.FastTransformation)


def _draw_rectangles(painter: QPainter, target: QRectF, image: QImage) -> None:
    """One rectangle for each run of one colour in a row; nothing beyond the painter's clip, which files may ignore."""
    window = painter.clipBoundingRect() & target if painter.hasClipping() else target
    width, height = target.width() / max(image.width(), 1), target.height() / max(image.height(), 1)
    for row in range(image.height()):
        first = 0
        for column in range(1, image.width() + 1):
            if column < image.width() and image.pixel(column, row) == image.pixel(first, row):
                continue
            x, y = target.left() + first * width, target.top() + row * height
            run = QRectF(x, y, (column - first) * width + SEAM, height + SEAM) & window
            if not run.isEmpty():
                painter.fillRect(run, image.pixelColor(first, row))
            first = column


def _merge_by_maximum(weights: FloatArray, max_pixels: int, largest: np.ufunc = np.maximum) -> FloatArray:
    for axis in (-2, -1):
        size = weights.shape[axis]
        if size > max_pixels > 0:
            starts = np.arange(max_pixels) * size // max_pixels
            weights = largest.reduceat(weights, starts, axis=axis)
    return weights


def hatch(painter: QPainter, place: QRectF) -> None:
    """Slanted lines, drawn one by one: writers of vector pictures do not know hatched brushes."""
    width, height = place.width(), place.height()
    count = int((width + height) / HATCH_STEP)
    lines = []
    for number in range(1, count + 1):
        reach = number * HATCH_STEP
        right, down = min(reach, width), min(reach, height)
        start, end = QPointF(right, reach - right), QPointF(reach - down, down)
        lines.append(QLineF(place.topLeft() + start, place.topLeft() + end))
    if lines:
        painter.drawLines(lines)


def paint_shapes(painter: QPainter, shapes: Sequence[Shape], corner: QPointF, theme: Theme) -> None:
    """Marks, with this corner of the cells."""
    for shape in shapes:
        color, place = theme.color(shape.color), QRectF(*shape.box).translated(corner)
        painter.setPen(QPen(color, shape.pen_px) if shape.pen_px else Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        match shape.kind:
            case "fill":
                painter.fillRect(place, color)
            case "frame":
                painter.drawRect(place)
            case "line":
                painter.drawLine(place.topLeft(), place.bottomRight())
            case "dot":
                painter.setBrush(color)
                painter.drawEllipse(place)
