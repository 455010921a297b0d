"""The search names the first module whose output is not finite.

See also tests/core/translation/test_not_finite.py.
"""

import math

import pytest
import torch
from torch import Tensor, nn

from augenmerk.core.errors import NonFiniteError
from augenmerk.core.model.non_finite import is_finite, require_finite
from tests.core.model.small_models import NUM_SOURCE, NUM_TARGET, make_model, random_ids


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_one_value_that_is_not_finite_is_noticed(value: float) -> None:
    values = torch.ones(3, 5)
    assert is_finite(values)
    values[1, 2] = value
    assert not is_finite(values)
    assert is_finite(values[:0])


class Overflowing(nn.Module):
    def forward(self, states: Tensor) -> Tensor:
        return states * math.inf


def test_a_module_that_the_model_did_not_have_is_named() -> None:
    model = make_model()
    layer = model.decoder_layers[1]
    forward, layer.slow_adapter = layer.forward, Overflowing()

    def adapted(*inputs: Tensor, **options: object) -> tuple[Tensor, ...]:
        states, *maps = forward(*inputs, **options)
        return layer.slow_adapter(states), *maps

    layer.forward = adapted
    source, target = random_ids(2, 7, NUM_SOURCE), random_ids(2, 5, NUM_TARGET)
    encoding = model.encode(source)
    with pytest.raises(NonFiniteError, match="first in decoder layer 1, slow adapter"):
        require_finite(model, encoding, target, model.decode(encoding, target).logits)
