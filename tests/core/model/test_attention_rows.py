"""A row that is set is used in place of the softmax's, in steps and in one pass, and no other row
is touched."""

import pytest
import torch
from torch import nn

from augenmerk.core.model import attention
from augenmerk.core.model.heads import Head, SentenceChanges
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.model.interventions import NO_INTERVENTIONS, Interventions
from augenmerk.core.model.sites import attentions_of
from augenmerk.core.model.transformer import Transformer
from tests.core.model.small_models import KINDS, NUM_SOURCE, NUM_TARGET, make_model, random_ids

SOURCE, TARGET = random_ids(1, 7, NUM_SOURCE), random_ids(1, 5, NUM_TARGET)
ROWS = {
    "encoder": (Head("encoder", 1, 2), 3, (0.0, 0.5, 0.0, 0.0, 0.25, 0.25, 0.0)),
    "decoder": (Head("decoder", 0, 1), 2, (0.25, 0.0, 0.75)),
    "cross": (Head("cross", 1, 2), 3, (0.0, 0.5, 0.0, 0.0, 0.25, 0.25, 0.0)),
}
Row = tuple[Head, int, tuple[float, ...]]
every_model = pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
every_row = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)


def with_row(
    model: Transformer, *rows: Row, factors: dict[Head, float] | None = None
) -> Interventions:
    return compile_interventions(
        model,
        [SentenceChanges(factors or {}, {(head, query): weights for head, query, weights in rows})],
    )


def stepped(model: Transformer, interventions: Interventions = NO_INTERVENTIONS) -> torch.Tensor:
    state = model.start_decoding(model.encode(SOURCE, interventions=interventions), TARGET.size(1))
    return torch.stack([state.read(TARGET[:, step]) for step in range(TARGET.size(1))], dim=1)


@every_model
@torch.no_grad()
def test_steps_give_the_logits_of_one_pass(config) -> None:
    model = make_model(config)
    for interventions in (
        NO_INTERVENTIONS,
        with_row(model, *ROWS.values(), factors={Head("cross", 0, 1): 2.0}),
    ):
        expected = model(SOURCE, TARGET, interventions=interventions)
        torch.testing.assert_close(
            stepped(model, interventions), expected.logits, rtol=0, atol=1e-5
        )


@torch.no_grad()
def output_with_row_by_hand(model: Transformer, row: Row) -> torch.Tensor:
    """The logits when a hook of this test computes that head's output anew from the row and the
    values."""
    head, query, weights = row
    module = attentions_of(model)[head.kind][head.layer]
    width, size = model.config.width, module.head_width
    columns = slice(head.head * size, (head.head + 1) * size)

    def replace_output(_: nn.Module, inputs: tuple, output: tuple) -> tuple:
        memory, (mixed, maps) = inputs[0] if inputs[1] is None else inputs[1], output
        values = (
            memory[0] @ module.in_proj_weight[2 * width :][columns].T
            + module.in_proj_bias[2 * width :][columns]
        )
        used = torch.zeros(len(values))
        used[: len(weights)] = torch.tensor(weights)
        change = (used - maps[0, head.head, query]) @ values
        mixed = mixed.clone()
        mixed[0, query] += module.out_proj.weight[:, columns] @ change
        return mixed, maps

    hook = module.register_forward_hook(replace_output)
    try:
        return model(SOURCE, TARGET, need_maps=True).logits
    finally:
        hook.remove()


@every_model
@every_row
@torch.no_grad()
def test_a_row_that_is_set_is_what_the_head_mixes_its_values_by(config, row: Row) -> None:
    model = make_model(config)
    head, query, weights = row
    expected = output_with_row_by_hand(model, row)
    plain = model(SOURCE, TARGET, need_maps=True)
    assert (expected - plain.logits).abs().max() > 1e-3
    interventions = with_row(model, row)
    for need_maps in (False, True):
        output = model(SOURCE, TARGET, need_maps=need_maps, interventions=interventions)
        torch.testing.assert_close(output.logits, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(stepped(model, interventions), expected, rtol=0, atol=1e-5)
    maps = {
        "encoder": output.encoder_maps,
        "decoder": output.decoder_maps,
        "cross": output.cross_maps,
    }[head.kind]
    used = maps[0, head.layer, head.head, query].tolist()
    assert used[: len(weights)] == list(weights)
    assert not any(used[len(weights) :])
    before = {
        "encoder": plain.encoder_maps,
        "decoder": plain.decoder_maps,
        "cross": plain.cross_maps,
    }[head.kind]
    others = torch.arange(maps.size(3)) != query
    assert torch.equal(
        maps[0, head.layer, head.head, others], before[0, head.layer, head.head, others]
    )


@every_row
@torch.no_grad()
def test_a_row_of_the_decoder_changes_nothing_before_its_step(row: Row) -> None:
    model = make_model()
    head, query, _ = row
    interventions = with_row(model, row)
    in_one_pass = model(SOURCE, TARGET, interventions=interventions).logits[0]
    change = (in_one_pass - model(SOURCE, TARGET).logits[0]).abs().amax(dim=-1)
    first = 0 if head.kind == "encoder" else query
    assert (change[:first] < 1e-5).all()
    assert (change[first:] > 1e-4).all()
    step_by_step = stepped(model, interventions)[0, :first], stepped(model)[0, :first]
    torch.testing.assert_close(*step_by_step, rtol=0, atol=1e-5)


@every_row
@torch.no_grad()
def test_a_row_set_to_its_own_weights_changes_nothing(row: Row) -> None:
    model = make_model()
    head, query, _ = row
    plain = model(SOURCE, TARGET, need_maps=True)
    maps = {
        "encoder": plain.encoder_maps,
        "decoder": plain.decoder_maps,
        "cross": plain.cross_maps,
    }[head.kind]
    own = tuple(maps[0, head.layer, head.head, query].tolist())
    logits = model(SOURCE, TARGET, interventions=with_row(model, (head, query, own))).logits
    torch.testing.assert_close(logits, plain.logits, rtol=0, atol=1e-5)


@every_row
@torch.no_grad()
def test_a_row_of_a_head_that_is_off_changes_nothing(row: Row) -> None:
    model = make_model()
    off = with_row(model, factors={row[0]: 0.0})
    both = with_row(model, row, factors={row[0]: 0.0})
    before = model(SOURCE, TARGET, need_maps=True, interventions=off).logits
    assert torch.equal(model(SOURCE, TARGET, need_maps=True, interventions=both).logits, before)


@torch.no_grad()
def test_a_row_beyond_the_end_changes_nothing() -> None:
    model = make_model()
    rows = [
        (Head("encoder", 0, 0), 30, (1.0,)),
        (Head("cross", 2, 1), 30, (1.0,)),
        (Head("decoder", 1, 1), 30, (1.0,)),
    ]
    interventions = with_row(model, *rows)
    for need_maps in (False, True):
        logits = model(SOURCE, TARGET, need_maps=need_maps, interventions=interventions).logits
        torch.testing.assert_close(logits, model(SOURCE, TARGET).logits, rtol=0, atol=1e-5)
    torch.testing.assert_close(stepped(model, interventions), stepped(model), rtol=0, atol=1e-5)


@torch.no_grad()
def test_without_changes_the_fused_kernel_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make_model()
    before = model(SOURCE, TARGET).logits
    with_rows = with_row(model, *ROWS.values())
    weighed: list[object] = []
    scores_of = attention.attention_scores
    monkeypatch.setattr(
        attention, "attention_scores", lambda *inputs: weighed.append(1) or scores_of(*inputs)
    )
    assert torch.equal(model(SOURCE, TARGET).logits, before)
    assert not weighed
    model(SOURCE, TARGET, interventions=with_rows)
    assert len(weighed) == len(ROWS), "only the modules with rows"
