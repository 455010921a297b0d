"""The jobs that find left-out words and explain a weight."""

from dataclasses import dataclass
from typing import ClassVar

from augenmerk.core.maps.parts import RowParts
from augenmerk.core.model.heads import Head
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


@dataclass(frozen=True)
class RowPartsJob(TranslationJob):
    """Splits the attention scores of one query into the components of query and keys."""

    head: Head
    query: int

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> RowParts:
        """See `Job.run`."""
        from augenmerk.core.maps.query_key import query_key_parts

        return query_key_parts(
            translator, self.translation, self.head, self.query, should_stop=should_stop
        )
