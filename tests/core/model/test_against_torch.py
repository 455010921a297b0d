"""The whole model against `torch.nn.Transformer` with the same weights."""

import math

import pytest
import torch
from torch import Tensor, nn

from augenmerk.core.model.attention import MultiHeadAttention
from augenmerk.core.model.layers import DecoderLayer, EncoderLayer, Residual
from augenmerk.core.model.transformer import Transformer
from tests.core.model.small_models import (
    KINDS,
    NUM_SOURCE,
    NUM_TARGET,
    PADDING,
    make_model,
    random_ids,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:enable_nested_tensor", "ignore:The PyTorch API of nested tensors"
)


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    theirs.in_proj_weight.copy_(ours.in_proj_weight)
    theirs.in_proj_bias.copy_(ours.in_proj_bias)
    theirs.out_proj.load_state_dict(ours.out_proj.state_dict())


def copy_layer(ours: EncoderLayer | DecoderLayer, theirs: nn.Module, norms: list[Residual]) -> None:
    copy_attention(ours.self_attention, theirs.self_attn)
    theirs.linear1.load_state_dict(ours.feed_forward.expand.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.contract.state_dict())
    for number, residual in enumerate(norms, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(residual.norm.state_dict())


@torch.no_grad()
def torch_twin(model: Transformer) -> nn.Transformer:
    """PyTorch's own, with the weights of `model`."""
    config = model.config
    twin = nn.Transformer(
        config.width,
        config.num_heads,
        config.num_encoder_layers,
        config.num_decoder_layers,
        config.feed_forward_width,
        config.dropout,
        norm_first=config.norm_position == "pre",
        batch_first=True,
    ).eval()
    if config.final_norm:
        twin.encoder.norm.load_state_dict(model.encoder_norm.state_dict())
        twin.decoder.norm.load_state_dict(model.decoder_norm.state_dict())
    else:
        twin.encoder.norm = twin.decoder.norm = None
    for ours, theirs in zip(model.encoder_layers, twin.encoder.layers, strict=True):
        copy_layer(ours, theirs, [ours.attention_residual, ours.feed_forward_residual])
    for ours, theirs in zip(model.decoder_layers, twin.decoder.layers, strict=True):
        copy_layer(
            ours, theirs, [ours.self_residual, ours.cross_residual, ours.feed_forward_residual]
        )
        copy_attention(ours.cross_attention, theirs.multihead_attn)
    return twin


def embed(model: Transformer, ids: Tensor, side: str) -> Tensor:
    embedding = getattr(model, f"{side}_embedding")
    return (
        embedding.tokens(ids) * math.sqrt(model.config.width) + embedding.positions[: ids.size(1)]
    )


def logits_of_twin(model: Transformer, source: Tensor, target: Tensor) -> Tensor:
    hidden = torch_twin(model)(
        embed(model, source, "source"),
        embed(model, target, "target"),
        tgt_mask=torch.ones(target.size(1), target.size(1), dtype=torch.bool).triu(1),
        src_key_padding_mask=source == PADDING,
        tgt_key_padding_mask=target == PADDING,
        memory_key_padding_mask=source == PADDING,
    )
    return model.output(hidden)


@pytest.mark.parametrize("need_maps", [False, True], ids=["fused", "with maps"])
@pytest.mark.parametrize("kind", ["post", "post-final", "pre"])
def test_outputs_are_those_of_pytorch(kind: str, need_maps: bool) -> None:
    model = make_model(KINDS[kind])
    source, target = random_ids(3, 9, NUM_SOURCE), random_ids(3, 8, NUM_TARGET)
    source[1, 6:] = PADDING
    target[2, 5:] = PADDING
    with torch.inference_mode():
        ours = model(source, target, need_maps=need_maps).logits
        expected = logits_of_twin(model, source, target)
    real = target != PADDING
    torch.testing.assert_close(ours[real], expected[real], rtol=0, atol=1e-5)
