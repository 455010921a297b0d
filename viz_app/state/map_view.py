"""What the large heatmap shows, as plain data."""

from dataclasses import dataclass
from functools import cached_property

from core.analysis.selection import LabelledMap
from core.translation.result import FloatArray


@dataclass(frozen=True, eq=False)
class MapView:
    """One map with its labels: tokens, or words made of several; perhaps without some of them.

    Attributes:
        weights: [rows, columns]; what stays of a row is renormalised where columns are hidden.
        row_labels, column_labels: one each.
        row_positions, column_positions: for each the indices into the whole map that it stands for.
        hidden_share: the part of the shown rows' attention that lay on hidden columns, from 0 to 1.
    """

    weights: FloatArray
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    row_positions: tuple[tuple[int, ...], ...]
    column_positions: tuple[tuple[int, ...], ...]
    hidden_share: float

    @classmethod
    def of(cls, labelled: LabelledMap) -> "MapView":
        """The view of one labelled map [Q, M]."""
        return cls(
            weights=labelled.weights,
            row_labels=labelled.rows.labels,
            column_labels=labelled.columns.labels,
            row_positions=labelled.rows.positions,
            column_positions=labelled.columns.positions,
            hidden_share=min(1.0, max(0.0, float(labelled.hidden_mass_in_all))),  # float32 rounds past the ends
        )

    @property
    def rows(self) -> tuple[int, ...]:
        """The first position of each row."""
        return tuple(positions[0] for positions in self.row_positions)

    @property
    def columns(self) -> tuple[int, ...]:
        """The first position of each column."""
        return tuple(positions[0] for positions in self.column_positions)

    def row_of(self, position: int) -> int | None:
        """Where a row of the whole map is shown; None if it is hidden."""
        return self._row_of.get(position)

    def column_of(self, position: int) -> int | None:
        """Where a column of the whole map is shown; None if it is hidden."""
        return self._column_of.get(position)

    @cached_property
    def _row_of(self) -> dict[int, int]:
        return {position: index for index, each in enumerate(self.row_positions) for position in each}

    @cached_property
    def _column_of(self) -> dict[int, int]:
        return {position: index for index, each in enumerate(self.column_positions) for position in each}
