"""The origin of the pinned pair's weight: query times key, dimension by dimension. No Qt, no torch."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from psygnal import SignalGroupDescriptor

from augenmerk.core.analysis.trace import QueryKeyDetail, Trace, query_key_detail
from augenmerk.core.quantities import number
from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.state.experiment_state import ExperimentState, RequestState

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SCORE_DECIMALS = 4
"""Enough for the exponential of a score to have four correct digits."""


@dataclass
class WeightExplanation:
    """The state of the explanation of the pinned pair's weight.

    Attributes:
        is_open: whether it is; a field with an event.
        request: the queries and keys that are awaited.
    """

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    is_open: bool = False

    def __post_init__(self) -> None:
        self.request = RequestState()
        self._known: tuple[Translation, Trace] | None = None

    def trace_of(self, translation: Translation | None) -> Trace | None:
        """Queries and keys of a translation; None if they are not known."""
        known = self._known
        return known[1] if known is not None and known[0] is translation else None

    def take(self, translation: Translation, trace: Trace) -> None:
        """Queries and keys of a translation have become known."""
        self._known = translation, trace


@dataclass(frozen=True, eq=False)
class QueryKeyView:
    """The products that give the pinned pair's weight.

    Attributes:
        detail: of one query and one key token.
        tokens: the two, in words.
        row_scores: [M], the attention scores of all keys of this query as the softmax takes them, divided by the
            head's temperature; −∞ where the mask hides a key.
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
        """The meaning of the numbers, and the step from the score to the weight, to be checked by calculator."""
        detail, width, temperature = self.detail, len(self.detail.products), self.detail.temperature
        score = number(detail.score, SCORE_DECIMALS)
        sums = f"Σ of {width} products qᵢ·kᵢ / √{width} = attention score {score}."
        biases = " ".join(filter(None, ("q and k include their biases; nothing else is added.", self.whose)))
        if not detail.is_visible:
            return f"{sums} The mask hides this key from the query: its weight is 0. {biases}"
        visible = self.row_scores[np.isfinite(self.row_scores)]
        scores = f"exp(scores of {len(visible)} keys)"
        if temperature != 1:
            score, scores = f"{score} / {temperature:g}", f"exp(scores of {len(visible)} keys / {temperature:g})"
        power, total = np.exp(detail.score / temperature), np.exp(visible).sum()
        softmax = f"exp({score}) / Σ {scores} = {_digits(power)} / {_digits(total)} = weight {detail.weight:.3f}"
        return f"{sums} Softmax: {softmax}. {biases}"

    def tip(self, dimension: int) -> str:
        """One product in words."""
        detail, root = self.detail, len(self.detail.products)
        return (
            f"dimension {dimension + 1}: {number(detail.query_vector[dimension])} × "
            f"{number(detail.key_vector[dimension])} / √{root} = {number(detail.products[dimension], 3)}\n"
            f"sum up to here {number(self.running[dimension], 3)}"
        )


def query_key_view(state: ExperimentState, explanation: WeightExplanation) -> QueryKeyView | str:
    """The products that give the pinned pair's weight in the translation shown, or a sentence on the missing part.

    For a difference, the changed translation is explained.
    """
    translation, pair, head = state.maps.translation, state.selection.pinned, state.selection.head
    if translation is None or pair is None:
        return "Pin a cell: click one in the heatmap."
    if state.settings.scope != "head":
        return "Several heads are shown together. Choose a single head to explain its weights."
    num_queries, num_keys = translation.maps.of_kind(head.kind).shape[-2:]
    if pair.query >= num_queries or pair.key >= num_keys:
        return "The pinned cell is not in the current map."
    if any(row.head == head and row.row == pair.query for row in translation.experiment.attention_rows):
        return "These weights were set by hand: they do not come from queries and keys."
    trace = explanation.trace_of(translation)
    if trace is None:
        if state.current is None:
            return "Waiting for the current model."
        return explanation.request.problem or "Reading queries and keys…"
    detail = query_key_detail(trace, head, pair.query, pair.key)
    keys = trace.of_kind(head.kind).keys[head.layer, head.head]
    scores = (keys.astype(np.float64) @ detail.query_vector.astype(np.float64)) / np.sqrt(len(detail.query_vector))
    scores /= detail.temperature
    if head.kind == "decoder" and not trace.lifts_mask:
        scores[pair.query + 1 :] = -np.inf
    query, key = _tokens(state, translation)
    whose = ""
    if state.maps.shown == "difference":
        whose = "This explains the weight of the changed translation, not the difference."
    elif state.maps.shown == "original":
        whose = "This explains the weight of the original translation."
    return QueryKeyView(detail, f"{query} → {key}", scores, whose)


def _tokens(state: ExperimentState, translation: Translation) -> tuple[str, str]:
    """The tokens of the pinned pair, whole words not merged."""
    pair, kind, mode = state.selection.pinned, state.selection.head.kind, state.settings.label_mode
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
