"""The window's search for corrections of typing errors. No Qt."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from augenmerk.core.extensions.corrections import correction
from augenmerk.core.translation.result import Translation

from ...worker.jobs import Job, JobScope, OpenTranslator, ShouldStop, Tell


@dataclass(frozen=True)
class CorrectionsJob(Job):
    """Looks for corrections of the words that the training data lacks."""

    translation: Translation
    scope: ClassVar[JobScope] = "details"

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> Mapping[str, str]:
        """See `Job.run`. The corrections by the words, as the model reads both."""
        counts, coverage = translator.checkpoint.word_counts, self.translation.coverage
        if counts is None or coverage is None:
            return {}
        corrections = {
            word.text: correction(word.text, counts)
            for word in coverage.rare_words
            if not word.count
        }
        return {text: corrected for text, corrected in corrections.items() if corrected}
