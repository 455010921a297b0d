"""How far a question to the worker is, for the widget that waits for its answer. No Qt."""

from dataclasses import dataclass, field

from psygnal import Signal


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a job is.

    Attributes:
        done, total: counts of what `text` names; the total is 0 if unknown.
        text: a few words.
        partial: what is known so far, or None.
    """

    done: int
    total: int
    text: str = ""
    partial: object = None


@dataclass(frozen=True)
class Idle:
    """Nothing is awaited."""


@dataclass(frozen=True)
class Waiting:
    """An answer is awaited. All instances are equal, so a newer question changes no phase.

    Attributes:
        question: what was asked; None if it is not needed.
    """

    question: object = field(default=None, compare=False)


@dataclass(frozen=True)
class Refused:
    """There is no answer.

    Attributes:
        problem: why, and what to do.
    """

    problem: str


class RequestState:
    """At most one answer is awaited.

    Attributes:
        phase: `Idle`, `Waiting` or `Refused`.
        progress: how far the answer is; None before the first report.

    Signals (psygnal):
        changed(phase): there is another phase.
        progressed(progress): there is another progress.
    """

    changed = Signal(object)
    progressed = Signal(object)

    def __init__(self) -> None:
        self.phase: Idle | Waiting | Refused = Idle()
        self.progress: Progress | None = None

    @property
    def is_running(self) -> bool:
        """Whether an answer is awaited."""
        return isinstance(self.phase, Waiting)

    @property
    def problem(self) -> str:
        """Why there is no answer; empty if there is one, or none was asked for."""
        return self.phase.problem if isinstance(self.phase, Refused) else ""

    def begin(self, question: object = None) -> None:
        """An answer was asked for."""
        self._enter(Waiting(question))

    def advance(self, progress: Progress | None) -> None:
        """Reports progress."""
        self.progress = progress
        self.progressed.emit(progress)

    def finish(self, problem: str = "") -> None:
        """The answer has come, or will not; `problem` says why not."""
        self._enter(Refused(problem) if problem else Idle())

    def forget_problem(self) -> None:
        """Clears the problem. A pending request stays pending."""
        if not self.is_running:
            self.finish()

    def _enter(self, phase: Idle | Waiting | Refused) -> None:
        before, self.phase = self.phase, phase
        if self.progress is not None:
            self.advance(None)
        if phase != before:
            self.changed.emit(phase)
