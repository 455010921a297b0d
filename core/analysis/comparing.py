"""One map minus another: two sentences in one model, or one sentence in two checkpoints. No torch.

What is compared are rows and columns with the same label. Partners are found by the longest common subsequence of the
labels, so that they stand in the same order on both sides; what has no partner is left out, and counted. Two models
with different vocabularies cut words into different pieces: merge their maps into words first.

Shape legend: `core.analysis`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.analysis.selection import Axis, LabelledMap, is_hidden
from core.errors import AnalysisError
from core.translation.result import FloatArray

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class MapDifference:
    """The second map minus the first, where they have rows and columns in common.

    Attributes:
        values: [..., Q, M]; above 0 where the second gives more. Of weights, from −1 to 1.
        rows, columns: of the first map, those with a partner.
        row_pairs, column_pairs: for each its index in the first and in the second map.
        rows_left_out, columns_left_out: how many of the first and of the second map have no partner.
        mass_left_out: [2, ..., Q], for the first and the second map the weight of each row that lay on columns
            without a partner: where it is large, the difference says little.
    """

    values: FloatArray
    rows: Axis
    columns: Axis
    row_pairs: Pairs
    column_pairs: Pairs
    rows_left_out: tuple[int, int]
    columns_left_out: tuple[int, int]
    mass_left_out: FloatArray

    @property
    def largest(self) -> float:
        """The largest absolute value: the end of a colour scale that is even on both sides."""
        return float(np.abs(self.values).max(initial=0.0))

    @property
    def note(self) -> str:
        """What was left out, in one sentence; empty if nothing was."""
        if not any((*self.rows_left_out, *self.columns_left_out)):
            return ""
        return (
            f"Compared are {len(self.rows)} rows and {len(self.columns)} columns that both have; left out are "
            f"{_count(self.rows_left_out, 'rows')} and {_count(self.columns_left_out, 'columns')} of the first and the "
            "second map."
        )


def difference(first: LabelledMap, second: LabelledMap) -> MapDifference:
    """`second` minus `first`, on the rows and columns that both have.

    Args:
        first, second: maps [..., Q, M], each of its own size, with the same leading dimensions: of one head, or of as
            many.

    Raises:
        AnalysisError: they differ in what their rows or columns are, or in their heads, or have no word in common.
    """
    if first.weights.shape[:-2] != second.weights.shape[:-2]:
        raise AnalysisError(
            f"The first map has {list(first.weights.shape[:-2])} layers and heads and the second "
            f"{list(second.weights.shape[:-2])}. As many in both were expected; compare one head with one head."
        )
    _check_meaning(first.rows, second.rows, "rows")
    _check_meaning(first.columns, second.columns, "columns")
    row_pairs = _partners(first.rows, second.rows, "rows")
    column_pairs = _partners(first.columns, second.columns, "columns")
    first_part, first_left = _restricted(first, [row for row, _ in row_pairs], [column for column, _ in column_pairs])
    second_part, second_left = _restricted(
        second, [row for _, row in row_pairs], [column for _, column in column_pairs]
    )
    return MapDifference(
        values=second_part - first_part,
        rows=first.rows.take([row for row, _ in row_pairs]),
        columns=first.columns.take([column for column, _ in column_pairs]),
        row_pairs=row_pairs,
        column_pairs=column_pairs,
        rows_left_out=(len(first.rows) - len(row_pairs), len(second.rows) - len(row_pairs)),
        columns_left_out=(len(first.columns) - len(column_pairs), len(second.columns) - len(column_pairs)),
        mass_left_out=np.stack([first_left, second_left]),
    )


def _check_meaning(first: Axis, second: Axis, name: str) -> None:
    if first.meaning != second.meaning:
        raise AnalysisError(
            f"The {name} of the first map are {first.meaning}s and those of the second {second.meaning}s. The same in "
            "both were expected; choose the same kind and label mode."
        )


def _restricted(labelled: LabelledMap, rows: Sequence[int], columns: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """The weights of these rows and columns, and what these rows have on other columns."""
    whole = labelled.weights[..., list(rows), :]
    part = whole[..., list(columns)]
    return part, (whole.sum(axis=-1) - part.sum(axis=-1)).clip(min=0)


def _partners(first: Axis, second: Axis, name: str) -> Pairs:
    pairs = common_subsequence(
        [label.casefold() for label in first.labels], [label.casefold() for label in second.labels]
    )
    if all(is_hidden(first.labels[index], {"start", "end"}) for index, _ in pairs):
        raise AnalysisError(
            f"The {name} of the two maps have no word in common: {_shortened(first)} and {_shortened(second)}. "
            "Sentences that share words were expected; choose two that differ in a word or two."
        )
    return pairs


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> Pairs:
    """The longest common subsequence, as pairs of indices; of several, one that begins earliest in `first`."""
    lengths = np.zeros((len(first) + 1, len(second) + 1), dtype=np.intp)  # of what is left from here on
    for i in reversed(range(len(first))):
        for j in reversed(range(len(second))):
            lengths[i, j] = (
                lengths[i + 1, j + 1] + 1 if first[i] == second[j] else max(lengths[i + 1, j], lengths[i, j + 1])
            )
    pairs, i, j = [], 0, 0
    while i < len(first) and j < len(second):
        if first[i] == second[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i, j + 1] >= lengths[i + 1, j]:
            j += 1
        else:
            i += 1
    return tuple(pairs)


def _count(left_out: tuple[int, int], name: str) -> str:
    return f"{left_out[0]} and {left_out[1]} {name}"


def _shortened(axis: Axis) -> str:
    words = " ".join(axis.labels[:6])
    return f"“{words}{' …' if len(axis) > 6 else ''}”"
