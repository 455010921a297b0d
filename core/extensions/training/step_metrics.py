"""The metrics of every step of a run, in its folder: the charts of a reopened run are drawn from
them. No torch.

The file `steps.bin` is a header and then one record of 48 bytes for each step, 4.8 MB for 100,000
of them. A resumed run appends the steps that it repeats, and the reader uses the later records.
Each record has a checksum: the reader leaves out records that a crash left torn or full of zeros.
"""

import contextlib
import errno
import io
import os
import stat
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...folder_lock import has_name
from ...run_files import STEPS
from .events import StepDone

_MAGIC = b"augmstep"
_VERSION = 1
_RECORD = np.dtype(
    [
        ("step", "<u4"),
        ("epoch", "<u4"),
        ("loss", "<f8"),
        ("learning_rate", "<f8"),
        ("gradient_norm", "<f8"),
        ("tokens_per_second", "<f8"),
        ("num_tokens", "<u4"),
        ("checksum", "<u4"),
    ]
)
_HEADER = _MAGIC + _VERSION.to_bytes(4, "little") + _RECORD.itemsize.to_bytes(4, "little")
_NUM_WORDS = _RECORD.itemsize // 4 - 1
_WEIGHTS = (np.arange(_NUM_WORDS, dtype=np.uint32) * np.uint32(0x9E3779B2)) | np.uint32(1)
"""Odd, so that a change of any one word changes the sum."""
_OF_NOTHING = np.uint32(0x5EED)
"""The checksum of a record of zeros, which is therefore no record."""
_MAX_RECORDS = 20_000_000


@dataclass(frozen=True, eq=False)
class StepMetrics:
    """The numbers of `StepDone` for each step, by rising step: read-only arrays [n].

    Attributes:
        step: whole numbers, rising.
        epoch: whole numbers: the epoch of each step.
        num_tokens: whole numbers: the target tokens of each step.
        loss: of the events, bit by bit.
        learning_rate: of the events, bit by bit.
        gradient_norm: of the events, bit by bit.
        tokens_per_second: of the events, bit by bit.
    """

    step: NDArray[np.int64]
    epoch: NDArray[np.int64]
    loss: NDArray[np.float64]
    learning_rate: NDArray[np.float64]
    gradient_norm: NDArray[np.float64]
    tokens_per_second: NDArray[np.float64]
    num_tokens: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.step)


def read_step_metrics(folder: Path) -> StepMetrics:
    """The metrics of the run in `folder`, which may be running; empty if there are none that can be
    read.
    """
    records = _read_records(Path(folder) / STEPS)
    # if a crash caused a step to be repeated, its last record counts
    from_here_on = np.minimum.accumulate(records["step"][::-1])[::-1]
    later = np.append(from_here_on[1:], np.uint32(0xFFFFFFFF))[: len(records)]
    records = records[records["step"] < later]
    columns: dict[str, Any] = {}
    for field in fields(StepMetrics):
        column = records[field.name]
        columns[field.name] = column.astype(np.int64 if column.dtype.kind == "u" else np.float64)
        columns[field.name].setflags(write=False)
    return StepMetrics(**columns)


class StepMetricsWriter:
    """Writes the metrics of the run in `folder`, step by step.

    All metrics stay in memory: if they cannot be written, for instance on a full disk, they are
    written later. A deleted file is written again. No failure ends the training.

    Args:
        folder: of the run; it exists.
        step: steps that the run has done. A new one begins with no metrics.
    """

    def __init__(self, folder: Path, step: int) -> None:
        self._path = Path(folder) / STEPS
        self._file: io.FileIO | None = None
        self._content = bytearray(_HEADER)
        if step:
            self._content += _read_records(self._path).tobytes()
        self._num_written = len(self._content)

    def append(self, event: StepDone) -> None:
        """Adds one step."""
        self._content += _to_bytes(event)
        with contextlib.suppress(OSError):  # once more with the next step
            self._write()

    def sync(self) -> bool:
        """Makes all steps survive a power cut; a deleted file is created again.

        False if that failed.
        """
        try:
            if self._file is not None and not has_name(self._file.fileno(), self._path):
                self._file.close()
                self._file = None
            os.fsync(self._write().fileno())
        except OSError:
            return False
        return True

    def close(self) -> bool:
        """Writes the rest.

        False if that failed, or if another file, a folder or a pipe has the name by now.

        No file is created: the folder may be another training's by now.
        """
        if self._file is None:
            return self._num_written == len(self._content)
        try:
            with self._file as file:
                self._write()
                return has_name(file.fileno(), self._path)
        except OSError:
            return False
        finally:
            self._file = None

    def _write(self) -> io.FileIO:
        """The file with all steps in it. Raises `OSError` if only some whole records had room."""
        if self._file is None:
            self._file = _open(self._path, os.O_RDWR | os.O_CREAT)
            self._num_written = 0
        if missing := bytes(self._content[self._num_written :]):
            self._file.seek(self._num_written)
            end = self._num_written + (self._file.write(missing) or 0)
            is_whole = end == len(self._content)
            self._num_written = (
                end if is_whole else end - max(0, end - len(_HEADER)) % _RECORD.itemsize
            )
            self._file.truncate(self._num_written)
            if not is_whole:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._file


def _to_bytes(event: StepDone) -> bytes:
    record = np.zeros(1, dtype=_RECORD)
    for name in _RECORD.names or ():
        if name != "checksum":
            record[name] = getattr(event, name)
    record["checksum"] = _checksums(record)
    return record.tobytes()


def _checksums(records: NDArray[np.void]) -> NDArray[np.uint32]:
    """The checksums [n], of all but the last word of each record."""
    words = records.view("<u4").reshape(len(records), _NUM_WORDS + 1)[:, :_NUM_WORDS]
    sums: NDArray[np.uint32] = (words * _WEIGHTS).sum(axis=1, dtype=np.uint32) + _OF_NOTHING
    return sums


def _read_records(path: Path) -> NDArray[np.void]:
    """The valid records of a file that a crash may have torn; none if it cannot be read or is of
    another kind.
    """
    try:
        with _open(path, os.O_RDONLY) as file:
            data = file.read(
                min(os.fstat(file.fileno()).st_size, len(_HEADER) + _MAX_RECORDS * _RECORD.itemsize)
            )
    except OSError:
        data = b""
    if not data.startswith(_HEADER):
        return np.empty(0, dtype=_RECORD)
    num_records = (len(data) - len(_HEADER)) // _RECORD.itemsize
    records = np.frombuffer(data, dtype=_RECORD, count=num_records, offset=len(_HEADER))
    return records[records["checksum"] == _checksums(records)]


def _open(path: Path, flags: int) -> io.FileIO:
    """A regular file. Raises `OSError` if it is a link or anything else."""
    flags |= (
        getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    descriptor = os.open(path, flags, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is not a regular file")
    return io.FileIO(descriptor, "r+" if flags & os.O_RDWR else "r")
