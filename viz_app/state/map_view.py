"""A labelled map as drawn, and the cells, rows and columns that are chosen, pinned and picked on
it. No Qt.

Query and key are positions in the model's whole map. An entry is an index among the queries or the
keys shown. Row and column are places in the drawing. Only this module translates between them.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from psygnal import SignalGroupDescriptor

from augenmerk.core.maps.selection import Axis, LabelledMap, sum_queries
from augenmerk.core.model.heads import AttentionKind, Head
from augenmerk.core.translation.result import FloatArray, Translation, Word

from .sentence_text import elided


@dataclass(frozen=True)
class Pair:
    """A query and a key, as positions in a whole map (hidden ones counted)."""

    query: int
    key: int


class Place(NamedTuple):
    """A cell of the drawing."""

    row: int
    column: int


@dataclass(frozen=True, order=True)
class Band:
    """A whole row or a whole column of the drawing."""

    index: int
    is_row: bool


PointerTarget = Literal["cell", "row", "head", "word"]
"""The pinned cell, the row of its query, the chosen head, or the word of the translation that the
query belongs to."""
PointerStyle = Literal["ring", "arrow", "dim"]
"""A ring, an arrow, or everything else dimmed."""


@dataclass(frozen=True)
class Pointer:
    """Directs the eye to a part of the picture."""

    target: PointerTarget
    style: PointerStyle


@dataclass(frozen=True)
class Pointed:
    """A pointer on the drawing of one map.

    Attributes:
        style: of the pointer.
        row: of a cell or a row; None for a whole column or the whole map.
        column: of a cell or a column; None for a whole row or the whole map.
    """

    style: PointerStyle
    row: int | None = None
    column: int | None = None


@dataclass(frozen=True)
class Marks:
    """The marks on the drawing of one map.

    Attributes:
        factor: the head's output is multiplied by it; 0: the head is switched off.
        pinned: the pinned cell.
        lit: rows and columns of tokens that are picked.
        changed: rows and columns of tokens that the original translation does not have.
        set: rows, or columns, whose attention is set by the experiment.
        forced: rows, or columns, that predict, or read, a forced token.
        pointed: the place of the pointer.
        is_dimmed: the pointer dims the whole map.
    """

    factor: float = 1.0
    pinned: Place | None = None
    lit: frozenset[Band] = frozenset()
    changed: frozenset[Band] = frozenset()
    set: frozenset[Band] = frozenset()
    forced: frozenset[Band] = frozenset()
    pointed: Pointed | None = None
    is_dimmed: bool = False

    @property
    def is_off(self) -> bool:
        """Whether the head is switched off, and so struck out."""
        return self.factor == 0

    @property
    def scaling(self) -> str:
        """The factor in a few letters; empty if the head is off or unchanged."""
        return "" if self.is_off else scaling_text(self.factor)


NO_MARKS = Marks()


def scaling_text(factor: float) -> str:
    """A few letters on the factor of a head or network: "off", "×0.5"; empty if it is unchanged."""
    return {1.0: "", 0.0: "off"}.get(factor, f"×{factor:g}".replace("-", "−"))


@dataclass(frozen=True, eq=False)
class Sums:
    """The sum of several queries, drawn along the keys of a map.

    Attributes:
        values: [1, columns].
        label: next to the row of sums.
        title: the same in more words.
    """

    values: FloatArray
    label: str
    title: str = ""

    @property
    def largest(self) -> float:
        """The largest sum."""
        return float(self.values.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class MapView:
    """One map [Q, M], or several of the same tokens, drawn with queries in rows and keys in
    columns, or transposed.

    Attributes:
        labelled: the map, its queries and keys.
        is_transposed: whether keys are in rows and queries in columns.
    """

    labelled: LabelledMap
    is_transposed: bool = False

    @property
    def query_band_name(self) -> str:
        """The word for the place of a query in the drawing."""
        return "column" if self.is_transposed else "row"

    @property
    def key_band_name(self) -> str:
        """The word for the place of a key in the drawing."""
        return "row" if self.is_transposed else "column"

    @property
    def weights(self) -> FloatArray:
        """[…, Q, M], as computed; a query is renormalised where keys are hidden; NaN: no value."""
        return self.labelled.weights

    @property
    def values(self) -> FloatArray:
        """The weights as drawn, […, rows, columns]."""
        return self.weights.swapaxes(-2, -1) if self.is_transposed else self.weights

    @property
    def axes(self) -> tuple[Axis, Axis]:
        """Those of rows and of columns."""
        queries, keys = self.labelled.queries, self.labelled.keys
        return (keys, queries) if self.is_transposed else (queries, keys)

    @property
    def row_labels(self) -> tuple[str, ...]:
        """One for each row."""
        return self.axes[0].labels

    @property
    def column_labels(self) -> tuple[str, ...]:
        """One for each column."""
        return self.axes[1].labels

    def pair_at(self, cell: Place) -> Pair:
        """The query and the key of a cell; of a word made of several tokens, the first."""
        query, key = self._entries(cell)
        return Pair(self.labelled.queries.positions[query][0], self.labelled.keys.positions[key][0])

    def place_of(self, pair: Pair) -> Place | None:
        """The cell of a query and a key; None if one of them is hidden."""
        queries = self.labelled.queries.entries_of((pair.query,))
        keys = self.labelled.keys.entries_of((pair.key,))
        if not queries or not keys:
            return None
        (query,), (key,) = queries, keys
        return Place(key, query) if self.is_transposed else Place(query, key)

    def _entries(self, cell: Place) -> tuple[int, int]:
        """The query and the key of a cell, by their entries."""
        return (cell.column, cell.row) if self.is_transposed else (cell.row, cell.column)

    def cell(self, pair: Pair) -> tuple[str, str, float] | None:
        """The labels of a query and a key, and their value; None if one is hidden."""
        cell = self.place_of(pair)
        if cell is None:
            return None
        query, key = self._entries(cell)
        labels = self.labelled.queries.labels[query], self.labelled.keys.labels[key]
        return *labels, float(self.weights[query, key])

    def is_query(self, band: Band) -> bool:
        """Whether a row or column is a query, not a key."""
        return band.is_row != self.is_transposed

    def queries_of(self, band: Band) -> tuple[int, ...]:
        """The queries of a row or column; none if it is a key."""
        return self.labelled.queries.positions[band.index] if self.is_query(band) else ()

    def keys_of(self, band: Band) -> tuple[int, ...]:
        """The keys of a row or column; none if it is a query."""
        return () if self.is_query(band) else self.labelled.keys.positions[band.index]

    def label_of(self, band: Band) -> str:
        """The label of a row or column."""
        return (self.row_labels if band.is_row else self.column_labels)[band.index]

    def query_band(self, cell: Place) -> Band:
        """The row or column of a cell's query."""
        return Band(self._entries(cell)[0], is_row=not self.is_transposed)

    @property
    def table_header(self) -> tuple[str, ...]:
        """The first line of a table of the values: the corner, then the columns."""
        return "key \\ query" if self.is_transposed else "query \\ key", *self.column_labels

    def sum_of(self, queries: Iterable[int]) -> "QuerySum | None":
        """The sum of these queries of a map [Q, M]; None if all of them, or all keys, are
        hidden.
        """
        entries = self.labelled.queries.entries_of(queries)
        if not entries or not len(self.labelled.keys):
            return None
        names = tuple(self.labelled.queries.labels[entry] for entry in entries)
        return QuerySum(
            sum_queries(self.labelled, entries).weights[0],
            names,
            self.labelled.keys.labels,
            self.query_band_name,
        )

    def bands(self, queries: Iterable[int] = (), keys: Iterable[int] = ()) -> list[Band]:
        """The rows and columns of these queries and these keys, in order; hidden ones are left
        out.
        """
        labelled = self.labelled
        return self.bands_at(labelled.queries.entries_of(queries), labelled.keys.entries_of(keys))

    def bands_at(self, queries: Iterable[int], keys: Iterable[int]) -> list[Band]:
        """The rows and columns of entries of queries and keys, in order."""
        rows, columns = (keys, queries) if self.is_transposed else (queries, keys)
        bands = [Band(entry, is_row=True) for entry in sorted(rows)]
        return bands + [Band(entry, is_row=False) for entry in sorted(columns)]


TextSide = Literal["source", "target"]
SelectionMode = Literal["alone", "also", "through"]
"""A plain click, one with Ctrl, one with Shift."""

QUERY_SIDES: dict[AttentionKind, TextSide] = {
    "encoder": "source",
    "decoder": "target",
    "cross": "target",
}
KEY_SIDES: dict[AttentionKind, TextSide] = {
    "encoder": "source",
    "decoder": "target",
    "cross": "source",
}
NUM_NAMED = 3
NUM_LISTED = 4
SHORTENED = range(24, 3, -1)
"""Numbers of characters to which a token is shortened if there is little room, longest first."""


@dataclass(frozen=True)
class PickedTokens:
    """Tokens of one side.

    Attributes:
        side: source or target.
        tokens: positions in `source_tokens`, or in `predicted_tokens`; −1 is the start token of the
            target.
        last: the one picked last, from which a Shift-click reaches.
    """

    side: TextSide = "target"
    tokens: frozenset[int] = frozenset()
    last: int | None = None

    def pick(
        self, side: TextSide, tokens: Collection[int], mode: SelectionMode = "alone"
    ) -> "PickedTokens":
        """The selection after a click on a query or word; on all picked tokens, none."""
        new = frozenset(tokens)
        if not new:
            return self
        here = self.tokens if side == self.side else frozenset()
        anchor = self.last if side == self.side else None
        if mode == "through" and anchor is not None:
            return PickedTokens(
                side, here | frozenset(range(min(anchor, *new), max(anchor, *new) + 1)), anchor
            )
        if mode != "alone":
            new = here - new if new <= here else here | new
        picked = new if new != here else frozenset()
        return PickedTokens(side, picked, max(tokens) if picked else None)


@dataclass(frozen=True, eq=False)
class QuerySum:
    """The queries of picked tokens, summed.

    Attributes:
        weights: [M], of the keys.
        query_labels: labels of those queries.
        key_labels: labels of all keys.
        band_name: the word for the place of a query in the drawing.
    """

    weights: FloatArray
    query_labels: tuple[str, ...]
    key_labels: tuple[str, ...]
    band_name: str = "row"

    @property
    def name(self) -> str:
        """The query, or the number of queries."""
        labels = self.query_labels
        return (
            f"{self.band_name.capitalize()} {labels[0]}"
            if len(labels) == 1
            else f"Sum of {self._count}"
        )

    @property
    def _count(self) -> str:
        return f"{len(self.query_labels)} {self.band_name}s"

    @property
    def title(self) -> str:
        """The number of queries, and the first of them by name."""
        labels = self.query_labels
        more = f" … ({len(labels) - NUM_NAMED} more)" if len(labels) > NUM_NAMED else ""
        return (
            self.name
            if len(labels) == 1
            else f"{self.name}: {' + '.join(labels[:NUM_NAMED])}{more}"
        )

    @property
    def sums(self) -> Sums | None:
        """The sum as it is drawn along the keys; None if the keys are in rows."""
        if self.band_name == "column":
            return None
        label = self.query_labels[0] if len(self.query_labels) == 1 else f"Σ {self._count}"
        return Sums(self.weights[None, :], label, self.name)

    @property
    def sentences(self) -> list[str]:
        """The title and the keys with the largest weights, in ever fewer words.

        Fewer keys are listed, and then tokens shortened, but never the numbers.
        """
        order = sorted(range(len(self.weights)), key=lambda key: -float(self.weights[key]))
        best = [
            (self.key_labels[key], f"{self.weights[key]:.2f}")
            for key in order
            if self.weights[key] >= 0.005
        ]
        if not best:
            return [f"{self.title} → nothing"]
        listed = [
            f"{self.title} → {' · '.join(f'{key} {weight}' for key, weight in best[:count])}"
            for count in range(min(len(best), NUM_LISTED), 0, -1)
        ]
        (key, weight), (first, *others) = best[0], self.query_labels
        for length in SHORTENED:
            name = self.name if others else f"{self.band_name.capitalize()} {elided(first, length)}"
            listed.append(f"{name} → {elided(key, length)} {weight}")
        return listed


MARKS = (
    "hovered",
    "pinned",
    "pointer",
    "picked",
    "picked_key",
    "hovered_word",
    "hovered_label",
    "hovered_sum",
    "step",
)
"""The fields of `MapSelection` that marks on the large map follow."""


@dataclass
class MapSelection:
    """The selection. Each change of a field is an event of that name.

    Attributes:
        head: the chosen head.
        was_chosen: whether a person chose it; if not, the first translation of a model picks one
            that shows something.
        hovered: the query and the key under the mouse.
        pinned: a query and a key of the large map that stay marked.
        pointer: directs the eye of an audience; None for none.
        hovered_label: the query or key whose label is under the mouse, where the map is drawn as
            lines.
        hovered_sum: an entry of the keys of the large map under the mouse, in the row of sums.
        hovered_word: a word of the translation under the mouse.
        picked: tokens of which the queries are summed, and which light up in all maps.
        picked_key: a token that was picked as a key.
        step: the current decoding step; None for none.
    """

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    head: Head = Head("cross", 0, 0)
    was_chosen: bool = False
    hovered: Pair | None = None
    pinned: Pair | None = None
    pointer: Pointer | None = None
    hovered_label: Band | None = None
    hovered_sum: int | None = None
    hovered_word: Word | None = None
    picked: PickedTokens = PickedTokens()
    picked_key: PickedTokens = PickedTokens()
    step: int | None = None

    @property
    def has_marks(self) -> bool:
        """Whether anything is pinned or picked."""
        return self.pinned is not None or bool(self.picked.tokens) or bool(self.picked_key.tokens)

    def clear_marks(self, *, pinned: Pair | None = None) -> None:
        """Clears everything hovered, pinned and picked, and pins this pair if there is one."""
        self.clear_hovered()
        self.pinned = pinned
        self.picked = PickedTokens()
        self.picked_key = PickedTokens()

    def clear_hovered(self) -> None:
        """Clears everything hovered, before the large map changes."""
        self.hovered = self.hovered_sum = self.hovered_label = self.hovered_word = None

    def choose(self, head: Head) -> None:
        """Chooses a head. A pinned pair stays pinned within the same kind of map."""
        self.clear_hovered()
        if head.kind != self.head.kind:
            self.pinned = None
        self.was_chosen = True
        self.head = head

    def pin(self, pair: Pair) -> None:
        """Pins a pair, or unpins it if it is pinned."""
        self.pinned = None if pair == self.pinned else pair

    def pick_queries(
        self, queries: Sequence[int], shift: int, mode: SelectionMode = "alone"
    ) -> None:
        """A click on the label of queries of the chosen map; see `token_shift_of_queries`."""
        self.picked = self.picked.pick(
            QUERY_SIDES[self.head.kind], [query - shift for query in queries], mode
        )

    def pick_word(self, word: Word, mode: SelectionMode = "alone") -> None:
        """A click on a word of the translation."""
        self.picked = self.picked.pick("target", range(word.start, word.end), mode)

    def pick_keys(self, keys: Sequence[int]) -> None:
        """A click on the label of keys of the chosen map."""
        shift = token_shift_of_keys(self.head.kind)
        self.picked_key = self.picked_key.pick(
            KEY_SIDES[self.head.kind], [key - shift for key in keys]
        )

    def is_picked(self, word: Word) -> bool:
        """Whether a word of the translation is picked."""
        return self.picked.side == "target" and self.picked.tokens.issuperset(
            range(word.start, word.end)
        )


def token_shift_of_queries(kind: AttentionKind, label_mode: Literal["read", "predicted"]) -> int:
    """The distance from a token to its query: the token read at step t was predicted at t − 1."""
    return 1 if kind != "encoder" and label_mode == "read" else 0


def token_shift_of_keys(kind: AttentionKind) -> int:
    """The same for keys: the decoder's keys are always tokens that were read."""
    return 1 if kind == "decoder" else 0


def queries_of_tokens(
    translation: Translation,
    kind: AttentionKind,
    side: TextSide,
    tokens: "range | frozenset[int]",
    shift: int,
) -> tuple[int, ...]:
    """The queries of tokens of one side in the whole maps of a kind; tokens that have none are left
    out.
    """
    if QUERY_SIDES[kind] != side:
        return ()
    num_queries = translation.maps.of_kind(kind).shape[-2]
    return tuple(sorted(token + shift for token in tokens if 0 <= token + shift < num_queries))
