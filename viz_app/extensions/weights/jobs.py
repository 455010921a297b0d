"""The job that explains a weight."""

from dataclasses import dataclass

from augenmerk.core.extensions.analyses.parts import RowParts
from augenmerk.core.model.heads import Head

from ...worker.jobs import OpenTranslator, ShouldStop, Tell, TranslationJob


@dataclass(frozen=True)
class RowPartsJob(TranslationJob):
    """Splits the attention scores of one query into the components of query and keys."""

    head: Head
    query: int

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> RowParts:
        """See `Job.run`."""
        from augenmerk.core.extensions.analyses.query_key import query_key_parts

        return query_key_parts(
            translator, self.translation, self.head, self.query, should_stop=should_stop
        )
