"""How far a background request is, for the widget that waits for it. No Qt."""

from dataclasses import dataclass
from typing import ClassVar

from psygnal import SignalGroupDescriptor

from augenmerk.viz_app.state.progress import Progress


@dataclass
class RequestState:
    """One answer that is awaited at most. Each change of a field is an event of that name.

    Attributes:
        is_running: whether an answer is to come.
        progress: how far it is; None before anything was said.
        problem: why there is no answer; empty if there is one, or none was asked for.
    """

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    is_running: bool = False
    progress: Progress | None = None
    problem: str = ""

    def begin(self) -> None:
        """An answer was asked for."""
        self.progress, self.problem = None, ""
        self.is_running = True

    def advance(self, progress: Progress) -> None:
        """It is so far."""
        self.progress = progress

    def finish(self, problem: str = "") -> None:
        """It has come, or will not; `problem` says why not."""
        self.progress, self.problem = None, problem
        self.is_running = False
