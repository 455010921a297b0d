"""The roles of the heads of the maps shown, and the order of heads in the grid. No Qt."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from augenmerk.core.maps.roles import (
    ROLES,
    BoolArray,
    HeadProfiler,
    Role,
    SampleRoles,
    fitting_rows,
)
from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind, Head, heads_in
from augenmerk.core.translation.result import FloatArray

from .map_source import MapSource

Direction = Literal["left", "right", "up", "down", "first", "last"]


class HeadRoles:
    """Roles of heads. Pure derivation, remembered for the translation that is shown.

    Attributes:
        maps: the maps of the heads.
        sample: roles over a sample, of the model that made the maps; None if not measured: roles
            then describe the sentence shown.
    """

    def __init__(self, maps: MapSource) -> None:
        self.maps = maps
        self.sample: SampleRoles | None = None

    def of(self, head: Head) -> Role:
        """The role of a head over the sample; in this sentence, if no sample was measured."""
        return self.sample.role(head) if self.sample is not None else self.here(head)

    def here(self, head: Head) -> Role:
        """The role of a head in this sentence."""
        return self._in_sentence().role(head)

    def fitting_rows(self, head: Head) -> BoolArray:
        """Whether each row of a head's map here fits its role: `core.maps.roles.fitting_rows`."""
        translation = self.maps.translation
        role = self.of(head)
        assert translation is not None
        return self.maps.cache.kept(
            (role, head, translation), lambda: fitting_rows(role, translation, head)
        )

    def fits(self, head: Head) -> bool:
        """Whether at least half of these rows fit; else the role does not name this map."""
        return _is_half(self.fitting_rows(head))

    @property
    def where_they_hold(self) -> str:
        """The sentences that roles describe: "in this sentence", or those of a sample."""
        return "in this sentence" if self.sample is None else f"on {self.sample.sample}"

    def count(self) -> dict[Role, int]:
        """The number of heads with each role, in the order of `ROLES`."""
        if self.maps.translation is None:
            return {}
        sample_roles = self.sample or self._in_sentence()
        layers = [layer for by_layer in sample_roles.by_kind.values() for layer in by_layer]
        roles = [role for layer in layers for role in layer]
        return {role: roles.count(role) for role in ROLES if role in roles}

    def in_order(self, kind: AttentionKind) -> list[Head]:
        """All heads of a kind, in the chosen order."""
        heads = list(heads_in(kind, *self.maps.shape(kind)))
        order = self.maps.settings.order
        translation = self.maps.translation
        if order == "layer" or translation is None:
            return heads
        scores = self.maps.cache.kept(
            ("clarity", translation, kind), lambda: clarity(translation.maps.of_kind(kind))
        )
        if order == "clarity":
            return sorted(heads, key=lambda head: -scores[head.layer, head.head])
        names = list(ROLES)
        return sorted(
            heads, key=lambda head: (names.index(self.of(head)), -scores[head.layer, head.head])
        )

    def lines_of_heads(self, kind: AttentionKind) -> list[tuple[Head, ...]]:
        """The heads of a kind as the grid shows them: one line per layer, or by another order."""
        heads = self.in_order(kind)
        width = max(self.maps.shape(kind)[1], 1)
        return [tuple(heads[first : first + width]) for first in range(0, len(heads), width)]

    def neighbour(self, direction: Direction) -> Head | None:
        """The next head in the grid, up and down through layers and kinds; None at an edge."""
        lines = [line for kind in ATTENTION_KINDS for line in self.lines_of_heads(kind)]
        head = self.maps.selection.head
        row = next((index for index, line in enumerate(lines) if head in line), None)
        if row is None:
            return None
        column = lines[row].index(head)
        last = len(lines[row]) - 1
        column = {"left": column - 1, "right": column + 1, "first": 0, "last": last}.get(
            direction, column
        )
        row += {"up": -1, "down": 1}.get(direction, 0)
        if not (0 <= row < len(lines) and 0 <= column <= last):
            return None
        return lines[row][min(column, len(lines[row]) - 1)]

    def _in_sentence(self) -> SampleRoles:
        """The roles in the translation shown; “mixed” if too few rows fit."""
        translation = self.maps.translation
        assert translation is not None

        def role_if_it_fits(role: Role, head: Head) -> Role:
            return role if _is_half(fitting_rows(role, translation, head)) else "mixed"

        def find() -> SampleRoles:
            profiler = HeadProfiler()
            profiler.add(translation)
            sample_roles = SampleRoles.of(profiler.result(), HERE)
            for kind, layers in sample_roles.by_kind.items():
                sample_roles.by_kind[kind] = tuple(
                    tuple(
                        role_if_it_fits(role, Head(kind, layer, head))
                        for head, role in enumerate(roles)
                    )
                    for layer, roles in enumerate(layers)
                )
            return sample_roles

        return self.maps.cache.kept(("roles", translation), find)


def _is_half(rows: BoolArray) -> bool:
    return 2 * int(rows.sum()) >= len(rows)


def clarity(maps: FloatArray) -> NDArray[np.float64]:
    """The clarity of heads, [L, H]: the mean largest weight times the share of different keys.

    Args:
        maps: [L, H, Q, M].
    """
    strength: NDArray[np.float64] = maps.max(axis=-1).mean(axis=-1, dtype=np.float64)
    targets = np.sort(maps.argmax(axis=-1), axis=-1)
    variety = 1 + (np.diff(targets, axis=-1) > 0).sum(axis=-1)
    return strength * variety / max(maps.shape[-2], 1)


def clearest_head(maps: FloatArray) -> tuple[int, int]:
    """Layer and head, from 0, that point with large weights at many different keys.

    `maps` is [L, H, T, S].

    Heads are skipped if, in most rows, their largest weight is at another key than that of the mean
    of all heads. Such a head may be the clearest: one that looks back at the word just translated.
    But it shows each word one row too low.
    """
    usual = maps.mean(axis=(0, 1)).argmax(axis=-1)
    is_usual = 2 * (maps.argmax(axis=-1) == usual).sum(axis=-1) >= maps.shape[-2]
    best = int((clarity(maps) + is_usual).argmax())  # clarity is at most 1
    return best // maps.shape[1], best % maps.shape[1]


HERE = "in this sentence"


def role_name(roles: HeadRoles, head: Head) -> str:
    """The role in a few words; empty without a clear one."""
    role = roles.of(head)
    if role == "mixed":
        return ""
    return role if roles.fits(head) else f"usually {role}, not here"


def role_in_short(roles: HeadRoles, head: Head) -> str:
    """The role in a line; another line if it does not show in this sentence."""
    role = roles.of(head)
    where = roles.where_they_hold
    if role == "mixed":
        return f"no clear role {where}"
    line = f"{role}: {ROLES[role]}, {where}"
    return line if roles.fits(head) else f"{line}\nnot {HERE}: {_rows(roles, head)}"


def role_over_sample(sample: SampleRoles, head: Head) -> str:
    """A sentence on the role of a head, whatever it does in the sentence shown."""
    role = sample.role(head)
    if role == "mixed":
        return f"It has no clear role over {sample.sample}."
    return f"Its role over {sample.sample} is “{role}”: it {ROLES[role]}."


def role_in_words(roles: HeadRoles, head: Head) -> str:
    """A sentence."""
    role = roles.of(head)
    if roles.sample is None:
        return (
            f"It has no clear role {HERE}."
            if role == "mixed"
            else f"Its role {HERE} is “{role}”: it {ROLES[role]}."
        )
    if role == "mixed":
        return role_over_sample(roles.sample, head)
    over = f"over {roles.sample.sample}"
    if roles.fits(head):
        return f"Its role is “{role}”: {over}, as {HERE}, it {ROLES[role]}."
    return (
        f"Its role is usually “{role}”, but not here: {over}, it {ROLES[role]}; {HERE}, "
        f"{_rows(roles, head)}."
    )


def _rows(roles: HeadRoles, head: Head) -> str:
    rows = roles.fitting_rows(head)
    return f"only {rows.sum()} of {len(rows)} rows fit"
