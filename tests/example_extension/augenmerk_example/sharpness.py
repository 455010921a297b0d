"""How sharply heads look: computed once, for the tab and the command."""

from augenmerk.core.model.heads import AttentionKind, Head
from augenmerk.core.translation.result import Translation


def sharpness(translation: Translation, kind: AttentionKind) -> list[tuple[Head, float]]:
    """Each head of a kind with the mean of the largest weights of its queries, from 0 to 1; the
    sharpest first.
    """
    largest = translation.maps.of_kind(kind).max(axis=-1).mean(axis=-1)  # [L, H]
    heads = [
        Head(kind, layer, head)
        for layer in range(len(largest))
        for head in range(len(largest[layer]))
    ]
    return sorted(
        ((head, float(largest[head.layer, head.head])) for head in heads),
        key=lambda ranked: -ranked[1],
    )
