"""The progress dialog of a film being written."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QPushButton, QWidget

from augenmerk.viz_app.export.film import Film, save_film
from augenmerk.viz_app.state.experiment_state import Progress
from augenmerk.viz_app.theme import GAP, PAGE_MARGIN, scales
from augenmerk.viz_app.widgets.bars import ProgressLine
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import column_of, row_of
from augenmerk.viz_app.worker.inference import Failure, InferenceWorker, ModelFreeJob, Request, ShouldStop, Tell

WIDTH_PX = 380


@dataclass(frozen=True, eq=False)
class FilmJob(ModelFreeJob):
    """Writes a film; the result is its file."""

    film: Film
    target: Path

    def work(self, progress: Tell, should_stop: ShouldStop) -> Path:
        """See `ModelFreeJob.work`. What was stopped leaves no file that was not there before."""
        save_film(self.film, self.target, lambda done, total: progress(Progress(done, total)), should_stop)
        return self.target


class FilmDialog(QDialog):
    """Writes one film in its own thread, then closes.

    Attributes:
        status, progress: what is done, and how far it is.
        cancel_button: stops it; no file is left that was not there before.

    Signals:
        saved(): the film stands in its file.
        failed(Failure): it could not be written.
    """

    saved = Signal()
    failed = Signal(object)

    def __init__(self, film: Film, target: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._job = FilmJob(film, target)
        self._worker = InferenceWorker(parent=self)
        self._request: Request | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Export the film")
        self.setProperty("role", "form")
        self.status, self.progress = label("small"), ProgressLine()
        self.status.setText(f"Preparing {target.name}…")
        self.progress.set_fraction(None)
        self.cancel_button = QPushButton("Cancel")
        self.cancel_button.clicked.connect(self.reject)
        margins = PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN
        buttons = row_of(1, self.cancel_button)
        column_of(self.status, self.progress, buttons, spacing=GAP, margins=margins, within=self)
        scales(self.setMinimumWidth, WIDTH_PX)

    def begin(self) -> None:
        """Shows the dialog and begins."""
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.show()
        self._request = self._worker.submit(
            Request(self._job, self, on_result=self._on_saved, on_error=self._on_failure, on_progress=self._on_progress)
        )

    def reject(self) -> None:
        """Stops the film, which ends within a moment."""
        if self._request is not None:
            self._request.cancel()
        super().reject()

    def done(self, result: int) -> None:
        """Ends the thread with the dialog."""
        self._worker.close()
        super().done(result)

    def _on_progress(self, progress: Progress) -> None:
        self.status.setText(f"{self._job.target.name}: picture {progress.done:,} of {progress.total:,}")
        self.progress.set_fraction(progress.done / progress.total)

    def _on_saved(self, _: object) -> None:
        self.accept()
        self.saved.emit()

    def _on_failure(self, failure: Failure) -> None:
        super().reject()
        self.failed.emit(failure)
