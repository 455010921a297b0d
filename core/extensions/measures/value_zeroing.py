"""The measure “value zeroing” (Mohebbi et al. 2023, "Quantifying Context Mixing in Transformers").
No torch.
"""

import numpy as np

from ...maps.measure import Measure
from ...maps.model_pass import Pass
from ...model.heads import ATTENTION_KINDS, AttentionKind
from ...translation.result import FloatArray

MAX_NUMBERS = 2**22
"""Numbers in the outputs of a layer that are computed at once.

Without a limit, long texts need gigabytes.
"""
NO_CHANGE = 1e-12
"""A query whose output turns by less than this, summed over all keys, does not depend on its
keys."""


def value_zeroing(model_pass: Pass, kind: AttentionKind) -> FloatArray:
    """The share of each key in how far a layer's output turns if its value is zero in all heads,
    [L, 1, Q, M].
    """
    return np.stack(
        [_shares(model_pass, kind, layer) for layer in range(len(model_pass.weights(kind)))]
    )[:, None]


def _shares(model_pass: Pass, kind: AttentionKind, layer: int) -> FloatArray:
    """The shares in one layer, [Q, M].

    Each query's shares sum to 1, or are 0 if its output depends on no key.
    """
    heads = model_pass.heads(kind)
    weights = heads.weights[layer]  # [H, Q, M]
    vectors = heads.values[layer] @ heads.mixing[layer]  # [H, M, D]
    attended = model_pass.attention_output(kind, layer)  # [Q, D]
    (output,) = model_pass.layer_output(kind, layer, attended[None])
    num_keys = weights.shape[-1]
    keys_at_once = max(1, MAX_NUMBERS // attended.size)
    turns = np.empty(weights.shape[1:])
    for first in range(0, num_keys, keys_at_once):
        model_pass.check_stop()
        keys = slice(first, first + keys_at_once)
        contributions = np.einsum(
            "hqm,hmd->mqd", weights[..., keys], vectors[:, keys], optimize=True
        )
        outputs = model_pass.layer_output(kind, layer, attended - contributions)
        turns[:, keys] = _one_minus_cosine(outputs, output).T
    totals = turns.sum(axis=-1, keepdims=True)
    return np.divide(turns, totals, out=np.zeros_like(turns), where=totals > NO_CHANGE).astype(
        np.float32
    )


def _one_minus_cosine(first: FloatArray, second: FloatArray) -> np.ndarray:
    """1 − cosine of vectors [..., D], in double precision.

    It is half the squared distance of the unit vectors, which does not cancel where they are nearly
    equal.
    """
    first_unit, second_unit = (
        vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
        for vectors in (first.astype(np.float64), second.astype(np.float64))
    )
    distances: np.ndarray = ((first_unit - second_unit) ** 2).sum(axis=-1) / 2
    return distances


VALUE_ZEROING = Measure(
    compute=value_zeroing,
    order=50,
    name="value zeroing",
    meaning="The share of this word in how far the layer's output turns if its value vectors are "
    "zero in all heads (Mohebbi et al. 2023).",
    caveat="It sees one layer, not what later layers do with the change.",
    kinds=ATTENTION_KINDS,
    per_head=(),
    rows_sum_to_one=True,
)
