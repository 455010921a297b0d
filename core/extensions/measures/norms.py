"""Measures by the lengths of the vectors that attention mixes (Kobayashi et al. 2020). No torch.

Source: "Attention is Not Only a Weight: Analyzing Transformers with Vector Norms". Shape legend:
`core.maps`.
"""

import numpy as np

from ...maps.measure import Measure
from ...maps.trace import HeadTrace
from ...model.heads import ATTENTION_KINDS
from ...translation.result import FloatArray


def head_norms(heads: HeadTrace) -> FloatArray:
    """‖α · f(x)‖ of each head, [L, H, Q, M], where f(x) = (x W_V + b_V) W_O with the head's slice
    of W_O.

    Source: Kobayashi et al. 2020, "Attention is Not Only a Weight: Analyzing Transformers with
    Vector Norms".
    """
    lengths: FloatArray = np.linalg.norm(heads.values @ heads.mixing, axis=-1)
    return heads.weights * lengths[:, :, None, :]


def layer_norms(heads: HeadTrace) -> FloatArray:
    """‖Σ over heads of α · f(x)‖, [L, Q, M] (Kobayashi et al. 2020)."""
    transformed = heads.values @ heads.mixing  # [L, H, M, D]
    lengths = np.empty_like(heads.weights[:, 0])
    # Key by key, rows of weights [Q, H] times the heads' vectors [H, D]: for a long text, all at
    # once are gigabytes.
    for layer, key in np.ndindex(len(lengths), lengths.shape[2]):
        sums = heads.weights[layer, :, :, key].T @ transformed[layer, :, key]
        lengths[layer, :, key] = np.linalg.norm(sums, axis=-1)
    return lengths


NORM = Measure(
    compute=lambda model_pass, kind: head_norms(model_pass.heads(kind)),
    order=20,
    name="norm ‖α·f(x)‖",
    meaning="How much this word contributes: the length of the vector that the key adds to this "
    "head's output, which is the weight times the length of its value vector after the "
    "output projection (Kobayashi et al. 2020).",
    caveat="It sees neither whether vectors cancel each other nor what the residual connection "
    "carries.",
    kinds=ATTENTION_KINDS,
    per_head=ATTENTION_KINDS,
    rows_sum_to_one=False,
    ranks_aligners=True,
)
LAYER_NORM = Measure(
    compute=lambda model_pass, kind: layer_norms(model_pass.heads(kind))[:, None],
    order=30,
    name="norm of the layer",
    meaning="How much this word contributes: the length ‖Σ α·f(x)‖ of the vector that the key "
    "adds to the layer's output, all heads summed before the length is taken (Kobayashi "
    "et al. 2020).",
    caveat="Heads that pull in opposite directions cancel here; the residual connection is not "
    "counted.",
    kinds=ATTENTION_KINDS,
    per_head=(),
    rows_sum_to_one=False,
    ranks_aligners=True,
)
