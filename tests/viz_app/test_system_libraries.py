import subprocess
import sys
from pathlib import Path

import pytest

from augenmerk.viz_app import system_libraries
from augenmerk.viz_app.system_libraries import (
    OFFSCREEN_LIBRARIES,
    WINDOW_LIBRARIES,
    can_load,
    ensure,
    install_command,
    missing_packages,
)

linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="Qt's system libraries are Linux's"
)


def pretend(
    monkeypatch: pytest.MonkeyPatch, *, missing: bool, can_install: bool
) -> list[list[str]]:
    """Lets the first package be missing, and apt-get succeed or not; returns what apt-get is asked
    to install.
    """
    asked: list[list[str]] = []
    lacking = ["libegl1"] if missing else []

    def install(packages: list[str]) -> bool:
        asked.append(packages)
        if can_install:
            lacking.clear()
        return can_install

    monkeypatch.setattr(system_libraries, "missing_packages", lambda _libraries: list(lacking))
    monkeypatch.setattr(system_libraries, "install", install)
    return asked


@linux_only
def test_each_missing_package_is_named_once() -> None:
    assert missing_packages(
        OFFSCREEN_LIBRARIES, lambda library: "lib-2.0" in library or "libgthread" in library
    ) == [
        "libegl1",
        "libgl1",
        "libxkbcommon0",
        "libfontconfig1",
        "libdbus-1-3",
    ]
    assert missing_packages(OFFSCREEN_LIBRARIES, lambda library: "libg" not in library) == [
        "libglib2.0-0"
    ]
    assert missing_packages(WINDOW_LIBRARIES, lambda _: True) == []


def test_nothing_is_missing_where_linux_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert missing_packages(WINDOW_LIBRARIES, lambda _: False) == []


def test_a_library_that_does_not_exist_cannot_be_loaded() -> None:
    assert not can_load("libsuch-a-thing-is-not-there.so.9")


def test_apt_is_not_called_when_all_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = pretend(monkeypatch, missing=False, can_install=True)
    assert ensure(WINDOW_LIBRARIES) == 0
    assert asked == []


def test_what_is_missing_is_installed_where_that_is_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = pretend(monkeypatch, missing=True, can_install=True)
    assert ensure(WINDOW_LIBRARIES) == 0
    assert asked == [["libegl1"]]


def test_where_it_is_not_allowed_the_one_line_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend(monkeypatch, missing=True, can_install=False)
    assert ensure(WINDOW_LIBRARIES) == 1
    assert install_command(["libegl1"]) in capsys.readouterr().err


def test_no_privilege_means_no_installing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_libraries, "_privilege", lambda: None)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("nothing may be run"))
    assert not system_libraries.install(["libegl1"])


@pytest.mark.subprocess
def test_file_runs_before_anything_is_installed() -> None:
    """The set-up runs it with the system's Python: isolated from all installed packages, it must
    still start."""
    code = Path(system_libraries.__file__).read_text().partition('if __name__ == "__main__"')[0]
    result = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
