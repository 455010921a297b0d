"""Changes the open lesson: its scenes, their text, its title."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QWidget

from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.translation.lesson_file import Scene
from augenmerk.viz_app.documents.experiment_documents import NOTHING
from augenmerk.viz_app.documents.lesson import OpenLesson
from augenmerk.viz_app.documents.lesson_bar import SceneDialog, TitleDialog
from augenmerk.viz_app.documents.session import saved_experiment
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.widgets.dialogs import show_failure
from augenmerk.viz_app.worker import Failure


class LessonEditing(QObject):
    """Asks in dialogs and changes the lesson; a dialog reports a failure.

    Args:
        state: what is on the screen.
        lesson: the open lesson.
        window: what dialogs belong to.
        show_dialog: opens a dialog.

    Signals:
        done(str): why there is nothing to ask for.
    """

    done = Signal(str)

    def __init__(
        self, state: ExperimentState, lesson: OpenLesson, window: QWidget, show_dialog: Callable[[QDialog], object]
    ) -> None:
        super().__init__(window)
        self._state, self._lesson, self._window, self._show_dialog = state, lesson, window, show_dialog

    def ask_for_scene(self, then: Callable[[], object]) -> None:
        """Asks for the text of a scene of the current experiment, adds it, then calls `then`."""
        if self._state.result is None:
            self.done.emit(NOTHING)
            return
        saved = saved_experiment(self._state)
        dialog = SceneDialog("Add a scene", parent=self._window)

        def add(title: str, text: str, question: str) -> None:
            self._try(lambda: self._lesson.add(Scene(title, text, saved, question)))
            then()

        dialog.given.connect(add)
        self._show_dialog(dialog)

    def update_scene(self) -> None:
        """Replaces the scene's experiment and view by those on the screen."""
        if self._lesson.scene is not None and self._state.result is not None:
            self._try(lambda: self._lesson.change_scene(saved=saved_experiment(self._state)))

    def ask_for_texts(self) -> None:
        """Asks for another text of the current scene."""
        scene = self._lesson.scene
        if scene is None:
            return
        dialog = SceneDialog("The texts of this scene", (scene.title, scene.text, scene.question), self._window)
        dialog.given.connect(
            lambda title, text, question: self._try(
                lambda: self._lesson.change_scene(title=title, text=text, question=question)
            )
        )
        self._show_dialog(dialog)

    def ask_for_title(self) -> None:
        """Asks for another title of the lesson."""
        if self._lesson.lesson is None:
            return
        dialog = TitleDialog(self._lesson.lesson.title, self._window)
        dialog.given.connect(lambda title: self._try(lambda: self._lesson.rename(title)))
        self._show_dialog(dialog)

    def _try(self, act: Callable[[], None]) -> None:
        """Changes the lesson; a dialog reports a failure."""
        try:
            act()
        except ExperimentFileError as error:
            show_failure(self._window, "The lesson was not changed", Failure.of(error))
