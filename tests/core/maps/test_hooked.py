"""Analyses heed hooks of the user: they explain what the model computes with them."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from augenmerk.core.extensions.analyses.alti import trace_blocks
from augenmerk.core.extensions.analyses.logit_lens import logit_lens
from augenmerk.core.extensions.analyses.residual import residual_streams
from augenmerk.core.maps.capture import trace_translation
from augenmerk.core.model.heads import ATTENTION_KINDS
from augenmerk.core.model.sites import PairPass
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.translator import Translator
from tests.core.model.small_models import KINDS, make_model

SOURCE, READ = [2, 5, 9, 4, 3], [2, 7, 6, 11]


def halved(module: nn.Module, inputs: object, output: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return output[0] / 2, *output[1:]


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
def test_parts_are_those_of_the_pass_with_hooks_on_whole_layers(config) -> None:
    model = make_model(config)
    handles = [
        model.encoder_layers[0].register_forward_hook(halved),
        model.decoder_layers[0].register_forward_hook(halved),
    ]
    caught: list[Tensor] = []
    keep = model.decoder_norm.register_forward_hook(
        lambda module, inputs, output: caught.append(output)
    )
    with torch.inference_mode():
        encoded = model.encode(torch.tensor([SOURCE])).states[0]
        logits = model(torch.tensor([SOURCE]), torch.tensor([READ])).logits[0]
    keep.remove()
    blocks = trace_blocks(PairPass(model, SOURCE, READ), lambda kind, block: block.output)
    streams = residual_streams(PairPass(model, SOURCE, READ))
    torch.testing.assert_close(blocks.encoded, encoded, rtol=0, atol=1e-5)
    torch.testing.assert_close(blocks.hidden, caught[0][0], rtol=0, atol=1e-5)
    torch.testing.assert_close(streams.logits, logits, rtol=0, atol=1e-5)
    for handle in handles:
        handle.remove()
    assert not torch.allclose(
        trace_blocks(PairPass(model, SOURCE, READ), lambda kind, block: 0).hidden,
        caught[0][0],
        atol=1e-3,
    )


def test_traces_and_the_lens_agree_with_the_translation(word_translator: Translator) -> None:
    handles = [
        word_translator.model.encoder_layers[1].register_forward_hook(halved),
        word_translator.model.decoder_layers[0].register_forward_hook(halved),
    ]
    try:
        translation = word_translator.run(Experiment("Ein Hund wartet am Strand."))
        lens = logit_lens(word_translator, translation)
        trace = trace_translation(word_translator, translation)
    finally:
        for handle in handles:
            handle.remove()
    np.testing.assert_allclose(
        lens.log_probabilities[-1], translation.log_probabilities, rtol=0, atol=1e-4
    )
    for kind in ATTENTION_KINDS:
        weights = trace.of_kind(kind).weights
        np.testing.assert_allclose(weights, translation.maps.of_kind(kind), rtol=0, atol=1e-5)
    plain = word_translator.run(translation.experiment)
    assert not np.allclose(plain.maps.cross[-1, 0, 0], translation.maps.cross[-1, 0, 0], atol=1e-3)
