"""Whatever is in the files that the app wrote for its own comfort: the window opens, and sets them
aside."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.experiment_file import (
    SUFFIX,
    ModelReference,
    SavedExperiment,
    read_experiment_file,
    write_experiment_file,
)
from augenmerk.viz_app.extensions.documents.last_result import _checksum, write_last_result
from augenmerk.viz_app.extensions.documents.session import LAST_RESULT, SESSION
from augenmerk.viz_app.extensions.lessons.kept_lesson import (
    BEFORE_LESSON,
    SHIPPED_MARK,
    UNSAVED_LESSON,
)
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.own_files import set_aside
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_state import Current
from augenmerk.viz_app.worker.jobs import describe
from tests.conftest import open_once
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import LEARN, TRAIN, lessons_of, views_of
from tests.viz_app.test_preferences import KEYS, NONSENSE

pytestmark = pytest.mark.slow

EARLIER = Path(__file__).parents[3] / "earlier"
SENTENCE = "ein mann steht dort ."
Change = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def first_session(untrained_checkpoint: Path, preferences: Preferences) -> None:
    """Leaves its experiment and its result."""
    translator = open_once(untrained_checkpoint, "cpu")
    result, model = translator.compare(Experiment(SENTENCE)), describe(translator)
    preferences.model = untrained_checkpoint
    saved = SavedExperiment(result.experiment, ModelReference(model.title, model.digest))
    write_experiment_file(saved, preferences.own_file(SESSION))
    write_last_result(preferences.own_file(LAST_RESULT), result, model)


def start_again(qtbot: QtBot, make_window: MakeWindow) -> MainWindow:
    """The window of the next start, once it shows its translation."""
    window = make_window(None, sentence=None, loader=open_once, wait=False)
    window.grab()  # paints what the files say
    qtbot.waitUntil(
        lambda: isinstance(window.state.shown, Current) and not window.state.request.is_running
    )
    window.translate_page.arrangement.show_analysis(True)
    window.grab()
    return window


def aside(path: Path) -> Path:
    return path.with_name(path.name + ".unreadable")


def test_a_second_file_does_not_replace_the_first_that_was_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "own" / "lesson.augenmerk"
    path.parent.mkdir()
    for content in ("first", "second", "third"):
        path.write_text(content)
        assert set_aside(path).read_text() == content
    assert sorted(file.name for file in path.parent.iterdir()) == [
        "lesson.augenmerk.unreadable",
        "lesson.augenmerk.unreadable-2",
        "lesson.augenmerk.unreadable-3",
    ]


def at(*keys: str | int) -> Callable[[Change], Change]:
    """Changes the value at a place."""

    def on(change: Change) -> Change:
        def apply(values: Any) -> Any:
            container = values
            for key in keys[:-1]:
                container = container[key]
            container[keys[-1]] = change(container[keys[-1]])
            return values

        return apply

    return on


ORIGINAL = "result", "original"
RESULTS: dict[str, Change] = {
    "a list for all": lambda values: [],
    "a list for a translation": at(*ORIGINAL)(lambda _: []),
    "a text for a word": at(*ORIGINAL, "source_words", 0)(lambda _: "mann"),
    "a text for a model": at("model")(lambda _: "model"),
    "no tokens that were read": at(*ORIGINAL, "read_tokens")(lambda _: []),
    "no alternatives": at(*ORIGINAL, "alternatives")(lambda _: []),
    "too few probabilities": at(*ORIGINAL, "log_probabilities")(lambda values: values[:-1]),
    "no entropies": at(*ORIGINAL, "entropies")(lambda _: []),
    "an endless probability": at(*ORIGINAL, "log_probabilities", 0)(lambda _: 1e308),
    "a word beyond the end": at(*ORIGINAL, "source_words", 0, "end")(lambda _: 10**6),
    "a word before the beginning": at(*ORIGINAL, "target_words", 0, "start")(lambda _: -5),
    "no maps": at(*ORIGINAL, "attention")(lambda _: None),
    "maps of no head": at(*ORIGINAL, "attention", "cross")(
        lambda _: {"shape": [10**15, 0, 3, 7], "data": ""}
    ),
    "maps of other tokens": at(*ORIGINAL, "attention", "cross")(
        lambda _: {"shape": [1, 1, 1, 1], "data": "AAAAAA=="}
    ),
    "roles of other heads": at("model", "roles")(
        lambda _: {"by_kind": {"encoder": [], "decoder": [], "cross": []}, "sample": "3 pairs"}
    ),
}


@pytest.mark.heavy
@pytest.mark.parametrize("name", RESULTS)
def test_a_last_result_of_another_structure_is_set_aside(
    qtbot: QtBot, make_window: MakeWindow, preferences: Preferences, name: str
) -> None:
    path = preferences.own_file(LAST_RESULT)
    values = RESULTS[name](json.loads(path.read_bytes()[64:]))
    content = json.dumps(values).encode("ascii")
    path.write_bytes(_checksum(content) + content)
    window = start_again(qtbot, make_window)
    assert window.state.experiment.source_text == SENTENCE
    assert aside(path).is_file()
    window.close()
    assert path.is_file(), "the next start has a result again"


CONTENTS: dict[str, bytes | None] = {
    "empty": b"",
    "binary": bytes(range(256)),
    "null": b"null",
    "list": b"[]",
    "deep": b"[" * 100_000,
    "folder": None,
}


def write(path: Path, content: bytes | None) -> None:
    path.unlink(missing_ok=True)
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)


@pytest.mark.heavy
@pytest.mark.parametrize("name", CONTENTS)
def test_files_of_a_session_with_any_content_are_set_aside(
    qtbot: QtBot, make_window: MakeWindow, preferences: Preferences, name: str
) -> None:
    paths = [preferences.own_file(SESSION), preferences.own_file(LAST_RESULT)]
    for path in paths:
        content = CONTENTS[name]
        is_result = path == preferences.own_file(LAST_RESULT)
        write(path, _checksum(content) + content if content is not None and is_result else content)
    start_again(qtbot, make_window)
    assert aside(paths[0]).exists()


@pytest.mark.heavy
@pytest.mark.parametrize("start", ["sentence", "other model", "no session"])
@pytest.mark.parametrize("name", CONTENTS)
def test_damaged_files_are_set_aside_at_a_start_that_restores_none(
    make_window: MakeWindow,
    preferences: Preferences,
    untrained_checkpoint: Path,
    tmp_path: Path,
    name: str,
    start: str,
) -> None:
    paths = [preferences.own_file(LAST_RESULT)]
    if start == "no session":
        preferences.own_file(SESSION).unlink()
    else:
        paths.append(preferences.own_file(SESSION))
    for path in paths:
        write(path, CONTENTS[name])
    model = untrained_checkpoint
    if start == "other model":
        model = tmp_path / "other.safetensors"
        model.write_bytes(untrained_checkpoint.read_bytes())
    make_window(
        model, sentence=None if start != "sentence" else "ein hund .", loader=open_once
    ).close()
    for path in paths:
        assert CONTENTS[name] is None or aside(path).read_bytes() == CONTENTS[name]
        assert aside(path).exists()


def test_a_start_with_a_sentence_replaces_the_session(
    make_window: MakeWindow, preferences: Preferences, untrained_checkpoint: Path
) -> None:
    make_window(untrained_checkpoint, sentence="ein hund .", loader=open_once).close()
    assert (
        read_experiment_file(preferences.own_file(SESSION)).experiment.source_text == "ein hund ."
    )
    assert not aside(preferences.own_file(SESSION)).exists()
    assert not aside(preferences.own_file(LAST_RESULT)).exists()


@pytest.mark.heavy
@pytest.mark.parametrize("name", CONTENTS)
def test_the_screen_before_a_lesson_with_any_content_is_set_aside(
    qtbot: QtBot, make_window: MakeWindow, preferences: Preferences, name: str
) -> None:
    path, preferences.lesson_name = (
        preferences.own_file(BEFORE_LESSON),
        f"{SHIPPED_MARK}1-attention{SUFFIX}",
    )
    write(path, CONTENTS[name])
    window = start_again(qtbot, make_window)
    assert lessons_of(window).lesson.lesson is not None
    assert aside(path).exists()


@pytest.mark.heavy
@pytest.mark.parametrize("name", CONTENTS)
def test_changes_of_a_lesson_with_any_content_are_reported_and_set_aside(
    qtbot: QtBot, make_window: MakeWindow, preferences: Preferences, name: str
) -> None:
    path = preferences.own_file(UNSAVED_LESSON)
    write(path, CONTENTS[name])
    window = start_again(qtbot, make_window)
    assert lessons_of(window).lesson.lesson is None
    assert aside(path).exists()
    (box,) = window.findChildren(QMessageBox)
    assert f"The file is now {aside(path)}." in box.informativeText()


@pytest.mark.heavy
def test_a_file_that_cannot_be_set_aside_keeps_nothing_from_starting(
    qtbot: QtBot, make_window: MakeWindow, preferences: Preferences
) -> None:
    for path in (
        preferences.own_file(UNSAVED_LESSON),
        preferences.own_file(SESSION),
        preferences.own_file(LAST_RESULT),
    ):
        write(path, b"x")
        aside(path).mkdir()
        (aside(path) / "file").touch()
    start_again(qtbot, make_window)


@pytest.mark.heavy
@pytest.mark.parametrize("name", NONSENSE)
def test_settings_may_be_anything(
    qtbot: QtBot, make_window: MakeWindow, preferences: Preferences, name: str
) -> None:
    earlier = QSettings(str(EARLIER / "settings.ini"), QSettings.Format.IniFormat)
    for key in {*earlier.allKeys(), *preferences.settings.allKeys(), *KEYS}:
        preferences.settings.setValue(key, NONSENSE[name])
    window = make_window(None, sentence=None, loader=open_once, wait=False)
    qtbot.waitUntil(lambda: window.state.result is not None and not window.state.request.is_running)
    window.pages.show(LEARN)
    window.pages.show(TRAIN)
    window.grab()
    assert views_of(window).presentables()
    lessons_of(window).listed()
    window.close()
