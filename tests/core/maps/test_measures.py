"""Norms and rollout against direct formulas, computed here from the model's parameters one vector
at a time."""

import subprocess
import sys
import tracemalloc
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses.cli import analyze
from augenmerk.core.extensions.measures.norms import head_norms, layer_norms
from augenmerk.core.extensions.measures.rollout import cross_rollout, rollout
from augenmerk.core.maps.capture import trace_pair, trace_translation
from augenmerk.core.maps.measures import (
    MEASURES,
    measure,
    measure_maps,
    measures_of,
    row_entropy,
)
from augenmerk.core.maps.model_pass import Pass
from augenmerk.core.maps.trace import HeadTrace, Trace
from augenmerk.core.model.attention import MultiHeadAttention
from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind, Head
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.model.sites import PairPass
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.translation.experiment import AttentionRow, HeadScaled
from augenmerk.core.translation.result import AttentionMaps
from augenmerk.core.translation.translator import Translator
from tests.core.model.small_models import KINDS, POST, make_model, scaled

SOURCE, READ = [2, 5, 9, 4, 3], [2, 7, 6, 11]
WIDTH, HEADS, HEAD_WIDTH = 32, 4, 8


@pytest.fixture(scope="module")
def model() -> Transformer:
    return make_model()


@pytest.fixture(scope="module")
def trace(model: Transformer) -> Trace:
    return trace_pair(PairPass(model, SOURCE, READ))


@pytest.fixture(scope="module")
def model_pass(model: Transformer) -> Pass:
    return Pass(PairPass(model, SOURCE, READ))


def inputs_of(module: MultiHeadAttention, model: Transformer) -> np.ndarray:
    """What keys and values of `module` are made from, [M, D], caught by a hook of its own."""
    caught = []
    hook = module.register_forward_pre_hook(
        lambda _, inputs: caught.append(inputs[0] if inputs[1] is None else inputs[1])
    )
    with torch.no_grad():
        model(torch.tensor([SOURCE]), torch.tensor([READ]))
    hook.remove()
    return caught[0][0].double().numpy()


def added_vectors(module: MultiHeadAttention, states: np.ndarray) -> np.ndarray:
    """f(x) of each head and key, [H, M, D], in double precision, by the definition."""
    weight = module.in_proj_weight.detach().double().numpy()[2 * WIDTH :]
    bias = module.in_proj_bias.detach().double().numpy()[2 * WIDTH :]
    mixing = module.out_proj.weight.detach().double().numpy()
    vectors = np.empty((HEADS, len(states), WIDTH))
    for head in range(HEADS):
        rows = slice(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH)
        for key, state in enumerate(states):
            vectors[head, key] = mixing[:, rows] @ (weight[rows] @ state + bias[rows])
    return vectors


def module_of(model: Transformer, kind: AttentionKind, layer: int) -> MultiHeadAttention:
    if kind == "encoder":
        return model.encoder_layers[layer].self_attention
    return (
        model.decoder_layers[layer].self_attention
        if kind == "decoder"
        else model.decoder_layers[layer].cross_attention
    )


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
def test_a_trace_has_the_maps_of_the_model_and_leaves_no_hook(config) -> None:
    model = make_model(config)
    trace = trace_pair(PairPass(model, SOURCE, READ))
    with torch.no_grad():
        output = model(torch.tensor([SOURCE]), torch.tensor([READ]), need_maps=True)
    for kind in ATTENTION_KINDS:
        assert np.array_equal(
            trace.of_kind(kind).weights, getattr(output, f"{kind}_maps")[0].numpy()
        )
    assert not any(module._forward_hooks for module in model.modules())


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_weights_are_the_softmax_of_queries_times_keys(trace: Trace, kind: AttentionKind) -> None:
    heads = trace.of_kind(kind)
    logits = heads.queries @ heads.keys.swapaxes(-1, -2) / np.sqrt(HEAD_WIDTH)
    if kind == "decoder":
        logits[..., np.triu(np.ones(logits.shape[-2:], dtype=bool), k=1)] = -np.inf
    weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    np.testing.assert_allclose(heads.weights, weights, atol=1e-6)


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_weighted_vectors_sum_to_the_output_of_the_layer(
    model: Transformer, trace: Trace, kind: AttentionKind
) -> None:
    heads = trace.of_kind(kind)
    module = module_of(model, kind, 1)
    outputs = []
    hook = module.register_forward_hook(lambda _, __, output: outputs.append(output[0]))
    with torch.no_grad():
        model(torch.tensor([SOURCE]), torch.tensor([READ]))
    hook.remove()
    summed = (heads.weights[1] @ heads.values[1] @ heads.mixing[1]).sum(
        axis=0
    ) + module.out_proj.bias.detach().numpy()
    np.testing.assert_allclose(summed, outputs[0][0].numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_norms_follow_the_definition(model: Transformer, trace: Trace, kind: AttentionKind) -> None:
    heads = trace.of_kind(kind)
    of_heads, of_layers = head_norms(heads), layer_norms(heads)
    for layer in range(len(of_layers)):
        module = module_of(model, kind, layer)
        vectors = added_vectors(module, inputs_of(module, model))
        weights = heads.weights[layer].astype(np.float64)
        for query in range(weights.shape[1]):
            for key in range(weights.shape[2]):
                terms = [weights[head, query, key] * vectors[head, key] for head in range(HEADS)]
                expected = [np.sqrt((term**2).sum()) for term in terms]
                np.testing.assert_allclose(
                    of_heads[layer, :, query, key], expected, rtol=1e-4, atol=1e-6
                )
                expected_sum = np.sqrt((sum(terms) ** 2).sum())
                np.testing.assert_allclose(
                    of_layers[layer, query, key], expected_sum, rtol=1e-4, atol=1e-6
                )


def test_norms_of_a_long_text_take_no_vector_for_each_cell() -> None:
    """Those of 500 tokens in six layers of 1,024 would take 6 GB."""
    num_layers, num_heads, num_tokens, head_width, width = 2, 4, 150, 8, 64
    generator = np.random.default_rng(1)

    def drawn(*shape: int) -> np.ndarray:
        return generator.random(shape, dtype=np.float32)

    vectors = drawn(num_layers, num_heads, num_tokens, head_width)
    weights = drawn(num_layers, num_heads, num_tokens, num_tokens)
    heads = HeadTrace(
        vectors,
        vectors,
        vectors,
        drawn(num_layers, num_heads, head_width, width),
        weights,
        drawn(num_layers, num_heads),
    )
    tracemalloc.start()
    lengths = layer_norms(heads)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    added = weights[1, :, 3, 5] @ (vectors @ heads.mixing)[1, :, 5]
    assert lengths[1, 3, 5] == pytest.approx(np.linalg.norm(added), rel=1e-5)
    assert peak < 4 * num_layers * num_tokens * num_tokens * width / 4


def test_rollout_follows_the_definition(trace: Trace) -> None:
    weights = trace.encoder.weights
    flow = rollout(weights)
    size = len(SOURCE)
    expected = np.eye(size)
    for layer in range(len(weights)):
        step = np.empty((size, size))
        for query in range(size):
            for key in range(size):
                step[query, key] = (
                    np.mean([weights[layer, head, query, key] for head in range(HEADS)])
                    + (query == key)
                ) / 2
        expected = step @ expected
        np.testing.assert_allclose(flow[layer], expected, atol=1e-6)
    np.testing.assert_allclose(flow.sum(-1), 1, atol=1e-6)


def test_rollout_of_one_layer_with_one_head_is_half_the_map_and_half_the_diagonal() -> None:
    np.testing.assert_allclose(rollout(np.ones((1, 1, 1, 1), dtype=np.float32)), [[[1.0]]])
    weights = np.array([[[[0.2, 0.8], [0.5, 0.5]]]], dtype=np.float32)
    np.testing.assert_allclose(rollout(weights)[0], [[0.6, 0.4], [0.25, 0.75]], rtol=1e-6)


def test_cross_attention_is_carried_down_to_the_words(trace: Trace) -> None:
    flow = rollout(trace.encoder.weights)[-1]
    carried = cross_rollout(trace.cross.weights, flow)
    for query in range(len(READ)):
        expected = sum(
            trace.cross.weights[2, 1, query, position] * flow[position]
            for position in range(len(SOURCE))
        )
        np.testing.assert_allclose(carried[2, 1, query], expected, atol=1e-6)
    np.testing.assert_allclose(carried.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_every_measure_has_the_shape_it_promises(
    model_pass: Pass, trace: Trace, measure, kind: AttentionKind
) -> None:
    described = MEASURES[measure]
    if kind not in described.kinds:
        with pytest.raises(AnalysisError, match=", ".join(measures_of(kind))):
            measure_maps(model_pass, measure, kind)
        return
    maps = measure_maps(model_pass, measure, kind)
    num_layers, _, *shape = trace.of_kind(kind).weights.shape
    assert maps.shape == (num_layers, HEADS if kind in described.per_head else 1, *shape)
    assert maps.dtype == np.float32
    if described.rows_sum_to_one:
        np.testing.assert_allclose(maps.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("per_head", "cut", "shapes"),
    [
        (ATTENTION_KINDS, np.s_[:, :, 1:], r"\[3, 4, 3, 5\], not \[3, 4, 4, 5\]"),
        (ATTENTION_KINDS, np.s_[:, :1], r"\[3, 1, 4, 5\], not \[3, 4, 4, 5\]"),
        ((), np.s_[:], r"\[3, 4, 4, 5\], not \[3, 1, 4, 5\]"),
        (ATTENTION_KINDS, np.s_[0], r"\[4, 4, 5\], not \[3, 4, 4, 5\]"),
    ],
)
def test_maps_of_another_shape_than_declared_are_refused(
    model_pass: Pass,
    per_head: tuple[AttentionKind, ...],
    cut: tuple[slice, ...],
    shapes: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = replace(
        MEASURES["weight"],
        compute=lambda model_pass, kind: model_pass.weights(kind)[cut],
        per_head=per_head,
    )
    monkeypatch.setitem(MEASURES, "broken", broken)
    with pytest.raises(AnalysisError, match=rf"The measure “broken” gives cross maps .* {shapes}"):
        measure_maps(model_pass, "broken", "cross")


def test_an_unknown_measure_is_refused(model_pass: Pass) -> None:
    with pytest.raises(AnalysisError, match="no measure 'magic'"):
        measure_maps(model_pass, "magic", "cross")


def test_a_head_that_is_off_adds_nothing(model: Transformer) -> None:
    norms = head_norms(
        trace_pair(PairPass(model, SOURCE, READ, scaled(model, [Head("cross", 1, 2)]))).cross
    )
    assert not norms[1, 2].any()
    assert norms[1, [0, 1, 3]].min() > 0


def test_the_norms_of_a_scaled_head_are_scaled(model: Transformer) -> None:
    plain = head_norms(trace_pair(PairPass(model, SOURCE, READ)).encoder)
    norms = head_norms(
        trace_pair(
            PairPass(model, SOURCE, READ, scaled(model, [Head("encoder", 0, 2)], -3.0))
        ).encoder
    )
    np.testing.assert_allclose(norms[0, 2], 3 * plain[0, 2], rtol=1e-5)
    np.testing.assert_allclose(norms[0, [0, 1, 3]], plain[0, [0, 1, 3]], rtol=1e-5)
    assert not np.allclose(norms[1], plain[1], rtol=1e-3), "the layer above reads other states"


def test_one_layer_one_head_one_token() -> None:
    small = make_model(POST.replace(num_encoder_layers=1, num_decoder_layers=1, num_heads=1))
    model_pass = Pass(PairPass(small, [5], [2]))
    for name, described in MEASURES.items():
        for kind in described.kinds:
            assert measure_maps(model_pass, name, kind).shape == (1, 1, 1, 1)


def test_a_translation_is_traced_as_it_was_made(untrained_checkpoint: Path) -> None:
    translator = Translator.load(untrained_checkpoint, "cpu")
    translation = translator.translate("Ein Mann steht auf einer Leiter.")
    maps: AttentionMaps = trace_translation(translator, translation).maps
    for kind in ATTENTION_KINDS:
        np.testing.assert_allclose(maps.of_kind(kind), translation.maps.of_kind(kind), atol=2e-6)


def test_a_translation_is_traced_under_its_own_interventions(word_translator: Translator) -> None:
    head = Head("cross", 1, 2)
    plain = word_translator.translate("Ein Mann steht auf einer Leiter.")
    num_source = len(plain.source_tokens)
    experiment = plain.experiment.with_interventions(
        HeadScaled(Head("encoder", 0, 1)),
        HeadScaled(head, 2.0),
        AttentionRow(head, 1, (1.0,) + (0.0,) * (num_source - 1)),
    )
    translation = word_translator.run(experiment)
    trace = trace_translation(word_translator, translation)
    for kind in ATTENTION_KINDS:
        np.testing.assert_allclose(
            trace.maps.of_kind(kind), translation.maps.of_kind(kind), atol=2e-6
        )
    assert trace.cross.weights[1, 2, 1].tolist() == [1.0] + [0.0] * (num_source - 1)
    assert not head_norms(trace.encoder)[0, 1].any()
    source, read = torch.tensor([translation.source_ids]), torch.tensor([translation.read_ids])
    model, caught = word_translator.model, []
    attention = model.decoder_layers[1].cross_attention
    hook = attention.register_forward_pre_hook(lambda _, inputs: caught.append(inputs))
    with torch.inference_mode():
        model(source, read, interventions=compile_interventions(model, [experiment.changes]))
    hook.remove()
    rows = slice(2 * 8, 3 * 8)
    with torch.inference_mode():
        value = (
            attention.in_proj_weight[64:][rows] @ caught[0][1][0, 0]
            + attention.in_proj_bias[64:][rows]
        )
        expected = 2 * torch.linalg.vector_norm(attention.out_proj.weight[:, rows] @ value).item()
    norms = head_norms(trace.cross)[1, 2, 1]
    assert norms[0] == pytest.approx(expected, rel=1e-4), (
        "a row of one weight is the norm of that value, twice"
    )
    assert not norms[1:].any()


def test_the_entropy_of_a_row_is_that_of_its_shares_in_nats() -> None:
    rows = np.array([[[0.25] * 4, [0.5, 0.5, 0, 0], [1, 0, 0, 0]]], dtype=np.float32)
    np.testing.assert_allclose(row_entropy(rows), [[np.log(4), np.log(2), 0]], atol=1e-6)


def test_a_declaration_is_all_that_a_new_measure_needs(
    model_pass: Pass, monkeypatch: pytest.MonkeyPatch
) -> None:
    squares = replace(
        MEASURES["weight"],
        compute=lambda model_pass, kind: model_pass.weights(kind) ** 2,
        name="squared weight",
        kinds=("decoder", "cross"),
    )
    monkeypatch.setitem(MEASURES, "squares", squares)
    np.testing.assert_array_equal(
        measure_maps(model_pass, "squares", "cross"), model_pass.weights("cross") ** 2
    )
    assert "squares" in measures_of("decoder")
    with pytest.raises(AnalysisError, match="no measure 'squares' for encoder"):
        measure_maps(model_pass, "squares", "encoder")
    parser = ArgumentParser()
    analyze.add_options(parser)
    assert parser.parse_args(["a", "--measure", "squares"]).measure == "squares"


def test_a_translation_is_measured_with_its_tokens(untrained_checkpoint: Path) -> None:
    translator = Translator.load(untrained_checkpoint, "cpu")
    translation = translator.translate("ein mann .")
    norms = measure(translator, translation, "norm", "decoder")
    np.testing.assert_array_equal(
        norms.weights, head_norms(trace_translation(translator, translation).decoder)
    )
    assert norms.queries.labels == translation.predicted_tokens
    assert norms.keys.labels == translation.read_tokens
    assert measure(translator, translation, "rollout", "encoder").weights.shape[1] == 1
    with pytest.raises(AnalysisError, match="no measure 'rollout' for decoder"):
        measure(translator, translation, "rollout", "decoder")


@pytest.mark.subprocess
@pytest.mark.heavy
def test_declarations_import_no_torch() -> None:
    code = "import sys; import augenmerk.core.maps.measures; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
