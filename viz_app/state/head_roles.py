"""The roles of the heads of the maps shown, and the order of heads in the grid. No Qt."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from augenmerk.core.analysis.roles import ROLES, HeadProfiler, Role, SampleRoles, roles_of
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import MAP_KINDS, FloatArray, MapKind
from augenmerk.viz_app.state.map_source import MapSource

Direction = Literal["left", "right", "up", "down", "first", "last"]


class HeadRoles:
    """Roles of heads. Pure derivation, remembered for the translation that is shown.

    Attributes:
        maps: the maps of the heads.
        sample: roles over a sample, of the model that made the maps; None if not measured: roles then describe the
            sentence shown.
    """

    def __init__(self, maps: MapSource) -> None:
        self.maps = maps
        self.sample: SampleRoles | None = None

    def of(self, head: Head) -> Role:
        """The role of a head over the sample; in this sentence, if no sample was measured."""
        return self.sample.role(head) if self.sample is not None else self.here(head)

    def here(self, head: Head) -> Role:
        """The role of a head in this sentence."""
        return self._in_sentence()[head.kind][head.layer][head.head]

    @property
    def where_they_hold(self) -> str:
        """The sentences that roles describe: "on 200 pairs of the validation split", or "in this sentence"."""
        return "in this sentence" if self.sample is None else f"on {self.sample.sample}"

    def count(self) -> dict[Role, int]:
        """The number of heads with each role, in the order of `ROLES`."""
        if self.maps.translation is None:
            return {}
        by_kind = self.sample.by_kind if self.sample is not None else self._in_sentence()
        found = [role for kinds in by_kind.values() for layer in kinds for role in layer]
        return {role: found.count(role) for role in ROLES if role in found}

    def in_order(self, kind: MapKind) -> list[Head]:
        """All heads of a kind, in the chosen order."""
        num_layers, num_heads = self.maps.shape(kind)
        heads = [Head(kind, layer, head) for layer in range(num_layers) for head in range(num_heads)]
        order, translation = self.maps.settings.order, self.maps.translation
        if order == "layer" or translation is None:
            return heads
        scores = self.maps.cache.kept(("clarity", translation, kind), lambda: clarity(translation.maps.of_kind(kind)))
        if order == "clarity":
            return sorted(heads, key=lambda each: -scores[each.layer, each.head])
        names = list(ROLES)
        return sorted(heads, key=lambda each: (names.index(self.of(each)), -scores[each.layer, each.head]))

    def lines_of_heads(self, kind: MapKind) -> list[tuple[Head, ...]]:
        """The heads of a kind as the grid shows them, line by line; one line for each layer, or by another order."""
        heads = self.in_order(kind)
        width = max(self.maps.shape(kind)[1], 1)
        return [tuple(heads[first : first + width]) for first in range(0, len(heads), width)]

    def neighbour(self, direction: Direction) -> Head | None:
        """The head next to the chosen one in the grid: up and down through layers and kinds; None at an edge."""
        lines = [line for kind in MAP_KINDS for line in self.lines_of_heads(kind)]
        head = self.maps.selection.head
        here = next((number for number, line in enumerate(lines) if head in line), None)
        if here is None:
            return None
        place, last = lines[here].index(head), len(lines[here]) - 1
        place = {"left": place - 1, "right": place + 1, "first": 0, "last": last}.get(direction, place)
        here += {"up": -1, "down": 1}.get(direction, 0)
        if not (0 <= here < len(lines) and 0 <= place <= last):
            return None
        return lines[here][min(place, len(lines[here]) - 1)]

    def _in_sentence(self) -> dict[MapKind, tuple[tuple[Role, ...], ...]]:
        """Layers of roles in the translation shown, by kind."""
        translation = self.maps.translation
        assert translation is not None

        def find() -> dict[MapKind, tuple[tuple[Role, ...], ...]]:
            profiler = HeadProfiler()
            profiler.add(translation)
            profiles = profiler.result()
            return {kind: roles_of(profiles.of_kind(kind)) for kind in MAP_KINDS}

        return self.maps.cache.kept(("roles", translation), find)


def clarity(maps: FloatArray) -> NDArray[np.float64]:
    """The clarity of heads: the mean largest weight of a query times the share of different keys, [L, H].

    Args:
        maps: [L, H, Q, M].
    """
    strength: NDArray[np.float64] = maps.max(axis=-1).mean(axis=-1, dtype=np.float64)
    targets = np.sort(maps.argmax(axis=-1), axis=-1)
    variety = 1 + (np.diff(targets, axis=-1) > 0).sum(axis=-1)
    return strength * variety / max(maps.shape[-2], 1)


def clearest_head(maps: FloatArray) -> tuple[int, int]:
    """Layer and head, from 0, that point with large weights at many different keys. `maps` is [L, H, T, S]."""
    best = int(clarity(maps).argmax())
    return best // maps.shape[1], best % maps.shape[1]


HERE = "in this sentence"


def role_in_short(roles: HeadRoles, head: Head) -> str:
    """The role in a line; another line if the head has another role in this sentence than on the sample."""
    role, here, where = roles.of(head), roles.here(head), roles.where_they_hold
    line = f"{role}: {ROLES[role]}, {where}" if role != "mixed" else f"no clear role {where}"
    if here == role:
        return line
    return f"{line}\n{here} {HERE}" if here != "mixed" else f"{line}\nno clear role {HERE}"


def role_in_words(roles: HeadRoles, head: Head) -> str:
    """A sentence."""
    role, here = roles.of(head), roles.here(head)
    if roles.sample is None:
        return f"{HERE.capitalize()} this head {_does(role)}."
    over = f"Over {roles.sample.sample}"
    if role == here:
        return f"{over}, as {HERE}, this head {_does(role)}."
    return f"{over} this head {_does(role)}; {HERE} it {_does(here)}."


def _does(role: Role) -> str:
    if role == "mixed":
        return "has no clear role"
    text = ROLES[role].removesuffix(" (self-attention)").removesuffix(" (cross-attention)")
    if role == "broad":  # a sentence does without the threshold
        text = text.partition(" (")[0]
    return f"{text} (“{role}”)"
