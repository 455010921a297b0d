"""Shows saved experiments with their own models."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from augenmerk.core.translation.experiment_file import SavedExperiment
from augenmerk.viz_app.documents.find_model_job import FindModelJob, FoundModel
from augenmerk.viz_app.documents.view_values import apply_view, heads_missing
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import open_experiment
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.widgets.dialogs import show_failure
from augenmerk.viz_app.worker import Failure, InferenceWorker, Request


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
