"""Nothing of a lesson, or of the screen before it, is lost: undo, update, revert, closing,
questions."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QMessageBox
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.lessons.lesson_file import read_lesson_file, write_lesson_file
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import ForcedToken
from augenmerk.core.translation.experiment_file import ModelReference
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.help.palette import CommandPalette
from augenmerk.viz_app.extensions.learn.chapter import read_chapters
from augenmerk.viz_app.extensions.lessons.kept_lesson import UNSAVED_LESSON
from augenmerk.viz_app.extensions.lessons.lesson_bar import AWAITED, CHANGED, LessonTextDialog
from augenmerk.viz_app.extensions.lessons.lesson_documents import shipped_lessons
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.state.experiment_editor import edit_text, intervene, reset, toggle, undo
from augenmerk.viz_app.state.map_view import Pair
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.extensions.lessons.test_lessons_in_the_window import (
    OFF,
    lesson_for,
    question,
    settle,
    shown,
)
from tests.viz_app.parts import LEARN, TRANSLATE, documents_of, learn_page_of, lessons_of
from tests.viz_app.synthetic import FakeTranslator

pytestmark = pytest.mark.heavy


@pytest.fixture
def window(make_window: MakeWindow) -> MainWindow:
    return make_window()


@pytest.fixture
def path(window: MainWindow, tmp_path: Path) -> Path:
    path = tmp_path / "three.augenmerk"
    write_lesson_file(lesson_for(window), path)
    return path


def titles(window: MainWindow) -> list[str]:
    return [scene.title for scene in lessons_of(window).lesson.scenes]


def test_undo_restores_deleted_scenes_where_they_were(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    bar, before = lessons_of(window).bar, titles(window)
    bar.edit_button.click()
    assert not bar.edit_buttons["Restore deleted"].isEnabled()
    for index in range(3):
        qtbot.mouseClick(bar.edit_buttons["Delete scene"], Qt.MouseButton.LeftButton)
        assert "Ctrl+Z restores it" in window.top_bar.status.text()
        if index < 2:
            settle(qtbot, window)
    assert titles(window) == []
    for _ in range(3):
        qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        settle(qtbot, window)
    assert titles(window) == before
    assert window.top_bar.status.text() == f"Restored “{before[1]}”"
    assert not lessons_of(window).has_unsaved_changes, "the lesson is as saved"
    assert shown(qtbot, window) == ("2 of 3", "Zwei Hunde .")
    qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert titles(window) == before, "there is nothing more to undo"


def test_undo_first_undoes_later_changes_of_the_experiment(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    settle(qtbot, window)
    lessons_of(window).editing.delete_scene()
    settle(qtbot, window)
    scene = window.state.experiment
    window.state.submit(reset)
    settle(qtbot, window)
    qtbot.keyClick(
        window.translate_page.sentence.input, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier
    )
    settle(qtbot, window)
    assert (window.state.experiment, len(titles(window))) == (scene, 2)
    qtbot.keyClick(
        window.translate_page.sentence.input, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier
    )
    settle(qtbot, window)
    assert (shown(qtbot, window)[0], len(titles(window))) == ("1 of 3", 3)


@pytest.mark.slow
def test_the_bar_shows_changes_of_the_screen_and_updates_or_reverts(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    lessons_of(window).editing.update_scene()  # with its whole view
    bar, state = lessons_of(window).bar, window.state
    scene = state.experiment

    def is_marked() -> bool:
        settle(qtbot, window)
        assert (
            bar.update_button.isVisible()
            == bar.revert_button.isVisible()
            == (bar.changes.text() == CHANGED)
        )
        return bar.update_button.isVisible()

    assert not is_marked()
    changes = (
        lambda: state.submit(toggle(Head("encoder", 0, 0))),
        lambda: state.submit(edit_text("Drei Hunde .")),
        lambda: state.intents.choose_head(Head("cross", 0, 3)),
        lambda: state.selection.pin(Pair(0, 0)),
        lambda: state.selection.clear_marks(),
        lambda: setattr(state.settings, "label_mode", "read"),
        lambda: state.settings.show_together(Head("decoder", 1, 3), Head("decoder", 1, 2)),
    )
    for change in changes:
        change()
        assert is_marked()
        qtbot.mouseClick(bar.revert_button, Qt.MouseButton.LeftButton)
        assert not is_marked()
        assert (state.experiment, state.selection.head, state.selection.pinned) == (
            scene,
            Head("decoder", 1, 2),
            Pair(2, 1),
        )
    state.selection.clear_marks()
    lessons_of(window).editing.update_scene()
    state.submit(toggle(Head("encoder", 0, 0)))
    assert is_marked()
    state.submit(undo)
    assert not is_marked(), "undone, the screen is the scene again"
    state.intents.choose_head(Head("encoder", 1, 1))
    assert is_marked()
    qtbot.mouseClick(bar.update_button, Qt.MouseButton.LeftButton)
    assert not is_marked()
    assert lessons_of(window).lesson.scene is not None
    assert lessons_of(window).lesson.scene.saved.view["head"] == ("encoder", 1, 1)
    lessons_of(window).lesson.mark_saved()


def test_closing_a_lesson_restores_sentence_heads_and_pin(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    state, pin = window.state, Pair(1, 2)
    state.submit(edit_text("Vier kleine Katzen ."))
    state.submit(toggle(Head("cross", 0, 2)))
    state.intents.choose_head(Head("cross", 1, 3))
    settle(qtbot, window)
    state.selection.pin(pin)
    own = state.experiment
    documents_of(window).open(path)
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    assert state.experiment != own
    lessons_of(window).close()
    settle(qtbot, window)
    assert (state.experiment, state.selection.head, state.selection.pinned) == (
        own,
        Head("cross", 1, 3),
        pin,
    )
    assert window.translate_page.sentence.input.text == "Vier kleine Katzen ."
    state.submit(undo)
    assert state.experiment.interventions == (), "the history goes on"


def test_closing_a_lesson_after_a_restart_restores_the_screen_before_it(
    qtbot: QtBot, window: MainWindow, make_window: MakeWindow, path: Path
) -> None:
    window.state.submit(edit_text("Vier Katzen ."))
    window.state.submit(toggle(Head("cross", 0, 2)))
    settle(qtbot, window)
    own = window.state.experiment
    documents_of(window).open(path)
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    window.close()
    again = make_window(sentence=None)
    assert shown(qtbot, again) == ("2 of 3", "Zwei Hunde .")
    assert not lessons_of(again).bar.shows_changes
    lessons_of(again).close()
    settle(qtbot, again)
    assert again.state.experiment == own


def test_a_lesson_of_another_model_opens_it_without_a_warning_and_closing_restores_the_model(
    qtbot: QtBot, make_window: MakeWindow, tmp_path: Path, bundled_translator: Translator
) -> None:
    other = tmp_path / "other.safetensors"
    window = make_window(
        None, sentence="Ein Mann .", loader=_with_digest_of_bundled(bundled_translator.digest)
    )
    lesson = lesson_for(window)
    model = ModelReference("other", FakeTranslator(other, "cpu").digest)
    opened = []
    documents_of(window).model_requested.connect(opened.append)
    scenes = tuple(
        replace(scene, saved=replace(scene.saved, model=model)) for scene in lesson.scenes
    )
    path = tmp_path / "two-models.augenmerk"
    write_lesson_file(replace(lesson, scenes=(lesson.scenes[0], scenes[1])), path)
    documents_of(window).open(path)
    settle(qtbot, window)
    window.open_model(other)
    qtbot.waitUntil(
        lambda: window.state.model is not None and window.state.model.digest == model.digest
    )
    settle(qtbot, window)
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    assert window.state.experiment.interventions == (OFF,)
    assert "Kept from" not in window.state.notice
    lessons_of(window).close()
    qtbot.waitUntil(lambda: window.state.model is not None and window.state.model.is_bundled)
    settle(qtbot, window)
    assert opened == [None]
    assert shown(qtbot, window)[1] == "Ein Mann ."


def _with_digest_of_bundled(digest: str) -> type[FakeTranslator]:
    class Bundled(FakeTranslator):
        def __init__(self, path: Path | None, device: str) -> None:
            super().__init__(path, device)
            if path is None:
                self.digest = digest

    return Bundled


@pytest.mark.slow
def test_changes_on_the_screen_are_asked_about_in_edit_mode(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    settle(qtbot, window)
    lessons, bar, off = lessons_of(window), lessons_of(window).bar, toggle(Head("encoder", 0, 0))
    window.state.submit(off)
    settle(qtbot, window)
    qtbot.mouseClick(bar.on_button, Qt.MouseButton.LeftButton)
    assert lessons.dialog is None, "who looks at a lesson may try things"
    settle(qtbot, window)
    bar.edit_button.click()
    for button, index, num_changes in (("Cancel", 1, 1), ("Save", 2, 2), ("Discard", 2, 2)):
        lessons.lesson.go_to(1)
        settle(qtbot, window)
        window.state.submit(off)
        settle(qtbot, window)
        qtbot.mouseClick(bar.on_button, Qt.MouseButton.LeftButton)
        question(window).button(QMessageBox.StandardButton[button]).click()
        settle(qtbot, window)
        assert lessons.lesson.place == index
        assert len(lessons.lesson.scenes[1].saved.experiment.interventions) == num_changes
    lessons.save_to(path)
    lessons.lesson.go_to(0)
    settle(qtbot, window)
    window.state.submit(off)
    settle(qtbot, window)
    assert not lessons.lesson.is_changed
    for leave in (lessons.close, window.close, lambda: documents_of(window).open(path)):
        leave()
        question(window).button(QMessageBox.StandardButton.Cancel).click()
        assert window.isVisible()
        assert lessons.bar.isVisible()
    lessons.close()
    question(window).button(QMessageBox.StandardButton.Save).click()
    assert not bar.isVisible()
    assert len(read_lesson_file(path).scenes[0].saved.experiment.interventions) == 1


def test_a_window_whose_unsaved_screen_is_discarded_closes(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    lessons_of(window).bar.edit_button.click()
    window.state.intents.choose_head(Head("encoder", 0, 1))
    window.close()
    question(window).button(QMessageBox.StandardButton.Discard).click()
    assert not window.isVisible()


def test_typed_texts_are_not_discarded_without_a_question(qtbot: QtBot, window: MainWindow) -> None:
    lessons_of(window).editing.add_scene()
    dialog = lessons_of(window).dialog
    assert isinstance(dialog, LessonTextDialog)
    qtbot.keyClicks(dialog.texts[0], "A long explanation")
    for answer in (QMessageBox.StandardButton.Cancel, QMessageBox.StandardButton.Discard):
        assert dialog.isVisible()
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
        (box,) = [box for box in dialog.findChildren(QMessageBox) if box.isVisible()]
        box.button(answer).click()
    assert not dialog.isVisible()
    assert not lessons_of(window).bar.isVisible()


def test_sentence_and_maps_of_a_scene_appear_together(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    settle(qtbot, window)
    state, page = window.state, window.translate_page
    lessons_of(window).lesson.step(1)
    assert state.request.is_running
    assert lessons_of(window).bar.title.text() == "Scene 2"
    assert page.sentence.input.text == "Ein Hund ."
    assert state.selection.head != Head("decoder", 1, 2)
    qtbot.waitUntil(lambda: not state.request.is_running)
    assert page.sentence.input.text == "Zwei Hunde ."
    assert (state.selection.head, state.selection.pinned) == (Head("decoder", 1, 2), Pair(2, 1))


@pytest.mark.slow
def test_a_scene_that_takes_long_is_announced(
    qtbot: QtBot, make_window: MakeWindow, path: Path
) -> None:
    class Slow(FakeTranslator):
        def run(self, experiment, *, should_stop=lambda: False):
            if experiment.source_text != "Ein Mann .":
                time.sleep(0.7)
            return super().run(experiment, should_stop=should_stop)

    window = make_window(loader=Slow)
    documents_of(window).open(path)
    bar = lessons_of(window).bar
    qtbot.waitUntil(lambda: bar.changes.isVisible() and bar.changes.text() == AWAITED)
    assert window.translate_page.sentence.input.text == "Ein Mann ."
    settle(qtbot, window)
    assert not bar.changes.isVisible()


@pytest.mark.allow_log_warnings
def test_a_scene_that_is_refused_leaves_the_screen_and_its_view(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    lesson = lesson_for(window)
    wrong = replace(
        lesson.scenes[1].saved,
        experiment=replace(lesson.scenes[1].saved.experiment, source_text="BOOM"),
    )
    path = tmp_path / "wrong.augenmerk"
    write_lesson_file(
        replace(lesson, scenes=(lesson.scenes[0], replace(lesson.scenes[1], saved=wrong))), path
    )
    documents_of(window).open(path)
    settle(qtbot, window)
    head = window.state.selection.head
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    for box in window.findChildren(QMessageBox):
        box.close()
    assert window.translate_page.sentence.input.text == "Ein Hund ."
    assert lessons_of(window).bar.shows_changes, "it offers another try"
    window.state.submit(edit_text("Eine Katze ."))
    settle(qtbot, window)
    assert window.state.selection.head == head


@pytest.mark.slow
def test_no_scene_of_the_shipped_lessons_counts_as_changed(
    qtbot: QtBot, make_window: MakeWindow
) -> None:
    window = make_window(None, loader=None)
    for path in shipped_lessons():
        documents_of(window).open(path)
        for index in range(len(lessons_of(window).lesson.scenes)):
            settle(qtbot, window)
            assert lessons_of(window).lesson.place == index
            assert not lessons_of(window).bar.shows_changes, (path.stem, index)
            assert "Kept from" not in window.state.notice
            lessons_of(window).lesson.step(1)


def test_lessons_are_listed_below_the_chapters_with_recent_ones_on_top(
    qtbot: QtBot, window: MainWindow, path: Path, tmp_path: Path
) -> None:
    documents_of(window).save(tmp_path / "experiment.augenmerk")
    (tmp_path / "gone.augenmerk").write_bytes(path.read_bytes())
    documents_of(window).open(tmp_path / "gone.augenmerk")
    (tmp_path / "gone.augenmerk").unlink()
    documents_of(window).open(path)
    lessons_of(window).close()
    window.pages.show(LEARN)
    learn = learn_page_of(window)
    assert learn is not None
    names = [button.toolTip() for button in learn.list.lesson_buttons]
    assert names[0] == "Lesson: Three scenes"
    assert names[1:] == [
        f"Lesson: {read_lesson_file(lesson).title}" for lesson in shipped_lessons()
    ]
    window.resize(1100, 700)
    assert learn.list.lesson_buttons[0].text() == "Three scenes"
    assert learn.list.lesson_buttons[0].accessibleName() == "Lesson: Three scenes"
    assert learn.list.buttons[0].accessibleName() == f"Chapter 1: {learn.chapters[0].title}"
    window.resize(1920, 1080)
    assert learn.list.lesson_buttons[0].text() == "Three scenes"
    qtbot.mouseClick(learn.list.lesson_buttons[0], Qt.MouseButton.LeftButton)
    assert window.top_bar.tabs[TRANSLATE].isChecked()
    assert lessons_of(window).lesson.path == path


@pytest.mark.slow
def test_the_palette_finds_every_tab_command_chapter_and_lesson_by_its_title(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    window.state.submit(intervene(OFF, ForcedToken(1, "dog")))
    settle(qtbot, window)
    lessons_of(window).bar.edit_button.click()
    lessons_of(window).editing.delete_scene()
    settle(qtbot, window)
    window.commands.run("Commands")
    (palette,) = window.findChildren(CommandPalette)
    titles = [command.title for command in window.commands.commands if command.is_offered]
    titles += [f"Learn: {chapter.title}" for chapter in read_chapters()]
    titles += [f"Lesson: {read_lesson_file(file).title}" for file in (path, *shipped_lessons())]
    titles += [tab.tab.name for tab in window.analysis.tabs]
    menu = window.top_bar.menu_button.menu()
    assert menu is not None
    for title in titles:
        palette.field.setText(title)
        results = [palette.results.item(row).text() for row in range(palette.results.count())]
        assert any(title in result for result in results), title
    offered = {command.title for command in window.commands.commands}
    for action in menu.actions():
        if action.menu() is None and action.isEnabled() and not action.isSeparator():
            name = action.text().partition("\t")[0]
            assert any(name.lower() in title.lower() for title in offered), (
                f"{name} is in the menu alone"
            )
    palette.close()
    lessons_of(window).lesson.mark_saved()


def test_a_copy_of_a_lesson_is_told_apart_from_the_lesson_by_the_name_of_its_file(
    window: MainWindow, tmp_path: Path
) -> None:
    shipped = shipped_lessons()[0]
    lesson = read_lesson_file(shipped)
    copy = tmp_path / "my-lesson.augenmerk"
    write_lesson_file(lesson, copy)
    for path in (shipped, copy):
        window.preferences.recent_experiments.remember(path)
    listed = [command.title for command in lessons_of(window).listed()]
    assert [title for title in listed if lesson.title in title] == [
        f"Lesson: {lesson.title} (my-lesson)",
        f"Lesson: {lesson.title}",
    ]


def test_the_title_of_a_question_is_not_cut(window: MainWindow, path: Path) -> None:
    documents_of(window).open(path)
    lessons = lessons_of(window)
    lessons.lesson.rename("Attention in " + "very " * 12 + "many scenes")
    lessons.close()
    assert isinstance(lessons.dialog, QMessageBox)
    label = lessons.dialog.findChild(QLabel, "qt_msgbox_label")
    lines_px = 500  # Qt wraps the title of a box that is wider
    assert label.minimumWidth() >= min(
        label.fontMetrics().horizontalAdvance(label.text()), lines_px
    )
    assert label.height() >= label.heightForWidth(label.width())
    lessons.dialog.button(QMessageBox.StandardButton.Discard).click()


def test_changes_are_kept_while_they_are_unsaved(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    lessons, file = lessons_of(window), window.preferences.own_file(UNSAVED_LESSON)
    documents_of(window).open(path)
    settle(qtbot, window)
    assert not file.exists()
    lessons.lesson.rename("Another title")
    assert read_lesson_file(file).title == "Another title"
    lessons.save_to(path)
    assert not file.exists()
    lessons.lesson.rename("A third title")
    lessons.close()
    question(window).button(QMessageBox.StandardButton.Discard).click()
    assert not file.exists(), "the user discarded the changes"


def test_unsaved_changes_of_a_saved_lesson_are_back_at_the_next_start(
    qtbot: QtBot, make_window: MakeWindow, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    settle(qtbot, window)
    lessons_of(window).lesson.rename("Another title")
    again = make_window()  # as after a crash: the first window has not been closed
    assert lessons_of(again).restore(shows_scene=False) is None
    lesson = lessons_of(again).lesson
    assert (lesson.lesson and lesson.lesson.title, lesson.path, lesson.is_changed) == (
        "Another title",
        path,
        True,
    )
    assert read_lesson_file(path).title != "Another title", "the file is as saved"
    for opened_window in (window, again):
        lessons_of(opened_window).lesson.mark_saved()  # so that closing does not ask


def test_changes_of_a_session_that_was_not_restored_are_set_aside(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    file = window.preferences.own_file(UNSAVED_LESSON)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("of a start without a sentence", encoding="utf-8")
    documents_of(window).open(path)
    settle(qtbot, window)
    earlier = file.with_name("earlier-unsaved-lesson.augenmerk")
    with qtbot.waitSignal(lessons_of(window).done) as said:
        lessons_of(window).lesson.rename("Another title")
    assert said.args == [f"The unsaved lesson of an earlier session is now {earlier}"]
    assert read_lesson_file(file).title == "Another title"
    assert "of a start" in earlier.read_text(encoding="utf-8")
    lessons_of(window).lesson.mark_saved()


def test_a_damaged_file_of_unsaved_changes_is_reported_once_and_set_aside(
    window: MainWindow,
) -> None:
    file = window.preferences.own_file(UNSAVED_LESSON)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{", encoding="utf-8")
    assert lessons_of(window).restore(shows_scene=False) is not None
    assert not file.exists()
    assert file.with_name(file.name + ".unreadable").exists()
    assert lessons_of(window).restore(shows_scene=False) is None
