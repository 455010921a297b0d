"""What stations ask the model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from core.analysis.lens import LogitLens
from core.translation.experiment import Experiment
from core.translation.result import Translation
from viz_app.worker.jobs import JobScope, ShouldStop, Tell, TranslatorLike, real


@dataclass(frozen=True, eq=False)
class RunJob:
    """The results of some experiments, in their order."""

    experiments: Sequence[Experiment]
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> tuple[Translation, ...]:
        """See `Job.run`."""
        return tuple(translator.run_many(self.experiments, should_stop=should_stop))


@dataclass(frozen=True, eq=False)
class LensJob:
    """What the decoder would say after each of its layers."""

    translation: Translation
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> LogitLens:
        """See `Job.run`."""
        from core.analysis.layer_logits import logit_lens

        return logit_lens(real(translator), self.translation)
