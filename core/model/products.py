"""Matrix products on a CPU, by the libraries whose kernels are the faster ones.

PyTorch multiplies 32-bit matrices with MKL, which keeps to AVX2 on processors that are not Intel's. oneDNN, which
PyTorch brings along too, uses AVX-512 on all that have it: twice as fast there, the same elsewhere. Sums are added up
in another order, so results differ by rounding. A product with one row by a 32-bit matrix stays PyTorch's own.

A sentence's few rows are multiplied in the time that it takes to read the matrix, so matrices that stay are packed
(`pack`), in one of two ways. A checkpoint usually has weights of 16 bits; where all of a matrix are, FBGEMM keeps it so
and computes in 32 bits what any other way computes, to rounding, from half of the memory. Other matrices are packed in
the blocks in which oneDNN reads them; it would gather them anew at each product, which takes as long as the product.
"""

import warnings
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
_MAX_ROWS, _MAX_ROWS_TO_SHARE = 256, 16
"""Rows up to which FBGEMM is the faster one; and where there are several threads, of which it uses one."""


UNTRACKED = -1
"""In the stamp of a tensor that was made in inference mode: nobody can tell whether it was written to."""
Part = tuple[int, int]
"""The first row of a matrix that is meant, and the one behind the last."""


@dataclass(frozen=True, eq=False)
class _Packed:
    """A matrix as the libraries keep it.

    Attributes:
        stamp: what the matrix was when it was packed; see `stamp`.
        halves: of 16 bits, as FBGEMM keeps it, by the rows that are packed (None for all); empty if it is not exact.
        blocks: likewise as oneDNN keeps it.
    """

    stamp: tuple[int, int, int]
    halves: dict[Part | None, Tensor]
    blocks: dict[Part | None, Tensor]

    def product(self, states: Tensor, num_rows: int, part: Part | None, bias: Tensor | None) -> Tensor | None:
        """The product of so many rows with a part; None if another way is the faster one."""
        if part in self.halves and num_rows <= (_MAX_ROWS if torch.get_num_threads() == 1 else _MAX_ROWS_TO_SHARE):
            result: Tensor = _half_operator()(states, self.halves[part], bias)
            return result
        if part in self.blocks and num_rows > 1:
            return _of_few_shapes(states, num_rows, self.blocks[part], bias)
        return None


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
    """Keeps copies of a matrix, or of these parts of it, beside it for `linear`.

    Where all numbers have 16 bits that takes half of its memory; else, or if there are several threads to share large
    products, its memory once more. Copies are out of use once the matrix is changed; through `weight.data` that is
    noticed after `watch` alone. Does nothing where neither library serves, and for a matrix that was made in inference
    mode, of which nobody can tell whether it was changed.
    """
    if not _can_be_packed(weight):
        return
    is_of_halves = keeps_halves(weight)
    has_blocks = has_packed_matrices() and not (is_of_halves and torch.get_num_threads() == 1)
    if not (is_of_halves or has_blocks):
        return
    whole = weight.detach()
    by_part = {part: whole if part is None else whole[part[0] : part[1]] for part in parts or (None,)}
    weight.packed = _Packed(  # type: ignore[attr-defined]
        stamp(weight),
        {part: _halves(rows) for part, rows in by_part.items() if is_of_halves},
        {part: _blocks(rows) for part, rows in by_part.items() if has_blocks},
    )


def keeps_halves(weight: Tensor) -> bool:
    """Whether `pack` keeps this matrix in 16 bits, which serves products with one row too."""
    whole = weight.detach()
    return _can_be_packed(weight) and has_half_matrices() and torch.equal(whole.half().float(), whole)


def _can_be_packed(weight: Tensor) -> bool:
    return not weight.is_inference() and weight.dtype == torch.float32 and weight.device.type == "cpu"


def _halves(weight: Tensor) -> Tensor:
    with warnings.catch_warnings():  # where a later PyTorch has it no more, blocks serve
        warnings.filterwarnings("ignore", message="fbgemm_.* is deprecated", category=UserWarning)
        packed: Tensor = torch.fbgemm_pack_gemm_matrix_fp16(weight.contiguous())
        _half_operator()(weight.new_zeros(1, weight.size(1)), packed, None)
    return packed


def _blocks(weight: Tensor) -> Tensor:
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight.default(weight.contiguous(), _ROWS_PACKED_FOR)
    return packed


def _packed(weight: Tensor) -> _Packed | None:
    """The copy of this matrix; None if there is none that is valid."""
    packed: _Packed | None = getattr(weight, "packed", None)
    return packed if packed is not None and packed.stamp == stamp(weight) else None


def stamp(weight: Tensor) -> tuple[int, int, int]:
    """Changes whenever the values may have: they lie elsewhere, or were written to. See `watch`."""
    version = UNTRACKED if weight.is_inference() else weight._version
    return weight.data_ptr(), version, getattr(weight, "num_data_uses", 0)


class Linear(nn.Linear):
    """`nn.Linear`, computed by the faster kernels where they are."""

    def forward(self, states: Tensor) -> Tensor:
        """[..., N] to [..., M]."""
        return linear(states, self.weight, self.bias, self.training)


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
    is_compiling, is_differentiated = torch.compiler.is_compiling(), torch.is_grad_enabled()
    num_rows = 0 if is_compiling else states.numel() // states.size(-1)
    packed = None if is_compiling or is_differentiated else _packed(weight)
    if part is not None:
        first, last = part
        bias = None if bias is None else bias[first:last]
    if packed is not None and faster_kernels_serve(states):
        found = packed.product(states, num_rows, part, bias)
        if found is not None:
            return found
    if part is not None:
        weight = weight[first:last]
    if is_compiling:  # before any number of rows is compared: each comparison would be a new graph
        return functional.linear(states, weight, bias)
    if is_differentiated:
        is_large = training and num_rows >= _MIN_ROWS
    else:
        is_large = num_rows > 1 and num_rows * weight.numel() >= _MIN_MULTIPLICATIONS and _is_whole(weight)
    if not (is_large and faster_kernels_serve(states)):
        return functional.linear(states, weight, bias)
    if not is_differentiated:
        return _of_few_shapes(states, num_rows, weight, bias)
    output: Tensor = _Linear.apply(states.reshape(num_rows, -1), weight, bias)
    return output.view(*states.shape[:-1], len(weight))


def _is_whole(weight: Tensor) -> bool:
    """Not a part of a matrix that is stored column by column: oneDNN is a thousand times slower with one."""
    return weight.is_contiguous() or weight.t().is_contiguous()


def _of_few_shapes(states: Tensor, num_rows: int, columns: Tensor, bias: Tensor | None) -> Tensor:
    """`product` of [..., N], with rows added: a kernel is made for each number of them, which takes ten products."""
    missing = -num_rows % (8 if num_rows <= 256 else 32)
    if not missing:
        return product(states, columns, bias)
    rows = states.reshape(num_rows, -1)
    filled = product(torch.cat((rows, rows.new_zeros(missing, rows.size(1)))), columns, bias)
    return filled[:num_rows].view(*states.shape[:-1], -1)


def product(rows: Tensor, columns: Tensor, bias: Tensor | None = None) -> Tensor:
    """rows · columnsᵀ + bias of [..., N], [C, N] and [C], by oneDNN: [..., C]. Not differentiable.

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
        return torch.equal(product(rows, _blocks(columns), bias), rows @ columns.t() + bias)
    except (AttributeError, RuntimeError, TypeError):
        return False


@cache
def has_half_matrices() -> bool:
    """Whether FBGEMM keeps matrices of 16 bits here, and multiplies by them right."""
    if not has_faster_kernels():
        return False
    try:
        rows, columns, bias = torch.arange(12.0).view(4, 3), torch.arange(6.0).view(2, 3), torch.arange(2.0)
        return torch.equal(_half_operator()(rows, _halves(columns), bias), rows @ columns.t() + bias)
    except (AttributeError, RuntimeError, TypeError):
        return False


@cache
def _operator() -> Any:
    return torch.ops.mkldnn._linear_pointwise.default


@cache
def _half_operator() -> Any:
    return torch.fbgemm_linear_fp16_weight_fp32_activation


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
