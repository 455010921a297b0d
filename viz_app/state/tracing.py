"""Where the weight of the pinned cell comes from: query times key, dimension by dimension. No Qt, no torch."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.analysis.query_key import QueryKeyDetail, query_key_detail
from core.analysis.trace import Trace
from core.translation.result import Translation
from viz_app.state.translate_state import TranslateState


class Tracing:
    """Queries and keys of the translation that is shown.

    Attributes:
        is_open: whether the products are looked at.
        awaited_id: id of the newest request for queries and keys, None if its answer has come.
        problem: why there are none; empty if there is no problem.
    """

    def __init__(self) -> None:
        self.is_open = False
        self.awaited_id: int | None = None
        self.problem = ""
        self._known: tuple[Translation, Trace] | None = None
        self._had_cell = False

    def has_lost_its_cell(self, state: TranslateState) -> bool:
        """Whether a cell was pinned when this was asked before, and none is now."""
        had_cell, self._had_cell = self._had_cell, state.pinned is not None
        return had_cell and not self._had_cell

    def trace_of(self, translation: Translation | None) -> Trace | None:
        """What is known of a translation."""
        known = self._known
        return known[1] if known is not None and known[0] is translation else None

    def await_trace(self, request_id: int) -> None:
        """From now on only the answer to this request counts."""
        self.awaited_id, self.problem = request_id, ""

    def accept(self, request_id: int, translation: Translation, trace: Trace) -> bool:
        """Keeps an answer if it is the awaited one."""
        if request_id != self.awaited_id:
            return False
        self.awaited_id, self._known = None, (translation, trace)
        return True

    def refuse(self, request_id: int, message: str) -> bool:
        """There will be no answer; False if a newer one is awaited."""
        if request_id != self.awaited_id:
            return False
        self.awaited_id, self.problem = None, message
        return True


@dataclass(frozen=True, eq=False)
class QueryKeyView:
    """The products behind the pinned cell.

    Attributes:
        detail: of one query and one key token.
        tokens: the two, in words.
        row_logits: [M], the logits of the whole row; −∞ where the mask hides a key.
    """

    detail: QueryKeyDetail
    tokens: str
    row_logits: NDArray[np.float64]

    @property
    def running(self) -> NDArray[np.float64]:
        """[K], the sum of the products up to each dimension."""
        return np.cumsum(self.detail.products, dtype=np.float64)

    @property
    def sentence(self) -> str:
        """What the numbers are, and how the logit becomes the weight."""
        detail, width = self.detail, len(self.detail.products)
        sums = f"Σ of {width} products qᵢ·kᵢ / √{width} = logit {_signed(detail.logit)}."
        biases = "q and k hold their biases; nothing else is added to the sum."
        if not detail.is_visible:
            return f"{sums} The mask hides this key from the query: its weight is 0. {biases}"
        whole = float(np.logaddexp.reduce(self.row_logits))
        softmax = f"exp({_signed(detail.logit)} − {_signed(whole)}) = weight {detail.weight:.3f}"
        return f"{sums} Softmax over the row: {softmax}. {biases}"

    def tip(self, dimension: int) -> str:
        """One product in words."""
        detail, root = self.detail, len(self.detail.products)
        return (
            f"dimension {dimension + 1}: {_signed(detail.query_vector[dimension])} × "
            f"{_signed(detail.key_vector[dimension])} / √{root} = {_signed(detail.products[dimension], 3)}\n"
            f"sum up to here {_signed(self.running[dimension], 3)}"
        )


def query_key_view(state: TranslateState, tracing: Tracing) -> QueryKeyView | str:
    """The products behind the pinned cell, or what is missing to show them."""
    translation, cell, choice = state.translation, state.pinned, state.choice
    if translation is None or cell is None:
        return "Pin a cell: click one in the heatmap."
    if state.scope != "head":
        return "Several heads are shown together. Choose one head alone to see its products."
    trace = tracing.trace_of(translation)
    if trace is None:
        return tracing.problem or "Reading queries and keys …"
    detail = query_key_detail(trace, choice, cell.row, cell.column)
    rows, columns = state.row_labels(), state.column_labels()
    keys = trace.of_kind(choice.kind).keys[choice.layer, choice.head]
    logits = (keys.astype(np.float64) @ detail.query_vector.astype(np.float64)) / np.sqrt(len(detail.query_vector))
    if choice.kind == "decoder":
        logits[cell.row + 1 :] = -np.inf
    verb = "predicting" if state.label_mode == "predicted" and choice.kind != "encoder" else "reading"
    return QueryKeyView(detail, f"{verb} {rows[cell.row]} → {columns[cell.column]}", logits)


def _signed(value: float, digits: int = 2) -> str:
    """With a typographic minus."""
    return f"{value:.{digits}f}".replace("-", "−")
