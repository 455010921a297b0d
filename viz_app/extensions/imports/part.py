"""The import of models of other projects as a part of the window."""

import math
from pathlib import Path
from typing import Any

from augenmerk.core.extensions.readers.reader import patterns_of_files

from ...widgets.commands import Command
from ...window_part import WindowPart
from ...worker.inference import InferenceWorker
from .import_dialog import HubDialog, ImportDialog


class ImportPart(WindowPart):
    """Imports models of other projects when they are opened, and models at Hugging Face by their
    names.

    Attributes:
        dialog: the one that imports a model, or None.
    """

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        self.dialog: ImportDialog | None = None
        self._worker: InferenceWorker | None = None
        window.loader.importer = self
        window.loader.more_commands += window.commands.add(self, (FROM_HUB,))

    def patterns(self) -> list[str]:
        """See `Importer`."""
        return patterns_of_files()

    def imported_before(self, source: Path) -> Path | None:
        """See `Importer`."""
        path: Path | None = self.window.preferences.imports.file_of(source)
        return path if path is not None and _changed(source) <= _changed(path) else None

    def offer(self, source: Path) -> None:
        """See `Importer`."""
        self._show(ImportDialog(source, self._own_worker(), self.window.preferences, self.window))

    def choose_name(self) -> None:
        """Asks for a model at Hugging Face."""
        self._show(HubDialog(self._own_worker(), self.window.preferences, self.window))

    def shutdown(self, *, waits: bool) -> None:
        """Ends an import."""
        if self._worker is not None:
            self._worker.close()

    def _own_worker(self) -> InferenceWorker:
        """Starts an import in its own thread; the current model stays available."""
        if self._worker is None:
            self._worker = self.window.worker.sibling(self.window)
        return self._worker

    def _show(self, dialog: ImportDialog) -> None:
        """Opens the dialog, and cancels an earlier one."""
        earlier = self.dialog
        self.dialog = dialog
        if earlier is not None:
            earlier.reject()
        dialog.imported.connect(self._on_imported)
        dialog.finished.connect(lambda result: self._on_finished(dialog, is_done=bool(result)))
        dialog.open()

    def _on_imported(self, path: Path, about: str) -> None:
        if about:
            self.window.top_bar.show_notice(about)
        self.window.loader.file_chosen.emit(path)

    def _on_finished(self, dialog: ImportDialog, *, is_done: bool) -> None:
        if dialog is not self.dialog:
            return
        self.dialog = None
        if not is_done and self.window.loader.model is None:  # the first model was not imported
            self.window.loader.open(None)


FROM_HUB = Command[ImportPart](
    "Open a model from Hugging Face…", ImportPart.choose_name, group="Files"
)


def _changed(path: Path) -> float:
    """The last change to a file, or to the newest file of a folder; infinite if unknown."""
    try:
        files = [file for file in path.iterdir() if file.is_file()] if path.is_dir() else [path]
        return max((file.stat().st_mtime for file in files), default=0.0)
    except OSError:
        return math.inf
