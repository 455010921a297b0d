"""The folders of runs that were chosen in the window."""

from pathlib import Path

import pytest

from augenmerk.core.extensions.training.folder import (
    MAX_REMEMBERED,
    default_runs_folder,
    remember_run_folder,
    remembered_run_folders,
)


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


def test_the_newest_come_first_each_once_and_the_windows_own_is_not_among_them(
    tmp_path: Path,
) -> None:
    assert remembered_run_folders() == []
    for name in ("a", "b", "ä", "a"):
        remember_run_folder(tmp_path / name)
    remember_run_folder(default_runs_folder())
    assert remembered_run_folders() == [tmp_path / name for name in ("a", "ä", "b")]


def test_old_ones_are_forgotten(tmp_path: Path) -> None:
    for number in range(MAX_REMEMBERED + 3):
        remember_run_folder(tmp_path / str(number))
    assert remembered_run_folders() == [
        tmp_path / str(number) for number in range(MAX_REMEMBERED + 2, 2, -1)
    ]


@pytest.mark.parametrize(
    "content", [b"", b"\xff", b"{}", b'{"a": 1}', b'["', b"[" * 9, b'[1, null, [], "relative"]']
)
def test_a_damaged_list_is_empty_and_is_written_anew(
    content: bytes, tmp_path: Path, state_folder: Path
) -> None:
    remember_run_folder(tmp_path / "a")
    (path,) = state_folder.rglob("*.json")
    path.write_bytes(content)
    assert remembered_run_folders() == []
    remember_run_folder(tmp_path / "b")
    assert remembered_run_folders() == [tmp_path / "b"]


def test_a_list_that_cannot_be_written_ends_nothing(tmp_path: Path, state_folder: Path) -> None:
    state_folder.write_text("a file where a folder should be")
    remember_run_folder(tmp_path / "a")
    assert remembered_run_folders() == []
