"""Options that name what a command writes never replace an input or a file of another kind."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.cli.outputs import (
    LINKS,
    NUMBERS,
    STEPS,
    TEXT,
    WEB_PAGE,
    FileKind,
    OutputFile,
)
from augenmerk.core.errors import StorageError
from augenmerk.core.extensions.training.cli.outputs import CHECKPOINT, PREPARED
from augenmerk.viz_app.launch import run_command
from tests.builders import command_line

SENTENCE = "Ein Mann steht."
NAMES: dict[str, Callable[[Path, Path], None]] = {
    "same": lambda link, path: None,
    "hard": lambda link, path: os.link(path, link),
    "symbolic": lambda link, path: link.symlink_to(path),
}


@pytest.fixture
def model(untrained_checkpoint: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(untrained_checkpoint, tmp_path / "model.safetensors"))


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.de"
    path.write_text(f"{SENTENCE}\n", encoding="utf-8")
    return path


def refused(capsys: pytest.CaptureFixture[str], path: Path, *arguments: object) -> str:
    """The message of a command that must end with status 2 and leave the file as it is."""
    before = path.read_bytes()
    assert run_command([str(argument) for argument in arguments]) == 2
    output = capsys.readouterr()
    assert path.read_bytes() == before
    assert output.out == ""
    return output.err


@pytest.mark.parametrize("name", NAMES)
def test_an_input_is_not_overwritten_under_any_name(
    name: str, model: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path, command in (
        (
            text,
            command_line(
                "evaluate --source {} --reference {} --checkpoint {} --hypotheses",
                text,
                text,
                model,
            ),
        ),
        (model, ["average", model, "--out"]),
        (model, ["import", model, "--out"]),
        (text, ["align", "--ibm-1", text, text, "--checkpoint", model, "--write-ibm-1"]),
        (model, ["data", "prepare", "--data", model, "--out"]),
    ):
        target = path if name == "same" else path.with_name(f"link-{name}{path.suffix}")
        target.unlink(missing_ok=True) if name != "same" else None
        NAMES[name](target, path)
        assert "it is read by this command. Choose another file name." in refused(
            capsys, path, *command, target
        )


def test_an_input_of_analyze_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "pairs.json"
    pairs.write_text(f"{SENTENCE}\t\ta\tb\n", encoding="utf-8")
    message = refused(capsys, pairs, "analyze", pairs, "--metric", "difference", "--out", pairs)
    assert "it is read by this command" in message


def test_checkpoints_of_a_run_are_not_overwritten(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.toml").touch()
    for name in (
        "last.safetensors",
        "best.safetensors",
        "last-step10.safetensors",
        "best-epoch1-step5.safetensors",
    ):
        path = Path(shutil.copy(model, run / name))
        for command in (
            ["average", run, "--last", 1, "--out", path],
            ["average", model, "--out", path],
        ):
            assert "it belongs to the run in this folder" in refused(capsys, path, *command)
    assert main(["average", str(run), "--last", "1", "--out", str(run / "mean.safetensors")]) == 0
    assert main(["average", str(run), "--last", "1", "--out", str(run / "mean.safetensors")]) == 0


@pytest.mark.parametrize(
    ("ending", "command"),
    [
        ("safetensors", ["average", "MODEL", "--out"]),
        ("safetensors", ["import", "FOLDER", "--out"]),
        ("safetensors", ["data", "prepare", "--data", "TEXT", "--out"]),
        ("de", ["translate", SENTENCE, "--attention"]),
        ("npz", ["analyze", SENTENCE, "--out"]),
        ("json", ["analyze", SENTENCE, "--out"]),
        ("tsv", ["align", "--write-ibm-1"]),
        ("html", ["figure", "--text", SENTENCE, "--out"]),
        ("png", ["figure", "--text", SENTENCE, "--out"]),
        ("svg", ["figure", "--text", SENTENCE, "--out"]),
        ("html", ["page", "--out"]),
        ("csv", ["charts", "FOLDER", "--out"]),
        ("pdf", ["charts", "FOLDER", "--out"]),
        ("gif", ["charts", "FOLDER", "--out"]),
        ("mp4", ["charts", "FOLDER", "--out"]),
    ],
)
def test_a_file_of_another_kind_is_not_overwritten(
    ending: str,
    command: list[str],
    model: Path,
    text: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    precious = tmp_path / f"notes.{ending}"
    precious.write_text('{"name": "my notes"}\n', encoding="utf-8")
    inputs = {"MODEL": model, "TEXT": text, "FOLDER": tmp_path}
    message = refused(capsys, precious, *(inputs.get(word, word) for word in command), precious)
    assert f"Cannot write {precious}: it is an existing file, but not " in message


@pytest.mark.heavy
def test_own_results_are_overwritten(model: Path, text: Path, tmp_path: Path) -> None:
    reference = Path(shutil.copy(text, tmp_path / "reference"))
    commands = [
        ["translate", SENTENCE, "--attention", tmp_path / "maps.npz"],
        ["analyze", SENTENCE, "--out", tmp_path / "numbers.npz"],
        ["analyze", SENTENCE, "--out", tmp_path / "numbers.json"],
        command_line(
            "evaluate --source {} --reference {} --hypotheses {}",
            text,
            reference,
            tmp_path / "text.en",
        ),
    ]
    for command in commands * 2:
        assert main([*map(str, command), "--checkpoint", str(model)]) == 0
    for _ in range(2):
        assert main(["average", str(model), "--out", str(tmp_path / "mean.safetensors")]) == 0


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (LINKS, b"line\tlinks\n1\t0-0\n"),
        (STEPS, b"step,epoch,num_tokens\n"),
        (WEB_PAGE, b"<!doctype html>\n"),
        (NUMBERS, b'{"version": "0.1.0"}\n'),
        (TEXT, "Ein Mädchen läuft.\n".encode() * 1000),
    ],
)
def test_kinds_are_recognized(kind: FileKind, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"file{kind.suffixes[0] if kind.suffixes else ''}"
    for replaceable in (b"", content):
        path.write_bytes(replaceable)
        OutputFile(kind).check(path, [])
    for other in (CHECKPOINT, PREPARED):
        with pytest.raises(StorageError, match=f"it is an existing file, but not {other.name}"):
            OutputFile(other).check(path, [])


def test_text_is_not_a_page_nor_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "hypotheses.en"
    for content in (b"<!doctype html>", b"\x89PNG\r\n", b"A\0", b"a \xe9", b"line\tlinks\n"):
        path.write_bytes(content)
        with pytest.raises(StorageError, match="it is an existing file, but not plain text"):
            OutputFile(TEXT).check(path, [])


def test_training_does_not_replace_its_settings_or_other_files(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    config = folder / "run.toml"
    config.write_text("# mine\n", encoding="utf-8")
    train = ["train", "--source", text, "--target", text, "--out", folder]
    assert "it is read by this command" in refused(capsys, config, *train, "--config", config)
    config.unlink()
    history = folder / "history.csv"
    history.write_text("year,event\n", encoding="utf-8")
    message = refused(capsys, history, *train)
    assert f"{folder} already contains history.csv, which training would replace." in message
