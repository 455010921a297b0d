"""What the laboratory asks the model: small frozen objects that run in the worker's thread."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from core.translation.steps import Edit, ForcedToken
from viz_app.lab.state.steps import Decoded
from viz_app.state.progress import Progress
from viz_app.worker import JobScope, TranslatorLike

if TYPE_CHECKING:
    from core.translation.translator import Translator

Tell = Callable[[Progress], None]
ShouldStop = Callable[[], bool]


def real(translator: TranslatorLike) -> "Translator":
    """The translator as what it is outside of tests."""
    from core.translation.translator import Translator

    assert isinstance(translator, Translator)
    return translator


@dataclass(frozen=True, eq=False)
class StepsJob:
    """Decodes a sentence step by step, with what was done by hand. Each action costs one decoding."""

    text: str
    actions: tuple[Edit, ...] = ()
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> Decoded:
        """See `viz_app.worker.Job.run`."""
        from core.translation.stepping import Stepper

        stepper = Stepper(real(translator), self.text, should_stop=should_stop)
        own = stepper.path
        for action in self.actions:
            if isinstance(action, ForcedToken):
                stepper.force(action.step, action.token_id, should_stop=should_stop)
            else:
                stepper.override(action.layer, action.head, action.step, action.weights, should_stop=should_stop)
        return Decoded(self.actions, own, stepper.path)
