"""Files of other projects, recognized by their names and first bytes. No torch."""

from pathlib import Path

from augenmerk.core.errors import ModelImportError

_START_BYTES = 256
_LFS_START = b"version https://git-lfs.github.com/spec/"
_WEB_STARTS = (b"<!doctype", b"<html", b"<?xml")


def start_of(path: Path) -> bytes:
    """The first 256 bytes of a file. Raises `ModelImportError`."""
    try:
        with path.open("rb") as file:
            return file.read(_START_BYTES)
    except OSError as error:
        raise ModelImportError(f"Cannot read {path}: {error.strerror or error}. Check its permissions.") from error


def is_web_page(start: bytes) -> bool:
    """Whether these are the first bytes of an HTML or XML page."""
    return start.lstrip().lower().startswith(_WEB_STARTS)


def kind_of_other_file(path: Path) -> str:
    """The kind of a file that was chosen by mistake instead of a model, with advice; empty for other files."""
    start = start_of(path)
    if start.startswith(_LFS_START):
        return "a pointer of Git LFS, not the file itself: fetch it with git lfs pull"
    if is_web_page(start):
        return "a web page, not a file of a model"
    return "" if start.strip() else "empty"
