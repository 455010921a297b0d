"""The bar of a lesson: its texts have their room."""

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.lessons.lesson_file import read_lesson_file
from augenmerk.viz_app.extensions.lessons.lesson import OpenLesson, SceneAnswer
from augenmerk.viz_app.extensions.lessons.lesson_bar import LessonBar
from augenmerk.viz_app.extensions.lessons.lesson_documents import shipped_lessons
from augenmerk.viz_app.theme import Theme
from tests.viz_app.builders import settle_layout, shown


@pytest.mark.heavy
@pytest.mark.parametrize("size", [(1076, 700), (1342, 768)])
def test_no_text_of_a_shipped_lesson_is_cut(
    qtbot: QtBot, theme: Theme, size: tuple[int, int]
) -> None:
    lesson, window = OpenLesson(), QWidget()
    answer = SceneAnswer(lesson)
    bar = LessonBar(lesson, answer)
    column = QVBoxLayout(window)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(bar)
    column.addStretch(1)
    shown(qtbot, window, size)

    def wait_until_nothing_moves() -> None:
        before = None
        while before != (bar.geometry(), bar.on_button.pos()):
            before = bar.geometry(), bar.on_button.pos()
            settle_layout()

    def cut() -> list[str]:
        wait_until_nothing_moves()
        texts = (bar.text, bar.question, bar.answer)
        return [
            text.text()
            for text in texts
            if text.isVisible() and text.verticalScrollBar().maximum() > 0
        ]

    for path in shipped_lessons():
        lesson.open(read_lesson_file(path), path)
        while True:
            assert cut() == []
            x = bar.on_button.x(), bar.on_button.y()
            if answer.can_show:
                answer.show()
                assert bar.answer.isVisible()
                assert cut() == []
            assert (bar.on_button.x(), bar.on_button.y()) == x, "the arrows stay under the mouse"
            if not lesson.can_step_on:
                break
            lesson.step(1)
