import pytest
import torch
from torch import nn

from augenmerk.core.model.layers import AnnotatedLayerNorm, FeedForward, Residual, make_norm
from tests.core.model.small_models import ANNOTATED, POST, PRE


def test_annotated_norm_is_the_published_formula() -> None:
    """a · (x − mean) / (std + ε) + b; std divides by n − 1 and ε stands outside the root."""
    torch.manual_seed(0)
    norm = AnnotatedLayerNorm(8)
    states = torch.randn(2, 3, 8)
    with torch.no_grad():
        norm.weight.normal_()
        norm.bias.normal_()
        output = norm(states)
        for row, result in zip(states.flatten(0, 1), output.flatten(0, 1), strict=True):
            mean = sum(row.tolist()) / 8
            std = (sum((value - mean) ** 2 for value in row.tolist()) / 7) ** 0.5
            for index in range(8):
                expected = (
                    norm.weight[index] * (row[index] - mean) / (std + 1e-6) + norm.bias[index]
                )
                assert float(result[index]) == pytest.approx(float(expected), abs=1e-5)


def test_annotated_norm_is_not_pytorchs() -> None:
    torch.manual_seed(0)
    states = torch.randn(4, 8)
    ours, theirs = AnnotatedLayerNorm(8)(states), nn.LayerNorm(8)(states)
    torch.testing.assert_close(ours, theirs * (7 / 8) ** 0.5, rtol=1e-4, atol=1e-4)
    assert not torch.allclose(ours, theirs, atol=1e-2)


def test_the_epsilon_of_the_annotated_norm_stands_outside_the_root() -> None:
    states = torch.tensor([[1e-6, -1e-6]])  # std is √2 · 1e-6
    expected = 1 / (2**0.5 + 1)
    torch.testing.assert_close(
        AnnotatedLayerNorm(2)(states).detach(), torch.tensor([[expected, -expected]])
    )


def test_the_config_chooses_the_norm() -> None:
    assert isinstance(make_norm(POST), nn.LayerNorm)
    assert isinstance(make_norm(ANNOTATED), AnnotatedLayerNorm)


def test_the_norm_stands_before_or_behind_the_sublayer() -> None:
    states, output = torch.randn(2, 3, 32), torch.randn(2, 3, 32)
    pre, post = Residual(PRE).eval(), Residual(POST).eval()
    assert torch.equal(pre.before(states), pre.norm(states))
    assert torch.equal(pre(states, output), states + output)
    assert torch.equal(post.before(states), states)
    assert torch.equal(post(states, output), post.norm(states + output))


def test_dropout_falls_on_the_sublayers_output_not_on_the_path_around_it() -> None:
    residual = Residual(PRE.replace(dropout=0.5)).train()
    states = torch.full((50, 40, 32), 7.0)
    after = residual(states, torch.ones_like(states))
    assert set(after.unique().tolist()) == {7.0, 9.0}


ACTIVATIONS = {
    "relu": lambda values: values.clamp(min=0),
    "gelu": lambda values: values * 0.5 * (1 + torch.erf(values / 2**0.5)),
    "gelu-tanh": lambda values: (
        0.5 * values * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (values + 0.044715 * values**3)))
    ),
    "swish": lambda values: values / (1 + (-values).exp()),
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_feed_forward_is_two_linear_layers_with_the_activation_between(activation: str) -> None:
    torch.manual_seed(0)
    network = FeedForward(POST.replace(activation=activation)).eval()
    states = torch.randn(2, 3, 32)
    inner = ACTIVATIONS[activation](states @ network.expand.weight.T + network.expand.bias)
    expected = inner @ network.contract.weight.T + network.contract.bias
    assert network.expand.out_features == 48
    torch.testing.assert_close(network(states), expected)
