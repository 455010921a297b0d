"""Measures for the cells of a map: the weight, norms of the mixed vectors, and rollout.

Plain arithmetic on arrays, without torch. Shape legend: `core.analysis`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from augenmerk.core.analysis.trace import HeadTrace, Trace
from augenmerk.core.counting import Index
from augenmerk.core.errors import AnalysisError, NonFiniteError
from augenmerk.core.translation.result import MAP_KINDS, FloatArray, MapKind, Translation, read_only

Measure = str
"""The name of a measure: a key of `MEASURES`."""


@dataclass(frozen=True)
class MeasureDescription:
    """The complete declaration of a measure.

    Attributes:
        compute: the maps of one kind, from the trace of all heads: [L, H, Q, M], or [L, 1, Q, M] for the kinds not in
            `per_head`.
        name: for menus and captions.
        value_name: a short name for the value of a cell.
        title: a few words.
        meaning: one sentence on what a cell shows.
        caveat: one sentence on what it does not show.
        kinds: the kinds of maps it exists for.
        per_head: the kinds with a map for each head; the others have one per layer.
        rows_sum_to_one: whether cells are shares of a row.
        ranks_aligners: whether its cross maps take part in the ranking of aligners.
    """

    compute: Callable[[Trace, MapKind], FloatArray]
    name: str
    value_name: str
    title: str
    meaning: str
    caveat: str
    kinds: tuple[MapKind, ...]
    per_head: tuple[MapKind, ...]
    rows_sum_to_one: bool
    ranks_aligners: bool = True


@dataclass(frozen=True, eq=False)
class MeasuredMaps:
    """The maps of one translation in every measure except the weight.

    Attributes:
        translation: the translation.
        maps: [L, H, Q, M] by measure and kind, or [L, 1, Q, M] if a measure has one map per layer.
    """

    translation: Translation
    maps: Mapping[tuple[Measure, MapKind], FloatArray]


def measure_maps(trace: Trace, measure: Measure, kind: MapKind) -> FloatArray:
    """Maps of one kind in one measure: [L, H, Q, M]; [L, 1, Q, M] where there is one for each layer. Read-only.

    Raises:
        AnalysisError: the measure does not exist, or not for this kind.
        NonFiniteError: a value is NaN or infinite.
    """
    description = MEASURES.get(measure)
    if description is None or kind not in description.kinds:
        raise AnalysisError(
            f"There is no measure {measure!r} for {kind} maps. Choose from {', '.join(measures_of(kind))}."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        maps = description.compute(trace, kind)
    return read_only(finite_by_layer(kind, maps))


def measures_of(kind: MapKind) -> tuple[Measure, ...]:
    """The measures that exist for a kind of map."""
    return tuple(name for name, description in MEASURES.items() if kind in description.kinds)


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


def rollout_maps(trace: Trace, kind: MapKind) -> FloatArray:
    """Rollout of the encoder, [L, 1, S, S], or cross-attention carried down to the input words, [L, H, T, S]."""
    flow = rollout(trace.encoder.weights)
    return flow[:, None] if kind == "encoder" else cross_rollout(trace.cross.weights, flow[-1])


def row_entropy(weights: FloatArray) -> FloatArray:
    """The entropy of each row of weights [..., Q, M] in nats, [..., Q]; 0 · log 0 is 0."""
    entropy: FloatArray = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1)
    return entropy


MEASURES: dict[Measure, MeasureDescription] = {
    "weight": MeasureDescription(
        compute=lambda trace, kind: trace.of_kind(kind).weights,
        name="weight α",
        value_name="weight",
        title="attention weight α",
        meaning="The share of its attention that this head gives to the key, after softmax.",
        caveat="It does not say how much arrives: a large weight on a short value vector adds little, and no weight "
        "says why a word was chosen (Jain & Wallace 2019).",
        kinds=MAP_KINDS,
        per_head=MAP_KINDS,
        rows_sum_to_one=True,
    ),
    "norm": MeasureDescription(
        compute=lambda trace, kind: head_norms(trace.of_kind(kind)),
        name="norm ‖α·f(x)‖",
        value_name="‖α·f(x)‖",
        title="norm ‖α·f(x)‖",
        meaning="How much this word contributes: the length of the vector that the key adds to this head's output, "
        "which is the weight times the length of its value vector after the output projection (Kobayashi et al. "
        "2020).",
        caveat="It sees neither whether vectors cancel each other nor what the residual connection carries.",
        kinds=MAP_KINDS,
        per_head=MAP_KINDS,
        rows_sum_to_one=False,
    ),
    "norm-layer": MeasureDescription(
        compute=lambda trace, kind: layer_norms(trace.of_kind(kind))[:, None],
        name="norm of the layer",
        value_name="‖Σ α·f(x)‖",
        title="norm of the layer ‖Σ α·f(x)‖",
        meaning="How much this word contributes: the length of the vector that the key adds to the layer's output, all "
        "heads summed before the length is taken (Kobayashi et al. 2020).",
        caveat="Heads that pull in opposite directions cancel here; the residual connection is not counted.",
        kinds=MAP_KINDS,
        per_head=(),
        rows_sum_to_one=False,
    ),
    "rollout": MeasureDescription(
        compute=rollout_maps,
        name="rollout",
        value_name="rollout",
        title="rollout",
        meaning="The share of each input word in a position, if every layer passed on half by attention (mean of its "
        "heads) and half by the residual connection; for cross-attention, a head's weights spread over the input words "
        "this way (Abnar & Zuidema 2020).",
        caveat="It takes weights for flow: value vectors, feed-forward networks and, in cross maps, the decoder's own "
        "layers are left out.",
        kinds=("encoder", "cross"),
        per_head=("cross",),
        rows_sum_to_one=True,
    ),
}
"""Every measure, by name; its order is that of menus and options. See "A measure" in docs/architecture.md."""
BESIDE_WEIGHT: tuple[tuple[Measure, MapKind], ...] = tuple(
    (measure, kind) for kind in MAP_KINDS for measure in measures_of(kind) if measure != "weight"
)
"""The contents of `MeasuredMaps`."""
