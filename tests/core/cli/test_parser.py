"""A refused option is reported with its value and the remedy."""

import sys
from pathlib import Path

import pytest

from augenmerk.core.cli.main import main, make_parser
from augenmerk.viz_app.launch import window_parser
from tests.builders import command_line


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--seed", "1.5", "argument --seed: '1.5' is not a whole number."),
        ("--epochs", "x" * 99, f"argument --epochs: '{'x' * 59}…' is not a whole number."),
        (
            "--out",
            "",
            "argument --out: the path is empty. Enter a path, or . for the current folder.",
        ),
        ("--config", "", "argument --config: the path is empty"),
    ],
)
def test_a_value_that_is_none_of_the_kind_is_refused(
    option: str, value: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["train", "--out", "somewhere", option, value])
    assert ended.value.code == 2
    first, *rest = capsys.readouterr().err.splitlines()
    assert first.startswith(f"augenmerk train: error: {problem}")
    assert rest == ["See augenmerk train --help."]


@pytest.mark.parametrize(
    "arguments", [["translate", "Ein Hund."], ["align"], ["train", "--out", "somewhere"]]
)
def test_an_unknown_option_is_refused_by_its_command(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--no-such-option", "x"])
    assert ended.value.code == 2
    command = f"augenmerk {arguments[0]}"
    assert capsys.readouterr().err.splitlines() == [
        f"{command}: error: unrecognized arguments: '--no-such-option' 'x'",
        f"See {command} --help.",
    ]


def test_an_empty_folder_name_is_not_the_folder_of_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(command_line("train --preset copy-task-small --data copy --max-steps 1 --out {}", ""))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("translate", "Ein M\udce4dchen."),
        ("translate", "Ein Kind.", "--target", "A ch\udce4ld."),
        ("translate", "Ein Kind.", "--force", "2=ch\udce4ld"),
        ("translate", "Ein Kind.", "--replace-word", "2=M\udce4dchen"),
        ("analyze", "Ein Kind.", "--compare", "Ein M\udce4dchen."),
        ("train", "--probe", "Ein M\udce4dchen.", "--out", "run"),
        ("train", "--set", "model.width=\udce4", "--out", "run"),
        ("evaluate", "--source", "text.de", "--into", "\udce4"),
    ],
)
def test_an_argument_with_bytes_that_are_no_characters_is_refused(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    message = capsys.readouterr().err
    assert "is not UTF-8. Check the encoding of the terminal or script.\n" in message
    assert "\\udce4" in message


def test_the_window_and_its_commands_refuse_bytes_that_are_no_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = ["page", "--out", "a.html"]
    for parser, option, others in (
        (window_parser(), "--sentence", []),
        (make_parser(["page"]), "--text", page),
    ):
        with pytest.raises(SystemExit, match="2"):
            parser.parse_args([*others, option, "M\udce4dchen"])
        assert f"argument {option}: " in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="file names of other systems are Unicode")
def test_paths_may_have_any_bytes(tmp_path: Path) -> None:
    path = tmp_path / "m\udce4n.txt"
    path.touch()
    options = make_parser().parse_args(
        ["import", str(path), "--out", str(tmp_path / "n\udce4w.safetensors")]
    )
    assert options.source == str(path)
