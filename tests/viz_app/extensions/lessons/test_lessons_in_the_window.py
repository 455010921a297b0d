"""Lessons as a teacher uses them: opened, stepped through by keys, edited, saved; unsaved changes
are asked about.
"""

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog, QMenu, QMessageBox
from pytestqt.qtbot import QtBot

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.lessons.lesson_file import (
    MAX_TEXT_CHARACTERS,
    Lesson,
    Scene,
    read_lesson_file,
    write_lesson_file,
)
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, HeadScaled
from augenmerk.core.translation.experiment_file import ModelReference, SavedExperiment
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.documents.reading import is_experiment, read_lesson
from augenmerk.viz_app.extensions.documents.session import SESSION
from augenmerk.viz_app.extensions.help.palette import CommandPalette
from augenmerk.viz_app.extensions.lessons.lesson_bar import (
    NEEDS_QUESTION,
    NEEDS_TITLE,
    LessonTextDialog,
)
from augenmerk.viz_app.extensions.lessons.lesson_documents import shipped_lessons
from augenmerk.viz_app.extensions.lessons.lesson_export import LessonResultsJob, scene_parts
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import reset, toggle, undo
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.model_info import ModelInfo
from tests.builders import first_quick
from tests.conftest import open_once
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.extensions.pictures.test_html_page import Parts
from tests.viz_app.parts import (
    LEARN,
    TRANSLATE,
    documents_of,
    exports_of,
    learn_page_of,
    lessons_of,
)

pytestmark = pytest.mark.heavy  # each test makes a window with a model

OFF = HeadScaled(Head("cross", 1, 4))
SENTENCES = ("Ein Hund .", "Zwei Hunde .", "Drei Katzen .")


def lesson_for(window: MainWindow, *, digest: str = "") -> Lesson:
    """Three scenes for the model of a window; the second has a change, a head and a pinned cell."""
    model = window.state.model
    assert model is not None
    reference = ModelReference(model.title, digest or model.digest)
    views = (
        {},
        {"head": ("decoder", 1, 2), "pinned": (2, 1)},
        {"head": ("cross", 0, 0), "shown": "original"},
    )
    return Lesson(
        "Three scenes",
        tuple(
            Scene(
                f"Scene {number}",
                f"Sentence {number}.",
                SavedExperiment(
                    Experiment(text, interventions=(OFF,) if number == 2 else ()), reference, view
                ),
            )
            for number, text, view in zip((1, 2, 3), SENTENCES, views, strict=True)
        ),
    )


def settle(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: not window.state.request.is_running and window.state.result is not None)


def shown(qtbot: QtBot, window: MainWindow) -> tuple[str, str]:
    """The place, and the sentence on the screen."""
    settle(qtbot, window)
    assert window.state.translation is not None
    return lessons_of(window).bar.place.text(), window.state.translation.source_text


@pytest.fixture
def window(make_window: MakeWindow) -> MainWindow:
    return make_window()


@pytest.fixture
def path(window: MainWindow, tmp_path: Path) -> Path:
    path = tmp_path / "three.augenmerk"
    write_lesson_file(lesson_for(window), path)
    return path


def test_a_lesson_is_stepped_through_by_keys_and_buttons(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    bar = lessons_of(window).bar
    assert not bar.isVisible()
    documents_of(window).open(path)
    assert bar.isVisible()
    assert shown(qtbot, window) == ("1 of 3", "Ein Hund .")
    assert (bar.title.text(), bar.text.text()) == ("Scene 1", "Sentence 1.")
    assert not bar.back_button.isEnabled()
    window.activateWindow()
    page = window.translate_page
    qtbot.keyClick(page.sentence.input, Qt.Key.Key_PageDown)
    assert shown(qtbot, window) == ("2 of 3", "Zwei Hunde .")
    assert window.state.experiment.interventions == (OFF,)
    assert window.state.selection.head == Head("decoder", 1, 2)
    assert window.state.selection.pinned == Pair(2, 1)
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_Right)
    assert shown(qtbot, window) == ("3 of 3", "Drei Katzen .")
    assert window.state.settings.shown == "original"
    assert window.state.selection.pinned is None, (
        "a scene that pins nothing shows no cell of another"
    )
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_Right)
    assert shown(qtbot, window)[0] == "3 of 3"
    qtbot.keyClick(page.heads.grid, Qt.Key.Key_Left)
    qtbot.keyClick(window, Qt.Key.Key_PageUp)
    assert shown(qtbot, window) == ("1 of 3", "Ein Hund .")
    qtbot.mouseClick(bar.on_button, Qt.MouseButton.LeftButton)
    assert shown(qtbot, window)[0] == "2 of 3"
    bar.on_button.setFocus()
    qtbot.keyClick(bar.on_button, Qt.Key.Key_Left)
    assert shown(qtbot, window)[0] == "1 of 3"


def test_arrows_walk_heads_again_in_edit_mode_and_without_a_lesson(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    grid, hint = window.translate_page.heads.grid, window.translate_page.heads.hint
    documents_of(window).open(path)
    settle(qtbot, window)
    assert "← → scenes" in hint.text()
    window.state.intents.choose_head(Head("encoder", 0, 0))
    lessons_of(window).bar.edit_button.click()
    assert "scenes" not in hint.text()
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    assert window.state.selection.head == Head("encoder", 0, 1)
    lessons_of(window).bar.edit_button.click()
    lessons_of(window).close()
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    assert window.state.selection.head == Head("encoder", 0, 2)
    qtbot.keyClick(window, Qt.Key.Key_PageDown)
    assert lessons_of(window).lesson.lesson is None


def test_undo_stays_inside_a_scene_and_leads_back_after_the_lesson(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    state = window.state
    state.submit(toggle(Head("cross", 0, 0)))
    settle(qtbot, window)
    own = state.experiment
    documents_of(window).open(path)
    settle(qtbot, window)
    assert not state.editor.can_undo
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    assert not state.editor.can_undo
    scene = state.experiment
    state.submit(reset)
    settle(qtbot, window)
    assert state.editor.can_undo
    state.submit(undo)
    settle(qtbot, window)
    assert state.experiment == scene
    state.submit(reset)
    lessons_of(window).bar.revert_button.click()
    settle(qtbot, window)
    assert (state.experiment, state.editor.can_undo) == (scene, False)
    lessons_of(window).close()
    settle(qtbot, window)
    assert state.experiment == own
    state.submit(undo)
    settle(qtbot, window)
    assert state.experiment.interventions == ()


OTHER_VIEW = {
    "label_mode": "read",
    "scale": "own",
    "hides_punctuation": True,
    "picture": "lines",
    "scope": "layer",
}
"""Of the fourth scene, which shows maps in other ways than the user does."""


@pytest.fixture
def path_of_other_view(window: MainWindow, tmp_path: Path) -> Path:
    lesson = lesson_for(window)
    last = lesson.scenes[-1]
    other = replace(last, title="Scene 4", saved=replace(last.saved, view=OTHER_VIEW))
    path = tmp_path / "four.augenmerk"
    write_lesson_file(replace(lesson, scenes=(*lesson.scenes, other)), path)
    return path


def look(window: MainWindow) -> dict[str, object]:
    settings = window.state.settings
    return {field.name: getattr(settings, field.name) for field in fields(settings)}


def test_a_closed_lesson_gives_the_users_own_view_settings_back(
    qtbot: QtBot, window: MainWindow, path_of_other_view: Path
) -> None:
    settings = window.state.settings
    settings.hides_wrapping, settings.zoom, settings.scale, settings.order = (
        True,
        20.0,
        "layer",
        "clarity",
    )
    settings.show_together(Head("cross", 0, 1), Head("cross", 0, 0))
    own = look(window)
    documents_of(window).open(path_of_other_view)
    lessons_of(window).lesson.step(3)
    settle(qtbot, window)
    assert OTHER_VIEW.items() <= look(window).items()
    lessons_of(window).close()
    settle(qtbot, window)
    assert look(window) == own
    settings.picture = "lines"
    documents_of(window).open(path_of_other_view)
    lessons_of(window).close()
    settle(qtbot, window)
    assert settings.picture == "lines", "the settings of another time are not taken for the user's"


def test_a_scenes_view_settings_are_not_those_of_the_next_start(
    qtbot: QtBot, window: MainWindow, make_window: MakeWindow, path_of_other_view: Path
) -> None:
    window.state.settings.hides_wrapping = True
    documents_of(window).open(path_of_other_view)
    lessons_of(window).lesson.step(3)
    settle(qtbot, window)
    window.close()
    again = make_window(sentence=None)
    assert lessons_of(again).bar.place.text() == "4 of 4"
    assert again.state.settings.label_mode == "read", "the scene is on the screen as it was"
    lessons_of(again).close()
    settle(qtbot, again)
    settings = again.state.settings
    assert (settings.label_mode, settings.scale, settings.hides_punctuation) == (
        "predicted",
        "shared",
        False,
    )
    assert settings.hides_wrapping, "as the user had it"


def test_an_answer_without_a_question_is_refused_with_the_reason(
    qtbot: QtBot, window: MainWindow
) -> None:
    lessons_of(window).editing.add_scene()
    dialog = lessons_of(window).dialog
    assert isinstance(dialog, LessonTextDialog)
    ok, question = dialog.buttons.button(dialog.buttons.StandardButton.Ok), dialog.texts[1]
    assert dialog.missing.text() == ok.toolTip() == NEEDS_TITLE
    titles = [dialog.computed.itemText(index) for index in range(1, dialog.computed.count())]
    assert all(": " in title and len(title) <= 70 for title in titles)
    qtbot.keyClicks(dialog.title, "Dogs")
    assert ok.isEnabled()
    assert not dialog.missing.text()
    usual = question.placeholderText()
    dialog.texts[2].setPlainText("Two.")
    assert not ok.isEnabled()
    assert question.placeholderText() == dialog.missing.text() == ok.toolTip() == NEEDS_QUESTION
    question.setPlainText("How many?")
    assert ok.isEnabled()
    assert question.placeholderText() == usual
    pasted = QMimeData()
    pasted.setText("a" * 3_000_000)
    dialog.texts[0].insertFromMimeData(pasted)
    assert dialog.texts[0].toPlainText() == "a" * MAX_TEXT_CHARACTERS
    dialog.done(dialog.DialogCode.Rejected)


def test_closing_a_new_lesson_brings_back_the_screen_of_its_first_scene(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    state, lessons = window.state, lessons_of(window)
    before = state.experiment
    for number in (1, 2):
        lessons.editing.add_scene()
        assert isinstance(lessons.dialog, LessonTextDialog)
        lessons.dialog.title.setText(f"Scene {number}")
        lessons.dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).click()
        state.submit(toggle(Head("cross", 0, number)))
        settle(qtbot, window)
    assert state.experiment != before
    lessons.save_to(tmp_path / "mine.augenmerk")
    lessons.bar.edit_button.setChecked(False)
    lessons.close()
    settle(qtbot, window)
    assert state.experiment == before


def test_a_lesson_is_made_from_what_is_on_the_screen(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    state, lessons = window.state, lessons_of(window)
    for number in (1, 2):
        state.submit(toggle(Head("cross", 0, number)))
        settle(qtbot, window)
        lessons.editing.add_scene()
        dialog = lessons.dialog
        assert isinstance(dialog, LessonTextDialog)
        ok = dialog.buttons.button(dialog.buttons.StandardButton.Ok)
        assert not ok.isEnabled(), "a scene needs a title"
        dialog.title.setText(f"  Scene {number} ")
        dialog.texts[0].setPlainText("two\nlines")
        dialog.texts[1].setPlainText("What?")
        ok.click()
    bar = lessons.bar
    assert bar.is_editing
    assert (bar.place.text(), bar.title.text(), bar.text.text()) == (
        "2 of 2",
        "New lesson · Scene 2 *",
        "two lines",
    )
    lessons.editing.ask_for_title()
    assert isinstance(lessons.dialog, LessonTextDialog)
    assert lessons.dialog.title.selectedText() == "New lesson", "what is typed takes its place"
    qtbot.keyClicks(lessons.dialog.title, "Mine")
    lessons.dialog.buttons.accepted.emit()
    bar.edit_buttons["Earlier"].click()
    state.intents.choose_head(Head("encoder", 1, 1))
    bar.update_button.click()
    lessons.save_to(tmp_path / "mine.augenmerk")
    read = read_lesson_file(tmp_path / "mine.augenmerk")
    assert (read.title, [scene.title for scene in read.scenes]) == ("Mine", ["Scene 2", "Scene 1"])
    assert read.scenes[0].saved.experiment == state.experiment
    assert read.scenes[0].saved.view["head"] == ("encoder", 1, 1)
    assert [len(scene.saved.experiment.interventions) for scene in read.scenes] == [2, 1]
    assert read.scenes[1].question == "What?"
    assert not lessons.lesson.is_changed
    assert "*" not in bar.title.text()
    assert tmp_path / "mine.augenmerk" in window.preferences.recent_experiments.paths
    bar.edit_buttons["Delete scene"].click()
    assert bar.place.text() == "1 of 1"
    bar.edit_buttons["Save"].click()
    assert len(read_lesson_file(tmp_path / "mine.augenmerk").scenes) == 1


def test_a_lesson_is_edited_by_keys_alone(qtbot: QtBot, window: MainWindow, path: Path) -> None:
    documents_of(window).open(path)
    settle(qtbot, window)
    lesson = lessons_of(window).lesson

    def titles() -> list[str]:
        return [scene.title for scene in lesson.scenes]

    def do(words: str) -> None:
        window.commands.run("Commands")
        (palette,) = window.findChildren(CommandPalette)
        qtbot.keyClicks(palette.field, words)
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: not window.findChildren(CommandPalette))

    before = titles()
    assert len(before) > 1
    do("lesson scene later")
    assert titles() == [before[1], before[0], *before[2:]]
    do("lesson scene earlier")
    assert titles() == before
    do("lesson change texts")
    assert isinstance(lessons_of(window).dialog, LessonTextDialog)
    lessons_of(window).dialog.title.clear()
    qtbot.keyClicks(lessons_of(window).dialog.title, "Another title")
    qtbot.keyClick(lessons_of(window).dialog.title, Qt.Key.Key_Return)
    assert titles() == ["Another title", *before[1:]]
    do("lesson delete scene")
    assert titles() == before[1:]
    lessons_of(window).save_to(path)  # else the window asks when it is closed


def test_texts_of_a_scene_are_changed_in_a_dialog(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    lessons_of(window).editing.ask_for_texts()
    dialog = lessons_of(window).dialog
    assert isinstance(dialog, LessonTextDialog)
    assert (dialog.title.text(), dialog.texts[0].toPlainText()) == ("Scene 1", "Sentence 1.")
    dialog.texts[0].setPlainText("Other.")
    dialog.buttons.accepted.emit()
    bar = lessons_of(window).bar
    assert bar.text.text() == "Other."
    bar.edit_button.click()
    assert lessons_of(window).lesson.lesson is not None
    title = lessons_of(window).lesson.lesson.title
    assert bar.title.text() == f"{title} · Scene 1 *", "what can be renamed is in sight"
    lessons_of(window).lesson.mark_saved()


def question(window: MainWindow) -> QMessageBox:
    box = lessons_of(window).dialog
    assert isinstance(box, QMessageBox)
    assert box.isVisible()
    return box


def test_unsaved_changes_are_asked_about(qtbot: QtBot, window: MainWindow, path: Path) -> None:
    lessons = lessons_of(window)
    documents_of(window).open(path)
    lessons.lesson.rename("Changed")
    lessons.close()
    question(window).button(QMessageBox.StandardButton.Cancel).click()
    assert lessons.bar.isVisible()
    documents_of(window).open(path)
    assert lessons.lesson.lesson is not None
    assert lessons.lesson.lesson.title == "Changed", "the other lesson waits for the answer"
    question(window).button(QMessageBox.StandardButton.Discard).click()
    assert lessons.lesson.lesson == read_lesson(window.state, path)
    lessons.lesson.rename("Again")
    lessons.close()
    question(window).button(QMessageBox.StandardButton.Save).click()
    assert not lessons.bar.isVisible()
    assert read_lesson_file(path).title == "Again"


def test_the_window_closes_only_when_the_lesson_is_decided(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    lessons_of(window).lesson.rename("Changed")
    window.close()
    assert window.isVisible()
    question(window).button(QMessageBox.StandardButton.Cancel).click()
    assert window.isVisible()
    window.close()
    question(window).button(QMessageBox.StandardButton.Discard).click()
    assert not window.isVisible()
    assert read_lesson_file(path).title == "Three scenes"


def test_a_new_lesson_asks_for_its_file_and_cancelling_keeps_it(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    lessons_of(window).open(read_lesson_file(path), None)
    lessons_of(window).lesson.rename("Mine: all/of it")
    lessons_of(window).close()
    question(window).button(QMessageBox.StandardButton.Save).click()
    dialog = lessons_of(window).dialog
    assert isinstance(dialog, QFileDialog)
    dialog.reject()
    assert lessons_of(window).bar.isVisible()
    assert lessons_of(window).lesson.is_changed
    (path.parent / "folder.augenmerk").mkdir()
    lessons_of(window).save_to(path.parent / "folder.augenmerk")
    (box,) = [box for box in window.findChildren(QMessageBox) if box.isVisible()]
    assert "folder.augenmerk" in box.informativeText()
    box.close()
    lessons_of(window).lesson.mark_saved()


@pytest.mark.parametrize(
    ("change", "named"),
    first_quick(
        [
            (
                lambda values: values["scenes"][1]["view"].update(scale="huge"),
                "scenes[1]: view.scale",
            ),
            (lambda values: values["scenes"][2].update(sound=1), "scenes[2].sound"),
            (
                lambda values: values["scenes"][0]["experiment"].update(source_text="x" * 6_000),
                "scenes[0]: Its sentence",
            ),
            (lambda values: values.update(version=3), "version is 3"),
        ]
    ),
)
def test_a_lesson_that_makes_no_sense_is_refused_whole_and_the_screen_stays(
    qtbot: QtBot, window: MainWindow, path: Path, change, named: str
) -> None:
    documents_of(window).open(path)
    settle(qtbot, window)
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    before = (
        lessons_of(window).lesson.lesson,
        lessons_of(window).lesson.place,
        window.state.experiment,
    )
    values = json.loads(path.read_text(encoding="utf-8"))
    change(values)
    wrong = path.with_name("wrong.augenmerk")
    wrong.write_text(json.dumps(values), encoding="utf-8")
    documents_of(window).open(wrong)
    (box,) = [box for box in window.findChildren(QMessageBox) if box.isVisible()]
    assert named in box.informativeText()
    box.close()
    assert before == (
        lessons_of(window).lesson.lesson,
        lessons_of(window).lesson.place,
        window.state.experiment,
    )
    assert wrong not in window.preferences.recent_experiments.paths


def test_a_lesson_is_dropped_on_the_window_and_remembered(
    qtbot: QtBot, window: MainWindow, path: Path, preferences: Preferences
) -> None:
    window.pages.show(LEARN)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    copy, left, none = (
        Qt.DropAction.CopyAction,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(QDropEvent(QPointF(5, 5), copy, data, left, none))
    assert lessons_of(window).bar.isVisible()
    assert window.top_bar.tabs[TRANSLATE].isChecked()
    assert shown(qtbot, window)[0] == "1 of 3"
    assert preferences.recent_experiments.paths[0] == path
    assert is_experiment(path)


def test_a_lesson_is_opened_with_the_window(
    make_window: MakeWindow, path: Path, qtbot: QtBot
) -> None:
    again = make_window(path, sentence=None)
    assert shown(qtbot, again) == ("1 of 3", "Ein Hund .")


def test_a_lesson_of_a_model_that_is_gone_is_shown_with_the_one_in_use(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "other.augenmerk"
    write_lesson_file(lesson_for(window, digest="b" * 64), path)
    documents_of(window).open(path)
    for sentence in SENTENCES:
        qtbot.waitUntil(
            lambda sentence=sentence: window.state.experiment.source_text == sentence,
            timeout=20_000,
        )
        assert "is neither a recent model" in window.state.notice
        assert lessons_of(window).bar.other_model.isVisible()
        settle(qtbot, window)
        assert not window.state.editor.can_undo
        lessons_of(window).lesson.step(1)


@pytest.mark.heavy
def test_a_scene_says_so_while_a_model_is_open_that_it_is_not_about(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    settle(qtbot, window)
    bar, own = lessons_of(window).bar, window.state.model
    assert own is not None
    assert not bar.other_model.isVisible()
    window.state.begin_model(replace(own, digest="c" * 64))
    assert bar.other_model.isVisible()
    assert bar.other_model.toolTip() or f"“{own.title}”" in bar.other_model.text()
    assert "another model is open" in bar.other_model.text()
    window.state.begin_model(own)
    assert not bar.other_model.isVisible()


def lesson_menu(window: MainWindow) -> QMenu:
    (menu,) = [menu for menu in window.findChildren(QMenu) if menu.title() == "Lesson"]
    menu.aboutToShow.emit()
    return menu


def test_the_menu_offers_the_lessons_that_ship(
    qtbot: QtBot, window: MainWindow, preferences: Preferences
) -> None:
    actions = {action.text(): action for action in lesson_menu(window).actions()}
    assert len(shipped_lessons()) == 4
    assert not actions["Save lesson as…"].isEnabled()
    for name in (
        "Attention in five scenes",
        "Word order",
        "Why heads differ",
        "Attention is not explanation",
    ):
        assert name in actions
    actions["Word order"].trigger()
    assert lessons_of(window).lesson.lesson is not None
    assert lessons_of(window).lesson.lesson.title == "Word order"
    assert lessons_of(window).lesson.path is not None
    assert lessons_of(window).lesson.path.stem.endswith("word-order")
    assert preferences.recent_experiments.paths == ()
    actions = {action.text(): action for action in lesson_menu(window).actions()}
    assert actions["Save lesson as…"].isEnabled()
    actions["Edit lesson"].trigger()
    assert lessons_of(window).bar.is_editing
    lessons_of(window).save()
    assert isinstance(lessons_of(window).dialog, QFileDialog), (
        "a lesson that ships is never overwritten"
    )
    lessons_of(window).dialog.reject()


def test_the_exports_of_a_lesson_propose_different_files(window: MainWindow, path: Path) -> None:
    documents_of(window).open(path)
    names = []
    for title in (
        "Save lesson as…",
        "Export lesson as a page (HTML, PDF)…",
        "Export lesson as a page that runs…",
        "Export lesson as a worksheet…",
        "Export the solutions of the worksheet…",
    ):
        window.commands.run(title)
        dialog = lessons_of(window).dialog
        assert isinstance(dialog, QFileDialog)
        names.append(Path(dialog.selectedFiles()[0]).stem)
        dialog.reject()
    assert len(set(names)) == len(names)


def test_the_key_for_saving_saves_the_lesson_while_it_is_edited(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    lessons, before = lessons_of(window), path.read_bytes()
    lessons.lesson.rename("Renamed")
    exports = exports_of(window)
    lessons.bar.edit_button.setChecked(True)
    QTest.keySequence(window, QKeySequence("Ctrl+S"))
    assert exports.dialog is None
    assert path.read_bytes() != before
    lessons.bar.edit_button.setChecked(False)
    QTest.keySequence(window, QKeySequence("Ctrl+S"))
    assert exports.dialog is not None
    exports.dialog.reject()


def test_a_worksheet_is_exported_from_the_menu(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    actions = {action.text(): action for action in lesson_menu(window).actions()}
    assert not actions["Export lesson as a worksheet…"].isEnabled()
    documents_of(window).open(path)
    actions = {action.text(): action for action in lesson_menu(window).actions()}
    actions["Export lesson as a worksheet…"].trigger()
    dialog = lessons_of(window).dialog
    assert isinstance(dialog, QFileDialog)
    assert dialog.defaultSuffix() == "html"
    dialog.filterSelected.emit("Markdown (*.md)")
    assert dialog.defaultSuffix() == "md"
    dialog.fileSelected.emit(str(path.with_suffix(".md")))
    dialog.reject()
    qtbot.waitUntil(lambda: path.with_suffix(".md").exists(), timeout=20_000)
    text = path.with_suffix(".md").read_text(encoding="utf-8")
    assert "> Zwei Hunde ." in text
    assert text.count("Numbers are percentages.") == 3, "the map of each scene"
    lessons_of(window).export.save_sheet("worksheet", path.parent)
    qtbot.waitUntil(
        lambda: any(box.isVisible() for box in window.findChildren(QMessageBox)), timeout=20_000
    )
    (box,) = [box for box in window.findChildren(QMessageBox) if box.isVisible()]
    assert "worksheet was not saved" in box.text()
    box.close()


def test_the_bar_belongs_to_the_translate_page_and_gives_the_keyboard_back(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    settle(qtbot, window)
    window.pages.show(LEARN)
    assert not lessons_of(window).bar.isVisible()
    assert learn_page_of(window) is not None
    qtbot.keyClick(learn_page_of(window), Qt.Key.Key_PageDown)
    assert lessons_of(window).lesson.place == 0
    window.pages.show(TRANSLATE)
    lessons_of(window).bar.close_button.setFocus()
    lessons_of(window).bar.close_button.click()
    assert window.focusWidget() is window.translate_page.heads.grid


def test_a_lesson_is_exported_as_a_page_with_every_scene_as_the_window_shows_it(
    qtbot: QtBot, window: MainWindow, path: Path
) -> None:
    documents_of(window).open(path)
    settle(qtbot, window)
    target = path.with_suffix(".html")
    lessons_of(window).export.save_web_page(target)
    qtbot.waitUntil(target.exists, timeout=20_000)
    scripts = Parts(target.read_text(encoding="utf-8")).scripts
    first, second, third = (json.loads(script) for script in scripts[:-2])
    assert [scene["facts"]["sentence"] for scene in (first, second, third)] == list(SENTENCES)
    assert (second["shown"], second["pinned"]) == (["decoder", 1, 2], [2, 1])
    assert second["facts"]["experiment"] == display_text(OFF)
    assert third["shown"] == ["cross", 0, 0]
    assert lessons_of(window).lesson.place == 0, "the screen stays"
    lessons_of(window).export.save_web_page(path.parent)
    qtbot.waitUntil(
        lambda: any(box.isVisible() for box in window.findChildren(QMessageBox)), timeout=20_000
    )
    for box in window.findChildren(QMessageBox):
        box.close()


@pytest.mark.slow
def test_a_lesson_is_exported_as_a_page_that_runs_its_model(
    qtbot: QtBot, make_window: MakeWindow, tmp_path: Path
) -> None:
    window = make_window(None, sentence="Ein Mann schläft.", loader=None)
    documents_of(window).open(shipped_lessons()[0])
    settle(qtbot, window)
    target, done = tmp_path / "page.html", list[str]()
    lessons_of(window).done.connect(done.append)
    lessons_of(window).export.save_running_page(target)
    qtbot.waitUntil(
        lambda: any(message.startswith("saved page.html: ") for message in done), timeout=30_000
    )
    page = target.read_text(encoding="utf-8")
    lesson = lessons_of(window).lesson.lesson
    assert lesson is not None
    data = json.loads(page.partition('id="lesson-data">')[2].partition("</script>")[0])
    assert [scene["title"] for scene in data["scenes"]] == [scene.title for scene in lesson.scenes]
    assert 'id="weights"' in page


def test_a_lesson_of_another_model_is_not_exported_as_a_page_that_runs(
    qtbot: QtBot, window: MainWindow, path: Path, tmp_path: Path
) -> None:
    documents_of(window).open(path)
    settle(qtbot, window)
    scene = lessons_of(window).lesson.scene
    assert scene is not None
    lessons_of(window).lesson.change_scene(
        saved=replace(scene.saved, model=ModelReference("theirs", "f" * 64))
    )
    lessons_of(window).export.save_running_page(tmp_path / "page.html")
    qtbot.waitUntil(
        lambda: any(box.isVisible() for box in window.findChildren(QMessageBox)), timeout=20_000
    )
    (box,) = (box for box in window.findChildren(QMessageBox) if box.isVisible())
    assert "was made with the model “theirs”" in f"{box.text()} {box.informativeText()}"
    box.close()
    assert not (tmp_path / "page.html").exists()
    lessons_of(window).lesson.mark_saved()


@pytest.mark.parametrize("path", shipped_lessons(), ids=[path.stem for path in shipped_lessons()])
def test_scenes_of_shipped_lessons_are_exported_with_their_pinned_cell(
    path: Path, bundled_translator: Translator
) -> None:
    lesson = read_lesson_file(path)
    model = ModelInfo(
        "bundled",
        None,
        bundled_translator.run_config,
        bundled_translator.device,
        1,
        digest=bundled_translator.digest,
    )
    results = LessonResultsJob(lesson.scenes, model).run(
        bundled_translator, lambda _: None, lambda: False
    )
    for scene, part in zip(lesson.scenes, scene_parts(lesson, results, model), strict=True):
        pinned = scene.saved.view.get("pinned")
        assert part.content.pinned == (Pair(*pinned) if pinned is not None else None)
        assert [
            part.content.shown.kind,
            part.content.shown.layer,
            part.content.shown.head,
        ] == list(
            scene.saved.view["head"]  # type: ignore[arg-type]
        )
        assert part.content.translation.source_text == scene.saved.experiment.source_text
        if part.content.pinned is not None:
            kind, layer, head = (
                part.content.shown.kind,
                part.content.shown.layer,
                part.content.shown.head,
            )
            shown = part.content.selection.apply(
                part.content.maps[kind], part.content.translation, kind
            )
            cell = part.content.pinned.query, part.content.pinned.key
            percent = round(100 * float(shown.weights[layer, head][cell]))
            assert f"{percent}%" in scene.text, "the map shows what the sentence says"
        assert not any("made with the model" in note for note in part.content.notes)


def test_another_measure_is_computed_and_another_model_named_in_the_page(
    bundled_translator: Translator,
) -> None:
    saved = SavedExperiment(
        Experiment("Zwei Hunde.", interventions=(OFF,)),
        ModelReference("theirs", "f" * 64),
        {"measure": "rollout", "shown": "difference", "head": ("cross", 1, 1)},
    )
    lesson = Lesson("x", (Scene("y", "", saved),))
    model = ModelInfo(
        "bundled",
        None,
        bundled_translator.run_config,
        bundled_translator.device,
        1,
        digest=bundled_translator.digest,
    )
    results = LessonResultsJob(lesson.scenes, model).run(
        bundled_translator, lambda _: None, lambda: False
    )
    (part,) = scene_parts(lesson, results, model)
    assert part.content.measure != "weight"
    assert part.content.original is not None
    assert (
        "The scene was made with the model “theirs”; the maps are those of “bundled”."
        in part.content.notes
    )


@pytest.mark.slow
def test_an_open_lesson_comes_back_with_its_scene_and_what_was_on_the_screen(
    qtbot: QtBot, window: MainWindow, make_window: MakeWindow, path: Path
) -> None:
    documents_of(window).open(path)
    lessons_of(window).lesson.step(2)
    settle(qtbot, window)
    head = Head("encoder", 0, 0)
    window.state.submit(toggle(head))
    settle(qtbot, window)
    experiment = window.state.experiment
    assert OFF not in experiment.interventions
    window.close()
    again = make_window(sentence=None)
    assert shown(qtbot, again) == ("3 of 3", "Drei Katzen .")
    assert again.state.experiment == experiment, "what was changed in the scene stays changed"
    assert lessons_of(again).lesson.path == path
    assert not lessons_of(again).lesson.is_changed
    lessons_of(again).bar.revert_button.click()
    settle(qtbot, again)
    assert again.state.experiment.interventions == ()
    qtbot.keyClick(again.translate_page.heads.grid, Qt.Key.Key_Left)
    assert shown(qtbot, again) == ("2 of 3", "Zwei Hunde .")
    lessons_of(again).close()
    again.close()
    assert lessons_of(make_window(sentence=None)).lesson.lesson is None, "it was closed"


def test_a_shipped_lesson_comes_back_from_wherever_it_is_now(
    qtbot: QtBot, window: MainWindow, make_window: MakeWindow, preferences: Preferences
) -> None:
    documents_of(window).open(shipped_lessons()[1])
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    window.close()
    assert (preferences.lesson_name, preferences.lesson_place) == (
        "shipped:2-word-order.augenmerk",
        1,
    )
    again = make_window(sentence=None)
    assert lessons_of(again).bar.place.text() == "2 of 6"
    assert lessons_of(again).lesson.path == shipped_lessons()[1]


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["missing", "no lesson", "shorter"])
def test_a_lesson_that_cannot_be_opened_again_is_told_once(
    qtbot: QtBot, window: MainWindow, make_window: MakeWindow, path: Path, damage: str
) -> None:
    documents_of(window).open(path)
    lessons_of(window).lesson.step(2)
    settle(qtbot, window)
    window.close()
    if damage == "missing":
        path.unlink()
    elif damage == "no lesson":
        path.write_bytes(b"\x00\xff" * 500)
    else:
        lesson = read_lesson_file(path)
        write_lesson_file(Lesson(lesson.title, lesson.scenes[:1]), path)
    again = make_window(sentence=None)
    assert again.state.translation is not None
    assert again.state.translation.source_text == "Drei Katzen .", "what was on the screen is there"
    boxes = [box for box in again.findChildren(QMessageBox) if box.isVisible()]
    if damage == "shorter":
        assert not boxes
        assert lessons_of(again).bar.place.text() == "1 of 1"
        return
    (box,) = boxes
    assert str(path) in box.informativeText()
    box.accept()
    assert lessons_of(again).lesson.lesson is None
    again.close()
    third = make_window(sentence=None)
    assert not third.findChildren(QMessageBox)


@pytest.mark.slow
def test_a_lesson_comes_back_by_its_own_scene_when_the_session_is_lost(
    qtbot: QtBot, window: MainWindow, make_window: MakeWindow, path: Path, preferences: Preferences
) -> None:
    documents_of(window).open(path)
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    window.close()
    preferences.own_file(SESSION).write_bytes(b"damaged")
    again = make_window(sentence=None)
    assert shown(qtbot, again) == ("2 of 3", "Zwei Hunde .")
    assert again.state.experiment.interventions == (OFF,)
    assert again.state.selection.head == Head("decoder", 1, 2)


def test_a_new_start_with_a_sentence_shows_no_lesson(
    qtbot: QtBot, window: MainWindow, make_window: MakeWindow, path: Path
) -> None:
    documents_of(window).open(path)
    settle(qtbot, window)
    window.close()
    assert lessons_of(make_window(sentence="Ein Mann .")).lesson.lesson is None


def test_closing_a_lesson_translates_no_text_that_was_withheld(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window(None, sentence="Ein Mann liest ein Buch.", loader=open_once)
    state, field = window.state, window.translate_page.sentence.input
    english = "The old man is walking with his dogs in the park today."
    field.set_text(english)
    qtbot.waitUntil(lambda: state.withheld is not None)
    for command in lessons_of(window).listed():
        if command.title.endswith("Word order"):
            command.run()
    qtbot.waitUntil(lambda: state.withheld is None and state.current is not None)
    lessons_of(window).close()
    qtbot.waitUntil(lambda: state.withheld is not None and not state.request.is_running)
    assert field.text == english
    assert window.translate_page.sentence.withheld_notice.isVisible()
    assert state.translation is not None
    assert state.translation.source_text != english
    field.set_text("Two women are sitting on a bench in the garden.")
    qtbot.waitUntil(
        lambda: state.latest is not None and state.latest.experiment == state.experiment
    )
    assert state.withheld is not None, "nobody asked for its translation either"
