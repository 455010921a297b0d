"""Tokens that are picked by clicks, and the sum of their queries. No Qt."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from augenmerk.core.analysis.selection import sum_queries
from augenmerk.core.translation.result import FloatArray, MapKind
from augenmerk.viz_app.state.map_view import Axes, MapView
from augenmerk.viz_app.state.sentence_text import elided

Side = Literal["source", "target"]
SelectionMode = Literal["alone", "also", "through"]
"""A plain click, one with Ctrl, one with Shift."""

QUERY_SIDES: dict[MapKind, Side] = {"encoder": "source", "decoder": "target", "cross": "target"}
KEY_SIDES: dict[MapKind, Side] = {"encoder": "source", "decoder": "target", "cross": "source"}
NUM_NAMED = 3
NUM_LISTED = 4
SHORTENED = range(24, 3, -1)
"""To so many characters a token may be shortened where there is little room, longest first."""


@dataclass(frozen=True)
class PickedTokens:
    """Tokens of one side.

    Attributes:
        side: source or target.
        tokens: positions in `source_tokens`, or in `predicted_tokens`; −1 is the start token of the target.
        last: the one picked last, from which a Shift-click reaches.
    """

    side: Side = "target"
    tokens: frozenset[int] = frozenset()
    last: int | None = None

    def pick(self, side: Side, tokens: Collection[int], mode: SelectionMode = "alone") -> "PickedTokens":
        """After a click on some tokens that stand for one query or word: a click on all that is picked lets it go."""
        new = frozenset(tokens)
        if not new:
            return self
        here = self.tokens if side == self.side else frozenset()
        anchor = self.last if side == self.side else None
        if mode == "through" and anchor is not None:
            return PickedTokens(side, here | frozenset(range(min(anchor, *new), max(anchor, *new) + 1)), anchor)
        if mode != "alone":
            new = here - new if new <= here else here | new
        kept = new if new != here else frozenset()
        return PickedTokens(side, kept, max(tokens) if kept else None)


@dataclass(frozen=True, eq=False)
class QuerySum:
    """The queries of picked tokens, summed.

    Attributes:
        entries: the queries of the map shown that went into it.
        weights: [M], of the keys.
        query_labels, key_labels: of those queries, and of all keys.
        axes: what a query is called.
    """

    entries: tuple[int, ...]
    weights: FloatArray
    query_labels: tuple[str, ...]
    key_labels: tuple[str, ...]
    axes: Axes

    @classmethod
    def of(cls, view: MapView, entries: Sequence[int]) -> "QuerySum":
        """The sum of these queries of a map [Q, M]; at least one is needed."""
        labelled = view.labelled
        summed = sum_queries(labelled, entries)
        names = tuple(labelled.queries.labels[entry] for entry in entries)
        return cls(tuple(entries), summed.weights[0], names, labelled.keys.labels, view.axes)

    @property
    def title(self) -> str:
        """How many queries, and the first of them by name."""
        query = self.axes.query
        if len(self.entries) == 1:
            return f"{query.capitalize()} {self.query_labels[0]}"
        more = f" … ({len(self.entries) - NUM_NAMED} more)" if len(self.entries) > NUM_NAMED else ""
        return f"Sum of {len(self.entries)} {query}s: {' + '.join(self.query_labels[:NUM_NAMED])}{more}"

    @property
    def name(self) -> str:
        """How many queries, or the one."""
        return self.title.rpartition(":")[0] or self.title

    @property
    def short_title(self) -> str:
        """What stands next to the sum."""
        return self.query_labels[0] if len(self.entries) == 1 else f"Σ {len(self.entries)} {self.axes.query}s"

    @property
    def sentence(self) -> str:
        """The title, and the keys that got most."""
        return self.sentences[0]

    @property
    def sentences(self) -> list[str]:
        """The same in ever fewer words: fewer keys are listed, and then tokens shortened, but never the numbers."""
        order = sorted(range(len(self.weights)), key=lambda key: -float(self.weights[key]))
        best = [(self.key_labels[key], f"{self.weights[key]:.2f}") for key in order if self.weights[key] >= 0.005]
        if not best:
            return [f"{self.title} → nothing"]
        listed = [
            f"{self.title} → {' · '.join(f'{key} {weight}' for key, weight in best[:count])}"
            for count in range(min(len(best), NUM_LISTED), 0, -1)
        ]
        title = f"Sum of {len(self.entries)} {self.axes.query}s"
        names = [
            title if len(self.entries) > 1 else f"{self.axes.query.capitalize()} {elided(self.query_labels[0], length)}"
            for length in SHORTENED
        ]
        key, weight = best[0]
        return [
            *listed,
            *(f"{name} → {elided(key, length)} {weight}" for name, length in zip(names, SHORTENED, strict=True)),
        ]
