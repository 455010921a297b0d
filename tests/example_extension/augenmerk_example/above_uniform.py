"""A measure: how many times more attention a key gets than if all keys were alike."""

from augenmerk.core.maps.measure import Measure
from augenmerk.core.maps.model_pass import Pass
from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind
from augenmerk.core.translation.result import FloatArray


def above_uniform(model_pass: Pass, kind: AttentionKind) -> FloatArray:
    """The weights times the number of keys, [L, H, Q, M]."""
    weights = model_pass.weights(kind)
    return weights * weights.shape[-1]


ABOVE_UNIFORM = Measure(
    compute=above_uniform,
    order=100,
    name="times uniform",
    meaning="How many times more attention this key gets than if the head looked at all keys alike.",
    caveat="It grows with the length of the sentence, so compare it within one sentence only.",
    kinds=ATTENTION_KINDS,
    per_head=ATTENTION_KINDS,
    rows_sum_to_one=False,
)
