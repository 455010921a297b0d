"""The sentence of the Learn page: the reader's own, or temporarily one of a chapter. No Qt."""

from collections.abc import Iterator
from contextlib import contextmanager

from psygnal import Signal

from ...state.experiment_editor import edit_text, reset
from ...state.experiment_state import ExperimentState
from ...state.languages import NEUTRAL, language_names

FIRST_EXAMPLE = "Ein Koch schneidet in einer kleinen Küche Gemüse."


class OwnSentence:
    """The sentence that was typed, chosen from the examples, or taken over from the Translate page.

    Attributes:
        text: of the reader's sentence.

    Signals (psygnal):
        changed(): the reader's sentence, the sentence in use, or the sentence or model of the
            Translate page changed.
        replaced(str): this text, which was not typed, is the sentence now: show it in the input.
    """

    changed = Signal()
    replaced = Signal(str)

    def __init__(self, state: ExperimentState, window_state: ExperimentState | None = None) -> None:
        """`window_state`: the experiment of the Translate page."""
        self._state, self._window_state = state, window_state
        self._tried: set[str] = set()
        self._is_trying, self._is_unchecked = False, False
        self._refused = "", "", ""
        state.prepare_text(FIRST_EXAMPLE)
        self.text = FIRST_EXAMPLE
        state.experiment_changed.connect(self._update, max_args=0)
        state.model_changed.connect(self._check_language, max_args=0)
        state.result_changed.connect(self._accept, max_args=0)
        if window_state is not None:
            window_state.model_changed.connect(self._offer, max_args=0)
            window_state.experiment_changed.connect(self._offer, max_args=0)

    @property
    def is_shown(self) -> bool:
        """True if the sentence in use is the reader's."""
        return self._state.experiment.source_text == self.text

    @property
    def offered(self) -> str:
        """The sentence of the Translate page if it differs; else empty."""
        text = (
            self._window_state.experiment.source_text.strip()
            if self._window_state is not None
            else ""
        )
        return text if text != self.text else ""

    @property
    def language_problem(self) -> str:
        """Why the model cannot read that sentence; empty if it can or if this is unknown."""
        theirs = self._window_state.model if self._window_state is not None else None
        ours = self._state.model
        if theirs is None or ours is None:
            return ""
        if theirs.run.is_copy_task:
            return "it is a list of symbols"
        if theirs.run.data.source_language == ours.run.data.source_language:
            return ""
        their_name, our_name = (language_names(model.run)[0] for model in (theirs, ours))
        if their_name == NEUTRAL[0]:
            return f"it may not be {our_name}"
        return f"it is {their_name}, and Learn reads {our_name}"

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Sentences that come into use in this context are the chapter's."""
        self._is_trying = True
        try:
            yield
        finally:
            self._is_trying = False

    def take(self, text: str, *, asks_again: bool = False) -> None:
        """Makes a typed or chosen sentence the reader's, even if a chapter has tried it too.

        Args:
            text: the sentence.
            asks_again: whether the same sentence is translated again if its translation failed.
        """
        self._is_unchecked = False
        self._tried.discard(text)
        in_use = self._state.experiment.source_text
        if text == in_use:  # perhaps a chapter has put it there
            self._update()
        if self._state.model is None:
            self._state.prepare_text(text)
        elif text.strip() and text != in_use:
            self._state.submit(edit_text(text))
        elif text.strip() and asks_again and self._state.request.problem:
            self._state.ask_again()

    def restore(self) -> None:
        """Shows the reader's sentence again instead of a chapter's, without changes to that one."""
        if not self.is_shown:
            self._state.submit(reset)
            self._state.submit(edit_text(self.text))

    def begin(self) -> None:
        """Starts with the sentence of the Translate page, if Learn can use it."""
        if text := self.offered:
            self._is_unchecked = True
            self._state.prepare_text(text)
            self.replaced.emit(text)

    def refuse(self) -> None:
        """Handles that the sentence in use could not be translated."""
        self._end_check("it could not be translated")

    def _update(self) -> None:
        """Makes another sentence in use the reader's.

        One that undo brings back stays the chapter's.
        """
        text = self._state.experiment.source_text
        if text != self.text:
            if self._is_trying:
                self._tried.add(text)
            elif text not in self._tried:
                self.text = text
        self.changed.emit()

    def _offer(self) -> None:
        """Reports a change of the Translate page, where a refused sentence is no longer.

        Unlike `changed.emit`, a connected method keeps no object alive.
        """
        notice, *refused = self._refused
        if notice == self._state.notice and refused != [self.offered, self.language_problem]:
            self._state.report("")
        self.changed.emit()

    def _check_language(self) -> None:
        if self._is_unchecked and (problem := self.language_problem):
            self._state.prepare_text(FIRST_EXAMPLE)  # for the next request
            self._end_check(problem)
        self.changed.emit()

    def _accept(self) -> None:
        if self._state.withheld is not None:
            self._end_check("the model cannot read it")
        elif self._state.translation is not None:
            self._end_check("")

    def _end_check(self, problem: str) -> None:
        """Shows an example instead if the sentence of Translate cannot be used."""
        if not self._is_unchecked:
            return
        self._is_unchecked = False
        if problem:
            if self._state.experiment.source_text != FIRST_EXAMPLE:
                self._state.submit(edit_text(FIRST_EXAMPLE))
            self.replaced.emit(FIRST_EXAMPLE)
            notice = (
                f"The sentence from Translate cannot be used here: {problem}. An example is "
                "shown instead."
            )
            self._refused = notice, self.offered, self.language_problem
            self._state.report(notice)
