"""The search names the first module whose output is not finite. See also tests/core/translation/test_not_finite.py."""

import math

import pytest
import torch

from augenmerk.core.model.non_finite import is_finite


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_one_value_that_is_not_finite_is_noticed(value: float) -> None:
    values = torch.ones(3, 5)
    assert is_finite(values)
    values[1, 2] = value
    assert not is_finite(values)
    assert is_finite(values[:0])
