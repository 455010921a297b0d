"""Settings that anybody may have written: numbers without bounds, texts for numbers, files without
end."""

from typing import Any

import pytest

from augenmerk.core.config import DataConfig, ModelConfig, RunConfig, TrainingConfig
from augenmerk.core.errors import ConfigError


@pytest.mark.parametrize(
    "value", [2**31, 2**63, 10**30, 10**5000], ids=["2^31", "2^63", "10^30", "10^5000"]
)
@pytest.mark.parametrize(
    ("group", "name"),
    [
        *(
            (ModelConfig, name)
            for name in ("width", "num_encoder_layers", "num_heads", "max_positions")
        ),
        *(
            (DataConfig, name)
            for name in ("min_frequency", "num_subwords", "copy_symbols", "copy_training_pairs")
        ),
        *(
            (TrainingConfig, name)
            for name in ("num_epochs", "batch_size", "max_steps", "warmup_steps", "pad_to")
        ),
    ],
)
def test_counts_have_an_end(group: type[Any], name: str, value: int) -> None:
    with pytest.raises(ConfigError, match=name) as caught:
        group.from_dict({name: value})
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("value", [1e101, 1e308, float("inf"), float("nan"), 10**400])
@pytest.mark.parametrize(
    "name", ["learning_rate", "noam_factor", "adam_epsilon", "r_drop", "clip_norm"]
)
def test_rates_have_an_end(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=name):
        TrainingConfig.from_dict({name: value})


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(ConfigError) as caught:
        ModelConfig.from_dict({"norm_kind": "x" * 10**6})
    assert len(str(caught.value)) < 300


def test_a_copy_task_without_end_is_refused() -> None:
    with pytest.raises(ConfigError, match="ask for"):
        DataConfig(copy_training_pairs=10**6, copy_length=1_000)


@pytest.mark.parametrize("name", ["preset", "description"])
@pytest.mark.parametrize("value", [1, None, ["x"], {"a": 1}])
def test_names_are_texts(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        RunConfig.from_dict({name: value})
