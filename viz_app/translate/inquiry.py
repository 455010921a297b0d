"""The way from a wish of the Translate page to the worker, and of its answers back."""

from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from core.analysis.trace import Trace
from core.model.heads import Head
from core.translation.result import Translation
from viz_app.analysis.tab import LabTab
from viz_app.state.measuring import MeasuredMaps
from viz_app.state.switchboard import SwitchedOff
from viz_app.translate.page import TranslatePage
from viz_app.widgets.dialogs import show_failure
from viz_app.worker import Callbacks, Failure, InferenceWorker, Job, JobDesk, SwitchOffJob
from viz_app.worker.pair_jobs import GivenJob, TraceJob


class Inquiry(QObject):
    """Asks the worker what the Translate page wants to know, and hands it the answers.

    Attributes:
        desk: who asked which job.

    Signals:
        translation_shown(Translation)
        failed(Failure): a sentence was refused.
    """

    translation_shown = Signal(object)
    failed = Signal(object)

    def __init__(self, worker: InferenceWorker, page: TranslatePage, window: QWidget) -> None:
        super().__init__(window)
        self._worker, self._page, self._window = worker, page, window
        self._asked_ids: set[int] = set()
        self.desk = JobDesk(worker, self)
        worker.translated.connect(self._on_translated)
        worker.translation_failed.connect(self._on_translation_failed)
        page.switching_wanted.connect(self._switch_off)
        page.measuring_wanted.connect(self._measure)
        page.given_wanted.connect(self._read_given)
        page.trace_wanted.connect(self._trace)
        for tab in page.lab.tabs:
            tab.job_wanted.connect(partial(self._ask_for, tab))
            tab.cancel_wanted.connect(self.desk.cancel)

    def translate(self, text: str, *, is_asked: bool) -> None:
        """Asks for a translation. If the user asked outright, a refusal is told by a dialog."""
        request_id = self._worker.translate(text)
        self._asked_ids = {request_id} if is_asked else set()
        self._page.await_result(request_id)

    def _on_translated(self, request_id: int, translation: Translation) -> None:
        if request_id == self._page.state.awaited_id:
            self._page.accept(request_id, translation)
            self.translation_shown.emit(translation)

    def _on_translation_failed(self, request_id: int, failure: Failure) -> None:
        if not self._page.refuse(request_id, failure.message):
            return
        if failure.details or request_id in self._asked_ids:
            show_failure(self._window, "The sentence was not translated", failure)
        self.failed.emit(failure)

    def _ask_for(self, tab: LabTab, job: Job) -> None:
        tab.await_job(self.desk.ask(job, tab))

    def _switch_off(self, translation: Translation, off: frozenset[Head]) -> None:
        page = self._page

        def accept(request_id: int, effect: object) -> None:
            assert isinstance(effect, SwitchedOff)
            page.accept_switched(request_id, effect)

        def refuse(request_id: int, failure: Failure) -> None:
            if page.refuse_switched(request_id, failure.message) and failure.details:
                show_failure(self._window, "The heads were not switched off", failure)

        page.await_switched(self.desk.ask(SwitchOffJob(translation, off, page.state.own), Callbacks(accept, refuse)))

    def _measure(self, translation: Translation) -> None:
        page = self._page

        def accept(request_id: int, measured: object) -> None:
            assert isinstance(measured, MeasuredMaps)
            page.accept_measured(request_id, measured)

        def refuse(request_id: int, failure: Failure) -> None:
            if page.refuse_measured(request_id):
                show_failure(self._window, "The maps were not measured", failure)

        page.await_measured(self.desk.ask(self._worker.measuring(translation), Callbacks(accept, refuse)))

    def _read_given(self, source: str, target: str) -> None:
        page = self._page

        def accept(request_id: int, translation: object) -> None:
            assert isinstance(translation, Translation)
            self._on_translated(request_id, translation)

        def refuse(request_id: int, failure: Failure) -> None:
            if page.refuse(request_id, failure.message) and failure.details:
                show_failure(self._window, "The translation was not read", failure)

        page.await_result(self.desk.ask(GivenJob(source, target), Callbacks(accept, refuse)))

    def _trace(self, translation: Translation) -> None:
        marks = self._page.marks

        def accept(request_id: int, trace: object) -> None:
            assert isinstance(trace, Trace)
            marks.accept_trace(request_id, translation, trace)

        def refuse(request_id: int, failure: Failure) -> None:
            marks.refuse_trace(request_id, failure.message)

        marks.await_trace(self.desk.ask(TraceJob(translation), Callbacks(accept, refuse)))
