"""The declaration of a reader of models of another project."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...registry import Registry
from .folder import ModelFolder
from .model import FolderModel, ImportedModel, ImportOptions


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads the models of one kind: folders with a file of settings, or single files with certain weights.

    Attributes:
        order: readers are asked from small to large.
        settings_file: a folder of this kind has a file of this name; empty if models are single files.
        read_folder: the model in such a folder, without its weights.
        weight: a file of this kind has a weight of this name; empty if models are folders.
        read_weights: the model of a file, from its weights by their names there.
    """

    order: int
    settings_file: str = ""
    read_folder: Callable[[ModelFolder, ImportOptions], FolderModel] | None = None
    weight: str = ""
    read_weights: Callable[[Path, dict[str, Any], ImportOptions], ImportedModel] | None = None


READERS: Registry[Reader] = Registry("augenmerk.readers", Reader, "reader of models")
"""The readers of models of other projects. All are extensions."""
