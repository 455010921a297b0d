"""The public API: complete, typed, and light to import."""

import ast
import builtins
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FunctionType
from typing import Literal, get_args, get_origin

import pytest

import augenmerk as api
from tests.test_import_rules import modules_imported_by

HEAVY = {
    *("torch", "spacy", "torchtext", "PySide6", "matplotlib", "sentencepiece", "numpy"),
    *("pandas", "xarray"),
}


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


OPAQUE = {
    *("Checkpoint", "CompiledExperiment", "CompiledTransformer", "DecodingRules", "PairPass"),
    *("SentenceChanges", "Transformer"),
}
"""Types that are passed on as they are: docs/python.md says that their members are not public."""
KNOWN = {*vars(builtins), "ViewScalar"}
"""Names in quotes that need not be public; the last is part of an alias for JSON values."""


def classes_in(hint: object) -> set[type]:
    """The classes that an annotation names; names in quotes are public, or of other packages."""
    if isinstance(hint, str):
        names = {name for name in re.findall(r"[\w.]+", hint) if "." not in name} - KNOWN
        return set().union(*(classes_in(getattr(api, name)) for name in names))
    if isinstance(hint, list | tuple):
        return set().union(*map(classes_in, hint))
    if get_origin(hint) is Literal:
        return set()
    members = classes_in(get_args(hint))
    return members | {hint} if isinstance(hint, type) else members


def public_annotations() -> Iterator[tuple[str, object]]:
    """The annotations of public functions, of public methods and attributes, by their names."""
    for name in api.__all__:
        value = getattr(api, name)
        if isinstance(value, FunctionType):
            yield name, annotations_of(value)
        if not isinstance(value, type) or name in OPAQUE:
            continue
        for member_name, member in inspect.getmembers_static(value):
            function = getattr(member, "fget", None) or getattr(member, "__func__", member)
            is_public = not member_name.startswith("_") or member_name == "__init__"
            if is_public and isinstance(function, FunctionType):
                yield f"{name}.{member_name}", annotations_of(function)
        if is_dataclass(value):
            yield from ((f"{name}.{field.name}", field.type) for field in fields(value))


def annotations_of(function: FunctionType) -> tuple[object, ...]:
    """Those of a function, in which names in quotes stay."""
    return tuple(inspect.unwrap(function).__annotations__.values())


def test_no_public_signature_names_a_private_type() -> None:
    public = {getattr(api, name) for name in api.__all__}
    private = {
        f"{name}: {kind.__name__}"
        for name, annotation in public_annotations()
        for kind in classes_in(annotation)
        if kind.__module__.startswith("augenmerk") and kind not in public
    }
    assert private == set()


def test_the_page_names_the_types_whose_members_are_not_public() -> None:
    page = (Path(__file__).parents[1] / "docs" / "python.md").read_text(encoding="utf-8")
    listed = page.partition("are passed on as they are")[0].rpartition("\n\n")[2]
    assert set(re.findall(r"`(\w+)`", listed)) == OPAQUE
