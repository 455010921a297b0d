"""The components of the residual stream, and their parts of attention scores. No torch.

The vector of a position is a sum: the vectors of its token and of its position, the output of every
head and of every feed-forward network, and biases (Elhage et al. 2021, "A Mathematical Framework
for Transformer Circuits"). `query_key_parts` computes the parts. Shape legend: `core.maps`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...arguments import checks_arguments
from ...counting import CountedText, Index
from ...errors import AnalysisError
from ...model.heads import Head, Network
from ...short_repr import ShortRepr
from ...translation.result import ReadOnlyArrays


class Origin(Enum):
    """A component that no layer computes.

    `BIAS` includes the biases after heads, of norms and of projections.
    """

    TOKEN = "token"
    POSITION = "position"
    BIAS = "bias"

    def __str__(self) -> str:
        return self.value

    @property
    def short_name(self) -> str:
        """“token”, “position”, “biases”."""
        return "biases" if self is Origin.BIAS else self.value

    @property
    def title(self) -> str:
        """The same as a heading."""
        return {
            "token": "Vector of the token",
            "position": "Vector of the position",
            "bias": "Biases",
        }[self.value]


Component = Origin | Head | Network
"""A writer to the residual stream. The bias after a network belongs to the network."""


def name_in_stack(component: Component) -> str:
    """The name of a component within a stack: “cross 2·5”, “feed-forward 2”; see `CountedText`."""
    if isinstance(component, Network):
        return CountedText("feed-forward {layer}", layer=Index(component.layer))
    return component.short_name


@dataclass(frozen=True)
class ComponentGroup(ShortRepr):
    """Components that are summed.

    Attributes:
        name: short: “heads 2”, “feed-forward 2”; counted from 0, see `CountedText`.
        title: “Heads of layer 2”.
        places: their indices among all components.
    """

    name: str
    title: str
    places: tuple[int, ...]


def group_components(components: Sequence[Component]) -> tuple[ComponentGroup, ...]:
    """Token, position, heads and network of each layer, biases; in the given order."""
    places: dict[tuple[str, str], list[int]] = {}
    for index, component in enumerate(components):
        names = name_in_stack(component), component.title
        if isinstance(component, Head):
            layer = Index(component.layer)
            names = (
                CountedText("heads {layer}", layer=layer),
                CountedText("Heads of layer {layer}", layer=layer),
            )
        places.setdefault(names, []).append(index)
    return tuple(ComponentGroup(*names, tuple(indices)) for names, indices in places.items())


Baseline = int | Literal["mean", "none"]
"""The subtrahend of a score: that of another key, the mean of all visible keys, or nothing."""


@checks_arguments
@dataclass(frozen=True, eq=False)
class RowParts(ReadOnlyArrays):
    """The attention scores of one query in one head, and what query and keys are made of.

    Attributes:
        head: the head.
        query: the position of the query: a row of the map.
        query_components: the P components of the query.
        key_components: the C components of the keys; in cross-attention those of the encoder.
        queries: [P, K], the parts of the query, divided by √K and the head's temperature.
        keys: [M, C, K], the parts of each key that the query sees; `queries @ keys[m].T` sums to
            its score.
        scores: [M], the scores that the softmax takes, divided by the head's temperature.
        model_digest: of the model that computed them.
    """

    head: Head
    query: int
    query_components: tuple[Component, ...]
    key_components: tuple[Component, ...]
    queries: NDArray[np.float64]
    keys: NDArray[np.float64]
    scores: NDArray[np.float64]
    model_digest: str = ""

    def of_cell(self, key: int, baseline: Baseline = "mean") -> "CellParts":
        """The parts of one score.

        Softmax ignores what all keys of a query share. So the score is compared: by default with
        the mean.

        Args:
            key: its position: a column of the map.
            baseline: the subtrahend.

        Raises:
            AnalysisError: the query does not see this key, or that of the baseline.
        """
        self._require_visible(key)
        keys = self.keys[key]
        relative_score = float(self.scores[key])
        if baseline == "mean":
            keys = keys - self.keys.mean(axis=0)
            relative_score -= float(self.scores.mean())
        elif baseline != "none":
            self._require_visible(baseline)
            keys = keys - self.keys[baseline]
            relative_score -= float(self.scores[baseline])
        products = self.queries @ keys.T
        remainder = relative_score - float(products.sum())
        return CellParts(self, key, baseline, products, relative_score, remainder)

    def _require_visible(self, position: int) -> None:
        """Raises `AnalysisError` if the query does not see the key at this position."""
        if position not in range(len(self.scores)):
            last = Index(len(self.scores) - 1)
            seen = "Choose from keys {first} to {last}." if last else "It sees only key {first}."
            values = {
                "query": Index(self.query),
                "key": Index(position),
                "first": Index(0),
                "last": last,
            }
            raise AnalysisError(f"Query {{query}} does not see key {{key}}. {seen}", **values)


@checks_arguments
@dataclass(frozen=True, eq=False)
class CellParts(ReadOnlyArrays):
    """An attention score, relative to a baseline, as a sum of products.

    Attributes:
        row: the scores of its query.
        key: see `RowParts.of_cell`.
        baseline: see `RowParts.of_cell`.
        products: [P, C], the part of each component of the query with each component of the key.
        total: the score minus the baseline.
        remainder: `total` minus the sum of `products`: rounding, or the effect of a user's hook.
    """

    row: RowParts
    key: int
    baseline: Baseline
    products: NDArray[np.float64]
    total: float
    remainder: float

    def table(self, opened_query: str = "", opened_key: str = "") -> "PartsTable":
        """The products in at most `MAX_GROUPS` rows and columns and “others”, with the same total.

        Args:
            opened_query, opened_key: the name of a group that is shown by component; empty for all
                groups.

        Raises:
            AnalysisError: there is no such group.
        """
        rows = _chosen_groups(self.row.query_components, self.products, opened_query)
        columns = _chosen_groups(self.row.key_components, self.products.T, opened_key)
        values = [
            [self.products[np.ix_(row.places, column.places)].sum() for column in columns]
            for row in rows
        ]
        return PartsTable(rows, columns, np.array(values))


@dataclass(frozen=True, eq=False)
class PartsTable(ReadOnlyArrays):
    """Sums of products.

    Attributes:
        rows: components of the query.
        columns: components of the key.
        values: the sum of the products of each row and column.
    """

    rows: tuple[ComponentGroup, ...]
    columns: tuple[ComponentGroup, ...]
    values: NDArray[np.float64]


MAX_GROUPS = 8
OTHERS = "others"


def _chosen_groups(
    components: Sequence[Component], products: NDArray[np.float64], opened: str
) -> tuple[ComponentGroup, ...]:
    """The groups with the largest products [P, any], or the members of one; then “others”."""
    groups = group_components(components)
    if opened not in ("", *(group.name for group in groups)):
        names = ", ".join(group.name for group in groups)
        raise AnalysisError(f"There is no group {opened!r} of components. Choose one of {names}.")
    for group in groups:
        if group.name == opened:
            members = [(components[index], index) for index in group.places]
            groups = tuple(
                ComponentGroup(name_in_stack(component), component.title, (index,))
                for component, index in members
            )
    if len(groups) > MAX_GROUPS:
        sizes = [np.abs(products[list(group.places)].sum(axis=0)).sum() for group in groups]
        groups = tuple(groups[index] for index in sorted(np.argsort(sizes)[-MAX_GROUPS:]))
    shown = {index for group in groups for index in group.places}
    others = tuple(index for index in range(len(components)) if index not in shown)
    return (*groups, ComponentGroup(OTHERS, "All others", others)) if others else groups
