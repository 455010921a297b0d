"""The measure “rollout” (Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers").

No torch.
"""

import numpy as np

from ...maps.measure import Measure
from ...maps.model_pass import Pass
from ...model.heads import AttentionKind
from ...translation.result import FloatArray


def rollout(weights: FloatArray) -> FloatArray:
    """The share of each input token in each position above layer l: [L, S, S]; rows sum to 1.

    The product of (A + I) / 2 of the layers up to l, A being the mean over heads (Abnar & Zuidema
    2020, "Quantifying Attention Flow in Transformers").

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


def rollout_maps(model_pass: Pass, kind: AttentionKind) -> FloatArray:
    """Rollout of the encoder, [L, 1, S, S], or cross-attention carried down to the input words, [L,
    H, T, S].
    """
    flow = rollout(model_pass.weights("encoder"))
    return (
        flow[:, None] if kind == "encoder" else cross_rollout(model_pass.weights("cross"), flow[-1])
    )


ROLLOUT = Measure(
    compute=rollout_maps,
    order=40,
    name="rollout",
    meaning="The share of each input word in a position, if every layer passed on half by "
    "attention (mean of its heads) and half by the residual connection; for "
    "cross-attention, a head's weights spread over the input words this way (Abnar & "
    "Zuidema 2020).",
    caveat="It takes weights for flow: value vectors, feed-forward networks and, in cross maps, "
    "the decoder's own layers are left out.",
    kinds=("encoder", "cross"),
    per_head=("cross",),
    rows_sum_to_one=True,
    ranks_aligners=True,
)
