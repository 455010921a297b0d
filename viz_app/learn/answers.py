"""Which questions of a chapter the reader has answered. No Qt."""

from psygnal import Signal


class Answers:
    """Figures that would tell an answer wait until it was given.

    Signals (psygnal):
        changed(): one more was given.
    """

    changed = Signal()

    def __init__(self) -> None:
        self._given: set[tuple[str, str]] = set()

    def give(self, check: str, text: str) -> None:
        """The reader has answered a question, by the name of its check, about a sentence."""
        self._given.add((check, text))
        self.changed.emit()

    def has(self, check: str, text: str | None = None) -> bool:
        """Whether a question was answered about this sentence; about any if it does not matter."""
        return any(each == check and text in (None, about) for each, about in self._given)
