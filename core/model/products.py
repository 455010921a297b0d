"""Matrix products on a CPU, by oneDNN where its kernels are the faster ones.

PyTorch multiplies 32-bit matrices with MKL, which keeps to AVX2 on processors that are not Intel's. oneDNN, which
PyTorch brings along too, uses AVX-512 on all that have it: twice as fast there, the same elsewhere. Sums are added up
in another order, so results differ by rounding. A product with one row, which is most of what a decoding step does,
stays PyTorch's own.

oneDNN reads a matrix block by block. From a matrix that is stored in rows or columns it gathers the blocks anew at each
product, which for a sentence's few rows takes as long as the product. `pack` does it once, for matrices that stay.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

_MIN_ROWS = 64
"""Of a product that is differentiated: with fewer, setting up oneDNN's kernel costs more than it saves."""
_MIN_MULTIPLICATIONS = 3 * 2**18
"""The same for one that is not, by a matrix that is not packed."""
_ROWS_PACKED_FOR = 16
"""Rows that blocks are chosen for: about a sentence's. Products with thousands of rows are as fast with these."""


UNTRACKED = -1
"""In the stamp of a tensor that was made in inference mode: nobody can tell whether it was written to."""
Part = tuple[int, int]
"""The first row of a matrix that is meant, and the one behind the last."""


@dataclass(frozen=True, eq=False)
class _Packed:
    """A matrix in oneDNN's own blocks.

    Attributes:
        stamp: what the matrix was when it was packed; see `stamp`.
        parts: by the rows that are packed.
    """

    stamp: tuple[int, int, int]
    parts: dict[Part, Tensor]


class _WatchedParameter(nn.Parameter):
    """A parameter that counts how often somebody asked for `data`, through which it is changed without a trace."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # as of its base class
    num_data_uses = 0

    @property
    def data(self) -> Tensor:
        self.num_data_uses += 1
        found: Tensor = nn.Parameter.data.__get__(self)  # type: ignore[attr-defined]
        return found

    @data.setter
    def data(self, values: Tensor) -> None:
        self.num_data_uses += 1
        nn.Parameter.data.__set__(self, values)  # type: ignore[attr-defined]


def watch(parameters: Iterable[nn.Parameter]) -> None:
    """From now on `stamp` notices every change of them, except through another tensor that shares their memory."""
    for parameter in parameters:
        if type(parameter) is nn.Parameter:
            parameter.__class__ = _WatchedParameter


def pack(weight: Tensor, *parts: Part) -> None:
    """Keeps a copy of a matrix, or of these parts of it, beside it for `linear`. Takes as much memory once more.

    A copy is out of use once the matrix is changed; through `weight.data` that is noticed after `watch` alone. Does
    nothing where oneDNN does not serve, and for a matrix that was made in inference mode, of which nobody can tell
    whether it was changed.
    """
    is_tracked = not weight.is_inference()
    if is_tracked and weight.dtype == torch.float32 and weight.device.type == "cpu" and has_packed_matrices():
        whole = weight.detach()
        packed = {(first, last): _pack(whole[first:last]) for first, last in parts or ((0, len(weight)),)}
        weight.packed = _Packed(stamp(weight), packed)  # type: ignore[attr-defined]


def _pack(weight: Tensor) -> Tensor:
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight.default(weight.contiguous(), _ROWS_PACKED_FOR)
    return packed


def _packed(weight: Tensor, part: Part | None) -> Tensor | None:
    """The copy of these rows; None if there is none that is valid."""
    packed: _Packed | None = getattr(weight, "packed", None)
    if packed is None or packed.stamp != stamp(weight):
        return None
    return packed.parts.get(part or (0, len(weight)))


def stamp(weight: Tensor) -> tuple[int, int, int]:
    """Changes whenever the values may have: they lie elsewhere, or were written to. See `watch`."""
    version = UNTRACKED if weight.is_inference() else weight._version
    return weight.data_ptr(), version, getattr(weight, "num_data_uses", 0)


def linear(states: Tensor, weight: Tensor, bias: Tensor | None, training: bool, part: Part | None = None) -> Tensor:
    """states · weightᵀ + bias, as `torch.nn.functional.linear`, by the faster kernels where they are.

    Args:
        states: [..., N].
        weight, bias: [M, N] and [M].
        training: whether many rows and a backward pass are to be expected.
        part: the rows of weight and bias that are meant; None for all M.

    Returns:
        [..., M]; differentiable once.
    """
    is_compiling = torch.compiler.is_compiling()
    is_differentiated = torch.is_grad_enabled()
    num_rows = 0 if is_compiling else states.numel() // states.size(-1)
    packed = None if is_compiling or is_differentiated or num_rows == 1 else _packed(weight, part)
    if part is not None:
        first, last = part
        weight, bias = weight[first:last], None if bias is None else bias[first:last]
    if is_compiling:  # before any number of rows is compared: each comparison would be a new graph
        return functional.linear(states, weight, bias)
    if packed is not None and faster_kernels_serve(states):
        return _of_few_shapes(states.reshape(num_rows, -1), packed, bias).view(*states.shape[:-1], -1)
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
    if not missing:
        return product(rows, weight, bias)
    return product(torch.cat((rows, rows.new_zeros(missing, rows.size(1)))), weight, bias)[:num_rows]


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
def has_packed_matrices() -> bool:
    """Whether oneDNN serves, packs matrices, and multiplies by them right."""
    if not has_faster_kernels():
        return False
    try:
        rows, columns, bias = torch.arange(12.0).view(4, 3), torch.arange(6.0).view(2, 3), torch.arange(2.0)
        return torch.equal(product(rows, _pack(columns), bias), rows @ columns.t() + bias)
    except (AttributeError, RuntimeError, TypeError):
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
