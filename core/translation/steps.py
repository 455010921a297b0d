"""What decoding was at each step, and what someone changed in it. No torch: a window can hold these before it is there.

Shape legend: S source length, T number of decoding steps, L layers, H heads, V vocabulary.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import AnalysisError
from core.model.heads import FixedRow
from core.translation.result import FloatArray, Translation


@dataclass(frozen=True)
class Candidate:
    """A token that a step could choose.

    Attributes:
        token_id: in the target vocabulary.
        token: as it is shown.
        log_probability: natural log.
    """

    token_id: int
    token: str
    log_probability: float

    @property
    def probability(self) -> float:
        """From 0 to 1."""
        return math.exp(self.log_probability)


@dataclass(frozen=True)
class ForcedToken:
    """Someone chose this token for this step."""

    step: int
    token_id: int


Edit = ForcedToken | FixedRow


@dataclass(frozen=True, eq=False)
class DecodingStep:
    """One step of decoding: what was read, which rows it used, what could be chosen, what was.

    Attributes:
        step: counted from 0; the row of decoder and cross maps.
        read: the token that the decoder reads here, the start token at step 0.
        candidates: the most probable tokens that may be chosen, best first.
        chosen: the token that was.
        rank: its place among all that may be chosen, 1 for the best.
        is_forced: whether someone chose it rather than the model.
        entropy: of the distribution over all V tokens, in nats.
        cross_rows: the weights on the source that this step used, [L, H, S]; an overridden row as it was set.
        self_rows: those on the tokens read so far, this one last, [L, H, step + 1].
        overridden: layer and head of the rows of `cross_rows` that were set by hand.
        log_probabilities: natural logs of all V tokens, [V].
    """

    step: int
    read: str
    candidates: tuple[Candidate, ...]
    chosen: Candidate
    rank: int
    is_forced: bool
    entropy: float
    cross_rows: FloatArray
    self_rows: FloatArray
    overridden: frozenset[tuple[int, int]]
    log_probabilities: FloatArray

    @property
    def entropy_bits(self) -> float:
        """The same entropy in bits: how many even yes-or-no questions the choice is worth."""
        return self.entropy / math.log(2)


@dataclass(frozen=True, eq=False)
class DecodingPath:
    """A translation, step by step, with all that was changed on the way to it.

    Attributes:
        steps: T of them.
        edits: what is forced and overridden, in the order in which it was done.
        translation: the whole, with its maps; overridden rows stand in them as they were used.
        is_cut_off: whether the length limit came before an end.
    """

    steps: tuple[DecodingStep, ...]
    edits: tuple[Edit, ...]
    translation: Translation
    is_cut_off: bool

    @property
    def log_probability(self) -> float:
        """Natural log of the probability of all tokens chosen, forced ones included."""
        return sum(step.chosen.log_probability for step in self.steps)

    def first_difference(self, other: "DecodingPath") -> int | None:
        """The first step at which two paths choose differently; None if they are the same to their ends."""
        for step, (ours, theirs) in enumerate(zip(self.steps, other.steps, strict=False)):
            if ours.chosen.token_id != theirs.chosen.token_id:
                return step
        shorter, longer = sorted((len(self.steps), len(other.steps)))
        return None if shorter == longer else shorter


def shares_of(weights: Sequence[float], num_source: int) -> tuple[float, ...]:
    """Weights on the S source tokens, scaled to sum to 1.

    Raises:
        AnalysisError: they are not S numbers of 0 or more, at least one of them above 0.
    """
    values = [float(weight) for weight in weights]
    if len(values) != num_source:
        raise AnalysisError(
            f"The row has {len(values)} weights. One for each of the {num_source} source tokens was expected."
        )
    if not all(math.isfinite(value) and value >= 0 for value in values):
        raise AnalysisError("A weight of the row is negative or no number. Numbers of 0 or more were expected.")
    largest = max(values)
    if largest == 0:
        raise AnalysisError(
            "All weights of the row are 0. At least one above 0 was expected; give some weight to a source token."
        )
    scaled = [value / largest for value in values]  # first to at most 1, so that no sum overflows
    total = math.fsum(scaled)
    return tuple(value / total for value in scaled)
