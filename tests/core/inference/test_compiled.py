"""A compiled model gives the maps, logits and tokens of the plain one, and is never used once that one has changed."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from augenmerk.core.inference import compiled as compiled_module
from augenmerk.core.inference.compiled import PLAIN_VARIABLE, CompiledTransformer, Compiler
from augenmerk.core.model.heads import Head, SentenceChanges
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.translation.experiment import Beam, Experiment, Greedy
from augenmerk.core.translation.result import MAP_KINDS
from augenmerk.core.translation.translator import Translator
from tests.core.model.small_models import KINDS, NUM_SOURCE, NUM_TARGET, PADDING, PRE, ROUNDING, make_model, random_ids

every_kind = pytest.mark.parametrize("kind", KINDS)
MAP_TOLERANCE, LOG_PROBABILITY_TOLERANCE = 2e-6, 1e-5
NUM_SENTENCES = 12
CHANGES = [
    SentenceChanges(),
    SentenceChanges({Head("decoder", 0, 1): 0.0}, {(Head("cross", 1, 2), 3): [0.5, 0.5]}),
    SentenceChanges(temperatures={Head("encoder", 1, 0): 2.0, Head("cross", 2, 3): 0.3}),
]


@pytest.fixture(autouse=True)
def compiled_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment of the tests says."""
    monkeypatch.delenv(PLAIN_VARIABLE, raising=False)


def padded_pair() -> tuple[Tensor, Tensor]:
    source, target = random_ids(3, 9, NUM_SOURCE), random_ids(3, 8, NUM_TARGET)
    source[1, 6:], target[2, 4:] = PADDING, PADDING
    return source, target


@pytest.mark.heavy
@every_kind
@pytest.mark.parametrize("need_maps", [False, True])
@pytest.mark.parametrize("is_changed", [False, True])
@pytest.mark.parametrize("num_rows", [1, 3, 40], ids=["one row", "some", "many"])
@torch.inference_mode()
def test_maps_and_logits_are_those_of_the_model(kind: str, need_maps: bool, is_changed: bool, num_rows: int) -> None:
    model = make_model(KINDS[kind])
    source, target = (ids.repeat(14, 1)[:num_rows] for ids in padded_pair())
    changes = (CHANGES * 14)[:num_rows] if is_changed else [SentenceChanges()] * num_rows
    interventions = compile_interventions(model, changes)
    expected = model(source, target, need_maps=need_maps, interventions=interventions)
    compiled = CompiledTransformer(make_model(KINDS[kind]))
    encoding = compiled.encode(source, need_maps=need_maps, interventions=interventions)
    found = compiled.decode(encoding, target, need_maps=need_maps)
    torch.testing.assert_close(found.logits, expected.logits, rtol=0, atol=ROUNDING)
    for name in ("encoder_maps", "decoder_maps", "cross_maps"):
        maps, wanted = getattr(found, name), getattr(expected, name)
        assert (maps is None) == (not need_maps)
        if need_maps:
            torch.testing.assert_close(maps, wanted, rtol=0, atol=MAP_TOLERANCE)


@every_kind
@torch.inference_mode()
def test_steps_give_the_logits_of_one_pass(kind: str) -> None:
    model = make_model(KINDS[kind])
    source, target = padded_pair()
    interventions = compile_interventions(model, CHANGES)
    expected = model(source, target, interventions=interventions).logits
    compiled = CompiledTransformer(model)
    state = compiled.start_decoding(compiled.encode(source, interventions=interventions), max_steps=8)
    for step in range(8):
        torch.testing.assert_close(state.read(target[:, step]), expected[:, step], rtol=0, atol=ROUNDING)
    assert state.step == 8


@torch.inference_mode()
def test_rows_taken_out_repeated_and_reordered_between_steps_leave_the_others_as_they_were() -> None:
    model = make_model(PRE)
    source, target = padded_pair()
    expected = model(source, target).logits
    compiled = CompiledTransformer(model)
    state = compiled.start_decoding(compiled.encode(source, need_maps=True), max_steps=8)
    for step in range(3):
        state.read(target[:, step])
    rows = torch.tensor([2, 1])
    state.select(rows)
    torch.testing.assert_close(state.read(target[rows, 3]), expected[rows, 3], rtol=0, atol=ROUNDING)
    rows = rows[[1, 1, 0, 0]]
    state.select(torch.tensor([1, 1, 0, 0]))
    torch.testing.assert_close(state.read(target[rows, 4]), expected[rows, 4], rtol=0, atol=ROUNDING)
    state.reorder(torch.tensor([1, 0, 3, 2]))
    torch.testing.assert_close(state.read(target[rows, 5]), expected[rows, 5], rtol=0, atol=ROUNDING)
    assert state.encoder_maps is not None
    assert state.encoder_maps.shape[0] == 4


@torch.inference_mode()
def test_a_pass_corrects_what_guesses_left_and_steps_go_on_from_it() -> None:
    model = make_model(PRE)
    source, target = padded_pair()
    expected = model(source, target).logits
    compiled = CompiledTransformer(model)
    state = compiled.start_decoding(compiled.encode(source), max_steps=8)
    other = state.restarted()
    for step in range(4):
        other.guess(target[:, step])
    torch.testing.assert_close(state.read_all(target[:, :5]).logits, expected[:, :5], rtol=0, atol=ROUNDING)
    state.step = 3
    for step in (3, 4, 5):
        torch.testing.assert_close(state.read(target[:, step]), expected[:, step], rtol=0, atol=ROUNDING)


@every_kind
@pytest.mark.parametrize("case", ["16 bits", "no copies", "no guesses"])
@torch.inference_mode()
def test_the_way_in_which_matrices_are_kept_changes_nothing(
    kind: str, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(KINDS[kind].replace(tied_embeddings="output"))
    if case == "16 bits":
        model = model.half().float()
        model.reset_constants()
    elif case == "no copies":
        monkeypatch.setattr(compiled_module, "_MAX_COPIED", 0)
    else:
        monkeypatch.setattr(compiled_module, "has_rounded_products", lambda: False)
    source, target = padded_pair()
    values = {name: value.clone() for name, value in model.state_dict().items()}
    compiled = CompiledTransformer(model)
    state = compiled.start_decoding(compiled.encode(source), 1)
    torch.testing.assert_close(
        compiled.decode(compiled.encode(source), target).logits, model(source, target).logits, rtol=0, atol=ROUNDING
    )
    exact = compiled.start_decoding(compiled.encode(source), 1).read(target[:, 0])
    assert torch.equal(state.guess(target[:, 0]), exact) == (compiled.guessing is None)
    assert all(torch.equal(value, values[name]) for name, value in model.state_dict().items())
    assert model.output.weight is model.target_embedding.tokens.weight


def multiply_in_place(model: Transformer) -> None:
    with torch.no_grad():
        model.encoder_layers[0].feed_forward.expand.bias.mul_(2)


def multiply_through_data(model: Transformer) -> None:
    model.decoder_layers[1].cross_attention.in_proj_weight.data.mul_(2)


def replace_data(model: Transformer) -> None:
    model.output.weight.data = model.output.weight.data * 2


def replace_parameter(model: Transformer) -> None:
    norm = model.decoder_layers[0].self_residual.norm
    norm.weight = torch.nn.Parameter(norm.weight.detach() * 2)


def load_other_weights(model: Transformer) -> None:
    model.load_state_dict({name: value * 1.1 for name, value in model.state_dict().items()})


CHANGED = [multiply_in_place, multiply_through_data, replace_data, replace_parameter, load_other_weights]


@pytest.mark.parametrize("change", CHANGED)
@torch.no_grad()
def test_a_model_whose_weights_have_changed_is_compiled_again(change: Callable[[Transformer], None]) -> None:
    model = make_model(PRE)
    source, target = padded_pair()
    compiler = Compiler(model)
    first = compiler.current()
    assert isinstance(first, CompiledTransformer)
    assert compiler.current() is first
    for _ in range(2):
        change(model)
        again = compiler.current()
        assert isinstance(again, CompiledTransformer)
        assert again is not first
        first = again
        expected = model(source, target).logits
        torch.testing.assert_close(again.decode(again.encode(source), target).logits, expected, rtol=1e-5, atol=1e-4)


def test_the_plain_model_serves_where_compiling_is_switched_off_or_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model(PRE)
    compiler = Compiler(model)
    monkeypatch.setenv(PLAIN_VARIABLE, "1")
    assert compiler.current() is model
    monkeypatch.delenv(PLAIN_VARIABLE)
    assert compiler.current() is not model
    model.train()
    assert compiler.current() is model
    model.eval()
    with torch.autocast("cpu", torch.bfloat16):
        assert compiler.current() is model
    handle = model.decoder_layers[0].register_forward_hook(lambda *_: None)
    assert compiler.current() is model
    handle.remove()
    assert isinstance(compiler.current(), CompiledTransformer)
    model.double()
    assert compiler.current() is model


@torch.inference_mode()
def test_weights_of_which_pytorch_counts_no_changes_are_not_compiled() -> None:
    model = make_model(PRE)
    assert Compiler(model).current() is model


@pytest.mark.heavy
@pytest.mark.parametrize("output", [Greedy(), Beam(4)], ids=["greedy", "beam 4"])
def test_the_bundled_model_translates_the_same_without_being_compiled(
    output: Greedy | Beam, multi30k_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    translator = Translator.load(None, "cpu")
    data = gzip.decompress((multi30k_folder / "test_2016_flickr.de.gz").read_bytes())
    texts = data.decode().splitlines()[:: 1000 // NUM_SENTENCES][:NUM_SENTENCES]
    beam = output.size if isinstance(output, Beam) else 1
    found = [translator.run(Experiment(text, output)) for text in texts]
    found_in_batch = translator.translate_corpus(texts, beam=beam)
    monkeypatch.setenv(PLAIN_VARIABLE, "1")
    assert translator.current_model() is translator.model
    assert found_in_batch == translator.translate_corpus(texts, beam=beam)
    for one in found:
        plain = translator.run(one.experiment)
        assert one.predicted_ids == plain.predicted_ids
        assert one.log_probabilities == pytest.approx(plain.log_probabilities, rel=0, abs=LOG_PROBABILITY_TOLERANCE)
        for kind in MAP_KINDS:
            np.testing.assert_allclose(one.maps.of_kind(kind), plain.maps.of_kind(kind), rtol=0, atol=MAP_TOLERANCE)
