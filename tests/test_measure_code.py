"""What `tools.measure_code` counts."""

import ast
from pathlib import Path

import pytest

from tools.measure_code import code_lines, code_lines_by_package

pytestmark = pytest.mark.slow

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
    lines_of_code = [
        lines[number - 1].strip() for number in sorted(code_lines(SOURCE, ast.parse(SOURCE)))
    ]
    assert lines_of_code == [
        "LIMIT = 3  # a comment after code",
        "class Box:",
        'text = """not a',
        'docstring"""',
        "def open(self) -> None:",
        'print("open")',
    ]


@pytest.mark.subprocess
def test_lines_are_counted_for_each_package_as_if_no_comma_trailed(tmp_path: Path) -> None:
    sources = {
        "core/registry.py": "names = [\n    1,\n    2,\n]\n",
        "core/maps/roles/rules.py": "a = 1\n\n# a comment\nb = 2\n",
        "core/extensions/readers/marian/file.py": "a = 1\n",
    }
    for name, source in sources.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True)
        file.write_text(source, encoding="utf-8")
    counted = code_lines_by_package([tmp_path / name for name in sources], root=tmp_path)
    assert counted == {"core": 1, "core/extensions/readers": 1, "core/maps": 2}
