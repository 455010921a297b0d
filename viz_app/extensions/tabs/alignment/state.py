"""Links between the words of a sentence and those of its translation, and which maps give the best
ones. No Qt.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from augenmerk.core.counting import display_text
from augenmerk.core.maps.measures import MEASURES
from augenmerk.core.model.heads import Head
from augenmerk.core.quantities import counted, percent
from augenmerk.core.translation.result import FloatArray

from ....state.experiment_state import ExperimentState
from ....state.map_source import hides_nothing
from ....state.tab_contents import content

if TYPE_CHECKING:  # these import torch, which is of the worker's thread
    from augenmerk.core.extensions.analyses.alignment_ranking import (
        Aligner,
        AlignerRanking,
        AlignerScore,
    )


@dataclass(frozen=True, eq=False)
class Links:
    """The strength of the link between each target word and each source word.

    Attributes:
        sources: S words, start and end left out.
        targets: T words, start and end left out.
        strengths: [T, S], from 0 to 1: weights unchanged; lengths relative to the longest.
        best: for each target word the source word with the strongest link.
        new_sources: source words that the original does not have.
        new_targets: target words that the original does not have.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    strengths: FloatArray
    best: tuple[int, ...]
    new_sources: frozenset[int] = frozenset()
    new_targets: frozenset[int] = frozenset()

    def shown(self, threshold: float) -> list[tuple[int, int, float]]:
        """Target, source and strength of all links of at least `threshold`, and of each target's
        strongest one.
        """
        targets, sources = np.nonzero(self.strengths >= threshold)
        pairs = {*zip(targets.tolist(), sources.tolist(), strict=True), *enumerate(self.best)}
        return sorted(
            (target, source, float(self.strengths[target, source])) for target, source in pairs
        )


class AlignmentState:
    """The state of the tab *Alignment*.

    Attributes:
        state: the current experiment.
        threshold: weaker links are not drawn, except the strongest of each target word.
        ranking: of the current model; None before it is computed.
    """

    threshold: float = content("alignment_threshold")

    def __init__(self, state: ExperimentState) -> None:
        self.state = state
        self.ranking: AlignerRanking | None = None

    def links(self) -> Links | None:
        """The links of the large map; None if it does not go from target to source, or no word is
        left.

        Words are always whole and only start and end are left out, independent of the settings of
        the large map. While a difference is shown, the links are those of the changed maps.
        """
        shown = self.state.maps.shown
        if self.state.result is None or self.state.selection.head.kind != "cross":
            return None
        maps = self.state.maps.with_settings(
            shown="changed" if shown == "difference" else shown,
            merges_words=True,
            hides_wrapping=True,
            hides_punctuation=False,
        )
        view = maps.view()
        if view is None or hides_nothing(maps):
            return None
        weights = view.weights
        top = max(1.0, float(weights.max()))
        new_targets, new_sources = maps.new_entries("cross")
        return Links(
            sources=view.labelled.keys.labels,
            targets=view.labelled.queries.labels,
            strengths=weights / np.float32(top),
            best=tuple(weights.argmax(axis=-1).tolist()),
            new_sources=new_sources,
            new_targets=new_targets,
        )

    @property
    def which_maps(self) -> str:
        """A sentence that names the maps of these links; empty if there is only one translation."""
        result = self.state.result
        if result is None or not result.is_changed:
            return ""
        if self.state.maps.shown == "difference":
            return "Links of the changed maps, as a difference has none."
        return f"Links of the {self.state.maps.shown} maps."

    def ranked(self) -> "list[AlignerScore]":
        """Aligners and baselines by error rate on the choosing half; empty until known."""
        if self.ranking is None:
            return []
        return sorted(
            (*self.ranking.scores, *self.ranking.baselines), key=lambda score: score.choosing.aer
        )

    def show(self, aligner: "Aligner") -> None:
        """Show the map that an aligner reads: its head, or the mean of several; its label mode and
        its measure.
        """
        settings = self.state.settings
        self.state.intents.choose_head(Head("cross", aligner.layer or 0, aligner.head or 0))
        settings.label_mode = aligner.label_mode
        settings.combination = "mean"
        if aligner.layer is None:
            settings.scope = "all"
        else:
            has_own_maps = aligner.kind in MEASURES[aligner.measure].per_head
            settings.scope = "layer" if aligner.head is None and has_own_maps else "head"
        settings.measure = aligner.measure


def cells(score: "AlignerScore") -> tuple[str, ...]:
    """A row of the table: error rate reported, that chosen by, layer, head, rows, measure."""
    rates = percent(score.reporting.aer, 1), percent(score.choosing.aer, 1)
    aligner = score.aligner
    if aligner is None:
        return (*rates, "–", "–", "–", score.name)
    layer = "all" if aligner.layer is None else str(aligner.layer + 1)
    head = "all" if aligner.head is None else str(aligner.head + 1)
    return (*rates, layer, head, aligner.label_mode, MEASURES[aligner.measure].name)


def summary(ranking: "AlignerRanking") -> str:
    """The best aligner and the baselines, in sentences."""
    if ranking.best is None:
        return ""
    best = percent(ranking.best.reporting.aer, 1)
    others = ", ".join(
        f"{baseline.name} {percent(baseline.reporting.aer, 1)}" for baseline in ranking.baselines
    )
    pairs = "1 pair was" if ranking.num_skipped == 1 else f"{ranking.num_skipped} pairs were"
    skipped = f" {pairs} skipped: the model splits other words." if ranking.num_skipped else ""
    text = (
        f"Best alignment error rate: {best}; {others}. Chosen on "
        f"{counted(ranking.num_choosing, 'pair')} aligned by hand, reported on "
        f"{counted(ranking.num_reporting, 'other')}.{skipped} Click a row to show it."
    )
    return "\n".join((text, *map(display_text, ranking.notes)))
