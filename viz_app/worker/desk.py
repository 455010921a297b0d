"""Hands jobs to the worker, and what comes of each to the one who asked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QObject

from viz_app.state.progress import Progress
from viz_app.worker.failure import Failure
from viz_app.worker.inference import InferenceWorker
from viz_app.worker.jobs import Job


class Asker(Protocol):
    """Who asks. It drops ids that it no longer waits for."""

    def follow(self, request_id: int, progress: Progress, /) -> object:
        """How far the job is."""
        ...

    def accept(self, request_id: int, result: object, /) -> object:
        """Its result."""
        ...

    def refuse(self, request_id: int, failure: Failure, /) -> object:
        """There is none."""
        ...

    def give_up(self, request_id: int, /) -> object:
        """Another sentence or model came before it was done."""
        ...


def _ignore(*_: object) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True)
class Callbacks:
    """Someone who asks, made of functions."""

    accept: Callable[[int, object], object]
    refuse: Callable[[int, Failure], object]
    follow: Callable[[int, Progress], object] = _ignore
    give_up: Callable[[int], object] = _ignore


class JobDesk(QObject):
    """Remembers who asked what. A cancelled job is forgotten at once, so that nothing of it arrives late."""

    def __init__(self, worker: InferenceWorker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._askers: dict[int, Asker] = {}
        worker.progressed.connect(self._on_progressed)
        worker.answered.connect(self._on_answered)
        worker.failed.connect(self._on_failed)
        worker.given_up.connect(self._on_given_up)

    def ask(self, job: Job, asker: Asker) -> int:
        """Asks on someone's behalf; returns the request id."""
        request_id = self._worker.ask(job)
        self._askers[request_id] = asker
        return request_id

    def cancel(self, request_id: int) -> None:
        """Nobody waits for this job any more."""
        self._askers.pop(request_id, None)
        self._worker.cancel(request_id)

    def _on_progressed(self, request_id: int, progress: Progress) -> None:
        if (asker := self._askers.get(request_id)) is not None:
            asker.follow(request_id, progress)

    def _on_answered(self, request_id: int, result: object) -> None:
        if (asker := self._askers.pop(request_id, None)) is not None:
            asker.accept(request_id, result)

    def _on_failed(self, request_id: int, failure: Failure) -> None:
        if (asker := self._askers.pop(request_id, None)) is not None:
            asker.refuse(request_id, failure)

    def _on_given_up(self, request_id: int) -> None:
        if (asker := self._askers.pop(request_id, None)) is not None:
            asker.give_up(request_id)
