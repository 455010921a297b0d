"""The question of the tab *Word*: which token, and compared with which foil. No Qt, no torch."""

from augenmerk.core.translation.result import Alternative, Translation

from ....state.experiment_state import ExperimentState
from ....state.tab_contents import content
from .meanings import WordView


class WordState:
    """The state of the tab *Word*.

    Attributes:
        state: the current experiment.
        step: the decoding step of the explained token.
        foil: the word that it is compared with, as typed, or an entry of the vocabulary; empty for
            the next best.
        view: the view in sight: the parts of the logit, the predictions after each sublayer, or the
            translations from each encoder layer.
    """

    foil: str = content("word_foil")
    view: WordView = content("word_view")

    def __init__(self, state: ExperimentState) -> None:
        self.state = state
        self._explained: tuple[str, ...] | None = None

    @property
    def step(self) -> int:
        """The decoding step of the explained token."""
        return self.state.tabs["word_step"] or 0

    @property
    def translation(self) -> Translation | None:
        """The translation whose maps are shown, original or changed; None if the model in use did
        not make it.
        """
        return self.state.maps.translation if self.state.current is not None else None

    @property
    def tokens(self) -> dict[int, str]:
        """The words of the translation, and its end, by their first steps."""
        return self.translation.words_by_step if self.translation is not None else {}

    @property
    def foils(self) -> tuple[Alternative, ...]:
        """The most probable other tokens at this step, best first."""
        translation = self.translation
        if translation is None:
            return ()
        chosen = translation.predicted_tokens[self.step]
        alternatives = translation.alternatives[self.step]
        return tuple(other for other in alternatives if other.token != chosen and other.entry)

    @property
    def is_foil_typed(self) -> bool:
        """Whether the foil is a word that the user typed, rather than a likely token."""
        return bool(self.foil) and all(foil.entry != self.foil for foil in self.foils)

    def follow_result(self) -> None:
        """Keep the step if it follows the same tokens; else take the least probable word.

        A token that has become another one is compared with the previous one.
        """
        translation = self.translation
        if translation is None or not translation.predicted_tokens:
            return
        tokens = translation.predicted_tokens
        previous = self._explained[-1] if self._explained else ""
        if self._explained is None or self._explained[:-1] != self._place(translation):
            if "word_step" in self.state.opened and self.step < len(tokens):
                self.ask(self.step, self.foil)
                return
            starts = [word.start for word in translation.target_words] or [0]
            self.ask(min(starts, key=lambda step: translation.log_probabilities[step]), "")
        elif tokens[self.step] != previous:
            self.ask(
                self.step,
                next((foil.entry for foil in self.foils if foil.token == previous), ""),
            )

    def ask(self, step: int, foil: str) -> None:
        """Compare the token of another step, or with another foil."""
        self.state.tabs["word_step"], self.foil = step, foil
        if self.translation is not None:
            self._explained = (
                *self._place(self.translation),
                self.translation.predicted_tokens[step],
            )

    def _place(self, translation: Translation) -> tuple[str, ...]:
        """The sentence, and the tokens that are read before this step; empty if there is no such
        step.
        """
        if self.step >= len(translation.predicted_tokens):
            return ()
        return translation.source_text, *translation.read_tokens[: self.step + 1]
