"""Colour tables: "paper" for weights in light themes, "ember" in dark ones, and a diverging pair for differences.

All are our own. Lightness runs in a straight line in OKLab (Björn Ottosson, "A perceptual color space for image
processing", 2020), so equal steps of weight look equally far apart and the tables survive printing in grey; hue and
chroma follow a few anchors. Weight 0 is close to the ground of the theme, weight 1 stands out most.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

NUM_COLORS = 256


@dataclass(frozen=True)
class Ramp:
    """A path through OKLab.

    Attributes:
        lightness: at weight 0 and weight 1, from 0 (black) to 1 (white).
        anchors: (weight, hue in degrees, chroma), by rising weight.
    """

    lightness: tuple[float, float]
    anchors: tuple[tuple[float, float, float], ...]


PAPER = Ramp(
    (0.985, 0.25), ((0.0, 108, 0.035), (0.2, 130, 0.09), (0.45, 195, 0.10), (0.7, 250, 0.13), (1.0, 268, 0.11))
)
EMBER = Ramp(
    (0.13, 0.97), ((0.0, 285, 0.015), (0.25, 300, 0.12), (0.5, 358, 0.19), (0.75, 415, 0.15), (1.0, 465, 0.07))
)


@dataclass(frozen=True)
class SignedRamp:
    """Blue below 0, the ground of the theme at 0, orange above; see `signed_rgb_table`.

    Attributes:
        is_dark: of which theme.
        missing: a neutral tone for what has no value, as 0xAARRGGBB.
    """

    is_dark: bool
    missing: int


SIGNED_PAPER, SIGNED_EMBER = SignedRamp(is_dark=False, missing=0xFFD3D6DA), SignedRamp(is_dark=True, missing=0xFF53585F)


@cache
def signed_color_table(ramp: SignedRamp) -> tuple[int, ...]:
    """The 255 colours from −1 to 1 as 0xAARRGGBB integers, and after them the tone for what has no value."""
    return (*_packed(signed_rgb_table(is_dark=ramp.is_dark)), ramp.missing)


@cache
def color_table(ramp: Ramp) -> tuple[int, ...]:
    """The table as 256 opaque 0xAARRGGBB integers, for `QImage.setColorTable`."""
    return _packed(rgb_table(ramp))


@cache
def rgb_table(ramp: Ramp) -> NDArray[np.uint8]:
    """The table as sRGB bytes, [256, 3]."""
    weight = np.linspace(0.0, 1.0, NUM_COLORS)
    positions, hues, chromas = np.array(ramp.anchors).T
    lightness = np.interp(weight, (0.0, 1.0), ramp.lightness)
    hue = np.radians(np.interp(weight, positions, hues))
    chroma = np.interp(weight, positions, chromas)
    linear = _oklab_to_linear_rgb(lightness, chroma * np.cos(hue), chroma * np.sin(hue)).clip(0.0, 1.0)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.round(encoded * 255).astype(np.uint8)


@cache
def signed_rgb_table(*, is_dark: bool) -> NDArray[np.uint8]:
    """From −1 to 1 as sRGB bytes, [255, 3]: blue below, the ground of the theme at 0 (entry 127), orange above.

    Both arms have the same lightness at the same distance from 0, and differ in the one pair of hues that all common
    kinds of colour-blindness keep apart.
    """
    ground, end = (0.26, 0.80) if is_dark else (0.985, 0.50)
    below = rgb_table(Ramp((ground, end), ((0.0, 258, 0.0), (0.3, 258, 0.07), (1.0, 258, 0.15))))
    above = rgb_table(Ramp((ground, end), ((0.0, 55, 0.0), (0.3, 58, 0.07), (1.0, 50, 0.14))))
    steps = np.linspace(0, NUM_COLORS - 1, 128).round().astype(int)
    return np.concatenate([below[steps[:0:-1]], above[steps]])


def cell_colors(values: NDArray[np.float32], top: float, *, is_signed: bool, is_dark: bool) -> NDArray[np.uint8]:
    """The colours of a map's cells as sRGB bytes, [rows, columns, 3]; cells without a value have a neutral tone."""
    if is_signed:
        table, indices = signed_rgb_table(is_dark=is_dark), signed_indices(values, top)
    else:
        table, indices = rgb_table(EMBER if is_dark else PAPER), quantize(np.nan_to_num(values), top)
    colors = table[indices]
    colors[np.isnan(values)] = missing_rgb(is_dark=is_dark)
    return colors


def missing_rgb(*, is_dark: bool) -> tuple[int, int, int]:
    """The neutral tone of a cell without a value, as sRGB bytes."""
    packed = (SIGNED_EMBER if is_dark else SIGNED_PAPER).missing
    return packed >> 16 & 255, packed >> 8 & 255, packed & 255


def signed_indices(values: NDArray[np.float32], top: float) -> NDArray[np.uint8]:
    """Values from −top to top as indices into `signed_rgb_table`; exactly 0 is exactly its middle."""
    scale = 127 / top if top > 0 else 0.0
    return (np.rint(np.nan_to_num(values) * scale).clip(-127, 127) + 127).astype(np.uint8)


def quantize(weights: NDArray[np.float32], top: float = 1.0) -> NDArray[np.uint8]:
    """Weights from 0 to `top` as table indices from 0 to 255, the same shape. What lies outside is clipped."""
    scale = (NUM_COLORS - 1) / top if top > 0 else 0.0
    return (weights * scale + 0.5).clip(0, NUM_COLORS - 1).astype(np.uint8)


def _packed(table: NDArray[np.uint8]) -> tuple[int, ...]:
    """[N, 3] bytes as opaque 0xAARRGGBB integers."""
    red, green, blue = table.astype(np.int64).T
    return tuple(int(color) for color in (0xFF << 24) | (red << 16) | (green << 8) | blue)


def _oklab_to_linear_rgb(
    lightness: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]
) -> NDArray[np.float64]:
    """[N], [N], [N] -> [N, 3], with the published matrices."""
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return np.stack(
        [
            4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
            -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
            -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
        ],
        axis=-1,
    )
