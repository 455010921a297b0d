"""Where a token stands: sinusoidal waves (Vaswani et al. 2017, section 3.5) or a learned table."""

import math

import torch
from torch import Tensor, nn

from augenmerk.core.config import ModelConfig


def sinusoidal_table(num_positions: int, width: int) -> Tensor:
    """sin and cos of position / 10000^(2i/width) in even and odd columns: [num_positions, width]."""
    positions = torch.arange(num_positions).unsqueeze(1)
    frequencies = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    table = torch.empty(num_positions, width)
    table[:, 0::2] = torch.sin(positions * frequencies)
    table[:, 1::2] = torch.cos(positions * frequencies)
    return table


def sinusoidal_halves_table(num_positions: int, width: int) -> Tensor:
    """The same waves with all sines first and then all cosines, as Marian has them: [num_positions, width]."""
    positions = torch.arange(num_positions, dtype=torch.float64).unsqueeze(1)
    waves = positions / 10000.0 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    return torch.cat([waves.sin(), waves.cos()[:, : width // 2]], dim=1).float()


class TokenAndPosition(nn.Module):
    """Vectors of tokens (scaled by √D if the config says so) plus vectors of their positions, then dropout.

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
            self.make_table = sinusoidal_table if config.positions == "sinusoidal" else sinusoidal_halves_table
            self.register_buffer("positions", torch.empty(config.max_positions, config.width), persistent=False)
            self.reset_constants()

    def reset_constants(self) -> None:
        """Computes the waves anew, where positions are not learned. Does nothing while there is no memory for them."""
        if not (isinstance(self.positions, nn.Parameter) or self.positions.is_meta):
            self.positions.copy_(self.make_table(*self.positions.shape))

    def forward(self, ids: Tensor, first_position: int = 0) -> Tensor:
        """Vectors [B, N, D] of the ids [B, N] that stand at `first_position` and after."""
        positions = self.positions[first_position : first_position + ids.size(1)]
        states: Tensor = self.dropout(self.tokens(ids) * self.scale + positions)
        return states
