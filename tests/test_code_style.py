"""Rules for code that the linter does not know."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
SEVERAL_NAMES = re.compile(r"^    \w+(, \w+)+:", re.MULTILINE)


def product_nodes() -> Iterator[tuple[Path, ast.AST]]:
    for folder in ("core", "viz_app"):
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                yield path.relative_to(REPOSITORY), node


@pytest.mark.heavy
def test_each_attribute_is_documented_in_an_entry_of_its_own() -> None:
    """The reference shows an entry of several names as one attribute."""
    together = {
        f"{path}: {node.name}"
        for path, node in product_nodes()
        if isinstance(node, ast.ClassDef)
        for section in re.split(r"\n(?=\w+:\n)", ast.get_docstring(node) or "")
        if section.startswith("Attributes:") and SEVERAL_NAMES.search(section)
    }
    assert together == set()


@pytest.mark.heavy
def test_no_conditional_expression_is_a_part_of_another() -> None:
    nested = {
        f"{path}:{node.lineno}"
        for path, node in product_nodes()
        if isinstance(node, ast.IfExp)
        if any(isinstance(part, ast.IfExp) for part in (node.test, node.body, node.orelse))
    }
    assert nested == set()
