"""Small tables whose cells are coloured by their values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .frame import escaped

MAX_TEXT, MAX_IN_WIDE, WIDE = 300, 30, 4
"""Characters of a cell, in a table of more columns than the last number, too."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: in it.
        strength: of its colour, from −1 to 1; 0 for none.
        tip: shown at the pointer.
        is_number: whether it is at the right.
    """

    text: str
    strength: float = 0.0
    tip: str = ""
    is_number: bool = False


def table_html(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """The table; texts in it are cut."""
    length = MAX_TEXT if len(header) <= WIDE else MAX_IN_WIDE
    head = "".join(f"<th>{escaped(text, length)}</th>" for text in header)
    lines = "".join(f"<tr>{''.join(_cell_html(cell, length) for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _cell_html(cell: Cell, length: int) -> str:
    classes = " ".join(["n"] * cell.is_number + ["d"] * (cell.strength < 0))
    strength = min(abs(cell.strength), 1.0) if math.isfinite(cell.strength) else 0.0
    attributes = f' class="{classes}"' if classes else ""
    if strength >= 0.005:
        attributes += f' style="--v:{strength:.2f}"'
    if cell.tip:
        attributes += f' title="{escaped(cell.tip)}"'
    return f"<td{attributes}>{escaped(cell.text, length)}</td>"
