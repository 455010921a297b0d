"""Whether the current scene of a lesson is on the screen, and the answer to its question."""

from augenmerk.core.extensions.lessons.lesson_file import Scene

from ...state.experiment_state import ExperimentState
from ..documents.reading import shows
from .lesson import Answers, OpenLesson, SceneAnswer
from .lesson_bar import LessonBar


class SceneOnScreen:
    """Compares the screen with the scene and shows the outcome in the bar; computes answers.

    Attributes:
        answers: computes them; None if nothing does.
    """

    def __init__(
        self, lesson: OpenLesson, answer: SceneAnswer, bar: LessonBar, state: ExperimentState
    ) -> None:
        self._lesson, self._answer, self._bar, self._state = lesson, answer, bar, state
        self._is_awaited = False
        self.answers: Answers | None = None
        selected = state.selection.events
        for changed in (
            *(state.model_changed, state.experiment_changed, state.result_changed),
            *(state.request.changed, state.settings.events, state.tabs.changed),
            *(selected.head, selected.pinned, selected.pointer),
        ):
            changed.connect(self._compare_again, max_args=0)
        lesson.changed.connect(self._compare, max_args=0)
        for changed in (lesson.changed, state.model_changed):
            changed.connect(self._name_model, max_args=0)
        for changed in (state.result_changed, state.request.changed):
            changed.connect(self._end_waiting, max_args=0)
        state.result_changed.connect(self._compute_again, max_args=0)
        answer.asked.connect(self._compute)

    def wait(self, is_awaited: bool) -> None:
        """Begins to wait for the result of the scene, or ends it."""
        self._is_awaited = is_awaited
        self._compare()

    def _end_waiting(self) -> None:
        """The scene is on the screen, or was refused."""
        if (
            self._is_awaited
            and self._state.intents.view_next is None
            and not self._state.request.is_running
        ):
            self.wait(False)

    def _compare_again(self) -> None:
        """The screen has changed, which matters only with a scene."""
        if self._lesson.scene is not None:
            self._compare()

    def _compare(self) -> None:
        """Shows whether the screen differs from the scene.

        A pending request changes nothing yet.
        """
        scene = self._lesson.scene
        state = self._state
        if scene is None or self._is_awaited:
            self._bar.show_changes(False, is_awaited=self._is_awaited)
        elif state.model is not None and scene.saved.model.digest != state.model.digest:
            self._bar.show_changes(False)  # the name of its model is shown instead
        elif state.current is not None and not state.request.is_running:
            self._bar.show_changes(not shows(state, scene.saved))

    def _name_model(self) -> None:
        """Shows the model of a scene while another one is open, for which its text may be wrong."""
        scene = self._lesson.scene
        model = self._state.model
        is_other = (
            scene is not None and model is not None and scene.saved.model.digest != model.digest
        )
        self._bar.show_other_model(scene.saved.model.name if scene is not None and is_other else "")

    def _compute(self, scene: Scene) -> None:
        if self.answers is not None and self._state.current is not None:
            self.answers.compute(scene.check, lambda text: self._answer.add(scene, text))

    def _compute_again(self) -> None:
        """Another result has interrupted the computation of the answer."""
        if self._answer.is_computing and self._lesson.scene is not None:
            self._compute(self._lesson.scene)
