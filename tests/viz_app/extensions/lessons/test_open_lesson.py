"""The open lesson without Qt: steps, order, texts, and what is announced."""

from pathlib import Path

import pytest

from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.extensions.lessons.lesson_file import (
    MAX_SCENES,
    MAX_TITLE_CHARACTERS,
    Lesson,
    Scene,
)
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.experiment_file import ModelReference, SavedExperiment
from augenmerk.viz_app.extensions.lessons.lesson import OpenLesson, as_line, as_title

MODEL = ModelReference("one", "a" * 64)


def scene(title: str) -> Scene:
    return Scene(title, f"about {title}", SavedExperiment(Experiment(title), MODEL))


@pytest.fixture
def chosen() -> list[str]:
    return []


@pytest.fixture
def lesson(chosen: list[str]) -> OpenLesson:
    lesson = OpenLesson()
    lesson.scene_chosen.connect(lambda scene: chosen.append(scene.title))
    lesson.open(Lesson("Title", tuple(map(scene, "abc"))), Path("one.augenmerk"))
    return lesson


def titles(lesson: OpenLesson) -> str:
    return "".join(scene.title for scene in lesson.scenes)


def test_steps_stay_inside_the_lesson(lesson: OpenLesson, chosen: list[str]) -> None:
    for by in (1, 1, 1, -1, -1, -1):
        lesson.step(by)
    assert "".join(chosen) == "abcba"
    assert lesson.place_text == "1 of 3"
    assert not lesson.can_step_back
    assert lesson.can_step_on
    assert not lesson.is_changed


def test_scenes_are_added_after_the_one_shown(lesson: OpenLesson, chosen: list[str]) -> None:
    lesson.add(scene("x"))
    assert (titles(lesson), lesson.place, lesson.is_changed) == ("axbc", 1, True)
    assert chosen == ["a"], "what is added is on the screen already"


def test_a_first_scene_begins_a_lesson() -> None:
    lesson = OpenLesson()
    assert (lesson.scene, lesson.place_text) == (None, "no scene yet")
    lesson.add(scene("x"))
    assert lesson.lesson == Lesson("New lesson", (scene("x"),))
    assert (lesson.path, lesson.is_changed) == (None, True)


def test_a_scene_that_moves_is_still_the_one_shown(lesson: OpenLesson) -> None:
    lesson.move(1)
    assert (titles(lesson), lesson.place) == ("bac", 1)
    lesson.move(1)
    lesson.move(1)
    assert (titles(lesson), lesson.place) == ("bca", 2)
    lesson.move(-2)
    assert (titles(lesson), lesson.place) == ("abc", 0)


def test_deleting_shows_the_next_scene_and_the_last_leaves_an_empty_lesson(
    lesson: OpenLesson, chosen: list[str]
) -> None:
    lesson.go_to(1)
    for _ in range(4):
        lesson.delete()
    assert chosen == ["a", "b", "c", "a"]
    assert (lesson.scenes, lesson.scene, lesson.place) == ((), None, 0)
    assert lesson.lesson is not None


def test_texts_and_experiments_change_by_themselves(lesson: OpenLesson) -> None:
    lesson.change_scene(title="new", text="text", question="question?")
    assert lesson.scene == Scene("new", "text", scene("a").saved, "question?")
    lesson.change_scene(saved=scene("z").saved)
    assert lesson.scene == Scene("new", "text", scene("z").saved, "question?")
    lesson.rename("Other")
    assert lesson.lesson is not None
    assert lesson.lesson.title == "Other"


def test_what_changes_nothing_is_no_change_and_saving_ends_it(lesson: OpenLesson) -> None:
    lesson.rename("Title")
    lesson.change_scene(saved=scene("a").saved)
    assert not lesson.is_changed
    lesson.rename("Other")
    assert lesson.is_changed
    lesson.mark_saved(Path("two.augenmerk"))
    assert (lesson.is_changed, lesson.path) == (False, Path("two.augenmerk"))


def test_what_no_file_could_hold_changes_nothing(lesson: OpenLesson) -> None:
    before = lesson.lesson
    for change in (
        lambda: lesson.rename(""),
        lambda: lesson.change_scene(title="a\nb", text="", question=""),
        lambda: lesson.add(Scene("x", "", SavedExperiment(Experiment("x" * 1_000_000), MODEL))),
    ):
        with pytest.raises(ExperimentFileError):
            change()
        assert (lesson.lesson, lesson.is_changed) == (before, False)
    lesson.open(Lesson("full", tuple(map(scene, "x" * MAX_SCENES))), None)
    with pytest.raises(ExperimentFileError, match="at most 100 scenes"):
        lesson.add(scene("y"))


def test_what_is_typed_becomes_one_line() -> None:
    assert as_line("  two\nlines\tand \u202e more\u2028 ") == "two lines and more"
    assert as_title("x" * 200) == "x" * MAX_TITLE_CHARACTERS
    assert as_line("Füße „so“ 漢字 😀") == "Füße „so“ 漢字 😀"
    lesson = OpenLesson()
    for text in ("\udcff", "a\u2066b", "\x00", "\u00a0x"):
        lesson.add(Scene(as_title(f"t{text}"), as_line(text), scene("a").saved, as_line(text)))
