"""Two readers of the models of an imaginary project: a file of weights, or a folder with it.

Vocabularies and sizes are in a JSON file, next to the file of weights or in the folder.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from augenmerk.core.checkpoint.file import Checkpoint, ModelOrigin
from augenmerk.core.config import DataConfig, ModelConfig, RunConfig, TrainingConfig
from augenmerk.core.errors import ConfigError, ModelImportError
from augenmerk.core.extensions.readers.folder import ModelFolder
from augenmerk.core.extensions.readers.model import (
    FolderModel,
    ImportedModel,
    ImportOptions,
    imported_from_file,
)
from augenmerk.core.model.shapes import parameter_shapes
from augenmerk.core.text.codec import CodecPair
from augenmerk_example.declared import EXAMPLE_FOLDER, PREFIX

FORMAT = "The example of docs/extending.md"


class ExampleFolder(FolderModel):
    """The model in a folder. Raises `ModelImportError` if a file is missing or damaged."""

    kind, format = "example", FORMAT

    def __init__(self, folder: ModelFolder, options: ImportOptions) -> None:
        super().__init__(folder, options)
        self.config, self.data, self.codecs = read_facts(folder.file(EXAMPLE_FOLDER.settings_file))
        self.files = [folder.file(EXAMPLE_FOLDER.weights)]
        sizes = len(self.codecs.source.vocabulary), len(self.codecs.target.vocabulary)
        self.num_parameters = sum(map(math.prod, parameter_shapes(self.config, *sizes).values()))

    def convert(self, weights: Mapping[str, Any]) -> tuple[ModelConfig, dict[str, Any]]:
        """The settings of the model, and its weights by the names used here."""
        return self.config, {name: weight.float() for name, weight in weights.items()}


def read_example(path: Path, weights: dict[str, Any], options: ImportOptions) -> ImportedModel:
    """The model of a file.

    Raises `ModelImportError` if what lies next to it is missing or damaged.
    """
    model, data, codecs = read_facts(path.with_suffix(".json"))
    checkpoint = Checkpoint(
        run=RunConfig(
            "custom", "Imported by the example extension.", model, data, TrainingConfig()
        ),
        codecs=codecs,
        weights={name.removeprefix(PREFIX): weight for name, weight in weights.items()},
        origin=ModelOrigin("example", path.stem),
    )
    return imported_from_file(path, weights, options, FORMAT, checkpoint)


def read_facts(path: Path) -> tuple[ModelConfig, DataConfig, CodecPair]:
    """The settings and vocabularies in a JSON file. Raises `ModelImportError`."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        model, data = ModelConfig.from_dict(values["model"]), DataConfig.from_dict(values["data"])
        return model, data, CodecPair.from_dict(data, values["vocabularies"])
    except (OSError, ValueError, KeyError, TypeError, ConfigError) as error:
        raise ModelImportError(
            f"{path} cannot be read ({error}). Use another copy of the model."
        ) from error
