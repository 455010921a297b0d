"""Attention maps as images, ready to be drawn by the painter."""

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from core.translation.result import FloatArray
from viz_app.colormap import EMBER, PAPER, Ramp, color_table, quantize
from viz_app.theme import Theme


def ramp_of(theme: Theme) -> Ramp:
    """The colour table that belongs to a theme."""
    return EMBER if theme.is_dark else PAPER


def map_image(weights: FloatArray, ramp: Ramp, top: float = 1.0, max_pixels: int | None = None) -> QImage:
    """One map [rows, columns] as an image of one pixel per weight; the rest is as for `map_images`."""
    return map_images(weights[None], ramp, np.float32(top), max_pixels)[0]


def map_images(
    weights: FloatArray, ramp: Ramp, tops: FloatArray | np.float32, max_pixels: int | None = None
) -> list[QImage]:
    """Many maps at once, which is several times quicker than one after the other.

    The images hold colours, not indices into a table: a painter would look these up each time.

    Args:
        weights: [N, rows, columns].
        ramp: colour table.
        tops: the weight of the last colour, of all maps or of each, [N]; where it is not above 0 all is of the first.
        max_pixels: if the maps have more rows or columns than this, neighbours are merged by their maximum: a thin line
            stays visible in a thumbnail that is smaller than the map.
    """
    if max_pixels is not None:
        weights = _merge_by_maximum(weights, max_pixels)
    tops = np.broadcast_to(np.asarray(tops, dtype=np.float32), weights.shape[:1])
    scaled = weights * np.where(tops > 0, 1 / np.where(tops > 0, tops, 1), 0)[:, None, None]
    pixels = np.array(color_table(ramp), dtype=np.uint32)[quantize(scaled)]
    _, num_rows, num_columns = pixels.shape
    stride = num_columns * pixels.itemsize
    return [
        QImage(each.data, num_columns, num_rows, stride, QImage.Format.Format_RGB32).copy()
        for each in np.ascontiguousarray(pixels)
    ]


def draw_map(painter: QPainter, target: QRectF, image: QImage) -> None:
    """Draws an image with hard edges between its pixels."""
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    painter.drawImage(target, image)


def _merge_by_maximum(weights: FloatArray, max_pixels: int) -> FloatArray:
    for axis in (-2, -1):
        size = weights.shape[axis]
        if size > max_pixels > 0:
            starts = np.arange(max_pixels) * size // max_pixels
            weights = np.maximum.reduceat(weights, starts, axis=axis)
    return weights
