"""Settings of the text are refused where no text could be made with them."""

import pytest

from core.config import DataConfig
from core.errors import ConfigError


@pytest.mark.parametrize("value", [0, -1, 2.0])
@pytest.mark.parametrize("name", ["min_frequency", "max_length", "num_subwords"])
def test_counts_are_whole_numbers_from_one(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"data: {name} is {value!r}"):
        DataConfig.from_dict({name: value})


def test_no_length_limit_and_no_subwords_are_none() -> None:
    settings = DataConfig(max_length=None, num_subwords=None)
    assert settings.max_length is None
    assert settings.num_subwords is None


@pytest.mark.parametrize("name", ["source_case", "target_case", "tokenization"])
def test_an_unknown_choice_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"data: {name} is 'upper'; one of "):
        DataConfig.from_dict({name: "upper"})


@pytest.mark.parametrize("sizes", [{"copy_length": 1}, {"copy_symbols": 1}, {"copy_length": -10}, {"copy_symbols": 0}])
def test_a_copy_task_without_anything_to_copy_is_refused(sizes: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="at least 2 of each was expected"):
        DataConfig.from_dict(sizes)
