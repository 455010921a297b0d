"""Locks of folders, so that no two processes write into one.

A lock of the operating system ends with its process, however that ends, so it is never stale. On a
file system without locks the process named in the file decides: one that has ended holds nothing.
"""

import contextlib
import errno
import os
import re
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

from .errors import TrainingError
from .plain_text import EncodingError
from .storage import cannot_write, read_text

LOCK = "run.lock"
_ATTEMPTS, _PAUSE_SECONDS = 4, 0.05
"""Attempts to take the lock, and seconds between them: `is_locked` takes it for a moment."""
_NO_LOCKS_HERE = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
_OWNER = re.compile(r"process (\d+) on (.+)")


class FolderLock:
    """The lock of one folder, held from its creation until `close`.

    Args:
        folder: created if it is missing.
        work: what is running while it is locked, for messages.
        clean: is called once the folder is locked.

    Raises:
        TrainingError: another training is writing to it.
        StorageError: the folder cannot be written.
    """

    def __init__(
        self,
        folder: Path,
        work: str = "training",
        clean: Callable[[Path], object] = lambda folder: None,
    ) -> None:
        self.folder, self._work, self._clean = folder, work, clean
        self._path = folder / LOCK
        self._is_new_folder = False
        self._descriptor = self._acquire()

    def renew(self) -> bool:
        """Locks the folder again if it, or the lock in it, was deleted or moved.

        Returns whether it did.

        Raises:
            TrainingError: another training is writing to it now.
            StorageError: the folder cannot be written.
        """
        if has_name(self._descriptor, self._path):
            return False
        before = self._descriptor
        self._descriptor = self._acquire()
        os.close(before)
        return True

    def close(self) -> None:
        """Removes the lock, and the folder if it was created by this lock and is empty."""
        # Windows cannot remove an open file; an unlocked one does no harm
        with contextlib.suppress(OSError):
            if has_name(self._descriptor, self._path):  # else it is another training's
                self._path.unlink()
        os.close(self._descriptor)
        if self._is_new_folder:
            with contextlib.suppress(OSError):
                self.folder.rmdir()

    def _acquire(self) -> int:
        try:
            self._is_new_folder |= not self.folder.is_dir()
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = _open_locked(self._path)
        except OSError as error:
            raise cannot_write(self._path, error) from error
        if descriptor is None:
            raise TrainingError(
                f"Another {self._work} is running in {self.folder} ({_owner(self._path)}). Wait "
                "until it has ended, stop it, or choose another folder."
            )
        try:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
            self._clean(self.folder)
        except OSError as error:
            with contextlib.suppress(OSError):
                self._path.unlink()
            os.close(descriptor)
            raise cannot_write(self._path, error) from error
        return descriptor


def is_locked(folder: Path) -> bool:
    """Whether a training is running in `folder`."""
    try:
        descriptor = os.open(Path(folder) / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _lock(descriptor)
    except OSError:
        return False
    finally:
        os.close(descriptor)


def has_name(descriptor: int, path: Path) -> bool:
    """Whether the open file still has this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def _open_locked(path: Path) -> int | None:
    """A descriptor of `path` that holds its lock; None if another process holds it.

    Raises `OSError`.
    """
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_SECONDS)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        is_ours = False
        try:  # the owner may remove the file between our opening and locking it
            is_ours = _lock(descriptor) and has_name(descriptor, path)
        finally:
            if not is_ours:
                os.close(descriptor)
        if is_ours:
            return descriptor
    return None


def _lock(descriptor: int) -> bool:
    """Takes the lock of an open file; False if another holds it. Raises `OSError`."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, 1 << 30, os.SEEK_SET)  # far beyond the text, which others may read
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True
    else:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in _NO_LOCKS_HERE:
                raise
            return not _is_alive(os.pread(descriptor, 500, 0).decode(errors="replace"))
        return True


def _is_alive(owner: str) -> bool:
    """Whether the process named in a lock file still exists. True for one on another machine."""
    named = _OWNER.match(owner)
    if named is None:
        return False
    if named[2] != socket.gethostname():
        return True
    try:
        os.kill(int(named[1]), 0)
    except OSError as error:  # a process of another user cannot be signalled
        return not isinstance(error, ProcessLookupError)
    return True


def _owner(path: Path) -> str:
    try:
        return read_text(path, 10_000).strip() or "it does not say which"
    except (OSError, EncodingError):
        return "it does not say which"
