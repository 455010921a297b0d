"""Requests to the worker's thread, in the order of their urgency. No Qt."""

import threading
from collections.abc import Callable
from typing import Any

from augenmerk.viz_app.state.request_state import Progress
from augenmerk.viz_app.worker.failure import Failure
from augenmerk.viz_app.worker.jobs import ABOUT_A_RESULT, Job, JobScope

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
