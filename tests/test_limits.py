"""Tests that limit files leave nothing damaged behind, also where Python writes bytecode."""

import importlib
import marshal
import os
import sys
from pathlib import Path

import pytest

from tests.builders import run_process
from tests.limits import ImportedUnderALimitError, files_limited

pytestmark = pytest.mark.slow

posix_only = pytest.mark.skipif(os.name != "posix", reason="RLIMIT_FSIZE is of POSIX systems")


@posix_only
def test_importing_under_a_limit_fails_and_works_again_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_late.py").write_text("VALUES = [" + "'a text', " * 500 + "]\n")
    monkeypatch.syspath_prepend(tmp_path)
    with files_limited(300), pytest.raises(ImportedUnderALimitError, match="imported_late"):
        importlib.import_module("imported_late")
    assert [path.name for path in tmp_path.iterdir()] == ["imported_late.py"]
    assert len(importlib.import_module("imported_late").VALUES) == 500


@posix_only
@pytest.mark.subprocess
def test_a_run_of_tests_on_a_full_disk_leaves_only_whole_bytecode(tmp_path: Path) -> None:
    """The first tests of a fresh checkout, which import everything for the first time."""
    test = "tests/viz_app/extensions/train/test_run_export.py::test_a_full_disk_is_told_and_the_older_file_stays"
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    done = run_process(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0", test],
        env={**environment, "PYTHONPYCACHEPREFIX": str(tmp_path)},
    )
    assert done.returncode == 0, done.stdout
    written = [path for path in tmp_path.rglob("*.pyc") if "-pytest-" not in path.name]
    assert any(path.match("train/charts/axes.*.pyc") for path in written)
    for path in written:
        # after the header; raises EOFError for a truncated file
        marshal.loads(path.read_bytes()[16:])
