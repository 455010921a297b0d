"""Questions about every head over a sample of sentences: long ones, which give way and go on where they were."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from augenmerk.core.analysis.profiles import HeadProfiler, SampleProfiles
from augenmerk.core.analysis.roles import SampleRoles, write_sample_roles
from augenmerk.core.errors import AnalysisError, TextError
from augenmerk.core.translation.experiment import Experiment, GivenTarget, Greedy, HeadScaled
from augenmerk.core.translation.result import TranslationStoppedError
from augenmerk.viz_app.analysis.heads.samples import Sample, check_sample, read_sample
from augenmerk.viz_app.analysis.heads.state import SampleChoice
from augenmerk.viz_app.state.experiment_state import Progress
from augenmerk.viz_app.worker.inference import JobInterrupted, JobScope, OpenTranslator, ShouldStop, Tell

if TYPE_CHECKING:
    from augenmerk.core.analysis.importance import HeadImportance
    from augenmerk.core.translation.translator import Translator

CHUNK = 8
"""Sentences that are read with every head off in turn before what is known is shown."""
SHOWN_EVERY, SHOWN_EVERY_S = 20, 2.0
"""Sentences, or seconds if that is sooner, after which what is known of heads' behaviour is shown."""


@dataclass(frozen=True, eq=False)
class ImportanceJob:
    """The loss on a sample with each head off, chunk by chunk.

    Attributes:
        choice, num_sentences: which sentences, and how many at most.
        scalings: heads that are scaled or off throughout.
        target_code: into which language, of a model of several; None if the sentences say it, or need not.
        sample: once it is read.
        done: sentences that are read.
        num_refused: of these, those in chunks of which the model could read none.
        found: what the others said.
        begun: what is known of the chunk after them, if it was cut short.
    """

    choice: SampleChoice
    num_sentences: int
    scalings: tuple[HeadScaled, ...] = ()
    target_code: str | None = None
    sample: Sample | None = None
    done: int = 0
    num_refused: int = 0
    found: "HeadImportance | None" = None
    begun: "HeadImportance | None" = None
    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> "HeadImportance":
        """See `Job.run`."""
        check_scalings(translator, self.scalings)
        check_sample(self.choice, translator.run_config, self.target_code)
        sample = self.sample or with_translations(
            translator, read_sample(self.choice, self.num_sentences, self.target_code), self.scalings, should_stop
        )
        found, begun, num_refused, total = self.found, self.begun, self.num_refused, len(sample.sources)
        for first in range(self.done, total, CHUNK):
            chunk = self._read_chunk(translator, sample, first, begun, progress, should_stop)
            if chunk is not None and not chunk.is_complete:
                raise JobInterrupted(
                    replace(self, sample=sample, done=first, num_refused=num_refused, found=found, begun=chunk)
                )
            begun, done = None, min(first + CHUNK, total)
            if chunk is None:
                num_refused += done - first
            else:
                found = chunk if found is None else found.joined(chunk)
            partial = _with_refused(found, num_refused) if found is not None else None
            progress(Progress(done, total, f"{done} of {total} sentences", partial))
        if found is None:
            raise AnalysisError(f"The model could not read any of the {total} sentences. Choose another sample.")
        return _with_refused(found, num_refused)

    def _read_chunk(
        self,
        translator: "Translator",
        sample: Sample,
        first: int,
        begun: "HeadImportance | None",
        progress: Tell,
        should_stop: ShouldStop,
    ) -> "HeadImportance | None":
        """What a chunk says, or, if it was cut short, a part of it; None if the model refuses every pair of it."""
        from augenmerk.core.analysis.importance import head_importance  # torch: only in the thread

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
                scalings=self.scalings,
                begun=begun,
                on_progress=tell,
                should_stop=should_stop,
            )
        except AnalysisError:
            return None


def _with_refused(found: "HeadImportance", num_refused: int) -> "HeadImportance":
    return replace(found, num_skipped=found.num_skipped + num_refused)


def check_scalings(translator: "Translator", scalings: tuple[HeadScaled, ...]) -> None:
    """Raises `AnalysisError` if the model has not got one of these heads."""
    from augenmerk.core.model.interventions import SentenceChanges, compile_interventions

    compile_interventions(translator.model, [SentenceChanges({each.head: each.factor for each in scalings}, {})])


def with_translations(
    translator: "Translator", sample: Sample, scalings: tuple[HeadScaled, ...], should_stop: ShouldStop
) -> Sample:
    """Where translations are lacking, the model's own are taken, and pairs that it refuses left as they are."""
    if sample.targets is not None:
        return sample
    compiled, places = [], []
    for place, source in enumerate(sample.sources):
        try:
            compiled.append(translator.compile(Experiment(source, Greedy(), scalings)))
            places.append(place)
        except TextError:
            continue
    targets = [""] * len(sample.sources)
    for place, translation in zip(
        places, translator.run_many(compiled, need_maps=False, should_stop=should_stop), strict=True
    ):
        targets[place] = translation.text
    return Sample(sample.sources, tuple(targets))


@dataclass(frozen=True, eq=False)
class StatisticsJob:
    """What each head does on average over a sample, sentence by sentence.

    Attributes:
        choice, num_sentences: which sentences, and how many at most.
        scalings: heads that are scaled or off throughout.
        target_code: into which language, of a model of several; None if the sentences say it, or need not.
        done, num_skipped: sentences that are read or were refused, and those that were refused.
        profiler: what they said; None before the first.
    """

    choice: SampleChoice
    num_sentences: int
    scalings: tuple[HeadScaled, ...] = ()
    target_code: str | None = None
    done: int = 0
    num_skipped: int = 0
    profiler: HeadProfiler | None = None
    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> SampleProfiles:
        """See `Job.run`."""
        check_scalings(translator, self.scalings)
        check_sample(self.choice, translator.run_config, self.target_code)
        sample, num_skipped = read_sample(self.choice, self.num_sentences, self.target_code), self.num_skipped
        profiler = self.profiler or HeadProfiler(self.scalings)
        total, shown_at = len(sample.sources), time.monotonic()
        for index in range(self.done, total):
            rest = replace(self, done=index, num_skipped=num_skipped, profiler=profiler)
            if should_stop():
                raise JobInterrupted(rest)
            output = Greedy() if sample.targets is None else GivenTarget(sample.targets[index])
            try:
                experiment = Experiment(sample.sources[index], output, self.scalings)
                profiler.add(translator.run(experiment, should_stop=should_stop))
            except TextError:
                num_skipped += 1
            except TranslationStoppedError:
                raise JobInterrupted(rest) from None
            done = index + 1
            is_due = done % SHOWN_EVERY == 0 or time.monotonic() >= shown_at + SHOWN_EVERY_S
            is_shown = is_due and num_skipped < done
            if is_shown:
                shown_at = time.monotonic()
            partial = profiler.result(num_skipped) if is_shown else None
            progress(Progress(done, total, f"{done} of {total} sentences", partial))
        return profiler.result(num_skipped)


@dataclass(frozen=True, eq=False)
class KeepRolesJob:
    """What heads do over a sample, written beside the file of the model, which has it when it is opened again."""

    roles: SampleRoles
    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> Path:
        """The file. Raises `AugenmerkError` if it cannot be written, or if the model's file holds another model now."""
        from augenmerk.core.checkpoint.file import load_checkpoint, model_digest

        assert translator.path is not None
        if model_digest(load_checkpoint(translator.path)) != translator.digest:
            raise AnalysisError(
                f"{translator.path} has changed since it was opened. Open the file again and repeat the measurement."
            )
        return write_sample_roles(self.roles, translator.path)
