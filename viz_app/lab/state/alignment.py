"""Links between the words of a sentence and those of its translation. No Qt, no torch."""

from dataclasses import dataclass

import numpy as np

from core.analysis.selection import Selection, combine
from core.translation.result import FloatArray
from viz_app.state.progress import Awaited
from viz_app.state.translate_state import TranslateState

USUAL_THRESHOLD = 0.2


@dataclass(frozen=True, eq=False)
class Links:
    """How strongly each target word is tied to each source word.

    Attributes:
        sources, targets: S and T words, start and end left out.
        strengths: [T, S], from 0 to 1: weights as they are; lengths over the longest.
        best: for each target word the source word that it is tied to most.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    strengths: FloatArray
    best: tuple[int, ...]

    def shown(self, threshold: float) -> list[tuple[int, int, float]]:
        """Target, source and strength of all links of at least `threshold`, and of each target's strongest one."""
        target, source = np.nonzero(self.strengths >= threshold)
        pairs = {*zip(target.tolist(), source.tolist(), strict=True), *enumerate(self.best)}
        return sorted((row, column, float(self.strengths[row, column])) for row, column in pairs)


class AlignmentState:
    """What the tab *Alignment* knows.

    Attributes:
        threshold: weaker links are not drawn, but for the strongest of each target word.
        awaited: the ranking that is to come.
    """

    def __init__(self, page: TranslateState) -> None:
        self._page = page
        self.threshold = USUAL_THRESHOLD
        self.awaited = Awaited()

    def links(self) -> Links | None:
        """The links of the map that is shown large; None if it does not go from target to source."""
        page, translation = self._page, self._page.translation
        if translation is None or page.choice.kind != "cross":
            return None
        maps = page.maps(translation, "cross")
        one = combine(maps, page.combination, page.heads(page.choice, (maps.shape[0], maps.shape[1])))
        selection = Selection(page.label_mode, merge_words=True, hide=frozenset({"start", "end"}))
        labelled = selection.apply(one, translation, "cross")
        if not (len(labelled.rows) and len(labelled.columns)):
            return None
        weights = labelled.weights
        top = max(1.0, float(weights.max()))
        return Links(
            sources=labelled.columns.labels,
            targets=labelled.rows.labels,
            strengths=weights / np.float32(top),
            best=tuple(weights.argmax(axis=-1).tolist()),
        )
