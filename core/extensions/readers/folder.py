"""The files of a model's folder, and nothing outside it."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import sentencepiece
import yaml

from ...errors import ConfigError, ModelImportError
from ...strict_json import Field, JsonError, parse, path_of_member, shown
from .foreign_files import kind_of_other_file
from .foreign_subwords import check_foreign_model

MAX_JSON_BYTES = 64 * 2**20
_MAX_JSON_DEPTH = 12
_MAX_NAME_BYTES = 255
_MAX_YAML_BYTES = 256 * 2**10
_MAX_YAML_ALIASES, _MAX_YAML_MERGED = 100, 10_000
_MAX_TEXT_BYTES = _MAX_SPM_BYTES = 64 * 2**20
ReadT = TypeVar("ReadT")
UNSUPPORTED, OTHER_COPY = "This model cannot be read.", "Use another copy."
"""Advice on a value that Augenmerk cannot use, and on one that no program can."""
_LICENCE = re.compile(r"^licen[sc]e:\s*[\"']?([\w.\- ]+?)[\"']?\s*$", re.MULTILINE)


class _PlainLoader(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types
    """A YAML loader for plain values.

    Aliases and merging (`<<`) multiply values, so both are limited.
    """

    _num_aliases = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """The next node. Counts aliases."""
        self._num_aliases += self.check_event(yaml.AliasEvent)
        if self._num_aliases > _MAX_YAML_ALIASES:
            raise yaml.YAMLError(f"it has more than {_MAX_YAML_ALIASES} aliases")
        return super().compose_node(parent, index)

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merge mappings (`<<`) and limit the number of members."""
        super().flatten_mapping(node)
        if len(node.value) > _MAX_YAML_MERGED:
            raise yaml.YAMLError(f"a part of it has more than {_MAX_YAML_MERGED:,} members")


@dataclass(frozen=True)
class Section:
    """The settings in a file, or in a part of it.

    Attributes:
        file: the file.
        path: the path of the part; empty for the whole file.
        everything: values by name.
    """

    file: Path
    path: str
    everything: Mapping[str, object]

    @cached_property
    def values(self) -> dict[str, object]:
        """The values other than null, which counts as missing."""
        return {name: value for name, value in self.everything.items() if value is not None}

    @classmethod
    def of(cls, file: Path, field: Field) -> "Section":
        """The section that is the value of a field.

        Raises `ModelImportError` unless it holds names with values.
        """
        if not isinstance(field.value, dict):
            found = "missing" if field.value is None else _described(field.value)
            raise ModelImportError(
                f"{file}: {field.path or 'the whole text'} is {found}, not names with values. "
                "Choose the folder of a model."
            )
        return cls(file, field.path, {str(name): value for name, value in field.value.items()})

    def field(self, name: str, default: object) -> Field:
        """A value with its path."""
        return Field(self.values.get(name, default), path_of_member(self.path, name))

    def section(self, name: str, default: object = None) -> "Section":
        """A subsection."""
        return Section.of(self.file, self.field(name, default))

    def whole(self, name: str, default: int | None, low: int, high: int) -> int:
        """A whole number."""
        return self._checked(lambda: self.field(name, default).whole_number(low, high))

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """A number."""
        return self._checked(lambda: self.field(name, default).number(low, high))

    def text(self, name: str, default: str) -> str:
        """A text."""
        return self._checked(lambda: self.field(name, default).text(1000))

    def choice(self, name: str, default: str | None, *known: str) -> str:
        """One of these texts."""
        self.require(
            default is not None or name in self.values,
            name,
            f"one of {', '.join(known)}",
            OTHER_COPY,
        )
        return self._checked(lambda: self.field(name, default).choice(known), UNSUPPORTED)

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false."""
        value = self.values.get(name, default)
        self.require(isinstance(value, bool), name, "true or false", OTHER_COPY)
        return bool(value)

    def items(self, name: str) -> list[Any]:
        """The items of a list; none if it is missing."""
        value: Any = self.values.get(name, [])
        self.require(isinstance(value, list), name, "a list", OTHER_COPY)
        return list(value)

    def require(self, is_met: bool, name: str, wanted: str, advice: str = UNSUPPORTED) -> None:
        """Raises `ModelImportError` about a value unless a condition is met; `wanted` completes “it
        must be …”.
        """
        if not is_met:
            value = _described(self.values[name]) if name in self.values else "missing"
            path = path_of_member(self.path, name)
            raise ModelImportError(f"{self.file}: {path} is {value}; it must be {wanted}. {advice}")

    def _checked(self, read: Callable[[], ReadT], advice: str = OTHER_COPY) -> ReadT:
        try:
            return read()
        except JsonError as error:
            raise ModelImportError(f"{self.file}: {error} {advice}") from error


def _described(value: object) -> str:
    """A value for a message; of a container only the size, because aliases make long values from
    short texts.
    """
    return shown(value) if isinstance(value, list | dict | int) else repr(value)[:80]


@contextmanager
def settings_of(file: Path) -> Iterator[None]:
    """A context that builds settings from a file.

    It raises `ModelImportError` if they do not fit together.
    """
    try:
        yield
    except ConfigError as error:
        raise ModelImportError(f"{file}: {error}") from error


class ModelFolder:
    """A chosen folder. Files are read by name, and only inside it.

    Args:
        path: the folder. In a cache of `huggingface_hub`, it holds links to files next to it, which
            are followed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._root = Path(os.path.realpath(path))
        blobs = self._root.parent.parent / "blobs"
        self._roots = (
            (self._root, blobs) if self._root.parent.name == "snapshots" else (self._root,)
        )

    def has(self, name: str) -> bool:
        """Whether the folder has an entry of this name."""
        return os.path.lexists(self.path / name)

    def names(self) -> list[str]:
        """The names in the folder, sorted."""
        try:
            return sorted(entry.name for entry in self.path.iterdir())
        except OSError as error:
            raise ModelImportError(
                f"Cannot look into {self.path}: {error.strerror or error}. Check its permissions."
            ) from error

    def file(self, name: str) -> Path:
        """The path of a regular file in the folder.

        Raises:
            ModelImportError: it is missing, not a regular file, or lies outside the folder.
        """
        path = self.path / name
        # the system would refuse to look for it
        if "\0" in name or len(name.encode()) > _MAX_NAME_BYTES:
            raise ModelImportError(
                f"{self.path} refers to the file {name[:60]!r}…, which is not a valid file name. "
                "Use another copy."
            )
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ModelImportError(
                f"{self.path} refers to the file {name}, which lies outside it. Only files in "
                "the folder are read."
            )
        real = Path(os.path.realpath(path))
        if not any(real.is_relative_to(root) for root in self._roots):
            raise ModelImportError(
                f"{path} is a link to {real}, which lies outside the folder. Copy the file into "
                "the folder."
            )
        if not path.exists():
            if path.is_symlink():
                raise ModelImportError(
                    f"{path} is a broken link ({path.readlink()}). Copy the file into the folder."
                )
            found = ", ".join(self.names()[:12]) or "nothing"
            raise ModelImportError(
                f"{path} is missing; the folder holds {found}. Fetch the missing file."
            )
        if not path.is_file():
            raise ModelImportError(f"{path} is not a regular file. Use another copy.")
        return path

    def read_bytes(self, name: str, max_bytes: int) -> bytes:
        """The content of a file in the folder. Raises `ModelImportError`."""
        path = self.file(name)
        try:
            if path.stat().st_size > max_bytes:
                raise ModelImportError(
                    f"{path} has {path.stat().st_size:,} bytes, above the limit of "
                    f"{max_bytes:,}. Use another copy."
                )
            return path.read_bytes()
        except OSError as error:
            raise ModelImportError(
                f"Cannot read {path}: {error.strerror or error}. Check its permissions."
            ) from error

    def read_json(self, name: str) -> dict[str, Field]:
        """The members of the object in a JSON file. Raises `ModelImportError`."""
        try:
            return parse(
                self.read_bytes(name, MAX_JSON_BYTES), max_depth=_MAX_JSON_DEPTH
            ).any_members(10_000_000)
        except JsonError as error:
            path = self.path / name
            if (kind := kind_of_other_file(path)) not in ("", "empty"):
                raise ModelImportError(f"{path} is {kind}. Use the JSON file itself.") from error
            raise ModelImportError(f"{path}: {error} Use another copy.") from error

    def settings(self, name: str) -> Section:
        """The settings in a JSON file; none without the file. Raises `ModelImportError`."""
        fields = self.read_json(name) if self.has(name) else {}
        return Section(self.path / name, "", {name: field.value for name, field in fields.items()})

    def read_yaml(self, name: str) -> Section:
        """The settings in a YAML file, of plain values alone. Raises `ModelImportError`."""
        path = self.path / name
        data = self.read_bytes(name, _MAX_YAML_BYTES)
        try:
            values = yaml.load(data.decode("utf-8"), _PlainLoader)
        except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
            reason = kind_of_other_file(path) or " ".join(str(error).split())[:200]
            raise ModelImportError(
                f"{path} is not plain YAML text ({reason}). Use another copy."
            ) from error
        return Section.of(path, Field(values))

    def read_text(self, name: str) -> str:
        """The text in a file. Raises `ModelImportError`."""
        path = self.path / name
        data = self.read_bytes(name, _MAX_TEXT_BYTES)
        if kind := kind_of_other_file(path):
            raise ModelImportError(f"{path} is {kind}. Use the text file itself.")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModelImportError(
                f"{path} is not a text file: the byte at offset {error.start:,} is not UTF-8. "
                "Use another copy."
            ) from error

    def read_sentencepiece(self, name: str) -> bytes:
        """A serialized SentencePiece model that the library can use. Raises `ModelImportError`."""
        model = self.read_bytes(name, _MAX_SPM_BYTES)
        path = self.path / name
        if model and (kind := kind_of_other_file(path)):
            raise ModelImportError(f"{path} is {kind}. Use the SentencePiece model itself.")
        try:
            if not model:
                raise ValueError("it is empty")
            check_foreign_model(model)
            sentencepiece.SentencePieceProcessor(model_proto=model)
        except Exception as error:  # sentencepiece passes on any error of its C++ code
            raise ModelImportError(
                f"{path} is not a complete SentencePiece model ({str(error).strip()[:120]}). Use "
                "another copy."
            ) from error
        return model

    def licence(self) -> str:
        """The licence in the front matter of the folder's README; empty if there is none."""
        if not self.has("README.md"):
            return ""
        text = self.read_bytes("README.md", 16 * 2**20)[:8192].decode("utf-8", errors="replace")
        front = text.split("\n---", 1)[0] if text.startswith("---") else ""
        found = _LICENCE.search(front)
        return found.group(1) if found is not None else ""
