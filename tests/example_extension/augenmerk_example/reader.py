"""A reader of the models of an imaginary project: a file of weights, and next to it vocabularies and sizes as JSON."""

import json
from pathlib import Path
from typing import Any

from augenmerk.core.checkpoint.file import Checkpoint, Origin
from augenmerk.core.config import DataConfig, ModelConfig, RunConfig, TrainingConfig
from augenmerk.core.errors import ConfigError, ModelImportError
from augenmerk.core.extensions.readers.model import ImportedModel, ImportOptions, imported_from_file
from augenmerk.core.extensions.readers.reader import Reader
from augenmerk.core.text.codec import CodecPair

PREFIX = "example/"
"""Of the names of the weights; the rest of them is as here."""


def read_example(path: Path, weights: dict[str, Any], options: ImportOptions) -> ImportedModel:
    """The model of a file. Raises `ModelImportError` if what lies next to it is missing or damaged."""
    described = path.with_suffix(".json")
    try:
        values = json.loads(described.read_text(encoding="utf-8"))
        model, data = ModelConfig.from_dict(values["model"]), DataConfig.from_dict(values["data"])
        codecs = CodecPair.from_dict(data, values["vocabularies"])
    except (OSError, ValueError, KeyError, TypeError, ConfigError) as error:
        raise ModelImportError(f"{described} cannot be read ({error}). Put it next to {path.name}.") from error
    checkpoint = Checkpoint(
        run=RunConfig("custom", "Imported by the example extension.", model, data, TrainingConfig()),
        codecs=codecs,
        weights={name.removeprefix(PREFIX): weight for name, weight in weights.items()},
        origin=Origin("example", path.stem),
    )
    return imported_from_file(path, weights, options, "The example of docs/extending.md", checkpoint)


EXAMPLE = Reader(order=100, weight=f"{PREFIX}output.weight", read_weights=read_example)
