"""Files are written whole or not at all, whatever happens; only regular ones are read.

Everything Augenmerk writes goes through `atomic_path`: a temporary file next to the target, flushed
to the disk, then renamed over it. Until the rename the older file is untouched.

Every file that a user may have named is opened by `open_file`: a pipe without a writer would block
its reader for ever, and a device may never end.
"""

import errno
import io
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import StorageError
from .plain_text import decode_text

_REMEDIES = {
    errno.ENOSPC: "free some space",
    getattr(errno, "EDQUOT", errno.ENOSPC): "free some space",
    errno.EFBIG: "allow larger files (ulimit -f)",
    errno.EACCES: "make the folder writable",
    errno.EPERM: "make the folder writable",
    errno.EROFS: "make the disk writable",
    errno.EISDIR: "rename the folder that has this name",
}
_REASONS = dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "a part of this path is not a folder")
_OTHER_NAMES = {errno.ENAMETOOLONG: "a shorter name", errno.EISDIR: "another name"}


class NotARegularFileError(OSError):
    """The file to read is a device, a pipe or a socket."""


def open_file(path: Path | str) -> io.BufferedReader:
    """The regular file at `path`, to be read.

    Raises:
        OSError: there is none, it may not be read, or it is a folder, a device, a pipe or a socket.
            Nothing blocks.
    """
    try:
        descriptor = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except ValueError as error:
        raise OSError(errno.EINVAL, "its name holds a null character", str(path)) from error
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
        if not stat.S_ISREG(mode):
            raise NotARegularFileError(
                errno.EINVAL, "it is a device, a pipe or a socket", str(path)
            )
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, through links or other spellings too."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):  # one of them is missing, is a broken link, or cannot be a path
        return False


def is_file(path: Path | str) -> bool:
    """Whether there is a file at `path`.

    False too where reading is not permitted, which makes `Path.is_file` raise.
    """
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path | str) -> bool:
    """The same of a folder."""
    return os.path.isdir(path)  # noqa: PTH112


def is_forbidden(path: Path) -> bool:
    """Whether something at `path`, or a folder above it, may not be read by this user."""
    try:
        needed = os.R_OK | os.X_OK if stat.S_ISDIR(path.stat().st_mode) else os.R_OK
    except (OSError, ValueError) as error:
        return isinstance(error, PermissionError)
    return not os.access(path, needed, effective_ids=os.access in os.supports_effective_ids)


def reason_of(error: Exception) -> str:
    """The reason why reading failed, without the path, which the message already names."""
    return getattr(error, "strerror", None) or str(error)


def read_bytes(path: Path | str, max_bytes: int | None = None) -> bytes:
    """The content of the regular file at `path`.

    Raises:
        OSError: as `open_file`, or it has more than `max_bytes`.
    """
    with open_file(path) as file:
        data = file.read() if max_bytes is None else file.read(max_bytes + 1)
    if max_bytes is not None and len(data) > max_bytes:
        raise OSError(errno.EFBIG, f"it has more than {max_bytes:,} bytes", str(path))
    return data


def read_text(path: Path | str, max_bytes: int | None = None) -> str:
    """The same as text, line ends as newlines, without a byte-order mark.

    Raises:
        OSError: as `read_bytes`.
        EncodingError: it is not UTF-8.
    """
    text = decode_text(read_bytes(path, max_bytes)).removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def atomic_path(target: Path | str, *, durable: bool = True) -> Iterator[Path]:
    """Yields a temporary path next to `target`, and renames it when the block ends without error.

    The folder is made if it is missing. If the block raises, the temporary file is removed and
    `target` is unchanged. A symbolic link stays, and its target is written.

    Args:
        target: the file to be written.
        durable: wait until the disk has the file, which may take a tenth of a second; without, a
            loss of power soon after may leave the file empty.

    Raises:
        StorageError: the folder or the file cannot be written (no permission, no space, not a
            folder), or `target` is not a regular file but, for instance, a device.
    """
    target = _file_behind(Path(target))
    # named before it exists, so that an interrupt at any moment leaves none
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch(exist_ok=False)
        mode = temporary.stat().st_mode  # that of the user's mask, which libraries may narrow
        yield temporary
        if durable:
            flush_to_disk(temporary)
        temporary.chmod(mode)
        os.replace(temporary, target)
        if durable:
            _flush_folder(target.parent)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        # where writing failed, removing often fails too, and would hide the reason
        with suppress(OSError):
            temporary.unlink()


def check_writable(target: Path | str) -> None:
    """Check that a file can be written to `target`, before work whose result will go there.

    Raises:
        StorageError: its folder cannot be made or written, or `target` is a folder, a device or a
            pipe.
    """
    target = _file_behind(Path(target))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise cannot_write(target, error) from error


@contextmanager
def writable(target: Path | str) -> Iterator[None]:
    """Checks `target` before the work on it; removes the folders that it made if that fails.

    Raises:
        StorageError: as `check_writable`.
    """
    folders = [folder for folder in _file_behind(Path(target)).parents if not folder.exists()]
    try:
        check_writable(target)
        yield
    except BaseException:
        for folder in folders:  # the innermost first; one that holds something stays
            with suppress(OSError):
                folder.rmdir()
        raise


def write_text(target: Path | str, text: str) -> None:
    """Writes `text` as UTF-8 to `target`, atomically.

    A byte of a file name that is not UTF-8 becomes an escape.

    Raises:
        StorageError: as `atomic_path`.
    """
    with atomic_path(target) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")


def _file_behind(target: Path) -> Path:
    """`target`, or the file that a symbolic link points to.

    A rename would replace the link by a file.

    Raises:
        StorageError: `target` is not a regular file; a rename would put one in its place too.
    """
    mode: int | None = None
    try:
        mode = target.stat().st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
    except FileNotFoundError:
        pass
    except OSError as error:
        raise cannot_write(target, error) from error
    if mode is not None and not stat.S_ISREG(mode):
        raise StorageError(
            f"Cannot write {target}: it is a device, a pipe or a socket. Choose another file name."
        )
    return Path(os.path.realpath(target)) if target.is_symlink() else target


def flush_to_disk(path: Path) -> None:
    """Makes the content of a file survive a power cut. Raises `OSError`."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Makes the rename itself survive a power cut, where the platform can open folders."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remedy(error: BaseException | None) -> str:
    """What makes writing possible again, such as “free some space”; empty if unknown.

    Libraries repeat the reason of the system in the text of an error of their own.
    """
    if isinstance(error, OSError) and error.errno:
        return _REMEDIES.get(error.errno, "")
    return next(
        (advice for number, advice in _REMEDIES.items() if os.strerror(number) in str(error)), ""
    )


def cannot_write(target: Path, error: OSError) -> StorageError:
    """The error to raise when the system refused to write `target`."""
    reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
    choice = f"choose {_OTHER_NAMES.get(error.errno or 0, 'another folder')}"
    advice = " or ".join(filter(None, (remedy(error), choice)))
    return StorageError(
        f"Cannot write {target}: {reason}. Nothing there was changed; {advice}, and try again."
    )
