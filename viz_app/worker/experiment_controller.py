"""Computes what an `ExperimentState` asks for, and hands it the answers."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.state.experiment_state import ExperimentRequest, ExperimentState
from augenmerk.viz_app.state.request_state import Progress, RequestState
from augenmerk.viz_app.worker.failure import Failure
from augenmerk.viz_app.worker.inference import InferenceWorker, Request
from augenmerk.viz_app.worker.jobs import ABOUT_A_RESULT, ExperimentJob, Job, MeasureJob


class ExperimentController(QObject):
    """The way from one `ExperimentState` to the worker and back.

    Attributes:
        state: whose experiment is computed, and whose questions are asked.

    Signals:
        failed(Failure): an experiment was refused, or something unexpected went wrong.
    """

    failed = Signal(object)

    def __init__(self, state: ExperimentState, worker: InferenceWorker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = state
        self._worker = worker
        self._computing: Request | None = None
        self._measuring: Request | None = None
        state.experiment_asked.connect(self._compute)
        state.experiment_cancelled.connect(self._cancel)
        state.measuring.asked.connect(self._measure)
        state.measuring.cancelled.connect(self._cancel_measuring)

    def ask(
        self,
        job: Job,
        awaiting: RequestState,
        on_result: Callable[[Any], object],
        *,
        on_partial: Callable[[Any], object] | None = None,
    ) -> Request | None:
        """Asks a question on behalf of the widget that shows `awaiting`, which follows the request to its end.

        Args:
            job: the question.
            awaiting: begins now, and ends before `on_result` is called, or with the problem.
            on_result: called with the answer.
            on_partial: called with what is known so far, whenever the job reports it.

        Returns:
            None if the question is about a result that the model in use did not make: it was not asked.
        """
        if job.scope in ABOUT_A_RESULT and self.state.current is None:
            return None

        def progress(value: Progress) -> None:
            if on_partial is not None and value.partial is not None:
                on_partial(value.partial)
            awaiting.advance(value)

        def result(value: object) -> None:
            awaiting.finish()
            on_result(value)

        request = self._worker.submit(
            Request(
                job,
                self.state,
                on_result=result,
                on_error=lambda failure: awaiting.finish(failure.message),
                on_progress=progress,
                on_superseded=awaiting.finish,
            )
        )
        awaiting.begin(job)  # only now: a request that this one supersedes has just finished
        return request

    def _compute(self, asked: ExperimentRequest) -> None:
        self._computing = self._worker.submit(
            Request(ExperimentJob(asked), self.state, on_result=self.state.accept, on_error=self._refuse)
        )

    def _cancel(self) -> None:
        if self._computing is not None:
            self._computing.cancel()

    def _refuse(self, failure: Failure) -> None:
        self.state.refuse(failure.message)
        self.failed.emit(failure)

    def _measure(self, translation: Translation) -> None:
        measuring = self.state.measuring
        self._measuring = self.ask(MeasureJob(translation), measuring.request, measuring.take)

    def _cancel_measuring(self) -> None:
        if self._measuring is not None:
            self._measuring.cancel()
