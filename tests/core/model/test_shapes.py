"""Shapes of parameters are known before a model is built."""

import pytest

from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.model.shapes import parameter_shapes
from augenmerk.core.model.transformer import Transformer


@pytest.mark.parametrize("name", ["notebook", "multi30k", "annotated-2018", "copy-task-small"])
def test_shapes_are_those_of_the_model_that_is_built(name: str) -> None:
    config = preset(name).model.replace(
        width=32, num_heads=2, num_encoder_layers=3, feed_forward_width=8
    )
    model = Transformer(config, 11, 11, padding_id=1)
    built = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    assert parameter_shapes(config, 11, 11) == built
