"""Norms, the feed-forward network, and the layers of encoder and decoder. Shape legend: `core.model`."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from augenmerk.core.config import ModelConfig
from augenmerk.core.config.model_config import Activation
from augenmerk.core.model.attention import AttentionChanges, KeysAndValues, MultiHeadAttention
from augenmerk.core.model.dropout import Dropout
from augenmerk.core.model.products import Linear, linear


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
    if config.norm_kind == "annotated":
        return AnnotatedLayerNorm(config.width)
    return nn.LayerNorm(config.width, eps=1e-6 if config.norm_kind == "joeynmt" else 1e-5)


class FeedForward(nn.Module):
    """Two linear layers with an activation and dropout between (Vaswani et al. 2017, section 3.3)."""

    def __init__(self, config: ModelConfig, inner_width: int | None = None) -> None:
        super().__init__()
        inner_width = config.feed_forward_width if inner_width is None else inner_width
        self.expand = Linear(config.width, inner_width)
        self.contract = Linear(inner_width, config.width)
        self.dropout = Dropout(config.dropout)
        self.activation = config.activation

    def forward(self, states: Tensor) -> Tensor:
        """[..., D] to [..., D]."""
        output: Tensor = self.contract(self.dropout(activate(self.expand(states), self.activation)))
        return output

    def step(self, states: Tensor) -> Tensor:
        """The same in evaluation mode, without calling modules, which is felt in a step of one token."""
        inner = linear(states, self.expand.weight, self.expand.bias, False)
        inner = activate(inner, self.activation, in_place=True)
        return linear(inner, self.contract.weight, self.contract.bias, False)


def activate(inner: Tensor, activation: Activation, *, in_place: bool = False) -> Tensor:
    """The activation of these values; `in_place` may overwrite them, so not where a hook may keep them."""
    match activation:
        case "relu":
            return torch.relu_(inner) if in_place else torch.relu(inner)
        case "gelu":
            return functional.gelu(inner)
        case "gelu-tanh":
            return functional.gelu(inner, approximate="tanh")
        case "swish":
            return functional.silu(inner, inplace=in_place)


class Residual(nn.Module):
    """The residual connection of a sublayer, with its norm before (pre) or after (post) it.

    `before` gives the input of the sublayer, and calling the module adds the sublayer's output.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = make_norm(config)
        self.dropout = Dropout(config.dropout)
        self.is_pre = config.norm_position == "pre"

    def before(self, states: Tensor) -> Tensor:
        """What the sublayer is given."""
        return self.norm(states) if self.is_pre else states

    def forward(self, states: Tensor, sublayer_output: Tensor) -> Tensor:
        """What leaves the sublayer and its residual connection."""
        summed: Tensor = states + self.dropout(sublayer_output)
        return summed if self.is_pre else self.norm(summed)

    def step(self, states: Tensor, sublayer_output: Tensor) -> Tensor:
        """The same in evaluation mode, without calling the dropout."""
        summed = states + sublayer_output
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
        self,
        states: Tensor,
        source_mask: Tensor | None,
        *,
        need_maps: bool = False,
        changes: AttentionChanges | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """[B, S, D] to [B, S, D], and the maps [B, H, S, S] if asked for."""
        attended, maps = self.self_attention(
            self.attention_residual.before(states), None, source_mask, need_maps=need_maps, changes=changes
        )
        states = self.attention_residual(states, attended)
        inner = self.feed_forward(self.feed_forward_residual.before(states))
        return self.feed_forward_residual(states, inner), maps


@dataclass
class LayerCache:
    """What one decoder layer remembers between steps.

    Attributes:
        past: keys and values of the target tokens read so far, [2, B, H, max steps, K], filled from the left.
        memory: keys and values of the encoder's output, each [B, H, S, K].
    """

    past: Tensor
    memory: KeysAndValues

    def select(self, rows: Tensor, num_filled: int) -> None:
        """Keeps the batch rows with these indices [B']; `num_filled` steps are in the cache."""
        keys, values = self.memory
        self.memory = keys.index_select(0, rows), values.index_select(0, rows)
        self.reorder(rows, num_filled)

    def reorder(self, rows: Tensor, num_filled: int) -> None:
        """The same for the target alone: what is known of the source stays as it is."""
        filled = self.past[:, :, :, :num_filled].index_select(1, rows)
        if len(rows) <= self.past.size(1):
            # in the memory that is there already: fresh memory costs more than copying
            self.past = self.past[:, : len(rows)]
        else:
            _, _, num_heads, max_steps, width = self.past.shape
            self.past = empty_past(self.past, len(rows), num_heads, max_steps, width)
        self.past[:, :, :, :num_filled] = filled


def empty_past(like: Tensor, batch: int, num_heads: int, max_steps: int, head_width: int) -> Tensor:
    """Memory for keys and values, [2, B, H, max steps, K], in which those of one step lie side by side.

    A step then writes to one place, and a batch is read in as many streams as there are steps, which takes half as long
    as to look for what each head has of its few steps.
    """
    return like.new_empty(2, max_steps, batch, num_heads, head_width).permute(0, 2, 3, 1, 4)


class DecoderLayer(nn.Module):
    """Causal self-attention over the target, cross-attention to the source, then the feed-forward network."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.width, config.decoder_heads, config.dropout)
        self.cross_attention = MultiHeadAttention(config.width, config.decoder_heads, config.dropout)
        self.feed_forward = FeedForward(config, config.decoder_inner_width)
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
        self_changes: AttentionChanges | None = None,
        cross_changes: AttentionChanges | None = None,
        cache: LayerCache | None = None,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """[B, T, D] to [B, T, D]; the maps [B, H, T, T] and [B, H, T, S] if asked for.

        A cache, which is one of `memory`, is filled with all T positions.
        """
        attended, self_maps = self.self_attention(
            self.self_residual.before(states),
            None,
            target_mask,
            need_maps=need_maps,
            changes=self_changes,
            past=None if cache is None else cache.past,
        )
        states = self.self_residual(states, attended)
        attended, cross_maps = self.cross_attention(
            self.cross_residual.before(states),
            memory if cache is None else cache.memory,
            source_mask,
            need_maps=need_maps,
            changes=cross_changes,
        )
        states = self.cross_residual(states, attended)
        inner = self.feed_forward(self.feed_forward_residual.before(states))
        return self.feed_forward_residual(states, inner), self_maps, cross_maps

    def new_cache(self, memory: Tensor, max_steps: int) -> LayerCache:
        """An empty cache of `max_steps` for an encoder's output [B, S, D]."""
        attention = self.cross_attention
        past = empty_past(memory, len(memory), attention.num_heads, max_steps, attention.head_width)
        return LayerCache(past, attention.project_keys_values(memory))

    def step(
        self,
        states: Tensor,
        cache: LayerCache,
        step: int,
        source_mask: Tensor | None,
        self_changes: AttentionChanges | None = None,
        cross_changes: AttentionChanges | None = None,
    ) -> Tensor:
        """One target position, [B, D] to [B, D], in evaluation mode; what it leaves to later ones goes into `cache`."""
        queries = self.self_residual.before(states)
        attended = self.self_attention.step_over_past(queries, cache.past, step, self_changes)
        states = self.self_residual.step(states, attended)
        queries = self.cross_residual.before(states)
        attended = self.cross_attention.step_over_memory(queries, cache.memory, source_mask, step, cross_changes)
        states = self.cross_residual.step(states, attended)
        inner = self.feed_forward.step(self.feed_forward_residual.before(states))
        return self.feed_forward_residual.step(states, inner)
