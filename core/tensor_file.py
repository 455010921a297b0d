"""safetensors files with a JSON description. False claims of damaged ones cost nothing. No torch.

Before a tensor is read, these are certain: the file is a regular one, its header is of bounded
size, its description is a valid JSON text (`core.strict_json`), and it holds tensors of the stated
shapes.
"""

import json
import math
import mmap
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from safetensors import SafetensorError, safe_open

from .storage import atomic_path, open_file
from .strict_json import Field, parse, shown

KEY = "augenmerk"
"""The key of the description in the file's metadata."""
MAX_HEADER_BYTES = 32_000_000
"""Maximum size of the header: vocabularies of a million words fit."""
_SEARCHED_BYTES = 2**20
MAX_DEPTH = 16
MAX_CONTAINERS = 200_000
"""Lists and objects of the description: one for each epoch of the history, and a few."""
_TYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}


class TensorFileError(ValueError):
    """The file is damaged. The caller adds which file, and what to do."""


class UnsuitableFileError(TensorFileError):
    """The file is complete, but of another kind or a newer version.

    The message follows the name of the file.
    """


@dataclass(frozen=True)
class TensorInfo:
    """A tensor in the header: its type as safetensors names it ("F32"), shape and first byte."""

    dtype: str
    shape: tuple[int, ...]
    offset: int


@dataclass(frozen=True, eq=False)
class TensorFile:
    """An open file.

    Its tensors are parts of the file in memory, and changes to them are not written back. The
    library gives the same, but never frees two Python numbers for each tensor that it gives, and
    one for each that it describes: a megabyte for every hundred models of some size.

    Attributes:
        description: None for a file of another program.
        tensors: by name.
    """

    description: Field | None
    tensors: dict[str, TensorInfo]
    _content: mmap.mmap
    _framework: Literal["pt", "numpy"]

    def description_of(
        self, format_name: str, newest_version: int, expected: str
    ) -> dict[str, Any]:
        """The file's description, after a check of its format and version.

        Args:
            format_name: name of the format.
            newest_version: the highest version that can be read.
            expected: the expected kind of file, for a message: "prepared data. Choose …".

        Raises:
            UnsuitableFileError: it is of another kind or a newer version.
            TensorFileError: it has no such version.
        """
        description = None if self.description is None else self.description.value
        if not isinstance(description, dict) or description.get("format") != format_name:
            raise UnsuitableFileError(f"is a safetensors file, but not {expected}")
        version = description.get("version")
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            raise TensorFileError(
                f"its format version is {shown(version)} instead of a whole number from 1 to "
                f"{newest_version}"
            )
        if version > newest_version:
            raise UnsuitableFileError(
                f"was written by a newer Augenmerk (format {version}, this one reads up to "
                f"{newest_version}). Update Augenmerk, or use a file of this version."
            )
        return description

    def read(self, name: str) -> Any:
        """One tensor. Raises `TensorFileError`."""
        info = self.tensors[name]
        if info.dtype not in _TYPES:
            raise TensorFileError(f"{name} is of the type {info.dtype}")
        count = math.prod(info.shape)
        if self._framework == "numpy":
            return np.frombuffer(self._content, _TYPES[info.dtype], count, info.offset).reshape(
                info.shape
            )
        import torch

        dtype = getattr(torch, _TYPES[info.dtype])
        if not count:
            return torch.empty(info.shape, dtype=dtype)
        buffer: mmap.mmap | bytearray = self._content
        offset = info.offset
        if offset % dtype.itemsize:  # not as the library writes it
            buffer = bytearray(buffer[offset : offset + count * dtype.itemsize])
            offset = 0
        return torch.frombuffer(buffer, dtype=dtype, count=count, offset=offset).view(info.shape)

    def read_row(self, name: str, dtype: str, max_items: int) -> Any:
        """One tensor of this type with one dimension. Raises `TensorFileError`."""
        info = self.tensors.get(name)
        if info is None or info.dtype != dtype or len(info.shape) != 1 or info.shape[0] > max_items:
            form = "missing" if info is None else f"{info.dtype} {list(info.shape)}"
            raise TensorFileError(
                f"{name} is {form}, not a row of at most {max_items:,} items of the type {dtype}"
            )
        return self.read(name)


def has_description(path: Path) -> bool:
    """Whether the file begins like a safetensors file with a description, perhaps a damaged one."""
    try:
        with open_file(path) as file:
            start = file.read(_SEARCHED_BYTES)
    except OSError:
        return False
    return start[8:9] == b"{" and f'"{KEY}":'.encode() in start  # after the length of the header


@contextmanager
def open_tensor_file(path: Path | str, framework: Literal["pt", "numpy"]) -> Iterator[TensorFile]:
    """Opens the file; tensors are read as those of `framework`.

    Raises:
        OSError: it cannot be read, or is not a regular file.
        ValueError: it is not a safetensors file, or its description is not a JSON text.
    """
    with open_file(path) as file:
        header_bytes = int.from_bytes(file.read(8), "little")
        if header_bytes > os.fstat(file.fileno()).st_size:
            raise TensorFileError("it is not a safetensors file")
        if header_bytes > MAX_HEADER_BYTES:
            raise TensorFileError(
                f"its header has {header_bytes:,} bytes, more than {MAX_HEADER_BYTES:,}"
            )
        # checks that the header is complete, and that the parts fill the file
        with _opened(file, path, "numpy"):
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            header = json.loads(content[8 : 8 + header_bytes])
        text = header.pop("__metadata__", {}).get(KEY)
        limits = {"max_depth": MAX_DEPTH, "max_containers": MAX_CONTAINERS}
        description = (
            None if text is None else parse(text.encode("utf-8"), **limits, allow_not_finite=True)
        )
        tensors = {
            name: TensorInfo(
                entry["dtype"], tuple(entry["shape"]), 8 + header_bytes + entry["data_offsets"][0]
            )
            for name, entry in header.items()
        }
        yield TensorFile(description, tensors, content, framework)


def write_tensor_file(
    path: Path,
    tensors: Mapping[str, Any],
    description: Mapping[str, Any],
    save_file: Callable[..., None],
) -> None:
    """Writes tensors with a description, atomically, by safetensors' function for them.

    Raises `StorageError`.
    """
    with atomic_path(path) as temporary:
        try:
            save_file(
                dict(tensors),
                temporary,
                metadata={KEY: json.dumps(description, ensure_ascii=False)},
            )
        except SafetensorError as error:
            raise _system_error(error) from error  # a full disk, for instance


def _system_error(error: SafetensorError) -> OSError:
    """The system's error that safetensors only reports in words: "… (os error 28)"."""
    match = re.search(r"os error (\d+)", str(error)) if os.name == "posix" else None
    return OSError(int(match[1]), os.strerror(int(match[1]))) if match else OSError(str(error))


@contextmanager
def open_foreign_tensors(path: Path, framework: Literal["pt", "numpy"]) -> Iterator[Any]:
    """Opens a safetensors file as the library does; its name may contain any bytes.

    Raises:
        OSError: it cannot be read, or is not a regular file.
        TensorFileError: it is not a safetensors file.
    """
    with open_file(path) as whole, _opened(whole, path, framework) as file:
        yield file


def _opened(file: BinaryIO, path: Path | str, framework: Literal["pt", "numpy"]) -> Any:
    try:
        return safe_open(_name_of(file, path), framework=framework)
    except SafetensorError as error:
        raise TensorFileError(str(error)) from error


def _name_of(file: BinaryIO, path: Path | str) -> Path | str:
    """A name by which the library opens the same file, on Linux even if another replaces it.

    A name may also contain any bytes there, while the library requires UTF-8.
    """
    own = Path(f"/proc/self/fd/{file.fileno()}")
    return own if own.exists() else path
