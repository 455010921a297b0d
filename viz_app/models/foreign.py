"""Which files and folders are models of other projects. No torch, no Qt: it is asked before a model is opened."""

from pathlib import Path

from core.storage import open_file
from core.tensor_file import open_tensor_file

_PYTORCH_STARTS = (b"PK\x03\x04", b"\x80")
"""Of the two ways in which torch has saved: an archive, and before that a bare pickle."""
_CONFIG = "config.json"


def foreign_source(path: Path) -> Path | None:
    """What is to be imported if somebody opens `path`; None if it is no model of another project.

    A file of a Hugging Face folder stands for its folder. Whether the model can be read shows when it is.
    """
    if path.is_dir():
        return path
    try:
        with open_file(path) as file:
            start = file.read(9)
    except OSError:
        return None
    is_foreign = start.startswith(_PYTORCH_STARTS) or (start[8:9] == b"{" and not _is_ours(path))
    if path.name == _CONFIG or (is_foreign and (path.parent / _CONFIG).is_file()):
        return path.parent
    return path if is_foreign else None


def _is_ours(path: Path) -> bool:
    """Whether a safetensors file has a description of ours. One that is damaged is left to who reads ours."""
    try:
        with open_tensor_file(path, "numpy") as file:
            return file.description is not None
    except (OSError, ValueError):
        return True
