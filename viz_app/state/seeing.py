"""How maps are shown: labels, words, hidden tokens, scale, several heads in one. Part of the Translate page's state."""

from collections.abc import Callable, Hashable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.analysis.measures import MEASURES, Measure
from core.analysis.profiles import HeadProfiler
from core.analysis.roles import ROLES, Role, roles_of
from core.analysis.sample_roles import SampleRoles
from core.analysis.selection import (
    DEFAULT_LABEL_MODE,
    Combination,
    HiddenKind,
    LabelledMap,
    LabelMode,
    Selection,
    combine,
    is_hidden,
)
from core.model.heads import Head
from core.translation.result import MAP_KINDS, FloatArray, MapKind, Translation
from viz_app.state.map_view import MapView
from viz_app.state.measuring import MeasuredMaps
from viz_app.state.zoom import AUTO, Zoom

Scale = Literal["shared", "layer", "own"]
SCALES: tuple[Scale, ...] = ("shared", "layer", "own")
Picture = Literal["heatmap", "lines"]
Order = Literal["layer", "role", "clarity"]
Scope = Literal["head", "layer", "all", "chosen"]
COMBINATION_NAMES: dict[Combination, str] = {"mean": "mean", "max": "maximum"}


class Seeing:
    """Choices about how maps are shown, and the maps that follow from them.

    Attributes:
        label_mode: whether a decoder row is named by the token read or by the token predicted there.
        scale: "shared": colours run from 0 to 1 everywhere; "layer": up to the largest weight in a layer; "own": up to
            each map's own maximum.
        hides_wrapping, hides_punctuation: what is left out of the maps; what stays of a row is renormalised.
        merges_words: words instead of pieces.
        scope: which heads the large map is made of: the chosen one, all of its layer, all of its kind, or a set.
        combination: mean or maximum of these.
        several: the set, all of one kind.
        measure: what a cell tells; where it does not exist, or is not known yet, the weight is shown.
        measured: the maps in the other measures, None until they are known.
        awaited_measure_id: id of the newest request for them, None if its answer has come.
        has_measuring_failed: the last request for them was refused.
        zoom: how large the cells of the large map are, see `viz_app.state.zoom`.
        picture: whether the large map is drawn as a heatmap or as lines.
        line_threshold: lines for less than this part of the last colour's weight are left out.
        order: of the heads in the grid: by layer, by role, or the clearest first.
        shown_role: heads with another role are pale in the grid; None: none is.
        sample_roles: what the heads of the model that made what is shown do over a sample; None: nobody measured that,
            and a head's role is what it does in the sentence shown.
    """

    def __init__(self) -> None:
        self.label_mode: LabelMode = DEFAULT_LABEL_MODE
        self.scale: Scale = "shared"
        self.hides_wrapping = False
        self.hides_punctuation = False
        self.merges_words = False
        self.scope: Scope = "head"
        self.combination: Combination = "mean"
        self.several: frozenset[Head] = frozenset()
        self.zoom: Zoom = AUTO
        self.picture: Picture = "heatmap"
        self.line_threshold = 0.1
        self.order: Order = "layer"
        self._clarity: dict[MapKind, tuple[Translation, NDArray[np.float64]]] = {}
        self.shown_role: Role | None = None
        self.sample_roles: SampleRoles | None = None
        self.measure: Measure = "weight"
        self.measured: MeasuredMaps | None = None
        self.awaited_measure_id: int | None = None
        self.has_measuring_failed = False
        self._cache: dict[Hashable, tuple[Translation, LabelledMap]] = {}
        self._view: tuple[LabelledMap, MapView] | None = None
        self._roles: tuple[Translation, dict[MapKind, tuple[tuple[Role, ...], ...]]] | None = None

    @property
    def selection(self) -> Selection:
        """Labels, words and hidden tokens."""
        hidden: set[HiddenKind] = {"start", "end"} if self.hides_wrapping else set()
        if self.hides_punctuation:
            hidden.add("punctuation")
        return Selection(self.label_mode, self.merges_words, frozenset(hidden))

    def hides_nothing_of(self, translation: Translation, choice: Head) -> bool:
        """Whether no token of the large map would be left, so that none is hidden although this was asked for."""
        shown, kinds = self.labelled_of(translation, choice), self.selection.hide
        return any(is_hidden(label, kinds) for label in (*shown.rows.labels, *shown.columns.labels))

    def heads(self, choice: Head, shape: tuple[int, int]) -> list[tuple[int, int]]:
        """Layer and head of all heads that the large map is made of."""
        num_layers, num_heads = shape
        if self.scope == "layer":
            return [(choice.layer, head) for head in range(num_heads)]
        if self.scope == "all":
            return [(layer, head) for layer in range(num_layers) for head in range(num_heads)]
        if self.scope == "chosen":
            places = [(head.layer, head.head) for head in self.several if head.kind == choice.kind]
            inside = sorted(place for place in places if place[0] < num_layers and place[1] < num_heads)
            if inside:
                return inside
        return [(choice.layer, choice.head)]

    def toggle_one_of_several(self, head: Head, choice: Head) -> None:
        """Adds a head to the set, or takes it out; the set begins with the chosen head and stays within its kind."""
        if self.scope != "chosen" or not self.several:
            self.several = frozenset({choice}) if head.kind == choice.kind else frozenset()
        self.several = frozenset(each for each in self.several if each.kind == head.kind) ^ {head}
        self.scope = "chosen" if self.several else "head"

    def forget_several(self) -> None:
        """One head alone, unless all of a layer or kind are shown."""
        self.several = frozenset()
        if self.scope == "chosen":
            self.scope = "head"

    def view_of(self, translation: Translation, choice: Head) -> MapView:
        """The large map, as plain data."""
        labelled = self.labelled_of(translation, choice)
        if self._view is None or self._view[0] is not labelled:
            self._view = labelled, MapView.of(labelled)
        return self._view[1]

    def labelled_of(self, translation: Translation, choice: Head) -> LabelledMap:
        """The large map."""
        maps = self.maps(translation, choice.kind)
        heads = self.heads(choice, (maps.shape[0], maps.shape[1]))
        key = (
            "view",
            self.shown_measure(translation, choice.kind),
            self.selection,
            choice.kind,
            tuple(heads),
            self.combination,
        )
        return self._kept(key, translation, lambda: combine(maps, self.combination, heads), choice.kind)

    def thumbnails(self, translation: Translation, kind: MapKind) -> FloatArray:
        """All maps of a kind as the grid shows them, [L, H, rows, columns]."""
        return self.labelled_all(translation, kind).weights

    def labelled_all(self, translation: Translation, kind: MapKind) -> LabelledMap:
        """The same with what rows and columns stand for."""
        key = ("all", self.shown_measure(translation, kind), self.selection, kind)
        return self._kept(key, translation, lambda: self.maps(translation, kind), kind)

    def maps(self, translation: Translation, kind: MapKind) -> FloatArray:
        """The whole maps of a kind in the measure that is shown, [L, H, Q, M]; a layer's one map for each head."""
        weights = translation.maps.of_kind(kind)
        measure = self.shown_measure(translation, kind)
        if measure == "weight" or self.measured is None:
            return weights
        return np.broadcast_to(self.measured.maps[measure, kind], weights.shape)

    def shown_measure(self, translation: Translation, kind: MapKind) -> Measure:
        """The measure in which a kind of map is shown."""
        is_known = self.measured is not None and self.measured.translation is translation
        return self.measure if is_known and kind in MEASURES[self.measure].kinds else "weight"

    def lacks_measure(self, translation: Translation) -> bool:
        """Whether the chosen measure has to be asked for."""
        return self.measure != "weight" and (self.measured is None or self.measured.translation is not translation)

    def await_measured(self, request_id: int) -> None:
        """From now on only the answer to this request counts."""
        self.awaited_measure_id, self.has_measuring_failed = request_id, False

    def refuse_measured(self, request_id: int) -> bool:
        """There will be no answer to this request; False if a newer one is awaited."""
        if request_id != self.awaited_measure_id:
            return False
        self.awaited_measure_id, self.has_measuring_failed = None, True
        return True

    def accept_measured(self, request_id: int, measured: MeasuredMaps) -> bool:
        """Keeps an answer if it is the awaited one; a stale one changes nothing and returns False."""
        if request_id != self.awaited_measure_id:
            return False
        self.awaited_measure_id, self.measured = None, measured
        return True

    def top(self, translation: Translation, head: Head, weights: FloatArray) -> float:
        """The weight that gets the last colour, in a map of this head."""
        if self.scale == "shared":
            if MEASURES[self.shown_measure(translation, head.kind)].rows_sum_to_one:
                return 1.0
            weights = self.thumbnails(translation, head.kind)
        if self.scale == "layer":
            weights = self.thumbnails(translation, head.kind)[head.layer]
        return float(weights.max(initial=0.0)) or 1.0

    def tops(self, translation: Translation, kind: MapKind) -> FloatArray:
        """The same for all maps of a kind at once, [L, H]."""
        weights = self.thumbnails(translation, kind)
        if self.scale == "shared":
            return np.full(weights.shape[:2], self.top(translation, Head(kind, 0, 0), weights), dtype=np.float32)
        axes = (-3, -2, -1) if self.scale == "layer" else (-2, -1)
        largest = weights.max(axis=axes, initial=0.0, keepdims=True)[..., 0, 0]
        return np.broadcast_to(np.where(largest > 0, largest, np.float32(1)), weights.shape[:2])

    def role(self, translation: Translation, head: Head) -> Role:
        """What a head does over the sample; in this sentence, if no sample was measured."""
        if self.sample_roles is not None:
            return self.sample_roles.role(head)
        return self.role_here(translation, head)

    def role_here(self, translation: Translation, head: Head) -> Role:
        """What a head does in this sentence."""
        return self._roles_here(translation)[head.kind][head.layer][head.head]

    def _roles_here(self, translation: Translation) -> dict[MapKind, tuple[tuple[Role, ...], ...]]:
        if self._roles is None or self._roles[0] is not translation:
            profiler = HeadProfiler()
            profiler.add(translation)
            sample = profiler.result()
            self._roles = translation, {kind: roles_of(sample.of_kind(kind)) for kind in MAP_KINDS}
        return self._roles[1]

    @property
    def where_roles_hold(self) -> str:
        """Of what sentences roles tell: "on 200 pairs of the validation split", or "in this sentence"."""
        return "in this sentence" if self.sample_roles is None else f"on {self.sample_roles.sample}"

    def in_order(self, translation: Translation, kind: MapKind) -> list[tuple[int, int]]:
        """Layer and head of all heads of a kind, in the chosen order."""
        maps = translation.maps.of_kind(kind)
        places = [(layer, head) for layer in range(maps.shape[0]) for head in range(maps.shape[1])]
        if self.order == "layer":
            return places
        found = self._clarity.get(kind)
        if found is None or found[0] is not translation:
            found = self._clarity[kind] = translation, clarity(maps)
        scores, names = found[1], list(ROLES)
        if self.order == "clarity":
            return sorted(places, key=lambda place: -scores[place])
        return sorted(
            places, key=lambda place: (names.index(self.role(translation, Head(kind, *place))), -scores[place])
        )

    def count_roles(self, translation: Translation) -> dict[Role, int]:
        """How many heads have each role, by the order of `ROLES`."""
        by_kind = self.sample_roles.by_kind if self.sample_roles is not None else self._roles_here(translation)
        found = [role for kinds in by_kind.values() for layer in kinds for role in layer]
        return {role: found.count(role) for role in ROLES if role in found}

    def _kept(
        self, key: Hashable, translation: Translation, make: Callable[[], FloatArray], kind: MapKind
    ) -> LabelledMap:
        """The selection applied to what is made; remembered for this translation."""
        found = self._cache.get(key)
        if found is not None and found[0] is translation:
            return found[1]
        maps = make()
        labelled = self.selection.apply(maps, translation, kind)
        if not labelled.weights.size:  # everything would be hidden: a sentence of punctuation alone
            labelled = Selection(self.label_mode, self.merges_words).apply(maps, translation, kind)
        if any(each is not translation for each, _ in self._cache.values()) or len(self._cache) > 200:
            self._cache.clear()
        self._cache[key] = translation, labelled
        return labelled


def has_split_words(translation: Translation) -> bool:
    """Whether any word is made of several tokens."""
    return any(word.end - word.start > 1 for word in (*translation.source_words, *translation.target_words))


def clarity(maps: FloatArray) -> NDArray[np.float64]:
    """How clearly heads point: the mean largest weight of a row times the share of different columns, [L, H].

    Args:
        maps: [L, H, Q, M].
    """
    strength: NDArray[np.float64] = maps.max(axis=-1).mean(axis=-1, dtype=np.float64)
    targets = np.sort(maps.argmax(axis=-1), axis=-1)
    variety = 1 + (np.diff(targets, axis=-1) > 0).sum(axis=-1)
    return strength * variety / max(maps.shape[-2], 1)


def clearest_head(maps: FloatArray) -> tuple[int, int]:
    """Layer and head, from 0, that point with large weights at many different columns. `maps` is [L, H, T, S]."""
    best = int(clarity(maps).argmax())
    return best // maps.shape[1], best % maps.shape[1]
