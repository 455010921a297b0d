"""What code and documentation refer to exists: packages that are imported, files, and sections of
documents."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
OWN_PACKAGES = {"augenmerk", "augenmerk_example", "benchmarks", "core", "tests", "tools", "viz_app"}
DISTRIBUTIONS = {
    "PIL": "pillow",
    "PySide6": "PySide6-Essentials",
    "google": "tensorboard",
    "pytestqt": "pytest-qt",
    "shiboken6": "PySide6-Essentials",
    "yaml": "PyYAML",
}
"""The distribution of each package that has another name."""
OF_ORACLES = {"joeynmt", "subword_nmt"}
"""Packages of other systems, which a script that compares with them needs in an environment of its
own."""
PLACEHOLDER = re.compile(r"LANGUAGE|NAME|NN-")
FOLDERS = "benchmarks|core|docs|resources|tests|tools|viz_app"
FILE_NAME = re.compile(
    rf"`((?:{FOLDERS})/[\w./-]*[\w-]\.(?:css|js|json|md|mjs|py|safetensors|sh|toml|tsv))`"
)
SECTION = re.compile(r"(README|CONTRIBUTING), \*([A-Z][^*\n()]+)\*")


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", *patterns],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    )
    return [REPOSITORY / name for name in listed.stdout.split("\0") if name]


def imported_packages(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.slow
@pytest.mark.subprocess
def test_every_imported_package_is_declared() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    requirements = [
        *project["project"]["dependencies"],
        *(name for extra in project["project"]["optional-dependencies"].values() for name in extra),
        *(name for group in project["dependency-groups"].values() for name in group),
        *project["build-system"]["requires"],
    ]
    declared = {re.split(r"[^\w.-]", requirement)[0].lower() for requirement in requirements}
    undeclared = {
        f"{path.relative_to(REPOSITORY)}: {package}"
        for path in tracked("*.py")
        for package in imported_packages(path)
        if package not in OWN_PACKAGES | OF_ORACLES | sys.stdlib_module_names
        if DISTRIBUTIONS.get(package, package).lower().replace("_", "-") not in declared
    }
    assert undeclared == set()


@pytest.mark.subprocess
def test_every_file_that_is_named_exists() -> None:
    texts = [path for path in tracked("*.py", "*.md", "*.js") if path.name != "CHANGELOG.md"]
    missing = {
        f"{path.relative_to(REPOSITORY)}: {name}"
        for path in texts
        for name in FILE_NAME.findall(path.read_text(encoding="utf-8"))
        if not PLACEHOLDER.search(name) and not (REPOSITORY / name).exists()
    }
    assert missing == set()


@pytest.mark.subprocess
def test_every_section_that_is_named_exists() -> None:
    missing = {
        f"{path.relative_to(REPOSITORY)}: {document}, {title}"
        for path in tracked("*.py", "*.md")
        for document, title in SECTION.findall(path.read_text(encoding="utf-8"))
        if not re.search(
            rf"^#+ {re.escape(title)}$",
            (REPOSITORY / f"{document}.md").read_text("utf-8"),
            re.MULTILINE,
        )
    }
    assert missing == set()
