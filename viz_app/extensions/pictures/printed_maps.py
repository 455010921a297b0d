"""Maps on paper and in pages: colours of marks, numbers in cells, and all heads of a kind.

No Qt.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from augenmerk.core.model.heads import AttentionKind
from augenmerk.core.quantities import number

from ...heatmap.drawing import Drawing
from ...palette import LIGHT
from ...state.color_scale import ColorScale
from ...state.experiment_state import ExperimentState
from ...state.map_source import color_scales
from ...state.map_text import KIND_NAMES
from ...state.map_view import NO_MARKS
from ...state.marks import marks_of_heads

PRINT_COLORS = {"accent": LIGHT.accent, "warm": LIGHT.warm, "pointer": LIGHT.pointer}
"""The colours of marks on white ground."""
NEGLIGIBLE = 0.005
"""Smaller values are not written into cells."""


@dataclass(frozen=True, eq=False)
class DrawingBlock:
    """Small maps without labels, such as all heads of a kind.

    Attributes:
        title: of the block.
        lines: lists of maps side by side, from top to bottom.
    """

    title: str
    lines: Sequence[Sequence[Drawing]]


def cell_text(value: float, *, is_signed: bool) -> str:
    """A value in the few characters that a cell has room for; empty if it rounds to 0, or there is
    none.
    """
    if not abs(value) >= NEGLIGIBLE:
        return ""
    text = number(value, signed=is_signed)
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def scale_ends(scale: ColorScale) -> tuple[str, str]:
    """The least and the largest value of a scale of colours."""
    largest = f"{scale.top:#.3g}"
    return (f"−{largest}", f"+{largest}") if scale.is_signed else ("0", largest)


def small_maps(state: ExperimentState, kind: AttentionKind) -> DrawingBlock:
    """All heads of a kind in their current state, a line for each layer."""
    values = state.maps.view_all(kind).values
    scales = color_scales(state.maps, kind)
    marks = marks_of_heads(state, kind)
    lines = [
        [
            Drawing(
                values[layer, head],
                scale=scales[layer][head],
                marks=marks.get((layer, head), NO_MARKS),
            )
            for head in range(values.shape[1])
        ]
        for layer in range(values.shape[0])
    ]
    return DrawingBlock(KIND_NAMES[kind], lines)
