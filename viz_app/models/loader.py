"""Opens models: by dialog, by path, or the bundled one."""

from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from core.resources import bundled_model_path
from viz_app.preferences import Preferences
from viz_app.state.model_info import ModelInfo
from viz_app.widgets.dialogs import show_failure
from viz_app.worker import Failure, InferenceWorker, LoadJob, Request

CHECKPOINT_FILTER = "Checkpoints (*.safetensors);;All files (*)"


class ModelLoader(QObject):
    """Asks the worker for models. The one in use stays until the next is ready.

    Attributes:
        model: the model in use, or None.

    Signals:
        loading(str): the model of this name is being opened.
        loaded(ModelInfo): it is in use from now on.
        failed(Failure, bool): it was not opened, `model` is still in use; and whether a dialog shows the failure.
        previous_model_missing(): the model of the last session cannot be opened again.
        file_chosen(Path): the user chose a file in the dialog.
    """

    loading = Signal(str)
    loaded = Signal(object)
    failed = Signal(object, bool)
    previous_model_missing = Signal()
    file_chosen = Signal(object)

    def __init__(self, worker: InferenceWorker, preferences: Preferences, window: QWidget) -> None:
        super().__init__(window)
        self._worker, self._preferences, self._window = worker, preferences, window
        self._path: Path | None = None
        self._is_reopening = False
        self.model: ModelInfo | None = None

    @property
    def recent(self) -> tuple[Path, ...]:
        """Checkpoints that were opened, the newest first."""
        return self._preferences.recent_models.paths

    def reopen(self, path: Path | None) -> None:
        """Opens the model of the last session; if that fails, `previous_model_missing` is emitted."""
        self._is_reopening = True
        self.open(path)

    def open(self, path: Path | None) -> None:
        """Opens a checkpoint, None for the bundled one."""
        if path is None and not bundled_model_path().is_file():
            failure = Failure(
                f"The bundled model is not here: {bundled_model_path()} was expected. "
                "Open a checkpoint, or train a model on the Train page."
            )
            self._fail(failure, shows_dialog=self.model is not None)
            return
        self._path = path
        self._worker.submit(Request(LoadJob(path), self, on_result=self._on_loaded, on_error=self._on_load_failed))
        self.loading.emit((path or bundled_model_path()).stem)

    def choose_file(self) -> None:
        """Asks for a checkpoint by dialog."""
        folder = str(self.recent[0].parent) if self.recent else ""
        dialog = QFileDialog(self._window, "Open a checkpoint", folder, CHECKPOINT_FILTER)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self.file_chosen.emit(Path(name)))
        dialog.open()

    def _on_loaded(self, info: ModelInfo) -> None:
        self.model, self._is_reopening = info, False
        self._preferences.model = self._path
        if self._path is not None:
            self._preferences.recent_models.remember(self._path)
        self.loaded.emit(info)

    def _on_load_failed(self, failure: Failure) -> None:
        if self._path is not None:
            self._preferences.recent_models.forget(self._path)
        self._fail(failure, shows_dialog=True)
        if self._is_reopening:
            self._is_reopening = False
            self.previous_model_missing.emit()

    def _fail(self, failure: Failure, *, shows_dialog: bool) -> None:
        if shows_dialog:
            show_failure(self._window, "The model was not opened", failure)
        self.failed.emit(failure, shows_dialog)
