"""The jobs that explain a word or a weight: parts, what each changes when it is off, and the predictions by depth."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from augenmerk.core.analysis.parts import ChangeEffect, Component, RowParts, WordParts
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import ExperimentResult, Word
from augenmerk.viz_app.worker.jobs import Job, JobScope, OpenTranslator, ShouldStop, Tell, TranslationJob

if TYPE_CHECKING:  # torch belongs to the worker thread
    from augenmerk.core.analysis.decoder_lens import DecoderLens
    from augenmerk.core.analysis.logit_lens import LogitLens


@dataclass(frozen=True)
class WordPartsJob(TranslationJob):
    """The parts of a token's lead over a rival.

    Attributes:
        step: of the token.
        rival: a word or an entry of the vocabulary; empty for the next best.
    """

    step: int
    rival: str

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> WordParts:
        """See `Job.run`."""
        from augenmerk.core.analysis.logit_attribution import word_parts

        return word_parts(translator, self.translation, self.step, self.rival or None)


class LensJob(TranslationJob):
    """The decoder's predictions after each sublayer."""

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> "LogitLens":
        """See `Job.run`."""
        from augenmerk.core.analysis.logit_lens import logit_lens

        return logit_lens(translator, self.translation)


@dataclass(frozen=True)
class MeasurePartsJob(Job):
    """The change of a token's lead when heads and networks are switched off, one at a time.

    Attributes:
        parts: of the token.
    """

    parts: WordParts

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> Mapping[Component, float]:
        """See `Job.run`. NaN for a component that cannot be switched off."""
        from augenmerk.core.analysis.logit_attribution import measure_parts

        found = measure_parts(translator, self.parts, should_stop=should_stop)
        return dict(zip(self.parts.components, map(float, found), strict=True))


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
        from augenmerk.core.analysis.occlusion import left_out_words

        return left_out_words(translator, self.translation, should_stop=should_stop)


class DecoderLensJob(TranslationJob):
    """The translations when the decoder reads each layer of the encoder, the embedding first."""

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> "DecoderLens":
        """See `Job.run`."""
        from augenmerk.core.analysis.decoder_lens import decoder_lens

        return decoder_lens(translator, self.translation, should_stop=should_stop)


@dataclass(frozen=True)
class RowPartsJob(TranslationJob):
    """Splits the attention scores of one query into the components of query and keys."""

    head: Head
    query: int

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> RowParts:
        """See `Job.run`."""
        from augenmerk.core.analysis.query_key import query_key_parts

        return query_key_parts(translator, self.translation, self.head, self.query, should_stop=should_stop)
