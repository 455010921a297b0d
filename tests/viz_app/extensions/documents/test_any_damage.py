"""Whatever happened to any file that the app keeps for itself: it starts, sets the file aside, and
goes on.

The files are those that are there after the app was used, so that a new one is damaged, too.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.analyses.head_profiles import profile_heads
from augenmerk.core.extensions.lessons.lesson_file import Scene
from augenmerk.core.extensions.training.folder import remember_run_folder
from augenmerk.core.maps.roles import SampleRoles, write_sample_roles
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.application import repair_settings
from augenmerk.viz_app.crash_reports import END_OF_HEADER, default_folder, earlier_reports
from augenmerk.viz_app.extensions.documents.last_result import _checksum
from augenmerk.viz_app.extensions.documents.reading import saved_experiment
from augenmerk.viz_app.extensions.lessons.kept_lesson import UNSAVED_LESSON
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.own_files import ASIDE
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_state import Current
from augenmerk.viz_app.theme import Theme
from tests.checkpoints import write_untrained_checkpoint
from tests.viz_app.parts import LEARN, TRAIN, lessons_of

RESULT = "last-result.txt"
NUMBER = re.compile(rb"\d+(\.\d+)?")
SET_ASIDE = {"truncated", "zeros", "deep", "a folder"}


def write_json(path: Path, content: bytes) -> None:
    """Writes a text with the checksum that the file needs."""
    path.write_bytes(_checksum(content) + content if path.name == RESULT else content)


def with_each(change: Callable[[Any], Any]) -> Callable[[Path], None]:
    """Changes each value of a JSON file, and each number of another."""

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: changed(member) for name, member in value.items()}
        return [changed(member) for member in value] if isinstance(value, list) else change(value)

    def damage(path: Path) -> None:
        content = path.read_bytes()
        try:
            values = json.loads(content[64:] if path.name == RESULT else content)
        except ValueError:
            path.write_bytes(NUMBER.sub(json.dumps(change(1)).encode(), content))
        else:
            # else it would be that of another model
            key = {"key": values["key"]} if path.name == RESULT else {}
            write_json(path, json.dumps(changed(values) | key if key else changed(values)).encode())

    return damage


def put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "file").touch()


def put_link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "nowhere" / "file")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "another structure": lambda path: write_json(path, b"[]"),
    "deep": lambda path: write_json(path, b"[" * 100_000 + b"]" * 100_000),
    "nulls": with_each(lambda value: None),
    "texts": with_each(lambda value: "x"),
    "lists": with_each(lambda value: [value]),
    "huge numbers": with_each(lambda value: 10**30),
    "negative numbers": with_each(lambda value: -7),
    "not a number": with_each(lambda value: float("nan")),
    "read-only": lambda path: path.chmod(0o400),
    "a folder": put_folder,
    "a dangling link": put_link,
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of everything that the app keeps."""
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def start(qtbot: QtBot, home: Path, theme: Theme) -> Iterator[Callable[[], MainWindow]]:
    """Starts the app, and ends it after the test at the latest."""
    windows: list[MainWindow] = []

    def end() -> None:
        for window in windows:
            window.shutdown.end()
            window.deleteLater()
        windows.clear()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def begin() -> MainWindow:
        end()
        settings = home / "settings.ini"
        repair_settings(settings)
        window = MainWindow(Preferences(QSettings(str(settings), QSettings.Format.IniFormat)))
        windows.append(window)
        earlier_reports(default_folder())
        window.show()
        qtbot.waitUntil(
            lambda: isinstance(window.state.shown, Current) and not window.state.request.is_running
        )
        return window

    yield begin
    end()


@pytest.fixture
def own_files(
    home: Path, start: Callable[[], MainWindow], tmp_path: Path, qtbot: QtBot
) -> list[Path]:
    """The files of somebody who measured roles, has a run elsewhere and a lesson that is not saved,
    after a crash."""
    model = home / "models" / "untrained.safetensors"
    model.parent.mkdir(parents=True)
    write_untrained_checkpoint(model)
    write_sample_roles(
        SampleRoles.of(profile_heads(Translator.load(model), ["ein mann ."]), "sentences"), model
    )
    remember_run_folder(tmp_path / "run")
    default_folder().mkdir(parents=True)
    (default_folder() / "2026-11-22-034101-1.log").write_bytes(
        b"Augenmerk" + END_OF_HEADER + b"an error"
    )
    preferences = Preferences(QSettings(str(home / "settings.ini"), QSettings.Format.IniFormat))
    preferences.model = model
    preferences.has_taken_quick_tour = True
    preferences.recent_models.remember(model)
    preferences.settings.sync()
    window = start()
    lessons_of(window).lesson.add(Scene("First", "Not saved.", saved_experiment(window.state)))
    lessons_of(window).keep_screen()
    qtbot.waitUntil(preferences.own_file(UNSAVED_LESSON).exists)
    window.shutdown.end()
    shutil.copytree(home, tmp_path / "good", symlinks=True)
    return [path for path in sorted(home.rglob("*")) if path.is_file()]


@pytest.mark.slow
@pytest.mark.parametrize("name", DAMAGES)
def test_the_app_starts_whatever_happened_to_any_of_its_files(
    home: Path, start: Callable[[], MainWindow], own_files: list[Path], name: str
) -> None:
    remembered_paths = [
        vars(Preferences)[path].fget(
            Preferences(QSettings(str(home / "settings.ini"), QSettings.Format.IniFormat))
        )
        for path in vars(Preferences)
        if path.endswith("_path")
    ]
    assert {*remembered_paths} < {*own_files}
    for path in own_files:
        shutil.rmtree(home)
        shutil.copytree(home.with_name("good"), home, symlinks=True)
        DAMAGES[name](path)
        window = start()
        window.grab()
        for page in (LEARN, TRAIN):
            window.pages.show(page)
            window.grab()
        if path in remembered_paths and name in SET_ASIDE:
            assert path.with_name(path.name + ASIDE).exists(), path.name
        window.shutdown.end()
        if path in remembered_paths:
            start().shutdown.end()
