"""The second click of a double click, as the window system reports it."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.extensions.help.palette import CommandPalette
from tests.viz_app.builders import settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import LEARN, TRANSLATE


def click(qtbot: QtBot, part: QWidget, pointer: QPoint) -> None:
    """Clicks on a place of the screen, in the window of this part."""
    window = part.window()
    handle, place = window.windowHandle(), window.mapFromGlobal(pointer)
    qtbot.mousePress(handle, Qt.MouseButton.LeftButton, pos=place, delay=10)
    qtbot.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=place, delay=10)
    settle_layout()


def center(part: QWidget) -> QPoint:
    return part.mapToGlobal(part.rect().center())


@pytest.mark.heavy
def test_it_does_not_reach_a_button_of_another_page(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    analysis = window.translate_page.analysis_button
    pointer = center(analysis)
    presses = QSignalSpy(analysis.clicked)
    window.pages.show(LEARN)
    page = window.pages.parts[LEARN].widget
    assert page is not None
    button = QPushButton("Show it in Translate", page)
    button.clicked.connect(lambda: window.pages.show(TRANSLATE))
    button.show()
    button.move(page.mapFromGlobal(pointer) - button.rect().center())
    settle_layout()
    click(qtbot, window, pointer)
    assert window.pages.current == TRANSLATE
    click(qtbot, window, pointer)
    assert presses.count() == 0
    click(qtbot, window, center(window.top_bar.tabs[LEARN]))
    assert window.pages.current == LEARN, "another place is another click"


@pytest.mark.heavy
def test_it_does_not_reach_the_page_below_a_dialog(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    analysis = window.translate_page.analysis_button
    pointer = center(analysis)
    presses = QSignalSpy(analysis.clicked)
    window.commands.run("Commands")
    dialog = window.findChild(CommandPalette)
    assert dialog is not None
    qtbot.keyClicks(dialog.field, "Learn page")
    item = dialog.results.visualItemRect(dialog.results.currentItem()).center()
    dialog.move(dialog.pos() + pointer - dialog.results.viewport().mapToGlobal(item))
    qtbot.waitUntil(lambda: QGuiApplication.focusWindow() is dialog.windowHandle())
    window.pages.show(LEARN)
    click(qtbot, dialog, pointer)
    window.pages.show(TRANSLATE)
    settle_layout()
    click(qtbot, window, pointer)
    assert presses.count() == 0


def test_it_does_not_reach_what_takes_the_place_of_a_button(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    first, second = (QPushButton(text, window) for text in ("first", "second"))
    presses: list[str] = []
    for button in (second, first):
        button.clicked.connect(lambda _=False, button=button: presses.append(button.text()))
        button.show()
        button.raise_()
    first.clicked.connect(first.hide)
    click(qtbot, window, center(first))
    click(qtbot, window, center(first))
    assert presses == ["first"]


def test_it_reaches_the_same_widget(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(sentence="Mann Mann Mann Mann .")
    field = window.translate_page.sentence.input
    pointer = field.mapToGlobal(field.cursorRect().center() - QPoint(15, 0))
    click(qtbot, window, pointer)
    click(qtbot, window, pointer)
    assert field.textCursor().selectedText()
    button = QPushButton("again", window)
    presses: list[str] = []
    button.clicked.connect(lambda: presses.append(button.text()))
    button.show()
    button.raise_()
    click(qtbot, window, center(button))
    click(qtbot, window, center(button))
    assert len(presses) == 2


@pytest.mark.heavy
def test_it_does_not_undo_the_first(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    button = window.translate_page.sentence.edit_button
    before = button.text()
    pointer = center(button)
    for _ in range(2):
        click(qtbot, window, pointer)
    assert button.text() != before, "it is edited"
    toggle = QToolButton(window)
    toggle.setCheckable(True)
    toggle.setText("toggle")
    toggle.show()
    toggle.raise_()
    settle_layout()
    for _ in range(2):
        click(qtbot, window, center(toggle))
    assert toggle.isChecked()
