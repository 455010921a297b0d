"""What a test costs is noticed, and an unmarked test fails for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import costs
from tests.conftest import REPOSITORY
from tests.core.training.runs import copy_run, record


@pytest.mark.subprocess
def test_a_process_that_is_started_is_noticed() -> None:
    costs.seen_since_last_asked()
    subprocess.run([sys.executable, "-c", ""], check=True)
    assert costs.seen_since_last_asked() == {"subprocess"}
    assert costs.seen_since_last_asked() == set()


@pytest.mark.training
def test_optimiser_steps_are_noticed(tmp_path: Path) -> None:
    costs.seen_since_last_asked()
    record(copy_run(max_steps=1, sample_size=0), tmp_path / "run")
    assert costs.seen_since_last_asked() == {"training"}


@pytest.mark.subprocess
@pytest.mark.parametrize(("marks", "outcome"), [("", "1 passed, 1 error"), ("@pytest.mark.subprocess", "1 passed")])
def test_a_test_that_starts_a_process_without_saying_so_fails(tmp_path: Path, marks: str, outcome: str) -> None:
    file = tmp_path / "test_of_a_process.py"
    file.write_text(f"""
import subprocess, sys
import pytest

{marks}
def test_it():
    subprocess.run([sys.executable, "-c", ""], check=True)
""")
    settings = ["-c", str(REPOSITORY / "pyproject.toml"), "-p", "tests.conftest", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *settings, str(file)]
    result = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=200, check=False)
    assert f"{outcome} in" in result.stdout.splitlines()[-1], result.stdout + result.stderr
    assert ("it starts a process: mark it @pytest.mark.subprocess" in result.stdout) == (not marks)
