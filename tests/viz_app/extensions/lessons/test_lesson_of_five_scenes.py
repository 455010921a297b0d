"""A teacher makes a lesson of five scenes with mouse and keyboard, presents it on two screens,
saves and reopens it."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.lessons.lesson_file import read_lesson_file
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import AttentionRow, ForcedToken, HeadScaled
from augenmerk.viz_app.extensions.help.palette import CommandPalette
from augenmerk.viz_app.extensions.lessons.lesson_bar import LessonTextDialog
from augenmerk.viz_app.extensions.rows.editor import RowEditor
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.state.map_view import Pair, Pointer
from tests.viz_app.builders import click, settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import learn_page_of, lessons_of, presentation_of

pytestmark = [pytest.mark.heavy, pytest.mark.slow]
PLAIN, CONTROL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
LEFT, HEAD = Qt.MouseButton.LeftButton, Head("cross", 1, 4)
TITLES = ("My sentence", "A head off", "Another word", "A row by hand", "A question")
QUESTION, ANSWER = "Which words change?", "Look at the chips."


@pytest.fixture
def window(make_window: MakeWindow) -> MainWindow:
    return make_window(None, sentence="Ein Mann schläft.", loader=None)


def settle(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(
        lambda: not window.state.request.is_running and window.state.current is not None
    )
    settle_layout()


def press(
    qtbot: QtBot, window: MainWindow, key: Qt.Key, modifier: Qt.KeyboardModifier = PLAIN
) -> None:
    """Presses a key in the window, which a dialog may have left inactive."""
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window, key, modifier)


def run(qtbot: QtBot, window: MainWindow, words: str) -> None:
    """Runs a command by Ctrl+K."""
    press(qtbot, window, Qt.Key.Key_K, CONTROL)
    (palette,) = window.findChildren(CommandPalette)
    qtbot.keyClicks(palette.field, words)
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not window.findChildren(CommandPalette))


def click_cell(qtbot: QtBot, window: MainWindow, pair: Pair) -> None:
    heatmap = window.translate_page.head.heatmap
    box = heatmap.cell_rect(pair)
    assert box is not None
    qtbot.mouseClick(heatmap, LEFT, pos=box.center().toPoint())
    assert window.state.selection.pinned == pair


def add_scene(
    qtbot: QtBot, window: MainWindow, title: str, texts: tuple[str, ...] = (), check: str = ""
) -> None:
    settle(qtbot, window)
    if lessons_of(window).bar.isVisible():
        qtbot.mouseClick(lessons_of(window).bar.edit_buttons["Add scene…"], LEFT)
    else:
        run(qtbot, window, "add scene")
    dialog = lessons_of(window).dialog
    assert isinstance(dialog, LessonTextDialog)
    qtbot.keyClicks(dialog.title, title)
    for field, text in zip(dialog.texts, texts, strict=False):
        qtbot.keyClicks(field, text)
    while check and dialog.computed.currentData() != check:
        qtbot.keyClick(dialog.computed, Qt.Key.Key_Down)
    qtbot.mouseClick(dialog.buttons.button(dialog.buttons.StandardButton.Ok), LEFT)
    assert lessons_of(window).lesson.scene is not None
    assert lessons_of(window).lesson.scene.title == title
    assert not lessons_of(window).bar.shows_changes


def make_lesson(qtbot: QtBot, window: MainWindow) -> None:
    page, state = window.translate_page, window.state
    qtbot.mouseClick(page.sentence.input.viewport(), LEFT)
    qtbot.keyClick(page.sentence.input, Qt.Key.Key_A, CONTROL)
    qtbot.keyClicks(page.sentence.input, "Ein kleiner Hund spielt mit einem roten Ball.")
    qtbot.keyClick(page.sentence.input, Qt.Key.Key_Return)
    settle(qtbot, window)
    add_scene(qtbot, window, TITLES[0], ("A sentence of my own.",))
    grid = page.heads.grid
    click(qtbot, grid, HEAD)
    assert state.selection.head == HEAD
    qtbot.keyClick(grid, Qt.Key.Key_O)
    settle(qtbot, window)
    click_cell(qtbot, window, Pair(2, 3))
    run(qtbot, window, "pointer ring around the pinned cell")
    add_scene(qtbot, window, TITLES[1], ("One head is off.",))
    press(qtbot, window, Qt.Key.Key_Z, CONTROL)
    settle(qtbot, window)
    chips = page.sentence.chips
    qtbot.mouseMove(chips, QPoint(chips.width() - 3, 3))
    qtbot.mouseMove(chips, chips.boxes[2][1].center())
    qtbot.waitUntil(chips.card.isVisible)
    chips.card.label.linkActivated.emit("2:1")
    settle(qtbot, window)
    add_scene(qtbot, window, TITLES[2], ("Another word is forced.",))
    qtbot.mouseClick(page.sentence.interventions.reset_button, LEFT)
    settle(qtbot, window)
    editor = open_row_editor(qtbot, window, Pair(4, 1))
    label = editor.bars.label_place(1).center().toPoint()
    qtbot.waitUntil(lambda: editor.bars.visibleRegion().contains(label))
    qtbot.mouseClick(editor.bars, LEFT, pos=label)  # all of its weight to one token
    qtbot.mouseClick(editor.set_button, LEFT)
    settle(qtbot, window)
    add_scene(qtbot, window, TITLES[3], ("A row is set by hand.",))
    run(qtbot, window, "reset all changes")
    settle(qtbot, window)
    add_scene(qtbot, window, TITLES[4], ("", QUESTION, ANSWER), "without-head")


def open_row_editor(qtbot: QtBot, window: MainWindow, pair: Pair) -> RowEditor:
    """Of a right-click on a cell."""
    head = window.translate_page.head
    box = head.heatmap.cell_rect(pair)
    assert box is not None
    head.heatmap.customContextMenuRequested.emit(box.center().toPoint())
    assert head.cell_menu is not None
    next(
        action for action in head.cell_menu.actions() if action.text().startswith("Set th")
    ).trigger()
    head.cell_menu.close()
    return head.findChildren(RowEditor)[-1]


def present_on(qtbot: QtBot, window: MainWindow, size: tuple[int, int]) -> None:
    """Steps through all scenes by the keys of a remote control; each has its sentence, its changes
    and its map.
    """
    lesson, shown, state = lessons_of(window).lesson, presentation_of(window), window.state
    lesson.go_to(0)
    settle(qtbot, window)
    press(qtbot, window, Qt.Key.Key_F5)
    window.setWindowState(Qt.WindowState.WindowNoState)  # of the screen of the test
    window.resize(*size)
    qtbot.waitUntil(lambda: shown.size().toTuple() == size)
    settle_layout()
    for index, scene in enumerate(lesson.scenes):
        settle(qtbot, window)
        assert lesson.place == index
        assert shown.scene.text().startswith(f"{index + 1} of 5 · {TITLES[index]}")
        assert shown.source.text() == scene.saved.experiment.source_text
        assert state.experiment == scene.saved.experiment
        assert shown.changes.texts == [
            display_text(intervention) for intervention in scene.saved.experiment.interventions
        ]
        assert shown.changes.isVisible() == bool(shown.changes.texts)
        assert window.translate_page.head.heatmap.isVisible()
        assert shown.isAncestorOf(window.translate_page.head.heatmap)
        for widget in (shown.scene, shown.source, shown.changes):
            assert not widget.isVisible() or shown.rect().contains(widget.geometry()), (
                f"{widget} at {size}"
            )
        assert ANSWER not in shown.scene.text()
        if scene.question:
            assert QUESTION in shown.scene.text(), "the question comes first"
            qtbot.keyClick(shown, Qt.Key.Key_PageDown)
            qtbot.waitUntil(lambda: ANSWER in shown.scene.text())
            answer = lessons_of(window).answer.text
            assert answer is not None
            assert len(answer) > len(ANSWER), "the computed answer, too"
        qtbot.keyClick(shown, Qt.Key.Key_PageDown)
    assert lesson.place == 4
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert not shown.isVisible()


def test_a_lesson_of_five_scenes_is_made_presented_saved_and_reopened(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    make_lesson(qtbot, window)
    lesson, path = lessons_of(window).lesson, tmp_path / "mine.augenmerk"
    own, off, forced, row, asked = lesson.scenes
    assert own.saved.experiment.interventions == ()
    assert own.saved.experiment.source_text == "Ein kleiner Hund spielt mit einem roten Ball."
    assert off.saved.experiment.interventions == (HeadScaled(HEAD),)
    assert off.saved.view["pointer"] == ("cell", "ring")
    assert isinstance(forced.saved.experiment.interventions[0], ForcedToken)
    (set_row,) = row.saved.experiment.interventions
    assert isinstance(set_row, AttentionRow)
    assert (set_row.head, set_row.row, max(set_row.weights)) == (HEAD, 4, 1.0)
    assert (asked.question, asked.answer, asked.check) == (QUESTION, ANSWER, "without-head")

    for size in ((1280, 800), (1920, 1080)):
        present_on(qtbot, window, size)

    qtbot.mouseClick(lessons_of(window).bar.edit_buttons["Save"], LEFT)
    dialog = lessons_of(window).dialog
    assert isinstance(dialog, QFileDialog)
    dialog.fileSelected.emit(str(path))
    dialog.close()
    assert read_lesson_file(path) == lesson.lesson
    run(qtbot, window, "close lesson")
    settle(qtbot, window)
    assert not lessons_of(window).bar.isVisible()

    run(qtbot, window, "learn page")
    learn = learn_page_of(window)
    assert learn is not None
    qtbot.mouseClick(learn.list.lesson_buttons[0], LEFT)
    assert lesson.path == path
    for index, scene in enumerate((own, off, forced, row, asked)):
        settle(qtbot, window)
        assert lesson.place == index
        assert window.state.experiment == scene.saved.experiment
        assert window.state.selection.pointer == (Pointer("cell", "ring") if index > 0 else None)
        assert not lessons_of(window).bar.shows_changes
        qtbot.mouseClick(lessons_of(window).bar.on_button, LEFT)
