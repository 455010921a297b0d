"""Keys do their commands wherever the focus is, are named on buttons, and are declared with the
commands."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QKeySequence,
)
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

import augenmerk.viz_app
from augenmerk.viz_app.extensions.lessons.lesson_documents import shipped_lessons
from augenmerk.viz_app.extensions.lessons.scene_commands import SCENE_COMMANDS
from augenmerk.viz_app.pages import TRANSLATE, page_command
from augenmerk.viz_app.state.experiment_editor import toggle, undo
from augenmerk.viz_app.views.commands import NEXT_MAPS, REDO, SWITCH_HEAD, TOGGLE_ANALYSIS, UNDO
from augenmerk.viz_app.widgets.commands import (
    BoundCommand,
    keys_text,
)
from tests.builders import first_quick
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import LEARN, TRAIN, documents_of, lessons_of


@pytest.mark.heavy
def test_the_keys_of_every_command_do_it_from_anywhere_in_the_window(
    make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(BoundCommand, "run", lambda command: done.append(command.title))
    window = make_window()
    documents_of(window).open(next(iter(shipped_lessons())))
    qtbot.waitUntil(lessons_of(window).bar.isVisible)
    window.state.submit(toggle(window.state.selection.head))
    qtbot.waitUntil(window.translate_page.sentence.shown_switch.isVisible)
    window.top_bar.model_button.setFocus()
    with_keys = [entry for entry in window.commands.commands if entry.command.keys]
    assert len(with_keys) > 25
    for entry in with_keys:
        for key in (*entry.command.keys, *entry.command.unlisted_keys):
            done.clear()
            QTest.keySequence(window, QKeySequence(key))
            assert done == [entry.title], key


@pytest.mark.heavy
@pytest.mark.parametrize("key", ["Ctrl+Y", "Ctrl+Shift+Z"])
def test_both_usual_keys_redo_also_in_the_field_of_the_sentence(
    make_window: MakeWindow, qtbot: QtBot, key: str
) -> None:
    window = make_window()
    head = window.state.selection.head
    window.state.submit(toggle(head))
    window.state.submit(undo)
    window.translate_page.sentence.input.setFocus()
    QTest.keySequence(window, QKeySequence(key))
    assert window.state.experiment.heads_off == {head}
    # the standard key for redo has both off screen, but only one of them on most desktops
    assert key in REDO.keys
    assert key in REDO.shown_keys, "palette and sheet of keys name it"


@pytest.mark.heavy
@pytest.mark.parametrize(
    "key",
    first_quick(["Left", "Right", "Up", "Down", "Home", "End", "O", "Space", "Esc", "Shift+Left"]),
)
def test_local_keys_do_a_command_while_the_maps_have_the_keyboard(
    make_window: MakeWindow, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    done: list[BoundCommand] = []
    monkeypatch.setattr(BoundCommand, "run", lambda command: not done.append(command))
    window = make_window()
    grid = window.translate_page.heads.grid
    grid.setFocus()
    QTest.keySequence(grid, QKeySequence(key))
    (command,) = done
    assert key in command.command.local_keys


PAGES = (TRANSLATE, "Translate", "Ctrl+1"), (LEARN, "Learn", "Ctrl+2"), (TRAIN, "Train", "Ctrl+3")


@pytest.mark.heavy
def test_tool_tips_name_the_keys_of_commands(make_window: MakeWindow) -> None:
    window = make_window()
    chips, bar = window.translate_page.sentence.interventions, lessons_of(window).bar
    for command, button in (
        *((page_command(*page), window.top_bar.tabs[page[0]]) for page in PAGES),
        *zip(SCENE_COMMANDS, (bar.back_button, bar.on_button), strict=True),
        (UNDO, chips.undo_button),
        (REDO, chips.redo_button),
        (TOGGLE_ANALYSIS, window.analysis.close_button),
        (SWITCH_HEAD, window.translate_page.head.switch_button),
        (NEXT_MAPS, window.translate_page.sentence.shown_switch.buttons["original"]),
    ):
        if button.toolTip():
            assert f"({command.shown_keys})" in button.toolTip(), command.title


@pytest.mark.heavy
def test_the_window_fills_the_screen_and_comes_back(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    qtbot.keyClick(window, Qt.Key.Key_F11)
    assert window.isFullScreen()
    qtbot.keyClick(window, Qt.Key.Key_F11)
    assert not window.isFullScreen()


KEYS_OF_LISTS = {
    "viz_app/extensions/help/palette.py": "arrows and Enter in the list of commands",
    "viz_app/extensions/learn/chapter_view.py": "Enter on a button of a chapter",
    "viz_app/extensions/examples/menu.py": "arrows in a list that is open",
    "viz_app/widgets/buttons.py": "arrows on a button that has a menu",
    "viz_app/widgets/commands.py": "keys of commands",
}


def test_keys_are_named_only_where_commands_are_declared() -> None:
    root = Path(augenmerk.viz_app.__file__).parent
    files = {
        path.relative_to(root.parent).as_posix()
        for path in root.rglob("*.py")
        if re.search(r"Qt\.Key\.Key_|QShortcut\(|setShortcut\(", path.read_text(encoding="utf-8"))
    }
    assert files == set(KEYS_OF_LISTS)


def test_keys_are_named_as_on_a_keyboard() -> None:
    assert keys_text((Qt.Key.Key_Left, Qt.Key.Key_Right)) == "← →"
    assert keys_text((Qt.Key.Key_Return, Qt.Key.Key_Enter, "Left")) == "Enter, ←"
    assert keys_text(("Shift+Left", "PgUp", Qt.Key.Key_D)) == "Shift+←, Page Up, D"
