"""safetensors files with a JSON description of ours: opened so that what a damaged one claims costs nothing. No torch.

Before a tensor is read, it is known that the file is a regular one, that its header is of bounded size, that its
description is a JSON text without surprises (`core.strict_json`), and which tensors of which shape it holds.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from safetensors import SafetensorError, safe_open

from core.storage import open_file
from core.strict_json import Field, parse

KEY = "augenmerk"
"""Of the description in the file's metadata."""
MAX_HEADER_BYTES = 32_000_000
"""Vocabularies of a million words fit."""
MAX_DEPTH = 16
MAX_CONTAINERS = 200_000
"""Lists and objects of the description: one for each epoch of the history, and a few."""


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

    def read(self, name: str) -> Any:
        """One tensor. Raises `TensorFileError`."""
        try:
            return self._opened.get_tensor(name)
        except SafetensorError as error:
            raise TensorFileError(str(error)) from error


@contextmanager
def open_tensor_file(path: Path | str, framework: Literal["pt", "numpy"]) -> Iterator[TensorFile]:
    """Opens the file; tensors are read as those of `framework`.

    Raises:
        OSError: it cannot be read, or is no regular file.
        ValueError: it is no such file, or its description is no JSON text.
    """
    _check_header_size(path)
    with _in_utf8(path) as name, _opened(name, framework) as file:
        text = (file.metadata() or {}).get(KEY)
        description = None
        if text is not None:
            description = parse(
                text.encode("utf-8"), max_depth=MAX_DEPTH, max_containers=MAX_CONTAINERS, allow_not_finite=True
            )
        yield TensorFile(description, {name: _info(file, name) for name in file.keys()}, file)  # noqa: SIM118


def _opened(name: Path | str, framework: Literal["pt", "numpy"]) -> Any:
    try:
        return safe_open(name, framework=framework)
    except SafetensorError as error:
        raise TensorFileError(str(error)) from error


@contextmanager
def _in_utf8(path: Path | str) -> Iterator[Path | str]:
    """A name of the file that the library takes: on Linux a name may be of any bytes, and the library wants UTF-8."""
    try:
        os.fspath(path).encode("utf-8")
    except UnicodeEncodeError:
        with open_file(path) as file:
            yield f"/proc/self/fd/{file.fileno()}"
    else:
        yield path


def _check_header_size(path: Path | str) -> None:
    with open_file(path) as file:
        size = int.from_bytes(file.read(8), "little")
    if size > MAX_HEADER_BYTES:
        raise TensorFileError(f"its header has {size:,} bytes, more than {MAX_HEADER_BYTES:,}")


def _info(file: Any, name: str) -> TensorInfo:
    piece = file.get_slice(name)
    return TensorInfo(str(piece.get_dtype()), tuple(piece.get_shape()))
