"""Saving, opening and copying the current experiment."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from augenmerk.core.errors import AugenmerkError, ExperimentFileError
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.experiment_file import (
    SUFFIX,
    write_experiment_file,
)
from augenmerk.core.translation.lesson_file import Lesson
from augenmerk.core.translation.sharing import to_command, to_python
from augenmerk.viz_app.documents.experiment_opener import ExperimentOpener
from augenmerk.viz_app.documents.reading import read_for_window
from augenmerk.viz_app.documents.session import (
    saved_experiment,
)
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.widgets.commands import Command
from augenmerk.viz_app.widgets.dialogs import ask_what_to_open, ask_where_to_save, show_failure
from augenmerk.viz_app.worker import Failure, InferenceWorker

FORMATS = {SUFFIX.removeprefix("."): f"Experiments and lessons (*{SUFFIX})", "": "All files (*)"}
NOTHING = "Nothing to save yet: translate a sentence first"


class ExperimentDocuments(QObject):
    """The current experiment as a file, as Python, as a command.

    Attributes:
        dialog: the file dialog that is open, or None.
        opener: shows what a file holds.

    Signals:
        done(str): what was saved or copied, in a few words.
        lesson_read(Lesson, Path | None, Path): a file held a lesson, which somebody has to show; the first path is
            where it may be written to again, the second is the file itself.
    """

    done = Signal(str)
    lesson_read = Signal(object, object, object)

    def __init__(
        self, state: ExperimentState, worker: InferenceWorker, preferences: Preferences, window: QWidget
    ) -> None:
        super().__init__(window)
        self._state, self._preferences, self._window = state, preferences, window
        self.opener = ExperimentOpener(state, worker, preferences, window)
        self.dialog: QFileDialog | None = None

    def fill_menu(self, menu: QMenu) -> None:
        """Adds the commands for the current experiment."""
        for command in EXPERIMENT_COMMANDS:
            command.on(self).add_to(menu)
        recent = menu.addMenu("Recent experiments")
        recent.aboutToShow.connect(lambda: self._fill_recent(recent))
        menu.aboutToShow.connect(
            lambda: recent.menuAction().setEnabled(bool(self._preferences.recent_experiments.paths))
        )

    # --- saving --------------------------------------------------------------------------------------------------

    def ask_where_to_save(self) -> None:
        """Asks for a file and saves the experiment in it."""
        if self._state.result is None:
            self.done.emit(NOTHING)
            return
        self._remember_dialog(
            ask_where_to_save(self._window, "Save the experiment", self._folder() or Path(), self.save, FORMATS)
        )

    def save(self, path: Path) -> None:
        """Writes the experiment; a dialog reports a failure."""
        try:
            write_experiment_file(saved_experiment(self._state), path)
        except AugenmerkError as error:
            show_failure(self._window, "The experiment was not saved", Failure.of(error))
            return
        self._preferences.recent_experiments.remember(path)
        self.done.emit(f"saved {path.name}")

    def copy_as_python(self) -> None:
        """Copies Python code that runs the experiment."""
        self._copy(to_python, "copied as Python")

    def copy_as_command_line(self) -> None:
        """Copies a command that runs the experiment."""
        self._copy(to_command, "copied as a command line")

    def _copy(self, write: Callable[[Experiment, Path | None], str], done: str) -> None:
        model = self._state.model
        try:
            QGuiApplication.clipboard().setText(write(self._state.experiment, model.path if model else None))
        except AugenmerkError as error:
            show_failure(self._window, "The experiment was not copied", Failure.of(error))
            return
        self.done.emit(done)

    # --- opening -------------------------------------------------------------------------------------------------

    def ask_what_to_open(self) -> None:
        """Asks for a file and opens it."""
        self._remember_dialog(
            ask_what_to_open(self._window, "Open an experiment", self._folder(), self.open, ";;".join(FORMATS.values()))
        )

    def open(self, path: Path, *, is_shipped: bool = False) -> None:
        """Shows the experiment or lesson of a file; a dialog reports a failure, and the screen stays unchanged.

        Args:
            path: of the file.
            is_shipped: whether it is one of the product's own, which is neither remembered nor written to.
        """
        try:
            read = read_for_window(self._state, path)
        except ExperimentFileError as error:
            self._preferences.recent_experiments.forget(path)
            self.opener.refuse(Failure.of(error))
            return
        if not is_shipped:
            self._preferences.recent_experiments.remember(path)
        if isinstance(read, Lesson):
            self.opener.forget_missing_models()
            self.lesson_read.emit(read, None if is_shipped else path, path)
        else:
            self.opener.open(read, path)

    def _fill_recent(self, menu: QMenu) -> None:
        menu.clear()
        for path in self._preferences.recent_experiments.paths:
            action = menu.addAction(path.stem)
            action.setToolTip(str(path))
            action.triggered.connect(lambda _=False, chosen=path: self.open(chosen))

    def _folder(self) -> Path | None:
        recent = self._preferences.recent_experiments.paths
        return recent[0].parent if recent else None

    def _remember_dialog(self, dialog: QFileDialog) -> None:
        self.dialog = dialog
        dialog.destroyed.connect(self._forget_dialog)

    def _forget_dialog(self) -> None:
        self.dialog = None


EXPERIMENT_COMMANDS = (
    Command[ExperimentDocuments](
        "Save experiment…", ExperimentDocuments.ask_where_to_save, keys=("Ctrl+E",), group="Files"
    ),
    Command[ExperimentDocuments](
        "Open experiment…", ExperimentDocuments.ask_what_to_open, keys=("Ctrl+Shift+O",), group="Files"
    ),
    Command[ExperimentDocuments]("Copy as Python", ExperimentDocuments.copy_as_python, group="Files"),
    Command[ExperimentDocuments]("Copy as command line", ExperimentDocuments.copy_as_command_line, group="Files"),
)
