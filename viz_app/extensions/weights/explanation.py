"""The origin of the pinned pair's weight: query times key, by dimension or by component.

No Qt, no torch.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from psygnal import SignalGroupDescriptor

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.analyses.parts import (
    Baseline,
    CellParts,
    Component,
    PartsTable,
    RowParts,
    group_components,
)
from augenmerk.core.extensions.analyses.weight_origin import QueryKeyDetail, query_key_detail
from augenmerk.core.maps.trace import Trace
from augenmerk.core.model.heads import Head
from augenmerk.core.quantities import number
from augenmerk.core.translation.result import Translation

from ...state.experiment_state import ExperimentState, RequestState
from ...state.map_view import Pair

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SCORE_DECIMALS = 4
"""Decimals of a score, enough for four correct digits of its exponential."""


@dataclass
class WeightExplanation:
    """The state of the explanation of the pinned pair's weight.

    Attributes:
        is_open: whether it is; a field with an event, as the next three.
        view: by dimension of the head, or by component of query and key.
        baseline: the subtrahend of the score that is split into components.
        opened: names of the groups of the query's and the key's components that are open; empty for
            none.
        request: the queries and keys that are awaited.
    """

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    is_open: bool = False
    view: Literal["dimensions", "components"] = "dimensions"
    baseline: Baseline = "mean"
    opened: tuple[str, str] = "", ""

    def __post_init__(self) -> None:
        self.request = RequestState()
        self._known: tuple[Translation, Trace] | None = None
        self._row: tuple[Translation, RowParts] | None = None

    def trace_of(self, translation: Translation | None) -> Trace | None:
        """Queries and keys of a translation; None if they are not known."""
        known = self._known
        return known[1] if known is not None and known[0] is translation else None

    def row_of(self, translation: Translation, head: Head, query: int) -> RowParts | None:
        """The parts of a query's scores; None if they are not known."""
        known = self._row
        is_it = (
            known is not None
            and known[0] is translation
            and (known[1].head, known[1].query) == (head, query)
        )
        return known[1] if known is not None and is_it else None

    def take(self, translation: Translation, answer: Trace | RowParts) -> None:
        """Accepts queries and keys of a translation, or the parts of a query's scores."""
        if isinstance(answer, Trace):
            self._known = translation, answer
        else:
            self._row = translation, answer


@dataclass(frozen=True, eq=False)
class QueryKeyView:
    """The products that give the pinned pair's weight.

    Attributes:
        detail: of one query and one key token.
        tokens: the two, in words.
        row_scores: [M], the attention scores of all keys of this query as the softmax takes them,
            divided by the head's temperature; −∞ where the mask hides a key.
        whose: names the explained one of two translations; empty if there is only one.
    """

    detail: QueryKeyDetail
    tokens: str
    row_scores: NDArray[np.float64]
    whose: str = ""

    @property
    def running(self) -> NDArray[np.float64]:
        """[K], the sum of the products up to each dimension."""
        return np.cumsum(self.detail.products, dtype=np.float64)

    @property
    def sentence(self) -> str:
        """The meaning of the numbers, and the step from score to weight, for a calculator."""
        detail = self.detail
        width = len(self.detail.products)
        temperature = self.detail.temperature
        score = number(detail.score, SCORE_DECIMALS)
        sums = f"Σ of {width} products qᵢ·kᵢ / √{width} = attention score {score}."
        biases = " ".join(
            filter(None, ("q and k include their biases; nothing else is added.", self.whose))
        )
        if not detail.is_visible:
            return f"{sums} The mask hides this key from the query: its weight is 0. {biases}"
        visible = self.row_scores[np.isfinite(self.row_scores)]
        scores = f"exp(scores of {len(visible)} keys)"
        if temperature != 1:
            score = f"{score} / {temperature:g}"
            scores = f"exp(scores of {len(visible)} keys / {temperature:g})"
        power = np.exp(detail.score / temperature)
        total = np.exp(visible).sum()
        softmax = (
            f"exp({score}) / Σ {scores} = {_digits(power)} / {_digits(total)} = weight "
            f"{detail.weight:.3f}"
        )
        return f"{sums} Softmax: {softmax}. {biases}"

    def tip(self, dimension: int) -> str:
        """One product in words."""
        detail = self.detail
        root = len(self.detail.products)
        return (
            f"dimension {dimension + 1}: {number(detail.query_vector[dimension])} × "
            f"{number(detail.key_vector[dimension])} / √{root} = "
            f"{number(detail.products[dimension], 3)}\n"
            f"sum up to here {number(self.running[dimension], 3)}"
        )


@dataclass(frozen=True, eq=False)
class ComponentsView:
    """The components of query and key that give the pinned pair's attention score.

    Attributes:
        cell: the parts of the score.
        table: these in groups.
        tokens: the query, whose components are rows, and the key, whose components are columns, in
            words.
        temperature: the head's.
        opened: the names of the open groups of query and key; empty for none.
        keys: the visible keys, in words.
        whose: names the explained one of two translations; empty if there is only one.
    """

    cell: CellParts
    table: PartsTable
    tokens: str
    temperature: float
    opened: tuple[str, str]
    keys: tuple[str, ...]
    whose: str = ""

    @property
    def baselines(self) -> dict[str, tuple[str, str]]:
        """The possible subtrahends by name: short for a button, and for a menu."""
        others = {
            str(key): (f"“{text}”", f"The score of “{text}”, key {key + 1}")
            for key, text in enumerate(self.keys)
            if key != self.cell.key
        }
        mean = ("mean", "The mean of all keys")
        none = ("nothing", "Nothing: the attention score alone")
        return {"mean": mean, "none": none} | others

    @property
    def sentence(self) -> str:
        """The sum that the table splits."""
        cell = self.cell
        scores = self.cell.row.scores
        tempered = "" if self.temperature == 1 else f", divided by temperature {self.temperature:g}"
        total = f"Attention score {number(float(scores[cell.key]))}{tempered}"
        lead = f"{number(abs(cell.total))} {'below' if cell.total < 0 else 'above'}"
        if cell.baseline == "mean":
            total += f", {lead} the mean of {len(scores)} keys ({number(float(scores.mean()))})"
        elif cell.baseline != "none":
            total += (
                f", {lead} that of “{self.keys[cell.baseline]}” "
                f"({number(float(scores[cell.baseline]))})"
            )
        rest = (
            f" Remainder: {number(cell.remainder)}."
            if abs(cell.remainder) >= LEAST_REMAINDER
            else ""
        )
        return " ".join(filter(None, (f"{total}: the sum of this table.{rest}", self.whose)))

    def tip(self, row: int, column: int) -> str:
        """One cell of the table in words."""
        value = number(float(self.table.values[row, column]), signed=True)
        query, key = map(
            display_text, (self.table.rows[row].title, self.table.columns[column].title)
        )
        hint = CLOSE_GROUPS if any(self.opened) else OPEN_GROUPS
        return (
            f"Query: {query}\nKey: {key}\n{value} of {number(self.cell.total, signed=True)}\n{hint}"
        )


LEAST_REMAINDER = 0.005
"""Least remainder that is mentioned: a smaller one would be shown as 0.00."""
OPEN_GROUPS, CLOSE_GROUPS = (
    "Click a label or a cell to open its groups.",
    "Click again to close the groups.",
)
Subject = tuple[Translation, Pair, Head]


def explained_pair(state: ExperimentState) -> Subject | str:
    """The translation, pair and head to explain, or a sentence on the missing part.

    The translation is that of the maps shown; for a difference, the changed one.
    """
    translation = state.maps.translation
    pair = state.selection.pinned
    head = state.selection.head
    if translation is None or pair is None:
        return "Pin a cell: click one in the heatmap."
    if state.settings.scope != "head":
        return "Several heads are shown together. Choose a single head to explain its weights."
    num_queries, num_keys = translation.maps.of_kind(head.kind).shape[-2:]
    if pair.query >= num_queries or pair.key >= num_keys:
        return "The pinned cell is not in the current map."
    if any(
        row.head == head and row.row == pair.query for row in translation.experiment.attention_rows
    ):
        return "These weights were set by hand: they do not come from queries and keys."
    return translation, pair, head


def query_key_view(state: ExperimentState, explanation: WeightExplanation) -> QueryKeyView | str:
    """The products of dimensions that give the pinned weight, or a sentence on what is missing."""
    subject = explained_pair(state)
    if isinstance(subject, str):
        return subject
    translation, pair, head = subject
    trace = explanation.trace_of(translation)
    if trace is None:
        return _awaited(state, explanation)
    detail = query_key_detail(trace, head, pair.query, pair.key)
    keys = trace.of_kind(head.kind).keys[head.layer, head.head]
    scores = (keys.astype(np.float64) @ detail.query_vector.astype(np.float64)) / np.sqrt(
        len(detail.query_vector)
    )
    scores /= detail.temperature
    if head.kind == "decoder" and not trace.lifts_mask:
        scores[pair.query + 1 :] = -np.inf
    return QueryKeyView(detail, " → ".join(_tokens(state, translation)), scores, _whose(state))


def components_view(state: ExperimentState, explanation: WeightExplanation) -> ComponentsView | str:
    """The components that give the pinned score, or a sentence on what is missing."""
    subject = explained_pair(state)
    if isinstance(subject, str):
        return subject
    translation, pair, head = subject
    row = explanation.row_of(translation, head, pair.query)
    if row is None:
        return _awaited(state, explanation)
    num_visible = len(row.scores)
    if pair.key >= num_visible:
        return "The mask hides this key from the query: its attention score has no effect."
    keys = (translation.read_tokens if head.kind == "decoder" else translation.source_tokens)[
        :num_visible
    ]
    baseline = explanation.baseline
    if isinstance(baseline, int) and (baseline >= num_visible or baseline == pair.key):
        baseline = "mean"
    cell = row.of_cell(pair.key, baseline)
    query, key = explanation.opened
    query = query if query in _group_names(row.query_components) else ""
    key = key if key in _group_names(row.key_components) else ""
    temperatures = {
        temperature.head: temperature.temperature
        for temperature in translation.experiment.temperatures
    }
    return ComponentsView(
        cell,
        cell.table(query, key),
        "{} (rows) → {} (columns)".format(*_tokens(state, translation)),
        temperatures.get(head, 1.0),
        (query, key),
        keys,
        _whose(state),
    )


def _group_names(components: Sequence[Component]) -> list[str]:
    return [group.name for group in group_components(components)]


def _awaited(state: ExperimentState, explanation: WeightExplanation) -> str:
    if state.current is None:
        return "Waiting for the current model."
    return explanation.request.problem or "Reading queries and keys…"


def _whose(state: ExperimentState) -> str:
    if state.maps.shown == "difference":
        return "This explains the weight of the changed translation, not the difference."
    return (
        "This explains the weight of the original translation."
        if state.maps.shown == "original"
        else ""
    )


def _tokens(state: ExperimentState, translation: Translation) -> tuple[str, str]:
    """The tokens of the pinned pair, whole words not merged."""
    pair = state.selection.pinned
    kind = state.selection.head.kind
    mode = state.settings.label_mode
    assert pair is not None
    key = (translation.read_tokens if kind == "decoder" else translation.source_tokens)[pair.key]
    if kind == "encoder":
        return f"reading {translation.source_tokens[pair.query]}", key
    if mode == "predicted":
        return f"predicting {translation.predicted_tokens[pair.query]}", key
    return f"reading {translation.read_tokens[pair.query]}", key


def _digits(value: float) -> str:
    """A positive number with five significant digits: 16,828 or 9.1188·10⁻⁴."""
    exponent = math.floor(math.log10(value))
    if -3 <= exponent < 7:
        return f"{value:,.{max(0, 4 - exponent)}f}"
    return f"{value / 10.0**exponent:.4f}·10{str(exponent).translate(SUPERSCRIPT)}"
