"""Recognizes files and folders with models of other projects. No torch, no Qt: runs before a model is opened."""

from pathlib import Path

from augenmerk.core.storage import open_file
from augenmerk.core.tensor_file import open_tensor_file
from augenmerk.core.translation.experiment_file import SUFFIX

_PYTORCH_STARTS = (b"PK\x03\x04", b"\x80")
"""Of the two ways in which torch has saved: an archive, and before that a bare pickle."""
_CONFIGS = ("config.json", "config.yaml")
"""Of Hugging Face, and of JoeyNMT."""


def foreign_source(path: Path) -> Path | None:
    """The file or folder to import when `path` is opened; None if it is no model of another project.

    A file of a folder of Hugging Face or JoeyNMT stands for its folder. Whether the model can be read shows when it
    is. A folder named like an experiment is none: it is refused as an experiment.
    """
    if path.is_dir():
        return path if path.suffix != SUFFIX else None
    try:
        with open_file(path) as file:
            start = file.read(9)
    except OSError:
        return None
    is_safetensors = start[8:9] == b"{"  # asked first: the length of its header, before that, may begin like a pickle
    is_foreign = not _is_ours(path) if is_safetensors else start.startswith(_PYTORCH_STARTS)
    if path.name in _CONFIGS or (is_foreign and any((path.parent / name).is_file() for name in _CONFIGS)):
        return path.parent
    return path if is_foreign else None


def _is_ours(path: Path) -> bool:
    """Whether a safetensors file is a checkpoint of Augenmerk, or is damaged, which its reader reports."""
    try:
        with open_tensor_file(path, "numpy") as file:
            return file.description is not None
    except (OSError, ValueError):
        return True
