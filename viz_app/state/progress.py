"""How far a long answer is. No Qt."""

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a job is.

    Attributes:
        done, total: of what `text` counts; a total of 0 if nobody knows.
        text: a few words.
        partial: what is known so far, or None.
    """

    done: int
    total: int
    text: str = ""
    partial: object = None


class Awaited:
    """One answer that is awaited at most: of all that arrive only the one to the newest request counts.

    Attributes:
        request_id: of the newest request, None if nothing is awaited.
        progress: how far it is, None before anything was said.
        problem: why there is no answer; empty if there is one, or none was asked for.
    """

    def __init__(self) -> None:
        self.request_id: int | None = None
        self.progress: Progress | None = None
        self.problem = ""

    @property
    def is_awaiting(self) -> bool:
        """Whether an answer is to come."""
        return self.request_id is not None

    def begin(self, request_id: int) -> None:
        """From now on only the answer to this request counts."""
        self.request_id, self.progress, self.problem = request_id, None, ""

    def follow(self, request_id: int, progress: Progress) -> bool:
        """Keeps how far it is; False for a request that does not count."""
        if request_id != self.request_id:
            return False
        self.progress = progress
        return True

    def settle(self, request_id: int) -> bool:
        """The answer has come, or will not; False for a request that does not count."""
        if request_id != self.request_id:
            return False
        self.request_id = self.progress = None
        return True

    def refuse(self, request_id: int, problem: str) -> bool:
        """There will be no answer; False for a request that does not count."""
        if not self.settle(request_id):
            return False
        self.problem = problem
        return True

    def forget(self) -> None:
        """Nothing is awaited, nothing is wrong."""
        self.request_id = self.progress = None
        self.problem = ""
