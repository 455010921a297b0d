"""The folders that runs of the window were saved to, remembered so that `augenmerk runs` finds them. No torch.

A list of paths in the user's state folder, newest first. It is a convenience: what cannot be read is empty, and what
cannot be written is not remembered.
"""

import contextlib
import json
from pathlib import Path

import platformdirs

from augenmerk.core.errors import StorageError
from augenmerk.core.storage import read_bytes, write_text
from augenmerk.core.strict_json import JsonError, parse
from augenmerk.core.training.folder import default_runs_folder

MAX_REMEMBERED = 16
_MAX_BYTES = 2**18


def remembered_run_folders() -> list[Path]:
    """The folders that runs were saved to, newest first; those that are gone now are among them."""
    try:
        stored = parse(read_bytes(_list_path(), _MAX_BYTES), max_depth=2).value
    except (OSError, JsonError):
        return []
    paths = stored if isinstance(stored, list) else []
    return [Path(path) for path in paths if isinstance(path, str) and Path(path).is_absolute()][:MAX_REMEMBERED]


def remember_run_folder(folder: Path) -> None:
    """Puts the folder that holds runs at the head of the list, unless that is `default_runs_folder`."""
    folder = Path(folder).absolute()
    if folder == default_runs_folder():
        return
    before = remembered_run_folders()
    paths = [folder, *(each for each in before if each != folder)][:MAX_REMEMBERED]
    if paths == before:
        return
    text = json.dumps([str(path) for path in paths], ensure_ascii=False)
    with contextlib.suppress(StorageError, UnicodeError):
        text.encode("utf-8")  # a name that is not UTF-8 cannot be read back
        write_text(_list_path(), text)


def _list_path() -> Path:
    return platformdirs.user_state_path("augenmerk", appauthor=False) / "run-folders.json"
