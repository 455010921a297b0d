"""Where an import may write: not over what it reads."""

import os
from collections.abc import Iterable
from pathlib import Path

from augenmerk.core.errors import StorageError
from augenmerk.core.storage import check_writable
from augenmerk.core.tensor_file import open_foreign_tensors

_READ_FROM_FOLDERS = frozenset(
    (
        "model.safetensors",
        "model.safetensors.index.json",
        "pytorch_model.bin",
        "pytorch_model.bin.index.json",
        "best.ckpt",
        "latest.ckpt",
    )
)


def check_target(target: Path, sources: Iterable[str | Path | None]) -> None:
    """Whether an import could write `target` now without losing a file that it reads.

    Args:
        target: the file to write.
        sources: files and folders that are read: the model, a folder with a corpus. Names at Hugging Face and None are
            no paths, and passed over.

    Raises:
        StorageError: it cannot be written; it is one of the sources or a file in one, under any name; or a folder's
            weights would be looked for in it.
    """
    check_writable(target)
    real = Path(os.path.realpath(target))
    for source in sources:
        path = Path(source).expanduser() if source is not None else None
        if path is None or not path.exists():
            continue
        if path.is_dir():
            _check_folder(target, real, path)
        elif _same_file(target, path):
            raise StorageError(
                f"Cannot write {target}: it is the model itself that is imported ({path}). Choose another name."
            )


def _check_folder(target: Path, real: Path, folder: Path) -> None:
    root = Path(os.path.realpath(folder))
    if target.exists():
        linked = next((entry for entry in _entries(root) if _same_file(target, entry)), None)
        if (linked is not None or real.is_relative_to(root)) and not _is_own(target):
            file = folder / (linked.name if linked is not None else real.relative_to(root))
            raise StorageError(
                f"Cannot write {target}: it is {file}, one of the files that are imported. Choose another name."
            )
    elif real.name in _READ_FROM_FOLDERS and _same_file(real.parent, root):
        raise StorageError(
            f"Cannot write {target}: the weights of the model in {folder} would be looked for in it. Choose "
            "another name or folder."
        )


def _entries(folder: Path) -> list[Path]:
    """What is in a folder; nothing of one that cannot be read, of which the import itself tells."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, through links or other spellings too."""
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there, or a link to nothing
        return False


def _is_own(path: Path) -> bool:
    """Whether Augenmerk wrote the file, such as an earlier import into the model's own folder."""
    try:
        with open_foreign_tensors(path, "numpy") as file:
            return "augenmerk" in (file.metadata() or {})
    except (OSError, ValueError):
        return False
