"""`train --resume` alone continues a run; what contradicts the run is refused by name, before
anything is written.
"""

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.config import RunConfig
from augenmerk.core.errors import CheckpointError, ConfigError
from augenmerk.core.extensions.run_settings.toml_file import read_toml, to_toml
from augenmerk.core.extensions.training.corpora.loading import load_corpus
from augenmerk.core.extensions.training.corpora.parallel import SentencePairs
from augenmerk.core.extensions.training.corpora.prepared import save_prepared
from augenmerk.core.extensions.training.events import StepDone, TrainingEvent
from augenmerk.core.extensions.training.folder import read_run_inputs
from augenmerk.core.extensions.training.inputs import load_models, read_corpus, settings_of_run
from augenmerk.core.run_files import BEST, LAST, RUN_SETTINGS
from tests.builders import command_line, first_quick
from tests.core.extensions.training.runs import copy_run, record, sentences, text_run

pytestmark = pytest.mark.training

RUN = text_run(num_epochs=2, sample_size=0)


def write_folder(folder: Path, train: SentencePairs, validation: SentencePairs) -> Path:
    folder.mkdir()
    for split, pairs in (("train", train), ("val", validation)):
        for language, lines in (("de", pairs.source), ("en", pairs.target)):
            (folder / f"{split}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "data", sentences(60), sentences(10, seed=1))


@pytest.fixture
def other_data(tmp_path: Path) -> Path:
    """Of the same words."""
    return write_folder(tmp_path / "other", sentences(50, seed=2), sentences(10, seed=3))


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "tiny.toml").write_text(to_toml(RUN), encoding="utf-8")
    return tmp_path / "tiny.toml"


def train(out: Path, *more: object) -> int:
    return main(["train", "--out", str(out), "--device", "cpu", *map(str, more)])


def resume(out: Path, *more: object) -> int:
    return train(out, "--resume", *more)


@pytest.fixture
def run(tmp_path: Path, data: Path, config: Path) -> Path:
    """A run that was stopped after two steps."""
    assert train(tmp_path / "run", "--config", config, "--data", data, "--max-steps", 2) == 0
    return tmp_path / "run"


def step_of(folder: Path) -> int:
    return int(load_checkpoint(folder / LAST, with_state=True).progress["step"])


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_it_alone_continues_with_the_data_of_the_run(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run)  # the data were named from elsewhere
    assert resume(run, "--max-steps", 4) == 0
    assert resume(run, "--max-steps", 6) == 0
    assert step_of(run) == 6


def test_two_files_and_teachers_are_known_too(
    tmp_path: Path, run: Path, data: Path, config: Path
) -> None:
    pair = ["--source", data / "train.de", "--target", data / "train.en"]
    taught = ["--teacher", run / BEST, "--set", "training.distillation=0.5"]
    assert train(tmp_path / "student", "--config", config, *pair, *taught, "--max-steps", 2) == 0
    assert resume(tmp_path / "student", "--max-steps", 4) == 0
    assert step_of(tmp_path / "student") == 4


def test_a_run_that_crashed_at_once_begins_again_with_its_initial_model(
    tmp_path: Path, run: Path, data: Path
) -> None:
    def crash(event: TrainingEvent) -> None:
        if isinstance(event, StepDone):
            raise KeyboardInterrupt

    models = load_models(tmp_path / "further", initial_model=run / BEST)
    further = dataclasses.replace(RUN, training=RUN.training.replace(max_steps=2))
    corpus = read_corpus(further, tmp_path / "further", data, models=models)
    with pytest.raises(KeyboardInterrupt):
        record(further, tmp_path / "further", corpus=corpus, initial=models.initial, on_event=crash)
    assert resume(tmp_path / "further") == 0
    assert step_of(tmp_path / "further") == 2


def test_the_preset_of_the_run_changes_nothing_and_another_one_is_refused_by_name(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, own = files(run), read_toml(run / RUN_SETTINGS)
    assert resume(run, "--preset", "multi30k") == 2
    said = capsys.readouterr().err
    assert (
        f"--preset multi30k contradicts the run in {run}, which was started from the preset "
        "notebook" in said
    )
    assert "--resume alone continues" in said
    assert files(run) == before
    assert resume(run, "--preset", "notebook", "--max-steps", 3) == 0
    assert read_toml(run / RUN_SETTINGS) == own.with_training(max_steps=3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--batch-size", "9"], "--batch-size 9 contradicts"),
        (["--set", "model.width=64"], "--set model.width=64 contradicts"),
        (["--source-language", "fr"], "--source-language fr contradicts"),
        (["--deterministic"], "--deterministic contradicts"),
        (
            ["--seed", "5", "--set", "data.min_frequency=1"],
            "--set data.min_frequency=1 and --seed 5 contradict",
        ),
    ],
)
def test_options_that_contradict_it_are_refused_by_name(
    run: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    before = files(run)
    assert resume(run, *options) == 2
    told = capsys.readouterr().err
    assert f"{said} the run in {run}" in told
    assert "Tokenizing" not in told, "before anything is read"
    assert files(run) == before


def test_a_file_of_other_settings_is_refused_by_name(
    tmp_path: Path, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wider = dataclasses.replace(RUN, model=RUN.model.replace(feed_forward_width=64))
    (tmp_path / "wider.toml").write_text(to_toml(wider), encoding="utf-8")
    assert resume(run, "--config", tmp_path / "wider.toml") == 2
    said = capsys.readouterr().err
    assert f"--config {tmp_path / 'wider.toml'} contradicts the run in {run}" in said
    assert "model.feed_forward_width was 32 and is now 64" in said


def test_a_file_of_some_settings_changes_only_those(tmp_path: Path, run: Path) -> None:
    (tmp_path / "longer.toml").write_text("[training]\nmax_steps = 5\n", encoding="utf-8")
    assert resume(run, "--config", tmp_path / "longer.toml") == 0
    assert step_of(run) == 5


def test_the_command_that_started_it_may_be_repeated(tmp_path: Path, run: Path, data: Path) -> None:
    command = command_line(
        "--preset notebook --data {} --batch-size 8 --set model.dropout=0.2", data
    )
    further = [*command, "--initial-model", run / BEST, "--device", "cpu"]
    assert train(tmp_path / "further", *further, "--max-steps", 2) == 0
    assert resume(tmp_path / "further", *further, "--max-steps", 4) == 0
    assert step_of(tmp_path / "further") == 4


def test_another_initial_model_is_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(run)
    assert resume(run, "--initial-model", run / BEST) == 2
    assert (
        "The run did not begin with this model. Leave --initial-model out"
        in capsys.readouterr().err
    )
    assert files(run) == before


def test_other_data_are_called_so_before_anything_else_is_said(
    tmp_path: Path, run: Path, data: Path, other_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Be it text, prepared with the same settings or with others, or in another language."""
    before, words = files(run), dataclasses.replace(RUN, data=RUN.data.replace(target_case="keep"))
    strange = write_folder(tmp_path / "strange", sentences(9), sentences(3))
    (strange / "train.en").rename(strange / "train.fr")
    for name, settings in (("same", RUN), ("others", words)):
        save_prepared(load_corpus(other_data, settings), tmp_path / f"{name}.safetensors")
    for source in (
        other_data,
        tmp_path / "same.safetensors",
        tmp_path / "others.safetensors",
        strange,
    ):
        assert resume(run, "--data", source) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert said.startswith(
            f"augenmerk: {source} is not the data of this run, which is {data}"
        ), said
        assert files(run) == before
    assert resume(run, "--data", other_data, "--allow-changed-data", "--max-steps", 4) == 0
    assert read_run_inputs(run).data == other_data
    assert step_of(run) == 4


def test_other_data_of_a_kind_that_the_run_cannot_read_are_called_so(
    tmp_path: Path, run: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text for the copy task, the copy task for text, and sentences that do not fit the model."""
    (tmp_path / "copy.toml").write_text(to_toml(copy_run(max_steps=2)), encoding="utf-8")
    copying = tmp_path / "copying"
    assert train(copying, "--config", tmp_path / "copy.toml") == 0
    long = SentencePairs(("ein mann " * 60,) * 3, ("a man " * 60,) * 3)
    for split in "train", "val":
        longer = write_folder(
            tmp_path / f"long-{split}", long if split == "train" else sentences(9), long
        )
        assert resume(run, "--data", longer) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert said.startswith(
            f"augenmerk: {longer} is not the data of this run, which is {data}. Line 1 of"
        ), said
        assert said.endswith(
            "Resume with the original data, or start a new run in another folder."
        ), said
    pair = ["--source", data / "train.de", "--target", data / "train.en"]
    for source, other in (
        (["--data", data], data),
        (pair, f"{data / 'train.de'} and {data / 'train.en'}"),
    ):
        for _ in ("with its record", "without"):
            assert resume(copying, *source) == 2
            said = capsys.readouterr().err.splitlines()[-1]
            assert said.startswith(
                f"augenmerk: {other} is not the data of this run, which is the copy task. Resume"
            ), said
            (copying / "inputs.json").unlink(missing_ok=True)
    assert resume(run, "--data", "copy") == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(
        f"augenmerk: the copy task is not the data of this run, which is {data}. Resume"
    ), said


def test_data_of_a_run_that_became_too_long_have_changed(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limited = dataclasses.replace(RUN, data=RUN.data.replace(max_length=9))
    (tmp_path / "limited.toml").write_text(to_toml(limited), encoding="utf-8")
    assert (
        train(
            tmp_path / "run",
            "--config",
            tmp_path / "limited.toml",
            "--data",
            data,
            "--max-steps",
            2,
        )
        == 0
    )
    for language in "de", "en":
        (data / f"val.{language}").write_text("ein mann " * 20 + "\n", encoding="utf-8")
    assert resume(tmp_path / "run") == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "has changed since this run was last saved. No validation pair of data is left" in said
    assert "--set" not in said


def test_data_that_changed_or_moved_are_called_so(
    tmp_path: Path, run: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.move(data, tmp_path / "moved")
    assert resume(run) == 2
    said = capsys.readouterr().err
    assert (
        f"The data of this run are no longer readable. Nothing readable was found at {data}" in said
    )
    assert "--data" in said
    assert resume(run, "--data", tmp_path / "moved", "--max-steps", 4) == 0
    assert read_run_inputs(run).data == tmp_path / "moved"
    lines = (tmp_path / "moved" / "train.de").read_text(encoding="utf-8").splitlines()
    (tmp_path / "moved" / "train.de").write_text(
        "\n".join(reversed(lines)) + "\n", encoding="utf-8"
    )
    assert resume(run) == 2
    assert (
        "The training data (moved) has changed since this run was last saved"
        in capsys.readouterr().err
    )


def test_the_same_in_python(tmp_path: Path, run: Path, other_data: Path) -> None:
    settings, models = (
        settings_of_run(run).with_training(max_steps=4),
        load_models(run, resume=True),
    )
    corpus = read_corpus(settings, run, resume=True, models=models)
    record(settings, run, corpus=corpus, resume=True)
    assert step_of(run) == 4
    other = load_corpus(other_data, settings)
    with pytest.raises(
        CheckpointError, match=f"{other_data} is not the data of this run, which is {corpus.source}"
    ):
        record(settings, run, corpus=other, resume=True)
    with pytest.raises(ConfigError, match=r"It is not known which data the run in .* needs"):
        read_corpus(settings, tmp_path / "new")


def test_a_run_without_its_file_of_settings_has_them_in_its_checkpoint(run: Path) -> None:
    (run / RUN_SETTINGS).unlink()
    assert resume(run, "--max-steps", 4) == 0
    assert read_toml(run / RUN_SETTINGS).preset == "notebook"


def test_a_folder_without_a_run_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert resume(tmp_path / "nothing") == 2
    assert f"There is no run to resume in {tmp_path / 'nothing'}" in capsys.readouterr().err
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize(
    "text", first_quick(["", "[]", '{"data": 3}', '{"teachers": "one"}', "[" * 10**5])
)
def test_a_damaged_record_of_the_data_is_as_good_as_none(
    run: Path, data: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (run / "inputs.json").write_text(text)
    assert resume(run) == 2
    told = capsys.readouterr().err
    assert f"{run / 'inputs.json'} does not name the data of this run" in told
    assert "name them again by --data." in told
    (run / "inputs.json").unlink()
    assert resume(run) == 2
    assert capsys.readouterr().err == told
    assert resume(run, "--data", data, "--max-steps", 4) == 0
    assert read_run_inputs(run).data == data


def test_the_copy_task_goes_on_as_before(tmp_path: Path) -> None:
    run: RunConfig = copy_run(max_steps=2)
    (tmp_path / "copy.toml").write_text(to_toml(run), encoding="utf-8")
    assert train(tmp_path / "run", "--config", tmp_path / "copy.toml") == 0
    assert resume(tmp_path / "run", "--max-steps", 4) == 0
    assert step_of(tmp_path / "run") == 4


def test_a_model_that_does_not_fit_is_refused_before_the_data_are_read(
    run: Path, data: Path, config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in data.iterdir():
        file.unlink()  # reading them would fail
    assert resume(run, "--initial-model", run / BEST) == 2
    assert (
        "The run did not begin with this model. Leave --initial-model out"
        in capsys.readouterr().err
    )
    assert (
        train(tmp_path / "student", "--config", config, "--data", data, "--teacher", run / BEST)
        == 2
    )
    assert "distillation is 0, so that nothing would be learned" in capsys.readouterr().err
    assert train(run, "--data", data) == 2
    assert "already contains a run" in capsys.readouterr().err


def test_other_data_of_the_copy_task_are_named(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "copy.toml").write_text(to_toml(copy_run(max_steps=2)), encoding="utf-8")
    out = tmp_path / "copies"
    assert train(out, "--config", tmp_path / "copy.toml") == 0
    capsys.readouterr()
    assert resume(out, "--data", data, "--max-steps", 3) == 2
    said = capsys.readouterr().err
    assert (
        f"{data} is not the data of this run, which is the copy task. Resume with the original "
        "data, or start" in said
    )
    (out / "inputs.json").unlink()
    assert resume(out, "--data", data, "--max-steps", 3) == 2
    assert "is not the data of this run, which is the copy task" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ("train", "--resume", "--out", "RUN"),
        ("runs", "RUN"),
        ("average", "RUN", "--last", "2", "--out", "average.safetensors"),
    ],
    ids=lambda command: command[0],
)
def test_a_run_that_may_not_be_read_is_not_called_missing(
    command: tuple[str, ...],
    tmp_path: Path,
    permissions_withheld: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "last.safetensors").write_bytes(b"")
    with permissions_withheld(run, 0o000):
        assert main([str(run) if word == "RUN" else word for word in command]) == 2
    assert "run cannot be read: no permission. Make it readable" in capsys.readouterr().err
