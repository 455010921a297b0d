"""Measures for the cells of a map: the weight, norms of the mixed vectors, and rollout.

Plain arithmetic on arrays, without torch. See "A measure" in docs/architecture.md. Shape legend: `core.analysis`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from augenmerk.core.analysis.measure import Measure, MeasureName, in_order
from augenmerk.core.analysis.model_pass import Pass
from augenmerk.core.analysis.selection import DEFAULT_LABEL_MODE, LabelledMap, LabelMode, label_map
from augenmerk.core.analysis.trace import HeadTrace
from augenmerk.core.analysis.value_zeroing import VALUE_ZEROING
from augenmerk.core.arguments import checks_arguments
from augenmerk.core.counting import Index
from augenmerk.core.errors import AnalysisError, NonFiniteError
from augenmerk.core.translation.result import MAP_KINDS, FloatArray, MapKind, Translation, read_only

if TYPE_CHECKING:
    from augenmerk.core.translation.translator import Translator


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
    maps: Mapping[MapKind, FloatArray]


def measure_maps(model_pass: Pass, measure: MeasureName, kind: MapKind) -> FloatArray:
    """Maps of one kind in one measure: [L, H, Q, M]; [L, 1, Q, M] where there is one for each layer. Read-only.

    Raises:
        AnalysisError: the measure does not exist, or not for this kind.
        NonFiniteError: a value is NaN or infinite.
    """
    declaration = MEASURES.get(measure)
    if declaration is None or kind not in declaration.kinds:
        raise AnalysisError(
            f"There is no measure {measure!r} for {kind} maps. Choose from {', '.join(measures_of(kind))}."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        maps = declaration.compute(model_pass, kind)
    return read_only(finite_by_layer(kind, maps))


@checks_arguments
def measure(
    translator: "Translator",
    translation: Translation,
    name: MeasureName,
    kind: MapKind = "cross",
    label_mode: LabelMode = DEFAULT_LABEL_MODE,
) -> LabelledMap:
    """The maps of a translation in a measure, with their tokens.

    Args:
        translator: the model that made the translation.
        translation: is passed through the model once more.
        name: of the measure: a key of `MEASURES`.
        kind: of the maps.
        label_mode: whether queries of decoder and cross maps are named by the token read or the token predicted.

    Returns:
        Weights [L, H, Q, M], or [L, 1, Q, M] if the measure has one map per layer.

    Raises:
        AnalysisError: the measure does not exist, or not for this kind.
        NonFiniteError: a value is NaN or infinite.
    """
    maps = measure_maps(Pass.of(translator, translation), name, kind)
    return label_map(maps, translation, kind, label_mode)


def measures_of(kind: MapKind) -> tuple[MeasureName, ...]:
    """The measures that exist for a kind of map."""
    return tuple(name for name, declaration in MEASURES.items() if kind in declaration.kinds)


def finite_by_layer(kind: MapKind, values: FloatArray) -> FloatArray:
    """`values` [L, …] of one kind of map. Raises `NonFiniteError`, with the layer, if one is NaN or infinite."""
    for layer, of_layer in enumerate(values):
        if not np.isfinite(of_layer).all():
            stack, part = ("decoder", "cross-attention") if kind == "cross" else (kind, "self-attention")
            raise NonFiniteError(f"{stack} layer {{layer}}, {part}", layer=Index(layer))
    return values


def head_norms(heads: HeadTrace) -> FloatArray:
    """‖α · f(x)‖ of each head, [L, H, Q, M], where f(x) = (x W_V + b_V) W_O with the head's slice of W_O.

    Source: Kobayashi et al. 2020, "Attention is Not Only a Weight: Analyzing Transformers with Vector Norms".
    """
    lengths: FloatArray = np.linalg.norm(heads.values @ heads.mixing, axis=-1)
    return heads.weights * lengths[:, :, None, :]


def layer_norms(heads: HeadTrace) -> FloatArray:
    """‖Σ over heads of α · f(x)‖, [L, Q, M] (Kobayashi et al. 2020)."""
    transformed = heads.values @ heads.mixing  # [L, H, M, D]
    lengths = np.empty_like(heads.weights[:, 0])
    # Key by key, rows of weights [Q, H] times the heads' vectors [H, D]: for a long text, all at once are gigabytes.
    for layer, key in np.ndindex(len(lengths), lengths.shape[2]):
        sums = heads.weights[layer, :, :, key].T @ transformed[layer, :, key]
        lengths[layer, :, key] = np.linalg.norm(sums, axis=-1)
    return lengths


def rollout(weights: FloatArray) -> FloatArray:
    """The share of each input token in each position above layer l: [L, S, S]; rows sum to 1.

    The product of (A + I) / 2 of the layers up to l, A being the mean over heads (Abnar & Zuidema 2020, "Quantifying
    Attention Flow in Transformers").

    Args:
        weights: self-attention, [L, H, S, S].
    """
    mixed = (weights.mean(axis=1) + np.eye(weights.shape[-1], dtype=np.float32)) / 2
    flows = [mixed[0]]
    for layer in mixed[1:]:
        flows.append(layer @ flows[-1])
    return np.stack(flows)


def cross_rollout(cross: FloatArray, encoder_flow: FloatArray) -> FloatArray:
    """Cross-attention carried down to the input words: [..., T, S]; rows sum to 1.

    Args:
        cross: [..., T, S], which looks at the encoder's output.
        encoder_flow: [S, S], the last of `rollout`.
    """
    carried: FloatArray = cross @ encoder_flow
    return carried


def rollout_maps(model_pass: Pass, kind: MapKind) -> FloatArray:
    """Rollout of the encoder, [L, 1, S, S], or cross-attention carried down to the input words, [L, H, T, S]."""
    flow = rollout(model_pass.weights("encoder"))
    return flow[:, None] if kind == "encoder" else cross_rollout(model_pass.weights("cross"), flow[-1])


def row_entropy(weights: FloatArray) -> FloatArray:
    """The entropy of each row of weights [..., Q, M] in nats, [..., Q]; 0 · log 0 is 0."""
    entropy: FloatArray = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1)
    return entropy


WEIGHT = Measure(
    compute=lambda model_pass, kind: model_pass.weights(kind),
    order=10,
    name="weight α",
    meaning="The share of its attention that this head gives to the key, after softmax.",
    caveat="It does not say how much arrives: a large weight on a short value vector adds little, and no weight says "
    "why a word was chosen (Jain & Wallace 2019).",
    kinds=MAP_KINDS,
    per_head=MAP_KINDS,
    rows_sum_to_one=True,
    ranks_aligners=True,
)
NORM = Measure(
    compute=lambda model_pass, kind: head_norms(model_pass.heads(kind)),
    order=20,
    name="norm ‖α·f(x)‖",
    meaning="How much this word contributes: the length of the vector that the key adds to this head's output, which "
    "is the weight times the length of its value vector after the output projection (Kobayashi et al. 2020).",
    caveat="It sees neither whether vectors cancel each other nor what the residual connection carries.",
    kinds=MAP_KINDS,
    per_head=MAP_KINDS,
    rows_sum_to_one=False,
    ranks_aligners=True,
)
LAYER_NORM = Measure(
    compute=lambda model_pass, kind: layer_norms(model_pass.heads(kind))[:, None],
    order=30,
    name="norm of the layer",
    meaning="How much this word contributes: the length ‖Σ α·f(x)‖ of the vector that the key adds to the layer's "
    "output, all heads summed before the length is taken (Kobayashi et al. 2020).",
    caveat="Heads that pull in opposite directions cancel here; the residual connection is not counted.",
    kinds=MAP_KINDS,
    per_head=(),
    rows_sum_to_one=False,
    ranks_aligners=True,
)
ROLLOUT = Measure(
    compute=rollout_maps,
    order=40,
    name="rollout",
    meaning="The share of each input word in a position, if every layer passed on half by attention (mean of its "
    "heads) and half by the residual connection; for cross-attention, a head's weights spread over the input words "
    "this way (Abnar & Zuidema 2020).",
    caveat="It takes weights for flow: value vectors, feed-forward networks and, in cross maps, the decoder's own "
    "layers are left out.",
    kinds=("encoder", "cross"),
    per_head=("cross",),
    rows_sum_to_one=True,
    ranks_aligners=True,
)

MEASURES: dict[MeasureName, Measure] = in_order(
    {"weight": WEIGHT, "norm": NORM, "norm-layer": LAYER_NORM, "rollout": ROLLOUT, "value-zeroing": VALUE_ZEROING}
)
"""Every measure, by its name in files and options."""
