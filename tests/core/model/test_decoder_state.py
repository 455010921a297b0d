"""Decoding step by step gives the logits of one pass."""

import pytest
import torch

from tests.core.model.small_models import (
    KINDS,
    NUM_SOURCE,
    NUM_TARGET,
    PADDING,
    PRE,
    make_model,
    random_ids,
)


@pytest.mark.parametrize("kind", KINDS)
@torch.inference_mode()
def test_steps_give_the_logits_of_one_pass(kind: str) -> None:
    model = make_model(KINDS[kind])
    source, target = random_ids(3, 9, NUM_SOURCE), random_ids(3, 8, NUM_TARGET)
    source[1, 6:] = PADDING
    expected = model(source, target).logits
    state = model.start_decoding(model.encode(source), max_steps=8)
    for step in range(8):
        logits = state.read(target[:, step])
        torch.testing.assert_close(logits, expected[:, step], rtol=0, atol=1e-5)
    assert state.step == 8


@torch.inference_mode()
def test_rows_taken_out_between_steps_leave_the_others_as_they_were() -> None:
    model = make_model(PRE)
    source, target = random_ids(3, 9, NUM_SOURCE), random_ids(3, 8, NUM_TARGET)
    source[1, 6:] = PADDING
    expected = model(source, target).logits
    state = model.start_decoding(model.encode(source), max_steps=8)
    for step in range(4):
        state.read(target[:, step])
    rows = torch.tensor([2, 1])
    state.select(rows)
    for step in range(4, 8):
        logits = state.read(target[rows, step])
        torch.testing.assert_close(logits, expected[rows, step], rtol=0, atol=1e-5)
