"""Products with matrices that stay the same, on a CPU, by the libraries with the faster kernels.

PyTorch multiplies 32-bit matrices with MKL, which is limited to AVX2 on processors not made by
Intel. oneDNN, which PyTorch includes, uses AVX-512 wherever it exists: twice as fast there, the
same elsewhere. Sums are added up in another order, so results differ by rounding.

For a sentence's few rows a product takes as long as reading the matrix, so matrices are packed. If
all numbers of a matrix fit in 16 bits, as in most checkpoints, FBGEMM keeps it so and computes in
32 bits from half of the memory. Other matrices are packed in the blocks in which oneDNN reads them;
otherwise it would gather these for each product. Measurements: docs/adr/0010.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

_MIN_MULTIPLICATIONS = 3 * 2**18
"""Multiplications from which oneDNN pays off for an unpacked matrix, despite its set-up."""
_ROWS_PACKED_FOR = 16
"""Number of rows that blocks are chosen for: about a sentence's.

Thousands of rows are as fast with these.
"""
_LARGEST_HALF = torch.finfo(torch.float16).max
_MAX_ROWS_TO_SHARE = 16
"""Rows up to which FBGEMM is faster with several threads, of which it uses one."""


Product = Callable[[Tensor], Tensor]
"""states · weightᵀ + bias: [..., N] to [..., M]."""


class ExactProduct:
    """The product in 32 bits, by the fastest kernel for the number of rows.

    Args:
        weight, bias: [M, N] and [M], float32 on a CPU. They must not change afterwards.
        copies: whether the matrix may be copied.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, *, copies: bool = True) -> None:
        self._weight = weight.detach()
        self._bias = None if bias is None else bias.detach()
        self._halves: Tensor | None = None
        self._blocks: Tensor | None = None
        if not copies:
            return
        if has_half_matrices() and fits_in_16_bits(self._weight):
            self._halves = _halves(self._weight)
        if has_packed_matrices() and (self._halves is None or torch.get_num_threads() > 1):
            self._blocks = _blocks(self._weight)
        # a product with one row takes two thirds of the time
        if self._halves is None and self._blocks is None:
            self._weight = self._weight.t().contiguous().t()

    def __call__(self, states: Tensor) -> Tensor:
        """[..., N] to [..., M]."""
        num_rows = states.numel() // states.size(-1)
        if self._halves is not None and (
            num_rows <= _MAX_ROWS_TO_SHARE or torch.get_num_threads() == 1
        ):
            result: Tensor = _half_operator()(states, self._halves, self._bias)
            return result
        if self._blocks is not None:
            return product_of_few_shapes(states, self._blocks, self._bias)
        if is_worth_setting_up(num_rows, self._weight):
            return product_of_few_shapes(states, self._weight, self._bias)
        return functional.linear(states, self._weight, self._bias)


def fits_in_16_bits(weight: Tensor) -> bool:
    """Whether 16 bits hold every number of the matrix exactly."""
    return torch.equal(weight.half().float(), weight)


def halved_product(weight: Tensor, bias: Tensor | None) -> Product:
    """The product with the matrix [M, N] rounded to 16 bits. Only where `has_half_matrices`."""
    # FBGEMM would limit larger numbers in place, and warn
    halves = _halves(weight.detach().clamp(-_LARGEST_HALF, _LARGEST_HALF))
    multiply = _half_operator()
    return lambda states: multiply(states, halves, bias)


def product(rows: Tensor, columns: Tensor, bias: Tensor | None = None) -> Tensor:
    """rows · columnsᵀ + bias of [..., N], [C, N] and [C], by oneDNN: [..., C]. Not differentiable.

    Only for 32-bit matrices where `has_faster_kernels`; any strides will do.
    """
    result: Tensor = _operator()(rows, columns, bias, "none", [], "")
    return result


def product_of_few_shapes(states: Tensor, columns: Tensor, bias: Tensor | None) -> Tensor:
    """`product` of [..., N] in padded rows: each number of rows needs a costly kernel."""
    num_rows = states.numel() // states.size(-1)
    missing = -num_rows % (8 if num_rows <= 256 else 32)
    if not missing or num_rows == 1:
        return product(states, columns, bias)
    rows = states.reshape(num_rows, -1)
    filled = product(torch.cat((rows, rows.new_zeros(missing, rows.size(1)))), columns, bias)
    return filled[:num_rows].view(*states.shape[:-1], -1)


def is_worth_setting_up(num_rows: int, weight: Tensor) -> bool:
    """Whether `product` takes less time than PyTorch for this matrix, not packed.

    False for a part of a matrix stored column by column: oneDNN is a thousand times slower with
    one.
    """
    return (
        num_rows > 1
        and num_rows * weight.numel() >= _MIN_MULTIPLICATIONS
        and has_faster_kernels()
        and (weight.is_contiguous() or weight.t().is_contiguous())
    )


@cache
def has_faster_kernels() -> bool:
    """Whether this processor has AVX-512 and this PyTorch an oneDNN whose product is correct.

    Never decided by a measurement: a resumed run must compute as it did before.
    """
    if (
        torch.backends.cpu.get_cpu_capability() != "AVX512"
        or not torch.backends.mkldnn.is_available()
    ):
        return False
    rows, columns, bias, expected = _sample()
    return _is_right(lambda: product(rows, columns.t().contiguous().t(), bias), expected)


@cache
def has_packed_matrices() -> bool:
    """Whether oneDNN is in use, packs matrices, and multiplies by them correctly."""
    rows, columns, bias, expected = _sample()
    return has_faster_kernels() and _is_right(
        lambda: product(rows, _blocks(columns), bias), expected
    )


@cache
def has_half_matrices() -> bool:
    """Whether FBGEMM keeps matrices of 16 bits here, and multiplies by them correctly."""
    if torch.backends.cpu.get_cpu_capability() not in ("AVX2", "AVX512"):
        return False
    rows, columns, bias, expected = _sample()
    return _is_right(lambda: _half_operator()(rows, _halves(columns), bias), expected)


def _sample() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Rows, columns, bias, and their product."""
    rows = torch.arange(12.0).view(4, 3)
    columns = torch.arange(6.0).view(2, 3)
    bias = torch.arange(2.0)
    return rows, columns, bias, rows @ columns.t() + bias


def _is_right(compute: Callable[[], Tensor], expected: Tensor) -> bool:
    """Whether the result is the expected one.

    The operators are not public, so they may be missing or change.
    """
    try:
        return bool((compute() - expected).abs().max() == 0)
    except (AttributeError, RuntimeError, TypeError):
        return False


def _halves(weight: Tensor) -> Tensor:
    with warnings.catch_warnings():  # a PyTorch without it uses blocks
        warnings.filterwarnings("ignore", message="fbgemm_.* is deprecated", category=UserWarning)
        packed: Tensor = torch.fbgemm_pack_gemm_matrix_fp16(weight.contiguous())
        _half_operator()(weight.new_zeros(1, weight.size(1)), packed, None)
    return packed


def _blocks(weight: Tensor) -> Tensor:
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight.default(
        weight.contiguous(), _ROWS_PACKED_FOR
    )
    return packed


@cache
def _operator() -> Any:
    return torch.ops.mkldnn._linear_pointwise.default


@cache
def _half_operator() -> Any:
    return torch.fbgemm_linear_fp16_weight_fp32_activation
