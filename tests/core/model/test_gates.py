"""A head that is switched off is a head whose columns of the output projection are deleted."""

import copy

import pytest
import torch

from core.errors import AnalysisError
from core.model.gates import all_heads, attentions_of, heads_off
from core.model.heads import Head
from core.model.transformer import Transformer
from tests.core.model.small_models import KINDS, NUM_SOURCE, NUM_TARGET, SMALL, make_model, random_ids

SEVERAL = [Head("encoder", 0, 1), Head("decoder", 2, 0), Head("cross", 1, 3), Head("cross", 1, 2)]
WHOLE_LAYERS = [Head(kind, 1, head) for kind in ("encoder", "decoder", "cross") for head in range(4)]


def with_columns_deleted(model: Transformer, heads: list[Head]) -> Transformer:
    """A copy in which the output projections know nothing of these heads."""
    copied = copy.deepcopy(model)
    for head in heads:
        module = attentions_of(copied)[head.kind][head.layer]
        columns = slice(head.head * module.head_width, (head.head + 1) * module.head_width)
        module.out_proj.weight.data[:, columns] = 0
    return copied


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("heads", [SEVERAL, WHOLE_LAYERS], ids=["several", "whole layers"])
@torch.no_grad()
def test_switching_off_is_deleting_the_columns_of_the_output_projection(config, heads: list[Head]) -> None:
    model = make_model(config)
    source, target = random_ids(2, 7, NUM_SOURCE), random_ids(2, 5, NUM_TARGET)
    source[1, -2:] = model.padding_id
    deleted = with_columns_deleted(model, heads)
    whole = model(source, target).logits
    for need_maps in (False, True):
        expected = deleted(source, target, need_maps=need_maps)
        with heads_off(model, heads):
            gated = model(source, target, need_maps=need_maps)
        torch.testing.assert_close(gated.logits, expected.logits, rtol=0, atol=1e-5)
        if need_maps:
            torch.testing.assert_close(gated.cross_maps, expected.cross_maps, rtol=0, atol=1e-6)
    assert (gated.logits - whole).abs().max() > 1e-3


@torch.no_grad()
def test_heads_are_off_in_cached_steps_too() -> None:
    model = make_model()
    source, target = random_ids(1, 7, NUM_SOURCE), random_ids(1, 5, NUM_TARGET)
    with heads_off(model, SEVERAL):
        expected = model(source, target).logits[0]
        state = model.start_decoding(model.encode(source), 5)
        stepped = torch.cat([model.step(target[:, step], state) for step in range(5)])
    torch.testing.assert_close(stepped, expected, rtol=0, atol=1e-5)


@torch.no_grad()
def test_afterwards_everything_is_as_before_to_the_last_bit() -> None:
    model = make_model()
    source, target = random_ids(1, 7, NUM_SOURCE), random_ids(1, 5, NUM_TARGET)
    before = model(source, target).logits

    def fail_inside() -> None:
        with heads_off(model, SEVERAL):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_inside()
    assert torch.equal(model(source, target).logits, before)
    assert all(module.gate is None for modules in attentions_of(model).values() for module in modules)


@torch.no_grad()
def test_nested_blocks_add_up() -> None:
    model = make_model()
    source, target = random_ids(1, 7, NUM_SOURCE), random_ids(1, 5, NUM_TARGET)
    with heads_off(model, SEVERAL):
        together = model(source, target).logits
    with heads_off(model, SEVERAL[:3]):
        outer = model(source, target).logits
        with heads_off(model, SEVERAL[3:]):
            nested = model(source, target).logits
        again = model(source, target).logits
    assert torch.equal(nested, together)
    assert torch.equal(again, outer)


def test_all_heads_are_listed_once() -> None:
    heads = all_heads(make_model())
    assert len(heads) == len(set(heads)) == 4 * (2 + 3 + 3)


def test_gates_are_no_parameters() -> None:
    model = make_model()
    names = [name for name, _ in model.named_parameters()]
    with heads_off(model, SEVERAL):
        assert [name for name, _ in model.named_parameters()] == names
        assert model.state_dict().keys() == make_model().state_dict().keys()


@pytest.mark.parametrize("head", [Head("encoder", 2, 0), Head("cross", 0, 4), Head("decoder", -1, 0)])
def test_a_head_that_is_not_there_is_refused(head: Head) -> None:
    model = make_model(SMALL)
    with pytest.raises(AnalysisError, match="encoder 2 × 4, decoder 3 × 4, cross 3 × 4"), heads_off(model, [head]):
        pass
