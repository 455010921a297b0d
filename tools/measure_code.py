"""Measure the size of the product: `python -m tools.measure_code`.

Blank lines, pure comments and docstrings are not code lines. For the kernel, the extensions and
each of their packages, they are counted as the formatter writes them where no trailing comma keeps
lines apart. A class counts the methods in its own body.
"""

import argparse
import ast
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("core", "viz_app")
MANY_METHODS = 20
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Size:
    """The size of a group of source files: files, lines in all, code lines, and classes with many
    methods.

    Attributes:
        large_classes: number of methods, file and name of each, largest first.
    """

    num_files: int
    num_lines: int
    num_code_lines: int
    large_classes: tuple[tuple[int, str, str], ...]


def measure(files: list[Path], root: Path = ROOT) -> Size:
    """The size of these Python files, which lie in `root`."""
    sources = {file: file.read_text(encoding="utf-8") for file in files}
    trees = {file: ast.parse(source) for file, source in sources.items()}
    large = (
        row for file, tree in trees.items() for row in _large_classes(file.relative_to(root), tree)
    )
    return Size(
        num_files=len(files),
        num_lines=sum(len(source.splitlines()) for source in sources.values()),
        num_code_lines=sum(len(code_lines(sources[file], trees[file])) for file in files),
        large_classes=tuple(sorted(large, reverse=True)),
    )


def code_lines(source: str, tree: ast.Module) -> set[int]:
    """The numbers, from 1, of the lines that are neither blank, nor a comment, nor part of a
    docstring.

    A string that documents an attribute or a constant counts as a docstring.
    """
    lines = enumerate(source.splitlines(), start=1)
    written = {
        number for number, line in lines if line.strip() and not line.lstrip().startswith("#")
    }
    return written.difference(
        *(range(node.lineno, (node.end_lineno or 0) + 1) for node in _docstrings(tree))
    )


def _docstrings(tree: ast.Module) -> Iterator[ast.Expr]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node


def _large_classes(file: Path, tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            num_methods = sum(isinstance(member, _FUNCTIONS) for member in node.body)
            if num_methods > MANY_METHODS:
                yield num_methods, file.as_posix(), node.name


def package_of(file: Path) -> str:
    """The package of a file, relative to the repository: `core/maps`, `core/extensions/readers`, or
    `core` itself.
    """
    folders = file.parent.parts
    return "/".join(folders[: 3 if "extensions" in folders else 2])


def code_lines_by_package(files: list[Path], root: Path = ROOT) -> dict[str, int]:
    """Code lines of each package, of a copy of the files in 120 columns without trailing commas."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        copies = {file: Path(folder) / file.relative_to(root) for file in files}
        for file, copy in copies.items():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
        settings = (
            "--isolated",
            "--line-length",
            "120",
            "--config",
            "format.skip-magic-trailing-comma=true",
        )
        subprocess.run(
            [sys.executable, "-m", "ruff", "format", "--quiet", *settings, folder], check=True
        )
        for file, copy in copies.items():
            counts[package_of(file.relative_to(root))] += measure(
                [copy], Path(folder)
            ).num_code_lines
    return dict(sorted(counts.items()))


def product_files() -> list[Path]:
    """The Python files of the product that git tracks, without tests, benchmarks and tools."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *(f"{folder}/*.py" for folder in FOLDERS)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return sorted(
        ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()
    )


def main() -> None:
    """Prints the measures."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    files = product_files()
    size, packages = measure(files), code_lines_by_package(files)
    print(f"files                                {size.num_files:>8,}")
    print(f"lines                                {size.num_lines:>8,}")
    print(f"code lines                           {size.num_code_lines:>8,}")
    of_extensions = sum(lines for package, lines in packages.items() if "/extensions" in package)
    for package, lines in packages.items():
        print(f"  {package:<34} {lines:>8,}")
    print(f"code lines of the kernel             {sum(packages.values()) - of_extensions:>8,}")
    print(f"code lines of extensions             {of_extensions:>8,}")
    print(f"classes with more than {MANY_METHODS} methods    {len(size.large_classes):>8,}")
    for num_methods, file, name in size.large_classes:
        print(f"  {num_methods:>3}  {file}: {name}")


if __name__ == "__main__":
    main()
