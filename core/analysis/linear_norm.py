"""A layer norm as the linear map that it is once the deviation that it divided by is known. Legend: `core.analysis`."""

import torch
from torch import Tensor, nn

from augenmerk.core.model.layers import AnnotatedLayerNorm


def linear_norm(norm: nn.Module, parts: Tensor, whole: Tensor) -> Tensor:
    """A norm without its bias, of `parts` [..., D] that sum to `whole`: γ ⊙ (part − mean(part)) / σ(whole).

    In double precision. What all parts become, and the norm's bias, sum to what the norm makes of `whole`. An identity,
    which stands in place of the final norm where a model has none, changes nothing.
    """
    if isinstance(norm, nn.Identity):
        return parts
    if isinstance(norm, AnnotatedLayerNorm):
        deviation = whole.std(dim=-1, keepdim=True) + norm.epsilon
    else:
        assert isinstance(norm, nn.LayerNorm)
        deviation = (whole.var(dim=-1, keepdim=True, unbiased=False) + norm.eps).sqrt()
    return norm.weight.double() * (parts - parts.mean(dim=-1, keepdim=True)) / deviation


def bias_of(norm: nn.Module) -> Tensor:
    """β, in double precision; 0 for an identity."""
    if isinstance(norm, nn.Identity):
        return torch.zeros((), dtype=torch.float64)
    assert isinstance(norm, nn.LayerNorm | AnnotatedLayerNorm)
    return norm.bias.double()
