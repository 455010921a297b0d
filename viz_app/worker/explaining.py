"""The jobs that explain a word or a weight: parts, what each changes when it is off, and the predictions by depth."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from augenmerk.core.analysis.parts import ChangeEffect, RowParts
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import ExperimentResult, Word
from augenmerk.viz_app.worker.jobs import Job, JobScope, OpenTranslator, ShouldStop, Tell, TranslationJob

if TYPE_CHECKING:  # torch belongs to the worker thread
    pass


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

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> ChangeEffect:
        """See `Job.run`."""
        from augenmerk.core.analysis.logit_attribution import effect_of_changes

        return effect_of_changes(translator, self.result, self.step)


class LeftOutWordsJob(TranslationJob):
    """The source words that the model probably left out."""

    scope: ClassVar[JobScope] = "details"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> tuple[Word, ...]:
        """See `Job.run`."""
        from augenmerk.core.analysis.left_out import left_out_words

        return left_out_words(translator, self.translation, should_stop=should_stop)


@dataclass(frozen=True)
class RowPartsJob(TranslationJob):
    """Splits the attention scores of one query into the components of query and keys."""

    head: Head
    query: int

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> RowParts:
        """See `Job.run`."""
        from augenmerk.core.analysis.query_key import query_key_parts

        return query_key_parts(translator, self.translation, self.head, self.query, should_stop=should_stop)
