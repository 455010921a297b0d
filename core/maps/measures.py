"""The maps of a translation in a measure. No torch. See "A measure" in docs/architecture.md.

Shape legend: `core.maps`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arguments import checks_arguments
from ..counting import Index
from ..errors import AnalysisError, NonFiniteError
from ..model.heads import ATTENTION_KINDS, AttentionKind
from ..registry import Registry
from ..translation.result import FloatArray, Translation, read_only
from .measure import Measure, MeasureName
from .model_pass import Pass
from .selection import DEFAULT_LABEL_MODE, LabelledMap, LabelMode, label_map

if TYPE_CHECKING:
    from ..translation.translator import Translator


@dataclass(frozen=True, eq=False)
class MeasuredMaps:
    """The maps of one translation in one measure.

    Attributes:
        translation: the translation.
        measure: its name.
        maps: [L, H, Q, M] by kind, or [L, 1, Q, M] if a measure has one map per layer.
    """

    translation: Translation
    measure: MeasureName
    maps: Mapping[AttentionKind, FloatArray]


def measure_maps(model_pass: Pass, measure: MeasureName, kind: AttentionKind) -> FloatArray:
    """Maps of one kind in one measure, read-only: [L, H, Q, M], or [L, 1, Q, M] if one a layer.

    Raises:
        AnalysisError: the measure does not exist, or not for this kind, or gives another shape
            than it declares.
        NonFiniteError: a value is NaN or infinite.
    """
    declaration = MEASURES.get(measure)
    if declaration is None or kind not in declaration.kinds:
        raise AnalysisError(
            f"There is no measure {measure!r} for {kind} maps. Choose from "
            f"{', '.join(measures_of(kind))}."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        maps = declaration.compute(model_pass, kind)
    num_layers, num_heads, *cells = model_pass.weights(kind).shape
    shape = (num_layers, num_heads if kind in declaration.per_head else 1, *cells)
    if np.shape(maps) != shape:
        raise AnalysisError(
            f"The measure “{measure}” gives {kind} maps of the shape {list(np.shape(maps))}, not "
            f"{list(shape)}. This is a fault of its extension: update it, or choose another "
            "measure."
        )
    return read_only(finite_by_layer(kind, maps))


@checks_arguments
def measure(
    translator: "Translator",
    translation: Translation,
    name: MeasureName,
    kind: AttentionKind = "cross",
    label_mode: LabelMode = DEFAULT_LABEL_MODE,
) -> LabelledMap:
    """The maps of a translation in a measure, with their tokens.

    Args:
        translator: the model that made the translation.
        translation: is passed through the model once more.
        name: of the measure: a key of `MEASURES`.
        kind: of the maps.
        label_mode: whether queries of decoder and cross maps are named by the token read or the
            token predicted.

    Returns:
        Weights [L, H, Q, M], or [L, 1, Q, M] if the measure has one map per layer.

    Raises:
        AnalysisError: the measure does not exist, or not for this kind.
        NonFiniteError: a value is NaN or infinite.
    """
    maps = measure_maps(Pass.of(translator, translation), name, kind)
    return label_map(maps, translation, kind, label_mode)


def measures_of(kind: AttentionKind) -> tuple[MeasureName, ...]:
    """The measures that exist for a kind of map."""
    return tuple(name for name, declaration in MEASURES.items() if kind in declaration.kinds)


def finite_by_layer(kind: AttentionKind, values: FloatArray) -> FloatArray:
    """`values` [L, …] of one kind of map.

    Raises `NonFiniteError`, with the layer, if one is NaN or infinite.
    """
    for layer, of_layer in enumerate(values):
        if not np.isfinite(of_layer).all():
            stack, part = (
                ("decoder", "cross-attention") if kind == "cross" else (kind, "self-attention")
            )
            raise NonFiniteError(f"{stack} layer {{layer}}, {part}", layer=Index(layer))
    return values


def row_entropy(weights: FloatArray) -> FloatArray:
    """The entropy of each row of weights [..., Q, M] in nats, [..., Q]; 0 · log 0 is 0."""
    entropy: FloatArray = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1)
    return entropy


WEIGHT = Measure(
    compute=lambda model_pass, kind: model_pass.weights(kind),
    order=10,
    name="weight α",
    meaning="The share of its attention that this head gives to the key, after softmax.",
    caveat="It does not say how much arrives: a large weight on a short value vector adds "
    "little, and no weight says why a word was chosen (Jain & Wallace 2019).",
    kinds=ATTENTION_KINDS,
    per_head=ATTENTION_KINDS,
    rows_sum_to_one=True,
    ranks_aligners=True,
)
MEASURES: Registry[Measure] = Registry("augenmerk.measures", Measure, "measure", {"weight": WEIGHT})
"""Every measure, by its name in files and options, in the order of menus.

Others than the weight are extensions.
"""
