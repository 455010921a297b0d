"""Which head is chosen and which cell pinned when another result is shown. No Qt."""

from collections.abc import Sequence
from typing import Literal

from augenmerk.core.analysis.comparing import common_subsequence
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import ExperimentResult, MapKind, Translation
from augenmerk.viz_app.state.head_roles import clearest_head
from augenmerk.viz_app.state.map_selection import MapSelection
from augenmerk.viz_app.state.map_source import MapSource
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.map_view_settings import MapViewSettings, ShownMaps


class ViewIntents:
    """Keeps the chosen head and the pinned cell as results change; what does not exist yet is chosen later.

    Attributes:
        settings, selection, maps: what it applies to.
    """

    def __init__(self, settings: MapViewSettings, selection: MapSelection, maps: MapSource) -> None:
        self.settings, self.selection, self.maps = settings, selection, maps
        self._head_next: Head | None = None
        self._pin_next: Pair | None = None
        self._has_picked_head = False
        settings.events.shown.connect(self._on_shown)

    def choose_head(self, head: Head) -> None:
        """Shows one head, in place of another or of several; one that the maps shown lack, with the next result."""
        self.settings.show_one()
        num_layers, num_heads = self.maps.shape(head.kind)
        is_there = self.maps.result is None or (head.layer < num_layers and head.head < num_heads)
        self._head_next = None if is_there else head
        if is_there:
            self.selection.choose(head)

    def pin_with_next_result(self, pair: Pair | None) -> None:
        """Pins a cell as soon as the next result is shown, if it has such a cell."""
        self._pin_next = pair

    def begin_model(self) -> None:
        """Another model answers from now on: unless the user has chosen a head, its clearest one will be shown."""
        self._has_picked_head = False

    def show(self, result: ExperimentResult) -> str:
        """Shows the maps of a result, with the head and the pin that belong to it.

        Returns:
            Which cell could not be pinned, in a sentence; empty if that did not happen.
        """
        before, shown_before = self.maps.result, self.maps.translation
        self.maps.show(result)
        if before is None or before.changed is not result.changed:
            self.selection.clear_marks(pinned=self._kept_pin(shown_before))
        selection = self.selection
        head_next, self._head_next = self._head_next, None
        selection.was_chosen = selection.was_chosen or head_next is not None
        if not (selection.was_chosen or self._has_picked_head):
            selection.head = Head("cross", *clearest_head(result.changed.maps.cross))
            self._has_picked_head = True
        head = head_next or selection.head
        num_layers, num_heads = self.maps.shape(head.kind)
        selection.head = Head(head.kind, min(head.layer, num_layers - 1), min(head.head, num_heads - 1))
        pair, self._pin_next = self._pin_next, None
        view = self.maps.view() if pair is not None else None
        if pair is None or view is None:
            return ""
        if view.place_of(pair) is None:
            return f"The pinned cell, query {pair.query + 1} and key {pair.key + 1}, is not in this map."
        selection.pinned = pair
        return ""

    def _kept_pin(self, before: Translation | None) -> Pair | None:
        """What is pinned in the maps that were shown, if the maps that are shown now have the same two tokens."""
        pinned, after = self.selection.pinned, self.maps.translation
        if pinned is None or before is None or after is None:
            return None
        return pair_in(after, before, self.selection.head.kind, pinned, self.settings.label_mode)

    def _on_shown(self, shown: ShownMaps, before: ShownMaps) -> None:
        """The maps of the other translation are shown: what is pinned stands for the same two tokens there."""
        result = self.maps.result
        if result is not None and self.selection.pinned is not None and "original" in (shown, before):
            self.selection.pinned = self._kept_pin(result.original if before == "original" else result.changed)


def pair_in(
    after: Translation, before: Translation, kind: MapKind, pair: Pair, label_mode: Literal["read", "predicted"]
) -> Pair | None:
    """The same two tokens in another translation: at the same positions, or where a comparison of maps pairs them.

    Args:
        after: in whose maps the pair is looked for.
        before: in whose maps it was pinned.
        kind: of the maps.
        pair: the query and key.
        label_mode: by which token a query of the decoder is named.

    Returns:
        None if one of the two tokens has no partner.
    """
    query = partner(query_tokens(before, kind, label_mode), query_tokens(after, kind, label_mode), pair.query)
    key = partner(key_tokens(before, kind), key_tokens(after, kind), pair.key)
    return Pair(query, key) if query is not None and key is not None else None


def partner(before: Sequence[str], after: Sequence[str], index: int) -> int | None:
    """The index of the token in `after` that stands for one of `before`; None if it is gone."""
    if index >= len(before):
        return None
    if index < len(after) and before[index] == after[index]:
        return index
    return dict(common_subsequence(before, after)).get(index)


def query_tokens(translation: Translation, kind: MapKind, label_mode: Literal["read", "predicted"]) -> tuple[str, ...]:
    """By which token each query of a kind of map is named."""
    if kind == "encoder":
        return translation.source_tokens
    return translation.read_tokens if label_mode == "read" else translation.predicted_tokens


def key_tokens(translation: Translation, kind: MapKind) -> tuple[str, ...]:
    """The token of each key of a kind of map."""
    return translation.read_tokens if kind == "decoder" else translation.source_tokens
