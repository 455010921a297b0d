"""Set-up that tests of all packages share."""

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY


def command_line(template: str, *values: object) -> list[str]:
    """The arguments of a command: `template` cut at its spaces, with `values` in place of `{}`.

    A value is one argument, whatever spaces it has.
    """
    arguments = template.split()
    assert arguments.count("{}") == len(values), f"{len(values)} values for {template}"
    remaining = iter(values)
    return [str(next(remaining)) if argument == "{}" else argument for argument in arguments]


def run_process(
    command: Sequence[str | Path], **options: Any
) -> "subprocess.CompletedProcess[str]":
    """What a process did that was started in the checkout, whatever its status is."""
    return subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, encoding="utf-8", check=False, **options
    )


def first_quick(
    cases: Iterable[Any], num_quick: int = 2, *, is_one_argument: bool = False
) -> list[Any]:
    """The cases of `parametrize`, or of a fixture: all but the first ones are `slow`.

    A tuple holds the values of several arguments, unless it `is_one_argument`.
    """

    def slow(case: Any) -> Any:
        if isinstance(case, type(pytest.param())):
            return pytest.param(*case.values, marks=[*case.marks, pytest.mark.slow], id=case.id)
        values = case if isinstance(case, tuple) and not is_one_argument else (case,)
        return pytest.param(*values, marks=pytest.mark.slow)

    return [case if index < num_quick else slow(case) for index, case in enumerate(cases)]
