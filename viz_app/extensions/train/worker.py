"""One thread that trains once; its events reach the window in batches."""

import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from augenmerk.core.extensions.training.events import (
    AfterFailedSave,
    InterruptedTrainingError,
    PhaseStarted,
    Proposal,
    SaveFailed,
    StopRequest,
    TrainingEvent,
    TrainingFinished,
    TrainingRequest,
)
from augenmerk.core.extensions.wording import window_text
from augenmerk.core.process import (
    available_cores,
    collector_paused,
    compute_on,
    return_free_memory,
)

from ...worker.inference import THREAD_PREFIX, Failure
from ...worker.interpreter import interpreter_shared_fairly

DRAIN_INTERVAL_MS = 200
_IMPORTED_BY_OPTIMIZERS = "torch._dynamo"
"""With SymPy, 200,000 objects."""


@dataclass(frozen=True)
class TrainingFailure(Failure):
    """A failure of a training.

    Attributes:
        proposal: other settings to continue with, or None.
        resumable_checkpoint: the last good checkpoint; None if there is none yet.
    """

    proposal: Proposal | None = None
    resumable_checkpoint: Path | None = None

    @classmethod
    def of(cls, error: Exception) -> "TrainingFailure":
        """The same as `Failure.of` in the words of the window, with the proposal of the error."""
        plain = Failure.of(error)
        message = plain.message if plain.details else window_text(error)
        if isinstance(error, InterruptedTrainingError):
            return cls(message, plain.details, error.proposal, error.resumable_checkpoint)
        return cls(message, plain.details)


OnEvent = Callable[[TrainingEvent], None]
ShouldStop = Callable[[], bool | StopRequest]
OnSaveFailed = Callable[[SaveFailed], AfterFailedSave]
TrainingBody = Callable[[TrainingRequest, OnEvent, ShouldStop, OnSaveFailed], TrainingFinished]


class _StoppedEarlyError(Exception):
    """Raised in the thread to stop reading a corpus."""


@dataclass(frozen=True)
class _Ended:
    result: TrainingFinished | TrainingFailure | None


class TrainingRun(QObject):
    """Reads the corpus and trains, once, in a thread of its own.

    Signals (emitted in the GUI thread):
        events(list[TrainingEvent]): the new events, in order; at most five times a second.
        finished(TrainingFinished | TrainingFailure | None): the thread has ended; None if it was
            stopped before the first step.
    """

    events = Signal(list)
    finished = Signal(object)

    def __init__(
        self,
        request: TrainingRequest,
        parent: QObject | None = None,
        *,
        body: TrainingBody | None = None,
    ) -> None:
        super().__init__(parent)
        self.request = request
        self._body = body or _read_and_train
        self._stop: StopRequest | None = None
        self._answers: queue.SimpleQueue[AfterFailedSave] = queue.SimpleQueue()
        self._queue: queue.SimpleQueue[TrainingEvent | _Ended] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=f"{THREAD_PREFIX}training")
        self._timer = QTimer(self)
        self._timer.setInterval(DRAIN_INTERVAL_MS)
        self._timer.timeout.connect(self._drain)
        self._has_finished = False

    def start(self) -> None:
        """Begins. Once only."""
        self._thread.start()
        self._timer.start()

    def stop(self, how: StopRequest = "keep") -> None:
        """Requests the run to end after the current batch. Returns at once.

        Args:
            how: "keep" evaluates and saves the model; "pause" only saves, to resume later;
                "discard" removes the run's files. A run that waits after a failed save ends without
                saving.
        """
        self._stop = how
        self._answers.put("stop")

    def answer_failed_save(self, answer: AfterFailedSave) -> None:
        """Decides about the file that could not be written. Returns at once."""
        self._answers.put(answer)

    @property
    def is_stopping(self) -> bool:
        """True from a stop request until the end."""
        return self._stop is not None and self.is_running

    @property
    def is_running(self) -> bool:
        """True from `start` until `finished` is emitted."""
        return self._thread.ident is not None and not self._has_finished

    def wait(self, limit_s: float | None = None) -> bool:
        """Blocks until the thread has ended, but no longer than `limit_s`; emits its last events.

        Returns:
            Whether the thread has ended.
        """
        if self._thread.ident is not None:
            self._thread.join(limit_s)
            self._drain()
        return not self._thread.is_alive()

    def _work(self) -> None:
        """The thread's body."""
        result: TrainingFinished | TrainingFailure | None
        try:
            with interpreter_shared_fairly():
                result = self._body(
                    self.request, self._queue.put, self._stop_request, self._wait_for_answer
                )
        except _StoppedEarlyError:
            result = None
        except Exception as error:  # any error must reach the window
            result = TrainingFailure.of(error)
        return_free_memory()
        self._queue.put(_Ended(result))

    def _stop_request(self) -> bool | StopRequest:
        return self._stop or False

    def _wait_for_answer(self, _failure: SaveFailed) -> AfterFailedSave:
        """Holds the thread until the window has answered."""
        return "stop" if self._stop is not None else self._answers.get()

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


def leave_a_core_to_the_window() -> None:
    """Limits the calling thread to all processor cores but one, unless OMP_NUM_THREADS is set."""
    compute_on(max(1, available_cores() - 1))


def import_optimizers() -> None:
    """Imports what the first step of an optimizer otherwise would.

    No collector searches these objects for garbage later: each search would stop the window for a
    tenth of a second.
    """
    with collector_paused(for_good=_IMPORTED_BY_OPTIMIZERS not in sys.modules):
        import_module(_IMPORTED_BY_OPTIMIZERS)


def _read_and_train(
    request: TrainingRequest,
    on_event: OnEvent,
    should_stop: ShouldStop,
    on_save_failed: OnSaveFailed,
) -> TrainingFinished:
    """Reads the corpus and trains; can be stopped at each phase, then after each batch."""

    def on_phase(text: str) -> None:
        if should_stop():
            raise _StoppedEarlyError
        on_event(PhaseStarted(text))

    on_phase("Loading PyTorch")
    import_optimizers()
    leave_a_core_to_the_window()
    with collector_paused():
        from augenmerk.core.extensions.training.corpora.multi30k import DownloadStoppedError
        from augenmerk.core.extensions.training.inputs import load_models, read_corpus
        from augenmerk.core.extensions.training.loop import train

    models = load_models(request.folder, resume=request.resume)
    try:
        corpus = read_corpus(
            request.run,
            request.folder,
            request.source,
            resume=request.resume,
            models=models,
            on_phase=on_phase,
            should_stop=lambda: bool(should_stop()),
        )
    except DownloadStoppedError as error:
        raise _StoppedEarlyError from error
    on_phase("Preparing the model")
    return train(
        request.run,
        corpus,
        request.folder,
        device=request.device,
        resume=request.resume,
        changes=request.changes,
        allow_changed_data=request.allow_changed_data,
        initial=models.initial,
        teachers=models.teachers,
        probe=request.probe,
        on_event=on_event,
        should_stop=should_stop,
        on_save_failed=on_save_failed,
    )
