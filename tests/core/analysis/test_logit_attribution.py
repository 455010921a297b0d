"""Direct logit attribution: parts sum to what the model computes, and a head's part is what is missing without it."""

import numpy as np
import pytest
import torch

from augenmerk.core.analysis.logit_attribution import logit_parts, residual_parts
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.model.interventions import SentenceChanges
from augenmerk.core.model.transformer import compile_interventions
from augenmerk.core.translation.experiment import Experiment, ForcedToken, HeadScaled
from augenmerk.core.translation.translator import Translator
from tests.core.model.small_models import KINDS, PRE, make_model

SOURCE, READ = [2, 5, 9, 4, 3], [2, 7, 6, 11]
OFF = [Head("encoder", 0, 1), Head("decoder", 1, 0), Head("cross", 2, 3)]
CHANGES = [
    SentenceChanges({}, {}),
    SentenceChanges(
        {**dict.fromkeys(OFF, 0.0), Network("decoder", 1): -0.5}, {(Head("cross", 0, 1), 0): (0.0, 1.0, 0.0, 0.0, 0.0)}
    ),
    SentenceChanges(temperatures=dict.fromkeys(OFF, 3.0), lifts_mask=True),
]


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load(device="cpu")


every_kind = pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)


@every_kind
@pytest.mark.heavy
def test_the_parts_sum_to_the_output_of_the_decoder(config) -> None:
    model = make_model(config)
    for changes in CHANGES:
        interventions = compile_interventions(model, [changes])
        parts = residual_parts(model, SOURCE, READ, interventions)
        summed = parts.embedding + parts.bias
        for each in (parts.decoder, parts.cross):
            summed = summed + each.sum(dim=(0, 1))
        summed = summed + parts.feed_forward.sum(dim=0)
        torch.testing.assert_close(summed, parts.hidden, rtol=0, atol=1e-4)
        with torch.inference_mode():
            logits = model(torch.tensor([SOURCE]), torch.tensor([READ]), interventions=interventions).logits[0]
            torch.testing.assert_close(model.output(parts.hidden.float()), logits, rtol=0, atol=1e-4)


@every_kind
def test_a_head_or_network_that_is_off_has_no_part(config) -> None:
    model = make_model(config)
    factors = {OFF[1]: 0.0, OFF[2]: 0.0, Network("decoder", 1): 0.0}
    interventions = compile_interventions(model, [SentenceChanges(factors, {})])
    parts = residual_parts(model, SOURCE, READ, interventions)
    assert parts.decoder[1, 0].abs().max() == 0
    assert parts.cross[2, 3].abs().max() == 0
    assert parts.cross[2, 2].abs().min() > 0
    assert parts.feed_forward[1].abs().max() == 0
    assert parts.feed_forward[0].abs().min() > 0


def test_without_a_norm_and_a_network_behind_it_a_head_is_worth_its_part_and_no_more() -> None:
    """In the last layer of a model whose last network and final norm do nothing, nothing else reads what it gives."""
    model = make_model(PRE.replace(final_norm=False))
    with torch.no_grad():
        model.decoder_layers[-1].feed_forward.contract.weight.zero_()
    off = compile_interventions(model, [SentenceChanges({OFF[2]: 0.0}, {})])
    whole, without = (residual_parts(model, SOURCE, READ, changes) for changes in (None, off))
    torch.testing.assert_close(whole.hidden - without.hidden, whole.cross[2, 3], rtol=0, atol=1e-5)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "experiment",
    [
        Experiment("Zwei Hunde spielen im Schnee."),
        Experiment("Ein Mann steht.", interventions=(HeadScaled(Head("cross", 0, 1)), ForcedToken(1, "▁dog"))),
    ],
    ids=["greedy", "a head off, a token forced"],
)
def test_the_parts_sum_to_how_far_a_word_is_ahead_of_its_rival(bundled: Translator, experiment: Experiment) -> None:
    translation = bundled.run(experiment)
    found = logit_parts(bundled, translation)
    summed = found.embedding + found.bias + found.feed_forward.sum(axis=0)
    summed = summed + found.decoder.sum(axis=(0, 1)) + found.cross.sum(axis=(0, 1))
    np.testing.assert_allclose(summed, found.differences, atol=1e-3)
    for step, rival in enumerate(found.rivals):
        others = [each for each in translation.alternatives[step] if each.token != translation.predicted_tokens[step]]
        assert rival.entry == others[0].entry, "the most probable one beside it"
        assert rival.log_probability == pytest.approx(others[0].log_probability, abs=1e-3)
        assert translation.log_probabilities[step] - rival.log_probability == pytest.approx(
            found.differences[step], abs=1e-3
        )
    with pytest.raises(ValueError, match="read-only"):
        found.differences[0] = 1
