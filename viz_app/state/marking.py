"""What is hovered, pinned and picked out on the Translate page, and where that lights up. No Qt."""

from dataclasses import dataclass

from core.model.heads import Head
from core.translation.result import MapKind, Translation, Word
from viz_app.state.picking import COLUMN_SIDES, ROW_SIDES, Manner, PickedTokens, RowSum, Side
from viz_app.state.seeing import Seeing


@dataclass(frozen=True)
class Cell:
    """A query and a key, as indices into a whole map (hidden rows and columns counted)."""

    row: int
    column: int


@dataclass(frozen=True)
class Place:
    """A row or a column of the large map as it is shown."""

    index: int
    is_row: bool


class Marking(Seeing):
    """Marks on maps and words; what a mark on one map means in all others.

    Attributes:
        translation: what is shown, or None.
        choice: the chosen head.
        hovered, pinned: cells of the large map.
        hovered_place: a row or column whose label is under the mouse, where the map is drawn as lines.
        hovered_sum: a column of the large map (as shown) under the mouse in the strip of the sum.
        highlighted_word: a word of the translation under the mouse.
        picked: tokens whose rows are summed, and which light up in all maps.
        picked_key: a token that was picked by its column.
    """

    def __init__(self) -> None:
        super().__init__()
        self.translation: Translation | None = None
        self.choice: Head = Head("cross", 0, 0)
        self.forget_marks()

    def forget_marks(self) -> None:
        """Nothing is hovered, pinned or picked."""
        self.forget_hovered()
        self.pinned: Cell | None = None
        self.highlighted_word: Word | None = None
        self.picked = PickedTokens()
        self.picked_key = PickedTokens()

    def forget_hovered(self) -> None:
        """Nothing is under the mouse: the large map is about to become another."""
        self.hovered: Cell | None = None
        self.hovered_sum: int | None = None
        self.hovered_place: Place | None = None

    @property
    def has_marks(self) -> bool:
        """Whether anything is pinned or picked."""
        return self.pinned is not None or bool(self.picked.tokens) or bool(self.picked_key.tokens)

    def pick_rows(self, rows: tuple[int, ...], manner: Manner = "alone") -> None:
        """A click on the label of rows of the chosen map, as positions in the whole map."""
        shift = self._row_shift(self.choice.kind)
        self.picked = self.picked.pick(ROW_SIDES[self.choice.kind], [row - shift for row in rows], manner)

    def pick_word(self, word: Word, manner: Manner = "alone") -> None:
        """A click on a word of the translation."""
        self.picked = self.picked.pick("target", range(word.start, word.end), manner)

    def pick_columns(self, columns: tuple[int, ...]) -> None:
        """A click on the label of columns of the chosen map, as positions in the whole map."""
        shift = self._column_shift(self.choice.kind)
        side = COLUMN_SIDES[self.choice.kind]
        self.picked_key = self.picked_key.pick(side, [column - shift for column in columns])

    def is_picked(self, word: Word) -> bool:
        """Whether a word of the translation is picked out."""
        return self.picked.side == "target" and self.picked.tokens.issuperset(range(word.start, word.end))

    def rows_of_word(self, word: Word) -> tuple[int, ...]:
        """The rows in which a word of the translation is read, or predicted; none in encoder maps."""
        if self.translation is None or self.choice.kind == "encoder":
            return ()
        return self._rows(self.choice.kind, "target", range(word.start, word.end))

    def word_of_row(self, row: int) -> Word | None:
        """The word of the translation that a row stands for, if any."""
        if self.translation is None:
            return None
        return next((word for word in self.translation.target_words if row in self.rows_of_word(word)), None)

    def lit_rows(self, kind: MapKind) -> tuple[int, ...]:
        """The rows of a kind of map that belong to pinned and picked tokens.

        Where the pinned query has no row (the encoder, while a cross map is pinned) it is that of the pinned key.
        """
        queries = [*self._pinned_queries(), self.picked]
        found = {row for each in queries for row in self._rows(kind, each.side, each.tokens)}
        if not found:
            found = {row for each in self._pinned_keys() for row in self._rows(kind, each.side, each.tokens)}
        return tuple(sorted(found))

    def lit_columns(self, kind: MapKind) -> tuple[int, ...]:
        """The columns of a kind of map that belong to pinned keys."""
        shift = self._column_shift(kind)
        keys = [each for each in self._pinned_keys() if each.side == COLUMN_SIDES[kind]]
        return tuple(sorted({token + shift for each in keys for token in each.tokens if token + shift >= 0}))

    def row_sum(self) -> RowSum | None:
        """The sum of the picked rows of the large map; None if none of them is shown."""
        if self.translation is None or not self.picked.tokens:
            return None
        rows = self._rows(self.choice.kind, self.picked.side, self.picked.tokens)
        labelled = self.labelled_of(self.translation, self.choice)
        entries = [entry for entry, positions in enumerate(labelled.rows.positions) if set(positions) & set(rows)]
        return RowSum.of(labelled, entries) if entries and len(labelled.columns) else None

    def key_shares(self, side: Side) -> dict[Word, float]:
        """How much of the picked rows went to each word of one side, from 0 to 1; empty if its words are no columns."""
        total, translation = self.row_sum(), self.translation
        if total is None or translation is None or COLUMN_SIDES[self.choice.kind] != side:
            return {}
        whole = float(total.weights.sum()) or 1.0
        share = {
            position: float(weight) / whole / len(positions)
            for weight, positions in zip(
                total.weights, self.labelled_of(translation, self.choice).columns.positions, strict=True
            )
            for position in positions
        }
        shift = self._column_shift(self.choice.kind)
        words = translation.source_words if side == "source" else translation.target_words
        return {word: sum(share.get(token + shift, 0.0) for token in range(word.start, word.end)) for word in words}

    def _pinned_queries(self) -> list[PickedTokens]:
        if self.pinned is None:
            return []
        row = self.pinned.row - self._row_shift(self.choice.kind)
        return [PickedTokens(ROW_SIDES[self.choice.kind], frozenset({row}))]

    def _pinned_keys(self) -> list[PickedTokens]:
        keys = [self.picked_key]
        if self.pinned is not None:
            column = self.pinned.column - self._column_shift(self.choice.kind)
            keys.append(PickedTokens(COLUMN_SIDES[self.choice.kind], frozenset({column})))
        return keys

    def _rows(self, kind: MapKind, side: Side, tokens: "range | frozenset[int]") -> tuple[int, ...]:
        """The rows of tokens of one side in the whole maps of a kind; tokens without a row are left out."""
        if self.translation is None or ROW_SIDES[kind] != side:
            return ()
        shift, num_rows = self._row_shift(kind), self.translation.maps.of_kind(kind).shape[-2]
        return tuple(sorted(token + shift for token in tokens if 0 <= token + shift < num_rows))

    def _row_shift(self, kind: MapKind) -> int:
        """How many rows below its own position a token's row is: the token read at step t was predicted at t − 1."""
        return 1 if kind != "encoder" and self.label_mode == "read" else 0

    def _column_shift(self, kind: MapKind) -> int:
        return 1 if kind == "decoder" else 0  # the decoder's keys are always tokens that were read
