"""A compiled model gives the maps, logits and tokens of the plain one, and is never used once that
one has changed."""

import copy
import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm
from torch.nn.utils.parametrize import remove_parametrizations

from augenmerk.core.inference import compiled as compiled_module
from augenmerk.core.inference.compiled import PLAIN_VARIABLE, CompiledTransformer, Compiler, Model
from augenmerk.core.model.attention import MultiHeadAttention
from augenmerk.core.model.heads import ATTENTION_KINDS, Head, SentenceChanges
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.model.layers import FeedForward, TokenAndPosition
from augenmerk.core.model.outputs import ModelOutput
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.translation.experiment import Beam, Experiment, Greedy
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.model.small_models import (
    KINDS,
    NUM_SOURCE,
    NUM_TARGET,
    PADDING,
    PRE,
    ROUNDING,
    make_model,
    random_ids,
)

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
@pytest.mark.parametrize("num_rows", first_quick([1, 3, 40]), ids=["one row", "some", "many"])
@torch.inference_mode()
def test_maps_and_logits_are_those_of_the_model(
    kind: str, need_maps: bool, is_changed: bool, num_rows: int
) -> None:
    model = make_model(KINDS[kind])
    source, target = (ids.repeat(14, 1)[:num_rows] for ids in padded_pair())
    changes = (CHANGES * 14)[:num_rows] if is_changed else [SentenceChanges()] * num_rows
    interventions = compile_interventions(model, changes)
    expected = model(source, target, need_maps=need_maps, interventions=interventions)
    compiled = CompiledTransformer(make_model(KINDS[kind]))
    encoding = compiled.encode(source, need_maps=need_maps, interventions=interventions)
    output = compiled.decode(encoding, target, need_maps=need_maps)
    torch.testing.assert_close(output.logits, expected.logits, rtol=0, atol=ROUNDING)
    for name in ("encoder_maps", "decoder_maps", "cross_maps"):
        maps, expected_maps = getattr(output, name), getattr(expected, name)
        assert (maps is None) == (not need_maps)
        if need_maps:
            torch.testing.assert_close(maps, expected_maps, rtol=0, atol=MAP_TOLERANCE)


@every_kind
@torch.inference_mode()
def test_sentences_of_a_large_batch_are_padded_with_their_neighbours_only(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_module, "_ENCODED_TOGETHER", 3)
    model = make_model(KINDS[kind])
    source, target = random_ids(8, 9, NUM_SOURCE), random_ids(8, 5, NUM_TARGET)
    for row, length in enumerate((9, 9, 9, 4, 7, 6, 2, 1)):
        source[row, length:] = PADDING
    interventions = compile_interventions(model, (CHANGES * 3)[:8])
    compiled = CompiledTransformer(model)
    lengths = []
    embed = compiled._embed_source
    compiled._embed_source = lambda ids, first: lengths.append(ids.size(1)) or embed(ids, first)
    encoding = compiled.encode(source, interventions=interventions)
    assert lengths == [9, 7, 2]
    torch.testing.assert_close(
        compiled.decode(encoding, target).logits,
        model(source, target, interventions=interventions).logits,
        rtol=0,
        atol=ROUNDING,
    )


@pytest.mark.parametrize("num_rows", [1, 40])
@pytest.mark.parametrize(("source_length", "target_length"), [(1, 1), (1, 4), (9, 1)])
@torch.inference_mode()
def test_sequences_of_a_single_token_give_the_logits_of_the_model(
    num_rows: int, source_length: int, target_length: int
) -> None:
    model = make_model(PRE)
    source = random_ids(num_rows, source_length, NUM_SOURCE)
    target = random_ids(num_rows, target_length, NUM_TARGET)
    expected = model(source, target, need_maps=True)
    compiled = CompiledTransformer(model)
    output = compiled.decode(compiled.encode(source, need_maps=True), target, need_maps=True)
    torch.testing.assert_close(output.logits, expected.logits, rtol=0, atol=ROUNDING)
    torch.testing.assert_close(output.cross_maps, expected.cross_maps, rtol=0, atol=MAP_TOLERANCE)


@every_kind
@torch.inference_mode()
def test_steps_give_the_logits_of_one_pass(kind: str) -> None:
    model = make_model(KINDS[kind])
    source, target = padded_pair()
    interventions = compile_interventions(model, CHANGES)
    expected = model(source, target, interventions=interventions).logits
    compiled = CompiledTransformer(model)
    state = compiled.start_decoding(
        compiled.encode(source, interventions=interventions), max_steps=8
    )
    for step in range(8):
        torch.testing.assert_close(
            state.read(target[:, step]), expected[:, step], rtol=0, atol=ROUNDING
        )
    assert state.step == 8


@torch.inference_mode()
def test_rows_taken_out_and_repeated_between_steps_leave_the_others_as_they_were() -> None:
    model = make_model(PRE)
    source, target = padded_pair()
    expected = model(source, target).logits
    compiled = CompiledTransformer(model)
    state = compiled.start_decoding(compiled.encode(source, need_maps=True), max_steps=8)
    for step in range(3):
        state.read(target[:, step])
    rows = torch.tensor([2, 1])
    state.select(rows)
    torch.testing.assert_close(
        state.read(target[rows, 3]), expected[rows, 3], rtol=0, atol=ROUNDING
    )
    rows = rows[[1, 1, 0, 0]]
    state.select(torch.tensor([1, 1, 0, 0]))
    torch.testing.assert_close(
        state.read(target[rows, 4]), expected[rows, 4], rtol=0, atol=ROUNDING
    )
    torch.testing.assert_close(
        state.read(target[rows, 5]), expected[rows, 5], rtol=0, atol=ROUNDING
    )
    assert state.encoder_maps is not None
    assert state.encoder_maps.shape[0] == 4


@every_kind
@torch.inference_mode()
def test_hypotheses_side_by_side_give_the_logits_of_each_alone(kind: str) -> None:
    model = make_model(KINDS[kind])
    source, _ = padded_pair()
    row_of_target = {(Head("decoder", 0, 1), 3): [0.1, 0.2, 0.0, 0.7]}
    row_of_source = {(Head("cross", 1, 0), 4): [0.5, 0.0, 0.5]}
    temperatures, factors = {Head("decoder", 1, 0): 0.5}, {Head("cross", 0, 1): 0.0}
    changes = [
        SentenceChanges({}, row_of_target | row_of_source),
        SentenceChanges(factors, row_of_target, temperatures=temperatures),
        SentenceChanges(),
    ]
    interventions = compile_interventions(model, changes)
    compiled = CompiledTransformer(model)
    plain = model.start_decoding(model.encode(source, interventions=interventions), 0)
    state = compiled.start_decoding(compiled.encode(source, interventions=interventions), 18)
    prefixes = torch.full((3, 1, 1), 2)
    parents = torch.zeros(3, 1, dtype=torch.long)
    for step in range(6):
        torch.testing.assert_close(
            state.read_hypotheses(prefixes, parents),
            plain.read_hypotheses(prefixes, parents),
            rtol=0,
            atol=ROUNDING,
        )
        parents = torch.randint(prefixes.size(1), (len(prefixes), 3))
        prefixes = torch.cat(
            (
                prefixes.gather(1, parents[:, :, None].expand(-1, -1, step + 1)),
                random_ids(len(prefixes), 3, NUM_TARGET)[:, :, None],
            ),
            dim=2,
        )
        if step == 3:
            rows = torch.tensor([1, 0])
            state.select(rows)
            plain.select(rows)
            prefixes, parents = prefixes[rows], parents[rows]


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
    torch.testing.assert_close(
        state.read_all(target[:, :5]).logits, expected[:, :5], rtol=0, atol=ROUNDING
    )
    state.step = 3
    for step in (3, 4, 5):
        torch.testing.assert_close(
            state.read(target[:, step]), expected[:, step], rtol=0, atol=ROUNDING
        )


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
        monkeypatch.setattr(compiled_module, "has_half_matrices", lambda: False)
    source, target = padded_pair()
    values = {name: value.clone() for name, value in model.state_dict().items()}
    compiled = CompiledTransformer(model)
    state = compiled.start_decoding(compiled.encode(source), 1)
    torch.testing.assert_close(
        compiled.decode(compiled.encode(source), target).logits,
        model(source, target).logits,
        rtol=0,
        atol=ROUNDING,
    )
    exact = compiled.start_decoding(compiled.encode(source), 1).read(target[:, 0])
    assert torch.equal(state.guess(target[:, 0]), exact) == (compiled.guessing is compiled.decoder)
    assert case == "no copies" or (compiled.guessing is compiled.decoder)
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


CHANGED = [
    multiply_in_place,
    multiply_through_data,
    replace_data,
    replace_parameter,
    load_other_weights,
]


@pytest.mark.parametrize("change", CHANGED)
@torch.no_grad()
def test_a_model_whose_weights_have_changed_is_compiled_again(
    change: Callable[[Transformer], None],
) -> None:
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
        torch.testing.assert_close(
            again.decode(again.encode(source), target).logits, expected, rtol=1e-5, atol=1e-4
        )


@pytest.mark.heavy
@torch.no_grad()
def test_a_compiled_model_can_be_parametrized_and_its_weights_reused() -> None:
    model = make_model(PRE)
    compiler = Compiler(model)
    compiler.current()
    expand, before = model.encoder_layers[0].feed_forward.expand, logits_of(model)
    assert type(expand.weight.detach()) is Tensor
    assert {type(value) for value in model.state_dict().values()} == {Tensor}
    again = nn.Parameter(expand.weight, requires_grad=False)
    assert isinstance(again, nn.Parameter)
    assert not again.requires_grad
    assert again.data_ptr() == expand.weight.data_ptr()
    for parametrize in (weight_norm, spectral_norm, orthogonal):
        parametrize(expand)
        assert compiler.current() is model
        model.eval()
        assert logits_of(model).isfinite().all()
        remove_parametrizations(expand, "weight")
        assert isinstance(compiler.current(), CompiledTransformer)
        torch.testing.assert_close(
            logits_of(compiler.current()), logits_of(model), rtol=0, atol=ROUNDING
        )
        if parametrize is weight_norm:
            torch.testing.assert_close(logits_of(model), before, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("is_hooked", [False, True])
@torch.no_grad()
def test_a_copy_of_a_used_translator_is_independent(
    untrained_checkpoint: Path, *, is_hooked: bool
) -> None:
    translator = Translator.load(untrained_checkpoint, "cpu")
    experiment = Experiment("ein mann steht dort .")
    if is_hooked:
        translator.model.decoder_layers[0].register_forward_hook(lambda *_: None)
    expected = translator.run(experiment)
    twin = copy.deepcopy(translator)
    assert twin.run(experiment).log_probabilities == expected.log_probabilities
    for weight in twin.model.parameters():
        weight.data.mul_(1.5)
    assert twin.run(experiment).log_probabilities != expected.log_probabilities
    assert twin.digest != translator.digest
    assert translator.run(experiment).log_probabilities == expected.log_probabilities


def test_the_plain_model_serves_where_compiling_is_switched_off_or_impossible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


ONE_LAYER = {
    kind: KINDS[kind].replace(num_encoder_layers=1, num_decoder_layers=1)
    for kind in ("post", "pre", "annotated")
}
"""Between them, every type of module in every place where it can sit."""
PLACES = [
    (kind, name)
    for kind, config in ONE_LAYER.items()
    for name, _ in make_model(config).named_modules()
]
every_place = pytest.mark.parametrize(("kind", "name"), first_quick(PLACES, 20))


def shifted(output: Any) -> Any:
    """Other values, also after a norm."""
    if isinstance(output, Tensor):
        return output + torch.linspace(-1, 1, output.size(-1))
    if isinstance(output, ModelOutput):
        return replace(output, logits=shifted(output.logits))
    return shifted(output[0]), *output[1:]


def make_unknown(module: nn.Module) -> None:
    """Gives a module another type, which computes something else."""
    known = type(module)

    class Unknown(known):  # type: ignore[misc, valid-type]
        def forward(self, *inputs: Any, **options: Any) -> Any:
            return shifted(known.forward(self, *inputs, **options))

    module.__class__ = Unknown


def logits_of(model: Model) -> Tensor:
    source, target = padded_pair()
    return model.decode(model.encode(source), target).logits


@pytest.mark.heavy
@every_place
@pytest.mark.parametrize("is_late", [False, True], ids=["before", "after"])
@torch.no_grad()
def test_an_unknown_module_anywhere_is_called(kind: str, name: str, is_late: bool) -> None:
    """Also one that takes its place after the model was used in compiled form."""
    model = make_model(ONE_LAYER[kind])
    before, compiler = logits_of(model), Compiler(model)
    if is_late:
        assert isinstance(compiler.current(), CompiledTransformer)
    make_unknown(model.get_submodule(name))
    logits = logits_of((compiler if is_late else Compiler(model)).current())
    torch.testing.assert_close(logits, logits_of(model), rtol=0, atol=ROUNDING)
    if not isinstance(model.get_submodule(name), nn.ModuleList):  # which computes nothing
        assert (logits - before).abs().max() > 100 * ROUNDING


@pytest.mark.heavy
@every_place
def test_a_module_with_a_part_that_the_compiled_form_does_not_read_is_left_to_the_plain_one(
    kind: str, name: str
) -> None:
    """As if a later version had added it: a norm on the embeddings, for one."""
    for part in (nn.LayerNorm(32), nn.Parameter(torch.ones(32)), nn.Buffer(torch.ones(32))):
        model = make_model(ONE_LAYER[kind])
        assert isinstance(Compiler(model).current(), CompiledTransformer)
        model.get_submodule(name).added = part
        assert Compiler(model).current() is model


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, name in PLACES if name.endswith(("dropout", "norm"))]
)
@torch.no_grad()
def test_a_module_that_is_known_in_other_places_only_is_called(kind: str, name: str) -> None:
    model = make_model(ONE_LAYER[kind])
    width = 48 if name.endswith("feed_forward.dropout") else 32
    other = nn.LayerNorm(width) if name.endswith("dropout") else nn.Linear(width, width)
    model.set_submodule(name, other)
    torch.testing.assert_close(
        logits_of(Compiler(model).current()), logits_of(model), rtol=0, atol=ROUNDING
    )


@pytest.mark.parametrize(
    "norm", [nn.LayerNorm(32, bias=False), nn.LayerNorm(32, elementwise_affine=False)], ids=str
)
@torch.no_grad()
def test_norms_may_lack_parameters(norm: nn.Module) -> None:
    model = make_model(PRE)
    model.encoder_norm = model.decoder_layers[0].self_residual.norm = norm
    compiled = Compiler(model.eval()).current()
    assert isinstance(compiled, CompiledTransformer)
    torch.testing.assert_close(logits_of(compiled), logits_of(model), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("kind", [MultiHeadAttention, FeedForward, TokenAndPosition, nn.Dropout])
@torch.no_grad()
def test_a_forward_replaced_in_a_class_is_called(
    kind: type[nn.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(PRE)
    compiler, forward, before = Compiler(model), kind.forward, logits_of(model)
    assert isinstance(compiler.current(), CompiledTransformer)
    monkeypatch.setattr(
        kind, "forward", lambda *inputs, **options: shifted(forward(*inputs, **options))
    )
    logits = logits_of(compiler.current())
    torch.testing.assert_close(logits, logits_of(model), rtol=0, atol=ROUNDING)
    assert (logits - before).abs().max() > 100 * ROUNDING


@torch.no_grad()
def test_another_table_of_positions_takes_effect_at_the_next_call() -> None:
    model = make_model(PRE)
    compiler, before = Compiler(model), logits_of(model)
    compiler.current()
    model.target_embedding.positions = model.target_embedding.positions * 2
    compiled = compiler.current()
    assert isinstance(compiled, CompiledTransformer)
    torch.testing.assert_close(logits_of(compiled), logits_of(model), rtol=0, atol=ROUNDING)
    assert (logits_of(compiled) - before).abs().max() > 100 * ROUNDING


def _change_eps(model: Transformer) -> None:
    norm = model.decoder_layers[0].self_residual.norm
    assert isinstance(norm, nn.LayerNorm)
    norm.eps = 0.5


def _change_heads(model: Transformer) -> None:
    attention = model.encoder_layers[0].self_attention
    attention.num_heads, attention.head_width = attention.head_width, attention.num_heads


def _keep_half(model: Transformer) -> None:
    model.decoder_layers[0].cross_attention.keep = lambda name, value: value / 2


CHANGED_SETTINGS: dict[str, Callable[[Transformer], None]] = {
    "eps": _change_eps,
    "post-norm": lambda model: setattr(model.encoder_layers[0].attention_residual, "is_pre", False),
    "heads": _change_heads,
    "keep": _keep_half,
}


@pytest.mark.parametrize("is_used", [False, True], ids=["before the first call", "after it"])
@pytest.mark.parametrize("change", CHANGED_SETTINGS.values(), ids=CHANGED_SETTINGS)
@torch.no_grad()
def test_what_decides_how_a_module_computes_is_noticed(
    change: Callable[[Transformer], None], is_used: bool
) -> None:
    model = make_model(PRE)
    before = logits_of(model)
    compiler = Compiler(model)
    if is_used:
        compiler.current()
    change(model)
    if not is_used:
        compiler = Compiler(model)
    logits = logits_of(compiler.current())
    torch.testing.assert_close(logits, logits_of(model), rtol=0, atol=ROUNDING)
    assert (logits - before).abs().max() > 100 * ROUNDING


class OwnParameter(nn.Parameter):
    """A parameter whose functions are its own."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        with torch._C.DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
            return result * 2 if func is nn.functional.linear else result


@pytest.mark.parametrize("kind", ["buffer", "parameter of another class"])
def test_weights_of_another_kind_are_left_to_their_modules(kind: str) -> None:
    model = make_model(PRE)
    weight = model.output.weight.detach().clone()
    if kind == "buffer":
        del model.output.weight
        model.output.register_buffer("weight", weight)
    else:
        model.output.weight = OwnParameter(weight)
    assert Compiler(model).current() is model


def test_a_module_in_training_mode_is_called() -> None:
    """Such as dropout alone, to estimate uncertainty (Gal & Ghahramani 2016)."""
    model = make_model(ONE_LAYER["pre"])
    compiler = Compiler(model)
    for module in model.modules():
        module.training = True
        assert compiler.current() is model
        module.training = False
        assert isinstance(compiler.current(), CompiledTransformer)


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("output", [Greedy(), Beam(4)], ids=["greedy", "beam 4"])
def test_the_bundled_model_translates_the_same_without_being_compiled(
    output: Greedy | Beam, multi30k_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    translator = Translator.load(None, "cpu")
    data = gzip.decompress((multi30k_folder / "test_2016_flickr.de.gz").read_bytes())
    texts = data.decode().splitlines()[:: 1000 // NUM_SENTENCES][:NUM_SENTENCES]
    beam = output.size if isinstance(output, Beam) else 1
    translations = [translator.run(Experiment(text, output)) for text in texts]
    found_in_batch = translator.translate_corpus(texts, beam=beam)
    monkeypatch.setenv(PLAIN_VARIABLE, "1")
    assert translator.current_model() is translator.model
    assert found_in_batch == translator.translate_corpus(texts, beam=beam)
    for one in translations:
        plain = translator.run(one.experiment)
        assert one.predicted_ids == plain.predicted_ids
        assert one.log_probabilities == pytest.approx(
            plain.log_probabilities, rel=0, abs=LOG_PROBABILITY_TOLERANCE
        )
        for kind in ATTENTION_KINDS:
            np.testing.assert_allclose(
                one.maps.of_kind(kind), plain.maps.of_kind(kind), rtol=0, atol=MAP_TOLERANCE
            )
