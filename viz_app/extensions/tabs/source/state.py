"""The share of the source in each output word, and the change without each source word.

No Qt, no torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from augenmerk.core.extensions.analyses.contributions import (
    Contributions,
    ShareWarning,
    share_warnings,
)
from augenmerk.core.extensions.analyses.occlusion import SourceChanges
from augenmerk.core.maps.comparing import common_subsequence
from augenmerk.core.maps.selection import is_hidden
from augenmerk.core.translation.experiment import SourceEdit, SourceWordRemoved, SourceWordReplaced
from augenmerk.core.translation.result import Translation

from ....state.experiment_editor import intervene, remove
from ....state.experiment_state import ExperimentState


@dataclass(frozen=True, eq=False)
class SourceFindings:
    """The results for one translation.

    Attributes:
        contributions: shares of source and prefix in each output word.
        changes: every source word removed in turn; empty if none can be.
        problem: the reason if none can be removed; else empty.
        original: the same of the original; None if nothing is changed.
    """

    contributions: Contributions
    changes: SourceChanges
    problem: str = ""
    original: "SourceFindings | None" = None

    def shares(self) -> tuple[tuple[str, ...], list[float]]:
        """The output words, the end last, and the share of the source in each."""
        return (
            self.contributions.of_source().queries.labels,
            self.contributions.source_share_of_words().tolist(),
        )

    def mean_share(self) -> float | None:
        """The mean share of the source over all words without the end; None if there is no word."""
        shares = [
            share
            for label, share in zip(*self.shares(), strict=True)
            if not is_hidden(label, {"end"})
        ]
        return sum(shares) / len(shares) if shares else None


@dataclass(frozen=True)
class OutputShare:
    """An output word, or the end.

    Attributes:
        word: as shown.
        source: the share of the source in it, from 0 to 1; the rest comes from the previous words.
        parts: the source words with the largest shares in it.
        warning: set if the word depends on the source very little.
        before: the share of the source in the original's word; None if the original has no such
            word.
        is_new: whether something is changed, and the original has no such word.
    """

    word: str
    source: float
    parts: tuple[tuple[str, float], ...]
    warning: ShareWarning | None
    before: float | None = None
    is_new: bool = False


@dataclass(frozen=True)
class SourceWord:
    """A word of the source as typed.

    Attributes:
        place: of the word.
        text: of the word.
        edit: the experiment's change of the word; None if there is none.
        change: the change of the translation's log-probability without the word or its replacement,
            in nats; None if the word is removed already, or the change is unknown.
        without: the translation after that; None if it is unknown.
        before: the change in the original; None if nothing is changed, or it is unknown.
    """

    place: int
    text: str
    edit: SourceEdit | None
    change: float | None
    without: str | None
    before: float | None = None


class SourceState:
    """The state of the tab *Source*.

    Attributes:
        state: the current experiment.
        findings: of its translation; None while unknown.
        without: the known translations, by place, without one of its words.
        place: the source word clicked last, which can be replaced; None if none was clicked.
    """

    def __init__(self, state: ExperimentState) -> None:
        self.state = state
        self.findings: SourceFindings | None = None
        self.without: Mapping[int, str] = {}
        self.place: int | None = None
        self._sentence = ""
        self._of_original: SourceFindings | None = None

    def follow_result(self) -> None:
        """Forget the findings of the previous result."""
        self.findings = None
        self.without = {}
        sentence = self.state.translation.source_text if self.state.translation is not None else ""
        if sentence != self._sentence:
            self._sentence = sentence
            self.place = None

    @property
    def original(self) -> Translation | None:
        """The original to compare with; None if nothing is changed."""
        result = self.state.result
        return result.original if result is not None and result.is_changed else None

    @property
    def known_original(self) -> SourceFindings | None:
        """The findings of the original from an earlier answer."""
        known = self._of_original
        return (
            known
            if known is not None and known.contributions.translation is self.original
            else None
        )

    def take(self, findings: SourceFindings) -> None:
        """Store findings."""
        self.findings = findings
        self._of_original = findings.original or findings

    def words(self) -> list[SourceWord]:
        """The words of the source as typed, before any removal or replacement."""
        original = self.state.original
        translation = self.state.translation
        findings = self.findings
        if original is None or translation is None:
            return []
        edits = {edit.place: edit for edit in translation.experiment.source_edits}
        changes = findings.changes.by_place if findings is not None else {}
        before = (
            findings.original.changes.by_place
            if findings is not None and findings.original is not None
            else {}
        )
        return [
            SourceWord(
                index,
                word.text,
                edits.get(index),
                changes.get(index),
                self.without.get(index),
                before.get(index),
            )
            for index, word in zip(original.source_places, original.source_words, strict=True)
        ]

    @property
    def places_to_translate(self) -> tuple[int, ...]:
        """The words without which the sentence has not been translated yet, in order."""
        changes = self.findings.changes.by_place if self.findings is not None else {}
        return tuple(index for index in changes if index not in self.without)

    def edit_of(self, index: int) -> SourceEdit | None:
        """The requested change of a source word; None if there is none."""
        return next(
            (edit for edit in self.state.experiment.source_edits if edit.place == index), None
        )

    def toggle(self, index: int) -> None:
        """Remove a source word, or restore one that is removed or replaced."""
        self.place = index
        edit = self.edit_of(index)
        self.state.submit(intervene(SourceWordRemoved(index)) if edit is None else remove(edit))

    def replace(self, text: str) -> bool:
        """Replace the word clicked last; False if that changes nothing."""
        if self.place is None or not text.strip():
            return False
        edit = SourceWordReplaced(self.place, text)
        if edit == self.edit_of(self.place):
            return False
        self.state.submit(intervene(edit))
        return True

    def shares(self) -> list[OutputShare]:
        """The output words, first to last; empty while they are unknown."""
        if self.findings is None:
            return []
        labelled = self.findings.contributions.of_source()
        original = self.findings.original
        warnings = {
            warning.steps: warning for warning in share_warnings(self.findings.contributions)
        }
        labels, shares = self.findings.shares()
        before: dict[int, float] = {}
        if original is not None:
            old_labels, old_shares = original.shares()
            before = {new: old_shares[old] for old, new in common_subsequence(old_labels, labels)}
        output_shares = []
        for row, (word, share) in enumerate(zip(labels, shares, strict=True)):
            parts = zip(labelled.keys.labels, labelled.weights[row].tolist(), strict=True)
            largest = tuple(sorted(parts, key=lambda part: -part[1])[:4])
            warning = warnings.get(labelled.queries.positions[row])
            is_new = original is not None and row not in before
            output_shares.append(
                OutputShare(word, share, largest, warning, before.get(row), is_new)
            )
        return output_shares
