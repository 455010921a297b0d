"""The loss that is minimised, against PyTorch's own and against the distribution formed in full."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from augenmerk.core.extensions.training import loss as loss_module
from augenmerk.core.extensions.training.loss import (
    output_layer_loss,
    smoothed_distribution,
    smoothed_loss,
)

NUM_TOKENS, WIDTH, PADDING = 23, 8, 1
SMOOTHINGS = [0.0, 0.1, 0.4]


def rows(number: int) -> tuple[Tensor, Tensor]:
    """Logits [N, V] and targets [N] without padding, in double precision."""
    generator = torch.Generator().manual_seed(3)
    logits = 3 * torch.randn(number, NUM_TOKENS, generator=generator, dtype=torch.double)
    targets = torch.randint(2, NUM_TOKENS, (number,), generator=generator)
    return logits, targets


def divergence(
    logits: Tensor, targets: Tensor, smoothing: float, padding_id: int = PADDING
) -> Tensor:
    """The loss of The Annotated Transformer: `KLDivLoss(reduction="sum")` on the formed
    distribution."""
    distributions = [
        smoothed_distribution(int(t), logits.size(1), smoothing, padding_id) for t in targets
    ]
    return torch.nn.KLDivLoss(reduction="sum")(
        logits.log_softmax(dim=-1), torch.stack(distributions).to(logits)
    )


class TestSmoothedDistribution:
    def test_the_picture_of_five_words_and_an_epsilon_of_four_tenths(self) -> None:
        """Targets 2, 1, 0, 3, 3 with padding 0, as The Annotated Transformer draws it."""
        picture = torch.stack(
            [smoothed_distribution(target, 5, 0.4, 0) for target in (2, 1, 0, 3, 3)]
        )
        share = 0.4 / 3
        expected = [
            [0, share, 0.6, share, share],
            [0, 0.6, share, share, share],
            [0, 0, 0, 0, 0],
            [0, share, share, 0.6, share],
            [0, share, share, 0.6, share],
        ]
        assert torch.allclose(picture, torch.tensor(expected))

    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    def test_it_is_a_distribution_that_gives_nothing_to_padding(self, smoothing: float) -> None:
        for target in (0, 2, 22):
            distribution = smoothed_distribution(target, NUM_TOKENS, smoothing, PADDING)
            assert float(distribution.sum()) == pytest.approx(1, abs=1e-6)
            assert distribution[PADDING] == 0
            assert distribution[target] == pytest.approx(1 - smoothing)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
class TestSmoothedLoss:
    def test_it_is_the_divergence_from_the_formed_distribution(self, smoothing: float) -> None:
        logits, targets = rows(40)
        expected = divergence(logits, targets, smoothing)
        assert float(smoothed_loss(logits, targets, smoothing, PADDING)) == pytest.approx(
            float(expected), rel=1e-6
        )

    def test_its_gradient_is_that_of_the_divergence(self, smoothing: float) -> None:
        logits, targets = rows(40)
        logits.requires_grad_()
        (actual,) = torch.autograd.grad(smoothed_loss(logits, targets, smoothing, PADDING), logits)
        (expected,) = torch.autograd.grad(divergence(logits, targets, smoothing), logits)
        assert torch.allclose(actual, expected, atol=1e-7)

    def test_padding_can_be_any_id(self, smoothing: float) -> None:
        for padding_id in (0, 1, NUM_TOKENS - 1):
            logits, targets = rows(9)
            targets[targets == padding_id] = 5
            expected = float(divergence(logits, targets, smoothing, padding_id))
            assert float(smoothed_loss(logits, targets, smoothing, padding_id)) == pytest.approx(
                expected, rel=1e-6
            )

    def test_it_sums_over_rows(self, smoothing: float) -> None:
        logits, targets = rows(10)
        parts = [
            smoothed_loss(logits[part], targets[part], smoothing, PADDING)
            for part in (slice(0, 3), slice(3, 10))
        ]
        assert float(sum(parts)) == pytest.approx(
            float(smoothed_loss(logits, targets, smoothing, PADDING))
        )


def test_without_smoothing_it_is_the_cross_entropy() -> None:
    logits, targets = rows(40)
    expected = functional.cross_entropy(logits, targets, reduction="sum")
    assert float(smoothed_loss(logits, targets, 0.0, PADDING)) == pytest.approx(
        float(expected), rel=1e-12
    )


def over_confident_loss(x: float) -> float:
    """The prediction [0, x, 1, 1, 1] / (x + 3) of The Annotated Transformer: 1 is true, padding is
    0, ε is 0.1."""
    prediction = torch.tensor([[0.0, x, 1, 1, 1]], dtype=torch.double) / (x + 3)
    return float(smoothed_loss(prediction.log(), torch.tensor([1]), 0.1, 0))


def test_an_over_confident_prediction_is_punished_and_zero_times_the_log_of_zero_is_zero() -> None:
    losses = {x: over_confident_loss(x) for x in (1, 5, 27, 100, 1000)}
    for x, value in losses.items():
        share = 0.1 / 3
        expected = 0.9 * math.log(0.9 / (x / (x + 3))) + 3 * share * math.log(share / (1 / (x + 3)))
        assert value == pytest.approx(expected, abs=1e-12)
    assert losses[27] == pytest.approx(0, abs=1e-12), (
        "here the prediction is the smoothed distribution itself"
    )
    assert losses[1] > losses[5] > losses[27] < losses[100] < losses[1000]


def layer(
    dtype: torch.dtype = torch.double, *, bias: bool = True
) -> tuple[Tensor, Tensor, Tensor | None]:
    generator = torch.Generator().manual_seed(5)
    hidden = torch.randn(700, WIDTH, generator=generator, dtype=dtype)
    weight = torch.randn(NUM_TOKENS, WIDTH, generator=generator, dtype=dtype)
    return (
        hidden,
        weight,
        torch.randn(NUM_TOKENS, generator=generator, dtype=dtype) if bias else None,
    )


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("number", [1, 255, 256, 257, 512, 700])
def test_the_output_layer_in_chunks_equals_the_whole(
    number: int, bias: bool, smoothing: float
) -> None:
    """Value and gradients, with a chunk that is full, one row short and one row over."""
    assert loss_module._CHUNK_ROWS["cpu"] == 256
    hidden, weight, offset = layer(bias=bias)
    hidden, targets = hidden[:number], rows(number)[1]
    inputs = [tensor.requires_grad_() for tensor in (hidden, weight, offset) if tensor is not None]
    actual = output_layer_loss(hidden, weight, offset, targets, smoothing, PADDING)
    expected = divergence(functional.linear(hidden, weight, offset), targets, smoothing)
    assert actual.item() == pytest.approx(expected.item(), rel=1e-6)
    for one, other in zip(
        torch.autograd.grad(2.5 * actual, inputs),
        torch.autograd.grad(2.5 * expected, inputs),
        strict=True,
    ):
        assert torch.allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_gradients_of_the_output_layer_are_those_of_finite_differences(smoothing: float) -> None:
    hidden, weight, offset = layer()
    hidden, targets = hidden[:5].requires_grad_(), rows(5)[1]

    def in_full_precision(hidden: Tensor, weight: Tensor, offset: Tensor) -> Tensor:
        logits = functional.linear(hidden, weight, offset)
        return smoothed_loss(logits, targets, smoothing, PADDING)

    assert offset is not None
    inputs = (hidden, weight.requires_grad_(), offset.requires_grad_())
    assert torch.autograd.gradcheck(in_full_precision, inputs)
    actual = torch.autograd.grad(output_layer_loss(*inputs, targets, smoothing, PADDING), inputs)
    expected = torch.autograd.grad(in_full_precision(*inputs), inputs)
    assert all(
        torch.allclose(one, other, atol=1e-9) for one, other in zip(actual, expected, strict=True)
    )


def test_in_single_precision_the_output_layer_equals_the_cross_entropy() -> None:
    hidden, weight, offset = layer(torch.float32)
    targets = rows(700)[1]
    hidden.requires_grad_()
    actual = output_layer_loss(hidden, weight, offset, targets, 0.0, PADDING)
    expected = functional.cross_entropy(
        functional.linear(hidden, weight, offset), targets, reduction="sum"
    )
    assert actual.item() == pytest.approx(expected.item(), rel=1e-6)
    (one,), (other,) = torch.autograd.grad(actual, hidden), torch.autograd.grad(expected, hidden)
    assert torch.allclose(one, other, atol=1e-5)


def two_passes(number: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Hidden states [2 N, D] of two passes, weight, bias, and targets [2 N] of the same N
    tokens."""
    generator = torch.Generator().manual_seed(11)
    hidden = torch.randn(
        2 * number, WIDTH, generator=generator, dtype=torch.double, requires_grad=True
    )
    weight = torch.randn(
        NUM_TOKENS, WIDTH, generator=generator, dtype=torch.double, requires_grad=True
    )
    bias = torch.randn(NUM_TOKENS, generator=generator, dtype=torch.double, requires_grad=True)
    targets = torch.randint(2, NUM_TOKENS, (number,), generator=generator).repeat(2)
    return hidden, weight, bias, targets


def r_drop_word_by_word(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    smoothing: float,
    alpha: float,
) -> Tensor:
    """Equation 4 of Liang et al. 2021, halved, written as it stands there: one word after the
    other.
    """
    logits = functional.linear(hidden, weight, bias)
    number = len(targets) // 2
    total = torch.zeros((), dtype=logits.dtype)
    for word in range(number):
        first, second = logits[word].log_softmax(0), logits[number + word].log_softmax(0)
        forth = functional.kl_div(second, first, log_target=True, reduction="sum")
        back = functional.kl_div(first, second, log_target=True, reduction="sum")
        truth = targets[word : word + 1]
        losses = [
            divergence(row[None], truth, smoothing) for row in (logits[word], logits[number + word])
        ]
        total = total + (sum(losses) + alpha * (forth + back) / 2) / 2
    return total


class TestRDrop:
    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    @pytest.mark.parametrize("with_bias", [True, False])
    @pytest.mark.parametrize("number", [1, 5, 40])
    def test_loss_and_gradients_are_those_of_the_equation(
        self, monkeypatch: pytest.MonkeyPatch, smoothing: float, with_bias: bool, number: int
    ) -> None:
        """Also where the rows do not fill the last chunk."""
        monkeypatch.setattr(loss_module, "_CHUNK_ROWS", {"cpu": 12})
        hidden, weight, some_bias, targets = two_passes(number)
        bias = some_bias if with_bias else None
        learned = [tensor for tensor in (hidden, weight, bias) if tensor is not None]
        actual = output_layer_loss(hidden, weight, bias, targets, smoothing, PADDING, 5.0)
        expected = r_drop_word_by_word(hidden, weight, bias, targets, smoothing, 5.0)
        assert actual.item() == pytest.approx(expected.item(), rel=1e-6)
        for one, other in zip(
            torch.autograd.grad(actual, learned),
            torch.autograd.grad(expected, learned),
            strict=True,
        ):
            assert torch.allclose(one, other, rtol=1e-6, atol=1e-6)

    def test_the_weight_scales_the_divergence_alone(self) -> None:
        passes = two_passes(7)
        losses = [
            float(output_layer_loss(*passes, 0.1, PADDING, alpha).detach())
            for alpha in (1.0, 2.0, 4.0)
        ]
        assert losses[2] - losses[1] == pytest.approx(2 * (losses[1] - losses[0]), rel=1e-5)
        assert losses[1] > losses[0]

    def test_two_equal_passes_lose_as_one_does(self) -> None:
        hidden, weight, bias, targets = two_passes(9)
        same = torch.cat((hidden[:9], hidden[:9]))
        double = output_layer_loss(same, weight, bias, targets, 0.1, PADDING, 5.0)
        single = output_layer_loss(hidden[:9], weight, bias, targets[:9], 0.1, PADDING)
        assert double.item() == pytest.approx(single.item(), rel=1e-6)

    def test_in_bfloat16_it_is_the_same_but_for_rounding(self) -> None:
        hidden, weight, bias, targets = (tensor.detach() for tensor in two_passes(40))
        expected = float(output_layer_loss(hidden, weight, bias, targets, 0.1, PADDING, 3.0))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            actual = float(
                output_layer_loss(
                    hidden.float(), weight.float(), bias.float(), targets, 0.1, PADDING, 3.0
                )
            )
        assert actual == pytest.approx(expected, rel=0.02)


@pytest.mark.heavy
def test_the_last_rows_of_batches_have_few_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """For each shape oneDNN makes a kernel and keeps it, so that a new one at each step would fill
    the memory."""
    shapes: set[tuple[torch.Size, torch.Size]] = set()

    def noticing(
        rows: torch.Tensor, columns: torch.Tensor, bias: torch.Tensor | None = None
    ) -> torch.Tensor:
        shapes.add((rows.shape, columns.shape))
        return functional.linear(rows, columns, bias)

    monkeypatch.setattr(loss_module, "product_serves", lambda states: True)
    monkeypatch.setattr(loss_module, "product", noticing)
    weight = torch.randn(9, 4, requires_grad=True)
    for number in range(1, 513):
        hidden, targets = torch.randn(number, 4), torch.zeros(number, dtype=torch.long)
        output_layer_loss(hidden, weight, None, targets, 0.1, 1)
    assert len(shapes) == 3 * 256 // 32
