"""The job that finds left-out words."""

from typing import ClassVar

from augenmerk.core.translation.result import Word

from .jobs import JobScope, OpenTranslator, ShouldStop, Tell, TranslationJob


class LeftOutWordsJob(TranslationJob):
    """The source words that the model probably left out."""

    scope: ClassVar[JobScope] = "details"

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> tuple[Word, ...]:
        """See `Job.run`."""
        from augenmerk.core.maps.left_out import left_out_words

        return left_out_words(translator, self.translation, should_stop=should_stop)
