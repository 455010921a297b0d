"""Settings of the text are refused where no text could be made with them."""

from pathlib import Path

import pytest

from augenmerk.core.config import DataConfig
from augenmerk.core.errors import ConfigError


@pytest.mark.parametrize("value", [0, -1, 2.0, True, "5"])
@pytest.mark.parametrize(
    "name",
    ["min_frequency", "max_length", "num_subwords", "copy_training_pairs", "copy_validation_pairs"],
)
def test_counts_are_whole_numbers_from_one(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"data: {name} is {value!r}"):
        DataConfig.from_dict({name: value})


def test_no_length_limit_and_no_subwords_are_none() -> None:
    settings = DataConfig(max_length=None, num_subwords=None)
    assert settings.max_length is None
    assert settings.num_subwords is None


@pytest.mark.parametrize("name", ["source_case", "target_case", "tokenization"])
def test_an_unknown_choice_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"data: {name} is 'upper'. Use one of "):
        DataConfig.from_dict({name: "upper"})


@pytest.mark.parametrize(
    "sizes", [{"copy_length": 1}, {"copy_symbols": 1}, {"copy_length": -10}, {"copy_symbols": 2.5}]
)
def test_a_copy_task_without_anything_to_copy_is_refused(sizes: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="Use a whole number from 2 to 1,000,000"):
        DataConfig.from_dict(sizes)


@pytest.mark.parametrize("value", ["no", "true", 0, 1, None])
@pytest.mark.parametrize("name", ["wrap_source", "keep_spaces"])
def test_a_flag_is_true_or_false_and_nothing_that_looks_like_it(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"data: {name} is {value!r}. Use true or false"):
        DataConfig.from_dict({name: value})


@pytest.mark.parametrize("value", [3, None, "", "de en", "../de", "de.gz", "lex_attrs", "qq", "DE"])
@pytest.mark.parametrize("name", ["source_language", "target_language"])
def test_what_is_no_code_of_a_language_is_refused(name: str, value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        DataConfig.from_dict({name: value})
    assert f"data: {name} is {value!r}. Use a language code such as de or en" in str(caught.value)
    assert getattr(DataConfig.from_dict({name: "fr"}), name) == "fr"


@pytest.mark.heavy
def test_the_list_of_languages_is_that_of_spacy() -> None:
    import spacy.lang

    from augenmerk.core.config.settings import LANGUAGES

    folders = {path.parent.name for path in Path(spacy.lang.__path__[0]).glob("*/__init__.py")}
    assert set(LANGUAGES) == folders
