"""The open lesson as kept for the next start, and the screen before it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from augenmerk.core.errors import AugenmerkError
from augenmerk.core.extensions.lessons.lesson_file import Lesson, write_lesson_file
from augenmerk.core.resources import resource_path
from augenmerk.core.translation.experiment_file import (
    SavedExperiment,
    read_experiment_file,
    write_experiment_file,
)

from ...own_files import restoring, set_aside
from ...preferences import Preferences
from ...state.experiment_editor import ExperimentEditor, Step
from ...state.experiment_state import ExperimentState
from ...state.map_view_settings import MapViewSettings
from ..documents.reading import (
    SHIPPED_LESSONS,
    check_length,
    check_view,
    is_shipped,
    read_lesson,
    saved_experiment,
    with_contents,
)
from .lesson import OpenLesson

BEFORE_LESSON, UNSAVED_LESSON = "before-lesson.augenmerk", "unsaved-lesson.augenmerk"
"""Own files: the experiment that closing the open lesson restores; that lesson while it has unsaved
changes.
"""
SHIPPED_MARK = "shipped:"
"""In settings, the prefix of the name of a lesson that ships: the installation may move."""
logger = logging.getLogger(__name__)


class KeptLesson:
    """Keeps the open lesson and its scene for the next start, and unsaved changes in a file of
    their own.

    Attributes:
        has_unsaved: whether that file has changes of the open lesson, or of the one that is read.
    """

    def __init__(
        self, lesson: OpenLesson, preferences: Preferences, tell: Callable[[str], object]
    ) -> None:
        """`tell` shows a short message."""
        self._lesson, self._preferences, self._tell = lesson, preferences, tell
        self._unsaved = preferences.own_file(UNSAVED_LESSON)
        self.has_unsaved = False

    @property
    def _path(self) -> Path | None:
        """The file of the previous session's lesson; None if it had none."""
        name = self._preferences.lesson_name
        if name.startswith(SHIPPED_MARK):
            return resource_path(SHIPPED_LESSONS) / name.removeprefix(SHIPPED_MARK)
        return Path(name) if name else None

    def read(self, state: ExperimentState) -> Lesson | None:
        """Reads the previous session's lesson, with its unsaved changes; None if none was open.

        Whatever the file contains, it may raise any error.
        """
        self.has_unsaved = self._unsaved.exists()
        path = self._unsaved if self.has_unsaved else self._path
        return read_lesson(state, path) if path is not None else None

    def reopen(self, lesson: Lesson) -> None:
        """Opens the lesson that was read at its scene, without changing the screen."""
        place = self._preferences.lesson_place
        self._lesson.restore(lesson, self._path, place, is_saved=not self.has_unsaved)

    def set_aside(self) -> Path:
        """Renames the file of unsaved changes, which cannot be used; returns its new path."""
        self.has_unsaved = False
        return set_aside(self._unsaved)

    def keep(self) -> None:
        """Records the present state of the lesson."""
        path = self._lesson.path
        name = ""
        if path is not None:
            name = f"{SHIPPED_MARK}{path.name}" if is_shipped(path) else str(path.absolute())
        self._preferences.lesson_name = name
        self._preferences.lesson_place = self._lesson.place
        try:
            if self._lesson.lesson is not None and self._lesson.is_changed:
                self._unsaved.parent.mkdir(parents=True, exist_ok=True)
                # of a session that this start did not restore
                if not self.has_unsaved and self._unsaved.exists():
                    earlier = self._unsaved.replace(
                        self._unsaved.with_name("earlier-unsaved-lesson.augenmerk")
                    )
                    self._tell(f"The unsaved lesson of an earlier session is now {earlier}")
                write_lesson_file(self._lesson.lesson, self._unsaved, durable=False)
                self.has_unsaved = True
            elif self.has_unsaved:
                self._unsaved.unlink(missing_ok=True)
        except (AugenmerkError, OSError) as error:
            logger.info("The changes of the lesson were not kept: %s", error)


@dataclass(frozen=True, eq=False)
class ScreenBeforeLesson:
    """The screen before a lesson, which closing the lesson restores.

    Attributes:
        saved: the experiment, its view, and its model.
        editor: the experiment with its history.
        settings: the user's own, which are remembered.
    """

    saved: SavedExperiment
    editor: ExperimentEditor
    settings: MapViewSettings

    def keep(self, preferences: Preferences) -> None:
        """Keeps the experiment for the next session, in which the lesson is open."""
        try:
            write_experiment_file(self.saved, preferences.own_file(BEFORE_LESSON), durable=False)
        except AugenmerkError as error:
            logger.info("The screen before the lesson was not kept: %s", error)

    @classmethod
    def kept(cls, state: ExperimentState, preferences: Preferences) -> "ScreenBeforeLesson":
        """The screen before the lesson as kept by the last session; the present one if that is
        impossible.
        """
        saved = with_contents(saved_experiment(state), state)
        path = preferences.own_file(BEFORE_LESSON)
        with restoring(path):
            if path.exists():
                stored = read_experiment_file(path)
                check_view(state, stored.view)
                check_length(stored.experiment)
                saved = stored
        return cls(
            saved, ExperimentEditor(Step(saved.experiment)), preferences.restored(MapViewSettings())
        )
