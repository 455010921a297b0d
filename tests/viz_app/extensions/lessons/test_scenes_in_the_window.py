"""Scenes with a question, an answer, a pointer, or another view than the large map."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.extensions.lessons.lesson_file import read_lesson_file, write_lesson_file
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment_file import write_experiment_file
from augenmerk.viz_app.extensions.documents.reading import check_view, view_values
from augenmerk.viz_app.extensions.lessons.lesson_bar import COMPUTING, LARGE_MAP, LessonTextDialog
from augenmerk.viz_app.extensions.pictures.printed_maps import small_maps
from augenmerk.viz_app.extensions.presentation.pointer import POINTER_COMMANDS
from augenmerk.viz_app.extensions.tabs.compare.view import CompareTab
from augenmerk.viz_app.heatmap.drawing import large_map
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.state.map_view import Pair, Pointed, Pointer
from augenmerk.viz_app.state.map_view_settings import FIT
from augenmerk.viz_app.state.marks import pointed_word
from augenmerk.viz_app.state.tabs import TABS, Content, Tab
from tests.builders import first_quick
from tests.viz_app.builders import settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.extensions.lessons.test_lessons_in_the_window import lesson_for, settle, shown
from tests.viz_app.parts import (
    LEARN,
    TRANSLATE,
    documents_of,
    lessons_of,
    open_chapter_in,
    presentation_of,
    views_of,
)

pytestmark = pytest.mark.heavy


@pytest.fixture
def window(make_window: MakeWindow) -> MainWindow:
    return make_window()


def open_lesson(qtbot: QtBot, window: MainWindow, tmp_path: Path, *changes: dict[str, str]) -> Path:
    """Opens three scenes, of which the first ones have other texts."""
    lesson, path = lesson_for(window), tmp_path / "scenes.augenmerk"
    changed = tuple(
        replace(scene, **change) for scene, change in zip(lesson.scenes, changes, strict=False)
    )
    write_lesson_file(replace(lesson, scenes=changed + lesson.scenes[len(changed) :]), path)
    documents_of(window).open(path)
    settle(qtbot, window)
    return path


def test_a_scene_resets_the_options_it_omits_and_an_experiment_keeps_them(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    settings, experiment = window.state.settings, tmp_path / "one.augenmerk"
    write_experiment_file(lesson_for(window).scenes[0].saved, experiment)
    settings.transposes, settings.zoom = True, 40.0
    documents_of(window).open(experiment)
    settle(qtbot, window)
    assert (settings.transposes, settings.zoom) == (True, 40.0)
    open_lesson(qtbot, window, tmp_path)
    assert (settings.transposes, settings.zoom) == (False, FIT), (
        "the texts of a scene describe rows"
    )
    bar = lessons_of(window).bar
    assert not bar.revert_button.isVisible()
    settings.transposes = True
    assert bar.revert_button.isVisible(), "the texts no longer fit"


def test_a_scene_with_several_heads_shows_them_without_a_scope(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    lesson, path = lesson_for(window), tmp_path / "scenes.augenmerk"
    saved = replace(lesson.scenes[0].saved, view={"several": (("cross", 0, 0), ("cross", 0, 1))})
    write_lesson_file(replace(lesson, scenes=(replace(lesson.scenes[0], saved=saved),)), path)
    documents_of(window).open(path)
    settle(qtbot, window)
    assert window.state.settings.scope == "chosen"


ASKED = {"question": "What is it?", "answer": "A dog."}


def test_a_question_is_asked_then_answered_then_left(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    open_lesson(qtbot, window, tmp_path, ASKED, {"question": "Without an answer?"})
    bar, grid = lessons_of(window).bar, window.translate_page.heads.grid
    for step in (
        lambda: qtbot.keyClick(grid, Qt.Key.Key_Right),
        lambda: qtbot.mouseClick(bar.on_button, Qt.MouseButton.LeftButton),
        lambda: qtbot.mouseClick(bar.reveal_button, Qt.MouseButton.LeftButton),
        lambda: qtbot.keyClick(window, Qt.Key.Key_PageDown),
    ):
        assert shown(qtbot, window)[0] == "1 of 3"
        assert (bar.question.text(), bar.answer.isVisible()) == ("What is it?", False)
        assert bar.reveal_button.isVisible()
        step()
        assert (bar.answer.text(), bar.answer.isVisible()) == ("A dog.", True)
        assert not bar.reveal_button.isVisible()
        assert shown(qtbot, window)[0] == "1 of 3", "the answer comes before the next scene"
        qtbot.keyClick(window, Qt.Key.Key_PageDown)
        assert shown(qtbot, window)[0] == "2 of 3"
        assert bar.question.isVisible()
        assert not bar.reveal_button.isVisible()
        qtbot.keyClick(window, Qt.Key.Key_PageUp)
    bar.reveal_button.click()
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    assert shown(qtbot, window)[0] == "3 of 3", "a question without an answer is not waited for"


def test_the_last_scene_shows_its_answer_too(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    open_lesson(qtbot, window, tmp_path, {}, {}, ASKED)
    lessons_of(window).lesson.go_to(2)
    settle(qtbot, window)
    bar = lessons_of(window).bar
    qtbot.mouseClick(bar.on_button, Qt.MouseButton.LeftButton)
    assert bar.answer.text() == "A dog."
    assert not bar.on_button.isEnabled()


def test_a_computed_answer_is_shown_before_the_typed_one(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    open_lesson(
        qtbot,
        window,
        tmp_path,
        {**ASKED, "check": "num-tokens"},
        {"question": "?", "check": "without-head"},
    )
    bar = lessons_of(window).bar
    bar.step_scene(1)
    assert bar.answer.text().startswith("More than that. The encoder reads 5 tokens")
    assert bar.answer.text().endswith("A dog.")
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    bar.step_scene(1)
    qtbot.waitUntil(lambda: bar.answer.text() != COMPUTING)
    assert "about as probable as before" in bar.answer.text(), "of a head that changes nothing"
    lessons_of(window).lesson.step(-1)
    assert not bar.answer.isVisible(), "the answer belongs to one scene"


def test_the_dialog_offers_questions_of_the_chapters_and_needs_one_for_an_answer(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = open_lesson(qtbot, window, tmp_path)
    lessons_of(window).editing.ask_for_texts()
    dialog = lessons_of(window).dialog
    assert isinstance(dialog, LessonTextDialog)
    ok, (_, question, answer) = (
        dialog.buttons.button(dialog.buttons.StandardButton.Ok),
        dialog.texts,
    )
    answer.setPlainText("Yes.")
    assert not ok.isEnabled(), "an answer needs a question"
    answer.clear()
    while dialog.computed.currentData() != "num-tokens":
        qtbot.keyClick(dialog.computed, Qt.Key.Key_Down)
    assert "how many tokens does the encoder read? More than that" in question.toPlainText()
    qtbot.keyClick(dialog.computed, Qt.Key.Key_Down)
    assert "how many tokens" not in question.toPlainText(), "another choice asks another question"
    question.setPlainText("My own?")
    qtbot.keyClick(dialog.computed, Qt.Key.Key_Up)
    assert question.toPlainText() == "My own?"
    assert dialog.view.currentText() == LARGE_MAP
    dialog.view.setCurrentIndex(dialog.view.findData("alignment"))
    ok.click()
    lessons_of(window).save()
    (scene, *_) = read_lesson_file(path).scenes
    assert (scene.question, scene.check, scene.page) == ("My own?", "num-tokens", "alignment")


@pytest.mark.slow
def test_a_scene_shows_another_view_in_the_window_and_in_the_presentation(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    open_lesson(
        qtbot,
        window,
        tmp_path,
        {"page": "alignment"},
        {"page": "chapter mask"},
        {"page": "of-a-later-version"},
    )
    bar, tabs = lessons_of(window).bar, window.top_bar.tabs
    assert window.analysis.isVisible()
    assert window.analysis.tab_name == "alignment"
    qtbot.keyClick(window, Qt.Key.Key_PageDown)
    assert tabs[LEARN].isChecked()
    assert views_of(window).presentable == "chapter mask"
    assert bar.isVisible(), "the lesson goes on from there"
    qtbot.mouseClick(bar.on_button, Qt.MouseButton.LeftButton)
    assert tabs[TRANSLATE].isChecked()
    settle(qtbot, window)
    qtbot.keyClick(window, Qt.Key.Key_F5)
    seen = []
    for key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, None):
        assert presentation_of(window).view is not None
        seen.append(presentation_of(window).view.name)
        assert presentation_of(window).scene.isVisible()
        if key is not None:
            qtbot.keyClick(presentation_of(window), key)
            settle(qtbot, window)
    assert seen == ["map", "chapter mask", "alignment", "chapter mask"]
    qtbot.keyClick(presentation_of(window), Qt.Key.Key_Escape)
    lessons_of(window).close()


def test_a_new_scene_shows_the_view_in_sight(qtbot: QtBot, window: MainWindow) -> None:
    open_chapter_in(window, "mask")
    lessons_of(window).editing.add_scene()
    dialog = lessons_of(window).dialog
    assert isinstance(dialog, LessonTextDialog)
    assert dialog.view.currentData() == "chapter mask"
    dialog.done(0)


def test_a_pointer_is_set_by_the_menu_saved_and_part_of_the_drawing(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = open_lesson(qtbot, window, tmp_path)
    state, bar = window.state, lessons_of(window).bar
    commands = {command.title.removeprefix("Pointer: "): command for command in POINTER_COMMANDS}
    assert not commands["ring around the pinned cell"].is_offered(state), "no cell is pinned"
    assert commands["ring around the chosen head"].is_offered(state)
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    drawing = large_map(state)
    assert drawing is not None
    for name, pointed in (
        ("ring around the pinned cell", Pointed("ring", 2, 1)),
        ("arrow at the query of the pinned cell", Pointed("arrow", 2)),
        ("dim all but the word of the pinned cell", None),
        ("dim all but the chosen head", None),
    ):
        commands[name].act(state)
        drawing = large_map(state)
        assert drawing is not None
        assert drawing.marks.pointed == pointed
        assert bar.shows_changes
    block = small_maps(state, "decoder")
    assert [drawing.marks.is_dimmed for drawing in block.lines[1]] == [
        index != 2 for index in range(len(block.lines[1]))
    ]
    assert block.lines[1][2].marks.pointed == Pointed("dim")
    commands["ring around the word of the pinned cell"].act(state)
    assert pointed_word(state) == state.translation.target_words[2]  # type: ignore[union-attr]
    bar.update_button.click()
    lessons_of(window).save()
    assert read_lesson_file(path).scenes[1].saved.view["pointer"] == ("word", "ring")
    lessons_of(window).lesson.step(-1)
    settle(qtbot, window)
    assert state.selection.pointer is None, "a scene without a pointer has none"
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    assert state.selection.pointer == Pointer("word", "ring")
    lessons_of(window).close()
    settle(qtbot, window)
    assert "pointer" not in view_values(state)


@pytest.mark.parametrize(
    "pointer", first_quick([["cell"], ["moon", "ring"], ["cell", "laser"], 3, [1, 2]])
)
def test_a_wrong_pointer_is_refused(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, pointer: object
) -> None:
    path = open_lesson(qtbot, window, tmp_path)
    values = json.loads(path.read_text(encoding="utf-8"))
    values["scenes"][1]["view"]["pointer"] = pointer
    wrong = path.with_name("wrong.augenmerk")
    wrong.write_text(json.dumps(values), encoding="utf-8")
    documents_of(window).open(wrong)
    (box,) = [box for box in window.findChildren(QMessageBox) if box.isVisible()]
    assert "scenes[1]: view.pointer is" in box.informativeText()
    assert "Use one of cell, row, head, word, and one of ring, arrow, dim." in box.informativeText()
    box.close()


def test_the_presentation_marks_the_word_pointed_at(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    open_lesson(qtbot, window, tmp_path)
    state, target = window.state, presentation_of(window).target
    state.selection.pin(Pair(1, 1))
    qtbot.keyClick(window, Qt.Key.Key_F5)
    assert target.text() == "Ein hund."
    for style in ("ring", "arrow"):
        state.selection.pointer = Pointer("word", style)
        assert re.fullmatch(r'Ein <span style="background: [^"]+">hund</span>\.', target.text())
    state.selection.pointer = Pointer("word", "dim")
    assert re.sub(r"<[^>]+>", "", target.text()) == "Ein hund."
    assert "</span>hund<span" in target.text(), "all but this word is dimmed"
    presentation_of(window).end()


def test_escape_removes_the_pointer(qtbot: QtBot, window: MainWindow) -> None:
    state = window.state
    state.selection.pin(Pair(1, 1))
    state.selection.pointer = Pointer("cell", "ring")
    qtbot.keyClick(window.translate_page.heads.grid, Qt.Key.Key_Escape)
    assert state.selection.pointer is None
    assert state.selection.head == Head(
        "cross", state.selection.head.layer, state.selection.head.head
    )


CONTENTS: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "steps": ({"steps_step": 2}, {"steps_step": 1}),
    "word": (
        {"word_step": 2, "word_foil": "<eos>", "word_view": "parts"},
        {"word_step": 1, "word_foil": "", "word_view": "lens"},
    ),
    "alignment": ({"alignment_threshold": 0.5}, {"alignment_threshold": 0.1}),
    "heads": (
        {"heads_question": "behaviour", "heads_sample": "examples"},
        {"heads_question": "importance", "heads_sample": "gold"},
    ),
    "compare": (
        {
            "compare_question": "sentence",
            "compare_text": "Eine Katze .",
            "compare_reads_first": True,
        },
        {
            "compare_question": "checkpoint",
            "compare_text": "Drei Hunde .",
            "compare_reads_first": False,
        },
    ),
}
"""Contents of each tab: those of a scene, and others."""


def contents_of(window: MainWindow, names: dict[str, object]) -> dict[str, object]:
    return {name: window.state.tabs[name] for name in names}


@pytest.mark.parametrize("page", first_quick(CONTENTS))
def test_a_scene_keeps_the_content_of_its_tab(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, page: str
) -> None:
    content, other = CONTENTS[page]
    path = open_lesson(qtbot, window, tmp_path, {"page": page}, {"page": page})
    bar, tabs, lesson = lessons_of(window).bar, window.state.tabs, lessons_of(window).lesson
    for name, value in content.items():
        tabs[name] = value
    lessons_of(window).editing.update_scene()
    assert not bar.shows_changes
    lessons_of(window).save()
    view = read_lesson_file(path).scenes[0].saved.view
    assert {name: view[name] for name in content} == content
    assert (
        not {name for names, _ in CONTENTS.values() for name in names}
        & view.keys() - content.keys()
    )

    lesson.step(1)
    settle(qtbot, window)
    for name, value in other.items():
        tabs[name] = value
    lesson.step(-1)
    settle(qtbot, window)
    assert contents_of(window, content) == content
    assert not bar.shows_changes
    for name, value in other.items():
        tabs[name] = value
        assert bar.shows_changes
        bar.revert_button.click()
        settle(qtbot, window)
        assert contents_of(window, content) == content
        assert not bar.shows_changes


def test_a_scene_keeps_the_content_that_another_package_declares_for_its_tab(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = Content("nats", ("nats", "bits"))
    tab = Tab(
        "Flow", "Flow of entropy", "A test.", "nowhere:Flow", order=100, contents={"unit": unit}
    )
    monkeypatch.setitem(TABS, "entropy-flow", tab)
    path = open_lesson(qtbot, window, tmp_path, {"page": "entropy-flow"})
    window.state.tabs["entropy-flow_unit"] = "bits"
    lessons_of(window).editing.update_scene()
    lessons_of(window).save()
    view = read_lesson_file(path).scenes[0].saved.view
    assert view["entropy-flow_unit"] == "bits"
    with pytest.raises(ExperimentFileError, match="Use one of nats, bits"):
        check_view(window.state, {"entropy-flow_unit": "watts"})
    window.state.tabs["entropy-flow_unit"] = "nats"
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    lessons_of(window).lesson.step(-1)
    settle(qtbot, window)
    assert window.state.tabs["entropy-flow_unit"] == "bits"


def test_a_foil_is_read_from_files_of_earlier_versions(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = open_lesson(qtbot, window, tmp_path, {"page": "word"})
    values = json.loads(path.read_text(encoding="utf-8"))
    values["scenes"][0]["view"]["word_rival"] = "dog"
    path.write_text(json.dumps(values), encoding="utf-8")
    documents_of(window).open(path)
    settle(qtbot, window)
    assert window.state.tabs["word_foil"] == "dog"
    assert not lessons_of(window).bar.shows_changes
    lessons_of(window).editing.update_scene()
    lessons_of(window).save()
    view = read_lesson_file(path).scenes[0].saved.view
    assert view["word_foil"] == "dog"
    assert "word_rival" not in view


@pytest.mark.parametrize(
    ("name", "value"),
    first_quick(
        [
            ("steps_step", -1),
            ("word_step", "2"),
            ("word_foil", 3),
            ("word_view", "roots"),
            ("alignment_threshold", 2),
            ("heads_sample", "mine"),
            ("compare_text", ["Hunde"]),
            ("compare_text", "Hund " * 1_900),
            ("compare_reads_first", 1),
            ("word_color", "red"),
        ]
    ),
)
def test_a_wrong_content_of_a_tab_is_refused(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, name: str, value: object
) -> None:
    path = open_lesson(qtbot, window, tmp_path)
    values = json.loads(path.read_text(encoding="utf-8"))
    values["scenes"][0]["view"][name] = value
    path.write_text(json.dumps(values), encoding="utf-8")
    before = contents_of(window, {name: value for names, _ in CONTENTS.values() for name in names})
    documents_of(window).open(path)
    (box,) = [box for box in window.findChildren(QMessageBox) if box.isVisible()]
    assert f"view.{name} " in box.informativeText()
    assert len(box.informativeText()) < 1500
    assert contents_of(window, before) == before
    box.close()


def test_the_second_sentence_of_a_scene_is_compared_when_it_is_shown(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    open_lesson(qtbot, window, tmp_path, {"page": "compare"})
    lessons_of(window).lesson.go_to(0)
    settle(qtbot, window)
    tab = window.analysis.tab
    assert isinstance(tab, CompareTab)
    tab.sentence.setText("Zwei Katzen .")
    tab.compare.click()
    qtbot.waitUntil(lambda: tab.comparing.comparison is not None)
    lessons_of(window).editing.update_scene()
    lessons_of(window).lesson.mark_saved()
    lessons_of(window).lesson.step(1)
    settle(qtbot, window)
    tab.sentence.clear()
    lessons_of(window).lesson.step(-1)
    settle(qtbot, window)
    qtbot.waitUntil(lambda: tab.comparing.comparison is not None)
    assert tab.sentence.text() == "Zwei Katzen ."
    comparison = tab.comparing.comparison
    assert comparison is not None
    assert comparison.second.experiment.source_text == "Zwei Katzen ."
    assert not lessons_of(window).bar.shows_changes


def test_closing_a_lesson_restores_the_content_of_the_tabs(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    window.state.tabs["compare_text"] = "Eine Frau ."
    open_lesson(qtbot, window, tmp_path)
    window.state.tabs["compare_text"] = "Zwei Katzen ."
    lessons_of(window).lesson.mark_saved()
    lessons_of(window).close()
    settle(qtbot, window)
    qtbot.waitUntil(lambda: window.state.tabs["compare_text"] == "Eine Frau .")


@pytest.mark.parametrize(("width", "has_room"), [(1100, False), (1440, True)])
@pytest.mark.parametrize("was_open", [False, True])
def test_a_scene_of_the_maps_shows_all_heads_and_a_scene_of_a_tab_opens_it(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, width: int, has_room: bool, was_open: bool
) -> None:
    """Also where all heads give way to the analysis; closing the lesson brings that back."""
    window.resize(width, 700)
    page, lesson = window.translate_page, lessons_of(window).lesson
    page.arrangement.show_analysis(was_open)
    settle_layout()
    open_lesson(qtbot, window, tmp_path, {"page": ""}, {"page": "alignment"}, {"page": ""})
    for place, has_tab in ((0, False), (1, True), (2, False)):
        lesson.go_to(place)
        settle(qtbot, window)
        is_wanted = has_tab or (has_room and window.preferences.is_analysis_open)
        assert page.heads.isVisible() == (has_room or not has_tab)
        assert page.analysis.isVisible() == is_wanted
        if place == 0:
            assert window.preferences.is_analysis_open == was_open
    lesson.go_to(0)
    lesson.mark_saved()
    lessons_of(window).close()
    settle(qtbot, window)
    assert page.analysis.isVisible(), "as the scene of the tab has opened it"


def test_a_scene_of_the_maps_shows_all_heads_at_the_next_start(
    qtbot: QtBot, make_window: MakeWindow, tmp_path: Path
) -> None:
    window = make_window()
    window.resize(1100, 700)
    window.translate_page.arrangement.show_analysis(True)
    settle_layout()
    open_lesson(qtbot, window, tmp_path)
    window.close()
    window = make_window(sentence=None, wait=False)
    window.resize(1100, 700)
    qtbot.waitUntil(lambda: window.state.current is not None)
    settle(qtbot, window)
    assert lessons_of(window).lesson.scene is not None
    assert window.translate_page.heads.isVisible()
    assert not window.translate_page.analysis.isVisible()


def test_closing_a_lesson_of_maps_brings_back_the_analysis_that_it_closed(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    window.resize(1100, 700)
    page = window.translate_page
    page.arrangement.show_analysis(True)
    settle_layout()
    open_lesson(qtbot, window, tmp_path)
    assert page.heads.isVisible()
    lessons_of(window).close()
    settle(qtbot, window)
    assert page.analysis.isVisible()


def test_a_scene_that_shows_another_part_forgets_the_content_of_the_former(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    open_lesson(qtbot, window, tmp_path, {"page": "compare"})
    window.state.tabs["compare_text"] = "Zwei Katzen ."
    lessons_of(window).editing.update_scene()
    lessons_of(window).editing.ask_for_texts()
    dialog = lessons_of(window).dialog
    assert isinstance(dialog, LessonTextDialog)
    dialog.view.setCurrentIndex(dialog.view.findData("alignment"))
    dialog.buttons.accepted.emit()
    view = lessons_of(window).lesson.scenes[0].saved.view
    assert "compare_text" not in view
    assert view["alignment_threshold"] == window.state.tabs["alignment_threshold"]
    lessons_of(window).lesson.mark_saved()
