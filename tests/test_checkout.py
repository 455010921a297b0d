"""The checkout in which the tests ran is undamaged. CI runs this once more at the end."""

import marshal
import os
import sys
from pathlib import Path

import pytest

from tests.builders import run_process

REPOSITORY = Path(__file__).resolve().parent.parent

pytestmark = [pytest.mark.slow, pytest.mark.subprocess]


def augenmerk(*arguments: str | Path) -> None:
    """Runs a command as a user's shell does, where Python reads and writes bytecode."""
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    done = run_process([sys.executable, "-m", "augenmerk", *arguments], env=environment)
    assert done.returncode == 0, done.stderr


def test_all_bytecode_is_whole() -> None:
    for package in ("core", "viz_app"):
        for path in (REPOSITORY / package).rglob(f"*.{sys.implementation.cache_tag}.pyc"):
            # after the header; raises EOFError for a truncated file
            marshal.loads(path.read_bytes()[16:])


def test_charts_of_a_run_are_drawn(tmp_path: Path) -> None:
    settings = ("--preset", "copy-task-small", "--device", "cpu", "--set", "training.num_epochs=1")
    augenmerk("train", *settings, "--out", tmp_path / "run")
    for ending in ("png", "svg", "pdf"):
        augenmerk("charts", tmp_path / "run", "--out", tmp_path / f"charts.{ending}")
        assert (tmp_path / f"charts.{ending}").stat().st_size > 1000


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "html"])
def test_figures_are_drawn(tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"figure.{ending}"
    augenmerk("figure", "--text", "Zwei Hunde spielen im Schnee.", "--out", target)
    assert target.stat().st_size > 1000
