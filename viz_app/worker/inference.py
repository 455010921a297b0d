"""One thread that opens models, translates, and answers questions."""

import os
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal

from core.analysis.sample_roles import read_sample_roles
from core.translation.result import Translation, TranslationStoppedError
from viz_app.state.model_info import ModelInfo
from viz_app.state.progress import Progress
from viz_app.worker.failure import Failure
from viz_app.worker.jobs import Job, JobInterrupted, MeasureJob, Measurer, TranslatorLike, measure
from viz_app.worker.requests import JobRequest, LoadRequest, Request, RequestQueue, TranslateRequest

Loader = Callable[[Path | None, str], TranslatorLike]


@dataclass(frozen=True)
class _GivenUp:
    """The request became pointless before it was answered."""


@dataclass(frozen=True)
class _Outcome:
    request_id: int
    kind: type[Request]
    value: object


class InferenceWorker(QObject):
    """Opens models, translates, and does jobs (`viz_app.worker.jobs`), in a thread of its own.

    A model that fails to open leaves the earlier one in place. What goes before what: see `RequestQueue`. A job gives
    way to anything more urgent and then goes on.

    Signals (emitted in the GUI thread; each carries the id of its request, and the receiver drops ids it no longer
    waits for):
        loaded(int, ModelInfo): the model that is now in use.
        load_failed(int, Failure)
        translated(int, Translation)
        translation_failed(int, Failure)
        progressed(int, Progress): how far a job is.
        answered(int, object): the result of a job.
        failed(int, Failure): there is no result.
        given_up(int): another sentence was translated, or another model opened, before the job was done.
    """

    loaded = Signal(int, object)
    load_failed = Signal(int, object)
    translated = Signal(int, object)
    translation_failed = Signal(int, object)
    progressed = Signal(int, object)
    answered = Signal(int, object)
    failed = Signal(int, object)
    given_up = Signal(int)
    _outcome_ready = Signal()

    def __init__(
        self, loader: Loader | None = None, parent: QObject | None = None, *, measurer: Measurer | None = None
    ) -> None:
        super().__init__(parent)
        self._loader = loader or _load_translator
        self._measurer = measurer or measure
        self._translator: TranslatorLike | None = None  # of the thread alone
        self._requests = RequestQueue()
        self._outcomes: queue.SimpleQueue[_Outcome] = queue.SimpleQueue()
        self._outcome_ready.connect(self._emit_outcomes, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._work, name="augenmerk-inference")

    def load(self, path: Path | None, device: str = "auto") -> int:
        """Asks for a checkpoint, None for the bundled one; returns the request id."""
        return self._put(lambda number: LoadRequest(number, path, device))

    def translate(self, text: str) -> int:
        """Asks for a translation by the model in use, or the one that is being opened; returns the request id."""
        return self._put(lambda number: TranslateRequest(number, text))

    def ask(self, job: Job) -> int:
        """Asks a question; returns the request id. A job of the same class that is not done yet is superseded."""
        return self._put(lambda number: JobRequest(number, job))

    def cancel(self, request_id: int) -> None:
        """Nothing more is heard of a job; it ends at the next sentence."""
        self._requests.cancel(request_id)

    def measuring(self, translation: Translation) -> Job:
        """The job that measures the maps of a translation."""
        return MeasureJob(translation, self._measurer)

    def close(self) -> None:
        """Drops what waits and returns when the thread has ended; what is running is let finish, its result dropped."""
        self._requests.close()
        if self._thread.is_alive():
            self._thread.join()

    def _put(self, make: Callable[[int], Request]) -> int:
        request_id = self._requests.put(make)
        if self._thread.ident is None:
            self._thread.start()
        return request_id

    def _work(self) -> None:
        """The thread's body: takes requests until closed."""
        while (request := self._requests.take()) is not None:
            try:
                value = self._answer(request)
            except JobInterrupted as interruption:
                self._requests.put_back(JobRequest(request.request_id, interruption.rest))
                continue
            except TranslationStoppedError:
                self._requests.put_back(request)
                continue
            except Exception as error:  # a thread's boundary: whatever it is, the window must hear of it
                value = Failure.of(error)
            self._say(request, value)
            if not isinstance(value, Failure):
                for request_id in self._requests.drop_outdated(request):
                    self._tell(_Outcome(request_id, JobRequest, _GivenUp()))

    def _answer(self, request: Request) -> object:
        if isinstance(request, LoadRequest):
            self._translator = self._loader(request.path, request.device)
            return _describe(self._translator)
        if self._translator is None:
            return Failure("No model is open. A checkpoint was expected; open one or train one first.")
        if isinstance(request, TranslateRequest):
            return self._translator.translate(request.text, should_stop=self._requests.should_stop)
        return request.job.run(
            self._translator, lambda progress: self._say(request, progress), self._requests.should_stop
        )

    def _say(self, request: Request, value: object) -> None:
        if not self._requests.is_cancelled(request.request_id):
            self._tell(_Outcome(request.request_id, type(request), value))

    def _tell(self, outcome: _Outcome) -> None:
        if not self._requests.is_closing:
            self._outcomes.put(outcome)
            self._outcome_ready.emit()

    def _emit_outcomes(self) -> None:
        signals = {
            LoadRequest: (self.loaded, self.load_failed),
            TranslateRequest: (self.translated, self.translation_failed),
            JobRequest: (self.answered, self.failed),
        }
        while not self._requests.is_closing and not self._outcomes.empty():
            outcome = self._outcomes.get()
            if self._requests.is_cancelled(outcome.request_id):
                continue
            if isinstance(outcome.value, _GivenUp):
                self.given_up.emit(outcome.request_id)
            elif isinstance(outcome.value, Progress):
                self.progressed.emit(outcome.request_id, outcome.value)
            else:
                succeeded, failed = signals[outcome.kind]
                (failed if isinstance(outcome.value, Failure) else succeeded).emit(outcome.request_id, outcome.value)


def _load_translator(path: Path | None, device: str) -> TranslatorLike:
    compute_on_one_thread()
    from core.translation.translator import Translator

    translator = Translator.load(path, device)
    translator.warm_up()
    return translator


@cache
def compute_on_one_thread() -> None:
    """Lets the calling thread compute on one processor core, unless OMP_NUM_THREADS says otherwise. Once only.

    The steps of one sentence are too small to share: beside a training, several threads wait for each other twenty
    times as long as they work.
    """
    import torch

    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def _describe(translator: TranslatorLike) -> ModelInfo:
    return ModelInfo(
        translator.name,
        translator.path,
        translator.run,
        translator.device,
        translator.num_parameters,
        read_sample_roles(translator.path),
    )
