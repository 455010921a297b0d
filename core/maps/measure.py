"""The declaration of a measure."""

from collections.abc import Callable
from dataclasses import dataclass

from ..model.heads import AttentionKind
from ..translation.result import FloatArray
from .model_pass import Pass

MeasureName = str
"""The name of a measure in files and options, such as "norm-layer"."""


@dataclass(frozen=True)
class Measure:
    """All that menus, captions, exports, commands and rankings need to know of a measure.

    Attributes:
        compute: the maps of one kind, from a pass of the model: [L, H, Q, M], or [L, 1, Q, M] for
            the kinds not in `per_head`.
        order: its place in menus and options, from small to large.
        name: for menus and captions.
        meaning: one sentence on what a cell shows.
        caveat: one sentence on what it does not show.
        kinds: the kinds of maps it exists for.
        per_head: the kinds with a map for each head; the others have one per layer.
        rows_sum_to_one: whether cells are shares of a query.
        ranks_aligners: whether its cross maps take part in the ranking of aligners.
    """

    compute: Callable[[Pass, AttentionKind], FloatArray]
    order: int
    name: str
    meaning: str
    caveat: str
    kinds: tuple[AttentionKind, ...]
    per_head: tuple[AttentionKind, ...]
    rows_sum_to_one: bool
    ranks_aligners: bool = False
