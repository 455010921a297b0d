"""Measure the size of the product, and the code that runs between a key press and the resulting
picture.

    python -m tools.measure_code            # lines, classes
    python -m tools.measure_code --trace    # also type a letter and record the calls

Blank lines, pure comments and docstrings are not code lines. For the kernel, the extensions and
each of their packages, they are counted as the formatter writes them where no trailing comma keeps
lines apart. A class counts the methods in its own body.

The trace uses the bundled model, starts with a key press and ends one second after the last
resulting call. It counts calls of functions of `core` and `viz_app` in all threads. Depth is the
largest number of these functions active in one thread at the same time.
"""

import argparse
import ast
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("core", "viz_app")
MANY_METHODS = 20
SENTENCE = "Zwei Hunde spielen im Schne"
LETTER = "e"
QUIET_SECONDS = 1.0
SETTLING_SECONDS = 5.0
"""Time for delayed work after a translation: saving the session, computing roles."""
LONGEST_TRACE_SECONDS = 60.0
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


class Trace:
    """Counts the calls of the product's functions in every thread that starts after `install`."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.num_calls = 0
        self.depth = 0
        self.last_call = 0.0
        self._is_recording = False
        self._active = threading.local()
        self._places: dict[str, str | None] = {}

    def install(self) -> None:
        """Observes this thread and all later ones."""
        threading.setprofile(self._observe)
        sys.setprofile(self._observe)

    def start(self) -> None:
        """Counts from here on."""
        self.last_call = time.perf_counter()
        self._is_recording = True

    def stop(self) -> None:
        """Counts no more."""
        self._is_recording = False
        sys.setprofile(None)
        threading.setprofile(None)

    def _observe(self, frame: FrameType, event: str, _argument: object) -> None:
        if not self._is_recording or event not in ("call", "return"):
            return
        file = self._file_of(frame.f_code.co_filename)
        if file is None:
            return
        depth = getattr(self._active, "depth", 0)
        if event == "return":
            self._active.depth = max(0, depth - 1)
            return
        self._active.depth = depth + 1
        self.files.add(file)
        self.num_calls += 1
        self.depth = max(self.depth, depth + 1)
        self.last_call = time.perf_counter()

    def _file_of(self, name: str) -> str | None:
        """The product's file of that name, relative to the repository; None for any other."""
        if name not in self._places:
            path = Path(name).resolve()
            is_ours = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FOLDERS
            self._places[name] = path.relative_to(ROOT).as_posix() if is_ours else None
        return self._places[name]


def trace_key_press() -> Trace:
    """Opens the window with the bundled model, types the last letter of a sentence and records what
    runs.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QSettings
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from augenmerk.viz_app.main_window import MainWindow
    from augenmerk.viz_app.preferences import Preferences
    from augenmerk.viz_app.theme import Theme

    trace = Trace()
    trace.install()
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    app.setCursorFlashTime(0)  # a blinking cursor paints the field for ever
    with tempfile.TemporaryDirectory() as folder:
        preferences = Preferences(
            QSettings(str(Path(folder) / "settings.ini"), QSettings.Format.IniFormat)
        )
        Theme.of_choice("light").apply(app)
        window = MainWindow(preferences, sentence=SENTENCE)
        window.resize(1440, 900)
        shown: list[object] = []
        window.translation_shown.connect(shown.append)
        window.show()
        _process_until(app, lambda: bool(shown))
        field = window.translate_page.sentence.input
        field.setFocus()
        field.moveCursor(field.textCursor().MoveOperation.End)
        _process_for(app, SETTLING_SECONDS)
        shown.clear()
        trace.start()
        QTest.keyClicks(field, LETTER)
        _process_until(
            app, lambda: bool(shown) and time.perf_counter() - trace.last_call > QUIET_SECONDS
        )
        trace.stop()
        window.close()
        window.deleteLater()
    return trace


def _process_until(app: "QApplication", is_done: Callable[[], bool]) -> None:
    end = time.perf_counter() + LONGEST_TRACE_SECONDS
    while not is_done():
        if time.perf_counter() > end:
            raise SystemExit("The window showed no translation within a minute.")
        app.processEvents()
        time.sleep(0.001)


def _process_for(app: "QApplication", seconds: float) -> None:
    end = time.perf_counter() + seconds
    _process_until(app, lambda: time.perf_counter() > end)


def main() -> None:
    """Prints the measures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--trace", action="store_true", help="also record what runs when a letter is typed"
    )
    options = parser.parse_args()
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
    if options.trace:
        trace = trace_key_press()
        print(f"files from key press to picture      {len(trace.files):>8,}")
        print(f"calls                                {trace.num_calls:>8,}")
        print(f"depth                                {trace.depth:>8,}")


if __name__ == "__main__":
    main()
