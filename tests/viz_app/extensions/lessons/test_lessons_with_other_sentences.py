"""Every lesson that ships, with an easy, a typical and a long sentence typed into each scene."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.extensions.lessons.lesson_documents import shipped_lessons
from augenmerk.viz_app.main_window import MainWindow
from tests.conftest import open_once
from tests.viz_app.builders import settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.extensions.learn.test_predictions import SENTENCES
from tests.viz_app.parts import documents_of, lessons_of

pytestmark = [pytest.mark.heavy, pytest.mark.slow]
CONTROL, LEFT = Qt.KeyboardModifier.ControlModifier, Qt.MouseButton.LeftButton


def rest(qtbot: QtBot, window: MainWindow) -> None:
    state, lessons = window.state, lessons_of(window)
    qtbot.waitUntil(lambda: not state.request.is_running and state.current is not None)
    settle_layout()
    qtbot.waitUntil(lambda: not lessons.answer.is_computing)


@pytest.mark.parametrize("path", shipped_lessons(), ids=lambda path: path.stem)
def test_each_scene_takes_any_sentence_and_comes_back(
    qtbot: QtBot, make_window: MakeWindow, path: Path
) -> None:
    window = make_window(None, sentence="Ein Mann schläft.", loader=open_once)
    lessons, field = lessons_of(window), window.translate_page.sentence.input
    before = window.state.experiment
    documents_of(window).open(path)
    rest(qtbot, window)
    for index, scene in enumerate(lessons.lesson.scenes):
        lessons.lesson.go_to(index)
        rest(qtbot, window)
        for sentence in SENTENCES:
            QApplication.clipboard().setText(sentence)
            qtbot.mouseClick(field.viewport(), LEFT)
            qtbot.keyClick(field, Qt.Key.Key_A, CONTROL)
            qtbot.keyClick(field, Qt.Key.Key_V, CONTROL)
            qtbot.keyClick(field, Qt.Key.Key_Return)
            rest(qtbot, window)
            assert window.state.experiment.source_text == sentence
            assert lessons.bar.shows_changes
            assert not window.state.request.problem
            if lessons.answer.can_show:
                qtbot.mouseClick(lessons.bar.reveal_button, LEFT)
            assert lessons.bar.answer.isVisible() == bool(scene.question)
            qtbot.mouseClick(lessons.bar.revert_button, LEFT)
            rest(qtbot, window)
            assert window.state.experiment == scene.saved.experiment
            assert not lessons.bar.shows_changes
    qtbot.mouseClick(lessons.bar.close_button, LEFT)
    rest(qtbot, window)
    assert window.state.experiment == before
