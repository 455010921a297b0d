"""A table of numbers for files: what an analysis tab shows.

Its numbers and texts may be `Counted`. No Qt.
"""

from dataclasses import dataclass

Value = str | int | float | None


@dataclass(frozen=True)
class NumberTable:
    """Rows of texts and numbers.

    Attributes:
        name: of the table, for the name of a file.
        facts: about all rows, by name.
        headings: of the columns.
        rows: one value for each column; None if there is none.
    """

    name: str
    facts: dict[str, Value]
    headings: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
