"""One map minus another: two sentences in one model, or one sentence in two checkpoints. No torch.

Queries and keys with equal labels are compared. The longest common subsequence of the labels pairs
them, so their order is the same on both sides; the rest is left out and counted. For models with
different vocabularies, merge the maps into words first.

Shape legend: `core.maps`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arguments import checks_arguments
from ..errors import AnalysisError
from ..quantities import counted
from ..translation.result import FloatArray, ReadOnlyArrays
from .selection import Axis, LabelledMap, is_hidden

Pairs = tuple[tuple[int, int], ...]


class NothingInCommonError(AnalysisError):
    """Two maps have no word in common.

    Attributes:
        reason: the first sentence of the message, without advice.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} Choose two sentences that differ in only a word or two.")
        self.reason = reason


@dataclass(frozen=True, eq=False)
class MapDifference(ReadOnlyArrays):
    """The second map minus the first, where they have queries and keys in common.

    Attributes:
        values: [..., Q, M]; above 0 where the second gives more. Of weights, from −1 to 1.
        queries: queries of the first map that have a partner.
        keys: keys of the first map that have a partner.
        query_pairs: for each query its index in the first and in the second map.
        key_pairs: for each key likewise.
        queries_left_out: the number of queries without a partner in the first and the second map.
        keys_left_out: the number of keys, likewise.
        mass_left_out: [2, ..., Q], the weight of each query on keys without a partner, in the first
            and the second map. If it is large, the difference means little.
    """

    values: FloatArray
    queries: Axis
    keys: Axis
    query_pairs: Pairs
    key_pairs: Pairs
    queries_left_out: tuple[int, int]
    keys_left_out: tuple[int, int]
    mass_left_out: FloatArray

    @property
    def largest(self) -> float:
        """The largest absolute value: the end of a symmetric colour scale."""
        return float(np.abs(self.values).max(initial=0.0))

    @property
    def note(self) -> str:
        """One sentence about the tokens left out; empty if there are none."""
        if not any((*self.queries_left_out, *self.keys_left_out)):
            return ""
        return (
            f"Compared are {counted(len(self.queries), 'query', 'queries')} and "
            f"{counted(len(self.keys), 'key')} that both have; left out are "
            f"{_count(self.queries_left_out, 'queries')} and "
            f"{_count(self.keys_left_out, 'keys')} of the first and the second map."
        )


@checks_arguments
def difference(first: LabelledMap, second: LabelledMap) -> MapDifference:
    """`second` minus `first`, for common queries and keys.

    Args:
        first, second: maps [..., Q, M] of any sizes, with the same leading dimensions.

    Raises:
        AnalysisError: they differ in what their queries or keys are, or in their heads, or have no
            word in common.
    """
    if first.weights.shape[:-2] != second.weights.shape[:-2]:
        raise AnalysisError(
            f"The first map has {list(first.weights.shape[:-2])} layers and heads and the second "
            f"{list(second.weights.shape[:-2])}. Compare one head with one head."
        )
    _check_meaning(first.queries, second.queries, "queries")
    _check_meaning(first.keys, second.keys, "keys")
    query_pairs = _partners(first.queries, second.queries, "queries")
    key_pairs = _partners(first.keys, second.keys, "keys")
    first_part, first_left = _restricted(
        first, [query for query, _ in query_pairs], [key for key, _ in key_pairs]
    )
    second_part, second_left = _restricted(
        second, [query for _, query in query_pairs], [key for _, key in key_pairs]
    )
    return MapDifference(
        values=second_part - first_part,
        queries=first.queries.take([query for query, _ in query_pairs]),
        keys=first.keys.take([key for key, _ in key_pairs]),
        query_pairs=query_pairs,
        key_pairs=key_pairs,
        queries_left_out=(
            len(first.queries) - len(query_pairs),
            len(second.queries) - len(query_pairs),
        ),
        keys_left_out=(len(first.keys) - len(key_pairs), len(second.keys) - len(key_pairs)),
        mass_left_out=np.stack([first_left, second_left]),
    )


MAX_NAMED = 20
"""Maximum number of characters of a word in a message."""


def _check_meaning(first: Axis, second: Axis, name: str) -> None:
    if first.meaning != second.meaning:
        raise AnalysisError(
            f"The {name} of the first map are named by {first.meaning}, those of the second by "
            f"{second.meaning}. Choose the same kind and row naming for both."
        )


def _restricted(
    labelled: LabelledMap, queries: Sequence[int], keys: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """The weights of these queries and keys, and what these queries have on other keys."""
    whole = labelled.weights[..., list(queries), :]
    part = whole[..., list(keys)]
    return part, (whole.sum(axis=-1) - part.sum(axis=-1)).clip(min=0)


def _partners(first: Axis, second: Axis, name: str) -> Pairs:
    pairs = common_subsequence(
        [label.casefold() for label in first.labels], [label.casefold() for label in second.labels]
    )
    if all(is_hidden(first.labels[index], {"start", "end"}) for index, _ in pairs):
        raise NothingInCommonError(
            f"The {name} of the two maps have no word in common: {_shortened(first)} and "
            f"{_shortened(second)}."
        )
    return pairs


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> Pairs:
    """The longest common subsequence as pairs of indices; of several, one that begins earliest."""
    # of what is left from here on
    lengths = np.zeros((len(first) + 1, len(second) + 1), dtype=np.intp)
    for i in reversed(range(len(first))):
        for j in reversed(range(len(second))):
            lengths[i, j] = (
                lengths[i + 1, j + 1] + 1
                if first[i] == second[j]
                else max(lengths[i + 1, j], lengths[i, j + 1])
            )
    pairs = []
    i = 0
    j = 0
    while i < len(first) and j < len(second):
        if first[i] == second[j]:
            pairs.append((i, j))
            i = i + 1
            j = j + 1
        elif lengths[i, j + 1] >= lengths[i + 1, j]:
            j += 1
        else:
            i += 1
    return tuple(pairs)


def _count(left_out: tuple[int, int], name: str) -> str:
    return f"{left_out[0]} and {left_out[1]} {name}"


def _shortened(axis: Axis) -> str:
    words = " ".join(
        label if len(label) <= MAX_NAMED else f"{label[:MAX_NAMED]}…" for label in axis.labels[:6]
    )
    return f"“{words}{' …' if len(axis) > 6 else ''}”"
