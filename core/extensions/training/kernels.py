"""Faster CPU kernels for training an unchanged `Transformer`.

Within `training_kernels()`, three functions of PyTorch that the model calls are computed in another
way, with the same parameters and gradients: matrix products by oneDNN, which uses AVX-512 if the
processor has it; dropout (Srivastava et al. 2014) from one 64-bit random number for four elements;
softmax of many short rows.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from ...inference.products import (
    has_faster_kernels,
    is_worth_setting_up,
    product,
    product_of_few_shapes,
)

_MIN_ROWS = 64
"""Rows from which on oneDNN pays off for a differentiated product: setting up its kernel takes
time."""
_WIDE_ROW = 16
"""Row length from which on PyTorch's softmax takes many numbers at a time on a CPU."""
_MANY_SCORES = 512
"""Scores from which on padding of short rows pays off."""
_STEPS = 2**16
"""Probabilities of dropout are rounded to multiples of 1 / 2^16."""


def training_kernels(device: torch.device) -> AbstractContextManager[object]:
    """A context in which a model on this device is computed fastest."""
    return FasterKernels() if device.type == "cpu" else nullcontext()


class FasterKernels(TorchFunctionMode):
    """A context in which the calling thread computes `linear`, `dropout` and `softmax` by the
    kernels of this module.

    Only for tensors on a CPU; it has no effect on compiled functions.
    """

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Calls every other function unchanged."""
        return _REPLACEMENTS.get(func, func)(*args, **(kwargs or {}))


def linear(states: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """states · weightᵀ + bias: [..., N] to [..., M], by oneDNN where that is faster.

    Differentiable once.
    """
    num_rows = states.numel() // states.size(-1)
    if product_serves(states):
        if not torch.is_grad_enabled():
            if is_worth_setting_up(num_rows, weight):
                return product_of_few_shapes(states, weight, bias)
        elif num_rows >= _MIN_ROWS:
            output: Tensor = _Linear.apply(states.reshape(num_rows, -1), weight, bias)
            return output.view(*states.shape[:-1], len(weight))
    return functional.linear(states, weight, bias)


def product_serves(states: Tensor) -> bool:
    """Whether oneDNN's product can be used for such states, and pays off."""
    return (
        states.device.type == "cpu"
        and states.dtype == torch.float32
        and not torch.is_autocast_enabled("cpu")
        and has_faster_kernels()
    )


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """rows · weightᵀ + bias: [R, M]."""
        ctx.save_for_backward(rows, weight)
        ctx.has_bias = bias is not None
        return product(rows, weight, bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients of rows, weight and bias."""
        (outer,) = gradients
        rows, weight = ctx.saved_tensors
        of_rows = product(outer, weight.t()) if ctx.needs_input_grad[0] else None
        return of_rows, product(outer.t(), rows.t()), outer.sum(dim=0) if ctx.has_bias else None


def softmax(
    scores: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: torch.dtype | None = None
) -> Tensor:
    """The softmax of [..., M], with the parameters of PyTorch's.

    Many short rows are padded: this saves most time.
    """
    missing = _WIDE_ROW - scores.size(-1)
    if dim != -1 or missing <= 0 or scores.numel() < _MANY_SCORES:
        return functional.softmax(scores, dim, dtype=dtype)
    filled = functional.pad(scores, (0, missing), value=float("-inf"))
    return functional.softmax(filled, dim, dtype=dtype)[..., :-missing]


def dropout(states: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """`states` with a share p set to zero and the rest scaled up, if `training`. Never in place."""
    if not training or p == 0:
        return states
    dropped: Tensor = _CpuDropout.apply(states, p)
    return dropped


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


_REPLACEMENTS: dict[Any, Callable[..., Tensor]] = {
    functional.linear: linear,
    functional.dropout: dropout,
    functional.softmax: softmax,
}
