"""Pictures of maps that were made already: going back to a scale or a measure makes none anew."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtGui import QImage

from augenmerk.core.translation.result import FloatArray
from augenmerk.viz_app.heatmap.colormap import Ramp, SignedRamp
from augenmerk.viz_app.heatmap.map_image import map_images

CAPACITY = 24


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
    """The newest `CAPACITY` lists of images."""

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
        self._made = [_Made(maps, tops, ramp, max_pixels, images), *self._made[: CAPACITY - 1]]
        return images


def _are_equal(maps: FloatArray, others: FloatArray) -> bool:
    """Whether maps are the same; those of another sentence are told by their last rows, which takes less time."""
    if maps is others:
        return True
    return np.array_equal(maps[..., -1:, :], others[..., -1:, :]) and np.array_equal(maps, others)
