"""Maps of one translation in every measure, and how measures are named. No Qt, no torch."""

from collections.abc import Mapping
from dataclasses import dataclass

from augenmerk.core.analysis.measures import MEASURES, Measure
from augenmerk.core.translation.result import MAP_KINDS, FloatArray, MapKind, Translation

SHORT_NAMES: dict[Measure, str] = {
    "weight": "weight α",
    "norm": "norm ‖α·f(x)‖",
    "norm-layer": "norm of the layer",
    "rollout": "rollout",
}
BESIDE_WEIGHT: tuple[tuple[Measure, MapKind], ...] = tuple(
    (measure, kind)
    for measure in MEASURES
    for kind in MAP_KINDS
    if measure != "weight" and kind in MEASURES[measure].kinds
)


@dataclass(frozen=True, eq=False)
class MeasuredMaps:
    """What was measured beside the weights.

    Attributes:
        translation: whose maps these are.
        maps: [L, H, Q, M] by measure and kind; [L, 1, Q, M] where a measure has one map for each layer.
    """

    translation: Translation
    maps: Mapping[tuple[Measure, MapKind], FloatArray]
