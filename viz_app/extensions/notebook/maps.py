"""All maps small, one of them large: without a script, by radio buttons and a style sheet.

Where styles and inputs are taken away, as from outputs that are not trusted, a still picture of the
large map is left.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from augenmerk.core.translation.result import FloatArray

from ...state.color_scale import PLAIN, ColorScale
from .frame import escaped
from .png import map_png, sprite

THUMBNAIL_PX, GAP_PX, MIN_LEFT_PX, MAX_LEFT_PX = 31, 2, 130, 300
"""Side of a small map, the gap between two, and the least and largest room for a row of them."""
WIDTH_PX, HEIGHT_PX = 610, 400
"""The room for small maps and cells, without the labels that reach beyond, and for the cells."""
LABELS_PX, ABOVE_PX = 92, 78
"""The room for labels, left of the cells and above them; also in style.css."""
MIN_CELL_PX, MAX_CELL_PX, LETTER_PX = 3, 26, 12
KEYS = 'data-lm-suppress-shortcuts=""'
"""Tells JupyterLab to leave the arrow keys to a radio button."""
MAX_LABEL = 13
"""Characters of a token."""


@dataclass(frozen=True, eq=False)
class Block:
    """Maps of one kind.

    Attributes:
        title: above them.
        maps: [L, H, Q, M].
        rows: the labels of queries.
        columns: the labels of keys.
        names: of the maps, by layer and head.
        scale: the colours.
        pale: layer and head of those that are switched off.
    """

    title: str
    maps: FloatArray
    rows: Sequence[str]
    columns: Sequence[str]
    names: Sequence[Sequence[str]]
    scale: ColorScale = PLAIN
    pale: frozenset[tuple[int, int]] = frozenset()

    def cut(self, num_tokens: int, num_layers: int, num_heads: int) -> "Block":
        """At most so many tokens on each side, layers, and heads of a layer."""
        return replace(
            self,
            maps=self.maps[:num_layers, :num_heads, :num_tokens, :num_tokens],
            rows=self.rows[:num_tokens],
            columns=self.columns[:num_tokens],
            names=[names[:num_heads] for names in self.names[:num_layers]],
        )


def maps_html(blocks: Sequence[Block], shown: tuple[int, int, int]) -> tuple[str, str]:
    """The maps, and the variables of the style that they need: their pictures.

    Args:
        blocks: at most three.
        shown: block, layer and head of the large map.
    """
    num_heads = max(block.maps.shape[1] for block in blocks)
    small = min(THUMBNAIL_PX, MAX_LEFT_PX // num_heads - GAP_PX)
    left = max(num_heads * (small + GAP_PX), MIN_LEFT_PX) + 14
    variables = [f"--q:{small}px", f"--x:{left}px"]
    parts = []
    height = 0
    for index, block in enumerate(blocks):
        picture = sprite(block.maps)
        for theme, is_dark in (("l", False), ("d", True)):
            address = map_png(picture, block.scale, is_dark=is_dark)
            variables.append(f"--{theme}{index}:url({address})")
        chosen = shown[1:] if index == shown[0] else None
        part, block_height = _block_html(block, index, chosen, WIDTH_PX - left)
        parts.append(part)
        height = max(height, block_height)
    still = _still(blocks[shown[0]], *shown[1:])
    views = f'<div class="v" style="display:none;min-height:{height}px">{"".join(parts)}</div>'
    return still + views, ";".join(variables)


def _block_html(
    block: Block, index: int, chosen: Sequence[int] | None, room_px: int
) -> tuple[str, int]:
    """The maps of a kind, and the height of the large one. `chosen` is the one shown at first."""
    num_layers, num_heads, num_rows, num_columns = block.maps.shape
    cell = _cell_px(num_rows, num_columns, room_px)
    lines = []
    for layer in range(num_layers):
        line = []
        for head in range(num_heads):
            name = escaped(block.names[layer][head])
            across = 100 * head / max(num_heads - 1, 1)
            down = 100 * layer / max(num_layers - 1, 1)
            checked = " checked" if chosen is not None and (layer, head) == tuple(chosen) else ""
            pale = " f" if (layer, head) in block.pale else ""
            line.append(
                f'<label class="h{pale}" style="--p:{across:.4g}% {down:.4g}%">'
                f'<input type="radio" name="h" {KEYS} title="{name}"{checked}><span class="i"></span>'
                f'<span class="b" data-n="{name}"><span class="i"></span></span></label>'
            )
        lines.append(f'<span class="r">{"".join(line)}</span>')
    step = -(-LETTER_PX // cell)
    rows = "".join(
        f'<span class="q" style="top:{ABOVE_PX + 17 + round((row + 0.5) * cell) - 6}px" '
        f'data-n="{escaped(block.rows[row], MAX_LABEL)}"></span>'
        for row in range(0, num_rows, step)
    )
    columns = "".join(
        f'<span class="c" style="left:{LABELS_PX + round((column + 0.6) * cell)}px;'
        f'top:{ABOVE_PX}px" data-n="{escaped(block.columns[column], MAX_LABEL)}"></span>'
        for column in range(0, num_columns, step)
    )
    sizes = f"--w:{num_columns * cell}px;--y:{num_rows * cell}px"
    part = (
        f'<div class="k" style="--i:var(--m{index});--z:{100 * num_heads}% {100 * num_layers}%;'
        f'{sizes}"><span class="e" data-n="{escaped(block.title)}"></span>{"".join(lines)}'
        f'<div class="a">{rows}{columns}</div></div>'
    )
    return part, ABOVE_PX + 24 + num_rows * cell


def _cell_px(num_rows: int, num_columns: int, room_px: int) -> int:
    across = (room_px - LABELS_PX) // max(num_columns, 1)
    return max(MIN_CELL_PX, min(MAX_CELL_PX, across, HEIGHT_PX // max(num_rows, 1)))


def _still(block: Block, layer: int, head: int) -> str:
    """The picture for readers that drop styles."""
    num_rows, num_columns = block.maps.shape[2:]
    cell = _cell_px(num_rows, num_columns, 560)
    step = -(-LETTER_PX // cell)
    top = ABOVE_PX + 20
    texts = [
        f'<text x="{LABELS_PX - 6}" y="{top + round((row + 0.5) * cell) + 4}" text-anchor="end">'
        f"{escaped(block.rows[row], MAX_LABEL)}</text>"
        for row in range(0, num_rows, step)
    ]
    for column in range(0, num_columns, step):
        x = LABELS_PX + round((column + 0.6) * cell)
        texts.append(
            f'<text x="{x}" y="{top - 6}" transform="rotate(-50 {x} {top - 6})">'
            f"{escaped(block.columns[column], MAX_LABEL)}</text>"
        )
    name = f"{block.title} · {block.names[layer][head]}"
    picture = map_png(np.asarray(block.maps[layer, head]), block.scale, is_dark=False)
    width = max(LABELS_PX + num_columns * cell + 60, 320)
    height = top + num_rows * cell + 6
    drawing = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="6" y="15" font-weight="bold">{escaped(name)}</text>{"".join(texts)}'
        f'<image x="{LABELS_PX}" y="{top}" width="{num_columns * cell}" '
        f'height="{num_rows * cell}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="{picture}"/></svg>'
    )
    address = base64.b64encode(drawing.encode()).decode()
    text = f"Map of {name}, queries in rows and keys in columns"
    return f'<img class="still" alt="{escaped(text)}" src="data:image/svg+xml;base64,{address}">'
