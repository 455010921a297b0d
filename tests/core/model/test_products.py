"""Products by oneDNN and FBGEMM: the same as PyTorch's to rounding; which of them is used for what."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch.nn import functional

from augenmerk.core.model import products
from augenmerk.core.model.products import (
    has_faster_kernels,
    has_half_matrices,
    has_packed_matrices,
    keeps_halves,
    linear,
    pack,
    product,
)

needs_kernels = pytest.mark.skipif(not has_faster_kernels(), reason="needs a processor with AVX-512 and oneDNN")
needs_packing = pytest.mark.skipif(not has_packed_matrices(), reason="needs a processor with AVX-512 and oneDNN")
needs_halves = pytest.mark.skipif(not has_half_matrices(), reason="needs a processor with AVX-512 and FBGEMM")


@pytest.fixture
def asked_anew() -> Iterator[None]:
    for asked in (has_faster_kernels, has_packed_matrices, has_half_matrices):
        asked.cache_clear()
    yield
    for asked in (has_faster_kernels, has_packed_matrices, has_half_matrices):
        asked.cache_clear()


def values(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), requires_grad=True)


def gradients(output: torch.Tensor, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    weights = torch.arange(float(output.numel())).view_as(output).cos()
    return torch.autograd.grad((output * weights).sum(), inputs)


@pytest.mark.parametrize("shape", [(70, 24), (5, 30, 24)])
@pytest.mark.parametrize("has_bias", [True, False])
def test_results_and_gradients_are_those_of_pytorch_to_rounding(shape: tuple[int, ...], has_bias: bool) -> None:
    states, weight, bias = values(*shape), values(40, 24), values(40) if has_bias else None
    ours, theirs = linear(states, weight, bias, True), functional.linear(states, weight, bias)
    torch.testing.assert_close(ours, theirs)
    inputs = [states, weight, *([] if bias is None else [bias])]
    for one, other in zip(gradients(ours, *inputs), gradients(theirs, *inputs), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-4)


@needs_kernels
def test_any_strides_will_do() -> None:
    rows, columns = values(30, 70).detach(), values(40, 70).detach()
    expected = rows @ columns.t()
    torch.testing.assert_close(product(rows.t().contiguous().t(), columns), expected)
    torch.testing.assert_close(product(rows, columns.t().contiguous().t()), expected)
    torch.testing.assert_close(product(rows[:, 3:20], columns[:, 3:20]), rows[:, 3:20] @ columns[:, 3:20].t())


@needs_kernels
def test_training_takes_them_and_all_else_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[torch.Size] = []

    def counting(rows: torch.Tensor, columns: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        used.append(rows.shape)
        return functional.linear(rows, columns, bias)

    monkeypatch.setattr(products, "product", counting)
    states, weight, bias = values(70, 24), values(40, 24), values(40)
    linear(states, weight, bias, training=False)
    linear(states[:8], weight, bias, training=True)
    linear(states.double(), weight.double(), bias.double(), training=True)
    with torch.no_grad():
        linear(states, weight, bias, training=True)
    with torch.autocast("cpu", torch.bfloat16):
        linear(states, weight, bias, training=True)
    assert used == []
    linear(states, weight, bias, training=True)
    assert used == [(70, 24)]


@pytest.mark.parametrize("fault", [AttributeError, RuntimeError, TypeError])
def test_without_the_operator_pytorch_serves(
    monkeypatch: pytest.MonkeyPatch, asked_anew: None, fault: type[Exception]
) -> None:
    def missing() -> None:
        raise fault("no such operator")

    monkeypatch.setattr(products, "_operator", missing)
    assert not has_faster_kernels()
    states, weight = values(70, 24), values(40, 24)
    assert torch.equal(linear(states, weight, None, True), functional.linear(states, weight))


def test_an_operator_that_computes_something_else_is_not_used(
    monkeypatch: pytest.MonkeyPatch, asked_anew: None
) -> None:
    monkeypatch.setattr(products, "_operator", lambda: lambda rows, columns, *rest: rows @ columns.t())
    assert not has_faster_kernels()


@needs_packing
@pytest.mark.parametrize("part", [None, (0, 16), (16, 40)])
@pytest.mark.parametrize("num_rows", [1, 2, 13, 70])
@torch.no_grad()
def test_a_packed_matrix_gives_the_same_to_rounding(
    part: tuple[int, int] | None, num_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    states, weight, bias = values(num_rows, 24).detach(), values(40, 24), values(40)
    rows = slice(*(part or (0, 40)))
    expected = functional.linear(states, weight[rows], bias[rows])
    pack(weight, *([part] if part else []))
    torch.testing.assert_close(linear(states, weight, bias, False, part), expected)
    torch.testing.assert_close(linear(states[None], weight, bias, False, part), expected[None])
    torch.testing.assert_close(linear(states, weight, None, False, part), expected - bias[rows], atol=1e-5, rtol=1e-5)
    used: list[torch.Size] = []
    monkeypatch.setattr(products, "product", lambda rows, *rest: used.append(rows.shape) or product(rows, *rest))
    linear(states, weight, bias, False, part)
    assert bool(used) == (num_rows > 1)


def of_16_bits(weight: torch.Tensor) -> torch.Tensor:
    return weight.detach().half().float().requires_grad_()


@pytest.fixture
def by_halves(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each product by FBGEMM from here on."""
    rows: list[int] = []
    real = products._half_operator()

    def counting(states: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        rows.append(states.numel() // states.size(-1))
        return real(states, *rest)

    monkeypatch.setattr(products, "_half_operator", lambda: counting)
    return rows


@pytest.fixture
def with_threads() -> Iterator[Callable[[int], None]]:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@needs_halves
@pytest.mark.parametrize("part", [None, (0, 16), (16, 40)])
@pytest.mark.parametrize("num_rows", [1, 2, 13, 300])
@torch.no_grad()
def test_a_matrix_of_16_bits_is_kept_so_and_gives_the_same_to_rounding(
    part: tuple[int, int] | None, num_rows: int, by_halves: list[int], with_threads: Callable[[int], None]
) -> None:
    with_threads(1)
    states, weight, bias = values(num_rows, 24).detach(), of_16_bits(values(40, 24)), values(40)
    rows = slice(*(part or (0, 40)))
    expected = functional.linear(states, weight[rows], bias[rows])
    assert keeps_halves(weight)
    pack(weight, *([part] if part else []))
    by_halves.clear()
    torch.testing.assert_close(linear(states, weight, bias, False, part), expected)
    torch.testing.assert_close(linear(states[None], weight, bias, False, part), expected[None])
    torch.testing.assert_close(linear(states, weight, None, False, part), expected - bias[rows], atol=1e-5, rtol=1e-5)
    assert by_halves == ([num_rows] * 3 if num_rows <= 256 else [])


@needs_halves
@torch.no_grad()
def test_one_number_of_more_bits_is_not_rounded(by_halves: list[int]) -> None:
    for number in (1 + 2**-12, 1e-9, 1e6):
        states, weight = torch.ones(2, 24), of_16_bits(values(40, 24))
        weight[3, 5] = number
        assert not keeps_halves(weight)
        pack(weight)
        by_halves.clear()
        torch.testing.assert_close(linear(states, weight, None, False), functional.linear(states, weight))
        assert by_halves == []


@needs_halves
@needs_packing
@torch.no_grad()
def test_several_threads_share_larger_products_of_blocks(
    by_halves: list[int], with_threads: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_threads(2)
    weight = of_16_bits(values(40, 24))
    pack(weight)
    by_halves.clear()
    in_blocks: list[int] = []
    monkeypatch.setattr(products, "product", lambda rows, *rest: in_blocks.append(len(rows)) or product(rows, *rest))
    for num_rows in (1, 13, 40):
        states = values(num_rows, 24).detach()
        torch.testing.assert_close(linear(states, weight, None, False), functional.linear(states, weight))
    assert (by_halves, in_blocks) == ([1, 13], [40])


@pytest.mark.parametrize("fault", [AttributeError, RuntimeError, TypeError])
def test_without_halves_blocks_serve(monkeypatch: pytest.MonkeyPatch, asked_anew: None, fault: type[Exception]) -> None:
    def missing() -> None:
        raise fault("no such operator")

    monkeypatch.setattr(products, "_half_operator", missing)
    assert not has_half_matrices()
    weight = of_16_bits(values(40, 24))
    pack(weight)
    assert hasattr(weight, "packed") == has_packed_matrices()


@needs_packing
@pytest.mark.parametrize("is_of_halves", [False, True])
@torch.no_grad()
def test_a_packed_matrix_that_was_changed_is_not_used(is_of_halves: bool) -> None:
    states, weight = values(5, 24).detach(), values(40, 24)
    if is_of_halves:
        weight = of_16_bits(weight)
    pack(weight)
    weight.mul_(2)
    torch.testing.assert_close(linear(states, weight, None, False), functional.linear(states, weight))
    pack(weight)
    weight.data = weight.data + 1
    torch.testing.assert_close(linear(states, weight, None, False), functional.linear(states, weight))


@needs_packing
def test_a_packed_matrix_is_differentiated_as_before() -> None:
    states, weight, bias = values(5, 24), values(40, 24), values(40)
    expected = gradients(functional.linear(states, weight, bias), states, weight, bias)
    pack(weight)
    for one, other in zip(gradients(linear(states, weight, bias, False), states, weight, bias), expected, strict=True):
        torch.testing.assert_close(one, other)


def test_nothing_is_packed_where_onednn_does_not_serve(monkeypatch: pytest.MonkeyPatch, asked_anew: None) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    weight = values(40, 24)
    pack(weight)
    assert not hasattr(weight, "packed")


@torch.inference_mode()
def test_a_matrix_that_nobody_can_watch_is_not_packed() -> None:
    weight = torch.ones(40, 24)
    pack(weight)
    assert not hasattr(weight, "packed")
