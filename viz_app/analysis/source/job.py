"""Asks what depends on the source of an experiment. Runs in the worker's thread."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from augenmerk.core.errors import AnalysisError, ExperimentError
from augenmerk.core.translation.result import Translation, TranslationStoppedError
from augenmerk.viz_app.analysis.source.state import SourceFindings
from augenmerk.viz_app.state.experiment_state import Progress
from augenmerk.viz_app.worker.inference import JobInterrupted, JobScope, OpenTranslator, ShouldStop, Tell

GROUP_SIZE = 4
"""Words that are removed side by side: so many translations are lost where something more urgent is asked."""


@dataclass(frozen=True, eq=False)
class SourceJob:
    """The shares of source and prefix in each output word, and what the translation loses without each source word.

    Both are read by teacher forcing: however long a changed sentence's own translation would be, it takes a few passes.

    Attributes:
        translation: whose; all of it is computed under the interventions of its experiment.
        original: the original that it is shown beside; None where nothing is changed.
        known: what is known of that already.
    """

    translation: Translation
    original: Translation | None = None
    known: SourceFindings | None = None
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> SourceFindings:
        """See `Job.run`."""
        findings = self._find(self.translation, translator, should_stop)
        if self.original is None:
            return findings
        original = self.known or self._find(self.original, translator, should_stop)
        return replace(findings, original=original)

    def _find(self, translation: Translation, translator: OpenTranslator, should_stop: ShouldStop) -> SourceFindings:
        from augenmerk.core.analysis.alti import contributions_of
        from augenmerk.core.analysis.occlusion import score_without_source_words

        contributions = contributions_of(translator, translation, should_stop)
        if len(translation.source_words) == 1:
            return SourceFindings(contributions, None, "Without its only word, the source would be empty.")
        try:
            changes = score_without_source_words(translator, translation, should_stop=should_stop)
        except (AnalysisError, ExperimentError) as error:  # too little would be left
            return SourceFindings(contributions, None, str(error))
        return SourceFindings(contributions, changes)


@dataclass(frozen=True, eq=False)
class WithoutWordsJob:
    """What the sentence is translated to without each of its words. Goes on where it was interrupted.

    Attributes:
        translation: the sentence's own.
        places: of the words.
        found: the translations, by place, that are known.
    """

    translation: Translation
    places: tuple[int, ...]
    found: Mapping[int, str] = field(default_factory=dict)
    scope: ClassVar[JobScope] = "details"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> Mapping[int, str]:
        """See `Job.run`."""
        from augenmerk.core.analysis.occlusion import translate_without_source_words

        found = dict(self.found)
        left = [place for place in self.places if place not in found]
        while left:
            group, left = left[:GROUP_SIZE], left[GROUP_SIZE:]
            try:
                changed = translate_without_source_words(translator, self.translation, group, should_stop=should_stop)
            except TranslationStoppedError:
                raise JobInterrupted(replace(self, found=found)) from None
            found |= {place: each.text for place, each in zip(group, changed, strict=True)}
            num_found, num_words = len(found), len(self.places)
            progress(Progress(num_found, num_words, f"{num_found} of {num_words} words", dict(found)))
        return found
