"""How a model is named in one line."""

from dataclasses import replace
from pathlib import Path

import pytest

from augenmerk.core.device import DeviceChoice
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.viz_app.state.model_info import ModelInfo


@pytest.mark.parametrize(
    ("decoder", "told"), [(None, "8 heads"), (8, "8 heads"), (16, "8 + 16 heads")]
)
def test_heads_are_told_of_both_sides_where_they_differ(decoder: int | None, told: str) -> None:
    run = preset("notebook")
    run = replace(run, model=run.model.replace(num_decoder_heads=decoder))
    info = ModelInfo("one", Path("one.safetensors"), run, DeviceChoice("cpu", "requested"), 1)
    assert info.summary == f"one · 3 + 3 layers · {told}"
