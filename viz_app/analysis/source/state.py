"""What comes from the source, and what hangs on each of its words. No Qt, no torch."""

from dataclasses import dataclass

from core.analysis.probes import SourceProbes, WordProbe

from core.analysis.contributions import Contributions, ShareWarning, share_warnings
from core.analysis.selection import is_hidden
from core.model.heads import Head
from core.translation.result import Translation
from viz_app.state.progress import Awaited


@dataclass(frozen=True, eq=False)
class SourceFindings:
    """What was computed for one translation.

    Attributes:
        contributions: shares of source and prefix in each output word.
        probes: every source word left out in turn; None if none could be.
        problem: why none could be; empty if they could.
    """

    contributions: Contributions
    probes: SourceProbes | None
    problem: str = ""


@dataclass(frozen=True)
class OutputShare:
    """An output word, or the end.

    Attributes:
        word: as it is shown.
        source: the share of the source in it, from 0 to 1; the rest comes from the words before it.
        parts: the source words that gave it most, with their shares.
        warning: why it deserves a look; None for most words.
    """

    word: str
    source: float
    parts: tuple[tuple[str, float], ...]
    warning: ShareWarning | None


class SourceState:
    """What the tab *Source* knows.

    Attributes:
        findings: of the translation that is shown; None until they are known.
        place: the source word that is left out or replaced; None: none is.
        replacement: what stands in its place; empty: nothing does.
        replaced: what became of that, None while nothing is replaced.
        off: heads that are off in it.
        awaited: the answer that is to come.
    """

    def __init__(self) -> None:
        self.awaited = Awaited()
        self.off: frozenset[Head] = frozenset()
        self.forget()

    def forget(self) -> None:
        """Another translation."""
        self.findings: SourceFindings | None = None
        self.place: int | None = None
        self.replacement = ""
        self.replaced: WordProbe | None = None
        self.awaited.forget()

    def follow_switches(self, off: frozenset[Head]) -> None:
        """Other heads are off than in what is known: it is forgotten."""
        self.forget()
        self.off = off

    def is_lacking(self, translation: Translation | None) -> bool:
        """Whether the findings have to be asked for."""
        return (
            translation is not None
            and self.findings is None
            and not self.awaited.is_awaiting
            and not self.awaited.problem
        )

    def take(self, result: object) -> None:
        """Keeps an answer."""
        if isinstance(result, SourceFindings):
            self.findings = result
        elif isinstance(result, SourceProbes):
            self.replaced = result.probes[0]

    def choose(self, place: int) -> None:
        """Leaves a source word out; the same word again: puts it back."""
        self.place = None if place == self.place else place
        self.replacement, self.replaced = "", None

    def replace(self, word: str) -> bool:
        """Another word is to stand in place of the chosen one; False if that asks for nothing new."""
        word = word.strip()
        if self.place is None or word == self.replacement:
            return False
        self.replacement, self.replaced = word, None
        return bool(word)

    @property
    def probe(self) -> WordProbe | None:
        """What becomes of the translation; None while nothing is changed, or not known yet."""
        if self.place is None or self.findings is None or self.findings.probes is None:
            return None
        if self.replacement:
            return self.replaced
        return next((each for each in self.findings.probes.probes if each.place == self.place), None)

    def change_of(self, probe: WordProbe) -> float:
        """How much the log-probability of the translation that is shown changed, in nats."""
        assert self.findings is not None
        return probe.log_probability - self.findings.contributions.translation.log_probability

    def shares(self) -> list[OutputShare]:
        """The output words, first to last."""
        if self.findings is None:
            return []
        contributions = self.findings.contributions
        labelled = contributions.of_source()
        warnings = {warning.steps: warning for warning in share_warnings(contributions)}
        found = []
        for row, share in enumerate(contributions.source_share_of_words().tolist()):
            parts = sorted(
                zip(labelled.columns.labels, labelled.weights[row].tolist(), strict=True), key=lambda part: -part[1]
            )
            found.append(
                OutputShare(
                    labelled.rows.labels[row], share, tuple(parts[:4]), warnings.get(labelled.rows.positions[row])
                )
            )
        return found

    def mean_share(self) -> float | None:
        """The mean share of the source over all words, the end left out; None if there is no word."""
        shares = [each.source for each in self.shares() if not is_hidden(each.word, {"end"})]
        return sum(shares) / len(shares) if shares else None
