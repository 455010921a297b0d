"""Maps as small PNG files with the window's colours as their palette: a byte for each cell."""

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from augenmerk.core.translation.result import FloatArray

from ...state.color_scale import ColorScale


def map_png(values: FloatArray, scale: ColorScale, *, is_dark: bool) -> str:
    """The cells [rows, columns] as the address of a picture."""
    table = scale.table(is_dark=is_dark)
    last = len(table.rgb) - 1
    indices = table.indices(np.nan_to_num(values), scale.top).clip(0, last).astype(np.uint8)
    rows = np.pad(indices, ((0, 0), (1, 0))).tobytes()  # a row begins with its filter: none
    height, width = values.shape
    content = b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", table.rgb.tobytes()),
            _chunk(b"IDAT", zlib.compress(rows, 9)),
            _chunk(b"IEND", b""),
        ]
    )
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


def sprite(maps: FloatArray) -> NDArray[np.float32]:
    """All maps [L, H, Q, M] side by side, [L · Q, H · M]."""
    num_layers, num_heads, num_queries, num_keys = maps.shape
    return maps.transpose(0, 2, 1, 3).reshape(num_layers * num_queries, num_heads * num_keys)


def _chunk(kind: bytes, data: bytes) -> bytes:
    checked = kind + data
    return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))
