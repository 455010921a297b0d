"""The modules of notebook 6 and of the Annotated Transformer, written anew under their published
names."""

import copy
import math
from pathlib import Path

import torch
from torch import Tensor, nn


class NotebookAttention(nn.Module):
    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self.heads = num_heads
        self.fc_q, self.fc_k, self.fc_v, self.fc_o = (nn.Linear(width, width) for _ in range(4))

    def forward(self, query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
        def split(states: Tensor) -> Tensor:
            return states.unflatten(2, (self.heads, -1)).transpose(1, 2)

        queries, keys, values = (
            split(self.fc_q(query)),
            split(self.fc_k(key)),
            split(self.fc_v(key)),
        )
        energy = queries @ keys.transpose(2, 3) / math.sqrt(queries.size(-1))
        weights = energy.masked_fill(~mask, -1e10).softmax(-1)
        return self.fc_o((weights @ values).transpose(1, 2).flatten(2))


class NotebookFeedForward(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.fc_1, self.fc_2 = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, states: Tensor) -> Tensor:
        return self.fc_2(torch.relu(self.fc_1(states)))


class NotebookEncoderLayer(nn.Module):
    def __init__(self, width: int, num_heads: int, inner: int) -> None:
        super().__init__()
        self.self_attn_layer_norm, self.ff_layer_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.self_attention = NotebookAttention(width, num_heads)
        self.positionwise_feedforward = NotebookFeedForward(width, inner)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        states = self.self_attn_layer_norm(states + self.self_attention(states, states, mask))
        return self.ff_layer_norm(states + self.positionwise_feedforward(states))


class NotebookDecoderLayer(nn.Module):
    def __init__(self, width: int, num_heads: int, inner: int) -> None:
        super().__init__()
        self.self_attn_layer_norm, self.enc_attn_layer_norm, self.ff_layer_norm = (
            nn.LayerNorm(width) for _ in range(3)
        )
        self.self_attention = NotebookAttention(width, num_heads)
        self.encoder_attention = NotebookAttention(width, num_heads)
        self.positionwise_feedforward = NotebookFeedForward(width, inner)

    def forward(self, states: Tensor, memory: Tensor, mask: Tensor, source_mask: Tensor) -> Tensor:
        states = self.self_attn_layer_norm(states + self.self_attention(states, states, mask))
        states = self.enc_attn_layer_norm(
            states + self.encoder_attention(states, memory, source_mask)
        )
        return self.ff_layer_norm(states + self.positionwise_feedforward(states))


class NotebookSide(nn.Module):
    def __init__(
        self, vocabulary: int, layer: nn.Module, num_layers: int, width: int, has_output: bool
    ) -> None:
        super().__init__()
        self.tok_embedding, self.pos_embedding = (
            nn.Embedding(vocabulary, width),
            nn.Embedding(100, width),
        )
        self.layers = nn.ModuleList(copy.deepcopy(layer) for _ in range(num_layers))
        if has_output:
            self.fc_out = nn.Linear(width, vocabulary)

    def embed(self, ids: Tensor) -> Tensor:
        return self.tok_embedding(ids) * math.sqrt(
            self.tok_embedding.embedding_dim
        ) + self.pos_embedding(torch.arange(ids.size(1)))


class NotebookSeq2Seq(nn.Module):
    """Padding is 1 on both sides."""

    def __init__(
        self, num_source: int, num_target: int, *, width: int, layers: int, heads: int, inner: int
    ) -> None:
        super().__init__()
        self.encoder = NotebookSide(
            num_source, NotebookEncoderLayer(width, heads, inner), layers, width, False
        )
        self.decoder = NotebookSide(
            num_target, NotebookDecoderLayer(width, heads, inner), layers, width, True
        )

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        source_mask = (source != 1)[:, None, None]
        length = target.size(1)
        mask = (target != 1)[:, None, None] & torch.ones(length, length, dtype=torch.bool).tril()
        memory = self.encoder.embed(source)
        for layer in self.encoder.layers:
            memory = layer(memory, source_mask)
        states = self.decoder.embed(target)
        for layer in self.decoder.layers:
            states = layer(states, memory, mask, source_mask)
        return self.decoder.fc_out(states)


class AnnotatedNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.a_2, self.b_2 = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, states: Tensor) -> Tensor:
        mean, std = states.mean(-1, keepdim=True), states.std(-1, keepdim=True)
        return self.a_2 * (states - mean) / (std + 1e-6) + self.b_2


class Sublayer(nn.Module):
    def __init__(self, width: int, own_norm: bool) -> None:
        super().__init__()
        self.norm = AnnotatedNorm(width) if own_norm else nn.LayerNorm(width)


class AnnotatedAttention(nn.Module):
    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self.heads = num_heads
        self.linears = nn.ModuleList(nn.Linear(width, width) for _ in range(4))

    def forward(self, query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
        parts = [
            linear(states).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for linear, states in zip(self.linears, (query, key, key), strict=False)
        ]
        scores = parts[0] @ parts[1].transpose(2, 3) / math.sqrt(parts[0].size(-1))
        weights = scores.masked_fill(~mask, -1e9).softmax(-1)
        return self.linears[3]((weights @ parts[2]).transpose(1, 2).flatten(2))


class AnnotatedFeedForward(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, states: Tensor) -> Tensor:
        return self.w_2(self.w_1(states).relu())


class AnnotatedLayer(nn.Module):
    def __init__(
        self, width: int, num_heads: int, inner: int, own_norm: bool, reads_source: bool
    ) -> None:
        super().__init__()
        self.self_attn = AnnotatedAttention(width, num_heads)
        if reads_source:
            self.src_attn = AnnotatedAttention(width, num_heads)
        self.feed_forward = AnnotatedFeedForward(width, inner)
        self.sublayer = nn.ModuleList(
            Sublayer(width, own_norm) for _ in range(3 if reads_source else 2)
        )

    def forward(
        self,
        states: Tensor,
        mask: Tensor,
        memory: Tensor | None = None,
        source_mask: Tensor | None = None,
    ):
        read = self.sublayer[0].norm(states)
        states = states + self.self_attn(read, read, mask)
        if memory is not None:
            states = states + self.src_attn(self.sublayer[1].norm(states), memory, source_mask)
        return states + self.feed_forward(self.sublayer[-1].norm(states))


class AnnotatedSide(nn.Module):
    def __init__(self, layers: list[nn.Module], width: int, own_norm: bool) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norm = AnnotatedNorm(width) if own_norm else nn.LayerNorm(width)


class Lookup(nn.Module):
    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.lut = nn.Embedding(vocabulary, width)


class Waves(nn.Module):
    def __init__(self, width: int, num_positions: int = 5000) -> None:
        super().__init__()
        table = torch.zeros(num_positions, width)
        position = torch.arange(0, num_positions).unsqueeze(1)
        term = torch.exp(torch.arange(0, width, 2) * -(math.log(10000.0) / width))
        table[:, 0::2], table[:, 1::2] = torch.sin(position * term), torch.cos(position * term)
        self.register_buffer("pe", table.unsqueeze(0))


class Generator(nn.Module):
    def __init__(self, width: int, vocabulary: int) -> None:
        super().__init__()
        self.proj = nn.Linear(width, vocabulary)


class EncoderDecoder(nn.Module):
    def __init__(
        self,
        num_source: int,
        num_target: int,
        padding: int,
        *,
        width: int,
        layers: int,
        heads: int,
        inner: int,
        own_norm: bool = True,
    ) -> None:
        super().__init__()
        self.padding, self.width = padding, width

        def side(reads_source: bool) -> AnnotatedSide:
            made = [
                AnnotatedLayer(width, heads, inner, own_norm, reads_source) for _ in range(layers)
            ]
            return AnnotatedSide(made, width, own_norm)

        self.encoder, self.decoder = side(False), side(True)
        self.src_embed = nn.Sequential(Lookup(num_source, width), Waves(width))
        self.tgt_embed = nn.Sequential(Lookup(num_target, width), Waves(width))
        self.generator = Generator(width, num_target)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        def embed(parts: nn.Sequential, ids: Tensor) -> Tensor:
            return parts[0].lut(ids) * math.sqrt(self.width) + parts[1].pe[:, : ids.size(1)]

        source_mask = (source != self.padding)[:, None, None]
        length = target.size(1)
        mask = (target != self.padding)[:, None, None] & torch.ones(
            length, length, dtype=torch.bool
        ).tril()
        memory = embed(self.src_embed, source)
        for layer in self.encoder.layers:
            memory = layer(memory, source_mask)
        memory = self.encoder.norm(memory)
        states = embed(self.tgt_embed, target)
        for layer in self.decoder.layers:
            states = layer(states, mask, memory, source_mask)
        return self.generator.proj(self.decoder.norm(states))


def save_whole(model: nn.Module, path: Path) -> None:
    """As notebooks save a model with its classes, not its weights alone."""
    torch.save(model, path)


def shaken(model: nn.Module, seed: int = 0) -> nn.Module:
    """With weights that leave nothing at its starting value."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.normal_(std=1.5 * parameter.size(1) ** -0.5)
            else:
                parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return model.eval()
