"""Asks what hangs on the source: its share, and words left out or replaced. Runs in the worker's thread."""

from dataclasses import dataclass
from typing import ClassVar

from core.analysis.probes import SourceProbes

from core.errors import AnalysisError
from core.model.heads import Head
from core.translation.result import Translation, TranslationStoppedError
from viz_app.analysis.jobs import ShouldStop, Tell, real
from viz_app.analysis.source.state import SourceFindings
from viz_app.worker import JobScope, TranslatorLike


@dataclass(frozen=True, eq=False)
class SourceJob:
    """The shares of source and prefix in each output word; and every source word left out in turn.

    Attributes:
        translation: with every head on.
        off: heads that are off for all of it; what is looked at is then what the translation becomes without them, or
            the given translation.
    """

    translation: Translation
    off: frozenset[Head] = frozenset()
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> SourceFindings:
        """See `viz_app.worker.Job.run`."""
        from core.analysis.probing import probe_source_words
        from core.model.gates import heads_off

        from core.analysis.alti import contributions_of

        model, text, translation = real(translator), self.translation.source_text, self.translation
        if self.off and translation.is_given:
            translation = model.translate_given(text, translation.text, off=self.off)
        elif self.off:
            translation = model.translate(text, off=self.off, should_stop=should_stop)
        with heads_off(model.model, self.off):
            contributions = contributions_of(model, translation)
        try:
            probes = probe_source_words(model, text, translation=translation, off=self.off, should_stop=should_stop)
        except AnalysisError as error:  # a sentence of one word: nothing would be left
            return SourceFindings(contributions, None, str(error))
        if not probes.is_complete:
            raise TranslationStoppedError
        return SourceFindings(contributions, probes)


@dataclass(frozen=True, eq=False)
class ReplaceJob:
    """One source word replaced by another; `off` are heads that are off, for `translation` too."""

    translation: Translation
    place: int
    replacement: str
    off: frozenset[Head] = frozenset()
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> SourceProbes:
        """See `viz_app.worker.Job.run`."""
        from core.analysis.probing import probe_source_words

        found = probe_source_words(
            real(translator),
            self.translation.source_text,
            replacement=self.replacement,
            places=[self.place],
            translation=self.translation,
            off=self.off,
            should_stop=should_stop,
        )
        if not found.is_complete:
            raise TranslationStoppedError
        return found
