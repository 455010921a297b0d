"""The maps shown: original, changed or their difference; labelled, merged, combined, scaled.

No Qt.
"""

from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from augenmerk.core.counting import display_text
from augenmerk.core.errors import AnalysisError
from augenmerk.core.maps.comparing import MapDifference, NothingInCommonError, difference
from augenmerk.core.maps.measure import MeasureName
from augenmerk.core.maps.measures import MEASURES, MeasuredMaps
from augenmerk.core.maps.selection import LabelledMap, Selection, combine, is_hidden
from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind, Head, heads_in
from augenmerk.core.translation.result import ExperimentResult, FloatArray, Translation, read_only

from .color_scale import ColorScale
from .map_view import MapSelection, MapView
from .map_view_settings import MapViewSettings, ShownMaps

MAX_CACHED = 200
LEAST_DIFFERENCE = 0.01
"""Least end of the colours of a difference: rounding errors must not look like a finding."""


Kept = TypeVar("Kept")


class Cache:
    """The newest things that were made; `limit` is their number."""

    def __init__(self, limit: int = MAX_CACHED) -> None:
        self._limit = limit
        self._made: dict[Hashable, Any] = {}

    def kept(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Returns the thing made for an equal key, or makes it."""
        value: Kept = self._made.pop(key) if key in self._made else make()
        self._made[key] = value  # the newest is last
        if len(self._made) > self._limit:
            del self._made[next(iter(self._made))]
        return value

    def clear(self) -> None:
        """Forgets everything."""
        self._made.clear()


class MapSource:
    """Maps of an experiment's result, according to the settings.

    Purely derived, and cached while valid.

    Attributes:
        settings: options of the maps.
        selection: the chosen head.
        result: the result with the maps; None while nothing is shown.
        measured: the maps of its translations in other measures as far as known, by translation and
            measure.
        cache: values derived from these.
    """

    def __init__(self, settings: MapViewSettings, selection: MapSelection) -> None:
        self.settings, self.selection = settings, selection
        self.result: ExperimentResult | None = None
        self.measured: dict[tuple[Translation, MeasureName], MeasuredMaps] = {}
        self.cache = Cache()

    def show(self, result: ExperimentResult | None) -> None:
        """Shows another result; measured maps of translations that it keeps stay known."""
        self.result = result
        translations = () if result is None else (result.original, result.changed)
        self.measured = {key: maps for key, maps in self.measured.items() if key[0] in translations}
        self.cache.clear()

    def add_measured(self, measured: MeasuredMaps) -> None:
        """The maps of a translation in the other measures have become known."""
        self.measured = {**self.measured, (measured.translation, measured.measure): measured}
        self.cache.clear()

    def with_settings(self, **changes: Any) -> "MapSource":
        """The same maps, shown in another way: `changes` are fields of `MapViewSettings`."""
        maps = MapSource(self.settings.with_changes(**changes), self.selection)
        maps.result = self.result
        maps.measured = self.measured
        return maps

    # --- which maps -------------------------------------------------------------------------------

    @property
    def shown(self) -> ShownMaps:
        """The maps really shown: without interventions there is only one kind of maps."""
        return (
            self.settings.shown if self.result is not None and self.result.is_changed else "changed"
        )

    @property
    def translation(self) -> Translation | None:
        """The translation whose tokens name the maps: the changed one, unless maps are original."""
        if self.result is None:
            return None
        return self.result.original if self.shown == "original" else self.result.changed

    def is_signed(self, kind: AttentionKind) -> bool:
        """Whether values of a kind lie on both sides of 0: a difference is shown, and exists."""
        return self.shown == "difference" and not self.difference_problem(kind)

    def difference_problem(self, kind: AttentionKind) -> str:
        """The reason if there is no difference of maps of a kind; else empty."""
        map_difference = self._difference(kind)
        return map_difference if isinstance(map_difference, str) else ""

    def new_entries(self, kind: AttentionKind) -> tuple[frozenset[int], frozenset[int]]:
        """Returns the entries of the shown queries and keys that the original maps lack."""
        map_difference = self._difference(kind)
        if self.shown == "original" or not isinstance(map_difference, MapDifference):
            return frozenset(), frozenset()
        return new_entries(map_difference, self.view_all(kind).labelled)

    def shape(self, kind: AttentionKind) -> tuple[int, int]:
        """Number of layers and of heads of one kind; zeros while nothing is shown."""
        translation = self.translation
        if translation is None:
            return 0, 0
        num_layers, num_heads = translation.maps.of_kind(kind).shape[:2]
        return num_layers, num_heads

    @property
    def all_heads(self) -> tuple[Head, ...]:
        """All heads of the model shown; none while nothing is shown."""
        return tuple(head for kind in ATTENTION_KINDS for head in heads_in(kind, *self.shape(kind)))

    # --- one measure ------------------------------------------------------------------------------

    def shown_measure(self, kind: AttentionKind) -> MeasureName:
        """The measure shown of a kind: the weight if the requested one does not exist yet."""
        measure = self.settings.known_measure
        if measure == "weight" or kind not in MEASURES[measure].kinds:
            return "weight"
        return measure if self.lacking_measure() is None else "weight"

    def lacking_measure(self) -> Translation | None:
        """A translation that the chosen measure is still missing for; None if there is none."""
        measure = self.settings.known_measure
        if measure == "weight":
            return None
        for translation in self._translations_shown():
            if (translation, measure) not in self.measured:
                return translation
        return None

    def maps_of(self, translation: Translation, kind: AttentionKind) -> FloatArray:
        """Maps of a kind in the shown measure, [L, H, Q, M]; one of a layer is repeated."""
        weights = translation.maps.of_kind(kind)
        measure = self.shown_measure(kind)
        measured_maps = self.measured.get((translation, measure))
        return (
            weights
            if measured_maps is None
            else np.broadcast_to(measured_maps.maps[kind], weights.shape)
        )

    def _translations_shown(self) -> list[Translation]:
        if self.result is None or self.translation is None:
            return []
        return (
            [self.result.original, self.result.changed]
            if self.shown == "difference"
            else [self.translation]
        )

    # --- labelled maps ----------------------------------------------------------------------------

    def heads(self) -> list[tuple[int, int]]:
        """Layer and head of all heads in the large map."""
        head = self.selection.head
        num_layers, num_heads = self.shape(head.kind)
        scope = self.settings.scope
        if scope == "layer":
            return [(head.layer, index) for index in range(num_heads)]
        if scope == "all":
            return [(layer, index) for layer in range(num_layers) for index in range(num_heads)]
        if scope == "chosen":
            chosen = [
                (chosen_head.layer, chosen_head.head)
                for chosen_head in self.settings.several
                if chosen_head.kind == head.kind
                and chosen_head.layer < num_layers
                and chosen_head.head < num_heads
            ]
            if chosen:
                return sorted(chosen)
        return [(head.layer, head.head)]

    def view(self) -> MapView | None:
        """The large map; None while nothing is shown."""
        if self.result is None:
            return None
        kind = self.selection.head.kind
        heads = self.heads()
        how = self.settings.combination
        return self._view(
            ("large", how, tuple(heads)), kind, lambda maps: combine(maps, how, heads)
        )

    def view_all(self, kind: AttentionKind) -> MapView:
        """All maps of a kind, [L, H, Q, M]."""
        return self._view(("all",), kind, lambda maps: maps)

    def _view(
        self,
        name: tuple[object, ...],
        kind: AttentionKind,
        choose: Callable[[FloatArray], FloatArray],
    ) -> MapView:
        of_result = self.result
        translation = self.translation
        is_difference = self.shown == "difference"
        assert of_result is not None
        assert translation is not None
        key = (
            *name,
            kind,
            self.shown,
            self.settings.selection,
            self.settings.transposes,
            self.shown_measure(kind),
        )

        def make() -> MapView:
            selection = self.settings.selection
            shown = selected(selection, choose(self.maps_of(translation, kind)), translation, kind)
            if is_difference:
                maps = choose(self.maps_of(of_result.original, kind))
                original = selected(selection, maps, of_result.original, kind)
                with suppress(AnalysisError):
                    shown = spread(difference(original, shown), shown)
            return MapView(shown, self.settings.transposes)

        return self.cache.kept(key, make)

    def _difference(self, kind: AttentionKind) -> MapDifference | str:
        """The difference of all maps of a kind, or a sentence on why there is none."""
        result = self.result
        selection = self.settings.selection

        def make() -> MapDifference | str:
            if result is None or not result.is_changed:
                return ""
            try:
                original, changed = (
                    selected(selection, self.maps_of(translation, kind), translation, kind)
                    for translation in (result.original, result.changed)
                )
                return difference(original, changed)
            except NothingInCommonError as error:
                return error.reason
            except AnalysisError as error:
                return display_text(error)

        return self.cache.kept(("difference", kind, selection, self.shown_measure(kind)), make)


def spread(map_difference: MapDifference, changed: LabelledMap) -> LabelledMap:
    """A difference on all cells of the changed map; NaN where the original one has none."""
    values = np.full(changed.weights.shape, np.nan, dtype=np.float32)
    queries = [query for _, query in map_difference.query_pairs]
    keys = [key for _, key in map_difference.key_pairs]
    values[..., np.array(queries)[:, None], np.array(keys)[None, :]] = map_difference.values
    return replace(changed, weights=read_only(values))


def new_entries(
    map_difference: MapDifference, changed: LabelledMap
) -> tuple[frozenset[int], frozenset[int]]:
    """The queries and keys of the changed map that have no partner in the original one."""
    queries = frozenset(range(len(changed.queries))) - {
        query for _, query in map_difference.query_pairs
    }
    return queries, frozenset(range(len(changed.keys))) - {
        key for _, key in map_difference.key_pairs
    }


def selected(
    selection: Selection, maps: FloatArray, translation: Translation, kind: AttentionKind
) -> LabelledMap:
    """The labelled map, merged and with hidden tokens.

    If no token would be left, as in “...”, none is hidden.
    """
    labelled = selection.apply(maps, translation, kind)
    if not labelled.weights.size:
        labelled = replace(selection, hide=frozenset()).apply(maps, translation, kind)
    return labelled


def hides_nothing(maps: MapSource) -> bool:
    """Whether nothing would be left of the large map, so that no token is hidden."""
    view = maps.view()
    kinds = maps.settings.selection.hide
    return view is not None and any(
        is_hidden(label, kinds)
        for label in (*view.labelled.queries.labels, *view.labelled.keys.labels)
    )


def color_scale(maps: MapSource, head: Head, values: FloatArray) -> ColorScale:
    """The colours of a map of a head, which may be combined with others."""
    return ColorScale(top_value(maps, head, values), maps.is_signed(head.kind))


def color_scales(maps: MapSource, kind: AttentionKind) -> tuple[tuple[ColorScale, ...], ...]:
    """The colours of each head's map, by layer and head."""
    is_signed = maps.is_signed(kind)
    return tuple(
        tuple(ColorScale(top, is_signed) for top in layer)
        for layer in top_values(maps, kind).tolist()
    )


def top_value(maps: MapSource, head: Head, values: FloatArray) -> float:
    """The value of the last colour in a map of a head; of a difference, on both sides of 0."""
    if maps.settings.scale == "own":
        return float(_largest(values, (-2, -1), is_signed=maps.is_signed(head.kind)).item())
    return float(top_values(maps, head.kind)[head.layer, head.head])


def top_values(maps: MapSource, kind: AttentionKind) -> FloatArray:
    """The same for all maps of a kind at once, [L, H]."""
    values = maps.view_all(kind).weights
    scale = maps.settings.scale
    is_signed = maps.is_signed(kind)

    def make() -> FloatArray:
        if (
            scale == "shared"
            and not is_signed
            and MEASURES[maps.shown_measure(kind)].rows_sum_to_one
        ):
            return np.ones(values.shape[:2], dtype=np.float32)
        axes = {"own": (-2, -1), "layer": (-3, -2, -1), "shared": (-4, -3, -2, -1)}[scale]
        return np.broadcast_to(
            _largest(values, axes, is_signed=is_signed)[..., 0, 0], values.shape[:2]
        )

    return maps.cache.kept(("tops", id(values), scale), make)


def _largest(values: FloatArray, axes: tuple[int, ...], *, is_signed: bool) -> FloatArray:
    """The largest absolute value along some axes, which stay; 1 if none is above 0."""
    largest = np.nanmax(
        np.abs(values), axis=axes, initial=LEAST_DIFFERENCE if is_signed else 0.0, keepdims=True
    )
    return np.where(largest > 0, largest, np.float32(1))
