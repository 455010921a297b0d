"""What goes wrong unforeseen is written down, by the process itself if it crashes, and offered at
the next start."""

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from augenmerk.viz_app.crash_reports import (
    END_OF_HEADER,
    MAX_BYTES,
    MAX_FILES,
    crashes_recorded,
    earlier_reports,
)

REPOSITORY = Path(__file__).resolve().parents[2]
CRASH = """
import ctypes, sys, threading, time
from pathlib import Path
from augenmerk.viz_app.crash_reports import crashes_recorded

with crashes_recorded(Path(sys.argv[1])):
    threading.Thread(target=time.sleep, args=(60,), name="bystander", daemon=True).start()
    ctypes.string_at(0)
"""


def leave_report(folder: Path, text: str, name: str = "2026-11-22-034101-1.log") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(b"Augenmerk" + END_OF_HEADER + text.encode())
    return path


def raise_in_a_thread() -> None:
    thread = threading.Thread(target=lambda: [][1], name="careless")
    thread.start()
    thread.join()


class Careless:
    def __del__(self) -> None:
        raise KeyError("in a destructor")


def log_with_traceback() -> None:
    try:
        raise ValueError("in a worker")
    except ValueError:
        logging.getLogger("elsewhere").exception("Unexpected error in a worker thread")


def make_and_forget() -> None:
    Careless()


@pytest.mark.allow_log_warnings
@pytest.mark.parametrize(
    ("go_wrong", "expected"),
    [
        (raise_in_a_thread, ("The thread careless ended", "IndexError: list index out of range")),
        (make_and_forget, ("Careless.__del__", "KeyError: 'in a destructor'")),
        (log_with_traceback, ("Unexpected error in a worker thread", "ValueError: in a worker")),
    ],
)
def test_an_unexpected_error_is_written_down_wherever_it_happens(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    go_wrong: Callable[[], None],
    expected: tuple[str, ...],
) -> None:
    hooks = threading.excepthook, sys.unraisablehook
    with crashes_recorded(tmp_path / "crashes"):
        go_wrong()
    assert (threading.excepthook, sys.unraisablehook) == hooks
    monkeypatch.setattr(os, "getpid", lambda: 1)  # as another process sees it
    (report,) = earlier_reports(tmp_path / "crashes")
    assert all(words in report.text for words in expected)
    assert "Python 3." in report.text
    assert not report.is_fatal


@pytest.mark.allow_log_warnings
def test_a_process_in_which_nothing_went_wrong_leaves_no_file(tmp_path: Path) -> None:
    with crashes_recorded(tmp_path):
        logging.getLogger("elsewhere").error("A user error has no traceback")
        assert earlier_reports(tmp_path) == []  # its own file is in use
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.heavy
@pytest.mark.allow_log_warnings
def test_a_file_has_an_end_and_old_ones_are_removed(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 3):
        path = leave_report(tmp_path, "Fatal Python error", f"2026-11-{number + 1:02}-034101-1.log")
        os.utime(path, (number, number))
    leave_report(tmp_path, "", "2026-11-30-034101-1.log")
    with crashes_recorded(tmp_path):
        for _ in range(200):
            try:
                raise ValueError("x" * 50_000)
            except ValueError:
                logging.getLogger("elsewhere").exception("again")
        (own,) = tmp_path.glob(f"*-{os.getpid()}.log")
        assert MAX_BYTES / 2 < own.stat().st_size <= MAX_BYTES
        reports = earlier_reports(tmp_path)
    assert [report.path.name[8:10] for report in reports] == ["08", "07", "06", "05", "04"]
    assert len(list(tmp_path.glob("*.log"))) == MAX_FILES + 1


def test_a_folder_that_cannot_be_written_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with crashes_recorded(tmp_path / "file" / "crashes"):
        assert earlier_reports(tmp_path / "file" / "crashes") == []


@pytest.mark.subprocess
def test_where_every_thread_was_when_the_process_crashed_is_written_down(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", CRASH, str(tmp_path)],
        cwd=REPOSITORY,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert result.returncode != 0
    (report,) = earlier_reports(tmp_path)
    assert report.is_fatal
    assert "Segmentation fault" in report.text or "access violation" in report.text
    assert "in string_at" in report.text
    assert report.text.count("hread 0x") >= 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only POSIX has named pipes")
def test_something_else_in_the_folder_hides_no_report_and_blocks_no_start(tmp_path: Path) -> None:
    for name in ("1-1.log", "9-9.log"):
        (tmp_path / name).write_bytes(b"Augenmerk" + END_OF_HEADER + b"an error")
    (tmp_path / "2-2.log").mkdir()
    (tmp_path / "3-3.log").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "4-4.log")
    assert {report.path.name for report in earlier_reports(tmp_path)} == {"1-1.log", "9-9.log"}
