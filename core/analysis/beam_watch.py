"""Records the hypotheses of a beam search."""

import torch

from augenmerk.core.analysis.beam_tree import BeamNode, BeamTree
from augenmerk.core.translation.beam import BeamStep, beam_search
from augenmerk.core.translation.experiment import Beam, Experiment
from augenmerk.core.translation.translator import Translator


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
    by_beam, greedy = translator.run(Experiment(source_text, beam)), translator.run(Experiment(source_text))
    codec = translator.checkpoint.codecs.target
    places: dict[tuple[int, ...], int] = {}
    nodes: list[BeamNode] = []
    for step, kept in enumerate(steps):
        for rank, (ids, log_probability) in enumerate((*kept.live, *kept.ended)):
            is_ended = rank >= len(kept.live)
            is_chosen = tuple(chosen[: len(ids)]) == ids
            parent = places.get(ids[:-1])
            places[ids] = len(nodes)
            nodes.append(BeamNode(parent, step, codec.label(ids[-1]), log_probability, rank, is_ended, is_chosen))
    prefixes = (greedy.predicted_ids[:end] for end in range(1, len(greedy.predicted_ids) + 1))
    return BeamTree(
        beam.size,
        tuple(nodes),
        tuple(places[ids] for ids in prefixes if ids in places),
        (by_beam.text, greedy.text),
        (by_beam.log_probability, greedy.log_probability),
    )
