"""Settings of the maps: labels, words, hidden tokens, scale, heads, original or changed. No Qt.

Each option is declared once: its default, its key in the settings file, and the parts to redraw
when it changes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from psygnal import SignalGroupDescriptor

from augenmerk.core.maps.measure import MeasureName
from augenmerk.core.maps.measures import MEASURES
from augenmerk.core.maps.roles import Role
from augenmerk.core.maps.selection import (
    DEFAULT_LABEL_MODE,
    Combination,
    HiddenKind,
    LabelMode,
    Selection,
)
from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind, Head

from .map_drawings import DRAWINGS, DrawingName

EXTENSIBLE: Mapping[str, Mapping[str, Any]] = {"measure": MEASURES, "picture": DRAWINGS}
"""Options that extensions add values to. Files keep a value whose extension is not installed."""
Redraws = Literal["maps", "large map", "grid"]
"""What a change of an option redraws: all maps, the large one, or the thumbnails."""


def option(default: Any, *redraws: Redraws, key: str = "") -> Any:
    """A field of an evented dataclass.

    Args:
        default: its value until the user chooses another.
        redraws: the parts to redraw when it changes.
        key: of the settings file; empty if it is not remembered. It keeps flags, and one of the
            texts of a `Literal`.

    Raises:
        TypeError: the settings file cannot keep a value like the default.
    """
    if key and not isinstance(default, bool | str):
        raise TypeError(
            f"The settings file keeps flags and texts, so not the option {key!r}. Omit its key."
        )
    return field(default=default, metadata={"redraws": frozenset(redraws), "key": key})


def choices_of(options: type) -> Mapping[str, tuple[object, ...]]:
    """The possible values of fields by name; only of fields that have a few of them."""
    choices_by_name = {name: _choices(name, hint) for name, hint in get_type_hints(options).items()}
    return {name: choices for name, choices in choices_by_name.items() if choices}


def _choices(name: str, hint: Any) -> tuple[object, ...]:
    if name in EXTENSIBLE:
        return tuple(EXTENSIBLE[name])
    if hint is bool:
        return False, True
    return get_args(hint) if get_origin(hint) is Literal else ()


def remembered(options: Any) -> Iterator["Field[Any]"]:
    """The fields that are kept between two starts."""
    return (option for option in fields(options) if option.metadata.get("key"))


def on_redraw(options: Any, redraws: Sequence[Redraws], redraw: Callable[[], object]) -> None:
    """Calls `redraw` whenever an option changes that redraws one of these."""
    for option in fields(options):
        if option.metadata.get("redraws", frozenset()) & set(redraws):
            getattr(options.events, option.name).connect(redraw, max_args=0)


Scale = Literal["shared", "layer", "own"]
Order = Literal["layer", "role", "clarity"]
Scope = Literal["head", "layer", "all", "chosen"]
ShownMaps = Literal["original", "changed", "difference"]
SHOWN_MAPS: tuple[ShownMaps, ...] = ("original", "changed", "difference")
Zoom = float
"""The height of the large map's cells in pixels, or `FIT`; cells are never smaller than fits."""
FIT: Zoom = 0.0
"""The zoom at which the whole map is in sight."""
MAX_CELL_PX = 96.0
ZOOM_STEP = 1.25


@dataclass
class MapViewSettings:
    """Choices about how maps are shown. Each change of a field is an event of that name.

    Attributes:
        label_mode: whether a query of the decoder is named by the token read or by the token
            predicted there.
        scale: "shared": colours run from 0 to 1 everywhere; "layer": up to the largest weight in a
            layer; "own": up to each map's own maximum.
        hides_wrapping: leaves start and end tokens out of the maps; the rest of a query is
            renormalised.
        hides_punctuation: leaves punctuation out, likewise.
        merges_words: words instead of pieces.
        transposes: keys in rows and queries in columns.
        measure: the meaning of a cell; if it does not exist or is not known yet, the weight is
            shown. It may be one of an extension that is not installed: files keep it.
        scope: the heads in the large map: the chosen one, all of its layer, all of its kind, or a
            set.
        combination: mean or maximum of these.
        several: the set, all of one kind.
        shown: the maps of the original translation, of the changed one, or their difference.
        picture: how the large map is drawn: a name in `DRAWINGS`; if it does not exist, as a
            heatmap.
        zoom: the size of the cells of the large map, see `Zoom`.
        line_threshold: lines for less than this part of the last colour's weight are left out.
        order: of the heads in the grid: by layer, by role, or the clearest first.
        shown_role: heads with another role are pale in the grid; None: none is.
        folds_encoder: whether the grid shows of the encoder's attention its header alone.
        folds_decoder: the same of the decoder's.
        folds_cross: the same of cross-attention.
    """

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    label_mode: LabelMode = option(DEFAULT_LABEL_MODE, "maps", key="translate/rows")
    scale: Scale = option("shared", "maps", key="translate/scale")
    hides_wrapping: bool = option(False, "maps", key="translate/hide_wrapping")
    hides_punctuation: bool = option(False, "maps", key="translate/hide_punctuation")
    merges_words: bool = option(True, "maps", key="translate/merge_words")
    transposes: bool = option(False, "maps", key="translate/transpose")
    measure: MeasureName = option("weight", "maps")
    scope: Scope = option("head", "large map", "grid")
    combination: Combination = option("mean", "large map")
    several: frozenset[Head] = option(frozenset(), "large map", "grid")
    shown: ShownMaps = option("changed", "maps")
    picture: DrawingName = option("heatmap", "large map")
    zoom: Zoom = option(FIT)
    line_threshold: float = option(0.1)
    order: Order = option("layer", "grid")
    shown_role: Role | None = option(None, "grid")
    folds_encoder: bool = option(False, "grid", key="translate/fold_encoder")
    folds_decoder: bool = option(False, "grid", key="translate/fold_decoder")
    folds_cross: bool = option(False, "grid", key="translate/fold_cross")

    @property
    def known_measure(self) -> MeasureName:
        """The measure; the weight if its extension is not installed."""
        return self.measure if self.measure in MEASURES else "weight"

    @property
    def known_picture(self) -> DrawingName:
        """How the map is drawn: as a heatmap if the extension is not installed."""
        return self.picture if self.picture in DRAWINGS else "heatmap"

    @property
    def folded_kinds(self) -> tuple[AttentionKind, ...]:
        """The kinds of which the grid shows the header alone."""
        return tuple(kind for kind in ATTENTION_KINDS if getattr(self, f"folds_{kind}"))

    def toggle_fold(self, kind: AttentionKind) -> None:
        """Folds the heads of a kind, or unfolds them."""
        setattr(self, f"folds_{kind}", kind not in self.folded_kinds)

    @property
    def selection(self) -> Selection:
        """Labels, words and hidden tokens, as the engine takes them."""
        return _selection(
            self.label_mode, self.merges_words, self.hides_wrapping, self.hides_punctuation
        )

    def with_changes(self, **changes: Any) -> "MapViewSettings":
        """A copy with other values of some fields, to be read once: it has no signals.

        `dataclasses.replace` would make their signals, and psygnal 0.16 keeps a string of each
        forever.

        Raises:
            TypeError: there is no such field.
        """
        settings = object.__new__(type(self))
        values = {option.name: getattr(self, option.name) for option in fields(self)}
        if unknown := changes.keys() - values.keys():
            raise TypeError(f"{sorted(unknown)} are not fields of {type(self).__name__}")
        vars(settings).update(values | changes)  # past `__setattr__`, which makes the signals
        return settings

    def show_together(self, head: Head, chosen: Head) -> None:
        """Adds or removes a head of the set, which has one kind and starts as `chosen`."""
        several = self.several
        if self.scope != "chosen" or not several:
            several = frozenset({chosen}) if head.kind == chosen.kind else frozenset()
        self.several = frozenset(other for other in several if other.kind == head.kind) ^ {head}
        self.scope = "chosen" if self.several else "head"

    def show_one(self) -> None:
        """One head alone, unless all of a layer or kind are shown."""
        self.several = frozenset()
        if self.scope == "chosen":
            self.scope = "head"


@cache
def _selection(
    label_mode: LabelMode, merges_words: bool, hides_wrapping: bool, hides_punctuation: bool
) -> Selection:
    """See `MapViewSettings.selection`, which a click reads many times."""
    hidden: set[HiddenKind] = {"start", "end"} if hides_wrapping else set()
    if hides_punctuation:
        hidden.add("punctuation")
    return Selection(label_mode, merges_words, frozenset(hidden))


def zoomed(side: float, num_steps: float) -> Zoom:
    """The zoom after some steps from the current height; negative ones make cells smaller."""
    return float(min(side * ZOOM_STEP**num_steps, MAX_CELL_PX))
