"""The one bridge between threads and the windows.

Nothing here imports torch until a thread has begun. A thread puts plain objects on a queue; the GUI thread takes them
off and emits the signals, so every slot runs in the GUI thread and no widget is touched from elsewhere.

- `InferenceWorker`: one thread that opens models and translates. A newer request supersedes one that still waits.
- `TrainingRun`: one thread that trains once; its events reach the window in handfuls, at most five times a second.
"""

import logging
import os
import queue
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from core.config import RunConfig
from core.device import DeviceChoice
from core.errors import AugenmerkError
from core.training.events import PhaseStarted, TrainingEvent, TrainingFinished
from core.translation.result import Translation
from viz_app.state.model_info import ModelInfo

DRAIN_INTERVAL_MS = 200
logger = logging.getLogger(__name__)


class TranslatorLike(Protocol):
    """What the worker needs of `core.translation.translator.Translator`."""

    @property
    def name(self) -> str:
        """For people."""
        ...

    @property
    def path(self) -> Path | None:
        """The file it came from."""
        ...

    @property
    def run(self) -> RunConfig:
        """Its configuration."""
        ...

    @property
    def device(self) -> DeviceChoice:
        """Where it runs."""
        ...

    @property
    def num_parameters(self) -> int:
        """Trainable parameters."""
        ...

    def translate(self, text: str) -> Translation:
        """See `Translator.translate`."""
        ...


Loader = Callable[[Path | None, str], TranslatorLike]


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
        return cls(f"Something unexpected went wrong: {text}", "".join(traceback.format_exception(error)))


@dataclass(frozen=True)
class _LoadRequest:
    request_id: int
    path: Path | None
    device: str


@dataclass(frozen=True)
class _TranslateRequest:
    request_id: int
    text: str


@dataclass(frozen=True)
class _Outcome:
    request: _LoadRequest | _TranslateRequest
    value: ModelInfo | Translation | Failure


class InferenceWorker(QObject):
    """Opens models and translates in a thread of its own.

    A model that fails to open leaves the earlier one in place. Models open before sentences that wait.

    Signals (emitted in the GUI thread):
        loaded(int, ModelInfo): request id and the model that is now in use.
        load_failed(int, Failure)
        translated(int, Translation): request id and result; the receiver drops ids it no longer waits for.
        translation_failed(int, Failure)
    """

    loaded = Signal(int, object)
    load_failed = Signal(int, object)
    translated = Signal(int, object)
    translation_failed = Signal(int, object)
    _outcome_ready = Signal()

    def __init__(self, loader: Loader | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._loader = loader or _load_translator
        self._condition = threading.Condition()
        self._waiting_load: _LoadRequest | None = None
        self._waiting_translation: _TranslateRequest | None = None
        self._is_closing = False
        self._num_requests = 0
        self._outcomes: queue.SimpleQueue[_Outcome] = queue.SimpleQueue()
        self._outcome_ready.connect(self._emit_outcomes, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._work, name="augenmerk-inference")

    def load(self, path: Path | None, device: str = "auto") -> int:
        """Asks for a checkpoint, None for the bundled one; returns the request id."""
        return self._ask(load=_LoadRequest(self._num_requests + 1, path, device))

    def translate(self, text: str) -> int:
        """Asks for a translation by the model in use, or the one that is being opened; returns the request id."""
        return self._ask(translation=_TranslateRequest(self._num_requests + 1, text))

    def close(self) -> None:
        """Drops what waits and returns when the thread has ended; what is running is let finish, its result dropped."""
        with self._condition:
            self._is_closing = True
            self._waiting_load = self._waiting_translation = None
            self._condition.notify()
        if self._thread.is_alive():
            self._thread.join()

    def _ask(self, load: _LoadRequest | None = None, translation: _TranslateRequest | None = None) -> int:
        with self._condition:
            self._num_requests += 1
            self._waiting_load = load or self._waiting_load
            self._waiting_translation = translation or self._waiting_translation
            self._condition.notify()
        if self._thread.ident is None:
            self._thread.start()
        return self._num_requests

    def _work(self) -> None:
        """The thread's body: takes requests until closed."""
        translator: TranslatorLike | None = None
        while (request := self._next_request()) is not None:
            value: ModelInfo | Translation | Failure
            try:
                if isinstance(request, _LoadRequest):
                    translator = self._loader(request.path, request.device)
                    value = _describe(translator)
                elif translator is None:
                    value = Failure("No model is open. A checkpoint was expected; open one or train one first.")
                else:
                    value = translator.translate(request.text)
            except Exception as error:  # a thread's boundary: whatever it is, the window must hear of it
                value = Failure.of(error)
            if self._is_closing:
                return
            self._outcomes.put(_Outcome(request, value))
            self._outcome_ready.emit()

    def _next_request(self) -> _LoadRequest | _TranslateRequest | None:
        """Blocks until there is something to do; None when closing."""
        request: _LoadRequest | _TranslateRequest | None
        with self._condition:
            self._condition.wait_for(lambda: self._is_closing or self._waiting_load or self._waiting_translation)
            if self._is_closing:
                return None
            if self._waiting_load is not None:
                request, self._waiting_load = self._waiting_load, None
            else:
                request, self._waiting_translation = self._waiting_translation, None
            return request

    def _emit_outcomes(self) -> None:
        while not self._is_closing and not self._outcomes.empty():
            outcome = self._outcomes.get()
            is_load, failed = isinstance(outcome.request, _LoadRequest), isinstance(outcome.value, Failure)
            if is_load:
                signal = self.load_failed if failed else self.loaded
            else:
                signal = self.translation_failed if failed else self.translated
            signal.emit(outcome.request.request_id, outcome.value)


@dataclass(frozen=True)
class TrainingRequest:
    """All that one press of Start asks for.

    Attributes:
        run: the configuration.
        source: a folder, a prepared file, "multi30k" or "copy" (see `core.corpora.load_corpus`).
        folder: where checkpoints and history go.
        device: "auto", "cpu", "cuda:0" …
        resume: go on from the folder's last checkpoint.
    """

    run: RunConfig
    source: str | Path
    folder: Path
    device: str = "auto"
    resume: bool = False


TrainingBody = Callable[[TrainingRequest, Callable[[TrainingEvent], None], Callable[[], bool]], TrainingFinished]


class _StoppedEarlyError(Exception):
    """Raised inside the thread to leave the reading of a corpus when Stop was pressed."""


@dataclass(frozen=True)
class _Ended:
    result: TrainingFinished | Failure | None


class TrainingRun(QObject):
    """Reads the corpus and trains, once, in a thread of its own.

    Signals (emitted in the GUI thread):
        events(list[TrainingEvent]): what happened since the last time, in order; at most five times a second.
        finished(TrainingFinished | Failure | None): the thread has nothing more to say. None: stopped before the first
            step, so there is nothing to keep.
    """

    events = Signal(list)
    finished = Signal(object)

    def __init__(
        self, request: TrainingRequest, parent: QObject | None = None, *, body: TrainingBody | None = None
    ) -> None:
        super().__init__(parent)
        self.request = request
        self._body = body or _read_and_train
        self._stop = threading.Event()
        self._queue: queue.SimpleQueue[TrainingEvent | _Ended] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="augenmerk-training")
        self._timer = QTimer(self)
        self._timer.setInterval(DRAIN_INTERVAL_MS)
        self._timer.timeout.connect(self._drain)
        self._has_finished = False

    def start(self) -> None:
        """Begins. Once only."""
        self._thread.start()
        self._timer.start()

    def stop(self) -> None:
        """Asks the run to end after the batch in hand and to keep what was learned. Returns at once."""
        self._stop.set()

    @property
    def is_stopping(self) -> bool:
        """Whether it was asked to stop and has not ended yet."""
        return self._stop.is_set() and self.is_running

    @property
    def is_running(self) -> bool:
        """From `start` until `finished` is emitted."""
        return self._thread.ident is not None and not self._has_finished

    def wait(self) -> None:
        """Blocks until the thread has ended, and emits what it still had to say."""
        if self._thread.ident is not None:
            self._thread.join()
            self._drain()

    def _work(self) -> None:
        """The thread's body."""
        result: TrainingFinished | Failure | None
        try:
            result = self._body(self.request, self._queue.put, self._stop.is_set)
        except _StoppedEarlyError:
            result = None
        except Exception as error:  # a thread's boundary: whatever it is, the window must hear of it
            result = Failure.of(error)
        self._queue.put(_Ended(result))

    def _drain(self) -> None:
        events: list[TrainingEvent] = []
        ended: _Ended | None = None
        while not self._queue.empty():
            item = self._queue.get()
            if isinstance(item, _Ended):
                ended = item
            else:
                events.append(item)
        if events:
            self.events.emit(events)
        if ended is not None:
            self._timer.stop()
            self._thread.join()
            self._has_finished = True
            self.finished.emit(ended.result)


def _load_translator(path: Path | None, device: str) -> TranslatorLike:
    from core.translation.translator import Translator

    return Translator.load(path, device)


def _describe(translator: TranslatorLike) -> ModelInfo:
    return ModelInfo(translator.name, translator.path, translator.run, translator.device, translator.num_parameters)


def leave_a_core_to_the_window() -> None:
    """Lets the calling thread compute on all processor cores but one, unless OMP_NUM_THREADS says otherwise."""
    import torch

    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(max(1, (os.cpu_count() or 2) - 1))


def _read_and_train(
    request: TrainingRequest, on_event: Callable[[TrainingEvent], None], should_stop: Callable[[], bool]
) -> TrainingFinished:
    """Reading the corpus can be left at each of its phases; training after each batch."""

    def on_phase(text: str) -> None:
        if should_stop():
            raise _StoppedEarlyError
        on_event(PhaseStarted(text))

    on_phase("Loading PyTorch")
    leave_a_core_to_the_window()
    from core.corpora.loading import load_corpus
    from core.corpora.multi30k import DownloadStoppedError
    from core.training.loop import train

    try:
        corpus = load_corpus(request.source, request.run, on_phase, should_stop)
    except DownloadStoppedError as error:
        raise _StoppedEarlyError from error
    on_phase("Preparing the model")
    return train(
        request.run,
        corpus,
        request.folder,
        device=request.device,
        resume=request.resume,
        on_event=on_event,
        should_stop=should_stop,
    )
