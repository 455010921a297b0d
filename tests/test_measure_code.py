"""What `tools.measure_code` counts."""

import ast

import pytest

from tools.measure_code import ROOT, code_lines, measure, product_files

SOURCE = '''"""A module.

Two lines of text.
"""

# a comment
LIMIT = 3  # a comment after code
"""What the constant means."""


class Box:
    """A class."""

    text = """not a
    docstring"""

    def open(self) -> None:
        """Opens it."""
        print("open")
'''


def test_blank_lines_comments_and_docstrings_are_no_code() -> None:
    lines = SOURCE.splitlines()
    found = [lines[number - 1].strip() for number in sorted(code_lines(SOURCE, ast.parse(SOURCE)))]
    assert found == [
        "LIMIT = 3  # a comment after code",
        "class Box:",
        'text = """not a',
        'docstring"""',
        "def open(self) -> None:",
        'print("open")',
    ]


@pytest.mark.subprocess
def test_the_measured_files_are_those_of_the_product_alone() -> None:
    folders = {file.relative_to(ROOT).parts[0] for file in product_files()}
    assert folders == {"core", "viz_app"}


@pytest.mark.heavy
@pytest.mark.subprocess
def test_a_class_with_many_methods_is_named_with_their_number() -> None:
    size = measure(sorted(product_files(), key=lambda file: file.stat().st_size)[-20:])
    file = ROOT / size.large_classes[0][1]
    num_methods, _, name = size.large_classes[0]
    found = next(
        node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if getattr(node, "name", "") == name
    )
    assert isinstance(found, ast.ClassDef)
    assert sum(isinstance(each, ast.FunctionDef) for each in found.body) == num_methods
