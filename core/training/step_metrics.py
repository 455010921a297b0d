"""The metrics of every step of a run, in its folder: from them the charts of a reopened run are drawn. No torch.

The file `steps.bin` is a header and then one record of 48 bytes for each step, 4.8 MB for 100,000 of them. It is only
ever appended to: a resumed run writes the steps anew that its checkpoint did not have yet, and the reader takes the
later ones. Each record has a checksum, so that one that a crash left torn, or full of zeros, is left out.
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

from augenmerk.core.training.events import StepDone
from augenmerk.core.training.folder import STEPS

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
_MAX_PENDING = 100_000


@dataclass(frozen=True, eq=False)
class StepMetrics:
    """What `StepDone` told of each step, by rising step: read-only arrays [n].

    Attributes:
        step, epoch, num_tokens: whole numbers.
        loss, learning_rate, gradient_norm, tokens_per_second: exactly the numbers of the events.
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
    """The metrics of the run in `folder`, which may be running; empty if there are none that can be read."""
    try:
        data = _read(_open(Path(folder) / STEPS, os.O_RDONLY))
    except OSError:
        data = b""
    records = _valid_records(data)
    # steps that were repeated after a crash count as they were repeated
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
    """Appends to the metrics of the run in `folder`.

    What cannot be written, on a full disk for instance, is kept and written later: a chart is no reason to end a
    training.

    Args:
        folder: of the run; it exists.
        step: steps that the run has done. A new one begins with no metrics.
    """

    def __init__(self, folder: Path, step: int) -> None:
        self._path = Path(folder) / STEPS
        self._file: io.FileIO | None = None
        self._is_new = step == 0
        self._pending: list[bytes] = []

    def append(self, event: StepDone) -> None:
        """Adds one step."""
        if len(self._pending) < _MAX_PENDING:
            self._pending.append(_to_bytes(event))
        with contextlib.suppress(OSError):  # once more with the next step
            self._write_pending()

    def sync(self) -> bool:
        """Makes what was added survive a power cut; a file that was deleted is made anew. False if that failed."""
        try:
            self._restore()
            self._write_pending()
            os.fsync(self._opened().fileno())
        except OSError:
            return False
        return True

    def close(self) -> bool:
        """Writes the rest. False if that failed, or if another file, a folder or a pipe stands there by now.

        No file is made: the folder may be another training's by now.
        """
        if self._file is None:
            return not self._pending
        try:
            self._write_pending()
            is_there = self._is_there()
            self._file.close()
        except OSError:
            return False
        finally:
            self._file = None
        return is_there

    def _write_pending(self) -> None:
        """Raises `OSError` if there is no room for all; whole records are written, as many as there is room for."""
        file = self._opened()
        while self._pending:
            some = self._pending[:1000]
            end = file.seek(0, os.SEEK_END)
            written = file.write(b"".join(some)) or 0
            num_whole = written // _RECORD.itemsize
            del self._pending[:num_whole]
            if num_whole < len(some):
                file.truncate(end + num_whole * _RECORD.itemsize)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _opened(self) -> io.FileIO:
        """The file, ready for whole records to be appended. Raises `OSError`."""
        if self._file is None:
            file = _open(self._path, os.O_RDWR | os.O_CREAT)
            try:
                if self._is_new or file.read(len(_HEADER)) != _HEADER:
                    file.truncate(0)
                    file.seek(0)
                    if file.write(_HEADER) != len(_HEADER):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                end = file.seek(0, os.SEEK_END)
                file.truncate(end - (end - len(_HEADER)) % _RECORD.itemsize)
            except OSError:
                file.close()
                raise
            self._file, self._is_new = file, False
        return self._file

    def _restore(self) -> None:
        """After the file was deleted, has what it held written to a new one. Raises `OSError`."""
        if self._file is None or self._is_there():
            return
        data = _read(self._file)
        self._file, self._is_new = None, True
        self._pending[:0] = [record.tobytes() for record in _valid_records(data)]

    def _is_there(self) -> bool:
        """Whether what was opened still has its name. Raises `OSError`."""
        assert self._file is not None
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self._path.lstat())
        except FileNotFoundError:
            return False


def _to_bytes(event: StepDone) -> bytes:
    record = np.zeros(1, dtype=_RECORD)
    for name in _RECORD.names or ():
        if name != "checksum":
            record[name] = getattr(event, name)
    record["checksum"] = _checksums(record)
    return record.tobytes()


def _checksums(records: NDArray[np.void]) -> NDArray[np.uint32]:
    """[n]: of all but the last word of each record."""
    words = records.view("<u4").reshape(len(records), _NUM_WORDS + 1)[:, :_NUM_WORDS]
    sums: NDArray[np.uint32] = (words * _WEIGHTS).sum(axis=1, dtype=np.uint32) + _OF_NOTHING
    return sums


def _valid_records(data: bytes) -> NDArray[np.void]:
    """The records of a file that a crash may have torn; none if it is of another kind."""
    if not data.startswith(_HEADER):
        return np.empty(0, dtype=_RECORD)
    num_records = (len(data) - len(_HEADER)) // _RECORD.itemsize
    records = np.frombuffer(data, dtype=_RECORD, count=num_records, offset=len(_HEADER))
    return records[records["checksum"] == _checksums(records)]


def _read(file: io.FileIO) -> bytes:
    file.seek(0)
    with io.BufferedReader(file) as reader:
        return reader.read(len(_HEADER) + _MAX_RECORDS * _RECORD.itemsize)


def _open(path: Path, flags: int) -> io.FileIO:
    """A regular file. Raises `OSError` if it is a link or anything else."""
    flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is no regular file")
    return io.FileIO(descriptor, "r+" if flags & os.O_RDWR else "r")
