"""The decoding of the current experiment, and the current step. No Qt, no torch."""

import math
from dataclasses import dataclass, replace

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import AttentionRow, ForcedToken, Intervention
from augenmerk.core.translation.result import Translation

from ....state.experiment_editor import force, remove
from ....state.experiment_state import ExperimentState
from ....state.sentence_text import new_words
from ....state.tab_contents import content


@dataclass(frozen=True)
class Candidate:
    """A candidate of a step.

    Attributes:
        token: as shown.
        entry: its vocabulary entry; empty if unknown.
        probability: from 0 to 1.
        rank: 1 for the most probable.
        is_chosen: whether it was chosen.
        is_forced: whether that was forced.
        before: its probability in the original; None if the original has no such step, or it is
            unknown.
    """

    token: str
    entry: str
    probability: float
    rank: int
    is_chosen: bool
    is_forced: bool
    before: float | None = None


@dataclass(frozen=True)
class StepRow:
    """The row of attention of a step in a head.

    Attributes:
        head: the head.
        labels: of the keys: all source tokens, or the target tokens read so far.
        weights: one for each key.
        intervention: the intervention that set them; None if the model computed them.
        before: the weights of the original; None if it has no such step.
    """

    head: Head
    labels: tuple[str, ...]
    weights: tuple[float, ...]
    intervention: AttentionRow | None
    before: tuple[float, ...] | None = None


class StepsState:
    """The state of the tab *Steps*.

    Attributes:
        state: the current experiment.
        position: the current step.
    """

    position: int = content("steps_step")

    def __init__(self, state: ExperimentState) -> None:
        self.state = state
        self._sentence = ""

    @property
    def num_steps(self) -> int:
        """The number of steps."""
        return (
            len(self.state.translation.predicted_tokens)
            if self.state.translation is not None
            else 0
        )

    @property
    def is_at_end(self) -> bool:
        """Whether there is no later step."""
        return self.position + 1 >= self.num_steps

    def follow_result(self) -> None:
        """Adapt to another result: keep the step if it exists and the sentence is the same."""
        sentence = self.state.translation.source_text if self.state.translation is not None else ""
        if sentence != self._sentence and "steps_step" not in self.state.opened:
            self.position = 0
        self._sentence = sentence
        self.position = max(0, min(self.position, self.num_steps - 1))

    def go(self, position: int) -> bool:
        """Go to another step; False if it does not exist or is the current one."""
        if position == self.position or position not in range(self.num_steps):
            return False
        self.position = position
        return True

    def changes_of(self, step: int) -> tuple[Intervention, ...]:
        """The interventions at a step: a forced token, and rows of attention."""
        if self.state.translation is None:
            return ()
        experiment = self.state.translation.experiment
        rows = (
            attention_row
            for attention_row in experiment.attention_rows
            if attention_row.head.kind != "encoder" and attention_row.row == step
        )
        return (*(forced for forced in experiment.forced if forced.step == step), *rows)

    @property
    def new_steps(self) -> frozenset[int]:
        """The steps of the words that the original does not have."""
        result = self.state.result
        if result is None or not result.is_changed:
            return frozenset()
        words = new_words(result.original, result.changed)
        return frozenset(step for word in words for step in range(word.start, word.end))

    @property
    def entropy(self) -> float:
        """The entropy of this step, in nats."""
        return (
            self.state.translation.entropies[self.position]
            if self.state.translation is not None
            else 0.0
        )

    def candidates(self) -> list[Candidate]:
        """The candidates, best first; the chosen token is last if it is not among the best."""
        translation = self.state.translation
        step = self.position
        if translation is None:
            return []
        forced_tokens = translation.experiment.forced
        forced = next(
            (forced_token.token for forced_token in forced_tokens if forced_token.step == step),
            None,
        )
        token = translation.predicted_tokens[step]
        log_probability = translation.log_probabilities[step]
        candidates = []
        for rank, alternative in enumerate(translation.alternatives[step], start=1):
            if forced is not None:
                is_chosen = alternative.entry == forced
            else:
                is_chosen = (
                    alternative.token == token and alternative.log_probability == log_probability
                )
            is_forced = is_chosen and bool(forced)
            candidates.append(
                Candidate(
                    alternative.token,
                    alternative.entry,
                    alternative.probability,
                    rank,
                    is_chosen,
                    is_forced,
                )
            )
        if not any(candidate.is_chosen for candidate in candidates):
            probability = math.exp(log_probability)
            rank = translation.ranks[step]
            candidates.append(
                Candidate(token, forced or "", probability, rank, True, forced is not None)
            )
        return [replace(candidate, before=self._before(candidate)) for candidate in candidates]

    @property
    def original(self) -> Translation | None:
        """The original, if something is changed and it has read the same tokens up to this step;
        else None.
        """
        result = self.state.result
        end = self.position + 1
        if result is None or not result.is_changed or end > len(result.original.predicted_tokens):
            return None
        is_same = result.original.read_tokens[:end] == result.changed.read_tokens[:end]
        return result.original if is_same else None

    @property
    def reads_otherwise(self) -> bool:
        """Whether something is changed and the original has no such step after the same tokens."""
        return (
            self.state.result is not None and self.state.result.is_changed and self.original is None
        )

    def _before(self, candidate: Candidate) -> float | None:
        original, step = self.original, self.position
        if original is None:
            return None
        for alternative in original.alternatives[step]:
            if alternative.token == candidate.token and (
                not candidate.entry or alternative.entry == candidate.entry
            ):
                return alternative.probability
        if original.predicted_tokens[step] == candidate.token:
            return math.exp(original.log_probabilities[step])
        return None

    def click(self, candidate: Candidate) -> None:
        """Force a candidate, or stop forcing it."""
        forced = ForcedToken(self.position, candidate.entry) if candidate.entry else None
        if forced is None:
            # a word of a given translation that is not among the best: its vocabulary entry is
            # unknown
            return
        if forced in self.state.experiment.interventions:
            self.state.submit(remove(forced))
        else:
            self.state.submit(force(self.position, candidate.entry))

    def row(self) -> StepRow | None:
        """The row of this step in the chosen head; None for a head of the encoder, which has no
        steps.
        """
        translation = self.state.translation
        head = self.state.selection.head
        step = self.position
        if translation is None or head.kind == "encoder":
            return None
        maps = translation.maps.of_kind(head.kind)
        if head.layer >= maps.shape[0] or head.head >= maps.shape[1]:
            return None
        labels = (
            translation.source_tokens
            if head.kind == "cross"
            else translation.read_tokens[: step + 1]
        )
        weights = tuple(maps[head.layer, head.head, step, : len(labels)].tolist())
        rows = translation.experiment.attention_rows
        intervention = next((row for row in rows if row.head == head and row.row == step), None)
        return StepRow(head, labels, weights, intervention, self._row_before(head, labels))

    def _row_before(self, head: Head, labels: tuple[str, ...]) -> tuple[float, ...] | None:
        original, step = self.original, self.position
        if original is None or (head.kind == "cross" and original.source_tokens != labels):
            return None  # an edited source has other keys
        return tuple(
            original.maps.of_kind(head.kind)[head.layer, head.head, step, : len(labels)].tolist()
        )
