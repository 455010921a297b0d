"""A run's settings as TOML: there and back, and what is refused."""

import dataclasses
import tomllib
from pathlib import Path

import pytest

from core.config import PRESETS, DataConfig, ModelConfig, RunConfig, TrainingConfig, preset
from core.config.toml import from_toml, read_toml, to_toml
from core.errors import ConfigError


@pytest.mark.parametrize("run", PRESETS.values(), ids=PRESETS)
def test_every_preset_comes_back_as_it_was(run: RunConfig) -> None:
    assert from_toml(to_toml(run)) == run


def test_what_was_switched_off_stays_off_though_the_preset_has_it_on() -> None:
    run = preset("multi30k")
    run = dataclasses.replace(run, training=run.training.replace(clip_norm=None, max_steps=7, learning_rate=1e-300))
    assert preset("multi30k").training.clip_norm is not None
    assert from_toml(to_toml(run)) == run


@pytest.mark.parametrize(
    "text", ['"', "\\", 'a "b" \\ c', "two\nlines\tand \x00 \x7f", "Grüße, 你好 🙂", "# no comment"]
)
def test_any_text_comes_back_as_it_was(text: str) -> None:
    run = dataclasses.replace(preset("notebook"), description=text)
    assert tomllib.loads(to_toml(run))["description"] == text
    assert from_toml(to_toml(run)) == run


def test_what_is_left_out_is_as_in_the_preset() -> None:
    run = from_toml('preset = "copy-task-small"\n[training]\nbatch_size = 20\n')
    base = preset("copy-task-small")
    assert run == dataclasses.replace(base, training=base.training.replace(batch_size=20))


def test_without_a_preset_it_is_as_in_the_defaults() -> None:
    run = from_toml("[model]\nwidth = 64\n")
    assert (run.preset, run.model) == ("custom", ModelConfig(width=64))
    assert (run.data, run.training) == (DataConfig(), TrainingConfig())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[training]\nlearning_rte = 1e-4", "no setting 'learning_rte'"),
        ("[trainig]\nlearning_rate = 1e-4", "no part 'trainig'"),
        ("[training]\nlearning_rate = 0", "learning_rate is 0; a number greater than 0"),
        ("[training]\nlearning_rate = -1", "learning_rate is -1; a number greater than 0"),
        ("[model]\nwidth = 256\nnum_heads = 7", "7 heads do not divide a width of 256"),
        ('[training]\nbatch_size = "none"', "batch_size is 'none'"),
        ("training = 5", r"\[training\] is described by 5"),
        ("[training\nx", "This is not TOML"),
        ("batch_size = 5", "no part 'batch_size'"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said) as caught:
        read_toml(path)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.toml cannot be read: No such file"):
        read_toml(tmp_path / "missing.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"binary\.toml cannot be read"):
        read_toml(tmp_path / "binary.toml")
