import pytest
import torch

from augenmerk.core.model.dropout import Dropout, dropout

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
    kept = (dropout(torch.ones(400_000), probability, training=True) != 0).double()
    kept = (kept - kept.mean()) / kept.std()
    for distance in range(1, 9):
        assert float((kept[distance:] * kept[:-distance]).mean()) == pytest.approx(0, abs=0.009)
    for quarter in kept.view(-1, 4).mean(dim=0):
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
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], 2 * states[kept])


def test_nothing_is_dropped_in_evaluation_or_with_probability_zero() -> None:
    states = torch.randn(5, 5)
    assert dropout(states, 0.5, training=False) is states
    assert dropout(states, 0.0, training=True) is states
    assert Dropout(0.5).eval()(states) is states


def test_a_probability_just_below_one_is_finite() -> None:
    assert dropout(torch.ones(1000), 0.9999999, training=True).isfinite().all()


def test_the_module_drops_in_training() -> None:
    assert (Dropout(0.5).train()(torch.ones(1000)) == 0).any()
