"""Attention maps as indexed images, ready to be drawn by the painter."""

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
    """One map as an image of one pixel per weight.

    Args:
        weights: [rows, columns].
        ramp: colour table.
        top: the weight of the last colour.
        max_pixels: if the map has more rows or columns than this, neighbours are merged by their maximum: a thin line
            stays visible in a thumbnail that is smaller than the map.
    """
    if max_pixels is not None:
        weights = _merge_by_maximum(weights, max_pixels)
    num_rows, num_columns = weights.shape
    stride = -(-num_columns // 4) * 4  # QImage wants every line to begin at a multiple of four bytes
    indices = np.zeros((num_rows, stride), dtype=np.uint8)
    indices[:, :num_columns] = quantize(weights, top)
    image = QImage(indices.data, num_columns, num_rows, stride, QImage.Format.Format_Indexed8).copy()
    image.setColorTable(color_table(ramp))
    return image


def draw_map(painter: QPainter, target: QRectF, image: QImage) -> None:
    """Draws an image with hard edges between its pixels."""
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    painter.drawImage(target, image)


def _merge_by_maximum(weights: FloatArray, max_pixels: int) -> FloatArray:
    for axis in (0, 1):
        size = weights.shape[axis]
        if size > max_pixels > 0:
            starts = np.arange(max_pixels) * size // max_pixels
            weights = np.maximum.reduceat(weights, starts, axis=axis)
    return weights
