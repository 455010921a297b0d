"""A run's settings as TOML: there and back, and what is refused."""

import dataclasses
import os
import tomllib
from pathlib import Path

import pytest

from augenmerk.core.config import DataConfig, ModelConfig, RunConfig, TrainingConfig
from augenmerk.core.errors import ConfigError
from augenmerk.core.extensions.run_settings.presets import PRESETS, preset
from augenmerk.core.extensions.run_settings.toml_file import from_toml, read_toml, to_toml


@pytest.mark.parametrize("run", PRESETS.values(), ids=PRESETS)
def test_every_preset_comes_back_as_it_was(run: RunConfig) -> None:
    assert from_toml(to_toml(run)) == run


def test_what_was_switched_off_stays_off_though_the_preset_has_it_on() -> None:
    run = preset("multi30k")
    run = dataclasses.replace(
        run, training=run.training.replace(clip_norm=None, max_steps=7, learning_rate=1e-300)
    )
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


def test_a_file_with_a_few_settings_gets_the_batching_of_its_preset() -> None:
    run = from_toml(
        'preset = "annotated-2022"\n[training]\nbatch_size = 20\nbatch_unit = "sentences"\n'
    )
    assert (run.training.batching, run.training.schedule_unit) == ("random", "micro-batches")
    assert from_toml('preset = "notebook"').training.batching == "random"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[training]\nlearning_rte = 1e-4", "no setting 'learning_rte'"),
        ("[trainig]\nlearning_rate = 1e-4", "no part 'trainig'"),
        ("[training]\nlearning_rate = 0", "learning_rate is 0. Use a number greater than 0"),
        ("[training]\nlearning_rate = -1", "learning_rate is -1. Use a number greater than 0"),
        (
            "[model]\nwidth = 256\nnum_heads = 7",
            r"width \(256\) must be a multiple of the number of heads \(7\)",
        ),
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


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(to_toml(preset("notebook")), encoding="utf-8-sig")
    assert read_toml(tmp_path / "run.toml") == preset("notebook")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.toml cannot be read: No such file"):
        read_toml(tmp_path / "missing.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(
        ConfigError, match=r"binary\.toml cannot be read: it is not UTF-8: byte 1 of line 1"
    ):
        read_toml(tmp_path / "binary.toml")


@pytest.mark.parametrize(
    "text",
    ["a." * 400_000 + "b = 1", "[" + "a ." * 300_000 + "b]", "x = {" + '"".' * 200_000 + "b = 1}"],
)
def test_a_name_of_many_parts_is_refused_at_once(text: str) -> None:
    """The library would take an hour."""
    with pytest.raises(ConfigError, match="a name of more than 32 parts"):
        from_toml(text)


def test_points_in_texts_and_comments_are_no_names() -> None:
    run = dataclasses.replace(preset("notebook"), description="a." * 100 + ' "\\ # ' + "b." * 100)
    assert from_toml(to_toml(run) + "\n# " + "c." * 100) == run


@pytest.mark.parametrize(
    "text",
    [
        "[training]\nnum_epochs = " + "9" * 5_000,
        "a = " + "[" * 100_000,
        "preset = 1979-05-27",
        "[model]\nwidth = 1979-05-27",
        "model = 5",
        "[[model]]\nwidth = 1",
    ],
    ids=["digits", "nested", "date for a name", "date for a number", "no table", "two tables"],
)
def test_toml_that_is_no_run_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        from_toml(text)


def test_a_file_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="device"):
        read_toml(Path("/dev/zero" if os.name == "posix" else "NUL"))
    (tmp_path / "run.toml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(ConfigError, match="more than 1,000,000 bytes"):
        read_toml(tmp_path / "run.toml")
