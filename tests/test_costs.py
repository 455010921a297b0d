"""What a test costs is noticed, and an unmarked test fails for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import costs
from tests.builders import run_process
from tests.conftest import REPOSITORY
from tests.core.extensions.training.runs import copy_run, record


@pytest.mark.subprocess
def test_a_process_that_is_started_is_noticed() -> None:
    costs.seen_since_last_asked()
    subprocess.run([sys.executable, "-c", ""], check=True)
    assert costs.seen_since_last_asked() == {"subprocess"}
    assert costs.seen_since_last_asked() == set()


@pytest.mark.training
def test_optimizer_steps_are_noticed(tmp_path: Path) -> None:
    costs.seen_since_last_asked()
    record(copy_run(max_steps=1, sample_size=0), tmp_path / "run")
    assert costs.seen_since_last_asked() == {"training"}


@pytest.mark.subprocess
@pytest.mark.parametrize("is_marked", [False, True])
@pytest.mark.parametrize(
    ("mark", "body", "message"),
    [
        (
            "subprocess",
            'subprocess.run([sys.executable, "-c", ""], check=True)',
            "it starts a process: mark it",
        ),
        ("heavy", "while time.process_time() - began < 1: pass", "make it cheaper, or mark it"),
    ],
)
@pytest.mark.slow
def test_a_test_that_costs_more_than_it_says_fails(
    tmp_path: Path, mark: str, body: str, message: str, is_marked: bool
) -> None:
    file = tmp_path / "test_of_a_cost.py"
    file.write_text(f"""
import subprocess, sys, time
import pytest
from tests import costs

costs.MAX_CPU_SECONDS = 0.9
began = time.process_time()

{f"@pytest.mark.{mark}" if is_marked else ""}
def test_it():
    {body}
""")
    settings = [
        "-c",
        str(REPOSITORY / "pyproject.toml"),
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
    ]
    command = [sys.executable, "-m", "pytest", *settings, str(file)]
    result = run_process(command, timeout=200)
    outcome = "1 passed" if is_marked else "1 passed, 1 error"
    assert f"{outcome} in" in result.stdout.splitlines()[-1], result.stdout + result.stderr
    assert (f"{message} @pytest.mark.{mark}" in result.stdout) == (not is_marked)


@pytest.mark.subprocess
@pytest.mark.parametrize("jobs", ["0", "1"])
@pytest.mark.parametrize("is_marked", [False, True])
@pytest.mark.slow
def test_a_test_that_should_be_marked_is_listed_at_the_end(
    tmp_path: Path, jobs: str, is_marked: bool
) -> None:
    file = tmp_path / "test_of_a_cost.py"
    file.write_text(f"""
import time
import pytest
from tests import costs

began = time.process_time()

{"@pytest.mark.heavy" if is_marked else ""}
def test_it():
    while time.process_time() - began < costs.HEAVY_CPU_SECONDS + 0.1: pass

def test_another():
    pass
""")
    settings = [
        "-c",
        str(REPOSITORY / "pyproject.toml"),
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
    ]
    command = [sys.executable, "-m", "pytest", "-n", jobs, *settings, str(file)]
    result = run_process(command, timeout=200)
    assert "2 passed in" in result.stdout.splitlines()[-1], result.stdout + result.stderr
    listed = [line for line in result.stdout.splitlines() if " s  " in line]
    assert [line.rpartition("::")[2] for line in listed] == ([] if is_marked else ["test_it"])


@pytest.mark.parametrize("is_emulated", [False, True])
def test_in_an_emulator_nothing_costs_too_much(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, is_emulated: bool
) -> None:
    monkeypatch.setattr(costs, "IS_EMULATED", is_emulated)
    report = pytest.TestReport(
        "slow.py::test",
        ("slow.py", 1, "test"),
        {},
        "passed",
        None,
        "teardown",
        user_properties=[(costs.PROPERTY, 400.0)],
    )
    assert (costs.too_heavy(request.node, 400.0) is None) == is_emulated
    assert costs.unmarked([report]) == ([] if is_emulated else [(400.0, "slow.py::test")])


def test_a_test_of_half_a_second_is_to_be_slow_whatever_other_marks_it_has() -> None:
    reports = [
        pytest.TestReport(
            f"test_it.py::{mark}",
            ("test_it.py", 1, mark),
            {mark: 1},
            "passed",
            None,
            "teardown",
            user_properties=[(costs.PROPERTY, costs.SLOW_CPU_SECONDS)],
        )
        for mark in ("heavy", "slow")
    ]
    assert costs.unmarked(reports) == []
    assert costs.unmarked(reports, costs.SLOW_CPU_SECONDS, ("slow",)) == [
        (costs.SLOW_CPU_SECONDS, "test_it.py::heavy")
    ]
