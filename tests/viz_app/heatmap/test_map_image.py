import re

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QIODevice, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator, QSvgRenderer

from augenmerk.viz_app.heatmap.map_image import PIXELS_PER_CELL, draw_map, enlarged, map_image
from augenmerk.viz_app.state.color_scale import PAPER

WEIGHTS = np.array([[0, 0, 0.5], [1, 0.25, 0.25]], dtype=np.float32)


def as_svg(image: QImage, target: QRectF, clip: QRectF | None = None) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setViewBox(QRectF(0, 0, 60, 40))
    painter = QPainter(generator)
    if clip is not None:
        painter.setClipRect(clip)
    draw_map(painter, target, image)
    painter.end()
    return re.sub(rb' font-[a-z]+="[^"]*"', b"", bytes(buffer.data().data()))  # there is no text


def rendered(svg: bytes) -> QImage:
    picture = QImage(60, 40, QImage.Format.Format_RGB32)
    picture.fill(QColor("red"))
    painter = QPainter(picture)
    QSvgRenderer(svg).render(painter, QRectF(0, 0, 60, 40))
    painter.end()
    return picture


def test_in_a_vector_picture_a_map_is_a_rectangle_for_each_run_of_one_colour() -> None:
    image = map_image(WEIGHTS, PAPER)
    svg = as_svg(image, QRectF(0, 0, 60, 40))
    assert b"<image" not in svg
    assert svg.count(b"<rect") + svg.count(b"<path") == 4
    picture = rendered(svg)
    for row, column in np.ndindex(WEIGHTS.shape):
        assert picture.pixelColor(column * 20 + 10, row * 20 + 10) == image.pixelColor(column, row)


@pytest.mark.parametrize("shift", [0.0, 0.3, 0.5, 0.8])
def test_no_ground_is_seen_between_the_cells_of_a_vector_picture(shift: float) -> None:
    image = QImage(7, 9, QImage.Format.Format_RGB32)
    for x, y in np.ndindex(7, 9):
        image.setPixelColor(x, y, QColor(0, 0, 200 + (x + y) % 2))  # neighbours are not one run
    picture = rendered(as_svg(image, QRectF(shift, shift, 51, 33)))
    reds = {picture.pixelColor(x, y).red() for x in range(2, 49) for y in range(2, 31)}
    assert reds == {0}


def test_a_vector_picture_has_no_cells_beyond_the_window_that_a_large_map_is_seen_through() -> None:
    svg = as_svg(map_image(WEIGHTS, PAPER), QRectF(-30, 0, 90, 40), QRectF(0, 0, 20, 40))
    picture = rendered(svg.replace(b"clip-path", b"no-clip-path"))
    assert picture.pixelColor(40, 20) == QColor("red")
    assert picture.pixelColor(10, 10) != QColor("red")


@pytest.mark.parametrize(("least", "factor"), [(10, PIXELS_PER_CELL), (41, 21)])
def test_enlarged_images_keep_their_colours_with_hard_edges(least: int, factor: int) -> None:
    image = map_image(WEIGHTS, PAPER)
    large = enlarged(image, least)
    assert (large.width(), large.height()) == (3 * factor, 2 * factor)
    for y, x in np.ndindex(large.height(), large.width()):
        assert large.pixel(x, y) == image.pixel(x // factor, y // factor)
