"""The origin of exported numbers: JSON, NPZ, and tables with a JSON file next to them."""

import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ExperimentFileError
from ...strict_json import JsonError, parse
from ...translation.experiment_file import naming_the_file
from ..provenance import BESIDE_TABLE, beside_table, content_of

MAX_DEPTH = 20
"""Maximum depth of nested lists and objects in numbers as JSON."""
MAX_ARRAY_BYTES = 8_000_000
"""Maximum size of the origin in an NPZ file, four bytes a character."""
_NESTED = frozenset(
    {"model", "output", "interventions", "experiment_values", "experiments", "settings", "options"}
)
"""Facts that are no single value; other lists and objects are the numbers."""
_OF_WINDOW = "provenance"
"""Array with the origin as JSON in NPZ files of the window."""
_OF_COMMANDS = (
    *("version", "model/name", "model/digest", "source", "translation", "into"),
    *("output/type", "output/size", "output/length_penalty", "output/text"),
    *("interventions", "measure"),
)
"""Arrays of one fact each in NPZ files of commands."""
_MARKS = frozenset({"version", "model_digest", "settings_digest"})
"""Facts of which an origin has at least one."""
_DAMAGES = (
    *(ValueError, OSError, EOFError, RuntimeError),  # the last of an encrypted file
    *(zipfile.BadZipFile, zlib.error),
)


def is_number_file(path: Path) -> bool:
    """Whether a file is one of numbers, by its name and by what is next to it."""
    return path.suffix.lower() in (".csv", ".json", ".npz") or beside_table(path).is_file()


def first_index(path: Path) -> int:
    """What the facts about numbers count layers, heads and steps from.

    0 in JSON; 1 in a file next to a table, as in the table. NPZ files have no such facts.
    """
    is_json = path.suffix.lower() == ".json" and not path.name.endswith(BESIDE_TABLE)
    return 0 if is_json else 1


def origin_of_numbers(path: Path) -> dict[str, Any]:
    """The facts about numbers, without the numbers.

    Args:
        path: a JSON or NPZ file, a table, or the JSON file next to a table.

    Raises:
        ExperimentFileError: the file cannot be read, or does not say its origin.
    """
    is_table = path.suffix.lower() not in (".json", ".npz")
    source = beside_table(path) if is_table else path
    if is_table and not source.is_file():
        raise ExperimentFileError(
            f"There is no file {source}. The origin of a table is in a file of this name next to "
            "it; choose numbers that Augenmerk exported."
        )
    content = content_of(source, "numbers by Augenmerk")
    with naming_the_file(source, "numbers by Augenmerk"):
        is_archive = source.suffix.lower() == ".npz"
        values = _values_in_archive(content) if is_archive else _value_of(content)
        facts = _facts_in(values) if isinstance(values, Mapping) else {}
        if not _MARKS & facts.keys():
            raise JsonError("It does not say its origin, the model or the training.")
    return facts


def _facts_in(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in values.items()
        if name != "url" and (name in _NESTED or not isinstance(value, list | Mapping))
    }


def _value_of(text: bytes) -> object:
    return parse(text, max_depth=MAX_DEPTH).value


def _values_in_archive(content: bytes) -> object:
    """The origin in an NPZ file of the window, or of a command. Raises `JsonError`."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            if f"{_OF_WINDOW}.npy" in archive.namelist():
                return _value_of(str(_array_in(archive, _OF_WINDOW)).encode("utf-8", "replace"))
            facts: dict[str, Any] = {}
            for name in _OF_COMMANDS:
                if f"{name}.npy" in archive.namelist():
                    group, _, member = name.rpartition("/")
                    members = facts.setdefault(group, {}) if group else facts
                    members[member] = _array_in(archive, name).tolist()
    except _DAMAGES as error:
        if isinstance(error, JsonError):
            raise
        raise JsonError("It is no complete NPZ file.") from error
    if "interventions" in facts:
        facts["interventions"] = [
            _value_of(str(text).encode("utf-8", "replace")) for text in facts["interventions"]
        ]
    return facts


def _array_in(archive: zipfile.ZipFile, name: str) -> "np.ndarray[Any, Any]":
    if archive.getinfo(f"{name}.npy").file_size > MAX_ARRAY_BYTES:
        raise JsonError(f"Its array {name} has more than {MAX_ARRAY_BYTES:,} bytes, the limit.")
    array = BytesIO(archive.read(f"{name}.npy"))
    return np.asarray(np.lib.format.read_array(array, allow_pickle=False))
