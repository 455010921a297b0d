"""One thread that opens models and answers questions to them, the most urgent first."""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from augenmerk.core.analysis.roles import read_sample_roles
from augenmerk.core.imports import collector_paused
from augenmerk.core.threads import compute_on
from augenmerk.core.translation.result import TranslationStoppedError
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.state.request_state import Progress
from augenmerk.viz_app.worker.failure import Failure
from augenmerk.viz_app.worker.jobs import (
    ABOUT_A_RESULT,
    Job,
    JobInterrupted,
    JobScope,
    LoadJob,
    ModelFreeJob,
    OpenTranslator,
)

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
        self._kind = type(job)
        self._is_over = False

    @property
    def key(self) -> tuple[int, type]:
        """Of two requests with the same key the newer one counts."""
        return id(self.owner), self._kind

    @property
    def is_over(self) -> bool:
        """Whether it was answered, cancelled or superseded."""
        return self._is_over

    def cancel(self) -> None:
        """Nothing more is heard of it; it ends at its next chance to stop."""
        self._is_over = True

    def end(self) -> bool:
        """Marks it as over; False if it was already."""
        was_over, self._is_over = self._is_over, True
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
            return [each for each in superseded if each.end()]

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
            self._current = min(self._waiting, key=lambda each: (_urgency(each), each.number))
            self._waiting.remove(self._current)
            return self._current

    def should_stop(self) -> bool:
        """Whether the request in hand is to give way, or is of no use any more."""
        with self._condition:
            current = self._current
            if self.is_closing or current is None or current.is_over:
                return True
            return any(_urgency(each) < _urgency(current) for each in self._waiting if not each.is_over)

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


def _urgency(request: Request) -> int:
    return URGENCY[request.job.scope]


ANSWER_SECONDS = 3.0
"""A thread that was told to end and has not ended after this time is left behind: nothing waits for ever."""
THREAD_PREFIX = "augenmerk-"
"""Of the names of all threads of the window, so that one that was left behind can be found."""
Loader = Callable[[Path | None, str], OpenTranslator]


@dataclass(frozen=True)
class _Superseded:
    """The request became pointless before it was answered."""


@dataclass(frozen=True)
class _Outcome:
    request: Request
    value: object


@dataclass(frozen=True)
class _Opened:
    """A model that is in use as soon as the window is to hear of it."""

    translator: OpenTranslator
    info: ModelInfo


class InferenceWorker(QObject):
    """Answers requests (`viz_app.worker.requests`) in a thread of its own; their callbacks run in the GUI thread.

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
        self._outcomes: queue.SimpleQueue[_Outcome] = queue.SimpleQueue()
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
        self._tell(_Outcome(request, value))
        if not isinstance(value, Failure):
            for outdated in self._requests.outdated_by(request):
                self._tell(_Outcome(outdated, _Superseded()))

    def _answer(self, request: Request) -> object:
        if isinstance(request.job, LoadJob):
            translator = self._loader(request.job.path, request.job.device)
            return _Opened(translator, _describe(translator))

        def tell(progress: Progress) -> None:
            self._tell(_Outcome(request, progress))

        if isinstance(request.job, ModelFreeJob):
            return request.job.work(tell, self._requests.should_stop)
        if self._translator is None:
            return Failure("No model is open. Open or train one first.")
        return request.job.run(self._translator, tell, self._requests.should_stop)

    def _tell(self, outcome: _Outcome) -> None:
        if not self._requests.is_closing:
            self._outcomes.put(outcome)
            self._outcome_ready.emit()

    def _deliver(self) -> None:
        while not self._requests.is_closing and not self._outcomes.empty():
            outcome = self._outcomes.get()
            request, value = outcome.request, outcome.value
            if not isinstance(value, Progress):
                self._requests.delivered(request)
            if request.is_over:
                continue
            if isinstance(value, Progress):
                request.on_progress(value)
                continue
            request.end()
            if isinstance(value, _Superseded):
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
