"""Links between the words of a sentence and those of its translation. No Qt, no torch."""

from dataclasses import dataclass

import numpy as np

from core.analysis.measures import Measure
from core.analysis.selection import LabelMode, Selection, combine
from core.translation.result import FloatArray
from viz_app.state.measuring import SHORT_NAMES
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


@dataclass(frozen=True)
class RankedAligner:
    """One line of the ranking: a way of reading links off the model, or a baseline.

    Attributes:
        name: of a baseline; empty for an aligner.
        layer, head: counted from 0; None for the mean of all layers, or of all heads.
        label_mode, measure: see `core.analysis.alignment_ranking.Aligner`; None of a baseline.
        choosing, reporting: alignment error rate on the half that it was chosen by, and on the other.
    """

    name: str
    layer: int | None
    head: int | None
    label_mode: LabelMode | None
    measure: Measure | None
    choosing: float
    reporting: float

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands in the table: error rate reported, that chosen by, layer, head, rows, measure."""
        rates = (f"{100 * self.reporting:.1f} %", f"{100 * self.choosing:.1f} %")
        if self.measure is None:
            return (*rates, "–", "–", "–", self.name)
        layer = "all" if self.layer is None else str(self.layer + 1)
        head = "all" if self.head is None else str(self.head + 1)
        return (*rates, layer, head, str(self.label_mode), SHORT_NAMES[self.measure])


@dataclass(frozen=True)
class RankedAligners:
    """All ways of reading links off a model, the best on the choosing half first, and the baselines.

    Attributes:
        aligners, baselines: lines of the ranking.
        num_choosing, num_reporting, num_skipped: gold pairs in each half, and those that the model could not read.
    """

    aligners: tuple[RankedAligner, ...]
    baselines: tuple[RankedAligner, ...]
    num_choosing: int
    num_reporting: int
    num_skipped: int

    @property
    def in_order(self) -> tuple[RankedAligner, ...]:
        """Aligners and baselines by the error rate on the choosing half."""
        return tuple(sorted((*self.aligners, *self.baselines), key=lambda each: each.choosing))

    @property
    def summary(self) -> str:
        """The best one beside the baselines."""
        best = self.aligners[0]
        others = ", ".join(f"{each.name} {100 * each.reporting:.1f} %" for each in self.baselines)
        skipped = f" {self.num_skipped} pairs were left out: the model cuts other words." if self.num_skipped else ""
        return (
            f"Best: {100 * best.reporting:.1f} % of links wrong (AER); {others}. Chosen on {self.num_choosing} pairs "
            f"aligned by hand, reported on {self.num_reporting} others.{skipped} Click a row to see it."
        )


class AlignmentState:
    """What the tab *Alignment* knows.

    Attributes:
        threshold: weaker links are not drawn, but for the strongest of each target word.
        ranking: of the model in use, None until someone asked.
        awaited: the ranking that is to come.
    """

    def __init__(self, page: TranslateState) -> None:
        self._page = page
        self.threshold = USUAL_THRESHOLD
        self.ranking: RankedAligners | None = None
        self.awaited = Awaited()

    def forget_model(self) -> None:
        """Another model: its heads are others."""
        self.ranking = None
        self.awaited.forget()

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
