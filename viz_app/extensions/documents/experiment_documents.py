"""Saving, opening and copying the current experiment; opening the model that a file was made
with.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from augenmerk.core.errors import AugenmerkError, ExperimentFileError
from augenmerk.core.extensions.lessons.lesson_file import Lesson
from augenmerk.core.resources import bundled_model_path, is_bundled_model
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.experiment_file import (
    SUFFIX,
    SavedExperiment,
    write_experiment_file,
)

from ...preferences import Preferences
from ...state.experiment_editor import open_experiment
from ...state.experiment_state import ExperimentState
from ...widgets.commands import Command
from ...widgets.dialogs import add_files, ask_what_to_open, ask_where_to_save, show_failure
from ...worker.inference import Failure, InferenceWorker, Request
from ...worker.jobs import Job, JobScope, OpenTranslator, ShouldStop, Tell
from .copying import to_command, to_python
from .reading import (
    NO_DIGEST,
    apply_view,
    heads_missing,
    is_shipped,
    read_for_window,
    saved_experiment,
    tabs_missing,
)

FORMATS = {SUFFIX.removeprefix("."): f"Experiments and lessons (*{SUFFIX})", "": "All files (*)"}
NOTHING = "Nothing to save yet: translate a sentence first"
OpenedFrom: TypeAlias = Literal["file", "scene", "earlier screen"]
"""Of a saved experiment: one that the user opened; a scene of a lesson, which begins a new undo
history; what was on the screen before, where a text may have been withheld.
"""


@dataclass(frozen=True, eq=False)
class FindModelJob(Job):
    """Finds the checkpoint with a digest.

    Attributes:
        digest: of weights and vocabularies.
        paths: the files to search after the bundled model. Unreadable files are skipped.
    """

    digest: str
    paths: Sequence[Path]
    scope: ClassVar[JobScope] = "model"

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> Path | None:
        """The first checkpoint with the digest, or None."""
        from augenmerk.core.checkpoint.file import find_checkpoint

        return find_checkpoint(self.digest, (bundled_model_path(), *self.paths))


class ExperimentDocuments(QObject):
    """The current experiment as a file, as Python, as a command.

    An opened file is shown with its own model.

    Signals:
        done(str): a short message that something was saved or copied.
        failed(Failure): a file was not opened; a dialog shows the reason.
        lesson_read(Lesson, Path): a file holds a lesson, which the receiver shows.
        model_requested(Path | None): the model of an opened experiment must be opened; None for the
            bundled one.
    """

    done = Signal(str)
    failed = Signal(object)
    lesson_read = Signal(object, object)
    model_requested = Signal(object)

    def __init__(
        self,
        state: ExperimentState,
        worker: InferenceWorker,
        preferences: Preferences,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._state, self._worker, self._preferences, self._window = (
            state,
            worker,
            preferences,
            window,
        )
        self._newest: SavedExperiment | None = None
        self._not_found: set[str] = set()

    def fill_menu(self, menu: QMenu) -> None:
        """Adds the commands for the current experiment."""
        for command in EXPERIMENT_COMMANDS:
            command.on(self).add_to(menu)
        recent = menu.addMenu("Recent experiments")
        recent.aboutToShow.connect(lambda: self._fill_recent(recent))
        menu.aboutToShow.connect(
            lambda: recent.menuAction().setEnabled(bool(self._preferences.recent_experiments.paths))
        )

    # --- saving -----------------------------------------------------------------------------------

    def ask_where_to_save(self) -> None:
        """Asks for a file and saves the experiment in it."""
        if not self._state.is_translated:
            self.done.emit(NOTHING)
            return
        folder = self._preferences.recent_experiments.folder
        ask_where_to_save(self._window, "Save the experiment", folder or Path(), self.save, FORMATS)

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
            QGuiApplication.clipboard().setText(
                write(self._state.experiment, model.path if model else None)
            )
        except AugenmerkError as error:
            show_failure(self._window, "The experiment was not copied", Failure.of(error))
            return
        self.done.emit(done)

    # --- opening ----------------------------------------------------------------------------------

    def ask_what_to_open(self) -> None:
        """Asks for a file and opens it."""
        folder = self._preferences.recent_experiments.folder
        ask_what_to_open(
            self._window, "Open an experiment", folder, self.open, ";;".join(FORMATS.values())
        )

    def open(self, path: Path) -> None:
        """Shows the experiment or lesson of a file; a dialog reports a failure, and the screen
        stays unchanged.
        """
        try:
            read = read_for_window(self._state, path)
        except ExperimentFileError as error:
            self._preferences.recent_experiments.forget(path)
            self._refuse(Failure.of(error))
            return
        if not is_shipped(path):
            self._preferences.recent_experiments.remember(path)
        self._not_found.clear()
        if isinstance(read, Lesson):
            self.lesson_read.emit(read, path)
        else:
            self.show(read, path)

    def show(
        self, saved: SavedExperiment, path: Path | None, *, opened_from: OpenedFrom = "file"
    ) -> None:
        """Shows an experiment with its model, which is searched among recent models and next to the
        file.

        Without an open model, the search starts once there is one.

        Args:
            saved: the experiment.
            path: its file.
            opened_from: where it is from.
        """
        state = self._state
        digest = saved.model.digest
        model = state.model
        self._newest = saved
        state.with_next_model = (
            partial(self.show, saved, path, opened_from=opened_from) if model is None else None
        )
        if model is None or digest in (model.digest, NO_DIGEST):
            self._show(saved, opened_from)
            return
        if digest in self._not_found:
            self._show_with_current_model(saved, opened_from)
            return
        neighbours = (
            sorted(path.absolute().parent.glob("*.safetensors")) if path is not None else []
        )
        paths = list(dict.fromkeys((*self._preferences.recent_models.paths, *neighbours)))

        def use(checkpoint: Path | None) -> None:
            if self._newest is not saved or state.with_next_model is not None:
                return  # something else was opened meanwhile
            if checkpoint is not None:
                state.with_next_model = partial(self._show_with_its_model, saved, opened_from)
                self.model_requested.emit(None if is_bundled_model(checkpoint) else checkpoint)
            else:
                self._not_found.add(digest)
                self._show_with_current_model(saved, opened_from)

        self._worker.submit(
            Request(FindModelJob(digest, paths), self, on_result=use, on_error=self._refuse)
        )

    def _show_with_its_model(self, saved: SavedExperiment, opened_from: OpenedFrom) -> None:
        """Shows the experiment unless another model was opened; the opening of a model translates
        it.
        """
        model = self._state.model
        if model is not None and model.digest == saved.model.digest:
            self._show(saved, opened_from, asks=False)

    def _show_with_current_model(self, saved: SavedExperiment, opened_from: OpenedFrom) -> None:
        self._show(saved, opened_from)
        has_same_name = (
            self._state.model is not None and self._state.model.title == saved.model.name
        )
        which = "another version of the model" if has_same_name else "the model"
        self._state.report(
            f"This experiment was made with {which} “{saved.model.name}”, which is neither a "
            "recent model nor next to the file. It is shown with the current model. "
            + self._misfits(saved)
        )

    def _show(self, saved: SavedExperiment, opened_from: OpenedFrom, *, asks: bool = True) -> None:
        self._state.intents.view_next = partial(apply_view, self._state, saved.view)
        is_first = self._state.result is None and not self._state.editor.can_undo
        opening = open_experiment(
            saved.experiment,
            forgets_history=is_first or opened_from == "scene",
            shows_foreign=opened_from != "earlier screen",
        )
        self._state.submit(opening, asks=asks)
        if misfits := self._misfits(saved):
            self._state.report(misfits)

    def _misfits(self, saved: SavedExperiment) -> str:
        """Sentences on the heads of the view that the model lacks, and the tabs that the window
        lacks; else empty.
        """
        model = self._state.model
        heads = heads_missing(saved.view, model.run.model) if model is not None else ""
        return " ".join(filter(None, (heads, tabs_missing(saved.view))))

    def _refuse(self, failure: Failure) -> None:
        """Reports a failure to open a file in a dialog."""
        show_failure(self._window, "The experiment was not opened", failure)
        self.failed.emit(failure)

    def _fill_recent(self, menu: QMenu) -> None:
        menu.clear()
        add_files(
            menu,
            {path: path.stem for path in self._preferences.recent_experiments.paths},
            self.open,
        )


EXPERIMENT_COMMANDS = (
    Command[ExperimentDocuments](
        "Save experiment…", ExperimentDocuments.ask_where_to_save, keys=("Ctrl+E",), group="Files"
    ),
    Command[ExperimentDocuments](
        "Open experiment…",
        ExperimentDocuments.ask_what_to_open,
        keys=("Ctrl+Shift+O",),
        group="Files",
    ),
    Command[ExperimentDocuments](
        "Copy as Python", ExperimentDocuments.copy_as_python, group="Files"
    ),
    Command[ExperimentDocuments](
        "Copy as command line", ExperimentDocuments.copy_as_command_line, group="Files"
    ),
)
