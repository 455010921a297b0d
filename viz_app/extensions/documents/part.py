"""Experiment files, and the kept session, as a part of the window."""

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QMenu

from ...models.loader import source_to_import
from ...window_part import WindowPart
from ...worker.inference import Failure
from .experiment_documents import EXPERIMENT_COMMANDS, ExperimentDocuments
from .reading import is_experiment
from .session import KeptSession


class DocumentsPart(WindowPart):
    """Saves and opens experiments; shows at a start what the last session ended with.

    Attributes:
        documents: saves and opens experiments, and opens lessons.
        session: the experiment and its result, kept for the next start.
    """

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        self.documents = ExperimentDocuments(
            window.state, window.worker, window.preferences, window
        )
        self.session = KeptSession(window.state, window.preferences, window)
        window.commands.add(self.documents, EXPERIMENT_COMMANDS)
        self.documents.done.connect(window.top_bar.show_notice)
        self.documents.model_requested.connect(window.open_model)
        self.documents.failed.connect(self._on_failed)

    def menus(self) -> tuple[QMenu, ...]:
        """See `WindowPart`."""
        menu = QMenu("Experiment", self.window)
        self.documents.fill_menu(menu)
        return (menu,)

    def opens(self, path: Path) -> bool:
        """Experiments and lessons, by their content."""
        return source_to_import(path) is None and is_experiment(path)

    def open_file(self, path: Path) -> None:
        """See `WindowPart`."""
        self.documents.open(path)

    def restore(self, *, shows_screen: bool) -> bool:
        """Restores the experiment."""
        return shows_screen and self.session.restore()

    def begin_session(self, model_path: Path | None, *, is_restored: bool) -> None:
        """Shows the result that the last session ended with, or the shipped one of the first
        example, before torch is imported.
        """
        if is_restored:
            self.session.restore_result(model_path)
        else:
            self.session.set_damaged_aside(model_path)
            self.session.show_first_result(model_path)

    def save(self) -> None:
        """See `WindowPart`."""
        self.session.keep()

    def shutdown(self, *, waits: bool) -> None:
        """Keeps the result on the screen."""
        self.session.keep_result()

    def _on_failed(self, failure: Failure) -> None:
        """Shows the sentence if the experiment of the command line was not opened."""
        if self.window.state.result is None:
            self.window.translate_page.ask_new_model()
        self.window.failed.emit(failure)
