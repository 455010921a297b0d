"""The maps as they are shown: original, changed or their difference; labelled, merged, combined, scaled. No Qt."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from augenmerk.core.analysis.comparing import MapDifference, NothingInCommonError, difference
from augenmerk.core.analysis.measures import MEASURES, Measure, MeasuredMaps
from augenmerk.core.analysis.selection import LabelledMap, Selection, combine, is_hidden
from augenmerk.core.errors import AnalysisError
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import ExperimentResult, FloatArray, MapKind, Translation, read_only
from augenmerk.viz_app.state.map_selection import MapSelection
from augenmerk.viz_app.state.map_view import MapView
from augenmerk.viz_app.state.map_view_settings import MapViewSettings, ShownMaps

MAX_CACHED = 200
LEAST_DIFFERENCE = 0.01
"""Colours of a difference reach at least this far: rounding errors are not to look like a finding."""


class MapSource:
    """Maps of an experiment's result, in the way that the settings ask for. Pure derivation, remembered while it holds.

    Attributes:
        settings, selection: how maps are shown, and which head is chosen.
        result: whose maps; None while nothing is shown.
        measured: the maps of its translations in the other measures, as far as they are known.
    """

    def __init__(self, settings: MapViewSettings, selection: MapSelection) -> None:
        self.settings, self.selection = settings, selection
        self.result: ExperimentResult | None = None
        self.measured: tuple[MeasuredMaps, ...] = ()
        self._cache: dict[Hashable, object] = {}

    def show(self, result: ExperimentResult | None) -> None:
        """Another result; what was measured of translations that it keeps stays known."""
        self.result = result
        kept = () if result is None else (result.original, result.changed)
        self.measured = tuple(each for each in self.measured if any(each.translation is one for one in kept))
        self._cache.clear()

    def add_measured(self, measured: MeasuredMaps) -> None:
        """The maps of a translation in the other measures have become known."""
        self.measured = (*(each for each in self.measured if each.translation is not measured.translation), measured)
        self._cache.clear()

    def with_settings(self, **changes: Any) -> "MapSource":
        """The same maps, shown in another way: `changes` are fields of `MapViewSettings`."""
        found = MapSource(self.settings.with_changes(**changes), self.selection)
        found.result, found.measured = self.result, self.measured
        return found

    # --- which maps ----------------------------------------------------------------------------------------------

    @property
    def shown(self) -> ShownMaps:
        """What is really shown: without interventions there is one translation, and one kind of maps."""
        return self.settings.shown if self.result is not None and self.result.is_changed else "changed"

    @property
    def translation(self) -> Translation | None:
        """Whose tokens name the maps: the changed translation, unless the original maps are shown."""
        if self.result is None:
            return None
        return self.result.original if self.shown == "original" else self.result.changed

    def is_signed(self, kind: MapKind) -> bool:
        """Whether values of a kind of map lie on both sides of 0: a difference is shown, and there is one."""
        return self.shown == "difference" and not self.difference_problem(kind)

    def difference_problem(self, kind: MapKind) -> str:
        """Why there is no difference of maps of a kind; empty if there is one."""
        found = self._kept(
            ("difference", kind, self.settings.selection, self.shown_measure(kind)), self._difference_of(kind)
        )
        return found if isinstance(found, str) else ""

    def lacks_difference(self, kind: MapKind) -> bool:
        """Whether a difference is asked for and maps of a kind have none: they are the changed ones, and greyed out."""
        return self.shown == "difference" and bool(self.difference_problem(kind))

    def new_entries(self, kind: MapKind) -> tuple[frozenset[int], frozenset[int]]:
        """The queries and keys shown that the original maps of this kind do not have, as entries of those shown."""
        found = self._kept(
            ("difference", kind, self.settings.selection, self.shown_measure(kind)), self._difference_of(kind)
        )
        if self.shown == "original" or not isinstance(found, MapDifference):
            return frozenset(), frozenset()
        return new_entries(found, self.labelled_all(kind))

    def shape(self, kind: MapKind) -> tuple[int, int]:
        """Number of layers and of heads of one kind; zeros while nothing is shown."""
        translation = self.translation
        if translation is None:
            return 0, 0
        num_layers, num_heads = translation.maps.of_kind(kind).shape[:2]
        return num_layers, num_heads

    # --- one measure ----------------------------------------------------------------------------------------------

    def shown_measure(self, kind: MapKind, translation: Translation | None = None) -> Measure:
        """The measure that is shown of a kind of map: the weight where the one asked for does not exist, or not yet."""
        measure = self.settings.measure
        if measure == "weight" or kind not in MEASURES[measure].kinds:
            return "weight"
        asked = [translation] if translation is not None else self._translations_shown()
        return measure if all(self._measured_of(each) is not None for each in asked) else "weight"

    def lacking_measure(self) -> Translation | None:
        """A translation that has to be measured before the chosen measure can be shown; None if there is none."""
        if self.settings.measure == "weight":
            return None
        return next((each for each in self._translations_shown() if self._measured_of(each) is None), None)

    def maps_of(self, translation: Translation, kind: MapKind) -> FloatArray:
        """The whole maps of a kind in the measure that is shown, [L, H, Q, M]; a layer's one map for each head."""
        weights, measure = translation.maps.of_kind(kind), self.shown_measure(kind)
        measured = self._measured_of(translation)
        if measure == "weight" or measured is None:
            return weights
        return np.broadcast_to(measured.maps[measure, kind], weights.shape)

    def _translations_shown(self) -> list[Translation]:
        if self.result is None or self.translation is None:
            return []
        return [self.result.original, self.result.changed] if self.shown == "difference" else [self.translation]

    def _measured_of(self, translation: Translation) -> MeasuredMaps | None:
        return next((each for each in self.measured if each.translation is translation), None)

    # --- labelled maps --------------------------------------------------------------------------------------------

    def heads(self, head: Head | None = None) -> list[tuple[int, int]]:
        """Layer and head of all heads that the large map is made of."""
        head = head or self.selection.head
        num_layers, num_heads = self.shape(head.kind)
        scope = self.settings.scope
        if scope == "layer":
            return [(head.layer, each) for each in range(num_heads)]
        if scope == "all":
            return [(layer, each) for layer in range(num_layers) for each in range(num_heads)]
        if scope == "chosen":
            places = [(each.layer, each.head) for each in self.settings.several if each.kind == head.kind]
            inside = sorted(place for place in places if place[0] < num_layers and place[1] < num_heads)
            if inside:
                return inside
        return [(head.layer, head.head)]

    def view(self) -> MapView | None:
        """The large map as it is drawn; None while nothing is shown."""
        labelled = self.labelled()
        return self._view_of(labelled) if labelled is not None else None

    def view_all(self, kind: MapKind) -> MapView:
        """All maps of a kind as they are drawn."""
        return self._view_of(self.labelled_all(kind))

    def _view_of(self, labelled: LabelledMap) -> MapView:
        axes = self.settings.axes
        found = self._kept(("view", id(labelled), axes), lambda: MapView(labelled, axes))
        assert isinstance(found, MapView)
        return found

    def labelled(self) -> LabelledMap | None:
        """The large map; None while nothing is shown."""
        if self.result is None:
            return None
        kind, heads = self.selection.head.kind, self.heads()
        how = self.settings.combination
        return self._labelled(("large", how, tuple(heads)), kind, lambda maps: combine(maps, how, heads))

    def labelled_all(self, kind: MapKind) -> LabelledMap:
        """All maps of a kind, [L, H, Q, M]."""
        return self._labelled(("all",), kind, lambda maps: maps)

    def thumbnails(self, kind: MapKind) -> FloatArray:
        """All maps of a kind as the grid shows them, [L, H, rows, columns]."""
        return self.view_all(kind).values

    def _labelled(
        self, name: tuple[object, ...], kind: MapKind, choose: Callable[[FloatArray], FloatArray]
    ) -> LabelledMap:
        of_result, translation, is_difference = self.result, self.translation, self.shown == "difference"
        assert of_result is not None
        assert translation is not None
        key = (*name, kind, self.shown, self.settings.selection, self.shown_measure(kind))

        def make() -> LabelledMap:
            shown = self._selected(choose(self.maps_of(translation, kind)), translation, kind)
            if not is_difference:
                return shown
            original = self._selected(choose(self.maps_of(of_result.original, kind)), of_result.original, kind)
            try:
                return spread(difference(original, shown), shown)
            except AnalysisError:
                return shown

        found = self._kept(key, make)
        assert isinstance(found, LabelledMap)
        return found

    def _difference_of(self, kind: MapKind) -> Callable[[], object]:
        """The difference of all maps of a kind, or a sentence that says why there is none."""

        def make() -> object:
            result = self.result
            if result is None or not result.is_changed:
                return ""
            both = (self._selected(self.maps_of(each, kind), each, kind) for each in (result.original, result.changed))
            try:
                return difference(*both)
            except NothingInCommonError as error:
                return error.reason
            except AnalysisError as error:
                return str(error)

        return make

    def _selected(self, maps: FloatArray, translation: Translation, kind: MapKind) -> LabelledMap:
        """Labelled, merged, hidden; nothing is hidden where nothing would be left: a sentence of punctuation alone."""
        selection = self.settings.selection
        labelled = selection.apply(maps, translation, kind)
        if not labelled.weights.size:
            labelled = Selection(selection.label_mode, selection.merge_words).apply(maps, translation, kind)
        return labelled

    @property
    def hides_nothing(self) -> bool:
        """Whether no token of the large map would be left, so that none is hidden although this was asked for."""
        shown, kinds = self.labelled(), self.settings.selection.hide
        return shown is not None and any(
            is_hidden(label, kinds) for label in (*shown.queries.labels, *shown.keys.labels)
        )

    # --- colours --------------------------------------------------------------------------------------------------

    def top_value(self, head: Head, values: FloatArray) -> float:
        """The value that gets the last colour in a map of a head; of a difference, on both sides of 0."""
        scale = self.settings.scale
        if self.is_signed(head.kind):
            every = values if scale == "own" else self.thumbnails(head.kind)
            if scale == "layer":
                every = every[head.layer]
            return max(float(np.nanmax(np.abs(every), initial=0.0)), LEAST_DIFFERENCE)
        if scale == "shared":
            if MEASURES[self.shown_measure(head.kind)].rows_sum_to_one:
                return 1.0
            values = self.thumbnails(head.kind)
        if scale == "layer":
            values = self.thumbnails(head.kind)[head.layer]
        return float(values.max(initial=0.0)) or 1.0

    def top_values(self, kind: MapKind) -> FloatArray:
        """The same for all maps of a kind at once, [L, H]."""
        values = self.thumbnails(kind)
        found = self._kept(("tops", id(values), self.settings.scale), lambda: self._top_values_of(values, kind))
        assert isinstance(found, np.ndarray)
        return found

    def _top_values_of(self, values: FloatArray, kind: MapKind) -> FloatArray:
        if self.settings.scale == "shared":
            return np.full(values.shape[:2], self.top_value(Head(kind, 0, 0), values), dtype=np.float32)
        axes = (-3, -2, -1) if self.settings.scale == "layer" else (-2, -1)
        if self.is_signed(kind):
            largest = np.nanmax(np.abs(values), axis=axes, initial=LEAST_DIFFERENCE, keepdims=True)[..., 0, 0]
        else:
            largest = values.max(axis=axes, initial=0.0, keepdims=True)[..., 0, 0]
        return np.broadcast_to(np.where(largest > 0, largest, np.float32(1)), values.shape[:2])

    def _kept(self, key: Hashable, make: Callable[[], object]) -> object:
        """What is made, remembered until another result is shown."""
        if key not in self._cache:
            if len(self._cache) > MAX_CACHED:
                self._cache.clear()
            self._cache[key] = make()
        return self._cache[key]


def spread(found: MapDifference, changed: LabelledMap) -> LabelledMap:
    """A difference on all queries and keys of the changed map; NaN where there is no partner in the original one."""
    values = np.full(changed.weights.shape, np.nan, dtype=np.float32)
    queries = [query for _, query in found.query_pairs]
    keys = [key for _, key in found.key_pairs]
    values[..., np.array(queries)[:, None], np.array(keys)[None, :]] = found.values
    return replace(changed, weights=read_only(values))


def new_entries(found: MapDifference, changed: LabelledMap) -> tuple[frozenset[int], frozenset[int]]:
    """The queries and keys of the changed map that have no partner in the original one."""
    queries = frozenset(range(len(changed.queries))) - {query for _, query in found.query_pairs}
    return queries, frozenset(range(len(changed.keys))) - {key for _, key in found.key_pairs}


def has_split_words(translation: Translation) -> bool:
    """Whether any word is made of several tokens."""
    return any(word.end - word.start > 1 for word in (*translation.source_words, *translation.target_words))
