"""Settings go to plain dictionaries and back, and refuse what they do not know."""

import dataclasses
import json
from dataclasses import dataclass

import pytest

from core.config import DataConfig, ModelConfig, TrainingConfig
from core.config.settings import (
    Settings,
    require_choice,
    require_fraction,
    require_integer,
    require_not_negative,
    require_positive,
)
from core.errors import AugenmerkError, ConfigError

GROUPS = [ModelConfig, DataConfig, TrainingConfig]


@dataclass(frozen=True)
class WithTuple(Settings):
    """Settings with a tuple, which JSON turns into a list."""

    betas: tuple[float, ...] = (0.9, 0.98)


@pytest.mark.parametrize("group", GROUPS)
def test_defaults_survive_the_way_through_json(group: type[Settings]) -> None:
    assert group.from_dict(json.loads(json.dumps(group().to_dict()))) == group()


def test_a_tuple_survives_the_way_through_json() -> None:
    settings = WithTuple((0.5, 0.6))
    assert WithTuple.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


@pytest.mark.parametrize("group", GROUPS)
def test_what_is_missing_takes_its_default(group: type[Settings]) -> None:
    assert group.from_dict({}) == group()


@pytest.mark.parametrize("group", GROUPS)
def test_an_unknown_key_is_refused_and_the_known_ones_are_listed(group: type[Settings]) -> None:
    with pytest.raises(ConfigError) as caught:
        group.from_dict({"hid_dim": 256})
    message = str(caught.value)
    assert f"{group.__name__} has no setting 'hid_dim'" in message
    assert all(field.name in message for field in dataclasses.fields(group))  # type: ignore[arg-type]
    assert "correct its spelling" in message


def test_every_unknown_key_is_named_at_once() -> None:
    with pytest.raises(ConfigError, match="'hid_dim', 'n_heads'"):
        ModelConfig.from_dict({"n_heads": 8, "hid_dim": 256, "width": 256})


@pytest.mark.parametrize("group", GROUPS)
def test_settings_are_frozen(group: type[Settings]) -> None:
    name = dataclasses.fields(group)[0].name  # type: ignore[arg-type]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(group(), name, 1)


def test_replace_makes_a_checked_copy() -> None:
    before = ModelConfig()
    assert before.replace(width=128).width == 128
    assert before.width == 256
    with pytest.raises(ConfigError, match="3 heads do not divide"):
        before.replace(num_heads=3)
    with pytest.raises(ConfigError, match="no setting 'heads'"):
        before.replace(heads=4)


@pytest.mark.parametrize("value", [None, 5, "width", [], [("width", 8)]])
@pytest.mark.parametrize("group", GROUPS)
def test_what_is_no_dictionary_is_refused_as_settings(group: type[Settings], value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        group.from_dict(value)  # type: ignore[arg-type]
    assert f"{group.__name__} is described by {value!r}; names of settings with their values" in str(caught.value)


def test_a_key_that_is_no_name_is_refused_like_any_unknown_one() -> None:
    with pytest.raises(ConfigError, match="no setting 'heads', 5"):
        ModelConfig.from_dict({5: 1, "heads": 8})  # type: ignore[dict-item]


FIELDS = [(group, field.name) for group in GROUPS for field in dataclasses.fields(group)]  # type: ignore[arg-type]


OF_OTHER_KINDS = ("nonsense", "", b"8", 2.5, -1, [1], {"a": 1}, object(), float("nan"), 1 + 2j)


@pytest.mark.parametrize(("group", "name"), FIELDS)
def test_no_setting_takes_a_value_of_another_kind(group: type[Settings], name: str) -> None:
    """Whatever setting is added: a value that is not of its kind is refused with the setting's name."""
    for value in OF_OTHER_KINDS:
        if value == 2.5 and name in ("learning_rate", "noam_factor", "adam_epsilon", "clip_norm", "r_drop"):
            assert getattr(group.from_dict({name: value}), name) == value
            continue
        with pytest.raises(ConfigError, match=f"{name} is "):
            pytest.fail(f"{value!r} was taken: {group.from_dict({name: value})}")


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group, name in FIELDS if isinstance(getattr(group(), name), bool)]
)
def test_flags_take_true_and_false_alone(group: type[Settings], name: str) -> None:
    assert [getattr(group.from_dict({name: value}), name) for value in (True, False)] == [True, False]
    for value in ("yes", 1, 0, None):
        with pytest.raises(ConfigError, match=f"{name} is {value!r}; true or false was expected"):
            group.from_dict({name: value})


def test_a_refused_setting_is_an_error_for_people() -> None:
    assert issubclass(ConfigError, AugenmerkError)


def test_what_is_too_large_is_told_the_largest() -> None:
    for require, least in ((require_positive, "greater than 0"), (require_not_negative, "of at least 0")):
        with pytest.raises(ConfigError, match=rf"rate is 1e\+308; a number {least} was expected, .*at most 1e\+100\."):
            require("owner", rate=1e308)


@pytest.mark.parametrize("value", [0, -1, -0.5, float("inf"), float("nan"), True, "3", None])
def test_what_must_be_positive_is_a_finite_number_above_zero(value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        require_positive("owner", rate=value)  # type: ignore[arg-type]
    assert f"owner: rate is {value!r}; a number greater than 0 was expected" in str(caught.value)
    require_positive("owner", rate=1e-300, other=5)


@pytest.mark.parametrize("value", [0, -3, 1.0, 2.5, True, "3", None, float("nan")])
def test_what_is_counted_is_a_whole_number_from_one(value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        require_integer("owner", number=value)  # type: ignore[arg-type]
    assert f"owner: number is {value!r}; a whole number of at least 1 was expected" in str(caught.value)
    require_integer("owner", number=1)


@pytest.mark.parametrize("value", [1, 1.0, -0.1, 2, float("nan"), False, "0.1", None])
def test_a_share_lies_from_zero_up_to_but_not_one(value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        require_fraction("owner", dropout=value)  # type: ignore[arg-type]
    assert f"owner: dropout is {value!r}" in str(caught.value)
    require_fraction("owner", dropout=0, other=0.999)


@pytest.mark.parametrize("value", ["Post", "", None, 1, ["post"]])
def test_a_choice_is_one_of_the_names_that_the_message_lists(value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        require_choice("owner", ("post", "pre"), norm=value)  # type: ignore[arg-type]
    assert f"owner: norm is {value!r}; one of post, pre was expected" in str(caught.value)
    require_choice("owner", ("post", "pre"), norm="pre")


def test_the_first_wrong_value_of_several_is_the_one_named() -> None:
    with pytest.raises(ConfigError, match="second is 0"):
        require_integer("owner", first=1, second=0)
