"""Embeddings with positions, norms, feed-forward networks, and the layers of encoder and decoder.

Shape legend: `core.model`.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..config import ModelConfig
from ..config.groups import Activation
from .attention import MultiHeadAttention
from .interventions import NO_CHANGES, AttentionChanges, scaled


def sinusoidal_table(num_positions: int, width: int) -> Tensor:
    """sin and cos of position / 10000^(2i/width) in even and odd columns: [positions, width]."""
    positions = torch.arange(num_positions).unsqueeze(1)
    frequencies = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    table = torch.empty(num_positions, width)
    table[:, 0::2] = torch.sin(positions * frequencies)
    table[:, 1::2] = torch.cos(positions * frequencies)
    return table


def sinusoidal_halves_table(num_positions: int, width: int) -> Tensor:
    """The same waves, all sines before all cosines, as Marian has them: [num_positions, width]."""
    positions = torch.arange(num_positions, dtype=torch.float64).unsqueeze(1)
    waves = positions / 10000.0 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    return torch.cat([waves.sin(), waves.cos()[:, : width // 2]], dim=1).float()


class TokenAndPosition(nn.Module):
    """Vectors of tokens, perhaps scaled by √D, plus vectors of their positions, then dropout.

    Attributes:
        tokens: embedding, [V, D].
        positions: [max_positions, D]; a parameter if learned, else a constant.
    """

    positions: Tensor

    def __init__(self, config: ModelConfig, num_tokens: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(num_tokens, config.width)
        self.scale = math.sqrt(config.width) if config.scale_embeddings else 1.0
        self.dropout = nn.Dropout(config.dropout)
        if config.positions == "learned":
            self.positions = nn.Parameter(torch.empty(config.max_positions, config.width))
        else:
            self.make_table = (
                sinusoidal_table if config.positions == "sinusoidal" else sinusoidal_halves_table
            )
            self.register_buffer(
                "positions", torch.empty(config.max_positions, config.width), persistent=False
            )
            self.reset_constants()

    def reset_constants(self) -> None:
        """Recomputes the waves if positions are not learned.

        Does nothing while they have no memory.
        """
        if not (isinstance(self.positions, nn.Parameter) or self.positions.is_meta):
            self.positions.copy_(self.make_table(*self.positions.shape))

    def forward(self, ids: Tensor, first_position: int = 0) -> Tensor:
        """Vectors [B, N, D] of the ids [B, N], whose positions start at `first_position`."""
        positions = self.positions[first_position : first_position + ids.size(1)]
        states: Tensor = self.dropout(self.tokens(ids) * self.scale + positions)
        return states


class AnnotatedLayerNorm(nn.Module):
    """a · (x − mean) / (std + ε) + b (The Annotated Transformer).

    The std is the unbiased one, and ε is outside the root.
    """

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
    return nn.LayerNorm(config.width, eps=1e-6 if config.norm_kind == "torch-1e-6" else 1e-5)


ACTIVATIONS: Mapping[Activation, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "gelu": functional.gelu,
    "gelu-tanh": partial(functional.gelu, approximate="tanh"),
    "swish": functional.silu,
}


class FeedForward(nn.Module):
    """Two linear layers, activation and dropout between them (Vaswani et al. 2017, section 3.3)."""

    def __init__(self, config: ModelConfig, inner_width: int | None = None) -> None:
        super().__init__()
        inner_width = config.feed_forward_width if inner_width is None else inner_width
        self.expand = nn.Linear(config.width, inner_width)
        self.contract = nn.Linear(inner_width, config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.activate = ACTIVATIONS[config.activation]

    def forward(self, states: Tensor) -> Tensor:
        """[..., D] to [..., D]."""
        output: Tensor = self.contract(self.dropout(self.activate(self.expand(states))))
        return output


class Residual(nn.Module):
    """The residual connection of a sublayer, with its norm before (pre) or after (post) it.

    `before` gives the input of the sublayer, and calling the module adds the sublayer's output.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = make_norm(config)
        self.dropout = nn.Dropout(config.dropout)
        self.is_pre = config.norm_position == "pre"

    def before(self, states: Tensor) -> Tensor:
        """The input of the sublayer."""
        return self.norm(states) if self.is_pre else states

    def forward(self, states: Tensor, sublayer_output: Tensor) -> Tensor:
        """The output of the sublayer and its residual connection."""
        summed: Tensor = states + self.dropout(sublayer_output)
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
        changes: AttentionChanges = NO_CHANGES,
        factor: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """[B, S, D] to [B, S, D], and the maps [B, H, S, S] if requested.

        `factor` scales the feed-forward network.
        """
        attended, maps = self.self_attention(
            self.attention_residual.before(states),
            None,
            source_mask,
            need_maps=need_maps,
            changes=changes,
        )
        states = self.attention_residual(states, attended)
        inner = scaled(self.feed_forward(self.feed_forward_residual.before(states)), factor)
        return self.feed_forward_residual(states, inner), maps


class DecoderLayer(nn.Module):
    """Causal self-attention over the target, cross-attention, then the feed-forward network."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.width, config.decoder_heads, config.dropout)
        self.cross_attention = MultiHeadAttention(
            config.width, config.decoder_heads, config.dropout
        )
        self.feed_forward = FeedForward(config, config.decoder_inner_width)
        self.self_residual = Residual(config)
        self.cross_residual = Residual(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        states: Tensor,
        memory: Tensor,
        target_mask: Tensor,
        source_mask: Tensor | None,
        *,
        need_maps: bool = False,
        self_changes: AttentionChanges = NO_CHANGES,
        cross_changes: AttentionChanges = NO_CHANGES,
        factor: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """[B, T, D] to [B, T, D]; the maps [B, H, T, T] and [B, H, T, S] if requested.

        `factor` scales the feed-forward network.
        """
        attended, self_maps = self.self_attention(
            self.self_residual.before(states),
            None,
            target_mask,
            need_maps=need_maps,
            changes=self_changes,
        )
        states = self.self_residual(states, attended)
        attended, cross_maps = self.cross_attention(
            self.cross_residual.before(states),
            memory,
            source_mask,
            need_maps=need_maps,
            changes=cross_changes,
        )
        states = self.cross_residual(states, attended)
        inner = scaled(self.feed_forward(self.feed_forward_residual.before(states)), factor)
        return self.feed_forward_residual(states, inner), self_maps, cross_maps
