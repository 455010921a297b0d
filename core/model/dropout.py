"""Dropout (Srivastava et al. 2014) whose random numbers are cheap on a CPU.

PyTorch draws one 32-bit number for every element, one after another; here one 64-bit number decides four elements,
which halves the cost of dropout. On other devices PyTorch's own kernel is used.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

_STEPS = 2**16
"""Probabilities are rounded to multiples of 1 / 2^16."""


def dropout(states: Tensor, probability: float, training: bool) -> Tensor:
    """`states` with a share of `probability` set to zero and the rest scaled up, if `training`."""
    if not training or probability == 0:
        return states
    if states.device.type != "cpu" or torch.compiler.is_compiling():
        return functional.dropout(states, probability)
    dropped: Tensor = _CpuDropout.apply(states, probability)
    return dropped


class Dropout(nn.Module):
    """`dropout` as a module."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, states: Tensor) -> Tensor:
        """Same shape as given."""
        return dropout(states, self.probability, True) if self.training else states


class _CpuDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, probability: float) -> Tensor:
        """Multiplies by a mask of zeros and 1 / (1 − p)."""
        num_dropped_steps = min(round(probability * _STEPS), _STEPS - 1)
        count = states.numel()
        words = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
        numbers = words.view(torch.int16)[:count].view(states.shape)
        mask = (numbers >= num_dropped_steps - _STEPS // 2).to(states.dtype)
        mask.mul_(_STEPS / (_STEPS - num_dropped_steps))
        ctx.save_for_backward(mask)
        return states * mask

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """Multiplies by the same mask."""
        (mask,) = ctx.saved_tensors
        return gradients[0] * mask, None
