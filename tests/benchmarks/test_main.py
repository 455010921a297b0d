"""Which benchmarks are run."""

from pathlib import Path

import pytest

from benchmarks import __main__ as benchmarks


def test_without_a_name_all_are_run() -> None:
    assert benchmarks.read_names([]) == list(benchmarks.BENCHMARKS)
    assert benchmarks.read_names(["training", "reading"]) == ["training", "reading"]


def test_help_lists_every_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        benchmarks.read_names(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    listed = "".join(said.partition("benchmarks: ")[2].split()).split(",")
    assert listed == sorted(set(listed), key=listed.index), "each once"
    assert listed == list(benchmarks.BENCHMARKS)


@pytest.mark.parametrize("name", ["ratio", "no-such"])
def test_an_unknown_name_is_refused_with_the_list(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        benchmarks.read_names(["training", name])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert f"unknown benchmark {name}." in said
    assert all(name in said for name in benchmarks.BENCHMARKS)


def test_every_benchmark_that_is_listed_has_a_module() -> None:
    folder = Path(benchmarks.__file__).parent
    assert all((folder / f"{name}.py").exists() for name in benchmarks.BENCHMARKS)
