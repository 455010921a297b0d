"""One thread that opens models, translates, and answers questions about a translation."""

import os
import queue
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Qt, Signal

from core.config import RunConfig
from core.device import DeviceChoice
from core.model.heads import Head
from core.translation.result import Translation, TranslationStoppedError
from viz_app.state.measuring import BESIDE_WEIGHT, MeasuredMaps
from viz_app.state.model_info import ModelInfo
from viz_app.state.switchboard import SwitchedOff
from viz_app.worker.failure import Failure


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

    def translate(
        self, text: str, *, off: Collection[Head] = (), should_stop: Callable[[], bool] = lambda: False
    ) -> Translation:
        """See `Translator.translate`."""
        ...

    def score(self, translation: Translation, *, off: Collection[Head] = ()) -> tuple[float, ...]:
        """See `Translator.score`."""
        ...


Loader = Callable[[Path | None, str], TranslatorLike]
Measurer = Callable[[TranslatorLike, Translation], MeasuredMaps]


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
class _SwitchRequest:
    request_id: int
    translation: Translation
    off: frozenset[Head]


@dataclass(frozen=True)
class _MeasureRequest:
    request_id: int
    translation: Translation


_Request = _LoadRequest | _TranslateRequest | _SwitchRequest | _MeasureRequest
_Answer = ModelInfo | Translation | SwitchedOff | MeasuredMaps
_IN_ORDER: tuple[type[_Request], ...] = (_LoadRequest, _TranslateRequest, _SwitchRequest, _MeasureRequest)


@dataclass(frozen=True)
class _Outcome:
    request: _Request
    value: _Answer | Failure


class InferenceWorker(QObject):
    """Opens models, translates, and says what switched-off heads do to a translation, in a thread of its own.

    A model that fails to open leaves the earlier one in place. Of each kind of request only the newest waits; models
    open before sentences that wait, and sentences are translated before questions about an earlier translation.

    Signals (emitted in the GUI thread; each carries the id of its request, and the receiver drops ids it no longer
    waits for):
        loaded(int, ModelInfo): the model that is now in use.
        load_failed(int, Failure)
        translated(int, Translation)
        translation_failed(int, Failure)
        switched(int, SwitchedOff)
        switch_failed(int, Failure)
        measured(int, MeasuredMaps)
        measure_failed(int, Failure)
    """

    loaded = Signal(int, object)
    load_failed = Signal(int, object)
    translated = Signal(int, object)
    translation_failed = Signal(int, object)
    switched = Signal(int, object)
    switch_failed = Signal(int, object)
    measured = Signal(int, object)
    measure_failed = Signal(int, object)
    _outcome_ready = Signal()

    def __init__(
        self, loader: Loader | None = None, parent: QObject | None = None, *, measurer: Measurer | None = None
    ) -> None:
        super().__init__(parent)
        self._loader = loader or _load_translator
        self._measurer = measurer or _measure
        self._translator: TranslatorLike | None = None  # of the thread alone
        self._condition = threading.Condition()
        self._waiting: dict[type[_Request], _Request] = {}
        self._is_closing = False
        self._num_requests = 0
        self._outcomes: queue.SimpleQueue[_Outcome] = queue.SimpleQueue()
        self._outcome_ready.connect(self._emit_outcomes, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._work, name="augenmerk-inference")

    def load(self, path: Path | None, device: str = "auto") -> int:
        """Asks for a checkpoint, None for the bundled one; returns the request id."""
        return self._ask(lambda number: _LoadRequest(number, path, device))

    def translate(self, text: str) -> int:
        """Asks for a translation by the model in use, or the one that is being opened; returns the request id."""
        return self._ask(lambda number: _TranslateRequest(number, text))

    def switch_off(self, translation: Translation, off: frozenset[Head]) -> int:
        """Asks what becomes of a translation, and of its probability, with heads off; returns the request id.

        The cost is that of one translation and one scoring.
        """
        return self._ask(lambda number: _SwitchRequest(number, translation, off))

    def measure(self, translation: Translation) -> int:
        """Asks for the maps of a translation in every measure beside the weight; returns the request id."""
        return self._ask(lambda number: _MeasureRequest(number, translation))

    def close(self) -> None:
        """Drops what waits and returns when the thread has ended; what is running is let finish, its result dropped."""
        with self._condition:
            self._is_closing = True
            self._waiting.clear()
            self._condition.notify()
        if self._thread.is_alive():
            self._thread.join()

    def _ask(self, make: Callable[[int], _Request]) -> int:
        with self._condition:
            self._num_requests += 1
            request = make(self._num_requests)
            if isinstance(request, _LoadRequest | _TranslateRequest):
                for kind in (_SwitchRequest, _MeasureRequest):
                    self._waiting.pop(kind, None)  # it asked about a translation that will be gone
            self._waiting[type(request)] = request
            self._condition.notify()
        if self._thread.ident is None:
            self._thread.start()
        return request.request_id

    def _work(self) -> None:
        """The thread's body: takes requests until closed."""
        while (request := self._next_request()) is not None:
            value: _Answer | Failure
            try:
                value = self._answer(request)
            except TranslationStoppedError:  # a newer request waits, or the window is closing
                continue
            except Exception as error:  # a thread's boundary: whatever it is, the window must hear of it
                value = Failure.of(error)
            if self._is_closing:
                return
            self._outcomes.put(_Outcome(request, value))
            self._outcome_ready.emit()

    def _answer(self, request: _Request) -> _Answer | Failure:
        if isinstance(request, _LoadRequest):
            self._translator = self._loader(request.path, request.device)
            return _describe(self._translator)
        if self._translator is None:
            return Failure("No model is open. A checkpoint was expected; open one or train one first.")
        if isinstance(request, _TranslateRequest):
            return self._translator.translate(request.text, should_stop=self._is_superseded)
        if isinstance(request, _MeasureRequest):
            return self._measurer(self._translator, request.translation)
        return _switch_off(self._translator, request)

    def _is_superseded(self) -> bool:
        """Whether nobody waits any more for the sentence in hand: another one or another model was asked for."""
        with self._condition:
            return self._is_closing or _LoadRequest in self._waiting or _TranslateRequest in self._waiting

    def _next_request(self) -> _Request | None:
        """Blocks until there is something to do; None when closing."""
        with self._condition:
            self._condition.wait_for(lambda: self._is_closing or self._waiting)
            if self._is_closing:
                return None
            first = next(kind for kind in _IN_ORDER if kind in self._waiting)
            return self._waiting.pop(first)

    def _emit_outcomes(self) -> None:
        signals = {
            _LoadRequest: (self.loaded, self.load_failed),
            _TranslateRequest: (self.translated, self.translation_failed),
            _SwitchRequest: (self.switched, self.switch_failed),
            _MeasureRequest: (self.measured, self.measure_failed),
        }
        while not self._is_closing and not self._outcomes.empty():
            outcome = self._outcomes.get()
            succeeded, failed = signals[type(outcome.request)]
            (failed if isinstance(outcome.value, Failure) else succeeded).emit(
                outcome.request.request_id, outcome.value
            )


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
    return ModelInfo(translator.name, translator.path, translator.run, translator.device, translator.num_parameters)


def _switch_off(translator: TranslatorLike, request: _SwitchRequest) -> SwitchedOff:
    before, off = request.translation, request.off
    after = translator.translate(before.source_text, off=off)
    return SwitchedOff(off, before, after, sum(translator.score(before, off=off)))


def _measure(translator: TranslatorLike, translation: Translation) -> MeasuredMaps:
    from core.analysis.capture import trace_translation
    from core.analysis.measures import measure_maps
    from core.translation.translator import Translator

    assert isinstance(translator, Translator)
    trace = trace_translation(translator, translation)
    maps = {(measure, kind): measure_maps(trace, measure, kind) for measure, kind in BESIDE_WEIGHT}
    return MeasuredMaps(translation, maps)
