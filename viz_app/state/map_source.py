"""The maps shown: original, changed or their difference; labelled, merged, combined, scaled. No Qt."""

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
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import MAP_KINDS, ExperimentResult, FloatArray, MapKind, Translation, read_only

from .color_scale import ColorScale
from .map_view import MapSelection, MapView
from .map_view_settings import MapViewSettings, ShownMaps

MAX_CACHED = 200
LEAST_DIFFERENCE = 0.01
"""Colours of a difference reach at least this far: rounding errors must not look like a finding."""


Kept = TypeVar("Kept")


class Cache:
    """The newest things that were made; `limit` is their number."""

    def __init__(self, limit: int = MAX_CACHED) -> None:
        self._limit = limit
        self._made: dict[Hashable, Any] = {}

    def kept(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Returns the thing made for an equal key, or makes it."""
        found: Kept = self._made.pop(key) if key in self._made else make()
        self._made[key] = found  # the newest is last
        if len(self._made) > self._limit:
            del self._made[next(iter(self._made))]
        return found

    def clear(self) -> None:
        """Forgets everything."""
        self._made.clear()


class MapSource:
    """Maps of an experiment's result, according to the settings. Purely derived, and cached while valid.

    Attributes:
        settings, selection: of the maps; the chosen head.
        result: the result with the maps; None while nothing is shown.
        measured: the maps of its translations in other measures as far as known, by translation and measure.
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
        kept = () if result is None else (result.original, result.changed)
        self.measured = {key: maps for key, maps in self.measured.items() if key[0] in kept}
        self.cache.clear()

    def add_measured(self, measured: MeasuredMaps) -> None:
        """The maps of a translation in the other measures have become known."""
        self.measured = {**self.measured, (measured.translation, measured.measure): measured}
        self.cache.clear()

    def with_settings(self, **changes: Any) -> "MapSource":
        """The same maps, shown in another way: `changes` are fields of `MapViewSettings`."""
        found = MapSource(self.settings.with_changes(**changes), self.selection)
        found.result, found.measured = self.result, self.measured
        return found

    # --- which maps ----------------------------------------------------------------------------------------------

    @property
    def shown(self) -> ShownMaps:
        """The maps really shown: without interventions there is one translation, and one kind of maps."""
        return self.settings.shown if self.result is not None and self.result.is_changed else "changed"

    @property
    def translation(self) -> Translation | None:
        """The translation whose tokens name the maps: the changed one, unless the original maps are shown."""
        if self.result is None:
            return None
        return self.result.original if self.shown == "original" else self.result.changed

    def is_signed(self, kind: MapKind) -> bool:
        """Whether values of a kind of map lie on both sides of 0: a difference is shown, and there is one."""
        return self.shown == "difference" and not self.difference_problem(kind)

    def difference_problem(self, kind: MapKind) -> str:
        """The reason if there is no difference of maps of a kind; else empty."""
        found = self._difference(kind)
        return found if isinstance(found, str) else ""

    def new_entries(self, kind: MapKind) -> tuple[frozenset[int], frozenset[int]]:
        """The queries and keys shown that the original maps of this kind do not have, as entries of those shown."""
        found = self._difference(kind)
        if self.shown == "original" or not isinstance(found, MapDifference):
            return frozenset(), frozenset()
        return new_entries(found, self.view_all(kind).labelled)

    def shape(self, kind: MapKind) -> tuple[int, int]:
        """Number of layers and of heads of one kind; zeros while nothing is shown."""
        translation = self.translation
        if translation is None:
            return 0, 0
        num_layers, num_heads = translation.maps.of_kind(kind).shape[:2]
        return num_layers, num_heads

    @property
    def all_heads(self) -> tuple[Head, ...]:
        """All heads of the model shown; none while nothing is shown."""
        shapes = ((kind, *self.shape(kind)) for kind in MAP_KINDS)
        return tuple(
            Head(kind, layer, head)
            for kind, layers, heads in shapes
            for layer in range(layers)
            for head in range(heads)
        )

    # --- one measure ----------------------------------------------------------------------------------------------

    def shown_measure(self, kind: MapKind) -> MeasureName:
        """The measure shown of a kind of map: the weight if the requested one does not exist, or is not known yet."""
        measure = self.settings.known_measure
        if measure == "weight" or kind not in MEASURES[measure].kinds:
            return "weight"
        return measure if self.lacking_measure() is None else "weight"

    def lacking_measure(self) -> Translation | None:
        """A translation that must be measured to show the chosen measure; None if there is none."""
        measure = self.settings.known_measure
        if measure == "weight":
            return None
        return next((each for each in self._translations_shown() if (each, measure) not in self.measured), None)

    def maps_of(self, translation: Translation, kind: MapKind) -> FloatArray:
        """The whole maps of a kind in the measure that is shown, [L, H, Q, M]; a layer's one map for each head."""
        weights, measure = translation.maps.of_kind(kind), self.shown_measure(kind)
        found = self.measured.get((translation, measure))
        return weights if found is None else np.broadcast_to(found.maps[kind], weights.shape)

    def _translations_shown(self) -> list[Translation]:
        if self.result is None or self.translation is None:
            return []
        return [self.result.original, self.result.changed] if self.shown == "difference" else [self.translation]

    # --- labelled maps --------------------------------------------------------------------------------------------

    def heads(self) -> list[tuple[int, int]]:
        """Layer and head of all heads in the large map."""
        head = self.selection.head
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
        """The large map; None while nothing is shown."""
        if self.result is None:
            return None
        kind, heads = self.selection.head.kind, self.heads()
        how = self.settings.combination
        return self._view(("large", how, tuple(heads)), kind, lambda maps: combine(maps, how, heads))

    def view_all(self, kind: MapKind) -> MapView:
        """All maps of a kind, [L, H, Q, M]."""
        return self._view(("all",), kind, lambda maps: maps)

    def _view(self, name: tuple[object, ...], kind: MapKind, choose: Callable[[FloatArray], FloatArray]) -> MapView:
        of_result, translation, is_difference = self.result, self.translation, self.shown == "difference"
        assert of_result is not None
        assert translation is not None
        key = (*name, kind, self.shown, self.settings.selection, self.settings.transposes, self.shown_measure(kind))

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

    def _difference(self, kind: MapKind) -> MapDifference | str:
        """The difference of all maps of a kind, or a sentence on why there is none."""
        result, selection = self.result, self.settings.selection

        def make() -> MapDifference | str:
            if result is None or not result.is_changed:
                return ""
            both = (
                selected(selection, self.maps_of(each, kind), each, kind) for each in (result.original, result.changed)
            )
            try:
                return difference(*both)
            except NothingInCommonError as error:
                return error.reason
            except AnalysisError as error:
                return display_text(error)

        return self.cache.kept(("difference", kind, selection, self.shown_measure(kind)), make)


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


def selected(selection: Selection, maps: FloatArray, translation: Translation, kind: MapKind) -> LabelledMap:
    """The labelled map, merged and with hidden tokens. If no token would be left, as in “...”, none is hidden."""
    labelled = selection.apply(maps, translation, kind)
    if not labelled.weights.size:
        labelled = replace(selection, hide=frozenset()).apply(maps, translation, kind)
    return labelled


def hides_nothing(maps: MapSource) -> bool:
    """Whether no token of the large map would be left, so that none is hidden although this was requested."""
    view, kinds = maps.view(), maps.settings.selection.hide
    return view is not None and any(is_hidden(label, kinds) for label in (*view.query_labels, *view.key_labels))


def color_scale(maps: MapSource, head: Head, values: FloatArray) -> ColorScale:
    """The colours of a map of a head, which may be combined with others."""
    return ColorScale(top_value(maps, head, values), maps.is_signed(head.kind))


def color_scales(maps: MapSource, kind: MapKind) -> tuple[tuple[ColorScale, ...], ...]:
    """The colours of each head's map, by layer and head."""
    is_signed = maps.is_signed(kind)
    return tuple(tuple(ColorScale(top, is_signed) for top in layer) for layer in top_values(maps, kind).tolist())


def top_value(maps: MapSource, head: Head, values: FloatArray) -> float:
    """The value of the last colour in a map of a head; of a difference, on both sides of 0."""
    if maps.settings.scale == "own":
        return float(_largest(values, (-2, -1), is_signed=maps.is_signed(head.kind)).item())
    return float(top_values(maps, head.kind)[head.layer, head.head])


def top_values(maps: MapSource, kind: MapKind) -> FloatArray:
    """The same for all maps of a kind at once, [L, H]."""
    values, scale, is_signed = maps.view_all(kind).weights, maps.settings.scale, maps.is_signed(kind)

    def make() -> FloatArray:
        if scale == "shared" and not is_signed and MEASURES[maps.shown_measure(kind)].rows_sum_to_one:
            return np.ones(values.shape[:2], dtype=np.float32)
        axes = {"own": (-2, -1), "layer": (-3, -2, -1), "shared": (-4, -3, -2, -1)}[scale]
        return np.broadcast_to(_largest(values, axes, is_signed=is_signed)[..., 0, 0], values.shape[:2])

    return maps.cache.kept(("tops", id(values), scale), make)


def _largest(values: FloatArray, axes: tuple[int, ...], *, is_signed: bool) -> FloatArray:
    """The largest absolute value along some axes, which are kept; 1 if there is none above 0."""
    found = np.nanmax(np.abs(values), axis=axes, initial=LEAST_DIFFERENCE if is_signed else 0.0, keepdims=True)
    return np.where(found > 0, found, np.float32(1))
