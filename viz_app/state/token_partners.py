"""Which token of one translation stands for a token of another: where a pinned pair is in the next maps. No Qt."""

from collections.abc import Sequence
from typing import Literal

from augenmerk.core.analysis.comparing import common_subsequence
from augenmerk.core.translation.result import MapKind, Translation
from augenmerk.viz_app.state.map_view import Pair


def pair_in(
    after: Translation, before: Translation, kind: MapKind, pair: Pair, label_mode: Literal["read", "predicted"]
) -> Pair | None:
    """The same two tokens in another translation: at the same positions, or where a comparison of maps pairs them.

    Args:
        after: in whose maps the pair is looked for.
        before: in whose maps it was pinned.
        kind: of the maps.
        pair: the query and key.
        label_mode: by which token a query of the decoder is named.

    Returns:
        None if one of the two tokens has no partner.
    """
    query = partner(query_tokens(before, kind, label_mode), query_tokens(after, kind, label_mode), pair.query)
    key = partner(key_tokens(before, kind), key_tokens(after, kind), pair.key)
    return Pair(query, key) if query is not None and key is not None else None


def partner(before: Sequence[str], after: Sequence[str], index: int) -> int | None:
    """The index of the token in `after` that stands for one of `before`; None if it is gone."""
    if index >= len(before):
        return None
    if index < len(after) and before[index] == after[index]:
        return index
    return dict(common_subsequence(before, after)).get(index)


def query_tokens(translation: Translation, kind: MapKind, label_mode: Literal["read", "predicted"]) -> tuple[str, ...]:
    """By which token each query of a kind of map is named."""
    if kind == "encoder":
        return translation.source_tokens
    return translation.read_tokens if label_mode == "read" else translation.predicted_tokens


def key_tokens(translation: Translation, kind: MapKind) -> tuple[str, ...]:
    """The token of each key of a kind of map."""
    return translation.read_tokens if kind == "decoder" else translation.source_tokens
