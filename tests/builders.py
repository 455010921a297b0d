"""Set-up that tests of all packages share."""

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def command_line(template: str, *values: object) -> list[str]:
    """The arguments of a command: `template` cut at its spaces, with `values` in place of `{}`.

    A value is one argument, whatever spaces it has.
    """
    arguments = template.split()
    assert arguments.count("{}") == len(values), f"{len(values)} values for {template}"
    remaining = iter(values)
    return [str(next(remaining)) if argument == "{}" else argument for argument in arguments]


def first_quick(
    cases: Iterable[Any], num_quick: int = 2, *, is_one_argument: bool = False
) -> list[Any]:
    """The cases of `parametrize`, or of a fixture: all but the first ones are `slow`.

    A tuple holds the values of several arguments, unless it `is_one_argument`.
    """

    def slow(case: Any) -> Any:
        if isinstance(case, ParameterSet):
            return pytest.param(*case.values, marks=[*case.marks, pytest.mark.slow], id=case.id)
        values = case if isinstance(case, tuple) and not is_one_argument else (case,)
        return pytest.param(*values, marks=pytest.mark.slow)

    return [case if index < num_quick else slow(case) for index, case in enumerate(cases)]
