"""The tutorial notebook runs, and what it shows is small and tells nothing of the machine."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from augenmerk import Translator
from augenmerk.core.extensions.provenance import read_provenance_values

PATH = Path(__file__).parents[1] / "docs" / "tutorial.ipynb"
NOTEBOOK: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
CELLS: list[dict[str, Any]] = NOTEBOOK["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]
RUNNER = """
import ast, json, sys
import matplotlib
matplotlib.use("agg")
names = {}
shown = []
for code in json.loads(sys.stdin.read()):
    body = ast.parse(code).body
    is_value = isinstance(body[-1], ast.Expr) and not code.endswith(";")
    value = ast.Expression(body.pop().value) if is_value else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    if value is not None:
        shown.append(bool(eval(compile(value, "cell", "eval"), names)._repr_html_()))
print(json.dumps(shown))
"""


@pytest.mark.subprocess
@pytest.mark.figures
@pytest.mark.heavy
def test_every_cell_runs_and_shows_something(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUNNER],
        input=json.dumps(CODE),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout.splitlines()[-1])
    assert shown == [True] * len(shown)
    origin = read_provenance_values(tmp_path / "head.pdf")
    assert origin["model"] == Translator.load().name
    assert origin["options"].items() >= {"kind": "cross", "layer": 3, "head": 5}.items()


def test_it_has_fifteen_cells_and_the_outputs_of_one_run() -> None:
    assert len(CELLS) == 15
    counts = [cell["execution_count"] for cell in CELLS if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(CODE) + 1))
    outputs = [cell["outputs"] for cell in CELLS if cell["cell_type"] == "code"]
    assert all(outputs)
    kinds = {output["output_type"] for group in outputs for output in group}
    assert kinds == {"execute_result", "display_data"}, "neither errors nor logs"


def test_its_outputs_are_small_and_tell_nothing_of_the_machine() -> None:
    text = PATH.read_text(encoding="utf-8")
    assert len(text.encode()) <= 600_000
    assert re.findall(r"/(?:home|root|tmp|work|Users)/", text) == []
