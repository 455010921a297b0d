"""Options of `train`, and the commands `runs` and `average` on what it leaves."""

import argparse
import json
import os
import sys
from pathlib import Path

import pytest

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.config import TrainingConfig
from augenmerk.core.extensions.run_settings.dotted import dotted_settings
from augenmerk.core.extensions.run_settings.toml_file import read_toml, to_toml
from augenmerk.core.extensions.training.cli.train import add_options, configured_run
from augenmerk.core.extensions.training.film import read_film
from augenmerk.core.extensions.training.folder import remember_run_folder
from augenmerk.core.extensions.training.inputs import RunModels
from augenmerk.viz_app.extensions.train.run.choices import RunChoices
from tests.builders import command_line
from tests.core.extensions.training.runs import copy_run


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A tiny copy task of 7 steps an epoch as a file."""
    path = tmp_path / "tiny.toml"
    path.write_text(to_toml(copy_run(num_epochs=2, sample_size=5)))
    return path


def train(config: Path, out: Path, *more: str) -> int:
    return main(["train", "--config", str(config), "--out", str(out), "--device", "cpu", *more])


@pytest.mark.slow
@pytest.mark.training
def test_a_file_of_settings_repeats_a_run(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        train(config, tmp_path / "one", "--probe", "1 2 3", "--patience", "4", "--keep-last", "2")
        == 0
    )
    told = capsys.readouterr().err
    assert "BLEU" in told
    assert "→ 1 " in told, "an example"
    assert {frame.translation.source_text for frame in read_film(tmp_path / "one")} == {"1 2 3"}
    own = tmp_path / "one" / "run.toml"
    assert (read_toml(own).training.patience, read_toml(own).training.keep_last) == (4, 2)
    assert train(own, tmp_path / "two") == 0
    one, two = (
        load_checkpoint(tmp_path / name / "last.safetensors", with_state=True)
        for name in ("one", "two")
    )
    assert one.run == two.run
    assert all(bool((one.weights[name] == two.weights[name]).all()) for name in one.weights)
    environment = json.loads((tmp_path / "one" / "environment.json").read_text())
    words = [word.rpartition("/") for word in sys.argv]
    assert environment["starts"][0]["command"] == [
        f"…/{name}" if slash else name for _, slash, name in words
    ]


@pytest.mark.training
def test_a_run_is_resumed_with_its_own_settings_and_those_that_are_to_change(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert train(config, out, "--max-steps", "3") == 0
    again = ["train", "--out", str(out), "--device", "cpu", "--resume"]
    assert main([*again, "--max-steps", "5"]) == 0
    assert load_checkpoint(out / "last.safetensors", with_state=True).progress["step"] == 5
    assert main([*again, "--epochs", "1", "--max-steps", "99", "--change", "noam_factor=0.25"]) == 0
    assert load_checkpoint(out / "last.safetensors").run.training.noam_factor == 0.25
    capsys.readouterr()
    assert train(config, out, "--resume") == 2
    assert "noam_factor was 0.25 and is now 1.0" in capsys.readouterr().err


@pytest.mark.training
def test_files_and_folders_may_have_names_that_are_not_utf8(
    config: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / os.fsdecode(b"l\xe4uf")
    settings = config.rename(tmp_path / os.fsdecode(b"\xff.toml"))
    monkeypatch.setattr(
        sys, "argv", ["augenmerk", "train", "--config", str(settings), "--out", str(out)]
    )
    assert train(settings, out, "--max-steps", "3", "--checkpoint-steps", "1") == 0
    assert (
        main(["train", "--out", str(out), "--device", "cpu", "--resume", "--max-steps", "5"]) == 0
    )
    assert load_checkpoint(out / "last.safetensors", with_state=True).progress["step"] == 5
    starts = json.loads((out / "environment.json").read_text(encoding="utf-8"))["starts"]
    assert starts[0]["command"][-1].endswith("l\udce4uf")
    capsys.readouterr()
    assert main(["runs", str(tmp_path)]) == 0
    assert "l\\udce4uf" in capsys.readouterr().out
    text = command_line(
        "translate {} --checkpoint {} --device cpu --json", "1 2 3", out / "last.safetensors"
    )
    assert main(text) == 0


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--preset", "notebook"], "--preset and --config cannot be combined"),
        (["--change", "learning_rate"], "Use NAME=VALUE"),
        (["--change", "learning_rate=0"], "learning_rate is '0'"),
        (["--change", "learning_rat=1"], "The nearest are training.learning_rate"),
        (["--change", "training.compile=1"], "training.compile is '1'. Enter true or false"),
        (["--change", "pad_to=None", "--change", "batch_size=none"], "batch_size is 'none'"),
        (["--change", "model.width=64"], "model.width cannot change during a run"),
        (["--change", "num_subwords=9"], "data.num_subwords cannot change during a run"),
        (["--set", "model.widht=64"], "The nearest are model.width"),
        (["--set", "training.num_epochs=3", "--epochs", "3"], "training.num_epochs is set twice"),
        (["--keep-best", "0"], "keep_best is 0"),
        (["--sample-size", "-1"], "sample_size is -1"),
        (["--batch-size", "57"], "batch_size is 57 sentence pairs"),
        (["--probe", "hello"], "can be read by this model"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    assert train(config, tmp_path / "run", *more) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.training
@pytest.mark.parametrize("chosen", [["--batch-size", "57"], ["--set", "training.batch_size=57"]])
def test_the_options_offered_for_a_misfit_can_be_appended(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], chosen: list[str]
) -> None:
    assert train(config, tmp_path / "run", "--max-steps", "1", *chosen) == 2
    offered = capsys.readouterr().err.rpartition(": ")[2].split()
    assert offered[0] == "--set"
    assert train(config, tmp_path / "run", "--max-steps", "1", *chosen, *offered) == 0
    batch_size = load_checkpoint(tmp_path / "run" / "last.safetensors").run.training.batch_size
    assert offered[1] == f"training.batch_size={batch_size}"


@pytest.mark.parametrize(
    ("words", "compiles", "language"),
    [
        (["--compile", "--set", "training.compile=false"], False, "de"),
        (["--source-language", "fr", "--set", "data.source_language=it"], False, "it"),
        (["--set", "data.source_language=it", "--set", " data.source_language = fr"], False, "fr"),
    ],
)
def test_a_later_setting_replaces_an_earlier_option(
    words: list[str], compiles: bool, language: str
) -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)
    run = configured_run(parser.parse_args(["--out", "run", *words]), RunModels())
    assert (run.training.compile, run.data.source_language) == (compiles, language)


def test_every_setting_is_listed_with_its_values_and_its_description(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["train", "--list-settings"])
    listed = capsys.readouterr().out
    for name, setting in dotted_settings().items():
        assert f"{name}: {setting.expected}" in listed
        assert setting.description in " ".join(listed.split())


def test_options_of_a_setting_are_described_as_the_setting(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["train", "--help"])
    assert TrainingConfig.described()["patience"].description in " ".join(
        capsys.readouterr().out.split()
    )


def test_without_tensorboard_its_option_says_what_to_install(
    config: Path, tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "augenmerk.core.extensions.training.tensorboard.find_spec", lambda name: None
    )
    assert train(config, tmp_path / "run", "--tensorboard") == 2
    assert "pip install augenmerk[tensorboard]" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.training
def test_runs_are_listed_with_their_scores(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    assert train(config, runs / "first") == 0
    assert train(config, runs / "second", "--max-steps", "3", "--sample-size", "0") == 0
    capsys.readouterr()
    assert main(["runs", str(runs)]) == 0
    header, first, second = capsys.readouterr().out.splitlines()
    history = load_checkpoint(runs / "first" / "last.safetensors").history
    best, bleu = min(one.validation_loss for one in history), max(one.bleu or 0 for one in history)
    assert header.split() == "run preset epochs steps best loss best BLEU state".split()
    assert first.split() == [
        "first",
        "copy-task-small",
        "2/2",
        "14",
        f"{best:.4f}",
        f"{bleu:.2f}",
        "finished",
    ]
    (judged,) = load_checkpoint(runs / "second" / "best.safetensors").history
    assert second.split() == [
        "second",
        "copy-task-small",
        "0/2",
        "3",
        f"{judged.validation_loss:.4f}",
        "–",
        "finished",
    ]
    assert main(["runs", str(tmp_path / "nowhere")]) == 2
    assert "No run found in" in capsys.readouterr().err


@pytest.mark.training
def test_any_setting_is_set_by_its_dotted_name(config: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    more = command_line(
        "--set model.width=8 --set model.num_heads=1 --set training.learning_rate=2e-3"
    )
    assert train(config, out, *more, "--max-steps", "2") == 0
    run = load_checkpoint(out / "last.safetensors").run
    assert (run.model.width, run.model.num_heads, run.training.learning_rate) == (8, 1, 0.002)
    assert read_toml(out / "run.toml") == run


def test_long_names_and_control_characters_keep_the_columns_of_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["a", "multi30k-2026-11-22-0412-with-a-longer-name", "\x1b[31mred"]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.toml").write_text(to_toml(copy_run(num_epochs=2)))
    assert main(["runs", str(tmp_path)]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert {line[: header.index("preset")].rstrip() for line in lines} == {
        *names[:2],
        r"\u001b[31mred",
    }
    assert {line[header.index("state") :] for line in lines} == {"stopped"}
    assert {line[: header.index("epochs") + len("epochs")][-3:] for line in lines} == {"0/2"}


@pytest.mark.skipif(os.name != "posix", reason="anybody may make links on POSIX systems")
def test_a_run_with_several_names_is_listed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, elsewhere = tmp_path / "runs", tmp_path / "elsewhere"
    for folder in (runs / "mine", elsewhere / "other"):
        folder.mkdir(parents=True)
        (folder / "run.toml").write_text(to_toml(copy_run(num_epochs=2)))
    for name, target in {
        "a-link": "mine",
        "same": ".",
        "loop": "loop",
        "other": elsewhere / "other",
    }.items():
        (runs / name).symlink_to(target)
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    for folder, names in (("runs", ["mine", "other"]), ("runs/mine", ["mine"])):
        assert main(["runs", folder]) == 0
        assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["run", *names]
    assert main(["runs", "x" * 300]) == 2, "a name that the system refuses"
    capsys.readouterr()
    remember_run_folder(elsewhere)
    remember_run_folder(runs / "mine")
    assert main(["runs"]) == 0
    told = capsys.readouterr().out
    assert (told.count("\nmine "), told.count("\nother ")) == (1, 1)


def test_runs_of_the_window_are_listed_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = RunChoices.default().parent_folder
    assert main(["runs"]) == 2
    assert f"No run found in runs or {folder}." in capsys.readouterr().err
    for parent, name in ((folder, "of-the-window"), (tmp_path / "runs", "of-a-command")):
        (parent / name).mkdir(parents=True)
        (parent / name / "run.toml").write_text(to_toml(copy_run(num_epochs=2)))
    assert main(["runs"]) == 0
    first, second = capsys.readouterr().out.split("\n\n")
    assert (first.split("\n")[0], second.split("\n")[0]) == ("runs", str(folder))
    assert ("of-a-command" in first, "of-the-window" in second) == (True, True)
    monkeypatch.chdir(folder.parent)
    assert main(["runs"]) == 0
    assert capsys.readouterr().out.count("of-the-window") == 1, "the same folder under two names"


def test_runs_in_folders_that_the_window_has_saved_to_are_listed_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    for folder in (tmp_path / "gone", tmp_path / "chosen"):
        remember_run_folder(folder)
    (tmp_path / "chosen" / "elsewhere").mkdir(parents=True)
    (tmp_path / "chosen" / "elsewhere" / "run.toml").write_text(to_toml(copy_run(num_epochs=2)))
    assert main(["runs"]) == 0
    title, _header, run = capsys.readouterr().out.splitlines()
    assert (title, run.split()[0]) == (str(tmp_path / "chosen"), "elsewhere")


@pytest.mark.training
def test_the_newest_or_best_of_a_run_are_averaged(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, out = tmp_path / "run", tmp_path / "mean.safetensors"
    assert (
        train(config, run, "--keep-last", "3", "--keep-best", "2", "--checkpoint-steps", "2") == 0
    )
    for option, number in (("--last", 3), ("--best", 2)):
        assert main(["average", str(run), option, str(number), "--out", str(out)]) == 0
        kind = option.removeprefix("--")
        parts = [load_checkpoint(path).weights for path in run.glob(f"{kind}*.safetensors")]
        assert len(parts) == number
        mean = load_checkpoint(out).weights
        for name, value in mean.items():
            expected = sum(part[name].double() for part in parts) / number
            assert bool(((value - expected).abs() < 1e-6).all()), name
    capsys.readouterr()
    for arguments, said in (
        ([str(run), "--last", "4"], "has only 3 of 4 checkpoints requested by --last"),
        ([str(run), "--last", "1", "--best", "1"], "with one of the two"),
        ([str(run), "--best", "0"], "a number of at least 1"),
        ([str(run / "best.safetensors"), "--best", "1"], "Name the folder with one of the two"),
    ):
        assert main(["average", *arguments, "--out", str(out)]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.training
def test_deterministic_mode_is_an_option_that_is_said_and_kept(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(config, tmp_path / "run", "--max-steps", "1", "--deterministic") == 0
    assert "Deterministic, as requested" in capsys.readouterr().err
    assert read_toml(tmp_path / "run" / "run.toml").training.deterministic
