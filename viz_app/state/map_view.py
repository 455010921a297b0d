"""A labelled map as it is drawn: which query stands in which row, which key in which column. No Qt.

Query and key are positions in the model's whole map; row and column are places in the drawing. Nothing but this module
translates between the two.
"""

from dataclasses import dataclass
from functools import cached_property

from core.analysis.selection import LabelledMap
from core.translation.result import FloatArray


@dataclass(frozen=True)
class Pair:
    """A query and a key, as positions in a whole map (hidden ones counted)."""

    query: int
    key: int


@dataclass(frozen=True)
class Place:
    """A cell of the drawing."""

    row: int
    column: int


@dataclass(frozen=True, eq=False)
class MapView:
    """One map [Q, M], drawn with queries in rows and keys in columns.

    Attributes:
        labelled: the map, its queries and keys.
    """

    labelled: LabelledMap

    @property
    def values(self) -> FloatArray:
        """[rows, columns]; what stays of a query is renormalised where keys are hidden; NaN where there is nothing."""
        return self.labelled.weights

    @property
    def row_labels(self) -> tuple[str, ...]:
        """One for each row."""
        return self.labelled.queries.labels

    @property
    def column_labels(self) -> tuple[str, ...]:
        """One for each column."""
        return self.labelled.keys.labels

    @property
    def num_rows(self) -> int:
        """Of the drawing."""
        return len(self.labelled.queries)

    @property
    def num_columns(self) -> int:
        """Of the drawing."""
        return len(self.labelled.keys)

    @property
    def hidden_share(self) -> float:
        """The part of the shown queries' attention that lay on hidden keys, from 0 to 1."""
        return min(1.0, max(0.0, float(self.labelled.hidden_mass_in_all)))  # float32 rounds past the ends

    def pair_at(self, place: Place) -> Pair:
        """The query and the key of a cell; of a word made of several tokens, the first."""
        return Pair(self.queries_of(place.row)[0], self.keys_of(place.column)[0])

    def place_of(self, pair: Pair) -> Place | None:
        """The cell of a query and a key; None if one of them is hidden."""
        row, column = self.row_of(pair.query), self.column_of(pair.key)
        return None if row is None or column is None else Place(row, column)

    def queries_of(self, row: int) -> tuple[int, ...]:
        """The queries that a row stands for."""
        return self.labelled.queries.positions[row]

    def keys_of(self, column: int) -> tuple[int, ...]:
        """The keys that a column stands for."""
        return self.labelled.keys.positions[column]

    def row_of(self, query: int) -> int | None:
        """Where a query is shown; None if it is hidden."""
        return self._rows.get(query)

    def column_of(self, key: int) -> int | None:
        """Where a key is shown; None if it is hidden."""
        return self._columns.get(key)

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {query: row for row, queries in enumerate(self.labelled.queries.positions) for query in queries}

    @cached_property
    def _columns(self) -> dict[int, int]:
        return {key: column for column, keys in enumerate(self.labelled.keys.positions) for key in keys}
