"""Which value of a map has which colour: screen, files, films and pages use the same scales. No Qt.

The colour tables are our own: "paper" for weights in light themes, "ember" in dark ones, and a
diverging pair for differences. Lightness is linear in OKLab (Björn Ottosson, "A perceptual color
space for image processing", 2020), so equal steps of weight look equally far apart, and the tables
survive printing in grey. Hue and chroma follow a few anchors. Weight 0 is close to the ground of
the theme, weight 1 stands out most.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from augenmerk.core.translation.result import FloatArray

NUM_COLORS = 256
MIDDLE_LUMINANCE = 0.179
"""Black and white have the same contrast to it: (0.179 + 0.05)² = 1.05 · 0.05."""


@dataclass(frozen=True, eq=False)
class ColorTable:
    """The colours of values from 0 to the largest one, or of values on both sides of 0.

    Attributes:
        rgb: sRGB bytes, [256, 3] from 0 to 1, or [255, 3] from −1 to 1: entry 127 is the colour of
            0.
        is_signed: whether values lie on both sides of 0.
        missing: a neutral tone for cells without a value, as sRGB bytes.
    """

    rgb: NDArray[np.uint8]
    is_signed: bool
    missing: tuple[int, int, int]

    @cached_property
    def packed(self) -> NDArray[np.uint32]:
        """The colours, and after them the neutral tone, as opaque 0xAARRGGBB integers."""
        red, green, blue = np.vstack((self.rgb, self.missing)).astype(np.uint32).T
        return 0xFF000000 | (red << 16) | (green << 8) | blue

    def indices(self, values: FloatArray, top: float | FloatArray = 1.0) -> NDArray[np.intp]:
        """The index of each value's colour, clipped at `top`; the last index means no value."""
        tops = np.asarray(top, dtype=np.float32)
        is_missing = np.isnan(values)
        last = len(self.rgb) - 1
        scale = np.where(
            tops > 0, (last / 2 if self.is_signed else last) / np.where(tops > 0, tops, 1), 0
        )
        scaled = np.where(is_missing, 0, values * scale.astype(np.float32))
        indices = (
            np.rint(scaled).clip(-127, 127) + 127
            if self.is_signed
            else (scaled + 0.5).clip(0, last)
        )
        return np.where(is_missing, last + 1, indices.astype(np.intp))


def color_table(*, is_dark: bool, is_signed: bool = False) -> ColorTable:
    """The table for a dark or light theme."""
    if is_signed:
        return SIGNED_EMBER if is_dark else SIGNED_PAPER
    return EMBER if is_dark else PAPER


def ink_on(red: int, green: int, blue: int) -> str:
    """Black or white: the one with the larger contrast (WCAG 2) to a colour, at least 4.5:1."""
    shares = (channel / 255 for channel in (red, green, blue))
    linear = [
        share / 12.92 if share < 0.04 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000" if luminance > MIDDLE_LUMINANCE else "#fff"


def _ramp(
    lightness: tuple[float, float], *anchors: tuple[float, float, float]
) -> NDArray[np.uint8]:
    """A path through OKLab as sRGB bytes, [256, 3].

    Args:
        lightness: at weight 0 and weight 1, from 0 (black) to 1 (white).
        anchors: (weight, hue in degrees, chroma), by rising weight.
    """
    weight = np.linspace(0.0, 1.0, NUM_COLORS)
    positions, hues, chromas = np.array(anchors).T
    hue = np.radians(np.interp(weight, positions, hues))
    chroma = np.interp(weight, positions, chromas)
    lab = np.interp(weight, (0.0, 1.0), lightness), chroma * np.cos(hue), chroma * np.sin(hue)
    linear = _oklab_to_linear_rgb(*lab).clip(0.0, 1.0)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.round(encoded * 255).astype(np.uint8)


def _signed(ground: float, end: float) -> NDArray[np.uint8]:
    """Blue below 0, the ground of the theme at 0, orange above, [255, 3].

    Both arms have the same lightness at the same distance from 0. All common kinds of
    colour-blindness keep their two hues apart.
    """
    below = _ramp((ground, end), (0.0, 258, 0.0), (0.3, 258, 0.07), (1.0, 258, 0.15))
    above = _ramp((ground, end), (0.0, 55, 0.0), (0.3, 58, 0.07), (1.0, 50, 0.14))
    steps = np.linspace(0, NUM_COLORS - 1, 128).round().astype(int)
    return np.concatenate([below[steps[:0:-1]], above[steps]])


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


_GREY = (0xD3, 0xD6, 0xDA)
_DARK_GREY = (0x53, 0x58, 0x5F)
_PAPER = (0.0, 108, 0.035), (0.2, 130, 0.09), (0.45, 195, 0.10), (0.7, 250, 0.13), (1.0, 268, 0.11)
_EMBER = (0.0, 285, 0.015), (0.25, 300, 0.12), (0.5, 358, 0.19), (0.75, 415, 0.15), (1.0, 465, 0.07)
PAPER = ColorTable(_ramp((0.985, 0.25), *_PAPER), False, _GREY)
EMBER = ColorTable(_ramp((0.13, 0.97), *_EMBER), False, _DARK_GREY)
SIGNED_PAPER = ColorTable(_signed(0.985, 0.50), True, _GREY)
SIGNED_EMBER = ColorTable(_signed(0.26, 0.80), True, _DARK_GREY)


@dataclass(frozen=True)
class ColorScale:
    """The colours of one map. `MapSource` makes those of maps on the screen, after the settings.

    Attributes:
        top: the value of the last colour; of a signed map, on both sides of 0.
        is_signed: whether values lie on both sides of 0.
    """

    top: float = 1.0
    is_signed: bool = False

    def table(self, *, is_dark: bool = False) -> ColorTable:
        """The colours from the least to the largest value."""
        return color_table(is_dark=is_dark, is_signed=self.is_signed)

    def colors(self, values: FloatArray) -> NDArray[np.uint8]:
        """The colours of these values on white ground, as sRGB bytes, [..., 3]."""
        table = self.table()
        colors = np.vstack((table.rgb, table.missing)).astype(np.uint8)
        return colors[table.indices(values, self.top)]

    def strength(self, values: FloatArray) -> FloatArray:
        """How much each value stands out, from 0 to 1, whatever its sign; 0 for a missing one."""
        return np.clip(np.abs(np.nan_to_num(values)) / self.top, 0, 1).astype(np.float32)


PLAIN = ColorScale()
"""The scale of weights from 0 to 1."""
