"""Options that name what a command writes.

No file that the command reads or that holds something else is replaced.

`OptionParser` checks them after parsing, before any work.
"""

import argparse
import codecs
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import StorageError
from ..run_files import belongs_to_run
from ..storage import is_same_file, open_file

_START_BYTES = 4096


@dataclass(frozen=True)
class FileKind:
    """A kind of file that a command writes.

    Attributes:
        name: in messages, with an article.
        recognizes: whether a file is of this kind, by its path and its first bytes.
        suffixes: endings of its names, which distinguish the kinds that one command writes.
    """

    name: str
    recognizes: Callable[[Path, bytes], bool]
    suffixes: tuple[str, ...] = ()


def _begins(*starts: bytes) -> Callable[[Path, bytes], bool]:
    return lambda path, start: (
        start.removeprefix(codecs.BOM_UTF8).lstrip().lower().startswith(starts)
    )


def _has_arrays(path: Path, start: bytes) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return all(name.endswith(".npy") for name in archive.namelist())
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


ARRAYS = FileKind("an NPZ file", _has_arrays, (".npz",))
NUMBERS = FileKind("JSON by augenmerk analyze", _begins(b'{"version": '), (".json",))
LINKS = FileKind("a file of word links", _begins(b"line\tlinks\n"))
STEPS = FileKind("a table of steps", _begins(b"step,epoch,"), (".csv",))
WEB_PAGE = FileKind("a web page", _begins(b"<!doctype html"), (".html", ".htm"))
PICTURES = (
    FileKind("a PNG picture", _begins(b"\x89png"), (".png",)),
    FileKind("an SVG picture", lambda path, start: b"<svg" in start, (".svg",)),
    FileKind("a PDF file", _begins(b"%pdf"), (".pdf",)),
)
FILMS = (
    FileKind("a GIF picture", _begins(b"gif8"), (".gif",)),
    FileKind("an MP4 film", lambda path, start: start[4:8] == b"ftyp", (".mp4",)),
)
_OTHERS = (ARRAYS, NUMBERS, LINKS, WEB_PAGE, *PICTURES, *FILMS)


def _is_plain_text(path: Path, start: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=len(start) < _START_BYTES)
    except UnicodeDecodeError:
        return False
    return b"\0" not in start and not any(kind.recognizes(path, start) for kind in _OTHERS)


TEXT = FileKind("plain text", _is_plain_text)


class OutputFile:
    """The type of an option that names a file to write.

    Args:
        kinds: one kind, or several that its name distinguishes.
    """

    def __init__(self, *kinds: FileKind) -> None:
        self._kinds = kinds

    def __call__(self, text: str) -> Path:
        """The path. Raises `argparse.ArgumentTypeError` if it is empty."""
        return path_of(text)

    def check(self, target: Path, inputs: Iterable[Path]) -> None:
        """Raises `StorageError` if writing to the target would lose a file."""
        check_not_read(target, inputs)
        endings = {suffix: kind for kind in self._kinds for suffix in kind.suffixes}
        kind = self._kinds[0] if len(self._kinds) == 1 else endings.get(target.suffix.lower())
        if kind is not None and target.is_file():
            _check_replaceable(target, kind)


def path_of(text: str) -> Path:
    """The path that an option names. Raises `argparse.ArgumentTypeError` if it is empty."""
    if not text:
        raise argparse.ArgumentTypeError(
            "the path is empty. Enter a path, or . for the current folder. A shell variable may "
            "be empty."
        )
    return Path(text)


def check_outputs(actions: Iterable[argparse.Action], options: argparse.Namespace) -> None:
    """Check the options of type `OutputFile` against all others, which may name inputs.

    Raises:
        StorageError: a file to write is one of the inputs, or has something else in it.
    """
    values = vars(options)
    if values.get("resume"):
        return  # a run replaces its own files
    for action in actions:
        if isinstance(action.type, OutputFile) and isinstance(
            target := values.get(action.dest), Path
        ):
            others = (value for name, value in values.items() if name != action.dest)
            action.type.check(target, _paths_in(others))


def _paths_in(values: Iterable[object]) -> Iterator[Path]:
    """The paths among values of options. A text may be one, too."""
    for value in values:
        if isinstance(value, str | Path):
            yield Path(value)
        elif isinstance(value, list | tuple):
            yield from _paths_in(value)


def check_not_read(target: Path, inputs: Iterable[Path]) -> None:
    """Raises `StorageError` if the target is one of the inputs."""
    if any(is_same_file(target, path) for path in inputs):
        raise StorageError(
            f"Cannot write {target}: it is read by this command. Choose another file name."
        )


def _check_replaceable(target: Path, kind: FileKind) -> None:
    """Raises `StorageError` if the existing file is of another kind, or belongs to a run."""
    if belongs_to_run(target):
        raise StorageError(
            f"Cannot write {target}: it belongs to the run in this folder. Choose another file "
            "name."
        )
    try:
        with open_file(target) as file:
            start = file.read(_START_BYTES)
    except OSError:
        return  # writing will report it
    if start and not kind.recognizes(target, start):
        raise StorageError(
            f"Cannot write {target}: it is an existing file, but not {kind.name}. Choose another "
            "file name."
        )
