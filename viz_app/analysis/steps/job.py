"""Asks for a decoding step by step. Runs in the worker's thread."""

from dataclasses import dataclass
from typing import ClassVar

from core.translation.steps import Edit, ForcedToken

from core.model.heads import Head
from viz_app.analysis.jobs import ShouldStop, Tell, real
from viz_app.analysis.steps.state import Decoded
from viz_app.worker import JobScope, TranslatorLike


@dataclass(frozen=True, eq=False)
class StepsJob:
    """Decodes a sentence step by step, with what was done by hand. Each action costs one decoding.

    Attributes:
        text: the sentence.
        actions: what was done, in order.
        off: heads that are off throughout.
    """

    text: str
    actions: tuple[Edit, ...] = ()
    off: frozenset[Head] = frozenset()
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> Decoded:
        """See `viz_app.worker.Job.run`."""
        from core.translation.stepping import Stepper

        stepper = Stepper(real(translator), self.text, off=self.off, should_stop=should_stop)
        own = stepper.path
        for action in self.actions:
            if isinstance(action, ForcedToken):
                stepper.force(action.step, action.token_id, should_stop=should_stop)
            else:
                stepper.override(action.layer, action.head, action.step, action.weights, should_stop=should_stop)
        return Decoded(self.actions, own, stepper.path)
