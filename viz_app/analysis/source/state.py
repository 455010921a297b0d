"""What comes from the source, and what depends on each of its words. No Qt, no torch."""

from collections.abc import Mapping
from dataclasses import dataclass

from augenmerk.core.analysis.comparing import common_subsequence
from augenmerk.core.analysis.contributions import Contributions, ShareWarning, share_warnings
from augenmerk.core.analysis.occlusion import SourceChanges
from augenmerk.core.analysis.selection import is_hidden
from augenmerk.core.translation.experiment import SourceEdit, SourceWordRemoved, SourceWordReplaced
from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.state.experiment_editor import intervene, remove
from augenmerk.viz_app.state.experiment_state import ExperimentState


@dataclass(frozen=True, eq=False)
class SourceFindings:
    """What was computed for one translation.

    Attributes:
        contributions: shares of source and prefix in each output word.
        changes: every source word removed in turn; None if none could be.
        problem: why none could be; empty if they could.
        original: the same of the original; None where nothing is changed.
    """

    contributions: Contributions
    changes: SourceChanges | None
    problem: str = ""
    original: "SourceFindings | None" = None


@dataclass(frozen=True)
class OutputShare:
    """An output word, or the end.

    Attributes:
        word: as it is shown.
        source: the share of the source in it, from 0 to 1; the rest comes from the words before it.
        parts: the source words that gave it most, with their shares.
        warning: why it deserves a look; None for most words.
        before: the share of the source in the original's word; None where the original has no such word.
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
        edit: what the experiment does to it; None if nothing.
        change: how much the log-probability of the translation changes if the word, or what stands in its place, is
            removed, in nats; None if it is removed already, or that is not known.
        without: the translation after that; None if that is not known yet.
        before: the change in the original; None where nothing is changed, or it is not known.
    """

    place: int
    text: str
    edit: SourceEdit | None
    change: float | None
    without: str | None
    before: float | None = None


class SourceState:
    """What the tab *Source* knows.

    Attributes:
        state: the experiment that is shown.
        findings: of its translation; None until they are known.
        without: the translations, by place, without one of its words, as far as they are known.
        place: the source word that was clicked last, in whose place another may be typed; None before.
    """

    def __init__(self, state: ExperimentState) -> None:
        self.state = state
        self.findings: SourceFindings | None = None
        self.without: Mapping[int, str] = {}
        self.place: int | None = None
        self._sentence = ""
        self._original: tuple[Translation, SourceFindings] | None = None

    def follow_result(self) -> None:
        """Another result: nothing is known of it yet."""
        self.findings, self.without = None, {}
        sentence = self.state.translation.source_text if self.state.translation is not None else ""
        if sentence != self._sentence:
            self._sentence, self.place = sentence, None

    @property
    def translation(self) -> Translation | None:
        """The translation that is shown; None while there is none."""
        return self.state.translation

    @property
    def original(self) -> Translation | None:
        """The original that the translation is shown beside; None where nothing is changed."""
        result = self.state.result
        return result.original if result is not None and result.is_changed else None

    @property
    def known_original(self) -> SourceFindings | None:
        """What is known of the original from an earlier answer."""
        if self._original is None or self._original[0] is not self.original:
            return None
        return self._original[1]

    def take(self, findings: SourceFindings) -> None:
        """The findings are there; those of the original stay known while it is the original."""
        self.findings = findings
        translation = self.state.original
        if translation is not None:
            self._original = translation, findings.original or findings

    def words(self) -> list[SourceWord]:
        """The words of the source as typed, whatever was removed or replaced."""
        original, translation = self.state.original, self.translation
        if original is None or translation is None:
            return []
        edits = {edit.place: edit for edit in translation.experiment.source_edits}
        changes, before = _changes_of(self.findings), self._changes_before()
        return [
            SourceWord(
                place, word.text, edits.get(place), changes.get(place), self.without.get(place), before.get(place)
            )
            for place, word in zip(original.source_places, original.source_words, strict=True)
        ]

    @property
    def places_to_translate(self) -> tuple[int, ...]:
        """The words without which the sentence's translation is still to be found, in order."""
        return tuple(place for place in _changes_of(self.findings) if place not in self.without)

    def edit_of(self, place: int) -> SourceEdit | None:
        """What is asked for in the place of a source word; None if nothing."""
        return next((edit for edit in self.state.experiment.source_edits if edit.place == place), None)

    def toggle(self, place: int) -> None:
        """Removes a source word; one that is removed or replaced comes back."""
        self.place = place
        edit = self.edit_of(place)
        if edit is None:
            self.state.submit(intervene(SourceWordRemoved(place)))
        else:
            self.state.submit(remove(edit))

    def replace(self, text: str) -> bool:
        """Puts a word in place of the one that was clicked last; False if that asks for nothing new."""
        if self.place is None or not text.strip():
            return False
        edit = SourceWordReplaced(self.place, text)
        if edit == self.edit_of(self.place):
            return False
        self.state.submit(intervene(edit))
        return True

    def shares(self) -> list[OutputShare]:
        """The output words, first to last; empty until they are known."""
        if self.findings is None:
            return []
        contributions = self.findings.contributions
        labelled = contributions.of_source()
        warnings = {warning.steps: warning for warning in share_warnings(contributions)}
        before, is_changed = self._shares_before(), self.findings.original is not None
        found = []
        for row, share in enumerate(contributions.source_share_of_words().tolist()):
            parts = sorted(
                zip(labelled.keys.labels, labelled.weights[row].tolist(), strict=True), key=lambda part: -part[1]
            )
            found.append(
                OutputShare(
                    labelled.queries.labels[row],
                    share,
                    tuple(parts[:4]),
                    warnings.get(labelled.queries.positions[row]),
                    before.get(row),
                    is_new=is_changed and row not in before,
                )
            )
        return found

    def mean_share(self) -> float | None:
        """The mean share of the source over all words, the end left out; None if there is no word."""
        shares = [each.source for each in self.shares() if not is_hidden(each.word, {"end"})]
        return sum(shares) / len(shares) if shares else None

    def mean_share_before(self) -> float | None:
        """The same of the original; None where nothing is changed."""
        if self.findings is None or self.findings.original is None:
            return None
        labels, values = _shares_of(self.findings.original)
        shares = [value for label, value in zip(labels, values, strict=True) if not is_hidden(label, {"end"})]
        return sum(shares) / len(shares) if shares else None

    def _changes_before(self) -> Mapping[int, float]:
        return _changes_of(self.findings.original if self.findings is not None else None)

    def _shares_before(self) -> dict[int, float]:
        """By the output words' rows: the shares in the same words of the original."""
        if self.findings is None or self.findings.original is None:
            return {}
        old_labels, old_values = _shares_of(self.findings.original)
        labels, _ = _shares_of(self.findings)
        return {new: old_values[old] for old, new in common_subsequence(old_labels, labels)}


def _changes_of(findings: SourceFindings | None) -> Mapping[int, float]:
    return findings.changes.changes if findings is not None and findings.changes is not None else {}


def _shares_of(findings: SourceFindings) -> tuple[tuple[str, ...], list[float]]:
    contributions = findings.contributions
    return contributions.of_source().queries.labels, contributions.source_share_of_words().tolist()
