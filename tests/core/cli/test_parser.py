"""A refused option is reported with its value and the remedy."""

from pathlib import Path

import pytest

from augenmerk.core.cli.main import main


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


@pytest.mark.parametrize("arguments", [["translate", "Ein Hund."], ["align"], ["train", "--out", "somewhere"]])
def test_an_unknown_option_is_refused_by_its_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
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
        main(["train", "--preset", "copy-task-small", "--data", "copy", "--max-steps", "1", "--out", ""])
    assert list(tmp_path.iterdir()) == []
