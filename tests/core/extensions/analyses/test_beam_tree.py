"""The tree of a beam search: every kept hypothesis continues another, and its probability is the
model's."""

import math

import pytest

from augenmerk.core.extensions.analyses.beam_tree import BeamTree, beam_tree
from augenmerk.core.translation.experiment import Beam, Experiment, GivenTarget
from augenmerk.core.translation.translator import Translator

SENTENCE = "Ein Koch schneidet in einer kleinen Küche Gemüse."
BEAM = Beam(4, 0.0)


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load(device="cpu")


@pytest.fixture(scope="module")
def tree(bundled: Translator) -> BeamTree:
    return beam_tree(bundled, SENTENCE, BEAM)


def way_to(tree: BeamTree, index: int) -> list[int]:
    """The nodes from the first token to this one."""
    way = [index]
    while (parent := tree.nodes[way[0]].parent) is not None:
        way.insert(0, parent)
    return way


@pytest.mark.heavy
def test_every_hypothesis_but_the_first_tokens_continues_one_of_the_step_before(
    tree: BeamTree,
) -> None:
    assert len(tree.nodes) > 20
    for node in tree.nodes:
        if node.step == 0:
            assert node.parent is None
        else:
            assert node.parent is not None
            before = tree.nodes[node.parent]
            assert before.step == node.step - 1
            assert not before.is_ended
            assert before.log_probability >= node.log_probability


@pytest.mark.heavy
def test_each_step_keeps_as_many_as_the_beam_is_wide_best_first(tree: BeamTree) -> None:
    for step in range(tree.num_steps):
        live = [node for node in tree.nodes if node.step == step and not node.is_ended]
        assert len(live) == BEAM.size
        assert [node.rank for node in live] == list(range(BEAM.size))
        values = [node.log_probability for node in live]
        assert values == sorted(values, reverse=True)


def test_the_chosen_way_is_the_translation_and_its_probability(
    bundled: Translator, tree: BeamTree
) -> None:
    translation = bundled.run(Experiment(SENTENCE, BEAM))
    chosen = [index for index, node in enumerate(tree.nodes) if node.is_chosen]
    assert way_to(tree, chosen[-1]) == chosen
    assert [tree.nodes[index].token for index in chosen] == list(translation.predicted_tokens)
    assert tree.nodes[chosen[-1]].is_ended
    total = 0.0
    for index, value in zip(chosen, translation.log_probabilities, strict=True):
        total += value
        assert tree.nodes[index].log_probability == pytest.approx(total, abs=1e-3)
    assert tree.log_probabilities[0] == pytest.approx(total, abs=1e-3)


def test_an_ended_hypothesis_has_the_probability_of_its_sentence(
    bundled: Translator, tree: BeamTree
) -> None:
    other = next(
        index for index, node in enumerate(tree.nodes) if node.is_ended and not node.is_chosen
    )
    tokens = [tree.nodes[index].token for index in way_to(tree, other)]
    text = bundled.checkpoint.codecs.target.join(tokens[:-1])
    scored = bundled.run(Experiment(SENTENCE, GivenTarget(text)))
    if list(scored.predicted_tokens) == tokens:  # the text is tokenized as it was made
        assert scored.log_probability == pytest.approx(tree.nodes[other].log_probability, abs=1e-3)
    assert tokens[-1] == "<eos>"
    assert math.isfinite(tree.nodes[other].log_probability)


def test_greedy_decoding_is_followed_as_far_as_it_was_kept(
    bundled: Translator, tree: BeamTree
) -> None:
    greedy = bundled.run(Experiment(SENTENCE))
    assert tree.greedy
    assert [tree.nodes[index].token for index in tree.greedy] == list(
        greedy.predicted_tokens[: len(tree.greedy)]
    )
    assert tree.texts[1] == greedy.text


@pytest.mark.heavy
def test_a_beam_of_one_is_greedy_decoding(bundled: Translator) -> None:
    tree = beam_tree(bundled, SENTENCE, Beam(1))
    assert [node.token for node in tree.nodes if node.is_chosen] == list(
        bundled.run(Experiment(SENTENCE)).predicted_tokens
    )
    assert len(tree.greedy) == len([node for node in tree.nodes if node.is_chosen])
