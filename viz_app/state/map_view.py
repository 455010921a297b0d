"""A labelled map as it is drawn: which axis carries the queries, and what its parts are called. No Qt.

Query and key are positions in the model's whole map; an entry is an index among the queries or the keys that are shown;
row and column are places in the drawing. Nothing but this module translates between them, and nothing but `Axes` names
rows and columns in sentences about queries and keys.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from augenmerk.core.analysis.selection import Axis, LabelledMap
from augenmerk.core.translation.result import FloatArray


@dataclass(frozen=True)
class Axes:
    """The words for the two axes of a drawing.

    Attributes:
        query, key: what shows one query, and what shows one key.
        query_labels: where the labels of the queries stand.
        corner: the corner of a table: what its rows are, and what its columns are.
    """

    query: str
    key: str
    query_labels: str
    corner: str


QUERIES_DOWN = Axes("row", "column", "at the left", "query \\ key")


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


@dataclass(frozen=True, order=True)
class Band:
    """A whole row or a whole column of the drawing."""

    index: int
    is_row: bool


@dataclass(frozen=True)
class Marks:
    """What is marked on the drawing of one map.

    Attributes:
        is_off: the head is switched off.
        pinned: the pinned cell.
        lit: rows and columns of tokens that are picked.
        changed: rows and columns of tokens that the original translation does not have.
        set: rows, or columns, whose attention is set by the experiment.
        forced: rows, or columns, that predict, or read, a forced token.
    """

    is_off: bool = False
    pinned: Place | None = None
    lit: frozenset[Band] = frozenset()
    changed: frozenset[Band] = frozenset()
    set: frozenset[Band] = frozenset()
    forced: frozenset[Band] = frozenset()


NO_MARKS = Marks()


@dataclass(frozen=True, eq=False)
class Strip:
    """The sum of several queries, drawn along the keys of a map.

    Attributes:
        values: [1, columns].
        label: what is summed, next to the strip.
        title: the same in more words.
    """

    values: FloatArray
    label: str
    title: str = ""

    def top(self, map_top: float) -> float:
        """The value of the last colour: that of the map, or the largest sum."""
        return max(map_top, self.largest)

    @property
    def largest(self) -> float:
        """The largest sum."""
        return float(self.values.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class MapView:
    """One map [Q, M], or several of the same tokens, drawn with queries in rows and keys in columns.

    Attributes:
        labelled: the map, its queries and keys.
        axes: the words for rows and columns.
    """

    labelled: LabelledMap
    axes: Axes = QUERIES_DOWN

    # --- the drawing ----------------------------------------------------------------------------------------------

    @property
    def values(self) -> FloatArray:
        """[…, rows, columns]; what stays of a query is renormalised where keys are hidden; NaN: there is nothing."""
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
    def rows(self) -> Axis:
        """What the rows stand for."""
        return self.labelled.queries

    @property
    def columns(self) -> Axis:
        """What the columns stand for."""
        return self.labelled.keys

    def strip(self, weights: FloatArray, label: str, title: str) -> Strip:
        """Weights of the keys shown, as a strip along the map."""
        return Strip(np.ascontiguousarray(weights[None, :]), label, title)

    @property
    def hidden_share(self) -> float:
        """The part of the shown queries' attention that lay on hidden keys, from 0 to 1."""
        return min(1.0, max(0.0, float(self.labelled.hidden_mass_in_all)))  # float32 rounds past the ends

    # --- between pair and place -----------------------------------------------------------------------------------

    def pair_at(self, place: Place) -> Pair:
        """The query and the key of a cell; of a word made of several tokens, the first."""
        return Pair(self.queries_of(self.query_band_at(place))[0], self.keys_of(Band(place.column, is_row=False))[0])

    def place_of(self, pair: Pair) -> Place | None:
        """The cell of a query and a key; None if one of them is hidden."""
        entries = self.entries_of(pair)
        return None if entries is None else Place(*entries)

    def query_band_at(self, place: Place) -> Band:
        """What shows the query of a cell."""
        return Band(place.row, is_row=True)

    def queries_of(self, band: Band) -> tuple[int, ...]:
        """The queries that a row or column stands for; empty if it stands for keys."""
        return self.labelled.queries.positions[band.index] if band.is_row else ()

    def keys_of(self, band: Band) -> tuple[int, ...]:
        """The keys that a row or column stands for; empty if it stands for queries."""
        return () if band.is_row else self.labelled.keys.positions[band.index]

    def query_bands(self, entries: Iterable[int]) -> list[Band]:
        """What shows these entries of the queries, in order."""
        return [Band(entry, is_row=True) for entry in sorted(entries)]

    def key_bands(self, entries: Iterable[int]) -> list[Band]:
        """What shows these entries of the keys, in order."""
        return [Band(entry, is_row=False) for entry in sorted(entries)]

    # --- entries --------------------------------------------------------------------------------------------------

    def entries_of(self, pair: Pair) -> tuple[int, int] | None:
        """A pair as entries of the queries and keys shown; None if one of them is hidden."""
        query, key = self._query_entries.get(pair.query), self._key_entries.get(pair.key)
        return None if query is None or key is None else (query, key)

    def query_entries(self, queries: Iterable[int]) -> set[int]:
        """The entries that stand for these queries; hidden ones are left out."""
        return {self._query_entries[query] for query in queries if query in self._query_entries}

    def key_entries(self, keys: Iterable[int]) -> set[int]:
        """The entries that stand for these keys; hidden ones are left out."""
        return {self._key_entries[key] for key in keys if key in self._key_entries}

    @cached_property
    def _query_entries(self) -> dict[int, int]:
        return {query: entry for entry, queries in enumerate(self.labelled.queries.positions) for query in queries}

    @cached_property
    def _key_entries(self) -> dict[int, int]:
        return {key: entry for entry, keys in enumerate(self.labelled.keys.positions) for key in keys}
