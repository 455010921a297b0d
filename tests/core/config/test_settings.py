"""Settings go to plain dictionaries and back, and refuse what they do not know."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Literal

import pytest

from augenmerk.core.config import DataConfig, ModelConfig, TrainingConfig
from augenmerk.core.config.settings import (
    COUNT,
    FRACTION,
    NOT_NEGATIVE,
    POSITIVE,
    Limits,
    Settings,
    is_digest,
    is_language_code,
    setting,
)
from augenmerk.core.errors import AugenmerkError, ConfigError

GROUPS = [ModelConfig, DataConfig, TrainingConfig]


@dataclass(frozen=True)
class WithTuple(Settings):
    """Settings with a tuple, which JSON turns into a list."""

    betas: tuple[float, ...] = (0.9, 0.98)


@dataclass(frozen=True)
class OfEachKind(Settings, owner="owner"):
    """A setting of each kind."""

    rate: float = setting(1.0, "rate", "", POSITIVE)
    weight: float = setting(0.0, "weight", "", NOT_NEGATIVE)
    number: int = setting(1, "number", "", COUNT)
    size: int = setting(2, "size", "", Limits(2, 1_000))
    dropout: float = setting(0.0, "dropout", "", FRACTION)
    norm: Literal["post", "pre"] = setting("post", "norm", "")
    code: str | None = setting(None, "code", "", values="a code")
    word: str = setting("", "word", "", fits=lambda text: text != "no")
    flag: bool = setting(default=False, name="flag", description="")


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
    with pytest.raises(ConfigError, match="must be a multiple of the number of heads"):
        before.replace(num_heads=3)
    with pytest.raises(ConfigError, match="no setting 'heads'"):
        before.replace(heads=4)


@pytest.mark.parametrize("value", [None, 5, "width", [], [("width", 8)]])
@pytest.mark.parametrize("group", GROUPS)
def test_what_is_no_dictionary_is_refused_as_settings(group: type[Settings], value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        group.from_dict(value)  # type: ignore[arg-type]
    assert (
        f"{group.__name__} is described by {value!r}. Use names of settings with their values"
        in str(caught.value)
    )


def test_a_key_that_is_no_name_is_refused_like_any_unknown_one() -> None:
    with pytest.raises(ConfigError, match="no setting 'heads', 5"):
        ModelConfig.from_dict({5: 1, "heads": 8})  # type: ignore[dict-item]


FIELDS = [(group, field.name) for group in GROUPS for field in dataclasses.fields(group)]  # type: ignore[arg-type]


OF_OTHER_KINDS = ("nonsense", "", b"8", 2.5, -1, [1], {"a": 1}, object(), float("nan"), 1 + 2j)


@pytest.mark.parametrize(("group", "name"), FIELDS)
def test_no_setting_takes_a_value_of_another_kind(group: type[Settings], name: str) -> None:
    """Whatever setting is added: a value that is not of its kind is refused with the setting's
    name."""
    for value in OF_OTHER_KINDS:
        if value == 2.5 and name in (
            "learning_rate",
            "noam_factor",
            "adam_epsilon",
            "clip_norm",
            "r_drop",
        ):
            assert getattr(group.from_dict({name: value}), name) == value
            continue
        with pytest.raises(ConfigError, match=f"{name} is "):
            pytest.fail(f"{value!r} was taken: {group.from_dict({name: value})}")


@pytest.mark.parametrize(
    ("group", "name"),
    [(group, name) for group, name in FIELDS if isinstance(getattr(group(), name), bool)],
)
def test_flags_take_true_and_false_alone(group: type[Settings], name: str) -> None:
    assert [getattr(group.from_dict({name: value}), name) for value in (True, False)] == [
        True,
        False,
    ]
    for value in ("yes", 1, 0, None):
        with pytest.raises(ConfigError, match=f"{name} is {value!r}. Use true or false"):
            group.from_dict({name: value})


def test_a_refused_setting_is_an_error_for_people() -> None:
    assert issubclass(ConfigError, AugenmerkError)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        *(
            ("rate", value, "a number greater than 0")
            for value in (0, -0.5, float("nan"), True, "3", None)
        ),
        ("rate", 1e308, "a number greater than 0, at most 1e+100"),
        ("weight", -1, "a number of at least 0"),
        *(
            ("number", value, "a whole number of at least 1")
            for value in (0, -3, 1.0, True, "3", None, float("nan"))
        ),
        ("number", 2**31, "a whole number of at least 1, at most 2,147,483,647"),
        *(("size", value, "a whole number from 2 to 1,000") for value in (1, 1_001, 10**1_000)),
        *(
            ("dropout", value, "a number of at least 0 and less than 1")
            for value in (1, -0.1, False, "0.1", None)
        ),
        *(("norm", value, "one of post, pre") for value in ("Post", "", None, 1, ["post"])),
        *(("code", value, "a code or none") for value in (1, True, ["x"])),
        *(("word", value, "a text") for value in (1, None, "no")),
        *(("flag", value, "true or false") for value in (1, None, "true")),
    ],
)
def test_a_refused_value_is_shown_with_the_values_that_are_possible(
    name: str, value: object, expected: str
) -> None:
    with pytest.raises(ConfigError, match=f"^owner: {name} is ") as caught:
        OfEachKind.from_dict({name: value})
    assert f". Use {expected}." in str(caught.value)
    assert len(str(caught.value)) < 200


def test_possible_values_are_taken_as_they_are() -> None:
    values = {
        "rate": 1e-300,
        "weight": 0,
        "number": 1,
        "size": 1_000,
        "dropout": 0.999,
        "norm": "pre",
        "code": None,
        "word": "none",
        "flag": True,
    }
    assert OfEachKind.from_dict(values).to_dict() == values


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("rate", " 1e-9 ", 1e-9),
        ("rate", "1e+100", 1e100),
        ("weight", "3", 3.0),
        ("number", "2147483647", 2**31 - 1),
        ("norm", "pre", "pre"),
        ("code", " None ", None),
        ("code", "de", "de"),
        ("word", "none", "none"),
        ("word", "3", "3"),
        ("flag", "true", True),
        ("flag", "false", False),
    ],
)
def test_a_text_is_read_as_the_value_that_it_states(name: str, text: str, value: object) -> None:
    declared = OfEachKind.described()[name]
    result = declared.read(text)
    assert (result, type(result)) == (value, type(value))
    assert declared.read(declared.write(value)) == value


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rate", "0", "is '0'. Enter a number greater than 0."),
        ("rate", "fast", "is 'fast'. Enter a number greater than 0."),
        ("rate", "none", "is 'none'. Enter a number greater than 0."),
        ("rate", "inf", "is 'inf'. Enter a number greater than 0."),
        ("rate", "1e101", "is '1e101'. Enter a number greater than 0, at most 1e+100."),
        ("number", "1.0", "is '1.0'. Enter a whole number of at least 1."),
        (
            "number",
            "2147483648",
            "is '2147483648'. Enter a whole number of at least 1, at most 2,147,483,647.",
        ),
        ("size", "1001", "is '1001'. Enter a whole number from 2 to 1,000."),
        ("norm", "none", "is 'none'. Enter one of post, pre."),
        ("word", "no", "is 'no'. Enter a text."),
        ("flag", "True", "is 'True'. Enter true or false."),
        ("flag", "1", "is '1'. Enter true or false."),
    ],
)
def test_a_text_that_states_no_possible_value_is_refused(
    name: str, text: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        OfEachKind.described()[name].read(text)
    assert str(caught.value) == message


def test_a_number_without_end_is_not_read() -> None:
    with pytest.raises(ConfigError, match=r"^is '9{78}…\. Enter a whole number of at least 1\.$"):
        OfEachKind.described()["number"].read("9" * 10_000)


@pytest.mark.parametrize(
    ("code", "is_code"),
    [
        ("de", True),
        ("zh-Hans_CN", True),
        ("x" * 40, True),
        ("x" * 41, False),
        ("", False),
        ("de1", False),
        ("de-", False),
        ("../os", False),
    ],
)
def test_codes_of_languages_are_short_and_of_letters(code: str, *, is_code: bool) -> None:
    assert is_language_code(code) == is_code


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("0af" * 21 + "9", True), ("0" * 63, False), ("0" * 65, False), ("A" * 64, False)],
)
def test_digests_have_64_hexadecimal_digits(text: str, *, is_one: bool) -> None:
    assert is_digest(text) is is_one


def test_choices_are_the_names_of_a_literal() -> None:
    choices = {name: declared.choices for name, declared in OfEachKind.described().items()}
    assert choices.pop("norm") == ("post", "pre")
    assert set(choices.values()) == {()}


def test_the_first_wrong_value_of_several_is_the_one_named() -> None:
    with pytest.raises(ConfigError, match="number is 0"):
        OfEachKind(rate=2.0, number=0, size=0)


@pytest.mark.parametrize("group", GROUPS)
def test_every_setting_has_a_name_and_a_description(group: type[Settings]) -> None:
    described = group.described()
    assert list(described) == [field.name for field in dataclasses.fields(group)]  # type: ignore[arg-type]
    assert len({declared.name for declared in described.values()}) == len(described), (
        "each name stands once"
    )
    for declared in described.values():
        assert declared.description[-1] == "."
        has_numbers = int in declared.kinds or float in declared.kinds
        assert has_numbers == (declared.limits is not None)


@pytest.mark.parametrize("group", GROUPS)
def test_what_is_written_of_a_setting_is_read_as_the_same(group: type[Settings]) -> None:
    values = group()
    for name, declared in group.described().items():
        assert declared.read(declared.write(getattr(values, name))) == getattr(values, name)
    for number in (0.1234567891, 1e-9, 0.98, 5e-4):
        dropout = ModelConfig.described()["dropout"]
        assert dropout.read(dropout.write(number)) == number
