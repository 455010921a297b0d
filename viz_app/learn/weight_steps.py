"""One query of one head, from its vector to the head's output, with every number between. No Qt.

Vaswani et al. 2017, equation 1: softmax(q·k / √K)·v, for one query.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from augenmerk.core.analysis.trace import Trace
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import FloatArray


@dataclass(frozen=True, eq=False)
class WeightSteps:
    """The steps of the attention of one query in one head.

    Attributes:
        query: [K].
        keys: [M, K].
        scores: [M], query · key / √K, divided by the temperature; −∞ where the mask hides a key.
        weights: [M], what the softmax makes of them; they sum to 1.
        values: [M, K].
        weighted: [M, K], each value times its weight.
        output: [K], their sum: what the head gives at this position.
        temperature: of the softmax.
    """

    query: FloatArray
    keys: FloatArray
    scores: NDArray[np.float64]
    weights: FloatArray
    values: FloatArray
    weighted: FloatArray
    output: FloatArray
    temperature: float

    def products(self, key: int) -> NDArray[np.float64]:
        """[K], query times key, number by number; their sum is the dot product."""
        return np.asarray(self.query.astype(np.float64) * self.keys[key].astype(np.float64))


def weight_steps(trace: Trace, head: Head, query: int) -> WeightSteps:
    """The steps that lead to one row of a map.

    Args:
        trace: of the pair.
        head: which.
        query: its position.
    """
    heads = trace.of_kind(head.kind)
    place = head.layer, head.head
    vector, keys, weights = heads.queries[(*place, query)], heads.keys[place], heads.weights[(*place, query)]
    temperature = float(heads.temperatures[place])
    scores = keys.astype(np.float64) @ vector.astype(np.float64) / np.sqrt(len(vector)) / temperature
    if head.kind == "decoder" and not trace.lifts_mask:
        scores[query + 1 :] = -np.inf
    values = heads.values[place]
    weighted = weights[:, None] * values
    return WeightSteps(vector, keys, scores, weights, values, weighted, weighted.sum(axis=0), temperature)
