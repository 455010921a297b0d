"""The hypotheses kept at the steps of a beam search, as a tree."""

from dataclasses import dataclass

import torch

from ...translation.beam import BeamStep, beam_search
from ...translation.experiment import Beam, Experiment
from ...translation.translator import Translator


@dataclass(frozen=True)
class BeamNode:
    """A kept hypothesis, named by its last token.

    Attributes:
        parent: index of the hypothesis that it continues; None for the first token.
        step: of its last token, counted from 0.
        token: its last token, as shown.
        log_probability: of all its tokens together, natural log.
        rank: its rank among those kept at this step, 0 for the best; ended hypotheses follow those
            that continue.
        is_ended: whether it ends here.
        is_chosen: whether the chosen translation goes through it.
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
        greedy: indices of the nodes of greedy decoding, as far as the beam kept them.
        texts: the translations by beam and by greedy decoding.
        log_probabilities: of these two.
    """

    size: int
    nodes: tuple[BeamNode, ...]
    greedy: tuple[int, ...]
    texts: tuple[str, str]
    log_probabilities: tuple[float, float]

    @property
    def num_steps(self) -> int:
        """The number of steps searched."""
        return 1 + max((node.step for node in self.nodes), default=-1)


def beam_tree(translator: Translator, source_text: str, beam: Beam) -> BeamTree:
    """The search tree of one sentence without interventions, and its greedy path.

    Not thread-safe with other uses of the model.

    Args:
        translator: provides the model.
        source_text: the sentence.
        beam: size and length penalty.

    Raises:
        TextError: the sentence is empty or too long.
    """
    steps: list[BeamStep] = []
    model = translator.current_model()
    compiled = translator.compile(Experiment(source_text, beam))
    with torch.inference_mode():
        encoding = model.encode(torch.tensor([compiled.source.ids], device=translator.device.name))
        (chosen,) = beam_search(
            model,
            encoding,
            [compiled.max_steps],
            translator.rules,
            beam.size,
            beam.length_penalty,
            on_step=steps.append,
        )
    by_beam, greedy = (
        translator.run(Experiment(source_text, beam)),
        translator.run(Experiment(source_text)),
    )
    codec = translator.checkpoint.codecs.target
    places: dict[tuple[int, ...], int] = {}
    nodes: list[BeamNode] = []
    for step, beam_step in enumerate(steps):
        for rank, (ids, log_probability) in enumerate((*beam_step.live, *beam_step.ended)):
            is_ended = rank >= len(beam_step.live)
            is_chosen = tuple(chosen[: len(ids)]) == ids
            parent = places.get(ids[:-1])
            places[ids] = len(nodes)
            nodes.append(
                BeamNode(
                    parent, step, codec.label(ids[-1]), log_probability, rank, is_ended, is_chosen
                )
            )
    prefixes = (greedy.predicted_ids[:end] for end in range(1, len(greedy.predicted_ids) + 1))
    return BeamTree(
        beam.size,
        tuple(nodes),
        tuple(places[ids] for ids in prefixes if ids in places),
        (by_beam.text, greedy.text),
        (by_beam.log_probability, greedy.log_probability),
    )
