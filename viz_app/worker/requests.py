"""What waits for the worker's thread, in the order of its urgency. No Qt."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from viz_app.worker.jobs import Job


@dataclass(frozen=True)
class LoadRequest:
    """A model is to be opened."""

    request_id: int
    path: Path | None
    device: str


@dataclass(frozen=True)
class TranslateRequest:
    """A sentence is to be translated."""

    request_id: int
    text: str


@dataclass(frozen=True, eq=False)
class JobRequest:
    """A question is to be answered."""

    request_id: int
    job: Job


Request = LoadRequest | TranslateRequest | JobRequest


class RequestQueue:
    """Requests, handed from the window to one thread.

    Models open before sentences are translated, sentences go before questions about a translation, these before
    questions about the model. Of each kind only the newest counts; each class of job is a kind.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._waiting: list[Request] = []
        self._current: Request | None = None
        self._cancelled: set[int] = set()
        self._num_requests = 0
        self.is_closing = False

    def put(self, make: Callable[[int], Request]) -> int:
        """Lets a request wait, in place of an older one of its kind; returns its id."""
        with self._condition:
            self._num_requests += 1
            request = make(self._num_requests)
            self._waiting = [each for each in self._waiting if _kind(each) != _kind(request)]
            self._waiting.append(request)
            self._condition.notify()
            return self._num_requests

    def put_back(self, request: Request) -> None:
        """Lets a request that gave way wait again, unless nobody waits for it any more."""
        with self._condition:
            is_superseded = any(_kind(each) == _kind(request) for each in self._waiting)
            if not (is_superseded or self.is_closing or request.request_id in self._cancelled):
                self._waiting.append(request)

    def take(self) -> Request | None:
        """The most urgent request; blocks until there is one, None when closing."""
        with self._condition:
            self._current = None
            self._condition.wait_for(lambda: self.is_closing or self._waiting)
            if self.is_closing:
                return None
            self._current = min(self._waiting, key=lambda each: (_urgency(each), each.request_id))
            self._waiting.remove(self._current)
            return self._current

    def should_stop(self) -> bool:
        """Whether the request in hand is to give way, or is of no use any more."""
        with self._condition:
            current = self._current
            if self.is_closing or current is None or current.request_id in self._cancelled:
                return True
            return any(_kind(each) == _kind(current) or _urgency(each) < _urgency(current) for each in self._waiting)

    def cancel(self, request_id: int) -> None:
        """Nobody waits for this request any more."""
        with self._condition:
            self._cancelled.add(request_id)
            self._waiting = [each for each in self._waiting if each.request_id != request_id]

    def is_cancelled(self, request_id: int) -> bool:
        """Whether `cancel` was called for it."""
        with self._condition:
            return request_id in self._cancelled

    def drop_outdated(self, request: Request) -> list[int]:
        """Ids of the jobs that waited for an answer which `request`, now answered, has made pointless; they go."""
        scopes = {LoadRequest: {"sentence", "model"}, TranslateRequest: {"sentence"}}.get(type(request), set())
        with self._condition:
            outdated = {
                each.request_id
                for each in self._waiting
                if isinstance(each, JobRequest) and each.request_id < request.request_id and each.job.scope in scopes
            }
            self._waiting = [each for each in self._waiting if each.request_id not in outdated]
            return sorted(outdated)

    def close(self) -> None:
        """Drops what waits; `take` returns None from now on."""
        with self._condition:
            self.is_closing = True
            self._waiting.clear()
            self._condition.notify()


def _kind(request: Request) -> type:
    return type(request.job) if isinstance(request, JobRequest) else type(request)


def _urgency(request: Request) -> int:
    if isinstance(request, JobRequest):
        return 2 if request.job.scope == "sentence" else 3
    return 0 if isinstance(request, LoadRequest) else 1
