"""The mask over targets is causal alone: padding stands right of all real tokens, and Marian's
begin with its id."""

import pytest
import torch
from torch import Tensor

from augenmerk.core.config import RunConfig
from augenmerk.core.extensions.run_settings.presets import PRESETS
from augenmerk.core.extensions.training.loss import output_layer_loss
from augenmerk.core.model.interventions import NO_INTERVENTIONS, Interventions
from augenmerk.core.model.transformer import Transformer
from tests.core.model.small_models import (
    MARIAN,
    NUM_SOURCE,
    NUM_TARGET,
    PADDING,
    make_model,
    random_ids,
)


class _PaddingMasked(Transformer):
    """As it was: what is padded in the target cannot be seen by anyone."""

    def target_mask(
        self, target: Tensor, interventions: Interventions = NO_INTERVENTIONS
    ) -> Tensor:
        return (
            super().target_mask(target, interventions)
            & (target != self.padding_id)[:, None, None, :]
        )


def _loss_and_gradients(
    kind: type[Transformer], run: RunConfig
) -> tuple[Tensor, dict[str, Tensor]]:
    """One training step's, dropout included, on rows of different lengths."""
    heads = {"width": 32, "num_heads": 4, "feed_forward_width": 40}
    num_source = num_target = 30
    torch.manual_seed(3)
    model = kind(
        run.model.replace(**heads, max_positions=40), num_source, num_target, PADDING
    ).train()
    source, target = random_ids(4, 9, num_source), random_ids(4, 12, num_target)
    for row, length in enumerate((12, 7, 3, 1)):
        target[row, length:] = PADDING
        source[row, max(1, length - 3) :] = PADDING
    read, expected = target[:, :-1], target[:, 1:]
    rows = expected != PADDING
    torch.manual_seed(4)
    hidden = model.hidden_states(source, read)[rows]
    smoothing = run.training.label_smoothing
    loss = output_layer_loss(
        hidden, model.output.weight, model.output.bias, expected[rows], smoothing, PADDING
    )
    loss.backward()
    return loss.detach(), {
        name: value.grad for name, value in model.named_parameters() if value.grad is not None
    }


@pytest.mark.parametrize("run", PRESETS.values(), ids=PRESETS)
def test_loss_and_gradients_are_to_the_last_bit_those_with_padding_masked(run: RunConfig) -> None:
    loss, gradients = _loss_and_gradients(Transformer, run)
    then, gradients_then = _loss_and_gradients(_PaddingMasked, run)
    assert torch.equal(loss, then)
    assert gradients.keys() == gradients_then.keys()
    for name, gradient in gradients.items():
        assert gradient.isfinite().all()
        assert torch.equal(gradient, gradients_then[name]), name


@torch.inference_mode()
def test_a_target_may_begin_with_padding() -> None:
    model = make_model(MARIAN)
    source, target = random_ids(3, 6, NUM_SOURCE), random_ids(3, 7, NUM_TARGET)
    target[:, 0] = PADDING
    target[1, 4:] = PADDING
    output = model(source, target, need_maps=True)
    assert output.logits.isfinite().all()
    alone = model(source[1:2], target[1:2, :4], need_maps=True)
    torch.testing.assert_close(output.logits[1:2, :4], alone.logits, rtol=0, atol=1e-5)
    torch.testing.assert_close(
        output.decoder_maps[1:2, ..., :4, :4], alone.decoder_maps, rtol=0, atol=1e-5
    )
    state = model.start_decoding(model.encode(source), 7)
    for step in range(4):
        torch.testing.assert_close(
            state.read(target[:, step]), output.logits[:, step], rtol=0, atol=1e-5
        )
