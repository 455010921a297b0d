"""Writes pages and worksheets of the open lesson."""

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from augenmerk.core.errors import AugenmerkError
from augenmerk.core.translation.lesson_file import Lesson
from augenmerk.viz_app.documents.experiment_documents import NOTHING
from augenmerk.viz_app.documents.lesson import OpenLesson
from augenmerk.viz_app.documents.lesson_export import LessonResultsJob, SceneResult, scene_maps, scene_parts
from augenmerk.viz_app.export.lesson_page import save_lesson_page
from augenmerk.viz_app.export.worksheet import save_worksheet
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.widgets.dialogs import show_failure
from augenmerk.viz_app.worker import Failure, InferenceWorker, Request

PAGES = {"html": "Page for the browser (*.html)"}
WORKSHEETS = {"html": "Page for the browser and the printer (*.html)", "md": "Markdown (*.md)"}
AskForFile = Callable[[str, Mapping[str, str], Callable[[Path], object]], object]


class LessonExport(QObject):
    """Computes all scenes with the current model and writes files of them; a dialog reports a failure.

    Args:
        state: with the model in use.
        lesson: the open lesson.
        worker: computes the scenes.
        window: what dialogs belong to.
        ask_for_file: asks where a file goes, by title and formats.

    Signals:
        done(str): what is being computed, or was saved.
    """

    done = Signal(str)

    def __init__(
        self,
        state: ExperimentState,
        lesson: OpenLesson,
        worker: InferenceWorker,
        window: QWidget,
        ask_for_file: AskForFile,
    ) -> None:
        super().__init__(window)
        self._state, self._lesson, self._worker, self._window = state, lesson, worker, window
        self._ask_for_file = ask_for_file

    def ask_for_page(self) -> None:
        """Asks for the path of the page."""
        if self._lesson.scenes:
            self._ask_for_file("Export the lesson", PAGES, self.save_page)

    def save_page(self, path: Path) -> None:
        """Computes all scenes with the current model and writes the page; a dialog reports a failure."""

        def write(lesson: Lesson, results: tuple[SceneResult, ...], model: ModelInfo) -> None:
            save_lesson_page(lesson.title, scene_parts(lesson, results, model), path)

        self._compute_then("page", path, write)

    def ask_for_worksheet(self) -> None:
        """Asks for the path and format of the worksheet."""
        if self._lesson.scenes:
            self._ask_for_file("Export a worksheet", WORKSHEETS, self.save_worksheet)

    def save_worksheet(self, path: Path) -> None:
        """Computes all scenes with the model in use, and writes sentences, maps and questions without answers."""

        def write(lesson: Lesson, results: tuple[SceneResult, ...], model: ModelInfo) -> None:
            save_worksheet(lesson, scene_maps(lesson, results, model), path)

        self._compute_then("worksheet", path, write)

    def _compute_then(
        self, what: str, path: Path, write: Callable[[Lesson, tuple[SceneResult, ...], ModelInfo], None]
    ) -> None:
        """Computes all scenes, then writes a file of them; a dialog reports a failure."""
        lesson, model = self._lesson.lesson, self._state.model
        if lesson is None or model is None:
            self.done.emit(NOTHING)
            return

        def use(results: object) -> None:
            assert isinstance(results, tuple)
            try:
                write(lesson, results, model)
            except AugenmerkError as error:
                refuse(Failure.of(error))
                return
            self.done.emit(f"saved {path.name}")

        def refuse(failure: Failure) -> None:
            show_failure(self._window, f"The {what} was not saved", failure)

        self.done.emit(f"computing {len(lesson.scenes)} scenes…")
        self._worker.submit(Request(LessonResultsJob(lesson.scenes), self, on_result=use, on_error=refuse))
