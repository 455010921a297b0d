"""The hypotheses kept at the steps of a beam search, as a tree. No torch here.

`core.analysis.beam_watch` records it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class BeamNode:
    """A hypothesis that was kept, told by its last token.

    Attributes:
        parent: index of the hypothesis that it continues; None for the first token.
        step: of its last token, counted from 0.
        token: its last token, as it is shown.
        log_probability: of all its tokens together, natural log.
        rank: its place among those kept at this step, 0 for the best; those that ended stand behind those that live.
        is_ended: whether it came to its end here.
        is_chosen: whether the translation that was chosen goes through it.
    """

    parent: int | None
    step: int
    token: str
    log_probability: float
    rank: int
    is_ended: bool
    is_chosen: bool


@dataclass(frozen=True)
class BeamTree:
    """A search.

    Attributes:
        size: the beam size.
        nodes: parents before their children, step by step.
        greedy: indices of the nodes on greedy decoding's way, as far as the beam kept it.
        texts: of the translations by beam and by greedy decoding.
        log_probabilities: of these two.
    """

    size: int
    nodes: tuple[BeamNode, ...]
    greedy: tuple[int, ...]
    texts: tuple[str, str]
    log_probabilities: tuple[float, float]

    @property
    def num_steps(self) -> int:
        """How many steps were searched."""
        return 1 + max((node.step for node in self.nodes), default=-1)
