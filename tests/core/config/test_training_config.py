"""A training that cannot run is refused before it begins."""

import pytest

from augenmerk.core.config import TrainingConfig
from augenmerk.core.errors import ConfigError


@pytest.mark.parametrize("num_epochs", [-1, 0, -10, 1.5, "ten"])
def test_a_negative_number_of_epochs_is_refused_with_a_message_to_act_on(
    num_epochs: object,
) -> None:
    with pytest.raises(ConfigError) as caught:
        TrainingConfig.from_dict({"num_epochs": num_epochs})
    message = str(caught.value)
    assert f"num_epochs is {num_epochs!r}" in message, "what was given"
    assert "Use a whole number of at least 1" in message, "what to do"


@pytest.mark.parametrize("value", [0, -1, 0.5, True])
@pytest.mark.parametrize(
    "name",
    "batch_size num_accumulated warmup_steps max_steps pad_to checkpoint_steps keep_best "
    "keep_last patience".split(),
)
def test_counts_are_whole_numbers_from_one(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"training: {name} is {value!r}"):
        TrainingConfig.from_dict({name: value})


@pytest.mark.parametrize("value", [-1, 0.5, True, None])
@pytest.mark.parametrize("name", ["cooldown_epochs", "sample_size"])
def test_what_can_be_left_out_is_a_whole_number_from_zero(name: str, value: object) -> None:
    with pytest.raises(
        ConfigError, match=f"training: {name} is {value!r}. Use a whole number of at least 0"
    ):
        TrainingConfig.from_dict({name: value})
    assert getattr(TrainingConfig.from_dict({name: 0}), name) == 0


@pytest.mark.parametrize("value", [0, -5e-4, float("nan"), float("inf"), "fast"])
@pytest.mark.parametrize("name", ["learning_rate", "noam_factor", "adam_epsilon", "clip_norm"])
def test_rates_are_finite_and_above_zero(name: str, value: object) -> None:
    with pytest.raises(
        ConfigError, match=f"training: {name} is {value!r}. Use a number greater than 0"
    ):
        TrainingConfig.from_dict({name: value})


@pytest.mark.parametrize("value", [-1, -0.1, float("nan"), float("inf"), True, "5", None])
def test_the_weight_of_r_drop_is_a_finite_number_from_zero(value: object) -> None:
    with pytest.raises(
        ConfigError, match=f"training: r_drop is {value!r}. Use a number of at least 0"
    ):
        TrainingConfig.from_dict({"r_drop": value})
    assert TrainingConfig(r_drop=5).r_drop == 5


@pytest.mark.parametrize("value", [1, 1.0, -0.1, float("nan")])
@pytest.mark.parametrize("name", ["adam_beta1", "adam_beta2", "label_smoothing", "source_noise"])
def test_shares_lie_below_one(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"training: {name} is {value!r}"):
        TrainingConfig.from_dict({name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("schedule", "cosine"),
        ("batch_unit", "words"),
        ("batching", "sorted"),
        ("schedule_unit", "epochs"),
    ],
)
def test_an_unknown_choice_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"training: {name} is '{value}'. Use one of "):
        TrainingConfig.from_dict({name: value})


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "1", True, None])
def test_a_seed_that_no_generator_takes_is_refused(seed: object) -> None:
    with pytest.raises(ConfigError, match=f"seed is {seed!r}"):
        TrainingConfig.from_dict({"seed": seed})


@pytest.mark.parametrize("seed", [0, 1234, 2**63 - 1])
def test_every_other_seed_is_taken(seed: int) -> None:
    assert TrainingConfig(seed=seed).seed == seed


def test_no_limit_is_none() -> None:
    settings = TrainingConfig(max_steps=None, pad_to=None, clip_norm=None, patience=None)
    assert (settings.max_steps, settings.pad_to, settings.clip_norm, settings.patience) == (
        None,
        None,
        None,
        None,
    )


def test_settings_from_before_batching_was_a_choice_mean_what_was_done_then() -> None:
    earlier = TrainingConfig.from_dict({"batch_size": 32, "num_accumulated": 10})
    assert (earlier.batching, earlier.schedule_unit) == ("bucketed", "optimizer-steps")
