"""The lesson that is open: its scenes, which one is shown, whether it was changed. No Qt."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from psygnal import Signal

from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.translation.lesson_file import (
    MAX_SCENES,
    MAX_TEXT_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    Lesson,
    Scene,
    lesson_to_bytes,
)

NEW_TITLE = "New lesson"


class OpenLesson:
    """A lesson, or none, and the place in it.

    Attributes:
        lesson: None while none is open.
        place: of the scene that is shown, from 0; 0 while there is no scene.
        path: the file it was read from or written to; None if it has none that may be written.
        origin: the file it was read from or written to, which may be one of the product's own.
        is_changed: whether something would be lost without saving.

    Signals (psygnal):
        changed: another lesson, another scene, other texts.
        scene_chosen(Scene): a scene is to be shown.
    """

    changed = Signal()
    scene_chosen = Signal(Scene)

    def __init__(self) -> None:
        self.lesson: Lesson | None = None
        self.place = 0
        self.path: Path | None = None
        self.origin: Path | None = None
        self.is_changed = False

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """Those of the open lesson; none if none is open."""
        return self.lesson.scenes if self.lesson is not None else ()

    @property
    def scene(self) -> Scene | None:
        """The one that is shown."""
        return self.scenes[self.place] if self.scenes else None

    @property
    def place_text(self) -> str:
        """Which scene of how many: "2 of 5"."""
        return f"{self.place + 1} of {len(self.scenes)}" if self.scenes else "no scene yet"

    def open(self, lesson: Lesson, path: Path | None, origin: Path | None = None) -> None:
        """Takes the place of the lesson before; its first scene is shown."""
        self.restore(lesson, path, origin, 0)
        self._choose()

    def restore(self, lesson: Lesson, path: Path | None, origin: Path | None, place: int) -> None:
        """The same at a scene, or the last one if there are fewer; what is on the screen stays there."""
        self.lesson, self.path, self.origin, self.is_changed = lesson, path, origin or path, False
        self.place = max(0, min(place, len(lesson.scenes) - 1))
        self.changed.emit()

    def close(self) -> None:
        """No lesson is open any more."""
        self.lesson, self.path, self.origin, self.place, self.is_changed = None, None, None, 0, False
        self.changed.emit()

    def mark_saved(self, path: Path) -> None:
        """It stands in this file as it is."""
        self.path, self.origin, self.is_changed = path, path, False
        self.changed.emit()

    # --- which scene ---------------------------------------------------------------------------------------------

    @property
    def can_step_back(self) -> bool:
        """Whether there is a scene before this one."""
        return self.place > 0

    @property
    def can_step_on(self) -> bool:
        """Whether there is a scene after this one."""
        return self.place + 1 < len(self.scenes)

    def step(self, by: int) -> None:
        """Shows the scene so many further, if there is one."""
        if 0 <= self.place + by < len(self.scenes):
            self.go_to(self.place + by)

    def go_to(self, place: int) -> None:
        """Shows a scene; the one that is shown already, as it was saved."""
        self.place = place
        self.changed.emit()
        self._choose()

    def _choose(self) -> None:
        if self.scene is not None:
            self.scene_chosen.emit(self.scene)

    # --- changing ------------------------------------------------------------------------------------------------

    def add(self, scene: Scene) -> None:
        """Puts a scene after the one that is shown, and shows it; begins a lesson if none is open.

        Raises:
            ExperimentFileError: a file could not hold it.
        """
        scenes = list(self.scenes)
        if len(scenes) == MAX_SCENES:
            raise ExperimentFileError(f"A lesson can have at most {MAX_SCENES} scenes. Start another lesson.")
        place = self.place + 1 if scenes else 0
        scenes.insert(place, scene)
        self._change(replace(self.lesson or Lesson(NEW_TITLE), scenes=tuple(scenes)), place)

    def rename(self, title: str) -> None:
        """Another title of the lesson. Raises `ExperimentFileError`."""
        assert self.lesson is not None
        self._change(replace(self.lesson, title=title), self.place)

    def change_scene(self, **changes: Any) -> None:
        """Replaces fields of the scene that is shown. Raises `ExperimentFileError`."""
        assert self.lesson is not None
        scenes = list(self.scenes)
        scenes[self.place] = replace(scenes[self.place], **changes)
        self._change(replace(self.lesson, scenes=tuple(scenes)), self.place)

    def move(self, by: int) -> None:
        """The scene that is shown stands so many places further, if it can; it is still the one that is shown."""
        place = self.place + by
        if self.lesson is None or not 0 <= place < len(self.scenes):
            return
        scenes = list(self.scenes)
        scenes.insert(place, scenes.pop(self.place))
        self._change(replace(self.lesson, scenes=tuple(scenes)), place)

    def delete(self) -> None:
        """Takes the scene that is shown out of the lesson; the next one is shown, or the last."""
        if self.lesson is None or not self.scenes:
            return
        scenes = list(self.scenes)
        del scenes[self.place]
        self._change(replace(self.lesson, scenes=tuple(scenes)), min(self.place, max(0, len(scenes) - 1)))
        self._choose()

    def _change(self, lesson: Lesson, place: int) -> None:
        """What no file could hold is refused before anything changes."""
        if lesson == self.lesson:
            return
        lesson_to_bytes(lesson)
        self.lesson, self.place, self.is_changed = lesson, place, True
        self.changed.emit()


def as_line(text: str, max_characters: int = MAX_TEXT_CHARACTERS) -> str:
    """What was typed or pasted as one line that a lesson can hold."""
    words = "".join(each if each.isprintable() or each.isspace() else "" for each in text).split()
    return " ".join(words)[:max_characters].rstrip()


def as_title(text: str) -> str:
    """The same for a title, which is shorter."""
    return as_line(text, MAX_TITLE_CHARACTERS)
