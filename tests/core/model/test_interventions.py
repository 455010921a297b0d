"""A scaled head is one whose columns of the output projection are scaled, a scaled network one
whose last layer is.

Each sentence has its own changes.
"""

import copy

import pytest
import torch

from augenmerk.core.errors import AnalysisError
from augenmerk.core.model.heads import Head, Network, SentenceChanges, heads_of, networks_of
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.model.interventions import NO_CHANGES, NO_INTERVENTIONS
from augenmerk.core.model.sites import attentions_of
from augenmerk.core.model.transformer import Transformer
from tests.builders import first_quick
from tests.core.model.small_models import (
    KINDS,
    NUM_SOURCE,
    NUM_TARGET,
    ROUNDING,
    SMALL,
    make_model,
    random_ids,
    scaled,
)

SEVERAL = [Head("encoder", 0, 1), Head("decoder", 2, 0), Head("cross", 1, 3), Head("cross", 1, 2)]
NETWORKS = [Network("encoder", 1), Network("decoder", 0), Network("decoder", 2)]
WHOLE_LAYERS = [
    Head(kind, 1, head) for kind in ("encoder", "decoder", "cross") for head in range(4)
]
DIFFERENT = [
    SentenceChanges(
        {Head("encoder", 0, 1): 0.0, Head("cross", 1, 3): 2.0},
        {(Head("encoder", 1, 0), 2): (0.25, 0.75)},
    ),
    SentenceChanges({}, {}),
    SentenceChanges(
        {Head("cross", 1, 3): -1.5, Network("encoder", 1): 0.0, Network("decoder", 1): 2.0},
        {(Head("decoder", 0, 2), 1): (1.0, 0.0)},
    ),
    SentenceChanges(
        {Head("decoder", 2, 0): 0.5, Network("decoder", 1): -1.0},
        {(Head("cross", 2, 1), 3): (0.5, 0.5), (Head("cross", 2, 1), 0): (1,)},
    ),
]
LENGTHS = [(7, 5), (4, 6), (6, 3), (3, 5)]


def with_columns_scaled(model: Transformer, factors: dict[Head, float]) -> Transformer:
    """A copy in which the output projections know these heads times a factor."""
    copied = copy.deepcopy(model)
    for head, factor in factors.items():
        module = attentions_of(copied)[head.kind][head.layer]
        columns = slice(head.head * module.head_width, (head.head + 1) * module.head_width)
        module.out_proj.weight.data[:, columns] *= factor
    return copied


@pytest.mark.parametrize("config", first_quick(KINDS.values()), ids=KINDS)
@pytest.mark.parametrize("heads", [SEVERAL, WHOLE_LAYERS], ids=["several", "whole layers"])
@pytest.mark.parametrize("factor", [0.0, -0.5, 3.0])
@torch.no_grad()
def test_scaling_is_scaling_the_columns_of_the_output_projection(
    config, heads: list[Head], factor: float
) -> None:
    model = make_model(config)
    source, target = random_ids(2, 7, NUM_SOURCE), random_ids(2, 5, NUM_TARGET)
    source[1, -2:] = model.padding_id
    changed = with_columns_scaled(model, dict.fromkeys(heads, factor))
    whole = model(source, target).logits
    interventions = scaled(model, heads, factor, 2)
    for need_maps in (False, True):
        expected = changed(source, target, need_maps=need_maps)
        output = model(source, target, need_maps=need_maps, interventions=interventions)
        torch.testing.assert_close(output.logits, expected.logits, rtol=0, atol=ROUNDING)
        if need_maps:
            torch.testing.assert_close(
                output.encoder_maps, expected.encoder_maps, rtol=0, atol=ROUNDING
            )
            torch.testing.assert_close(
                output.decoder_maps, expected.decoder_maps, rtol=0, atol=ROUNDING
            )
            torch.testing.assert_close(
                output.cross_maps, expected.cross_maps, rtol=0, atol=ROUNDING
            )
    assert (output.logits - whole).abs().max() > 1e-3


def with_networks_scaled(model: Transformer, factors: dict[Network, float]) -> Transformer:
    """A copy in which the last linear layer of these networks is multiplied by a factor."""
    copied = copy.deepcopy(model)
    for network, factor in factors.items():
        layers = copied.encoder_layers if network.side == "encoder" else copied.decoder_layers
        contract = layers[network.layer].feed_forward.contract
        contract.weight.data *= factor
        contract.bias.data *= factor
    return copied


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("factor", [0.0, -0.5, 3.0])
@torch.no_grad()
def test_scaling_a_network_is_scaling_its_last_layer(config, factor: float) -> None:
    model = make_model(config)
    source, target = random_ids(2, 7, NUM_SOURCE), random_ids(2, 5, NUM_TARGET)
    source[1, -2:] = model.padding_id
    expected = with_networks_scaled(model, dict.fromkeys(NETWORKS, factor))(
        source, target, need_maps=True
    )
    output = model(source, target, need_maps=True, interventions=scaled(model, NETWORKS, factor, 2))
    torch.testing.assert_close(output.logits, expected.logits, rtol=0, atol=ROUNDING)
    torch.testing.assert_close(output.cross_maps, expected.cross_maps, rtol=0, atol=ROUNDING)
    assert (output.logits - model(source, target).logits).abs().max() > 1e-3


@torch.no_grad()
def test_heads_and_networks_are_off_in_cached_steps_too() -> None:
    model = make_model()
    source, target = random_ids(1, 7, NUM_SOURCE), random_ids(1, 5, NUM_TARGET)
    interventions = scaled(model, [*SEVERAL, *NETWORKS])
    expected = model(source, target, interventions=interventions).logits[0]
    state = model.start_decoding(model.encode(source, interventions=interventions), 5)
    stepped = torch.cat([state.read(target[:, step]) for step in range(5)])
    torch.testing.assert_close(stepped, expected, rtol=0, atol=ROUNDING)
    assert (model(source, target).logits[0] - expected).abs().max() > 1e-3


@torch.no_grad()
def test_afterwards_everything_is_as_before_to_the_last_bit() -> None:
    model = make_model()
    source, target = random_ids(1, 7, NUM_SOURCE), random_ids(1, 5, NUM_TARGET)
    before, weights = model(source, target).logits, copy.deepcopy(model.state_dict())
    for sentence in DIFFERENT:
        model(source, target, interventions=compile_interventions(model, [sentence]))
    assert torch.equal(model(source, target).logits, before)
    assert model.state_dict().keys() == weights.keys()
    assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items())


@torch.no_grad()
def test_heads_are_scaled_together_as_one_after_the_other() -> None:
    model = make_model()
    source, target = random_ids(1, 7, NUM_SOURCE), random_ids(1, 5, NUM_TARGET)
    expected = with_columns_scaled(model, dict.fromkeys(SEVERAL[:3], 0.0))
    for_last = compile_interventions(expected, [SentenceChanges({SEVERAL[3]: 0.25}, {})])
    together = SentenceChanges({**dict.fromkeys(SEVERAL[:3], 0.0), SEVERAL[3]: 0.25}, {})
    logits = model(source, target, interventions=compile_interventions(model, [together])).logits
    torch.testing.assert_close(
        logits, expected(source, target, interventions=for_last).logits, rtol=0, atol=ROUNDING
    )


def padded_batch(places: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Pairs of different lengths, padded on both sides."""

    def rows(side: int, num_tokens: int) -> torch.Tensor:
        longest = max(LENGTHS[index][side] for index in places)
        batch = torch.full((len(places), longest), make_model().padding_id)
        for row, index in enumerate(places):
            length = LENGTHS[index][side]
            batch[row, :length] = random_ids(1, length, num_tokens, seed=index)[0]
        return batch

    return rows(0, NUM_SOURCE), rows(1, NUM_TARGET)


@pytest.mark.heavy
@pytest.mark.parametrize("config", first_quick(KINDS.values()), ids=KINDS)
@pytest.mark.parametrize("need_maps", [False, True])
@torch.no_grad()
def test_each_sentence_of_a_batch_has_its_own_changes(config, need_maps: bool) -> None:
    model = make_model(config)
    interventions = compile_interventions(model, DIFFERENT)
    together = model(*padded_batch([0, 1, 2, 3]), need_maps=need_maps, interventions=interventions)
    for index, (num_source, num_target) in enumerate(LENGTHS):
        own = compile_interventions(model, [DIFFERENT[index]])
        source, target = padded_batch([index])
        alone = model(source, target, need_maps=need_maps, interventions=own)
        torch.testing.assert_close(
            together.logits[index, :num_target], alone.logits[0], rtol=0, atol=ROUNDING
        )
        if need_maps:
            cross = together.cross_maps[index, :, :, :num_target, :num_source]
            torch.testing.assert_close(cross, alone.cross_maps[0], rtol=0, atol=ROUNDING)
        if index != 1:
            assert (alone.logits - model(source, target).logits).abs().max() > 1e-4, index


@pytest.mark.parametrize("places", [[2, 0], [3, 3, 0, 1, 3], [1]])
@torch.no_grad()
def test_selected_sentences_keep_their_changes(places: list[int]) -> None:
    model = make_model()
    source, _ = padded_batch([0, 1, 2, 3])
    target = random_ids(4, 4, NUM_TARGET)
    interventions = compile_interventions(model, DIFFERENT)
    whole = model(source, target, need_maps=True, interventions=interventions)
    rows = torch.tensor(places)

    selected = interventions.select(rows)
    direct = model(source[rows], target[rows], need_maps=True, interventions=selected)
    torch.testing.assert_close(direct.logits, whole.logits[rows], rtol=0, atol=ROUNDING)

    of_all = model.encode(source, need_maps=True, interventions=interventions)
    encoding = of_all.select(rows)
    assert torch.equal(encoding.states, of_all.states[rows])
    assert encoding.mask is not None
    assert torch.equal(encoding.mask[:, 0, 0], source[rows] != model.padding_id)
    decoded = model.decode(encoding, target[rows], need_maps=True)
    torch.testing.assert_close(decoded.logits, whole.logits[rows], rtol=0, atol=ROUNDING)
    torch.testing.assert_close(
        decoded.encoder_maps, whole.encoder_maps[rows], rtol=0, atol=ROUNDING
    )
    torch.testing.assert_close(decoded.cross_maps, whole.cross_maps[rows], rtol=0, atol=ROUNDING)

    state = model.start_decoding(model.encode(source, interventions=interventions), 4)
    stepped = [state.read(target[:, 0])[rows], state.read(target[:, 1])[rows]]
    state.select(rows)
    stepped += [state.read(target[rows, 2]), state.read(target[rows, 3])]
    torch.testing.assert_close(
        torch.stack(stepped, dim=1), whole.logits[rows], rtol=0, atol=ROUNDING
    )


@torch.no_grad()
def test_an_encoding_can_get_other_changes_in_the_decoder() -> None:
    model = make_model()
    source, target = random_ids(2, 6, NUM_SOURCE), random_ids(2, 4, NUM_TARGET)
    in_decoder = scaled(model, [Head("cross", 1, 3), Head("decoder", 0, 0)], 0.0, 2)
    plain = model.encode(source)
    assert not plain.select(torch.tensor([1])).interventions.changes
    logits = model.decode(plain.with_interventions(in_decoder), target).logits
    torch.testing.assert_close(
        logits, model(source, target, interventions=in_decoder).logits, rtol=0, atol=ROUNDING
    )
    assert torch.equal(model.decode(plain, target).logits, model(source, target).logits)


def test_nothing_to_change_makes_no_tensors_and_a_factor_of_one_multiplies_nothing() -> None:
    model = make_model()
    assert compile_interventions(model, []) is NO_INTERVENTIONS
    assert compile_interventions(model, [SentenceChanges({}, {})] * 3) is NO_INTERVENTIONS
    compiled = scaled(model, SEVERAL, 1.0)
    assert all(
        changes.scale is None and changes.rows is None for changes in compiled.changes.values()
    )
    source, target = random_ids(1, 7, NUM_SOURCE), random_ids(1, 5, NUM_TARGET)
    with torch.no_grad():
        assert torch.equal(
            model(source, target, interventions=compiled).logits, model(source, target).logits
        )


def test_only_modules_with_changes_are_listed() -> None:
    compiled = compile_interventions(make_model(), DIFFERENT)
    assert set(compiled.changes) == {
        ("encoder", 0),
        ("encoder", 1),
        ("decoder", 0),
        ("decoder", 2),
        ("cross", 1),
        ("cross", 2),
    }
    assert set(compiled.factors) == {("encoder", 1), ("decoder", 1)}
    assert compiled.factors["decoder", 1].flatten().tolist() == [1.0, 1.0, 2.0, -1.0]
    assert compiled.factor_of("decoder", 0) is None
    assert compiled.of("cross", 0) is NO_CHANGES
    changes = compiled.of("cross", 1)
    assert changes.scale is not None
    assert changes.scale[:, 3].tolist() == [2.0, 1.0, -1.5, 1.0]
    assert changes.rows is None


def test_all_heads_and_networks_are_listed_once() -> None:
    heads, networks = heads_of(make_model().config), networks_of(make_model().config)
    assert len(heads) == len(set(heads)) == 4 * (2 + 3 + 3)
    assert len(networks) == len(set(networks)) == 2 + 3


@pytest.mark.parametrize(
    "network", [Network("encoder", 2), Network("decoder", 3), Network("decoder", -1)]
)
def test_a_network_that_is_not_there_is_refused(network: Network) -> None:
    with pytest.raises(AnalysisError, match="It has 2 encoder and 3 decoder layers"):
        compile_interventions(
            make_model(SMALL), [SentenceChanges(), SentenceChanges({network: 0.0})]
        )


@pytest.mark.parametrize(
    "head", [Head("encoder", 2, 0), Head("cross", 0, 4), Head("decoder", -1, 0)]
)
def test_a_head_that_is_not_there_is_refused(head: Head) -> None:
    model = make_model(SMALL)
    for sentence in (SentenceChanges({head: 0.0}, {}), SentenceChanges({}, {(head, 0): (1.0,)})):
        with pytest.raises(AnalysisError, match="encoder 2 × 4, decoder 3 × 4, cross 3 × 4"):
            compile_interventions(model, [SentenceChanges({}, {}), sentence])
