"""Where chips stand that flow in lines."""

from collections.abc import Iterable

from PySide6.QtCore import QRect


def flow_chips(
    widths: Iterable[int], height: int, available_width: int, *, spacing: int, line_height: int, inset: int = 0
) -> list[QRect]:
    """A place for each chip, from left to right in lines that wrap; a chip wider than the line has one of its own.

    Args:
        widths: of the chips, in pixels like all that follows.
        height: of each chip.
        available_width: of a line.
        spacing: between two chips of a line.
        line_height: from the top of a line to that of the next.
        inset: where each line begins.
    """
    places, x, y = [], inset, 0
    for width in widths:
        if x > inset and x + width > available_width:
            x, y = inset, y + line_height
        places.append(QRect(x, y, width, height))
        x += width + spacing
    return places
