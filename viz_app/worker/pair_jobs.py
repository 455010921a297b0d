"""Questions about one pair: a given translation, and what went on in every head."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from core.analysis.trace import Trace
from core.translation.result import Translation
from viz_app.state.progress import Progress
from viz_app.worker.jobs import JobScope, TranslatorLike


@dataclass(frozen=True, eq=False)
class GivenJob:
    """A translation that someone wrote, read by teacher forcing.

    Attributes:
        source, target: the pair, as typed.
    """

    source: str
    target: str
    scope: ClassVar[JobScope] = "sentence"

    def run(
        self, translator: TranslatorLike, progress: Callable[[Progress], None], should_stop: Callable[[], bool]
    ) -> Translation:
        """See `Job.run`."""
        return translator.translate_given(self.source, self.target)


@dataclass(frozen=True, eq=False)
class TraceJob:
    """Queries and keys of every head while a pair was read."""

    translation: Translation
    scope: ClassVar[JobScope] = "sentence"

    def run(
        self, translator: TranslatorLike, progress: Callable[[Progress], None], should_stop: Callable[[], bool]
    ) -> Trace:
        """See `Job.run`."""
        return read_trace(translator, self.translation)


def read_trace(translator: TranslatorLike, translation: Translation) -> Trace:
    """One more pass over the pair."""
    from core.analysis.capture import trace_translation
    from core.translation.translator import Translator

    assert isinstance(translator, Translator)
    return trace_translation(translator, translation)
