"""Asks what depends on the source of an experiment. Runs in the worker's thread."""

from dataclasses import dataclass, replace
from typing import ClassVar

from core.errors import AnalysisError, ExperimentError
from core.translation.result import Translation, TranslationStoppedError
from viz_app.analysis.source.state import SourceFindings
from viz_app.worker import JobScope, Progress, ShouldStop, Tell, TranslatorLike, real


@dataclass(frozen=True, eq=False)
class SourceJob:
    """The shares of source and prefix in each output word, and every source word removed in turn.

    Attributes:
        translation: whose; all of it is computed under the interventions of its experiment.
        original: the original that it is shown beside; None where nothing is changed.
        known: what is known of that already.
    """

    translation: Translation
    original: Translation | None = None
    known: SourceFindings | None = None
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> SourceFindings:
        """See `Job.run`."""
        findings = self._find(self.translation, translator, progress, should_stop)
        if self.original is None:
            return findings
        original = self.known or self._find(self.original, translator, progress, should_stop)
        return replace(findings, original=original)

    def _find(
        self, translation: Translation, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop
    ) -> SourceFindings:
        from core.analysis.alti import contributions_of
        from core.analysis.occlusion import occlude_source_words

        model = real(translator)
        contributions = contributions_of(model, translation, should_stop)
        if len(translation.source_words) == 1:
            return SourceFindings(contributions, None, "Without its only word nothing of the source is left.")
        try:
            occlusion = occlude_source_words(
                model,
                translation,
                on_progress=lambda done, total: progress(Progress(done, total, f"word {done} of {total}")),
                should_stop=should_stop,
            )
        except (
            AnalysisError,
            ExperimentError,
        ) as error:  # too little would be left
            return SourceFindings(contributions, None, str(error))
        if not occlusion.is_complete:
            raise TranslationStoppedError
        return SourceFindings(contributions, occlusion)
