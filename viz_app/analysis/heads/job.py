"""Questions about every head over a sample of sentences: long ones, which give way and go on where they were."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from core.analysis.profiles import HeadProfiler, SampleProfiles
from core.errors import AnalysisError, TextError
from core.translation.result import MAP_KINDS, FloatArray, MapKind, TranslationStoppedError
from viz_app.analysis.heads.samples import Sample, read_sample
from viz_app.analysis.heads.state import HeadWorth, SampleChoice
from viz_app.analysis.jobs import ShouldStop, Tell, real
from viz_app.state.progress import Progress
from viz_app.worker import JobInterrupted, JobScope, TranslatorLike

if TYPE_CHECKING:
    from core.analysis.importance import HeadImportance
    from core.translation.translator import Translator

CHUNK = 8
"""Sentences that are read with every head off in turn before what is known is shown."""
SHOWN_EVERY = 20


@dataclass(frozen=True, eq=False)
class HeadWorthJob:
    """The loss on a sample with each head off, chunk by chunk.

    Attributes:
        choice, num_sentences: which sentences, and how many at most.
        sample: once it is read.
        done: sentences that are read.
        worth: what they said.
        begun: what is known of the chunk after them, if it was cut short.
    """

    choice: SampleChoice
    num_sentences: int
    sample: Sample | None = None
    done: int = 0
    worth: HeadWorth | None = None
    begun: "HeadImportance | None" = None
    scope: ClassVar[JobScope] = "model"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> HeadWorth:
        """See `viz_app.worker.Job.run`."""
        sample = self.sample or with_translations(
            real(translator), read_sample(self.choice, self.num_sentences), should_stop
        )
        worth, begun, total = self.worth, self.begun, len(sample.sources)
        for first in range(self.done, total, CHUNK):
            found = _read_chunk(real(translator), sample, first, begun, progress, should_stop)
            if found is not None and not found.is_complete:
                raise JobInterrupted(replace(self, sample=sample, done=first, worth=worth, begun=found))
            begun, num_read = None, min(CHUNK, total - first)
            worth = _worth_of(real(translator), found, num_read).joined(worth)
            done = min(first + CHUNK, total)
            progress(Progress(done, total, f"{done} of {total} sentences", partial=worth))
        if worth is None or not worth.num_tokens:
            raise AnalysisError(
                f"The model could read none of the {total} sentences. At least one was expected; choose another sample."
            )
        return worth


def with_translations(translator: "Translator", sample: Sample, should_stop: ShouldStop) -> Sample:
    """Where translations are lacking, the model's own are taken."""
    if sample.targets is not None:
        return sample
    texts = translator.translate_corpus(sample.sources, should_stop=should_stop)
    if should_stop():
        raise TranslationStoppedError
    return Sample(sample.sources, tuple(hypothesis.text for hypothesis in texts))


def _read_chunk(
    translator: "Translator",
    sample: Sample,
    first: int,
    begun: "HeadImportance | None",
    progress: Tell,
    should_stop: ShouldStop,
) -> "HeadImportance | None":
    """What a chunk says, or, if it was cut short, a part of it; None if the model refuses every pair of the chunk."""
    from core.analysis.importance import head_importance  # torch: only in the thread

    assert sample.targets is not None
    chunk = slice(first, first + CHUNK)
    total = len(sample.sources)

    def tell(done: int, heads: int) -> None:
        text = f"{first} of {total} sentences · head {done} of {heads}"
        progress(Progress(first * heads + done * min(CHUNK, total - first), total * heads, text))

    try:
        return head_importance(
            translator,
            sample.sources[chunk],
            sample.targets[chunk],
            begun=begun,
            on_progress=tell,
            should_stop=should_stop,
        )
    except AnalysisError:
        return None


def _worth_of(translator: "Translator", found: "HeadImportance | None", num_read: int) -> HeadWorth:
    """The same for the tab; nothing but `num_read` refused pairs if there is nothing."""
    if found is None:
        return HeadWorth(0.0, _zeros(translator), 0, 0, num_read)
    increase = {kind: found.of_kind(kind) for kind in MAP_KINDS}
    return HeadWorth(found.loss, increase, found.num_sentences, found.num_tokens, found.num_skipped)


def _zeros(translator: "Translator") -> dict[MapKind, FloatArray]:
    """[L, H] by kind."""
    from core.model.gates import attentions_of

    modules = attentions_of(translator.model)
    return {kind: np.zeros((len(layers), layers[0].num_heads), dtype=np.float32) for kind, layers in modules.items()}


@dataclass(frozen=True, eq=False)
class StatisticsJob:
    """What each head does on average over a sample, sentence by sentence.

    Attributes:
        choice, num_sentences: which sentences, and how many at most.
        done, num_skipped: sentences that are read or were refused, and those that were refused.
        profiler: what they said.
    """

    choice: SampleChoice
    num_sentences: int
    done: int = 0
    num_skipped: int = 0
    profiler: HeadProfiler = field(default_factory=HeadProfiler)
    scope: ClassVar[JobScope] = "model"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> SampleProfiles:
        """See `viz_app.worker.Job.run`."""
        sample, num_skipped, profiler = read_sample(self.choice, self.num_sentences), self.num_skipped, self.profiler
        total = len(sample.sources)
        for index in range(self.done, total):
            if should_stop():
                raise JobInterrupted(replace(self, done=index, num_skipped=num_skipped))
            try:
                if sample.targets is None:
                    profiler.add(real(translator).translate(sample.sources[index]))
                else:
                    profiler.add(real(translator).translate_given(sample.sources[index], sample.targets[index]))
            except TextError:
                num_skipped += 1
            done = index + 1
            is_shown = done % SHOWN_EVERY == 0 and num_skipped < done
            partial = profiler.result(num_skipped) if is_shown else None
            progress(Progress(done, total, f"{done} of {total} sentences", partial))
        return profiler.result(num_skipped)
