"""The presentation: one map, large, driven by keys."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment_file import write_lesson_file
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.theme import current_theme
from augenmerk.viz_app.translate.presentation import Presentation
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.documents.test_lessons_in_the_window import lesson_for


def presented(window: MainWindow, qtbot: QtBot) -> Presentation:
    qtbot.keyClick(window, Qt.Key.Key_F5)
    assert window.presentation is not None
    return window.presentation


@pytest.mark.heavy
def test_it_fills_the_screen_without_controls(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    shown = presented(window, qtbot)
    assert shown.isVisible()
    assert shown.isFullScreen()
    assert not shown.findChildren(QAbstractButton)
    assert shown.source.text() == "Ein Mann ."
    assert shown.target.text() == "Ein mann."
    title, meaning = shown.caption.text().split("\n")
    assert title.startswith(window.state.selection.head.title)
    assert meaning == map_text.meaning_of_query(window.state)
    window.state.settings.picture = "lines"
    assert shown.caption.text().split("\n")[1].startswith("The lines of each token: ")
    window.state.settings.picture = "heatmap"
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert not shown.isVisible()
    assert window.isVisible()
    assert presented(window, qtbot) is shown


@pytest.mark.heavy
def test_letters_and_map_grow_with_the_screen(make_window: MakeWindow, qtbot: QtBot) -> None:
    shown = presented(make_window(), qtbot)
    shown.showNormal()
    sizes = []
    for width, height in ((800, 520), (1920, 1080)):
        shown.resize(width, height)
        qtbot.wait(20)
        layout = shown.heatmap.layout_now
        assert layout is not None
        sizes.append((shown.source.fontMetrics().height(), layout.font.pixelSize(), layout.cell.x()))
    small, large = sizes
    assert all(more > 1.5 * less for less, more in zip(small, large, strict=True))
    assert current_theme().scale == 1.0


@pytest.mark.heavy
def test_keys_walk_switch_and_compare(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    state, shown = window.state, presented(window, qtbot)
    assert not shown.hint.isHidden()
    head = state.selection.head
    qtbot.keyClick(shown, Qt.Key.Key_Left if head.head else Qt.Key.Key_Right)
    assert state.selection.head != head
    assert shown.caption.text().startswith(state.selection.head.title)
    assert shown.hint.isHidden()
    qtbot.keyClick(shown, Qt.Key.Key_D)
    assert state.maps.shown == "changed"
    assert "changed" not in shown.caption.text()
    qtbot.keyClick(shown, Qt.Key.Key_O)
    qtbot.waitUntil(lambda: state.result is not None and state.result.is_changed)
    assert state.selection.head in state.experiment.heads_off
    assert " · off" in shown.caption.text()
    assert "its output is dropped" in shown.caption.text()
    panel = window.translate_page.head
    assert "its output is dropped" in panel.meaning.text()
    seen = []
    for _ in range(3):
        qtbot.keyClick(shown, Qt.Key.Key_D)
        seen.append(state.maps.shown)
        assert state.maps.shown in shown.caption.text().split("\n")[0]
    assert sorted(seen) == ["changed", "difference", "original"]
    qtbot.keyClick(shown, Qt.Key.Key_O)
    qtbot.waitUntil(lambda: state.result is not None and not state.result.is_changed)
    assert not state.experiment.interventions


@pytest.mark.heavy
def test_it_shows_lines_where_the_page_does(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    shown = presented(window, qtbot)
    assert shown.heatmap.isVisible()
    window.state.settings.picture = "lines"
    assert shown.lines.isVisible()
    assert shown.lines._painter is not None


@pytest.mark.heavy
def test_without_a_translation_it_says_so(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(None, wait=False, sentence="")
    window.present()
    shown = window.presentation
    assert shown is not None
    assert shown.target.text() == "There is no translation yet."
    qtbot.keyClick(shown, Qt.Key.Key_O)
    qtbot.keyClick(shown, Qt.Key.Key_Right)
    assert not shown.map.isVisible()
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert not shown.isVisible()


@pytest.mark.heavy
def test_a_presenters_remote_steps_through_the_heads_without_a_lesson(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    state, shown = window.state, presented(window, qtbot)
    assert shown.scene.isHidden()
    num_layers, num_heads = state.maps.shape("cross")
    state.intents.choose_head(Head("cross", 0, num_heads - 1))
    qtbot.keyClick(shown, Qt.Key.Key_PageDown)
    assert state.selection.head == Head("cross", 1, 0), "after the last head of a layer comes the next layer"
    assert shown.caption.text().startswith(state.selection.head.title)
    qtbot.keyClick(shown, Qt.Key.Key_PageUp)
    assert state.selection.head == Head("cross", 0, num_heads - 1)
    state.intents.choose_head(Head("cross", num_layers - 1, num_heads - 1))
    qtbot.keyClick(shown, Qt.Key.Key_PageDown)
    assert state.selection.head == Head("cross", num_layers - 1, num_heads - 1), "there is none after it"
    assert shown.isVisible()


@pytest.mark.heavy
def test_a_presenters_remote_steps_through_the_scenes_of_a_lesson(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window = make_window()
    write_lesson_file(lesson_for(window), tmp_path / "lesson.augenmerk")
    window.documents.open(tmp_path / "lesson.augenmerk")
    shown = presented(window, qtbot)
    assert shown.scene.isVisible()
    assert "scenes" in shown.hint.text()
    places = [shown.scene.text().split(" · ")[0]]
    for key in (Qt.Key.Key_PageDown, Qt.Key.Key_Right, Qt.Key.Key_PageDown, Qt.Key.Key_Left):
        qtbot.keyClick(shown, key)
        qtbot.waitUntil(lambda: not window.state.request.is_running)
        places.append(shown.scene.text().split(" · ")[0])
    assert places == ["1 of 3", "2 of 3", "3 of 3", "3 of 3", "2 of 3"]
    scene = window.lessons.lesson.scene
    assert scene is not None
    assert scene.text in shown.scene.text()
    assert shown.source.text() == "Zwei Hunde ."
    assert window.state.selection.head == Head("decoder", 1, 2)
    qtbot.keyClick(shown, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert window.state.selection.head == Head("decoder", 1, 1)
    window.lessons.close()
    assert shown.scene.isHidden()
