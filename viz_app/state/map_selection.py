"""What is chosen, hovered, pinned and picked on the maps of one experiment. No Qt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from psygnal import SignalGroupDescriptor

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import MapKind, Translation, Word
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.picked_tokens import KEY_SIDES, QUERY_SIDES, PickedTokens, SelectionMode, Side

MARKS = ("hovered", "pinned", "picked", "picked_key", "hovered_word", "hovered_label", "hovered_sum", "step")
"""The fields of `MapSelection` that marks on the large map follow."""


@dataclass(frozen=True)
class HoveredLabel:
    """A label of the large map, drawn as lines, under the mouse.

    Attributes:
        index: of the label among those of its side.
        is_query: whether it stands at the left.
    """

    index: int
    is_query: bool


@dataclass
class MapSelection:
    """The selection. Each change of a field is an event of that name.

    Attributes:
        head: the chosen head.
        was_chosen: whether a person chose it; if not, the first translation of a model picks one that shows something.
        hovered, pinned: a query and a key of the large map.
        hovered_label: a label under the mouse, where the map is drawn as lines.
        hovered_sum: an entry of the keys of the large map under the mouse, in the strip of the sum.
        hovered_word: a word of the translation under the mouse.
        picked: tokens of which the queries are summed, and which light up in all maps.
        picked_key: a token that was picked as a key.
        step: the decoding step that is looked at; None for none.
    """

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    head: Head = Head("cross", 0, 0)
    was_chosen: bool = False
    hovered: Pair | None = None
    pinned: Pair | None = None
    hovered_label: HoveredLabel | None = None
    hovered_sum: int | None = None
    hovered_word: Word | None = None
    picked: PickedTokens = PickedTokens()
    picked_key: PickedTokens = PickedTokens()
    step: int | None = None

    @property
    def has_marks(self) -> bool:
        """Whether anything is pinned or picked."""
        return self.pinned is not None or bool(self.picked.tokens) or bool(self.picked_key.tokens)

    @property
    def is_plain(self) -> bool:
        """Whether all labels of the large map are drawn alike."""
        return self.hovered is None and self.hovered_word is None and not self.has_marks

    def clear_marks(self, *, pinned: Pair | None = None) -> None:
        """Nothing is hovered, pinned or picked; or this pair alone is pinned."""
        self.clear_hovered()
        self.pinned = pinned
        self.picked = PickedTokens()
        self.picked_key = PickedTokens()

    def clear_hovered(self) -> None:
        """Nothing is under the mouse: the large map is about to become another."""
        self.hovered = self.hovered_sum = self.hovered_label = self.hovered_word = None

    def choose(self, head: Head) -> None:
        """Chooses a head. A pinned pair stays pinned within the same kind of map."""
        self.clear_hovered()
        if head.kind != self.head.kind:
            self.pinned = None
        self.was_chosen = True
        self.head = head

    def pin(self, pair: Pair) -> None:
        """Pins a pair, or lets it go if it is pinned."""
        self.pinned = None if pair == self.pinned else pair

    def pick_queries(self, queries: Sequence[int], shift: int, mode: SelectionMode = "alone") -> None:
        """A click on the label of queries of the chosen map; see `token_shift_of_queries`."""
        self.picked = self.picked.pick(QUERY_SIDES[self.head.kind], [query - shift for query in queries], mode)

    def pick_word(self, word: Word, mode: SelectionMode = "alone") -> None:
        """A click on a word of the translation."""
        self.picked = self.picked.pick("target", range(word.start, word.end), mode)

    def pick_keys(self, keys: Sequence[int]) -> None:
        """A click on the label of keys of the chosen map."""
        shift = token_shift_of_keys(self.head.kind)
        self.picked_key = self.picked_key.pick(KEY_SIDES[self.head.kind], [key - shift for key in keys])

    def is_picked(self, word: Word) -> bool:
        """Whether a word of the translation is picked."""
        return self.picked.side == "target" and self.picked.tokens.issuperset(range(word.start, word.end))


def token_shift_of_queries(kind: MapKind, label_mode: Literal["read", "predicted"]) -> int:
    """How many positions behind itself a token's query is: the token read at step t was predicted at t − 1."""
    return 1 if kind != "encoder" and label_mode == "read" else 0


def token_shift_of_keys(kind: MapKind) -> int:
    """The same for keys: the decoder's keys are always tokens that were read."""
    return 1 if kind == "decoder" else 0


def queries_of_tokens(
    translation: Translation, kind: MapKind, side: Side, tokens: "range | frozenset[int]", shift: int
) -> tuple[int, ...]:
    """The queries of tokens of one side in the whole maps of a kind; tokens that have none are left out."""
    if QUERY_SIDES[kind] != side:
        return ()
    num_queries = translation.maps.of_kind(kind).shape[-2]
    return tuple(sorted(token + shift for token in tokens if 0 <= token + shift < num_queries))
