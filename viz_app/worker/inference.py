"""One thread that opens models and answers questions to them, the most urgent first."""

import logging
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from augenmerk.core.counting import display_text
from augenmerk.core.errors import AugenmerkError, ReaderFaultError
from augenmerk.core.maps.measure import MeasureName
from augenmerk.core.process import collector_paused, compute_on
from augenmerk.core.translation.result import Translation, TranslationStoppedError

from ..state.experiment_state import ExperimentRequest, ExperimentState, Progress, RequestState
from ..state.model_info import ModelInfo
from .jobs import (
    ExperimentJob,
    Job,
    JobInterrupted,
    JobScope,
    LoadJob,
    MeasureJob,
    ModelFreeJob,
    OpenTranslator,
    describe,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Failure:
    """A failure, described for the user.

    Attributes:
        message: the problem, and what to do.
        details: the traceback of an unexpected error; empty for one the user can correct.
    """

    message: str
    details: str = ""

    @classmethod
    def of(cls, error: Exception) -> "Failure":
        """The message of an error, with a traceback unless the user can correct it."""
        text = display_text(error) or type(error).__name__
        if isinstance(error, AugenmerkError) and not isinstance(error, ReaderFaultError):
            return cls(text)
        logger.error("Unexpected error in a worker thread", exc_info=error)
        if not isinstance(error, ReaderFaultError):
            text = f"An unexpected error occurred: {text}"
        return cls(text, "".join(traceback.format_exception(error)))


ABOUT_A_RESULT: tuple[JobScope, ...] = ("sentence", "details")
"""Scopes of jobs that a newer result makes pointless."""
URGENCY: dict[JobScope, int] = {"load": 0, "experiment": 1, "sentence": 2, "model": 3, "details": 4}


def _ignore(*_: object) -> None:
    """Does nothing."""


class Request:
    """One job for the worker, and the callbacks for its outcome.

    Callbacks run in the GUI thread. Once a request is cancelled, superseded or answered, none of
    them is called again.

    Attributes:
        job: the job; after an interruption its rest.
        owner: of each class of job only the newest request of an owner counts.
        on_result: called with the answer.
        on_error: called with a `Failure`: there is no answer.
        on_progress: called with a `Progress`.
        on_superseded: called if a newer request of its kind, another sentence or another model made
            it pointless.
        number: its place in the order of requests.
        is_over: whether it was answered, cancelled or superseded.
    """

    def __init__(
        self,
        job: Job,
        owner: object,
        on_result: Callable[[Any], object],
        on_error: Callable[[Failure], object] = _ignore,
        on_progress: Callable[[Progress], object] = _ignore,
        on_superseded: Callable[[], object] = _ignore,
    ) -> None:
        self.job, self.owner = job, owner
        self.on_result, self.on_error = on_result, on_error
        self.on_progress, self.on_superseded = on_progress, on_superseded
        self.number = 0
        self.is_over = False

    @property
    def key(self) -> tuple[int, type]:
        """Of two requests with the same key the newer one counts."""
        return id(self.owner), type(self.job)

    @property
    def urgency(self) -> int:
        """Its place among requests, the most urgent first."""
        return URGENCY[self.job.scope]

    def cancel(self) -> bool:
        """Ends it: no callback follows, and it stops at its next chance.

        Returns False if it was over already.
        """
        was_over = self.is_over
        self.is_over = True
        return not was_over


class RequestQueue:
    """Requests from the window to one thread, the most urgent first.

    The order of scopes is `URGENCY`.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._waiting: list[Request] = []
        self._current: Request | None = None
        self._answered: list[Request] = []
        self._num_requests = 0
        self.is_closing = False

    def put(self, request: Request) -> list[Request]:
        """Adds a request; returns the undelivered requests that it supersedes."""
        with self._condition:
            self._num_requests += 1
            request.number = self._num_requests
            superseded = [
                other for other in (*self._waiting, *self._answered) if other.key == request.key
            ]
            self._waiting = [other for other in self._waiting if other.key != request.key]
            if self._current is not None and self._current.key == request.key:
                superseded.append(self._current)
            self._waiting.append(request)
            self._condition.notify()
            return [other for other in superseded if other.cancel()]

    def put_back(self, request: Request) -> None:
        """Adds an interrupted request again, unless it is over."""
        with self._condition:
            if not (request.is_over or self.is_closing):
                self._waiting.append(request)

    def answered(self, request: Request) -> bool:
        """Records that its answer is on the way to the GUI thread; False if the request is over.

        A newer request supersedes it until it arrives, except for an opened model: the thread uses
        it from now on, so the answer must reach the window.
        """
        with self._condition:
            if request.is_over:
                return False
            if request.job.scope == "load":
                self._current = None
            else:
                self._answered.append(request)
            return True

    def delivered(self, request: Request) -> None:
        """Records that its answer has arrived."""
        with self._condition:
            self._answered = [other for other in self._answered if other is not request]

    def take(self) -> Request | None:
        """The most urgent request; blocks until there is one, None when closing."""
        with self._condition:
            self._current = None
            while True:
                self._waiting = [request for request in self._waiting if not request.is_over]
                if self.is_closing or self._waiting:
                    break
                self._condition.wait()
            if self.is_closing:
                return None
            self._current = min(
                self._waiting, key=lambda request: (request.urgency, request.number)
            )
            self._waiting.remove(self._current)
            return self._current

    def should_stop(self) -> bool:
        """True if the current request must give way or is over."""
        with self._condition:
            current = self._current
            if self.is_closing or current is None or current.is_over:
                return True
            return any(
                request.urgency < current.urgency
                for request in self._waiting
                if not request.is_over
            )

    def outdated_by(self, answered: Request) -> list[Request]:
        """Removes and returns the waiting requests that `answered` has made pointless.

        A new model outdates every earlier question about models; a new result those of its owner
        about the old result.
        """
        with self._condition:
            earlier = (request for request in self._waiting if request.number < answered.number)
            outdated = [request for request in earlier if _outdates(answered, request)]
            self._waiting = [request for request in self._waiting if request not in outdated]
            return outdated

    def close(self) -> None:
        """Drops all requests; `take` returns None from now on."""
        with self._condition:
            self.is_closing = True
            self._waiting.clear()
            self._answered.clear()
            self._condition.notify()


def _outdates(answered: Request, other: Request) -> bool:
    if answered.job.scope == "load":
        return other.job.scope in ("sentence", "model", "details")
    is_about_result = other.job.scope in ABOUT_A_RESULT
    return answered.job.scope == "experiment" and is_about_result and answered.owner is other.owner


ANSWER_SECONDS = 3.0
"""Seconds to wait for a thread to end, at most; then the process continues without it."""
THREAD_PREFIX = "augenmerk-"
"""Prefix of the names of all threads of the window, so that one still running is found at exit."""
Loader = Callable[[Path | None, str], OpenTranslator]
_SUPERSEDED = object()
"""The answer to a request that became pointless before it was answered."""


@dataclass(frozen=True)
class _Opened:
    """An opened model, and its description for the window."""

    translator: OpenTranslator
    info: ModelInfo


class InferenceWorker(QObject):
    """Answers `Request`s in a thread of its own; their callbacks run in the GUI thread.

    If a model cannot be opened, or is superseded meanwhile, the previous one stays in use. A
    request gives way to more urgent ones and then continues. Outcomes of requests that are over are
    dropped here, and nowhere else.
    """

    _outcome_ready = Signal()

    def __init__(self, loader: Loader | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._loader = loader or _load_translator
        self._translator: OpenTranslator | None = None  # used by the thread only
        self._requests = RequestQueue()
        self._outcomes: queue.SimpleQueue[tuple[Request, object]] = queue.SimpleQueue()
        self._outcome_ready.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self.destroyed.connect(self._requests.close)
        self._thread = threading.Thread(target=self._work, name=f"{THREAD_PREFIX}inference")

    def sibling(self, parent: QObject) -> "InferenceWorker":
        """Another worker with its own thread and model, and the same loader."""
        return InferenceWorker(self._loader, parent)

    def submit(self, request: Request) -> Request:
        """Adds a request. It supersedes an older one of the same owner and kind at once."""
        for old in self._requests.put(request):
            old.on_superseded()
        if self._thread.ident is None:
            self._thread.start()
        return request

    def close(self, limit_s: float = ANSWER_SECONDS) -> bool:
        """Drops all requests and waits for the thread to end.

        Returns:
            True if the thread has ended; False after `limit_s`.
        """
        self._requests.close()
        if self._thread.is_alive():
            self._thread.join(limit_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        """The thread's body: answers requests until closed."""
        while (request := self._requests.take()) is not None:
            self._handle(request)
            del request  # so that owners of answered requests can be freed
        self._translator = None

    def _handle(self, request: Request) -> None:
        """Answers one request, or puts its rest back."""
        try:
            value = self._answer(request)
        except JobInterrupted as interruption:
            request.job = interruption.rest
            self._requests.put_back(request)
            return
        except TranslationStoppedError:
            self._requests.put_back(request)
            return
        except Exception as error:  # any error must reach the window
            value = Failure.of(error)
        if not self._requests.answered(request):
            return
        if isinstance(value, _Opened):
            self._translator, value = value.translator, value.info
        self._tell(request, value)
        if not isinstance(value, Failure):
            for outdated in self._requests.outdated_by(request):
                self._tell(outdated, _SUPERSEDED)

    def _answer(self, request: Request) -> object:
        if isinstance(request.job, LoadJob):
            translator = self._loader(request.job.path, request.job.device)
            return _Opened(translator, describe(translator))

        tell = partial(self._tell, request)
        if isinstance(request.job, ModelFreeJob):
            return request.job.work(tell, self._requests.should_stop)
        if self._translator is None:
            return Failure("No model is open. Open or train one first.")
        return request.job.run(self._translator, tell, self._requests.should_stop)

    def _tell(self, request: Request, value: object) -> None:
        if not self._requests.is_closing:
            self._outcomes.put((request, value))
            self._outcome_ready.emit()

    def _deliver(self) -> None:
        while not self._requests.is_closing and not self._outcomes.empty():
            request, value = self._outcomes.get()
            if not isinstance(value, Progress):
                self._requests.delivered(request)
            if request.is_over:
                continue
            if isinstance(value, Progress):
                request.on_progress(value)
                continue
            request.cancel()
            if value is _SUPERSEDED:
                request.on_superseded()
            elif isinstance(value, Failure):
                request.on_error(value)
            else:
                request.on_result(value)


def _load_translator(path: Path | None, device: str) -> OpenTranslator:
    # a search of torch's objects would stop the window for 0.2 s, and again at every tenth search
    with collector_paused(for_good="torch" not in sys.modules):
        compute_on_one_thread()
        from augenmerk.core.translation.translator import Translator

    translator = Translator.load(path, device)
    translator.warm_up()
    return translator


@cache
def compute_on_one_thread() -> None:
    """Limits the calling thread to one processor core, unless OMP_NUM_THREADS is set. Once only.

    The steps of one sentence are too small to share: during a training, several threads wait for
    each other twenty times as long as they work.
    """
    compute_on(1)


class ExperimentController(QObject):
    """Connects one `ExperimentState` to the worker.

    Attributes:
        state: the source of experiments and questions.

    Signals:
        failed(Failure): an experiment was refused, or something unexpected went wrong.
    """

    failed = Signal(object)

    def __init__(
        self, state: ExperimentState, worker: InferenceWorker, parent: QObject | None = None
    ) -> None:
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
        """Submits a job; `awaiting` follows the request to its end.

        Args:
            job: the question.
            awaiting: begins now, and ends before `on_result` is called, or with the problem.
            on_result: called with the answer.
            on_partial: called with partial answers.

        Returns:
            the request; None if it was not submitted, as its result is of another model.
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
            Request(
                ExperimentJob(asked), self.state, on_result=self.state.accept, on_error=self._refuse
            )
        )

    def _cancel(self) -> None:
        if self._computing is not None:
            self._computing.cancel()

    def _refuse(self, failure: Failure) -> None:
        self.state.refuse(failure.message)
        self.failed.emit(failure)

    def _measure(self, translation: Translation, measure: MeasureName) -> None:
        measuring = self.state.measuring
        self._measuring = self.ask(
            MeasureJob(translation, measure), measuring.request, measuring.take
        )

    def _cancel_measuring(self) -> None:
        if self._measuring is not None:
            self._measuring.cancel()
