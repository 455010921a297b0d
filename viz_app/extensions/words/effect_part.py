"""The effect of changes on the parts of a word, shown with the sentence."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.analyses.parts_of_words import ChangeEffect
from augenmerk.core.quantities import number
from augenmerk.core.translation.result import ExperimentResult

from ...state.experiment_state import RequestState
from ...views.sentence import original_text
from ...window_part import WindowPart
from ...worker.jobs import Job, JobScope, OpenTranslator, ShouldStop, Tell


@dataclass(frozen=True, eq=False)
class ChangeEffectJob(Job):
    """The parts of a word that the changes of an experiment increased.

    Attributes:
        result: of the experiment.
        step: of the word in the original; None for the one whose probability changed most.
    """

    result: ExperimentResult
    step: int | None
    scope: ClassVar[JobScope] = "details"

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> ChangeEffect:
        """See `Job.run`."""
        from augenmerk.core.extensions.analyses.logit_attribution import effect_of_changes

        return effect_of_changes(translator, self.result, self.step)


class EffectPart(WindowPart):
    """After a switch-off, adds to the sentence the parts of a word that increased.

    The word is the picked one, or else the one whose probability changed most. If no word changed,
    a part is offered to be switched off.
    """

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        self._effect = RequestState()
        window.state.result_changed.connect(self._ask)

    def _ask(self) -> None:
        state = self.window.state
        result = state.current
        if result is not None and result.experiment.scalings:
            words = [
                word for word in result.original.target_words if state.selection.is_picked(word)
            ]
            job = ChangeEffectJob(result, words[0].start if words else None)
            self.window.translate_page.controller.ask(
                job, self._effect, partial(self._show, result)
            )

    def _show(self, result: ExperimentResult, effect: ChangeEffect) -> None:
        sentence = self.window.translate_page.sentence
        sentence.original_line.setText(original_text(result, increased_parts(effect)))
        if result.original.text == result.changed.text and effect.largest is not None:
            sentence.interventions.suggest(effect.largest, effect.word)


def increased_parts(effect: ChangeEffect) -> str:
    """The parts of the word that increased, for `original_text`; empty if there are none."""
    if not effect.increased:
        return ""
    parts = ", ".join(
        f"{display_text(part.short_name)} +{number(growth)}" for part, growth in effect.increased
    )
    return f"parts that increased for “{effect.word}”: {parts}"
