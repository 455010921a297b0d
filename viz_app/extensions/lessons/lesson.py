"""The open lesson: its scenes, the current scene, unsaved changes. No Qt."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from psygnal import Signal

from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.extensions.lessons.lesson_file import (
    MAX_SCENES,
    MAX_TEXT_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    Lesson,
    Scene,
    lesson_to_bytes,
)

from ...state.experiment_state import ExperimentState

NEW_TITLE = "New lesson"


@dataclass(frozen=True)
class ComputedAnswer:
    """The computed answer to the question of a scene.

    Attributes:
        because: the numbers for it, in whole sentences; without choices, the reason why there is no
            answer.
        choices: the possible answers in words.
        right: the index of the right one.
    """

    because: str
    choices: tuple[str, ...] = ()
    right: int = 0

    @property
    def text(self) -> str:
        """The right choice and the numbers for it, in one line."""
        choice = self.choices[self.right].removesuffix(".") if self.choices else ""
        return self.because if self.because.startswith(choice) else f"{choice}. {self.because}"


AnswerNow = Callable[[ExperimentState, str, Callable[[Any], Any]], ComputedAnswer]
"""The answer of a check, by its name, for the result of a state; the last argument answers jobs for
the model.
"""


class Answers(Protocol):
    """Answers questions about the experiment on the screen, or in another state."""

    def questions(self) -> Mapping[str, tuple[str, str]]:
        """The chapter and text of the questions by the names of their checks."""

    def compute(self, name: str, use: Callable[[str], None]) -> None:
        """Calls `use` with the answer of a check."""


class Views(Protocol):
    """The parts of the window that a scene can show, by name."""

    @property
    def presentable(self) -> str:
        """The name of the part in sight."""

    def view_titles(self) -> Mapping[str, str]:
        """The titles of all parts, by their names."""

    def show_view(self, name: str) -> None:
        """Shows a part; the maps if the name is empty, without the analysis tabs if there is no
        room for both.
        """

    def make_room_for_heads(self) -> None:
        """Closes the analysis tabs if there is no room for all heads next to them."""

    def restore_analysis(self) -> None:
        """Opens or closes the analysis tabs as the user did last."""


class OpenLesson:
    """The open lesson, if any, and the current scene.

    Attributes:
        lesson: None while none is open.
        place: of the current scene, from 0; 0 without scenes.
        path: the file it was read from or written to; None before the first saving.
        deleted: the deleted scenes with their places, the newest last.

    Signals (psygnal):
        changed: another lesson, another scene, other texts.
        scene_chosen(Scene): the window must show this scene.
    """

    changed = Signal()
    scene_chosen = Signal(Scene)

    def __init__(self) -> None:
        self.lesson: Lesson | None = None
        self.place = 0
        self.path: Path | None = None
        self.deleted: list[tuple[int, Scene]] = []
        self._saved: Lesson | None = None

    @property
    def is_changed(self) -> bool:
        """Whether there are unsaved changes."""
        return self.lesson != self._saved

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The scenes of the open lesson; empty if none is open."""
        return self.lesson.scenes if self.lesson is not None else ()

    @property
    def scene(self) -> Scene | None:
        """The current scene."""
        return self.scenes[self.place] if self.scenes else None

    @property
    def place_text(self) -> str:
        """The place of the current scene: "2 of 5"."""
        return f"{self.place + 1} of {len(self.scenes)}" if self.scenes else "no scene yet"

    def open(self, lesson: Lesson, path: Path) -> None:
        """Replaces the open lesson and shows the first scene."""
        self.restore(lesson, path, 0)
        self.go_to(0)

    def restore(
        self, lesson: Lesson, path: Path | None, index: int, *, is_saved: bool = True
    ) -> None:
        """Reopens a lesson at a scene, or at its last one, without changing the screen."""
        self.lesson = lesson
        self._saved = lesson if is_saved else None
        self.path = path
        self.deleted.clear()
        self.place = max(0, min(index, len(lesson.scenes) - 1))
        self.changed.emit()

    def close(self) -> None:
        """Closes the lesson."""
        self.lesson = self._saved = self.path = None
        self.deleted.clear()
        self.place = 0
        self.changed.emit()

    def mark_saved(self, path: Path | None = None) -> None:
        """Records that the lesson was saved to this file, or that its changes are not needed."""
        self.path = path or self.path
        self._saved = self.lesson
        self.changed.emit()

    # --- which scene ------------------------------------------------------------------------------

    @property
    def can_step_back(self) -> bool:
        """True if there is a scene before this one."""
        return self.place > 0

    @property
    def can_step_on(self) -> bool:
        """True if there is a scene after this one."""
        return self.place + 1 < len(self.scenes)

    def step(self, by: int) -> None:
        """Moves by a number of scenes, if that scene exists."""
        if 0 <= self.place + by < len(self.scenes):
            self.go_to(self.place + by)

    def go_to(self, index: int) -> None:
        """Shows a scene as saved, even if it is the current one."""
        self.place = index
        self.changed.emit()
        if self.scene is not None:
            self.scene_chosen.emit(self.scene)

    # --- changing ---------------------------------------------------------------------------------

    def add(self, scene: Scene) -> None:
        """Inserts a scene after the current one and shows it; begins a lesson if none is open.

        Raises:
            ExperimentFileError: a file could not hold it.
        """
        scenes = list(self.scenes)
        if len(scenes) == MAX_SCENES:
            raise ExperimentFileError(
                f"A lesson can have at most {MAX_SCENES} scenes. Start another lesson."
            )
        index = self.place + 1 if scenes else 0
        scenes.insert(index, scene)
        self._change(replace(self.lesson or Lesson(NEW_TITLE), scenes=tuple(scenes)), index)

    def rename(self, title: str) -> None:
        """Changes the lesson's title. Raises `ExperimentFileError`."""
        assert self.lesson is not None
        self._change(replace(self.lesson, title=title), self.place)

    def change_scene(self, **changes: Any) -> None:
        """Replaces fields of the current scene. Raises `ExperimentFileError`."""
        assert self.lesson is not None
        scenes = list(self.scenes)
        scenes[self.place] = replace(scenes[self.place], **changes)
        self._change(replace(self.lesson, scenes=tuple(scenes)), self.place)

    def move(self, by: int) -> None:
        """Moves the current scene within the lesson by a number of places, if possible."""
        index = self.place + by
        if self.lesson is None or not 0 <= index < len(self.scenes):
            return
        scenes = list(self.scenes)
        scenes.insert(index, scenes.pop(self.place))
        self._change(replace(self.lesson, scenes=tuple(scenes)), index)

    def delete(self) -> None:
        """Removes the current scene and shows the next one, or the last; `restore_deleted` takes it
        back.
        """
        if self.lesson is None or not self.scenes:
            return
        scenes = list(self.scenes)
        self.deleted.append((self.place, scenes.pop(self.place)))
        self._change(
            replace(self.lesson, scenes=tuple(scenes)), min(self.place, max(0, len(scenes) - 1))
        )
        self.go_to(self.place)

    def restore_deleted(self) -> bool:
        """Takes the last deletion back and shows the scene; False if there is none.

        Raises `ExperimentFileError`.
        """
        if self.lesson is None or not self.deleted:
            return False
        index, scene = self.deleted[-1]
        index = min(index, len(self.scenes))
        scenes = (*self.scenes[:index], scene, *self.scenes[index:])
        self._change(replace(self.lesson, scenes=scenes), index)
        self.deleted.pop()
        self.go_to(self.place)
        return True

    def _change(self, lesson: Lesson, index: int) -> None:
        """Replaces the lesson; refuses one that no file could hold before anything changes."""
        if lesson == self.lesson:
            return
        lesson_to_bytes(lesson)
        self.lesson, self.place = lesson, index
        self.changed.emit()


class SceneAnswer:
    """The answer to the question of the current scene, which is shown on request.

    Signals (psygnal):
        changed(): another text is shown, or none.
        asked(Scene): the answer of this scene must be computed; then call `add`.
    """

    changed = Signal()
    asked = Signal(Scene)

    def __init__(self, lesson: OpenLesson) -> None:
        self._lesson = lesson
        self._scene: Scene | None = None
        self._text = ""
        lesson.scene_chosen.connect(self._hide, max_args=0)

    @property
    def text(self) -> str | None:
        """The answer, empty while it is computed; None before it is shown."""
        return self._text if self._scene is not None and self._scene is self._lesson.scene else None

    @property
    def is_computing(self) -> bool:
        """True while the answer is computed."""
        return self.text == ""

    @property
    def can_show(self) -> bool:
        """True if the scene has an answer that is not shown yet."""
        scene = self._lesson.scene
        return scene is not None and scene.has_answer and self.text is None

    def show(self) -> None:
        """Shows the answer, or asks for it."""
        scene = self._lesson.scene
        if scene is not None and self.can_show:
            self._scene = scene
            self._text = "" if scene.check else scene.answer
            self.changed.emit()
            if scene.check:
                self.asked.emit(scene)

    def add(self, scene: Scene, computed: str) -> None:
        """Shows the computed answer of a scene before its typed one, unless another scene is shown
        now.
        """
        if self._scene is scene and self.is_computing:
            self._text = " ".join(filter(None, (computed, scene.answer)))
            self.changed.emit()

    def _hide(self) -> None:
        self._scene = None
        self.changed.emit()


def as_line(text: str, max_characters: int = MAX_TEXT_CHARACTERS) -> str:
    """Typed or pasted text as one line that fits into a lesson."""
    words = "".join(
        character if character.isprintable() or character.isspace() else "" for character in text
    ).split()
    return " ".join(words)[:max_characters].rstrip()


def as_title(text: str) -> str:
    """Typed or pasted text as a title that fits into a lesson."""
    return as_line(text, MAX_TITLE_CHARACTERS)
