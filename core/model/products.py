"""Matrix products on a CPU, by oneDNN where its kernels are the faster ones.

PyTorch multiplies 32-bit matrices with MKL, which keeps to AVX2 on processors that are not Intel's. oneDNN, which
PyTorch brings along too, uses AVX-512 on all that have it: twice as fast there, the same elsewhere. Sums are added up
in another order, so results differ by rounding. A product with one row, which is most of what a decoding step does,
stays PyTorch's own.
"""

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

_MIN_ROWS = 64
"""Of a product that is differentiated: with fewer, setting up oneDNN's kernel costs more than it saves."""
_MIN_MULTIPLICATIONS = 3 * 2**18
"""The same for one that is not."""


def linear(states: Tensor, weight: Tensor, bias: Tensor | None, training: bool) -> Tensor:
    """states · weightᵀ + bias, as `torch.nn.functional.linear`, by the faster kernels where they are.

    Args:
        states: [..., N].
        weight, bias: [M, N] and [M].
        training: whether many rows and a backward pass are to be expected.

    Returns:
        [..., M]; differentiable once.
    """
    if torch.compiler.is_compiling():  # before any number of rows is compared: each comparison would be a new graph
        return functional.linear(states, weight, bias)
    is_differentiated = torch.is_grad_enabled()
    num_rows = states.numel() // states.size(-1)
    if is_differentiated:
        is_large = training and num_rows >= _MIN_ROWS
    else:
        is_large = num_rows > 1 and num_rows * weight.numel() >= _MIN_MULTIPLICATIONS and _is_whole(weight)
    if not (is_large and faster_kernels_serve(states)):
        return functional.linear(states, weight, bias)
    rows = states.reshape(num_rows, -1)
    output: Tensor = _Linear.apply(rows, weight, bias) if is_differentiated else _of_few_shapes(rows, weight, bias)
    return output.view(*states.shape[:-1], len(weight))


def _is_whole(weight: Tensor) -> bool:
    """Not a part of a matrix that is stored column by column: oneDNN is a thousand times slower with one."""
    return weight.is_contiguous() or weight.t().is_contiguous()


def _of_few_shapes(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """`product`, with zeros below: a kernel is made for each number of rows, which takes longer than ten products."""
    num_rows = len(rows)
    step = 8 if num_rows <= 256 else 32
    missing = -num_rows % step
    if missing:
        rows = functional.pad(rows, (0, 0, 0, missing))
    return product(rows, weight, bias)[:num_rows]


def product(rows: Tensor, columns: Tensor, bias: Tensor | None = None) -> Tensor:
    """rows · columnsᵀ + bias of [R, N], [C, N] and [C], by oneDNN: [R, C]. Not differentiable.

    Only where `faster_kernels_serve`; any strides will do.
    """
    result: Tensor = _operator()(rows, columns, bias, "none", [], "")
    return result


def faster_kernels_serve(states: Tensor) -> bool:
    """Whether `product` can be used for such states, and is worth it."""
    return (
        states.device.type == "cpu"
        and states.dtype == torch.float32
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
        and has_faster_kernels()
    )


@cache
def has_faster_kernels() -> bool:
    """Whether this processor has AVX-512 and this PyTorch an oneDNN whose product is right.

    Never decided by a measurement: a resumed run must compute as it did before.
    """
    if torch.backends.cpu.get_cpu_capability() != "AVX512" or not torch.backends.mkldnn.is_available():
        return False
    try:
        rows, columns, bias = torch.arange(12.0).view(4, 3), torch.arange(6.0).view(3, 2).t(), torch.arange(2.0)
        return torch.equal(product(rows, columns, bias), rows @ columns.t() + bias)
    except (AttributeError, RuntimeError, TypeError):  # not public, so it may change: then PyTorch's own serves
        return False


@cache
def _operator() -> Any:
    return torch.ops.mkldnn._linear_pointwise.default


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """rows · weightᵀ + bias: [R, M]."""
        ctx.save_for_backward(rows, weight)
        ctx.has_bias = bias is not None
        return product(rows, weight, bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Of rows, weight and bias."""
        (outer,) = gradients
        rows, weight = ctx.saved_tensors
        of_rows = product(outer, weight.t()) if ctx.needs_input_grad[0] else None
        return of_rows, product(outer.t(), rows.t()), outer.sum(dim=0) if ctx.has_bias else None
