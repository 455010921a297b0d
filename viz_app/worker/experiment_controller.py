"""Computes what an `ExperimentState` asks for, and hands it the answers."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from augenmerk.core.analysis.measures import MeasuredMaps
from augenmerk.core.translation.result import ExperimentResult, Translation
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.progress import Progress
from augenmerk.viz_app.state.request_state import RequestState
from augenmerk.viz_app.worker.failure import Failure
from augenmerk.viz_app.worker.inference import InferenceWorker
from augenmerk.viz_app.worker.jobs import ExperimentJob, Job, MeasureJob
from augenmerk.viz_app.worker.requests import Request


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
        state.measuring_cancelled.connect(self._cancel_measuring)
        state.result_changed.connect(self._measure)
        state.settings.events.measure.connect(self._measure, max_args=0)
        state.settings.events.shown.connect(self._measure, max_args=0)

    def ask(
        self,
        job: Job,
        awaiting: RequestState,
        on_result: Callable[[object], object],
        *,
        on_partial: Callable[[object], object] | None = None,
    ) -> Request:
        """Asks a question on behalf of whoever shows `awaiting`, which follows the request to its end.

        Args:
            job: the question.
            awaiting: begins now, and ends before `on_result` is called, or with the problem.
            on_result: called with the answer.
            on_partial: called with what is known so far, whenever the job tells it.
        """

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
        awaiting.begin()  # only now: a request that this one supersedes has just finished
        return request

    def _compute(self) -> None:
        state = self.state
        if state.model is None:
            return  # it is asked for when a model has been opened
        known = None if state.is_of_earlier_model else state.result
        job = ExperimentJob(
            state.experiment,
            original=known.original if known is not None else None,
            own=_own_of(known),
            drops_misfits=state.drops_misfits,
            draft=known.changed if known is not None else None,  # while somebody types, nearly right
        )
        state.request.begin()
        self._computing = self._worker.submit(Request(job, state, on_result=self._accept, on_error=self._refuse))

    def _cancel(self) -> None:
        if self._computing is not None:
            self._computing.cancel()

    def _accept(self, result: ExperimentResult) -> None:
        self.state.accept(result)

    def _refuse(self, failure: Failure) -> None:
        self.state.refuse(failure.message)
        self.failed.emit(failure)

    def _measure(self) -> None:
        state = self.state
        lacking = state.maps.lacking_measure()
        if lacking is None or state.is_of_earlier_model:
            return

        def accept(measured: object) -> None:
            assert isinstance(measured, MeasuredMaps)
            state.take_measured(measured)
            self._measure()  # a difference needs two

        self._measuring = self.ask(MeasureJob(lacking), state.measuring, accept)

    def _cancel_measuring(self) -> None:
        if self._measuring is not None:
            self._measuring.cancel()


def _own_of(result: ExperimentResult | None) -> Translation | None:
    """The model's own greedy translation of the sentence, as far as it is known."""
    if result is None:
        return None
    return result.own if result.own is not None else result.original
