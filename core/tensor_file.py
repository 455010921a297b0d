"""safetensors files with a JSON description of ours: opened so that what a damaged one claims costs nothing. No torch.

Before a tensor is read, it is known that the file is a regular one, that its header is of bounded size, that its
description is a JSON text without surprises (`core.strict_json`), and which tensors of which shape it holds.
"""

import json
import math
import mmap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

from safetensors import SafetensorError, safe_open

from augenmerk.core.storage import atomic_path, open_file
from augenmerk.core.strict_json import Field, parse

KEY = "augenmerk"
"""Of the description in the file's metadata."""
MAX_HEADER_BYTES = 32_000_000
"""Vocabularies of a million words fit."""
MAX_DEPTH = 16
MAX_CONTAINERS = 200_000
"""Lists and objects of the description: one for each epoch of the history, and a few."""


_TORCH_TYPES = {
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
    """What is wrong with the file. The caller adds which file, and what to do."""


@dataclass(frozen=True)
class TensorInfo:
    """What the header says of a tensor: its type in the words of safetensors ("F32"), and its shape."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TensorFile:
    """An open file.

    Attributes:
        description: None if it has none, so that it is of another program.
        tensors: what it holds, by name.
    """

    description: Field | None
    tensors: dict[str, TensorInfo]
    _opened: Any
    _content: "_Content"
    _framework: Literal["pt", "numpy"]

    def read(self, name: str) -> Any:
        """One tensor. Raises `TensorFileError`."""
        found = self._content.tensor(name) if self._framework == "pt" else None
        if found is not None:
            return found
        try:
            return self._opened.get_tensor(name)
        except SafetensorError as error:
            raise TensorFileError(str(error)) from error


class _Content:
    """The file in memory, of which torch's tensors are parts that nobody writes back.

    The library gives the same, but keeps two Python numbers for ever for each tensor that it gives, and one for each
    that it describes: a megabyte for every hundred models of some size. It has checked by now that the header is
    complete, and that the parts lie within the file, one after the other.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        self._begin = 8 + int.from_bytes(self._bytes[:8], "little")
        self._header = json.loads(self._bytes[8 : self._begin].decode("utf-8"))

    def info(self, name: str) -> TensorInfo:
        """What the header says of a tensor."""
        found = self._header[name]
        return TensorInfo(found["dtype"], tuple(found["shape"]))

    def tensor(self, name: str) -> Any:
        """One of torch; None if it is one that the library alone can give."""
        import torch

        info = self.info(name)
        dtype = getattr(torch, _TORCH_TYPES.get(info.dtype, ""), None)
        offset = self._begin + self._header[name]["data_offsets"][0]
        count = math.prod(info.shape)
        if dtype is None or count == 0 or offset % dtype.itemsize:
            return None
        return torch.frombuffer(self._bytes, dtype=dtype, count=count, offset=offset).view(info.shape)


@contextmanager
def open_tensor_file(path: Path | str, framework: Literal["pt", "numpy"]) -> Iterator[TensorFile]:
    """Opens the file; tensors are read as those of `framework`.

    Raises:
        OSError: it cannot be read, or is no regular file.
        ValueError: it is no such file, or its description is no JSON text.
    """
    with open_file(path) as whole:
        _check_header_size(whole)
        with _opened(whole, path, framework) as file:
            text = (file.metadata() or {}).get(KEY)
            description = None
            if text is not None:
                description = parse(
                    text.encode("utf-8"), max_depth=MAX_DEPTH, max_containers=MAX_CONTAINERS, allow_not_finite=True
                )
            content = _Content(whole)
            tensors = {name: content.info(name) for name in file.keys()}  # noqa: SIM118
            yield TensorFile(description, tensors, file, content, framework)


def write_tensor_file(
    path: Path, tensors: Mapping[str, Any], description: Mapping[str, Any], save_file: Callable[..., None]
) -> None:
    """Writes tensors with a description, atomically, by safetensors' function for them. Raises `StorageError`."""
    with atomic_path(path) as temporary:
        try:
            save_file(dict(tensors), temporary, metadata={KEY: json.dumps(description, ensure_ascii=False)})
        except SafetensorError as error:
            raise OSError(str(error)) from error  # a full disk, in the words of safetensors


@contextmanager
def open_foreign_tensors(path: Path, framework: Literal["pt", "numpy"]) -> Iterator[Any]:
    """Opens a safetensors file as the library does, whatever bytes its name has.

    Raises:
        OSError: it cannot be read, or is no regular file.
        TensorFileError: it is no such file.
    """
    with open_file(path) as whole, _opened(whole, path, framework) as file:
        yield file


def _opened(file: BinaryIO, path: Path | str, framework: Literal["pt", "numpy"]) -> Any:
    try:
        return safe_open(_name_of(file, path), framework=framework)
    except SafetensorError as error:
        raise TensorFileError(str(error)) from error


def _name_of(file: BinaryIO, path: Path | str) -> Path | str:
    """A name of the open file for the library: on Linux it means that very file, even if another one replaces it.

    There a name may be of any bytes, too, and the library wants UTF-8.
    """
    own = Path(f"/proc/self/fd/{file.fileno()}")
    return own if own.exists() else path


def _check_header_size(file: BinaryIO) -> None:
    size = int.from_bytes(file.read(8), "little")
    if size > MAX_HEADER_BYTES:
        raise TensorFileError(f"its header has {size:,} bytes, more than {MAX_HEADER_BYTES:,}")
