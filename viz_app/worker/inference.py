"""One thread that opens models and answers questions to them."""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal

from augenmerk.core.analysis.sample_roles import read_sample_roles
from augenmerk.core.imports import collector_paused
from augenmerk.core.threads import compute_on
from augenmerk.core.translation.result import TranslationStoppedError
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.state.request_state import Progress
from augenmerk.viz_app.worker.failure import Failure
from augenmerk.viz_app.worker.jobs import JobInterrupted, LoadJob, ModelFreeJob, TranslatorLike
from augenmerk.viz_app.worker.requests import Request, RequestQueue

ANSWER_SECONDS = 3.0
"""A thread that was told to end and has not ended after this time is left behind: nothing waits for ever."""
THREAD_PREFIX = "augenmerk-"
"""Of the names of all threads of the window, so that one that was left behind can be found."""
Loader = Callable[[Path | None, str], TranslatorLike]


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

    translator: TranslatorLike
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
        self._translator: TranslatorLike | None = None  # of the thread alone
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
            return Failure("No model is open. A checkpoint was expected; open one or train one first.")
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


def _load_translator(path: Path | None, device: str) -> TranslatorLike:
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


def _describe(translator: TranslatorLike) -> ModelInfo:
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
