"""The grid of heads without its marks, painted once for each layout and set of images."""

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, QSize
from PySide6.QtGui import QImage, QPainter, QPixmap, QRegion

from augenmerk.viz_app.heatmap.head_grid_layout import GridLayout
from augenmerk.viz_app.heatmap.head_grid_paint import GridPainter
from augenmerk.viz_app.theme import Theme

CAPACITY = 6


@dataclass(frozen=True, eq=False)
class _Sheet:
    """A picture, and the very layout and lists of images that it was painted from."""

    key: tuple[object, ...]
    layout: GridLayout
    images: tuple[list[QImage], ...]
    picture: QPixmap

    def is_of(self, key: tuple[object, ...], layout: GridLayout, images: tuple[list[QImage], ...]) -> bool:
        return (
            self.layout is layout
            and self.key == key
            and len(self.images) == len(images)
            and all(one is other for one, other in zip(self.images, images, strict=True))
        )


class HeadSheets:
    """The newest `CAPACITY` of them: going back to a scale or a measure copies a picture."""

    def __init__(self) -> None:
        self._sheets: list[_Sheet] = []

    def paint(
        self, painter: QPainter, places: QRegion, grid: GridPainter, images: Iterable[list[QImage]], size: QSize
    ) -> None:
        """Paints the part of the grid that lies in `places`, names and hairlines included.

        Args:
            painter: of a widget or an image of pixels.
            places: what to paint, in the grid's coordinates.
            grid: what paints the sheet if there is none yet.
            images: the lists that the grid's thumbnails are taken from.
            size: of the whole grid.
        """
        device = painter.device()
        ratio = device.devicePixelRatioF() if device is not None else 1.0
        picture = self._picture(grid, tuple(images), size, ratio)
        for each in places:  # type: ignore[attr-defined]  # the old and the new frame may stand far from each other
            place = QRectF(each)
            painter.drawPixmap(place, picture, QRectF(place.topLeft() * ratio, place.size() * ratio))

    def _picture(self, grid: GridPainter, images: tuple[list[QImage], ...], size: QSize, ratio: float) -> QPixmap:
        theme: Theme = grid.theme
        key = theme, size.toTuple(), ratio
        for sheet in self._sheets:
            if sheet.is_of(key, grid.layout, images):
                return sheet.picture
        picture = QPixmap(size * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(theme.color("panel"))
        painter = QPainter(picture)
        grid.paint_heads(painter, QRegion(QRect(0, 0, size.width(), size.height())))
        painter.end()
        self._sheets = [_Sheet(key, grid.layout, images, picture), *self._sheets[: CAPACITY - 1]]
        return picture
