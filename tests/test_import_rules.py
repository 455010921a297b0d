"""The import rules of `docs/architecture.md`, each checked in a fresh interpreter."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.extensions.training.runs import copy_run, record

pytestmark = pytest.mark.subprocess

REPOSITORY = Path(__file__).resolve().parent.parent
SCREEN = ("PySide6", "shiboken6", "matplotlib", "augenmerk.viz_app")

IMPORT_WITH_MODULES_HIDDEN = """
import importlib, pkgutil, sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if any(name == hidden or name.startswith(hidden + ".") for hidden in sys.argv[2].split(",")):
            raise ModuleNotFoundError(f"hidden by the test: {name}", name=name)

sys.meta_path.insert(0, Hidden())
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""


def run_python(*arguments: str, cwd: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    """Runs a fresh interpreter, in the repository unless another folder is named."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def modules_imported_by(*arguments: str) -> set[str]:
    """Top-level and dotted names of the modules in a fresh interpreter after it ran `-c code`."""
    code = f"{arguments[0]}\nimport sys\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    result = run_python("-c", code, *arguments[1:])
    assert result.returncode == 0, result.stderr
    return set(result.stderr.split())


@pytest.mark.slow
def test_every_module_of_core_imports_with_the_screen_hidden() -> None:
    result = run_python("-c", IMPORT_WITH_MODULES_HIDDEN, "augenmerk.core", ",".join(SCREEN))
    assert result.returncode == 0, result.stderr


def test_the_state_of_the_window_imports_with_screen_and_torch_hidden() -> None:
    hidden = ("PySide6", "shiboken6", "matplotlib", "torch", "spacy")
    result = run_python(
        "-c", IMPORT_WITH_MODULES_HIDDEN, "augenmerk.viz_app.state", ",".join(hidden)
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_training_imports_with_spacy_hidden() -> None:
    """A GPU server without spaCy trains from a prepared file."""
    code = IMPORT_WITH_MODULES_HIDDEN.replace(
        "package = ", "import augenmerk.core.extensions.training.corpora; package = "
    )
    result = run_python(
        "-c", code, "augenmerk.core.extensions.training", "spacy," + ",".join(SCREEN)
    )
    assert result.returncode == 0, result.stderr


OPEN_AND_RECOGNIZE = """
import sys
from pathlib import Path
from augenmerk.core.recognizers import recognize
from augenmerk.core.resources import bundled_model_path

readers = "augenmerk.core.extensions.readers."
print(recognize(bundled_model_path()), readers + "declared" in sys.modules)
print(recognize(Path(sys.argv[1])).source, readers + "declared" in sys.modules, "torch" in sys.modules)
"""


def test_readers_are_looked_up_for_foreign_files_alone_and_without_torch(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("data: {}")
    result = run_python("-c", OPEN_AND_RECOGNIZE, str(tmp_path))
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["None False", f"{tmp_path} True False"]


RUN_WITH_SCREEN_HIDDEN = """
import sys
from importlib.abc import MetaPathFinder

class Hidden(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("PySide6", "shiboken6", "matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
from augenmerk.viz_app.launch import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "package"),
    [
        (("app",), "PySide6-Essentials"),
        (("app", "--screenshot", "window.png"), "PySide6-Essentials"),
        (("figure", "--text", "Ein Mann steht.", "--out", "map.png"), "matplotlib"),
    ],
)
def test_a_command_without_its_library_says_in_one_line_what_to_install(
    tmp_path: Path, arguments: tuple[str, ...], package: str
) -> None:
    result = run_python("-c", RUN_WITH_SCREEN_HIDDEN, *arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stdout == ""
    assert (
        result.stderr
        == f"augenmerk: {package} is not installed. Install it: pip install {package}\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.training
def test_charts_without_matplotlib_say_in_one_line_what_to_install(tmp_path: Path) -> None:
    record(copy_run(num_epochs=1), tmp_path / "run")
    out = tmp_path / "charts.png"
    result = run_python(
        "-c", RUN_WITH_SCREEN_HIDDEN, "charts", str(tmp_path / "run"), "--out", str(out)
    )
    assert result.returncode == 2
    assert (
        result.stderr
        == "augenmerk: matplotlib is not installed. Install it: pip install matplotlib\n"
    )


@pytest.mark.slow
def test_everything_else_works_without_the_screen(
    tmp_path: Path, untrained_checkpoint: Path
) -> None:
    model = ("--checkpoint", str(untrained_checkpoint))
    page = tmp_path / "maps.html"
    for arguments in (
        ("--help",),
        ("translate", "Ein Mann steht.", *model),
        ("figure", "--text", "Ein Mann steht.", "--out", str(page), *model),
    ):
        result = run_python("-c", RUN_WITH_SCREEN_HIDDEN, *arguments)
        assert result.returncode == 0, result.stderr
    assert page.is_file()


def test_nothing_imports_core_or_viz_app_as_packages_of_their_own() -> None:
    """That would load every module a second time: docs/adr/0011.

    In them, imports of their own modules are relative.
    """
    top_level = re.compile(r"^\s*(?:from|import) (?:core|viz_app)\b", re.MULTILINE)
    wordy = re.compile(r"^\s*from augenmerk\.(core|viz_app)\b", re.MULTILINE)
    for path in (
        REPOSITORY / folder
        for folder in ("core", "viz_app", "tests", "benchmarks", "tools", "src/augenmerk")
    ):
        for file in path.rglob("*.py"):
            source = file.read_text(encoding="utf-8")
            assert not top_level.search(source), file
            if path.name in ("core", "viz_app"):
                assert path.name not in wordy.findall(source), file


def test_import_contract_holds() -> None:
    result = run_python(
        "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_importing_the_packages_imports_nothing_else() -> None:
    modules = modules_imported_by(
        "import augenmerk, augenmerk.core, augenmerk.viz_app.launch, augenmerk.core.errors"
    )
    assert not modules & {"torch", "numpy", "spacy", "matplotlib", "PySide6", "torchtext"}


def test_help_lists_the_window_and_the_commands() -> None:
    result = run_python("-m", "augenmerk", "--help")
    assert result.returncode == 0, result.stderr
    for word in (
        "app",
        "--sentence",
        "--screenshot",
        "train",
        "translate",
        "evaluate",
        "data",
        "info",
    ):
        assert word in result.stdout


def test_command_line_without_window_knows_the_same_commands() -> None:
    result = run_python("-m", "augenmerk", "--help")
    assert result.returncode == 0, result.stderr
    for word in ("train", "translate", "evaluate", "data", "info"):
        assert word in result.stdout


@pytest.mark.slow
def test_translating_imports_neither_screen_nor_training(untrained_checkpoint: Path) -> None:
    run = "import sys\nfrom augenmerk.viz_app.launch import main\nassert main(sys.argv[1:]) == 0"
    modules = modules_imported_by(
        run, "translate", "Ein Mann steht.", "--checkpoint", str(untrained_checkpoint)
    )
    assert "torch" in modules
    assert not {
        name for name in modules if name.split(".")[0] in {"matplotlib", "PySide6", "shiboken6"}
    }
    assert not {
        name
        for name in modules
        if name.startswith("augenmerk.core.extensions.training.")
        and name != "augenmerk.core.extensions.training.events"
    }
