"""Value zeroing against a direct computation: one pass in double precision for each key whose value
is zero."""

from copy import deepcopy

import numpy as np
import pytest
import torch

from augenmerk.core.config import ModelConfig
from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.measures import value_zeroing as module
from augenmerk.core.maps.measures import MEASURES, measure, measure_maps
from augenmerk.core.maps.model_pass import Pass
from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind, Head, Network
from augenmerk.core.model.interventions import NO_INTERVENTIONS, Interventions
from augenmerk.core.model.sites import PairPass
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.translation.result import TranslationStoppedError
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.model.small_models import KINDS, PRE, make_model, scaled

SOURCE, READ = [2, 5, 9, 4, 3], [2, 7, 6, 11]
TOLERANCE = 1e-3
"""The effect of single precision on a share: about 1e-6 of the angles, which are 1e-2 and more in
these models."""


def shares_by_definition(
    model: Transformer,
    kind: AttentionKind,
    layer: int,
    interventions: Interventions = NO_INTERVENTIONS,
) -> np.ndarray:
    """[Q, M], in double precision."""
    model = deepcopy(model).double()
    of_layer = model.encoder_layers[layer] if kind == "encoder" else model.decoder_layers[layer]
    attention = of_layer.cross_attention if kind == "cross" else of_layer.self_attention
    inputs, outputs = [], []
    hooks = [
        attention.register_forward_pre_hook(
            lambda _, read: inputs.append(read[0] if read[1] is None else read[1])
        ),
        of_layer.register_forward_hook(lambda _, __, output: outputs.append(output[0][0])),
    ]

    def run() -> torch.Tensor:
        ids = torch.tensor([SOURCE]), torch.tensor([READ])
        return getattr(model(*ids, need_maps=True, interventions=interventions), f"{kind}_maps")[0][
            layer
        ]

    with torch.no_grad():
        weights = run()  # [H, Q, M]
        width, num_heads = inputs[0].size(-1), attention.num_heads
        values = (
            inputs[0][0] @ attention.in_proj_weight[2 * width :].T
            + attention.in_proj_bias[2 * width :]
        )
        values = values.unflatten(1, (num_heads, -1))  # [M, H, K]
        values = (
            interventions.of(kind, layer).scaled(values.transpose(0, 1)[None])[0].transpose(0, 1)
        )
        turns = []
        for key in range(weights.size(-1)):
            without = values.clone()
            without[key] = 0
            joined = torch.einsum("hqm,mhk->qhk", weights, without).flatten(1)[None]
            replacing = attention.out_proj.register_forward_pre_hook(
                lambda _, __, joined=joined: (joined,)
            )
            run()
            replacing.remove()
            turns.append(1 - torch.cosine_similarity(outputs[0], outputs[-1], dim=-1))
    for hook in hooks:
        hook.remove()
    turned = torch.stack(turns, dim=1)
    return (turned / turned.sum(dim=1, keepdim=True)).numpy()


@pytest.mark.parametrize("config", first_quick(KINDS.values()), ids=KINDS)
@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_shares_are_those_of_the_definition(config: ModelConfig, kind: AttentionKind) -> None:
    model = make_model(config)
    maps = measure_maps(Pass(PairPass(model, SOURCE, READ)), "value-zeroing", kind)
    for layer in range(len(maps)):
        expected = shares_by_definition(model, kind, layer)
        np.testing.assert_allclose(maps[layer, 0], expected, atol=TOLERANCE)
        assert expected.max() - expected.min() > 0.1, "the test would see a difference"


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_changes_of_the_experiment_apply(kind: AttentionKind) -> None:
    model = make_model(PRE)
    parts = [
        Head(kind, 1, 2),
        Head("cross", 1, 0),
        Network("encoder" if kind == "encoder" else "decoder", 1),
    ]
    changes = scaled(model, parts, 0.25)
    changed = measure_maps(Pass(PairPass(model, SOURCE, READ, changes)), "value-zeroing", kind)
    np.testing.assert_allclose(
        changed[1, 0], shares_by_definition(model, kind, 1, changes), atol=TOLERANCE
    )
    assert not np.allclose(
        changed, measure_maps(Pass(PairPass(model, SOURCE, READ)), "value-zeroing", kind), atol=0.01
    )


def test_keys_of_an_attention_that_is_off_have_no_share() -> None:
    model = make_model()
    changes = scaled(model, [Head("cross", 1, head) for head in range(4)])
    maps = measure_maps(Pass(PairPass(model, SOURCE, READ, changes)), "value-zeroing", "cross")
    assert not maps[1].any()
    np.testing.assert_allclose(maps[0].sum(axis=-1), 1, atol=1e-6)


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_long_texts_are_computed_in_parts(
    kind: AttentionKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_pass = Pass(PairPass(make_model(), SOURCE, READ))
    whole = measure_maps(model_pass, "value-zeroing", kind)
    monkeypatch.setattr(module, "MAX_NUMBERS", 1)
    np.testing.assert_allclose(measure_maps(model_pass, "value-zeroing", kind), whole, atol=1e-5)


def test_hooks_on_the_model_take_part(untrained_checkpoint: str) -> None:
    translator = Translator.load(untrained_checkpoint, "cpu")
    translation = translator.translate("ein mann .")
    before = MEASURES["value-zeroing"].compute(Pass.of(translator, translation), "encoder")
    network = translator.model.encoder_layers[0].feed_forward
    network.register_forward_hook(lambda _, __, output: output * 3)
    after = MEASURES["value-zeroing"].compute(Pass.of(translator, translation), "encoder")
    assert not np.allclose(before[0], after[0], atol=1e-3)


@pytest.mark.heavy
def test_a_layer_that_a_hook_changes_is_refused_instead_of_measured_wrongly() -> None:
    translator = Translator.load(device="cpu")
    translation = translator.translate("Ein Mann.")
    handle = translator.model.encoder_layers[0].register_forward_hook(
        lambda module, inputs, output: (output[0] * 2, *output[1:])
    )
    try:
        with pytest.raises(
            AnalysisError, match="encoder layer 0 of this model computes something else"
        ):
            measure(translator, translation, "value-zeroing", "encoder")
    finally:
        handle.remove()
    assert measure(translator, translation, "value-zeroing", "encoder").weights.size


@pytest.mark.heavy
@pytest.mark.parametrize("part", ["cross_attention", "cross_attention.out_proj"])
def test_an_attention_whose_output_a_hook_changes_is_refused(part: str) -> None:
    translator = Translator.load(device="cpu")
    translation = translator.translate("Ein Mann.")

    def change(module: object, inputs: object, output: object) -> object:
        return (output[0].tanh(), *output[1:]) if isinstance(output, tuple) else output.tanh()  # type: ignore[attr-defined]

    translator.model.decoder_layers[1].get_submodule(part).register_forward_hook(change)
    assert measure(translator, translation, "value-zeroing", "encoder").weights.size
    with pytest.raises(
        AnalysisError, match="decoder layer 1 of this model computes something else"
    ):
        measure(translator, translation, "value-zeroing", "cross")


@pytest.mark.heavy
def test_it_stops_between_parts_of_a_layer() -> None:
    translator, polls = Translator.load(device="cpu"), iter([False, True])
    model_pass = Pass.of(translator, translator.translate("Ein Mann."), lambda: next(polls))
    with pytest.raises(TranslationStoppedError):
        measure_maps(model_pass, "value-zeroing", "encoder")
