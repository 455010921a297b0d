"""Which model and which experiment the window opens: at its start, and whenever another model is chosen."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from augenmerk.core.translation.experiment import Experiment
from augenmerk.viz_app.documents.experiment_documents import ExperimentDocuments
from augenmerk.viz_app.documents.lesson_documents import LessonDocuments
from augenmerk.viz_app.documents.session import KeptSession
from augenmerk.viz_app.examples import example_sentences
from augenmerk.viz_app.models.loader import ModelLoader
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.top_bar import TopBar
from augenmerk.viz_app.translate.page import TranslatePage
from augenmerk.viz_app.widgets.dialogs import show_failure
from augenmerk.viz_app.worker.inference import Failure

TRANSLATING = "Translating…\nYou can type another sentence meanwhile."


@dataclass(frozen=True)
class Requested:
    """What the command line asks to open; None is what was open at the last end."""

    checkpoint: Path | None = None
    sentence: str | None = None
    experiment: Path | None = None


class Opening(QObject):
    """Asks each model that was opened for an experiment; shows which model is in use, or why there is none.

    A model of the last session that cannot be opened, or that cannot read the sentence of the command line, is
    replaced by the bundled one.

    Signals:
        model_opened(ModelInfo)
        failed(Failure): a model or an experiment file was not opened, or an experiment was refused.
    """

    model_opened = Signal(object)
    failed = Signal(object)

    def __init__(
        self,
        requested: Requested,
        loader: ModelLoader,
        page: TranslatePage,
        bar: TopBar,
        documents: ExperimentDocuments,
        session: KeptSession,
        lessons: LessonDocuments,
        preferences: Preferences,
    ) -> None:
        super().__init__()
        self._loader, self._page, self._bar, self._state = loader, page, bar, page.state
        self._documents, self._session, self._lessons, self._preferences = documents, session, lessons, preferences
        self._is_reopening = requested.checkpoint is None and preferences.model is not None
        self._first_checkpoint = requested.checkpoint or preferences.model
        self._first_experiment = requested.experiment
        self._restored: Experiment | None = None
        self._lesson_failure: Failure | None = None
        self._offers_bundled = requested.sentence is not None and self._is_reopening
        loader.loading.connect(self._on_loading)
        loader.loaded.connect(self._on_loaded)
        loader.failed.connect(self._on_load_failed)
        loader.previous_model_missing.connect(self._open_bundled_instead)
        loader.import_offered.connect(self._on_import_offered)
        page.failed.connect(self._on_sentence_failed)
        documents.opener.failed.connect(self._on_experiment_failed)
        self._state.result_changed.connect(self._on_result)
        self._show_first_text(requested.sentence)

    def open_first_model(self) -> None:
        """Opens the requested model, or the one of the last session. Takes seconds of imports in the worker."""
        if self._lesson_failure is not None:
            show_failure(self._page.window(), "The last lesson was not opened", self._lesson_failure)
        (self._loader.reopen if self._is_reopening else self._loader.open)(self._first_checkpoint)

    def _show_first_text(self, sentence: str | None) -> None:
        """The requested sentence; else what was on the screen, if it belongs to this model; else an example."""
        path, page = self._first_checkpoint, self._page
        if sentence is not None:
            page.begin(sentence, is_requested=True)
        else:
            if (path.absolute() if path is not None else None) == self._preferences.model:
                self._restore()
            if self._restored is None:
                self._show_example()
        page.sentence.input.setFocus()

    def _restore(self) -> None:
        is_restored = self._session.restore()
        text = "" if is_restored else self._session.earlier_sentence()  # older versions kept it alone
        if text:
            self._page.begin(text)
        self._lesson_failure = self._lessons.restore(shows_scene=not is_restored)
        if is_restored or text or self._lessons.lesson.scenes:
            self._restored = self._state.experiment

    def _show_example(self) -> None:
        self._page.begin(next(iter(example_sentences()), ""))

    def _on_loading(self, name: str) -> None:
        if self._loader.model is None:
            self._bar.show_model(f"opening {name}…", "")
            self._page.show_message(f"Opening {name}…")
        else:
            self._bar.show_device(f"opening {name}…")

    def _on_import_offered(self, name: str) -> None:
        if self._loader.model is None:
            self._page.show_message(f"{name} is a model of another project. It is imported before it is opened.")

    def _on_loaded(self, info: ModelInfo) -> None:
        self._show_model(info)
        self.model_opened.emit(info)
        previous = self._state.model
        self._state.begin_model(info)
        if previous is not None and self._preferences.is_stand_in(info.path):
            self._state.report(f"{_cannot_read(previous)}, so the bundled model is used.")
        if self._state.result is None:
            self._page.show_message(TRANSLATING, offers_cancel=True)
        if self._first_experiment is not None:
            path, self._first_experiment = self._first_experiment, None
            self._documents.open(path)
        else:
            self._page.ask_new_model()

    def _on_load_failed(self, failure: Failure, is_in_dialog: bool) -> None:
        if self._loader.model is None:
            self._bar.show_model("no model", "")
            text = "No model is open. Open a checkpoint, or train a model." if is_in_dialog else failure.message
            self._page.show_message(text, offers_models=True)
        else:
            self._show_model(self._loader.model)
            if self._state.request.problem and self._state.result is None:
                self._page.ask_new_model()  # its answer replaces the message about the stand-in
        self.failed.emit(failure)

    def _on_sentence_failed(self, failure: Failure) -> None:
        """A sentence from the command line that the last model cannot read goes to the bundled one."""
        is_requested = self._state.experiment.source_text == self._page.sentence.examples.requested_text
        model, offers_bundled, self._offers_bundled = self._loader.model, self._offers_bundled, False
        if offers_bundled and is_requested and not failure.details and model is not None and not model.is_bundled:
            self._page.show_message(f"{_cannot_read(model)}.\nOpening the bundled model…")
            self._loader.stand_in()
        else:
            self.failed.emit(failure)

    def _on_experiment_failed(self, failure: Failure) -> None:
        """An experiment file was not opened. If it was to be the first, there is the sentence in its place."""
        if self._state.result is None:
            self._page.ask_new_model()
        self.failed.emit(failure)

    def _on_result(self) -> None:
        if self._state.translation is not None:
            self._offers_bundled = False

    def _open_bundled_instead(self) -> None:
        """The model of the last session cannot be opened again: its experiment, if untouched, goes with it."""
        if self._state.experiment == self._restored:
            self._show_example()
        self._loader.open(None)

    def _show_model(self, info: ModelInfo) -> None:
        self._bar.show_model(info.summary, info.device_summary)


def _cannot_read(model: ModelInfo) -> str:
    return f"The model “{model.title}” cannot read this sentence"
