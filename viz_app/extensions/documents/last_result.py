"""A result that is the first picture of a start, which then needs no torch.

The last result is the one on the screen when the window closed. The shipped one is that of the
first example by the bundled model; `python -m tools.first_result` writes it.

A text file: the SHA-256 of the rest in hexadecimal digits, then the dataclasses as JSON, arrays in
base64.
"""

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from augenmerk.core import __version__
from augenmerk.core.config import RunConfig
from augenmerk.core.model.heads import ATTENTION_KINDS, attention_shapes
from augenmerk.core.storage import atomic_path, read_bytes
from augenmerk.core.translation.experiment import Experiment, Intervention
from augenmerk.core.translation.experiment_file import (
    experiment_from_json,
    experiment_to_json,
    intervention_from_json,
    part_to_json,
)
from augenmerk.core.translation.result import ExperimentResult

from ...state.model_info import ModelInfo

MAX_BYTES = 16_000_000
"""Longer translations are not kept: writing them would delay closing."""
_DIGITS = 64
FIRST_RESULT = "first-result.txt"
"""The resource with the result of the first example."""
Key = list[str | int]
"""Identifies the model that a stored result belongs to."""
_READERS: dict[Any, Callable[[Any], Any]] = {
    Experiment: experiment_from_json,
    Intervention: intervention_from_json,
    RunConfig: RunConfig.from_dict,
    Path: Path,
}


def key_of_file(model_path: Path) -> Key:
    """Version, and the file of the model as it is now: reading all of it would take as long as a
    translation.
    """
    status = model_path.stat()
    return [__version__, str(model_path.absolute()), status.st_size, status.st_mtime_ns]


def key_of_content(model_path: Path) -> Key:
    """The SHA-256 of the model's file: the same on all machines. Takes 8 to 60 ms."""
    return [hashlib.sha256(read_bytes(model_path)).hexdigest()]


def write_last_result(
    path: Path,
    result: ExperimentResult,
    model: ModelInfo,
    key_of: Callable[[Path], Key] = key_of_file,
) -> None:
    """Writes a result of a model that was read from a file, atomically; one that is too large
    removes the file.

    Args:
        path: the file to write.
        result: the result to store.
        model: made the result.
        key_of: computes the key that a reader must find.

    Raises:
        StorageError: the file cannot be written.
        OSError: the file of the model has disappeared.
    """
    assert model.path is not None
    stored = _to_json(result) | ({} if result.is_changed else {"changed": None})
    values = {
        "key": key_of(model.path),
        "result": stored,
        "model": replace(model, path=None),  # the reader knows it
    }
    content = json.dumps(values, default=_to_json).encode("ascii")
    if len(content) + _DIGITS > MAX_BYTES:
        path.unlink(missing_ok=True)
        return
    with atomic_path(path, durable=False) as temporary:
        temporary.write_bytes(_checksum(content) + content)


def read_last_result(
    path: Path, model_path: Path, key_of: Callable[[Path], Key] = key_of_file
) -> tuple[ExperimentResult, ModelInfo] | None:
    """The result that was written for this file of a model, and the model; None if there is none.

    Raises:
        Exception: of any kind; the file is damaged or cannot be read.
    """
    if not (path.exists() and model_path.exists()):
        return None
    data = read_bytes(path, MAX_BYTES)
    checksum, content = data[:_DIGITS], data[_DIGITS:]
    if checksum != _checksum(content):
        raise ValueError("it is damaged")
    values = json.loads(content)
    if values["key"] != key_of(model_path):
        return None
    stored = values["result"]
    result = _from_json(
        ExperimentResult, stored | {"changed": stored["changed"] or stored["original"]}
    )
    if stored["changed"] is None:
        result = replace(result, changed=result.original)
    result.check()
    model: ModelInfo = replace(_from_json(ModelInfo, values["model"]), path=model_path)
    maps = result.changed.maps
    roles = model.roles
    shapes = {kind: maps.of_kind(kind).shape[:2] for kind in ATTENTION_KINDS}
    if shapes != attention_shapes(model.run.model) or not (
        roles is None or roles.fits(model.run.model)
    ):
        raise ValueError("it is of another model")
    return result, model


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode("ascii")


def _to_json(value: Any) -> Any:
    """Values that JSON has, for a value that it lacks; those in them may be missing too."""
    if isinstance(value, np.ndarray):
        return {
            "shape": value.shape,
            "data": b64encode(value.astype("<f4").tobytes()).decode("ascii"),
        }
    if isinstance(value, Experiment):
        return experiment_to_json(value)
    if isinstance(value, Intervention):
        return part_to_json(value)
    if isinstance(value, RunConfig):
        return value.to_dict()
    if isinstance(value, Path):
        return str(value)
    return {field.name: getattr(value, field.name) for field in fields(value)}


_hints_of = cache(get_type_hints)


def _from_json(kind: Any, value: Any) -> Any:
    """The value of this type that `_to_json` wrote. Raises any error if it did not."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _READERS:
        return _READERS[kind](value)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints_of(kind)
        return kind(
            **{name: _from_json(hints[name], field_value) for name, field_value in value.items()}
        )
    if NoneType in arguments:
        return None if value is None else _from_json(arguments[0], value)
    if origin is np.ndarray:
        return np.frombuffer(b64decode(value["data"]), "<f4").reshape(value["shape"])
    if origin is dict:
        return {
            _from_json(arguments[0], key): _from_json(arguments[1], item)
            for key, item in value.items()
        }
    if origin is tuple:
        kinds = [arguments[0]] * len(value) if arguments[1:] == (...,) else arguments
        return tuple(
            _from_json(item_kind, item) for item_kind, item in zip(kinds, value, strict=True)
        )
    types = (int, float) if kind is float else (kind,)
    if not (value in arguments if origin is Literal else type(value) in types):
        raise TypeError(f"{value!r} is not {kind}")
    return value
