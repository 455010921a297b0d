"""Statistics of every head over a sample of sentences. Shape legend: `core.maps`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import AnalysisError
from ...maps.roles import HeadProfiler, SampleProfiles
from ...translation.experiment import Experiment, General, GivenTarget, Greedy
from ...translation.notes import Note
from ..note_summaries import summaries
from .samples import require_translations

if TYPE_CHECKING:
    from ...translation.translator import Translator

BATCH_SIZE = 16
"""Sentences per batch; stopping loses at most these."""


class SampleProfiler(HeadProfiler):
    """Sums the statistics of heads over a sample. Continues after an interruption.

    Attributes:
        changes: heads and networks that are changed in all sentences.
        num_skipped: sentences that the model refused.
    """

    def __init__(self, changes: Sequence[General] = ()) -> None:
        super().__init__()
        self.changes = tuple(changes)
        self.num_skipped = 0
        self._notes: list[tuple[Note, ...]] = []

    def read(
        self,
        translator: "Translator",
        sources: Sequence[str],
        targets: Sequence[str] | None,
        *,
        on_progress: Callable[[int], None] = lambda done: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """Add the sentences of a sample, from the first that is neither read nor skipped yet.

        Args:
            translator: provides the model.
            sources: sentences in the model's source language.
            targets: their translations, read by teacher forcing (faster); None for the model's own.
            on_progress: called with the number of finished sentences.
            should_stop: checked before each decoding step.

        Raises:
            AnalysisError: the model lacks a head.
            TranslationStoppedError: `should_stop` returned True. A later call continues.
        """
        while (first := self.num_sentences + self.num_skipped) < len(sources):
            end = min(first + BATCH_SIZE, len(sources))
            tried = []
            for index in range(first, end):
                output = Greedy() if targets is None else GivenTarget(targets[index])
                tried.append(
                    translator.try_compile(Experiment(sources[index], output, self.changes))
                )
            batch = [compiled for compiled, _ in tried if compiled is not None]
            for translation in list(translator.run_many(batch, should_stop=should_stop)):
                self.add(translation)
            self.num_skipped += end - first - len(batch)
            self._notes += [notes for _, notes in tried]
            on_progress(end)

    def result(self) -> SampleProfiles:
        """The means over all sentences. Raises `AnalysisError` if none could be read."""
        if not self.num_sentences:
            raise AnalysisError(
                f"The model could not read any sentence of the sample ({self.num_skipped} were "
                "refused). Choose another sample."
            )
        return replace(
            super().result(),
            num_skipped=self.num_skipped,
            changes=self.changes,
            notes=summaries(self._notes),
        )


def profile_heads(
    translator: "Translator",
    sources: Sequence[str],
    targets: Sequence[str] | None = None,
    *,
    changes: Sequence[General] = (),
    on_progress: Callable[[int], None] = lambda done: None,
) -> SampleProfiles:
    """The averages of each head over a sample; see `SampleProfiler.read`.

    Raises:
        AnalysisError: the model lacks a head, no sentence could be read, or the two sides differ in
            length.
    """
    if targets is not None:
        require_translations(sources, targets)
    profiler = SampleProfiler(changes)
    profiler.read(translator, sources, targets, on_progress=on_progress)
    return profiler.result()
