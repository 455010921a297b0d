"""The jobs of tabs and chapters that explain a word: its parts, and the predictions by depth."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from augenmerk.core.extensions.analyses.parts import Component
from augenmerk.core.extensions.analyses.parts_of_words import WordParts

from ...worker.jobs import Job, OpenTranslator, ShouldStop, Tell, TranslationJob

if TYPE_CHECKING:  # torch belongs to the worker thread
    from augenmerk.core.extensions.analyses.decoder_lens import DecoderLens
    from augenmerk.core.extensions.analyses.logit_lens import LogitLens


@dataclass(frozen=True)
class WordPartsJob(TranslationJob):
    """The parts of a token's lead over a foil.

    Attributes:
        step: of the token.
        foil: a word or an entry of the vocabulary; empty for the next best.
    """

    step: int
    foil: str

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> WordParts:
        """See `Job.run`."""
        from augenmerk.core.extensions.analyses.logit_attribution import word_parts

        return word_parts(translator, self.translation, self.step, self.foil or None)


class LensJob(TranslationJob):
    """The decoder's predictions after each sublayer."""

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> "LogitLens":
        """See `Job.run`."""
        from augenmerk.core.extensions.analyses.logit_lens import logit_lens

        return logit_lens(translator, self.translation)


@dataclass(frozen=True)
class MeasurePartsJob(Job):
    """The change of a token's lead when heads and networks are switched off, one at a time.

    Attributes:
        parts: of the token.
    """

    parts: WordParts

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> Mapping[Component, float]:
        """See `Job.run`. NaN for a component that cannot be switched off."""
        from augenmerk.core.extensions.analyses.logit_attribution import measure_parts

        effects = measure_parts(translator, self.parts, should_stop=should_stop)
        return dict(zip(self.parts.components, map(float, effects), strict=True))


class DecoderLensJob(TranslationJob):
    """The translations when the decoder reads each layer of the encoder, the embedding first."""

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> "DecoderLens":
        """See `Job.run`."""
        from augenmerk.core.extensions.analyses.decoder_lens import decoder_lens

        return decoder_lens(translator, self.translation, should_stop=should_stop)
