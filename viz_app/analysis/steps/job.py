"""Looks up how a word that was typed is forced: only the model knows its vocabulary. Runs in the worker's thread."""

from dataclasses import dataclass
from typing import ClassVar

from augenmerk.core.translation.experiment import Experiment, ForcedToken
from augenmerk.viz_app.worker.inference import JobScope, OpenTranslator, ShouldStop, Tell


@dataclass(frozen=True, eq=False)
class ForceWordJob:
    """The tokens that write a word from a decoding step on.

    Attributes:
        experiment: which they are to join; not one with a given target.
        step: where the word begins.
        text: as typed.
    """

    experiment: Experiment
    step: int
    text: str
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> tuple[ForcedToken, ...]:
        """See `Job.run`. Tokens that the model would refuse are refused here, with the reason."""
        from augenmerk.core.translation.compilation import forced_word

        forced = forced_word(self.step, self.text, translator.checkpoint.codecs.target)
        translator.compile(self.experiment.with_interventions(*forced))
        return forced
