"""No text of a file, a name or an option reaches the terminal as control characters, and JSON stays
JSON."""

import io
import json
import sys
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from augenmerk.core.cli.command import run_guarded
from augenmerk.core.cli.main import main
from augenmerk.core.extensions.readers.pickled import how_to_convert
from tests.builders import command_line
from tests.core.extensions.training.runs import copy_run, record

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x08\x7f\u202e"
"""Sets the title of the window, clears the screen, changes colors, deletes, and reverses the
direction of writing."""
SHOWN = r"\u001b]0;owned\u0007\u001b[2J\u009b31m\u0008\u007f\u202e"


def control_characters(text: str) -> set[str]:
    return {character for character in text if unicodedata.category(character) == "Cc"} - {
        "\n",
        "\t",
    }


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    folder = tmp_path / f"run{HOSTILE}"
    record(copy_run(num_epochs=1, sample_size=0), folder)
    return folder


COMMANDS: dict[str, list[str]] = {
    "a missing file": ["info", "{name}"],
    "a missing folder": ["runs", "{name}"],
    "a command": ["{name}"],
    "an option": ["translate", "x", "--{name}"],
    "a value": ["translate", "x", "--beam", "{name}"],
    "a device": ["translate", "x", "--device", "{name}"],
    "a setting": [
        "train",
        "--preset",
        "copy-task",
        "--out",
        "{folder}/new",
        "--set",
        "model.{name}=1",
    ],
    "a change": ["train", "--preset", "copy-task", "--out", "{folder}/new", "--change", "{name}=1"],
    "a key of a settings file": [
        "train",
        "--config",
        "{folder}/settings.toml",
        "--out",
        "{folder}/new",
    ],
    "a corpus": [
        "train",
        "--preset",
        "notebook",
        "--data",
        "{folder}/{name}",
        "--out",
        "{folder}/new",
    ],
    "a column of a corpus": [
        "train",
        "--preset",
        "notebook",
        "--data",
        "{folder}/pairs.json",
        "--out",
        "{folder}/new",
    ],
    "an experiment": ["translate", "x", "--experiment", "{folder}/{name}.augenmerk"],
    "a folder to write": ["translate", "x", "--attention", "{folder}/settings.toml/{name}.npz"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_refusals_show_control_characters_as_escapes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    (tmp_path / "settings.toml").write_text(
        f"{json.dumps(HOSTILE)} = 1\n".replace("\x7f", "\\u007f")
    )
    (tmp_path / "pairs.json").write_text(json.dumps({HOSTILE: "x"}))
    try:
        status: Any = main(
            [part.format(name=HOSTILE, folder=tmp_path) for part in COMMANDS[command]]
        )
    except SystemExit as error:
        status = error.code
    told = capsys.readouterr()
    assert status == 2
    assert "owned" in told.err, "it is shown at all"
    assert not control_characters(told.out + told.err)
    assert "\u202e" not in told.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_refusal_is_one_line_whatever_the_names_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    forged = "x\naugenmerk: forged\n"
    (tmp_path / "settings.toml").write_text(f"{json.dumps(forged)} = 1\n")
    (tmp_path / "pairs.json").write_text(json.dumps({forged: "x"}))
    with suppress(SystemExit):
        main([part.format(name=forged, folder=tmp_path) for part in COMMANDS[command]])
    told = capsys.readouterr().err
    assert "forged" in told
    assert (
        len(
            [
                line
                for line in told.splitlines()
                if not line.startswith(("See augenmerk ", "Reading "))
            ]
        )
        == 1
    )


def test_the_advice_about_a_whole_model_is_one_line(tmp_path: Path) -> None:
    assert "\n" not in how_to_convert(tmp_path / "model.pt")


@pytest.mark.training
def test_names_of_files_show_control_characters_as_escapes(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = str(run_folder / "best.safetensors")
    for arguments in (
        ["average", checkpoint, "--out", str(tmp_path / f"mean{HOSTILE}\nforged.safetensors")],
        ["info", str(tmp_path / f"mean{HOSTILE}\nforged.safetensors")],
        ["info", checkpoint],
        ["runs", str(tmp_path)],
        command_line(
            "train --preset copy-task-small --max-steps 1 --out {}",
            tmp_path / f"other{HOSTILE}\nforged",
        ),
    ):
        assert main(arguments) == 0
        told = capsys.readouterr()
        assert SHOWN in told.out + told.err
        assert not control_characters(told.out + told.err), arguments
        assert "\nforged" not in told.out + told.err, arguments


@pytest.mark.heavy
@pytest.mark.parametrize("options", [["--json"], ["--json", "--target", f"a{HOSTILE}"]])
def test_json_keeps_the_text_and_shows_control_characters_as_escapes(
    untrained_checkpoint: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    assert (
        main(
            ["translate", f"ein{HOSTILE} mann", *options, "--checkpoint", str(untrained_checkpoint)]
        )
        == 0
    )
    told = capsys.readouterr()
    assert not control_characters(told.out + told.err)
    assert json.loads(told.out)["source"] == f"ein{HOSTILE} mann"


def test_a_refused_line_of_json_keeps_its_text(
    untrained_checkpoint: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{HOSTILE * 3_000}\n"))
    assert main(["translate", "-", "--jsonl", "--checkpoint", str(untrained_checkpoint)]) == 2
    told = capsys.readouterr()
    assert not control_characters(told.out + told.err)
    assert json.loads(told.out)["source"] == HOSTILE * 3_000


def test_a_progress_bar_overwrites_itself_and_its_texts_are_escaped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tqdm import tqdm

    def show() -> int:
        with tqdm(total=2, desc="reading a\x1b[2Jb\rc", file=sys.stderr, mininterval=0) as bar:
            bar.update()
            bar.write(HOSTILE, file=sys.stderr)
        return 0

    assert run_guarded(show) == 0
    told = capsys.readouterr().err
    assert control_characters(told) == {"\r"}
    assert r"\rreading a\u001b[2Jb\u000dc".replace(r"\r", "\r", 1) in told
    assert f"\r{SHOWN}\n" in told
