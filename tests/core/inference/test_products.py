"""Products by oneDNN and FBGEMM: the same as PyTorch's to rounding; which of them is used for
what."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch.nn import functional

from augenmerk.core.inference import products
from augenmerk.core.inference.products import (
    ExactProduct,
    halved_product,
    has_faster_kernels,
    has_half_matrices,
    has_packed_matrices,
    product,
)
from tests.builders import first_quick

needs_kernels = pytest.mark.skipif(
    not has_faster_kernels(), reason="needs a processor with AVX-512 and oneDNN"
)
needs_packing = pytest.mark.skipif(
    not has_packed_matrices(), reason="needs a processor with AVX-512 and oneDNN"
)
needs_halves = pytest.mark.skipif(
    not has_half_matrices(), reason="needs a processor with AVX2 and FBGEMM"
)
ANSWERS = (has_faster_kernels, has_packed_matrices, has_half_matrices)


@pytest.fixture
def checked_again() -> Iterator[None]:
    for answer in ANSWERS:
        answer.cache_clear()
    yield
    for answer in ANSWERS:
        answer.cache_clear()


def values(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def of_16_bits(weight: torch.Tensor) -> torch.Tensor:
    return weight.half().float()


@pytest.fixture
def by_halves(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each product by FBGEMM from here on."""
    return counted(monkeypatch, products._half_operator, "_half_operator")


@pytest.fixture
def by_onednn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each product by oneDNN from here on."""
    return counted(monkeypatch, products._operator, "_operator")


def counted(
    monkeypatch: pytest.MonkeyPatch, operator: Callable[[], Callable], name: str
) -> list[int]:
    rows: list[int] = []
    real = operator()

    def counting(states: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        rows.append(states.numel() // states.size(-1))
        return real(states, *rest)

    monkeypatch.setattr(products, name, lambda: counting)
    return rows


@pytest.fixture
def with_threads() -> Iterator[Callable[[int], None]]:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@needs_kernels
def test_any_strides_will_do() -> None:
    rows, columns = values(30, 70), values(40, 70)
    expected = rows @ columns.t()
    torch.testing.assert_close(product(rows.t().contiguous().t(), columns), expected)
    torch.testing.assert_close(product(rows, columns.t().contiguous().t()), expected)
    torch.testing.assert_close(
        product(rows[:, 3:20], columns[:, 3:20]), rows[:, 3:20] @ columns[:, 3:20].t()
    )


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("is_of_halves", [True, False])
@pytest.mark.parametrize("copies", [True, False])
@pytest.mark.parametrize("num_rows", first_quick([1, 2, 13, 70, 300]))
def test_every_kind_of_matrix_gives_the_products_of_pytorch_to_rounding(
    num_rows: int,
    copies: bool,
    is_of_halves: bool,
    num_threads: int,
    with_threads: Callable[[int], None],
) -> None:
    with_threads(num_threads)
    states, weight, bias = values(num_rows, 24), values(40, 24), values(40)
    weight = of_16_bits(weight) if is_of_halves else weight
    expected = functional.linear(states, weight, bias)
    multiply = ExactProduct(weight, bias, copies=copies)
    torch.testing.assert_close(multiply(states), expected)
    torch.testing.assert_close(multiply(states[None]), expected[None])
    without_bias = ExactProduct(weight, None, copies=copies)(states)
    torch.testing.assert_close(without_bias, expected - bias, atol=1e-5, rtol=1e-5)


@needs_halves
@needs_packing
def test_a_matrix_of_16_bits_is_kept_so_and_others_in_blocks(
    by_halves: list[int], by_onednn: list[int], with_threads: Callable[[int], None]
) -> None:
    def used(weight: torch.Tensor) -> tuple[list[int], list[int]]:
        multiply = ExactProduct(weight, None)
        for rows in (by_halves, by_onednn):
            rows.clear()
        for num_rows in (1, 13, 40, 300):
            multiply(values(num_rows, 24))
        return list(by_halves), list(by_onednn)

    weight = values(40, 24)
    with_threads(1)
    assert used(of_16_bits(weight)) == ([1, 13, 40, 300], [])
    assert used(weight) == ([], [1, 16, 40, 320])
    with_threads(2)
    assert used(of_16_bits(weight)) == ([1, 13], [40, 320]), "several threads share the larger ones"
    for number in (1 + 2**-12, 1e-9, 1e6):  # none of which fits in 16 bits
        almost = of_16_bits(weight)
        almost[3, 5] = number
        assert used(almost)[0] == []


@needs_halves
def test_a_matrix_that_is_rounded_to_16_bits_stays_as_it_is() -> None:
    weight, states = values(40, 24), values(7, 24)
    torch.testing.assert_close(
        halved_product(weight, None)(states), states @ weight.half().float().t()
    )
    weight[0, :4] = torch.tensor([1e6, -1e6, 1e-9, torch.inf])
    before = weight.clone()
    assert halved_product(weight, None)(states)[:, 1:].isfinite().all()
    assert torch.equal(weight, before)


@needs_kernels
def test_large_products_by_a_matrix_that_may_not_be_copied_take_the_faster_kernel(
    by_onednn: list[int],
) -> None:
    multiply = ExactProduct(values(400, 240), None, copies=False)
    multiply(values(4, 240))
    assert by_onednn == []
    multiply(values(40, 240))
    assert by_onednn == [40]


@pytest.mark.parametrize("fault", [AttributeError, RuntimeError, TypeError])
@pytest.mark.parametrize("name", ["_operator", "_half_operator"])
def test_without_an_operator_another_one_serves(
    monkeypatch: pytest.MonkeyPatch, checked_again: None, fault: type[Exception], name: str
) -> None:
    def missing() -> None:
        raise fault("no such operator")

    had_blocks, had_halves = has_packed_matrices(), has_half_matrices()
    for answer in ANSWERS:
        answer.cache_clear()
    monkeypatch.setattr(products, name, missing)
    assert has_faster_kernels() == (had_blocks and name == "_half_operator")
    assert has_half_matrices() == (had_halves and name == "_operator")
    states, weight = values(70, 24), of_16_bits(values(40, 24))
    torch.testing.assert_close(
        ExactProduct(weight, None)(states), functional.linear(states, weight)
    )


@needs_kernels
def test_an_operator_that_computes_something_else_is_not_used(
    monkeypatch: pytest.MonkeyPatch, checked_again: None
) -> None:
    monkeypatch.setattr(
        products, "_operator", lambda: lambda rows, columns, *rest: rows @ columns.t()
    )
    assert not has_faster_kernels()


@pytest.mark.parametrize("capability", ["AVX2", "DEFAULT"])
def test_without_avx_512_only_matrices_of_16_bits_are_packed(
    monkeypatch: pytest.MonkeyPatch, checked_again: None, capability: str
) -> None:
    had_halves = has_half_matrices()
    has_half_matrices.cache_clear()
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    assert not has_faster_kernels()
    assert not has_packed_matrices()
    assert has_half_matrices() == (had_halves and capability == "AVX2")
