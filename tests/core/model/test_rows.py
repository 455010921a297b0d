"""A row set by hand is used in place of the softmax, in steps and in one pass; unused, the hook costs nothing."""

import pytest
import torch
from torch import nn

from core.model.gates import attentions_of, heads_off
from core.model.heads import FixedRow, Head
from core.model.rows import observed_step, rows_fixed
from core.model.transformer import Transformer
from tests.core.model.small_models import KINDS, NUM_SOURCE, NUM_TARGET, make_model, random_ids

SOURCE, TARGET = random_ids(1, 7, NUM_SOURCE), random_ids(1, 5, NUM_TARGET)
ROW = FixedRow(1, 2, 3, (0.0, 0.5, 0.0, 0.0, 0.25, 0.25, 0.0))


def stepped(model: Transformer, rows: list[FixedRow]) -> tuple[torch.Tensor, list]:
    state = model.start_decoding(model.encode(SOURCE), TARGET.size(1))
    observed = [observed_step(model, TARGET[:, step], state, rows) for step in range(TARGET.size(1))]
    return torch.stack([each.logits for each in observed], dim=1), observed


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
@torch.no_grad()
def test_observed_steps_give_the_logits_and_rows_of_one_pass(config) -> None:
    model = make_model(config)
    expected = model(SOURCE, TARGET, need_maps=True)
    logits, observed = stepped(model, [])
    torch.testing.assert_close(logits, expected.logits, rtol=0, atol=1e-5)
    for step, each in enumerate(observed):
        torch.testing.assert_close(each.cross_rows, expected.cross_maps[:, :, :, step], rtol=0, atol=1e-6)
        torch.testing.assert_close(each.self_rows, expected.decoder_maps[:, :, :, step, : step + 1], rtol=0, atol=1e-6)


@torch.no_grad()
def output_with_row_by_hand(model: Transformer, row: FixedRow) -> torch.Tensor:
    """The logits when a hook of this test computes that head's output anew from the row and the values."""
    module = attentions_of(model)["cross"][row.layer]
    width, size = model.config.width, module.head_width
    columns = slice(row.head * size, (row.head + 1) * size)

    def replace_output(_: nn.Module, inputs: tuple, output: tuple) -> tuple:
        memory, (mixed, maps) = inputs[1], output
        values = memory[0] @ module.in_proj_weight[2 * width :][columns].T + module.in_proj_bias[2 * width :][columns]
        change = (torch.tensor(row.weights) - maps[0, row.head, row.step]) @ values
        mixed = mixed.clone()
        mixed[0, row.step] += module.out_proj.weight[:, columns] @ change
        return mixed, maps

    hook = module.register_forward_hook(replace_output)
    try:
        return model(SOURCE, TARGET, need_maps=True).logits
    finally:
        hook.remove()


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
@torch.no_grad()
def test_a_fixed_row_is_what_the_head_mixes_its_values_by(config) -> None:
    model = make_model(config)
    expected = output_with_row_by_hand(model, ROW)
    assert (expected - model(SOURCE, TARGET).logits).abs().max() > 1e-3
    with rows_fixed(model, [ROW]):
        for need_maps in (False, True):
            found = model(SOURCE, TARGET, need_maps=need_maps)
            torch.testing.assert_close(found.logits, expected, rtol=0, atol=1e-5)
    assert found.cross_maps[0, 1, 2, 3].tolist() == list(ROW.weights)
    logits, observed = stepped(model, [ROW])
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-5)
    assert observed[3].cross_rows[0, 1, 2].tolist() == list(ROW.weights)


@torch.no_grad()
def test_a_fixed_row_of_a_head_that_is_off_changes_nothing() -> None:
    model = make_model()
    with heads_off(model, [Head("cross", 1, 2)]):
        before = model(SOURCE, TARGET, need_maps=True).logits
        with rows_fixed(model, [ROW]):
            assert torch.equal(model(SOURCE, TARGET, need_maps=True).logits, before)


@torch.no_grad()
def test_afterwards_no_hook_is_left_and_the_fused_kernel_is_back() -> None:
    model = make_model()
    before = model(SOURCE, TARGET).logits

    def fail_inside() -> None:
        with rows_fixed(model, [ROW]):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_inside()
    stepped(model, [ROW])
    assert all(module.weights_hook is None for modules in attentions_of(model).values() for module in modules)
    assert torch.equal(model(SOURCE, TARGET).logits, before)
