"""The logit lens: the last depth is the model itself, an earlier one the model cut off there."""

import numpy as np
import pytest
import torch
from torch.utils.hooks import RemovableHandle

from augenmerk.core.extensions.analyses.logit_lens import (
    Depth,
    LogitLens,
    logit_lens,
    logits_by_depth,
)
from augenmerk.core.model.heads import Head, SentenceChanges
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.model.interventions import NO_INTERVENTIONS
from augenmerk.core.model.sites import SUBLAYERS, PairPass
from augenmerk.core.resources import example_sentences
from augenmerk.core.translation.experiment import Beam, Experiment, GivenTarget, HeadScaled
from augenmerk.core.translation.translator import Translator
from tests.core.model.small_models import KINDS, make_model
from tests.core.translation.random_models import MODELS, make_translator

SOURCE, READ = [2, 5, 9, 4, 3], [2, 7, 6, 11]


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load(device="cpu")


every_kind = pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)


@every_kind
def test_the_last_depth_has_the_logits_of_the_model(config) -> None:
    model = make_model(config)
    interventions = compile_interventions(model, [SentenceChanges({Head("cross", 1, 2): 0.0})])
    for changes in (NO_INTERVENTIONS, interventions):
        by_depth = dict(logits_by_depth(PairPass(model, SOURCE, READ, changes)))
        with torch.inference_mode():
            expected = model(
                torch.tensor([SOURCE]), torch.tensor([READ]), interventions=changes
            ).logits[0]
        assert len(by_depth) == 3 * config.num_decoder_layers + 1
        torch.testing.assert_close(list(by_depth.values())[-1], expected, rtol=0, atol=1e-5)


@every_kind
def test_an_earlier_depth_has_the_logits_of_the_model_without_the_later_sublayers(config) -> None:
    model = make_model(config)
    by_depth = dict(logits_by_depth(PairPass(model, SOURCE, READ)))
    residuals = {
        Depth(index, sublayer): layer.get_submodule(residual)
        for index, layer in enumerate(model.decoder_layers)
        for sublayer, residual in SUBLAYERS["decoder"].items()
    }
    assert list(by_depth) == [Depth(), *residuals]
    removed: list[RemovableHandle] = []
    for depth in reversed(by_depth):  # each time one more of the last sublayers does nothing
        with torch.inference_mode():
            expected = model(torch.tensor([SOURCE]), torch.tensor([READ])).logits[0]
        torch.testing.assert_close(by_depth[depth], expected, rtol=0, atol=1e-5)
        if depth in residuals:
            removed.append(
                residuals[depth].register_forward_hook(lambda module, inputs, output: inputs[0])
            )
    assert len(removed) == 3 * config.num_decoder_layers


def test_a_hook_on_a_layer_changes_the_depth_at_its_end() -> None:
    model = make_model(KINDS["pre"])
    model.decoder_layers[-1].register_forward_hook(
        lambda module, inputs, output: (output[0] / 2, *output[1:])
    )
    *_, (depth, logits) = logits_by_depth(PairPass(model, SOURCE, READ))
    with torch.inference_mode():
        expected = model(torch.tensor([SOURCE]), torch.tensor([READ])).logits[0]
    assert str(depth) == "layer 2 feed-forward"
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_the_numbers_of_each_depth_are_those_of_its_distribution(name: str) -> None:
    translator = make_translator(name)
    translation = translator.translate(
        "3 7 2 5" if translator.run_config.is_copy_task else "ein mann steht"
    )
    lens = logit_lens(translator, translation)
    chosen, steps = np.array(translation.predicted_ids), np.arange(len(translation.predicted_ids))
    by_depth = dict(
        logits_by_depth(PairPass(translator.model, translation.source_ids, translation.read_ids))
    )
    assert lens.depths == tuple(by_depth)
    for row, logits in enumerate(by_depth.values()):
        exact = logits.double().numpy()
        shares = np.exp(exact - exact.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        own = shares[steps, chosen]
        np.testing.assert_allclose(lens.log_probabilities[row], np.log(own), rtol=0, atol=1e-5)
        np.testing.assert_allclose(
            lens.entropies[row], -(shares * np.log(shares)).sum(axis=-1), rtol=0, atol=1e-4
        )
        for step in steps:
            allowed = np.delete(shares[step], list(translator.rules.forbidden_at(step)))
            assert lens.ranks[row, step] == 1 + (allowed > own[step]).sum()
            best = [candidate.probability for candidate in lens.candidates[row][step]]
            np.testing.assert_allclose(best, np.sort(allowed)[::-1][: len(best)], rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "experiment",
    [
        Experiment("Zwei Hunde spielen im Schnee."),
        Experiment("Ein Mann steht.", Beam(3), (HeadScaled(Head("decoder", 0, 1)),)),
        Experiment("Ein Mann steht.", GivenTarget("A dog sleeps.")),
    ],
    ids=["greedy", "beam, a head off", "given"],
)
def test_the_last_depth_says_what_the_translation_says(
    bundled: Translator, experiment: Experiment
) -> None:
    translation = bundled.run(experiment)
    lens = logit_lens(bundled, translation)
    assert lens.log_probabilities[-1] == pytest.approx(translation.log_probabilities, abs=1e-4)
    assert lens.entropies[-1] == pytest.approx(translation.entropies, abs=1e-4)
    assert lens.ranks[-1].tolist() == list(translation.ranks)
    for candidates, known in zip(lens.candidates[-1], translation.alternatives, strict=True):
        assert [candidate.entry for candidate in candidates] == [
            alternative.entry for alternative in known
        ]
    with pytest.raises(ValueError, match="read-only"):
        lens.ranks[0, 0] = 1


def test_whole_layers_are_the_embedding_and_every_third_depth(bundled: Translator) -> None:
    lens = logit_lens(bundled, bundled.translate("Ein Mann steht."))
    layers = lens.whole_layers
    ends = ["embedding", "layer 0 feed-forward", "layer 1 feed-forward", "layer 2 feed-forward"]
    assert [str(depth) for depth in layers.depths] == ends
    for name in ("log_probabilities", "ranks", "entropies"):
        np.testing.assert_array_equal(getattr(layers, name), getattr(lens, name)[::3])
    assert layers.candidates == lens.candidates[::3]


def test_a_word_is_decided_at_the_first_depth_from_which_it_leads_to_the_end(
    bundled: Translator,
) -> None:
    translation = bundled.run(Experiment("Ein Mann steht."))
    num_steps = len(translation.predicted_ids)
    ranks = np.full((4, num_steps), 2)
    ranks[3] = 1
    ranks[1:, 1] = 1
    ranks[:, 2] = 1
    ranks[:, 3] = [1, 2, 1, 1]
    ranks[3, 4] = 2
    zeros = np.zeros((4, num_steps), dtype=np.float32)
    lens = LogitLens(translation, (Depth(),) * 4, zeros, ranks, zeros, ())
    assert [lens.decided_at(step) for step in range(5)] == [3, 1, 0, 2, None]


@pytest.mark.slow
def test_most_words_of_the_bundled_model_are_decided_before_its_last_layer(
    bundled: Translator,
) -> None:
    """Else the chapter on layers would have nothing to show."""
    decided = [
        logit_lens(bundled, translation).whole_layers.decided_at(step)
        for translation in map(bundled.translate, example_sentences()[:6])
        for step in range(len(translation.predicted_ids))
    ]
    assert sum(depth is not None and depth < 3 for depth in decided) > len(decided) / 2
