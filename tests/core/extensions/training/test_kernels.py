"""The kernels of training: the results and gradients of PyTorch's own, and dropout with its own
random numbers."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from augenmerk.core.extensions.training import kernels
from augenmerk.core.extensions.training.kernels import (
    FasterKernels,
    dropout,
    linear,
    training_kernels,
)
from augenmerk.core.inference.products import has_faster_kernels
from augenmerk.core.model.attention import attend
from tests.core.model.small_models import (
    KINDS,
    NUM_SOURCE,
    NUM_TARGET,
    PADDING,
    make_model,
    random_ids,
)

needs_kernels = pytest.mark.skipif(
    not has_faster_kernels(), reason="needs a processor with AVX-512 and oneDNN"
)

SHARES = pytest.mark.parametrize("probability", [0.1, 0.2, 0.5, 0.9])


@SHARES
def test_the_share_that_is_zeroed_the_scale_of_the_rest_and_the_mean(probability: float) -> None:
    torch.manual_seed(0)
    count = 1_000_000
    dropped = dropout(torch.ones(count), probability, training=True)
    zeroed = dropped == 0
    error = (probability * (1 - probability) / count) ** 0.5
    assert float(zeroed.float().mean()) == pytest.approx(probability, abs=5 * error + 2**-17)
    assert torch.equal(dropped[~zeroed].unique(), dropped[~zeroed][:1])
    assert float(dropped.max()) == pytest.approx(1 / (1 - probability), rel=2e-4)
    assert float(dropped.double().mean()) == pytest.approx(1, abs=6 * error / (1 - probability))


@SHARES
def test_neighbours_fall_independently(probability: float) -> None:
    """Four elements share one random word: none of its four quarters may tell of another."""
    torch.manual_seed(1)
    survivors = (dropout(torch.ones(400_000), probability, training=True) != 0).double()
    survivors = (survivors - survivors.mean()) / survivors.std()
    for distance in range(1, 9):
        assert float((survivors[distance:] * survivors[:-distance]).mean()) == pytest.approx(
            0, abs=0.009
        )
    for quarter in survivors.view(-1, 4).mean(dim=0):
        assert float(quarter) == pytest.approx(0, abs=0.02)


def test_the_gradient_passes_where_the_value_did() -> None:
    torch.manual_seed(0)
    states = torch.randn(7, 11, 13, requires_grad=True)
    outer = torch.randn(7, 11, 13)
    dropped = dropout(states, 0.4, training=True)
    dropped.backward(outer)
    mask = dropped.detach() / states.detach()
    torch.testing.assert_close(states.grad, outer * mask)
    assert torch.equal(states.grad == 0, dropped == 0)


def test_the_seed_decides() -> None:
    states = torch.ones(1000)

    def drop(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return torch.cat([dropout(states, 0.5, training=True), dropout(states, 0.5, training=True)])

    assert torch.equal(drop(3), drop(3))
    assert not torch.equal(drop(3), drop(4))
    first, second = drop(3).chunk(2)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (4,), (5,), (2, 3, 5), (0,), (2, 0)])
def test_any_shape_keeps_its_shape(shape: tuple[int, ...]) -> None:
    dropped = dropout(torch.ones(shape), 0.5, training=True)
    assert dropped.shape == shape
    assert set(dropped.flatten().tolist()) <= {0.0, 2.0}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions_are_kept(dtype: torch.dtype) -> None:
    assert dropout(torch.ones(100, dtype=dtype), 0.5, training=True).dtype == dtype


def test_states_that_are_not_contiguous_are_dropped_in_their_own_order() -> None:
    torch.manual_seed(0)
    states = torch.arange(1.0, 61.0).view(6, 10).t()
    dropped = dropout(states, 0.5, training=True)
    survived = dropped != 0
    torch.testing.assert_close(dropped[survived], 2 * states[survived])


def test_nothing_is_dropped_in_evaluation_or_with_probability_zero() -> None:
    states = torch.randn(5, 5)
    assert dropout(states, 0.5, training=False) is states
    assert dropout(states, 0.0, training=True) is states


def test_a_probability_just_below_one_is_finite() -> None:
    assert dropout(torch.ones(1000), 0.9999999, training=True).isfinite().all()


def values(*shape: int) -> torch.Tensor:
    return torch.randn(
        *shape, generator=torch.Generator().manual_seed(sum(shape)), requires_grad=True
    )


def gradients(output: torch.Tensor, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    weights = torch.arange(float(output.numel())).view_as(output).cos()
    return torch.autograd.grad((output * weights).sum(), inputs)


@pytest.mark.parametrize("shape", [(70, 24), (5, 30, 24)])
@pytest.mark.parametrize("has_bias", [True, False])
def test_results_and_gradients_are_those_of_pytorch_to_rounding(
    shape: tuple[int, ...], has_bias: bool
) -> None:
    states, weight, bias = values(*shape), values(40, 24), values(40) if has_bias else None
    ours, theirs = linear(states, weight, bias), functional.linear(states, weight, bias)
    torch.testing.assert_close(ours, theirs)
    inputs = [states, weight, *([] if bias is None else [bias])]
    for one, other in zip(gradients(ours, *inputs), gradients(theirs, *inputs), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-4)


@needs_kernels
def test_large_products_of_32_bits_with_gradients_take_the_faster_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used: list[torch.Size] = []

    def counting(
        rows: torch.Tensor, columns: torch.Tensor, bias: torch.Tensor | None = None
    ) -> torch.Tensor:
        used.append(rows.shape)
        return functional.linear(rows, columns, bias)

    monkeypatch.setattr(kernels, "product", counting)
    states, weight, bias = values(70, 24), values(40, 24), values(40)
    linear(states[:8], weight, bias)
    linear(states.double(), weight.double(), bias.double())
    with torch.no_grad():
        linear(states, weight, bias)
    with torch.autocast("cpu", torch.bfloat16):
        linear(states, weight, bias)
    assert used == []
    linear(states, weight, bias)
    assert used == [(70, 24)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_training", [True, False])
def test_a_model_has_the_same_hidden_states_and_gradients(kind: str, is_training: bool) -> None:
    """Without dropout, which draws its own random numbers."""
    model = make_model(KINDS[kind].replace(dropout=0.0)).train(is_training)
    source, target = random_ids(9, 9, NUM_SOURCE), random_ids(9, 8, NUM_TARGET)
    source[1, 6:], target[2, 4:] = PADDING, PADDING
    plain = model.hidden_states(source, target)
    with training_kernels(torch.device("cpu")):
        faster = model.hidden_states(source, target)
    torch.testing.assert_close(faster, plain, rtol=0, atol=1e-5)
    hidden_only = [
        parameter for name, parameter in model.named_parameters() if not name.startswith("output.")
    ]
    for one, other in zip(
        gradients(faster, *hidden_only), gradients(plain, *hidden_only), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("length", [5, 20], ids=["short rows", "long rows"])
def test_attention_with_dropout_is_that_of_pytorch_where_nothing_falls_out(
    monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    monkeypatch.setitem(
        kernels._REPLACEMENTS, functional.dropout, lambda weights, **options: weights
    )
    queries, keys, inputs = (
        values(6, 4, length, 8),
        values(6, 4, length + 1, 8),
        values(6, 4, length + 2, 8)[:, :, :-1],
    )
    mask = torch.ones(6, 1, 1, length + 1, dtype=torch.bool)
    mask[2, ..., -3:] = False
    with FasterKernels():
        mixed, _ = attend(queries, keys, inputs, mask, dropout=0.1)
    expected = functional.scaled_dot_product_attention(queries, keys, inputs, mask)
    torch.testing.assert_close(mixed, expected)
    sides = (queries, keys)
    for one, other in zip(gradients(mixed, *sides), gradients(expected, *sides), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


def test_attention_drops_weights_and_keeps_their_mean() -> None:
    torch.manual_seed(0)
    ones = torch.ones(100, 2, 20, 1)
    with FasterKernels():
        mixed, _ = attend(ones, ones, ones, None, dropout=0.3)
    assert mixed.unique().numel() > 5
    assert float(mixed.mean()) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    "shape", [(100, 5), (100, 20), (2, 5), (5, 0)], ids=["short", "long", "few", "empty"]
)
@pytest.mark.parametrize("dim", [0, -1])
def test_softmax_is_that_of_pytorch(shape: tuple[int, ...], dim: int) -> None:
    scores = values(*shape)
    with FasterKernels():
        ours = functional.softmax(scores, dim=dim, dtype=torch.float64)
    torch.testing.assert_close(ours, functional.softmax(scores, dim=dim, dtype=torch.float64))


def test_many_short_rows_of_scores_are_padded_within_the_context(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Which PyTorch's softmax takes many numbers at a time for."""
    widths, pad = [], functional.pad
    monkeypatch.setattr(
        functional, "pad", lambda *inputs, **options: widths.append(1) or pad(*inputs, **options)
    )
    queries = values(40, 4, 5, 8)
    attend(queries, queries, queries, None, dropout=0.1)
    assert not widths
    with FasterKernels():
        attend(queries, queries, queries, None, dropout=0.1)
    assert widths == [1]


def test_the_modules_of_pytorch_take_these_kernels_within_the_context_alone() -> None:
    states, module = torch.ones(1000), nn.Dropout(0.5)
    torch.manual_seed(2)
    ours = dropout(states, 0.5)
    with FasterKernels():
        torch.manual_seed(2)
        assert torch.equal(module(states), ours)
    torch.manual_seed(2)
    assert not torch.equal(module(states), ours)


def test_hooks_fire_within_the_context() -> None:
    model, called = make_model().train(), []
    model.decoder_layers[1].register_forward_hook(lambda *_: called.append(1))
    with training_kernels(torch.device("cpu")):
        model.hidden_states(random_ids(2, 5, NUM_SOURCE), random_ids(2, 5, NUM_TARGET))
    assert called == [1]
