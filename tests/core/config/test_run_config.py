"""All settings of a run together, as a checkpoint stores them."""

from typing import Any

import pytest

from augenmerk.core.config import ModelConfig, RunConfig
from augenmerk.core.errors import ConfigError


def test_an_unknown_part_of_a_run_is_refused() -> None:
    values = RunConfig.from_dict({}).to_dict() | {"optimizer": {}}
    with pytest.raises(ConfigError, match="A run has no part 'optimizer'"):
        RunConfig.from_dict(values)


@pytest.mark.parametrize(
    ("part", "setting", "value"),
    [
        ("model", "num_heads", 7),
        ("training", "num_epochs", -1),
        ("data", "min_frequency", 0),
        ("model", "heads", 8),
    ],
)
def test_a_refused_setting_in_a_part_is_refused_in_the_run(
    part: str, setting: str, value: int
) -> None:
    values = RunConfig.from_dict({}).to_dict()
    values[part][setting] = value
    with pytest.raises(ConfigError, match=setting.removeprefix("num_")):
        RunConfig.from_dict(values)


def test_a_run_without_parts_is_all_defaults() -> None:
    run = RunConfig.from_dict({})
    assert run.preset == "custom"
    assert run.model == ModelConfig()
    assert run.training.clip_norm is None


@pytest.mark.parametrize("value", [None, 5, "notebook", []])
def test_a_run_or_a_part_that_is_no_dictionary_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match="A run is described by"):
        RunConfig.from_dict(value)  # type: ignore[arg-type]
    for part, name in (
        ("model", "ModelConfig"),
        ("data", "DataConfig"),
        ("training", "TrainingConfig"),
    ):
        with pytest.raises(ConfigError, match=f"{name} is described by"):
            RunConfig.from_dict({part: value})


def test_tying_all_embeddings_without_a_joint_vocabulary_is_refused_before_anything_is_built() -> (
    None
):
    with pytest.raises(ConfigError) as caught:
        RunConfig.from_dict({"model": {"tied_embeddings": "all"}})
    message = str(caught.value)
    assert "tied_embeddings is 'all'" in message
    assert "num_subwords is None" in message
    assert "Set num_subwords, or tie the output only" in message


@pytest.mark.parametrize("data", [{"num_subwords": 500}, {"tokenization": "symbols"}])
def test_tying_all_embeddings_over_one_vocabulary_is_taken(data: dict[str, Any]) -> None:
    assert (
        RunConfig.from_dict(
            {"model": {"tied_embeddings": "all"}, "data": data}
        ).model.tied_embeddings
        == "all"
    )


def test_r_drop_without_dropout_and_noise_on_symbols_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"r_drop is 5, but model: dropout is 0\.0: two passes over a batch"
    ):
        RunConfig.from_dict({"model": {"dropout": 0.0}, "training": {"r_drop": 5}})
    with pytest.raises(ConfigError, match=r"source_noise is 0\.1, but the data are symbols"):
        RunConfig.from_dict(
            {"data": {"tokenization": "symbols"}, "training": {"source_noise": 0.1}}
        )


def test_subword_dropout_without_subwords_is_refused() -> None:
    with pytest.raises(ConfigError, match="num_subwords"):
        RunConfig.from_dict({"training": {"subword_dropout": 0.1}})
    run = RunConfig.from_dict({"data": {"num_subwords": 100}, "training": {"subword_dropout": 0.1}})
    assert run.training.subword_dropout == 0.1
