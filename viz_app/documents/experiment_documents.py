"""Saving, opening and copying the current experiment; opening the model that a file was made with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from augenmerk.core.errors import AugenmerkError, ExperimentFileError
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.experiment_file import (
    SUFFIX,
    Lesson,
    SavedExperiment,
    write_experiment_file,
)
from augenmerk.core.translation.sharing import to_command, to_python
from augenmerk.viz_app.documents.reading import apply_view, heads_missing, read_for_window
from augenmerk.viz_app.documents.session import (
    saved_experiment,
)
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import open_experiment
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.widgets.commands import Command
from augenmerk.viz_app.widgets.dialogs import ask_what_to_open, ask_where_to_save, show_failure
from augenmerk.viz_app.worker.inference import (
    Failure,
    InferenceWorker,
    JobScope,
    OpenTranslator,
    Request,
    ShouldStop,
    Tell,
)


@dataclass(frozen=True)
class FoundModel:
    """The checkpoint with the wanted digest; `path` is None for the bundled model."""

    path: Path | None


@dataclass(frozen=True, eq=False)
class FindModelJob:
    """Compares checkpoints with a digest, one after the other.

    Attributes:
        digest: of weights and vocabularies.
        paths: where to look, besides the bundled model. Files that cannot be read are passed over.
    """

    digest: str
    paths: Sequence[Path]
    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> FoundModel | None:
        """See `viz_app.worker.Job.run`."""
        from augenmerk.core.checkpoint.file import load_checkpoint, model_digest

        for path in (None, *self.paths):
            try:
                checkpoint = load_checkpoint(bundled_model_path() if path is None else path)
            except AugenmerkError:
                continue
            if model_digest(checkpoint) == self.digest:
                return FoundModel(path)
        return None


class ExperimentOpener(QObject):
    """Finds and opens the model of an experiment, then shows the experiment.

    Signals:
        failed(Failure): a file was not opened; a dialog says why.
        model_requested(Path | None): the model of an opened experiment; it has to be opened.
    """

    failed = Signal(object)
    model_requested = Signal(object)

    def __init__(
        self, state: ExperimentState, worker: InferenceWorker, preferences: Preferences, window: QWidget
    ) -> None:
        super().__init__(window)
        self._state, self._worker, self._preferences, self._window = state, worker, preferences, window
        self._waiting: SavedExperiment | None = None
        self._opened_early: tuple[SavedExperiment, Path | None] | None = None
        self._newest: SavedExperiment | None = None
        self._scene: SavedExperiment | None = None
        self._not_found: set[str] = set()
        state.model_changed.connect(self._on_model)

    def open(self, saved: SavedExperiment, path: Path) -> None:
        """Shows the experiment of a file."""
        self.forget_missing_models()
        self._scene = None
        self.show(saved, path)

    def show_scene(self, saved: SavedExperiment, path: Path | None) -> None:
        """Shows a scene of a lesson, with a new undo history."""
        self._scene = saved
        self.show(saved, path)

    def forget_missing_models(self) -> None:
        """Forgets failed searches, so that models are looked for again."""
        self._not_found.clear()

    def refuse(self, failure: Failure) -> None:
        """Reports in a dialog why a file was not opened."""
        show_failure(self._window, "The experiment was not opened", failure)
        self.failed.emit(failure)

    def show(self, saved: SavedExperiment, path: Path | None) -> None:
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
                on_error=self.refuse,
            )
        )

    def _show_with_model_in_use(self, saved: SavedExperiment) -> None:
        self._show(saved)
        is_in_use = self._state.model is not None and self._state.model.title == saved.model.name
        which = "another version of the model" if is_in_use else "the model"
        self._state.report(
            f"This experiment was made with {which} “{saved.model.name}”, which is neither a recent model nor next to "
            "the file. It is shown with the current model. " + self._misfits(saved)
        )

    def _on_model(self) -> None:
        """The model of an opened experiment is open, or another one; whoever opened it asks for the experiment."""
        early, self._opened_early = self._opened_early, None
        if early is not None:
            self.show(*early)
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
        """A sentence naming the heads of the view that the current model lacks; empty if it lacks none."""
        model = self._state.model
        return heads_missing(saved.view, model.run.model) if model is not None else ""


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
