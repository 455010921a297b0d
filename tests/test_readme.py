"""Commands and Python that README.md and the pages in docs/ show can be copied and run."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.cli.main import make_parser
from augenmerk.core.model.heads import Head
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.translation.experiment import Experiment, Greedy, HeadScaled
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    write_experiment_file,
)
from augenmerk.viz_app.launch import main, window_parser
from tests.builders import first_quick

ROOT = Path(__file__).resolve().parent.parent
README, *PAGES = (
    path.read_text("utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
)
TEXT = "\n".join((README, *PAGES)).replace("\\\n", "")
"""The backslash at the end of a line joins it to the next."""
LINES = dict.fromkeys(re.findall(r"^ +(?:torchrun .* -m )?(augenmerk\b.*)$", TEXT, re.MULTILINE))
COMMANDS = [shlex.split(line.partition(" < ")[0], comments=True)[1:] for line in LINES]
with_bundled_model = pytest.mark.skipif(
    not bundled_model_path().is_file(), reason="the bundled model is not here"
)


def commands_that(name: str) -> list[list[str]]:
    return [command for command in COMMANDS if command[:1] == [name]]


def ids(commands: list[list[str]]) -> list[str]:
    return [" ".join(command) for command in commands]


@with_bundled_model
@pytest.mark.heavy
@pytest.mark.parametrize(
    "code", first_quick(re.findall(r"```python\n(.*?)```", "\n".join(PAGES), re.DOTALL))
)
def test_python_of_the_pages_runs(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(code, {})
    assert "dogs" in capsys.readouterr().out


@with_bundled_model
@pytest.mark.heavy
def test_the_lines_of_python_run_and_give_the_rows_and_columns_they_name() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    *lines, last = code.strip().splitlines()
    assert len([line for line in (*lines, last) if line.strip()]) == 3
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    matrix, translation = eval(last, names), names["translation"]
    assert "ladder" in translation.text
    assert matrix.shape == (len(translation.predicted_tokens), len(translation.source_tokens))
    np.testing.assert_allclose(matrix.sum(axis=-1), 1, atol=1e-5)
    assert "layer 2, head 5" in last
    np.testing.assert_array_equal(matrix, translation.maps.of_kind("cross")[2 - 1, 5 - 1])


@pytest.mark.parametrize("command", COMMANDS, ids=ids(COMMANDS))
def test_every_command_exists_and_takes_its_options(command: list[str]) -> None:
    name, *arguments = command or ["app"]
    if "--list-settings" in arguments:  # prints while options are read
        with pytest.raises(SystemExit, match=r"^0$"):
            make_parser().parse_args(command)
    elif name == "app":
        window_parser().parse_args(arguments)
    else:
        make_parser().parse_args(command)


@pytest.mark.heavy
@with_bundled_model
@pytest.mark.parametrize(
    "command", first_quick(commands_that("analyze")), ids=ids(commands_that("analyze"))
)
def test_the_examples_of_analyze_run(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    pairs = re.findall(r"^    (.*\t.*\t.*\t.*)$", "\n".join(PAGES), re.MULTILINE)
    files = {"pairs.tsv": pairs, "test.de": ["Ein Kind lacht."], "test.en": ["A child laughs."]}
    for name, lines in files.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    experiment = Experiment("Ein Hund.", Greedy(), (HeadScaled(Head("cross", 1, 4)),))
    write_experiment_file(
        SavedExperiment(experiment, ModelReference("any", "0" * 64)), tmp_path / "my.augenmerk"
    )
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.figures
@with_bundled_model
@pytest.mark.parametrize("command", commands_that("figure"), ids=ids(commands_that("figure")))
def test_the_examples_of_figure_draw_their_file(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if "--again" in command:
        earlier = command[command.index("--again") + 1]
        assert (
            main(["figure", "--text", "Ein Hund.", "--layer", "1", "--head", "1", "--out", earlier])
            == 0
        )
    assert main(command) == 0
    drawn = tmp_path / command[command.index("--out") + 1]
    begins = {".pdf": b"%PDF", ".html": b"<!doctype html", ".svg": b"<?xml"}[drawn.suffix]
    assert drawn.read_bytes().lower().startswith(begins.lower())


def test_there_are_examples_of_the_commands_for_numbers_and_pictures() -> None:
    assert len(commands_that("analyze")) >= 2
    assert len(commands_that("figure")) >= 2


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda path: path.name
)
def test_links_within_the_repository_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text("utf-8")):
        assert "://" in target or (path.parent / target).exists(), target


def test_the_readme_is_short() -> None:
    assert len(README.split()) < 900


def test_the_model_card_fits_on_two_screens() -> None:
    assert len((ROOT / "resources" / "MODEL_CARD.md").read_text("utf-8").splitlines()) <= 90


@pytest.mark.parametrize(
    "page", sorted((ROOT / "resources").rglob("*.md")), ids=lambda page: page.name
)
def test_links_of_pages_in_the_wheel_lead_to_files_in_the_wheel(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
        linked = (page.parent / link).resolve()
        assert linked.is_file(), link
        assert linked.is_relative_to(ROOT / "resources"), link
