"""Saving, opening and copying the current experiment; what was on the screen comes back at the next start."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from augenmerk.core.errors import AugenmerkError, ExperimentFileError
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.experiment_file import (
    SUFFIX,
    SavedExperiment,
    kind_of_file,
    write_experiment_file,
)
from augenmerk.core.translation.lesson_file import Lesson, read_document
from augenmerk.core.translation.sharing import to_command, to_python
from augenmerk.viz_app.documents.find_model_job import FindModelJob, FoundModel
from augenmerk.viz_app.documents.session import (
    check_length,
    check_sentence,
    keep_session,
    read_session,
    saved_experiment,
    set_aside_sentence,
)
from augenmerk.viz_app.documents.view_values import apply_view, check_view, heads_missing
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import open_experiment
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.sentence_text import MAX_CHARACTERS
from augenmerk.viz_app.widgets.commands import Command
from augenmerk.viz_app.widgets.dialogs import show_failure
from augenmerk.viz_app.worker import Failure, InferenceWorker, Request

FILTER = f"Experiments and lessons (*{SUFFIX});;All files (*)"
KEEP_MS = 3_000
"""After a result; a process that is killed loses no more than that."""
NOTHING = "Nothing to save yet: translate a sentence first"


class ExperimentDocuments(QObject):
    """The current experiment as a file, as Python, as a command.

    Attributes:
        dialog: the file dialog that is open, or None.
        keep_timer: what is on the screen is kept at its end: it runs from a result on.

    Signals:
        done(str): what was saved or copied, in a few words.
        failed(Failure): a file was not opened; a dialog says why.
        model_requested(Path | None): the model of an opened experiment; it has to be opened.
        lesson_read(Lesson, Path | None, Path): a file held a lesson, which somebody has to show; the first path is
            where it may be written to again, the second is the file itself.
    """

    done = Signal(str)
    failed = Signal(object)
    model_requested = Signal(object)
    lesson_read = Signal(object, object, object)

    def __init__(
        self, state: ExperimentState, worker: InferenceWorker, preferences: Preferences, window: QWidget
    ) -> None:
        super().__init__(window)
        self._state, self._worker, self._preferences, self._window = state, worker, preferences, window
        self.dialog: QFileDialog | None = None
        self._waiting: SavedExperiment | None = None
        self._opened_early: tuple[SavedExperiment, Path | None] | None = None
        self._newest: SavedExperiment | None = None
        self._scene: SavedExperiment | None = None
        self._not_found: set[str] = set()
        self.keep_timer = QTimer(self, interval=KEEP_MS, singleShot=True)
        self.keep_timer.timeout.connect(self.keep_session)
        state.model_changed.connect(self._on_model)
        state.result_changed.connect(self._keep_soon)

    def fill_menu(self, menu: QMenu) -> None:
        """Adds what can be done with the current experiment."""
        for command in EXPERIMENT_COMMANDS:
            command.on(self).add_to(menu)
        recent = menu.addMenu("Recent experiments")
        recent.aboutToShow.connect(lambda: self._fill_recent(recent))
        menu.aboutToShow.connect(
            lambda: recent.menuAction().setEnabled(bool(self._preferences.recent_experiments.paths))
        )

    # --- saving --------------------------------------------------------------------------------------------------

    def ask_where_to_save(self) -> None:
        """By dialog."""
        if self._state.result is None:
            self.done.emit(NOTHING)
            return
        dialog = self._open_dialog("Save the experiment")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(SUFFIX.removeprefix("."))
        dialog.fileSelected.connect(lambda name: self.save(Path(name)))
        dialog.open()

    def save(self, path: Path) -> None:
        """Writes the experiment, or says in a dialog why not."""
        try:
            write_experiment_file(saved_experiment(self._state), path)
        except AugenmerkError as error:
            show_failure(self._window, "The experiment was not saved", Failure.of(error))
            return
        self._preferences.recent_experiments.remember(path)
        self.done.emit(f"saved {path.name}")

    def copy_as_python(self) -> None:
        """Code that runs the experiment, to the clipboard."""
        self._copy(to_python, "copied as Python")

    def copy_as_command_line(self) -> None:
        """A command that runs the experiment, to the clipboard."""
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
        """By dialog."""
        dialog = self._open_dialog("Open an experiment")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda name: self.open(Path(name)))
        dialog.open()

    def open(self, path: Path, *, is_shipped: bool = False) -> None:
        """Shows the experiment or the lesson of a file, or says in a dialog why not; then the screen stays as it is.

        Args:
            path: of the file.
            is_shipped: whether it is one of the product's own, which is neither remembered nor written to.
        """
        try:
            read = self._read(path)
        except ExperimentFileError as error:
            self._preferences.recent_experiments.forget(path)
            self._refuse(Failure.of(error))
            return
        if not is_shipped:
            self._preferences.recent_experiments.remember(path)
        self._not_found.clear()
        if isinstance(read, Lesson):
            self.lesson_read.emit(read, None if is_shipped else path, path)
        else:
            self._scene = None
            self._find_model(read, path)

    def show_scene(self, saved: SavedExperiment, path: Path | None) -> None:
        """Shows a scene of a lesson that was checked by `open`: with it the undo history begins anew."""
        self._scene = saved
        self._find_model(saved, path)

    def read_lesson(self, path: Path) -> Lesson:
        """The lesson of a file that the window can show. Raises `ExperimentFileError`."""
        read = self._read(path)
        if not isinstance(read, Lesson):
            raise ExperimentFileError(f"{path} is an experiment, not a lesson. Choose another file.")
        return read

    def _read(self, path: Path) -> SavedExperiment | Lesson:
        """What a file holds. Raises `ExperimentFileError`, which names the file, if the window cannot show it."""
        read = read_document(path)
        try:
            self._check(read)
        except ExperimentFileError as error:
            raise ExperimentFileError(
                f"{path} cannot be shown. {error} Nothing was opened; correct the file, or choose another."
            ) from error
        return read

    def _check(self, read: SavedExperiment | Lesson) -> None:
        """Raises `ExperimentFileError` if the window cannot show it."""
        if not isinstance(read, Lesson):
            check_view(self._state, read.view)
            check_sentence(read.experiment)
            check_length(read.experiment)
            return
        for index, scene in enumerate(read.scenes):
            try:
                self._check(scene.saved)
            except ExperimentFileError as error:
                raise ExperimentFileError(f"scenes[{index}]: {error}") from error

    def _find_model(self, saved: SavedExperiment, path: Path | None) -> None:
        """Its model is sought among those opened before and beside the file; not before one is open."""
        model = self._state.model
        self._newest = saved
        if model is None or model.digest == saved.model.digest:
            self._opened_early = (saved, path) if model is None else None
            self._show(saved)
            return
        if saved.model.digest in self._not_found:
            self._show_with_model_in_use(saved)
            return
        beside = sorted(path.absolute().parent.glob("*.safetensors")) if path is not None else []
        paths = list(dict.fromkeys((*self._preferences.recent_models.paths, *beside)))

        def found(result: object) -> None:
            if self._newest is not saved:
                return  # another one was opened meanwhile
            if isinstance(result, FoundModel):
                self._waiting = saved
                self.model_requested.emit(result.path)
            else:
                self._not_found.add(saved.model.digest)
                self._show_with_model_in_use(saved)

        self._worker.submit(
            Request(
                FindModelJob(saved.model.digest, paths),
                self,
                on_result=found,
                on_error=self._refuse,
            )
        )

    def _show_with_model_in_use(self, saved: SavedExperiment) -> None:
        self._show(saved)
        is_in_use = self._state.model is not None and self._state.model.title == saved.model.name
        which = "another version of the model" if is_in_use else "the model"
        self._state.report(
            f"This experiment was made with {which} “{saved.model.name}”, which is neither among the recent "
            "ones nor beside the file. It is shown with the model in use. " + self._misfits(saved)
        )

    def _refuse(self, failure: Failure) -> None:
        show_failure(self._window, "The experiment was not opened", failure)
        self.failed.emit(failure)

    def _on_model(self) -> None:
        """The model of an opened experiment is open, or another one; whoever opened it asks for the experiment."""
        early, self._opened_early = self._opened_early, None
        if early is not None:
            self._find_model(*early)
            return
        saved, self._waiting = self._waiting, None
        model = self._state.model
        if saved is not None and model is not None and model.digest == saved.model.digest:
            self._show(saved, asks=False)

    def _show(self, saved: SavedExperiment, *, asks: bool = True) -> None:
        apply_view(self._state, saved.view)
        is_first = self._state.result is None and not self._state.editor.can_undo
        begins_anew = is_first or saved is self._scene
        self._state.submit(open_experiment(saved.experiment, forgets_history=begins_anew), asks=asks)
        if misfits := self._misfits(saved):
            self._state.report(misfits)

    def _misfits(self, saved: SavedExperiment) -> str:
        """Which heads of the view the model in use does not have, in a sentence; empty if it has all."""
        model = self._state.model
        return heads_missing(saved.view, model.run.model) if model is not None else ""

    # --- between two starts --------------------------------------------------------------------------------------

    def keep_session(self) -> None:
        """Keeps what is on the screen until the next start, unless that start reopens another model."""
        self.keep_timer.stop()
        model = self._state.model
        if model is not None and self._preferences.is_stand_in(model.path):
            return
        keep_session(self._state, self._preferences.session_path)

    def _keep_soon(self) -> None:
        """Results that follow each other within seconds, as somebody types, are kept by one writing."""
        if self._state.result is not None and not self.keep_timer.isActive():
            self.keep_timer.start()

    def restore_session(self) -> bool:
        """What was on the screen the last time is asked for once a model is open; False if nothing was kept."""
        saved = read_session(self._state, self._preferences.session_path)
        if saved is None:
            return False
        apply_view(self._state, saved.view)
        self._state.submit(open_experiment(saved.experiment, forgets_history=True))
        return True

    def earlier_sentence(self) -> str:
        """The sentence that older versions kept alone; empty if there is none, or it is too long to be shown again."""
        text = self._preferences.sentence
        if len(text) <= MAX_CHARACTERS:
            return text
        set_aside_sentence(text, self._preferences.session_path)
        self._preferences.sentence = ""
        return ""

    def _fill_recent(self, menu: QMenu) -> None:
        menu.clear()
        for path in self._preferences.recent_experiments.paths:
            action = menu.addAction(path.stem)
            action.setToolTip(str(path))
            action.triggered.connect(lambda _=False, chosen=path: self.open(chosen))

    def _open_dialog(self, title: str) -> QFileDialog:
        recent = self._preferences.recent_experiments.paths
        dialog = QFileDialog(self._window, title, str(recent[0].parent) if recent else "", FILTER)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.destroyed.connect(self._forget_dialog)
        self.dialog = dialog
        return dialog

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


def is_experiment(path: Path) -> bool:
    """Whether a file is an experiment by its content; by its name where that says nothing, or cannot be read."""
    try:
        kind = kind_of_file(path)
    except ExperimentFileError:
        kind = "unknown"
    return kind == "experiment" or (kind == "unknown" and path.suffix == SUFFIX)
