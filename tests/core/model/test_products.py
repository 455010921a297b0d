"""Products by oneDNN: the same as PyTorch's to rounding, forward and backward, and used in training alone."""

from collections.abc import Iterator

import pytest
import torch
from torch.nn import functional

from core.model import products
from core.model.products import has_faster_kernels, linear, product

needs_kernels = pytest.mark.skipif(not has_faster_kernels(), reason="needs a processor with AVX-512 and oneDNN")


@pytest.fixture
def asked_anew() -> Iterator[None]:
    has_faster_kernels.cache_clear()
    yield
    has_faster_kernels.cache_clear()


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
