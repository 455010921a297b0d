"""One thread that opens models and answers questions to them, the most urgent first."""

import logging
import queue
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

from PySide6.QtCore import QObject, Qt, Signal

from augenmerk.core.analysis.measures import BESIDE_WEIGHT, MeasuredMaps, measure_maps
from augenmerk.core.analysis.roles import read_sample_roles
from augenmerk.core.analysis.trace import Trace
from augenmerk.core.errors import AugenmerkError
from augenmerk.core.process import collector_paused, compute_on
from augenmerk.core.translation.result import ExperimentResult, Translation, TranslationStoppedError
from augenmerk.viz_app.state.experiment_state import ExperimentRequest, ExperimentState, Progress, RequestState
from augenmerk.viz_app.state.model_info import ModelInfo

if TYPE_CHECKING:
    from augenmerk.core.translation.translator import Translator

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Failure:
    """Why something did not work, for people.

    Attributes:
        message: what was given, what was expected, what to do.
        details: the traceback of an error nobody foresaw; empty for one the user can mend.
    """

    message: str
    details: str = ""

    @classmethod
    def of(cls, error: Exception) -> "Failure":
        """An `AugenmerkError` speaks for itself; anything else keeps its traceback."""
        if isinstance(error, AugenmerkError):
            return cls(str(error))
        logger.error("Unexpected error in a worker thread", exc_info=error)
        text = str(error) or type(error).__name__
        return cls(f"An unexpected error occurred: {text}", "".join(traceback.format_exception(error)))


JobScope = Literal["load", "experiment", "sentence", "model", "details"]
"""What a question is about, and so how long it makes sense: opening a model; computing an experiment; an experiment's
result, until there is another; the model in use, until another is open; details of an experiment's result that are of
use, but that nobody waits for: they give way to every other question."""
ABOUT_A_RESULT: tuple[JobScope, ...] = ("sentence", "details")
"""Scopes of questions that another result makes pointless."""
OpenTranslator: TypeAlias = "Translator"
"""The model in use. Its module imports torch, which only the worker's thread may load."""
Tell = Callable[[Progress], None]
ShouldStop = Callable[[], bool]


class Job(Protocol):
    """A question.

    Attributes:
        scope: what it is about; see `JobScope`.
    """

    scope: ClassVar[JobScope]

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> object:
        """The answer.

        Args:
            translator: the model in use; nobody else uses it meanwhile.
            progress: may be told how far it is.
            should_stop: to be asked at least once for each sentence. If it says so, raise `JobInterrupted` with what
                is left to do, or `TranslationStoppedError` to begin again: what is more urgent goes first.

        Raises:
            AugenmerkError: there is no answer; the message says why.
        """
        ...


class JobInterrupted(Exception):
    """Something more urgent waits.

    Attributes:
        rest: the job that goes on from here.
    """

    def __init__(self, rest: Job) -> None:
        super().__init__()
        self.rest = rest


@dataclass(frozen=True, eq=False)
class LoadJob:
    """A model is to be opened. The worker itself does it: see `InferenceWorker`.

    Attributes:
        path: the checkpoint; None for the bundled model.
        device: see `core.device`.
    """

    path: Path | None
    device: str = "auto"
    scope: ClassVar[JobScope] = "load"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> object:
        """Never called: there need not be a translator yet."""
        raise NotImplementedError


class ModelFreeJob(ABC):
    """A question that no model is needed for; a worker that has none answers it too."""

    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> object:
        """See `Job.run`."""
        return self.work(progress, should_stop)

    @abstractmethod
    def work(self, progress: Tell, should_stop: ShouldStop) -> object:
        """The answer; arguments and errors are as of `Job.run`."""


@dataclass(frozen=True, eq=False)
class ExperimentJob:
    """An experiment beside its baseline; see `Translator.compare`. What is shown already saves work, and is a draft."""

    asked: ExperimentRequest
    scope: ClassVar[JobScope] = "experiment"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> ExperimentResult:
        """See `Job.run`."""
        known = self.asked.known
        return translator.compare(
            self.asked.experiment,
            original=known.original if known is not None else None,
            own=(known.own or known.original) if known is not None else None,
            drops_misfits=self.asked.drops_misfits,
            draft=known.changed if known is not None else None,  # while the user types, nearly right
            should_stop=should_stop,
        )


@dataclass(frozen=True, eq=False)
class MeasureJob:
    """The maps of a translation in every measure beside the weight."""

    translation: Translation
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> MeasuredMaps:
        """See `Job.run`."""
        from augenmerk.core.analysis.capture import trace_translation

        trace = trace_translation(translator, self.translation)
        maps = {}
        for each, kind in BESIDE_WEIGHT:
            if should_stop():
                raise JobInterrupted(self)
            maps[each, kind] = measure_maps(trace, each, kind)
        return MeasuredMaps(self.translation, maps)


@dataclass(frozen=True)
class TraceJob:
    """Queries and keys of every head while a pair was read."""

    translation: Translation
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> Trace:
        """See `Job.run`."""
        from augenmerk.core.analysis.capture import trace_translation

        return trace_translation(translator, self.translation)


URGENCY: dict[JobScope, int] = {"load": 0, "experiment": 1, "sentence": 2, "model": 3, "details": 4}


def _ignore(*_: object) -> None:
    """Nobody wants to know."""


class Request:
    """One question to the worker, and what is to be done with its answer.

    Callbacks run in the GUI thread. Once a request is cancelled, superseded or answered, none of them is called again.

    Attributes:
        job: the question; what is left of it, after it gave way to something more urgent.
        owner: who asks. Of each class of job only the newest request of an owner counts.
        on_result: called with the answer.
        on_error: called with a `Failure`: there is no answer.
        on_progress: called with a `Progress`.
        on_superseded: called if a newer request of its kind, another sentence or another model made it pointless.
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
        """Ends it: no callback follows, and it stops at its next chance. Returns False if it was over already."""
        was_over, self.is_over = self.is_over, True
        return not was_over


class RequestQueue:
    """Requests, handed from the window to one thread.

    Models open before experiments are computed, these go before questions about an experiment's result, these before
    questions about the model, and what nobody waits for comes last.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._waiting: list[Request] = []
        self._current: Request | None = None
        self._answered: list[Request] = []
        self._num_requests = 0
        self.is_closing = False

    def put(self, request: Request) -> list[Request]:
        """Lets a request wait; returns those that it ends: waiting, running, or answered but not delivered."""
        with self._condition:
            self._num_requests += 1
            request.number = self._num_requests
            superseded = [each for each in (*self._waiting, *self._answered) if each.key == request.key]
            self._waiting = [each for each in self._waiting if each.key != request.key]
            if self._current is not None and self._current.key == request.key:
                superseded.append(self._current)
            self._waiting.append(request)
            self._condition.notify()
            return [each for each in superseded if each.cancel()]

    def put_back(self, request: Request) -> None:
        """Lets a request that gave way wait again, unless nobody waits for it any more."""
        with self._condition:
            if not (request.is_over or self.is_closing):
                self._waiting.append(request)

    def answered(self, request: Request) -> bool:
        """Its answer is on its way to the GUI thread, unless nobody waits for it any more, which is False.

        A newer request supersedes it until it arrives. Except the opening of a model: the thread has that in use from
        now on, so the window must hear of it.
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
        """Its answer has arrived."""
        with self._condition:
            self._answered = [each for each in self._answered if each is not request]

    def take(self) -> Request | None:
        """The most urgent request; blocks until there is one, None when closing."""
        with self._condition:
            self._current = None
            while True:
                self._waiting = [each for each in self._waiting if not each.is_over]
                if self.is_closing or self._waiting:
                    break
                self._condition.wait()
            if self.is_closing:
                return None
            self._current = min(self._waiting, key=lambda each: (each.urgency, each.number))
            self._waiting.remove(self._current)
            return self._current

    def should_stop(self) -> bool:
        """Whether the request in hand is to give way, or is of no use any more."""
        with self._condition:
            current = self._current
            if self.is_closing or current is None or current.is_over:
                return True
            return any(each.urgency < current.urgency for each in self._waiting if not each.is_over)

    def outdated_by(self, answered: Request) -> list[Request]:
        """Requests that waited for an answer which `answered` has made pointless; they wait no more.

        Another model outdates every question asked before; another result those about the old one, of the same owner.
        """
        with self._condition:
            outdated = [each for each in self._waiting if each.number < answered.number and _outdates(answered, each)]
            self._waiting = [each for each in self._waiting if each not in outdated]
            return outdated

    def close(self) -> None:
        """Drops what waits; `take` returns None from now on."""
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
"""A thread that was told to end and has not ended after this time is left behind: nothing waits for ever."""
THREAD_PREFIX = "augenmerk-"
"""Of the names of all threads of the window, so that one that was left behind can be found."""
Loader = Callable[[Path | None, str], OpenTranslator]
_SUPERSEDED = object()
"""In place of an answer: the request became pointless before it was answered."""


@dataclass(frozen=True)
class _Opened:
    """A model that is in use as soon as the window is to hear of it."""

    translator: OpenTranslator
    info: ModelInfo


class InferenceWorker(QObject):
    """Answers `Request`s in a thread of its own; their callbacks run in the GUI thread.

    A model that fails to open, or is superseded by another before it is open, leaves the earlier one in place. A
    request gives way to anything more urgent and then goes on. What arrives for a request that is over is dropped
    here, and nowhere else.
    """

    _outcome_ready = Signal()

    def __init__(self, loader: Loader | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._loader = loader or _load_translator
        self._translator: OpenTranslator | None = None  # of the thread alone
        self._requests = RequestQueue()
        self._outcomes: queue.SimpleQueue[tuple[Request, object]] = queue.SimpleQueue()
        self._outcome_ready.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._work, name=f"{THREAD_PREFIX}inference")

    def sibling(self, parent: QObject) -> "InferenceWorker":
        """Another one, with a thread and a model of its own, that opens models in the same way."""
        return InferenceWorker(self._loader, parent)

    def submit(self, request: Request) -> Request:
        """Asks. An older request of the same owner and kind is superseded, at once."""
        for old in self._requests.put(request):
            old.on_superseded()
        if self._thread.ident is None:
            self._thread.start()
        return request

    def close(self, limit_s: float = ANSWER_SECONDS) -> bool:
        """Drops what waits and returns when the thread has ended; the result of what is running is dropped.

        Returns:
            Whether the thread has ended. False after `limit_s`: a job, or the opening of a model, does not end.
        """
        self._requests.close()
        if self._thread.is_alive():
            self._thread.join(limit_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        """The thread's body: answers requests until closed."""
        while (request := self._requests.take()) is not None:
            self._handle(request)
            del request  # nor do the locals of a call outlive it: what asked and was answered can be freed

    def _handle(self, request: Request) -> None:
        """Answers one request, or puts back what is left of it."""
        try:
            value = self._answer(request)
        except JobInterrupted as interruption:
            request.job = interruption.rest
            self._requests.put_back(request)
            return
        except TranslationStoppedError:
            self._requests.put_back(request)
            return
        except Exception as error:  # a thread's boundary: whatever it is, the window must hear of it
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
            return _Opened(translator, _describe(translator))

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
    compute_on_one_thread()
    with collector_paused():
        from augenmerk.core.translation.translator import Translator

    translator = Translator.load(path, device)
    translator.warm_up()
    return translator


@cache
def compute_on_one_thread() -> None:
    """Lets the calling thread compute on one processor core, unless OMP_NUM_THREADS says otherwise. Once only.

    The steps of one sentence are too small to share: beside a training, several threads wait for each other twenty
    times as long as they work.
    """
    compute_on(1)


def _describe(translator: OpenTranslator) -> ModelInfo:
    return ModelInfo(
        translator.name,
        translator.path,
        translator.run_config,
        translator.device,
        translator.num_parameters,
        read_sample_roles(translator.path),
        translator.digest,
        translator.vocabulary_sizes,
        translator.target_codes,
        translator.history,
    )


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
