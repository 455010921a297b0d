"""One thread that trains once; its events reach the window in handfuls."""

import os
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from core.config import RunConfig
from core.training.events import PhaseStarted, TrainingEvent, TrainingFinished
from viz_app.worker.failure import Failure

DRAIN_INTERVAL_MS = 200


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
