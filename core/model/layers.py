"""Norms, the feed-forward network, and the layers of encoder and decoder. Shape legend: `core.model`."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from core.config import ModelConfig
from core.model.attention import KeysAndValues, MultiHeadAttention
from core.model.dropout import Dropout


class AnnotatedLayerNorm(nn.Module):
    """a · (x − mean) / (std + ε) + b, with the unbiased std and ε outside the root (The Annotated Transformer)."""

    def __init__(self, width: int, epsilon: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.epsilon = epsilon

    def forward(self, states: Tensor) -> Tensor:
        """Normalises the last dimension of [..., D]."""
        std, mean = torch.std_mean(states, dim=-1, keepdim=True)
        return self.weight * (states - mean) / (std + self.epsilon) + self.bias


def make_norm(config: ModelConfig) -> nn.Module:
    """A fresh norm of the kind the config names."""
    return AnnotatedLayerNorm(config.width) if config.norm_kind == "annotated" else nn.LayerNorm(config.width)


class FeedForward(nn.Module):
    """Two linear layers with a ReLU and dropout between (Vaswani et al. 2017, section 3.3)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.expand = nn.Linear(config.width, config.feed_forward_width)
        self.contract = nn.Linear(config.feed_forward_width, config.width)
        self.dropout = Dropout(config.dropout)

    def forward(self, states: Tensor) -> Tensor:
        """[..., D] to [..., D]."""
        output: Tensor = self.contract(self.dropout(functional.relu(self.expand(states), inplace=True)))
        return output


class Residual(nn.Module):
    """The path around a sublayer, with its norm before (pre) or behind (post) it.

    `before` and `after` are two halves, so that a sublayer can be called between them in plain sight.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = make_norm(config)
        self.dropout = Dropout(config.dropout)
        self.is_pre = config.norm_position == "pre"

    def before(self, states: Tensor) -> Tensor:
        """What the sublayer is given."""
        return self.norm(states) if self.is_pre else states

    def after(self, states: Tensor, sublayer_output: Tensor) -> Tensor:
        """What leaves the sublayer and the path around it."""
        summed = states + self.dropout(sublayer_output)
        return summed if self.is_pre else self.norm(summed)


class EncoderLayer(nn.Module):
    """Self-attention over the source, then the feed-forward network."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.width, config.num_heads, config.dropout)
        self.feed_forward = FeedForward(config)
        self.attention_residual = Residual(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self, states: Tensor, source_mask: Tensor | None, *, need_maps: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """[B, S, D] to [B, S, D], and the maps [B, H, S, S] if asked for."""
        attended, maps = self.self_attention(
            self.attention_residual.before(states), None, source_mask, need_maps=need_maps
        )
        states = self.attention_residual.after(states, attended)
        inner = self.feed_forward(self.feed_forward_residual.before(states))
        return self.feed_forward_residual.after(states, inner), maps


@dataclass
class LayerCache:
    """What one decoder layer remembers between steps.

    Attributes:
        keys, values: of the target tokens read so far, [B, H, max steps, K], filled from the left.
        source_keys, source_values: of the encoder's output, [B, H, S, K].
    """

    keys: Tensor
    values: Tensor
    source_keys: Tensor
    source_values: Tensor


class DecoderLayer(nn.Module):
    """Causal self-attention over the target, cross-attention to the source, then the feed-forward network."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.width, config.num_heads, config.dropout)
        self.cross_attention = MultiHeadAttention(config.width, config.num_heads, config.dropout)
        self.feed_forward = FeedForward(config)
        self.self_residual = Residual(config)
        self.cross_residual = Residual(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        states: Tensor,
        memory: Tensor,
        target_mask: Tensor | None,
        source_mask: Tensor | None,
        *,
        need_maps: bool = False,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """[B, T, D] to [B, T, D]; the maps [B, H, T, T] and [B, H, T, S] if asked for."""
        attended, self_maps = self.self_attention(
            self.self_residual.before(states), None, target_mask, need_maps=need_maps
        )
        states = self.self_residual.after(states, attended)
        attended, cross_maps = self.cross_attention(
            self.cross_residual.before(states), memory, source_mask, need_maps=need_maps
        )
        states = self.cross_residual.after(states, attended)
        inner = self.feed_forward(self.feed_forward_residual.before(states))
        return self.feed_forward_residual.after(states, inner), self_maps, cross_maps

    def new_cache(self, memory: Tensor, max_steps: int) -> LayerCache:
        """An empty cache of `max_steps` for a memory [B, S, D]."""
        source: KeysAndValues = self.cross_attention.project_keys_values(memory)
        batch, heads, _, head_width = source[0].shape
        keys = memory.new_empty(batch, heads, max_steps, head_width)
        return LayerCache(keys, torch.empty_like(keys), source[0].contiguous(), source[1].contiguous())

    def step(self, states: Tensor, cache: LayerCache, step: int, source_mask: Tensor | None) -> Tensor:
        """One target position, [B, 1, D] to [B, 1, D]; its keys and values are put into the cache at `step`."""
        queries, keys, values = self.self_attention.project_all(self.self_residual.before(states))
        cache.keys[:, :, step] = keys[:, :, 0]
        cache.values[:, :, step] = values[:, :, 0]
        seen = step + 1
        attended = self.self_attention.attend_cached(queries, cache.keys[:, :, :seen], cache.values[:, :, :seen], None)
        states = self.self_residual.after(states, attended)
        queries = self.cross_attention.project_queries(self.cross_residual.before(states))
        attended = self.cross_attention.attend_cached(queries, cache.source_keys, cache.source_values, source_mask)
        states = self.cross_residual.after(states, attended)
        return self.feed_forward_residual.after(states, self.feed_forward(self.feed_forward_residual.before(states)))
