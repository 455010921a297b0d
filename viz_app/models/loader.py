"""Opens models: by dialog, path or name, or the bundled one.

Models of other projects are imported first.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFileDialog, QWidget

from augenmerk.core.recognizers import recognize
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.storage import is_folder
from augenmerk.core.translation.experiment_file import SUFFIX

from ..preferences import Preferences
from ..state.model_info import ModelInfo
from ..widgets.commands import BoundCommand, Command
from ..widgets.dialogs import ask_what_to_open, show_failure
from ..worker.inference import Failure, InferenceWorker, Request
from ..worker.jobs import LoadJob


def source_to_import(path: Path) -> Path | None:
    """What to import when `path` is opened; None if it is no model of another project.

    The model may still be unreadable. A folder named like an experiment is not a model: it is
    refused as an experiment. A file that cannot be imported is left to the reader of checkpoints,
    which says what it is.
    """
    if is_folder(path):
        return path if path.suffix != SUFFIX else None
    recognized = recognize(path)
    return None if recognized is None else recognized.source


class Importer(Protocol):
    """Imports models of other projects."""

    def patterns(self) -> Iterable[str]:
        """Patterns of the names of files that can be imported."""

    def imported_before(self, source: Path) -> Path | None:
        """The file of an earlier import, unless the original has changed since."""

    def offer(self, source: Path) -> None:
        """Offers to import a model; the loader's `file_chosen` follows."""


class ModelLoader(QObject):
    """Opens models in the worker. The current model stays in use until the next is ready.

    Attributes:
        model: the model in use, or None.
        importer: imports models of other projects; None if that extension is missing: then opening
            says what they are.
        more_commands: further ways to open a model.

    Signals:
        loading(str): the model of this name is being opened.
        loaded(ModelInfo): it is in use from now on.
        failed(Failure, bool): it was not opened, `model` stays in use; True if a dialog shows the
            failure.
        previous_model_missing(): the model of the last session cannot be opened.
        file_chosen(Path | None): the user chose a file or folder, or one was imported; None for the
            bundled model.
        import_offered(str): the model of this name must be imported first; a dialog offers that.
    """

    loading = Signal(str)
    loaded = Signal(object)
    failed = Signal(object, bool)
    previous_model_missing = Signal()
    file_chosen = Signal(object)
    import_offered = Signal(str)

    def __init__(self, worker: InferenceWorker, preferences: Preferences, window: QWidget) -> None:
        super().__init__(window)
        self._worker, self._preferences, self._window = worker, preferences, window
        self._is_reopening = False
        self.model: ModelInfo | None = None
        self.importer: Importer | None = None
        self.more_commands: list[BoundCommand] = []

    @property
    def recent(self) -> tuple[Path, ...]:
        """Recently opened checkpoints, newest first."""
        return self._preferences.recent_models.paths

    def reopen(self, path: Path | None) -> None:
        """Opens the checkpoint of the last session, or emits `previous_model_missing`."""
        self._is_reopening = True
        self._load(path)

    def open(self, path: Path | None) -> None:
        """Opens a checkpoint or, for None, the bundled one; imports other projects' models once."""
        importer = self.importer
        source = None if path is None or importer is None else source_to_import(path)
        if importer is not None and source is not None:
            path = importer.imported_before(source)
            if path is None:
                importer.offer(source)
                self.import_offered.emit(source.name)
                return
        self._load(path)

    def stand_in(self) -> None:
        """Opens the bundled model for now: the next start reopens the previous model."""
        self._load(None, is_last=False)

    def _load(self, path: Path | None, *, is_last: bool = True) -> None:
        if path is None and not bundled_model_path().is_file():
            failure = Failure(
                f"The bundled model is missing: {bundled_model_path()}. Open a checkpoint, or "
                "train a model on the Train page."
            )
            self._fail(failure, shows_dialog=self.model is not None)
            return
        self._worker.submit(
            Request(
                LoadJob(path),
                self,
                on_result=partial(self._on_loaded, path, is_last),
                on_error=partial(self._on_load_failed, path),
            )
        )
        self.loading.emit((path or bundled_model_path()).stem)

    def choose_file(self) -> None:
        """Asks for a file in a dialog."""
        self._choose("Open a model", QFileDialog.FileMode.ExistingFile)

    def choose_folder(self) -> None:
        """Asks for a folder in a dialog: models of some projects are folders."""
        self._choose("Open the folder of a model", QFileDialog.FileMode.Directory)

    def name_filter(self) -> str:
        """The filter of the dialog: names of checkpoints, and of files that can be imported."""
        imported = self.importer.patterns() if self.importer is not None else ()
        return f"Models ({' '.join(dict.fromkeys(('*.safetensors', *imported)))});;All files (*)"

    def _choose(self, title: str, mode: QFileDialog.FileMode) -> None:
        folder = self._preferences.recent_models.folder
        ask_what_to_open(
            self._window, title, folder, self.file_chosen.emit, self.name_filter(), mode
        )

    def _on_loaded(self, path: Path | None, is_last: bool, info: ModelInfo) -> None:
        self.model = info
        self._is_reopening = False
        if is_last:
            self._preferences.model = path
        if path is not None:
            self._preferences.recent_models.remember(path)
        self.loaded.emit(info)

    def _on_load_failed(self, path: Path | None, failure: Failure) -> None:
        if path is not None:
            self._preferences.recent_models.forget(path)
        self._fail(failure, shows_dialog=True)
        if self._is_reopening:
            self._is_reopening = False
            self.previous_model_missing.emit()

    def _fail(self, failure: Failure, *, shows_dialog: bool) -> None:
        if shows_dialog:
            show_failure(self._window, "The model was not opened", failure)
        self.failed.emit(failure, shows_dialog)


OPEN_BUNDLED = Command[ModelLoader](
    "Open the bundled model", lambda loader: loader.file_chosen.emit(None), group="Files"
)
MODEL_COMMANDS = (
    Command[ModelLoader](
        "Open a model…",
        ModelLoader.choose_file,
        keys=(QKeySequence.StandardKey.Open,),
        group="Files",
    ),
    Command[ModelLoader]("Open a model folder…", ModelLoader.choose_folder, group="Files"),
    OPEN_BUNDLED,
)
