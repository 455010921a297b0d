"""The reader's own sentence, beside those that chapters show in its place for a moment. No Qt."""

from collections.abc import Iterator
from contextlib import contextmanager

from psygnal import Signal

from augenmerk.viz_app.state.experiment_editor import edit_text
from augenmerk.viz_app.state.experiment_state import ExperimentState


class OwnSentence:
    """Whatever came into use other than by a chapter: typed, chosen from the examples, taken over from another page.

    Attributes:
        text: of the reader's sentence.

    Signals (psygnal):
        changed(): the reader has another one, or one that is not the reader's came into use or went.
    """

    changed = Signal()

    def __init__(self, state: ExperimentState) -> None:
        self._state = state
        self.text = state.experiment.source_text
        self._tried: set[str] = set()
        self._is_trying = False
        state.experiment_changed.connect(self.update)

    @property
    def is_shown(self) -> bool:
        """Whether the sentence in use is the reader's."""
        return self._state.experiment.source_text == self.text

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Sentences that come into use meanwhile are the chapter's."""
        self._is_trying = True
        try:
            yield
        finally:
            self._is_trying = False

    def update(self) -> None:
        """Another sentence may be in use. Undo may bring one back that a chapter had tried: it stays the chapter's."""
        text = self._state.experiment.source_text
        if text != self.text:
            if self._is_trying:
                self._tried.add(text)
            elif text not in self._tried:
                self.text = text
        self.changed.emit()

    def take(self, text: str) -> None:
        """The reader has typed or chosen it, though a chapter may have tried it too."""
        self._tried.discard(text)
        if text == self._state.experiment.source_text:  # it is in use already, put there by a chapter
            self.update()

    def restore(self) -> None:
        """The reader's sentence again, in place of the one that a chapter tried."""
        if not self.is_shown:
            self._state.submit(edit_text(self.text))
