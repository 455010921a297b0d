"""Interventions that many tests need."""

from collections.abc import Iterable

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import HeadScaled, in_canonical_order


def heads_switched_off(heads: Iterable[Head]) -> tuple[HeadScaled, ...]:
    """One intervention for each of these heads, each once, in their order."""
    return in_canonical_order({HeadScaled(head) for head in heads})
