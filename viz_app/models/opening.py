"""Opening models: by dialog, by name, the bundled one; what the window says while one opens, and when it does not."""

from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from core.resources import bundled_model_path
from viz_app.preferences import Preferences
from viz_app.state.model_info import ModelInfo
from viz_app.top_bar import TopBar
from viz_app.translate.page import TranslatePage
from viz_app.widgets.dialogs import show_failure
from viz_app.worker import Failure, InferenceWorker

CHECKPOINT_FILTER = "Checkpoints (*.safetensors);;All files (*)"


class Opening(QObject):
    """Asks the worker for models. The one in use stays until the next is ready.

    Attributes:
        model: the model in use, or None.

    Signals:
        opened(ModelInfo): it is in use from now on.
        failed(Failure): it is not.
        last_is_gone(): the model of the last time cannot be opened again.
        chosen(Path): a person chose a file in the dialog.
    """

    opened = Signal(object)
    failed = Signal(object)
    last_is_gone = Signal()
    chosen = Signal(object)

    def __init__(
        self, worker: InferenceWorker, bar: TopBar, page: TranslatePage, preferences: Preferences, window: QWidget
    ) -> None:
        super().__init__(window)
        self._worker, self._bar, self._page, self._window = worker, bar, page, window
        self._preferences = preferences
        self._request_id = 0
        self._path: Path | None = None
        self._is_reopening = False
        self.model: ModelInfo | None = None
        bar.recent = preferences.recent
        worker.loaded.connect(self._on_loaded)
        worker.load_failed.connect(self._on_load_failed)

    def reopen(self, path: Path | None) -> None:
        """Opens the model of the last time; if that fails, `last_is_gone` is emitted."""
        self._is_reopening = True
        self.open(path)

    def open(self, path: Path | None) -> None:
        """Opens a checkpoint, None for the bundled one."""
        if path is None and not bundled_model_path().is_file():
            self._tell_bundled_is_missing()
            return
        self._path = path
        self._request_id = self._worker.load(path)
        name = (path or bundled_model_path()).stem
        if self.model is None:
            self._bar.show_model(f"opening {name} …", "")
            self._page.show_message(f"Opening {name} …")
        else:
            self._bar.device.setText(f"opening {name} …")

    def ask(self) -> None:
        """Asks for a checkpoint by dialog."""
        folder = str(self._preferences.recent[0].parent) if self._preferences.recent else ""
        dialog = QFileDialog(self._window, "Open a checkpoint", folder, CHECKPOINT_FILTER)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self.chosen.emit(Path(name)))
        dialog.open()

    def _tell_bundled_is_missing(self) -> None:
        expected = bundled_model_path()
        failure = Failure(
            f"The bundled model is not here: {expected} was expected. "
            "Open a checkpoint, or train a model on the Train page."
        )
        if self.model is None:
            self._bar.show_model("no model", "")
            self._page.show_message(failure.message, offers_models=True)
        else:
            show_failure(self._window, "The model was not opened", failure)
        self.failed.emit(failure)

    def _on_loaded(self, request_id: int, info: ModelInfo) -> None:
        self.model, self._is_reopening = info, False
        if request_id == self._request_id:
            self._preferences.model = self._path
            if self._path is not None:
                self._preferences.remember(self._path)
                self._bar.recent = self._preferences.recent
        self._bar.show_model(info.summary, info.device_summary)
        self._window.setWindowTitle(f"{info.title} – Augenmerk")
        self.opened.emit(info)
        self._page.set_model(info)

    def _on_load_failed(self, request_id: int, failure: Failure) -> None:
        if request_id != self._request_id:
            return
        if self.model is None:
            self._bar.show_model("no model", "")
            text = "No model is open. Open a checkpoint, or train a model."
            self._page.show_message(text, offers_models=True)
        else:
            self._bar.show_model(self.model.summary, self.model.device_summary)
        if self._path is not None:
            self._preferences.forget(self._path)
            self._bar.recent = self._preferences.recent
        show_failure(self._window, "The model was not opened", failure)
        self.failed.emit(failure)
        if self._is_reopening:
            self._is_reopening = False
            self.last_is_gone.emit()
