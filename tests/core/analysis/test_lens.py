"""The logit lens: behind the last layer it is the model itself, and before it, the model cut off there."""

import numpy as np
import pytest
import torch

from augenmerk.core.analysis.logit_lens import LogitLens, layer_logits, logit_lens
from augenmerk.core.model.heads import Head
from augenmerk.core.model.interventions import SentenceChanges
from augenmerk.core.model.transformer import compile_interventions
from augenmerk.core.resources import example_sentences
from augenmerk.core.translation.experiment import Beam, Experiment, GivenTarget, HeadScaled
from augenmerk.core.translation.translator import Translator
from tests.core.model.small_models import KINDS, make_model

SOURCE, READ = [2, 5, 9, 4, 3], [2, 7, 6, 11]


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load(device="cpu")


every_kind = pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)


@every_kind
def test_behind_the_last_layer_are_the_logits_of_the_model(config) -> None:
    model = make_model(config)
    interventions = compile_interventions(model, [SentenceChanges({Head("cross", 1, 2): 0.0})])
    for changes in (None, interventions):
        found = layer_logits(model, SOURCE, READ, changes)
        with torch.inference_mode():
            expected = model(torch.tensor([SOURCE]), torch.tensor([READ]), interventions=changes).logits[0]
        assert found.shape == (config.num_decoder_layers + 1, *expected.shape)
        torch.testing.assert_close(found[-1], expected, rtol=0, atol=1e-5)


@every_kind
def test_behind_an_earlier_layer_are_those_of_the_model_without_the_later_ones(config) -> None:
    model = make_model(config)
    found = layer_logits(model, SOURCE, READ)
    for depth in range(config.num_decoder_layers):
        cut = make_model(config)
        cut.decoder_layers = cut.decoder_layers[:depth]
        with torch.inference_mode():
            states = cut.target_embedding(torch.tensor([READ]))
            for layer in cut.decoder_layers:
                memory = cut.encode(torch.tensor([SOURCE]))
                mask = cut.target_mask(torch.tensor([READ]))
                states = layer(states, memory.states, mask, memory.mask)[0]
            expected = cut.output(cut.decoder_norm(states))[0]
        torch.testing.assert_close(found[depth], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "experiment",
    [
        Experiment("Zwei Hunde spielen im Schnee."),
        Experiment("Ein Mann steht.", Beam(3), (HeadScaled(Head("decoder", 0, 1)),)),
        Experiment("Ein Mann steht.", GivenTarget("A dog sleeps.")),
    ],
    ids=["greedy", "beam, a head off", "given"],
)
def test_the_last_depth_says_what_the_translation_says(bundled: Translator, experiment: Experiment) -> None:
    translation = bundled.run(experiment)
    lens = logit_lens(bundled, translation)
    assert lens.log_probabilities[-1] == pytest.approx(translation.log_probabilities, abs=1e-4)
    assert lens.ranks[-1].tolist() == list(translation.ranks)
    for found, known in zip(lens.candidates[-1], translation.alternatives, strict=True):
        assert [each.entry for each in found] == [each.entry for each in known]
    with pytest.raises(ValueError, match="read-only"):
        lens.ranks[0, 0] = 1


def test_a_word_is_decided_at_the_first_depth_from_which_it_leads_to_the_end(bundled: Translator) -> None:
    translation = bundled.run(Experiment("Ein Mann steht."))
    num_steps = len(translation.predicted_ids)
    ranks = np.full((4, num_steps), 2)
    ranks[3] = 1
    ranks[1:, 1] = 1
    ranks[:, 2] = 1
    ranks[:, 3] = [1, 2, 1, 1]
    ranks[3, 4] = 2
    lens = LogitLens(translation, np.zeros((4, num_steps), dtype=np.float32), ranks, ())
    assert [lens.decided_at(step) for step in range(5)] == [3, 1, 0, 2, None]


@pytest.mark.slow
def test_most_words_of_the_bundled_model_are_decided_before_its_last_layer(bundled: Translator) -> None:
    """Else the chapter on layers would have nothing to show."""
    decided = [
        logit_lens(bundled, translation).decided_at(step)
        for translation in map(bundled.translate, example_sentences()[:6])
        for step in range(len(translation.predicted_ids))
    ]
    assert sum(depth is not None and depth < 3 for depth in decided) > len(decided) / 2
