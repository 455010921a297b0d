"""The public API: complete, typed, and light to import."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import augenmerk as api
from tests.test_import_rules import modules_imported_by

HEAVY = {"torch", "spacy", "torchtext", "PySide6", "matplotlib", "sentencepiece", "numpy"}


def names_for_type_checkers() -> set[str]:
    """What the module imports under `TYPE_CHECKING`."""
    tree = ast.parse(Path(api.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    return {
        alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_every_name_is_there_for_people_and_for_type_checkers() -> None:
    assert sorted(api.__all__) == api.__all__ == dir(api)
    assert names_for_type_checkers() == set(api.__all__)
    for name in api.__all__:
        value = getattr(api, name)
        assert getattr(value, "__name__", name) == name
        assert value is getattr(api, name)
    with pytest.raises(AttributeError, match="has no attribute 'Stepper'"):
        api.Stepper  # noqa: B018
    assert not hasattr(api, "__wrapped__")


def test_every_error_of_the_core_is_public_or_has_a_public_base() -> None:
    from augenmerk.core import errors

    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, Exception):
            assert any(base.__name__ in api.__all__ for base in error.__mro__)


def test_calls_that_the_page_on_hooks_lists_are_public() -> None:
    page = (Path(__file__).parents[1] / "docs" / "hooks.md").read_text(encoding="utf-8")
    listed = page.partition("A hook affects ")[2].partition(" and all analyses")[0]
    table = page.partition("## Called modules")[2].partition("\n\nA greedy decoder")[0]
    calls = re.findall(
        "`(\\w+)`", listed + "".join(re.findall("^\\| (`.+?) \\|", table, re.MULTILINE))
    )
    assert {"run", "score_many"} <= set(calls)
    assert [
        name for name in calls if not hasattr(api.Translator, name) and name not in api.__all__
    ] == []


def test_errors_that_analyses_raise_can_be_caught_by_name() -> None:
    assert {"CorpusError", "NonFiniteError", "TranslationStoppedError"} <= set(api.__all__)


@pytest.mark.subprocess
def test_importing_it_imports_nothing_heavy() -> None:
    modules = modules_imported_by("import augenmerk")
    assert not modules & HEAVY
    assert {name for name in modules if name.startswith("augenmerk")} == {"augenmerk"}


@pytest.mark.subprocess
def test_experiments_and_their_files_need_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from augenmerk import Experiment, ForcedToken, Head, HeadScaled, ModelReference, "
        "SavedExperiment\n"
        "from augenmerk import Translation, read_experiment_file, write_experiment_file\n"
        "experiment = Experiment('a', interventions=(HeadScaled(Head('cross', 0, 0)), "
        "ForcedToken(0, 'x')))\n"
        "saved = SavedExperiment(experiment, ModelReference('m', '0' * 64))\n"
        "write_experiment_file(saved, sys.argv[1])\n"
        "assert read_experiment_file(sys.argv[1]) == saved\n"
    )
    modules = modules_imported_by(code, str(tmp_path / "one.augenmerk"))
    assert not modules & {"torch", "spacy", "torchtext", "PySide6", "matplotlib"}


@pytest.mark.subprocess
def test_a_name_of_a_missing_extension_says_which_one() -> None:
    program = """
import sys
sys.modules["augenmerk.core.extensions.analyses"] = None
import augenmerk
try:
    augenmerk.head_importance
except ImportError as error:
    print(error)
print(augenmerk.Experiment("a").source_text)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    needs = (
        "augenmerk.head_importance needs the extension "
        "augenmerk.core.extensions.analyses.importance"
    )
    assert done.stdout.splitlines() == [f"{needs}, which is not installed.", "a"]
