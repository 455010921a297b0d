"""What the laboratory asks the model: small frozen objects that run in the worker's thread."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from core.analysis.probes import SourceProbes
from core.errors import AnalysisError
from core.model.heads import Head
from core.translation.result import Translation, TranslationStoppedError
from core.translation.steps import Edit, ForcedToken
from viz_app.lab.state.alignment import RankedAligner, RankedAligners
from viz_app.lab.state.source import SourceFindings
from viz_app.lab.state.steps import Decoded
from viz_app.state.progress import Progress
from viz_app.worker import JobScope, TranslatorLike

if TYPE_CHECKING:
    from core.translation.translator import Translator

Tell = Callable[[Progress], None]
ShouldStop = Callable[[], bool]


def real(translator: TranslatorLike) -> "Translator":
    """The translator as what it is outside of tests."""
    from core.translation.translator import Translator

    assert isinstance(translator, Translator)
    return translator


@dataclass(frozen=True, eq=False)
class StepsJob:
    """Decodes a sentence step by step, with what was done by hand. Each action costs one decoding.

    Attributes:
        text: the sentence.
        actions: what was done, in order.
        off: heads that are off throughout.
    """

    text: str
    actions: tuple[Edit, ...] = ()
    off: frozenset[Head] = frozenset()
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> Decoded:
        """See `viz_app.worker.Job.run`."""
        from core.translation.stepping import Stepper

        stepper = Stepper(real(translator), self.text, off=self.off, should_stop=should_stop)
        own = stepper.path
        for action in self.actions:
            if isinstance(action, ForcedToken):
                stepper.force(action.step, action.token_id, should_stop=should_stop)
            else:
                stepper.override(action.layer, action.head, action.step, action.weights, should_stop=should_stop)
        return Decoded(self.actions, own, stepper.path)


@dataclass(frozen=True, eq=False)
class RankAlignersJob:
    """Every layer × head × label mode × measure on the gold pairs that are shipped. Begins again if stopped."""

    scope: ClassVar[JobScope] = "model"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> RankedAligners:
        """See `viz_app.worker.Job.run`."""
        from core.analysis.alignment import Links, read_gold, read_ibm_1
        from core.analysis.alignment_ranking import rank_aligners

        others: dict[str, dict[int, Links]] = {}
        with suppress(AnalysisError):  # without its file the diagonal is the only baseline
            others["IBM model 1"] = read_ibm_1()

        def tell(done: int, total: int) -> None:
            progress(Progress(done, total, f"{done} of {total} pairs"))

        found = rank_aligners(real(translator), read_gold(), others, on_progress=tell, should_stop=should_stop)
        if not found.is_complete:
            raise TranslationStoppedError
        return RankedAligners(
            aligners=tuple(
                RankedAligner(
                    "",
                    each.aligner.layer,
                    each.aligner.head,
                    each.aligner.label_mode,
                    each.aligner.measure,
                    each.choosing.aer,
                    each.reporting.aer,
                )
                for each in found.scores
            ),
            baselines=tuple(
                RankedAligner(each.name, None, None, None, None, each.choosing.aer, each.reporting.aer)
                for each in found.baselines
            ),
            num_choosing=found.num_choosing,
            num_reporting=found.num_reporting,
            num_skipped=found.num_skipped,
        )


@dataclass(frozen=True, eq=False)
class SourceJob:
    """The shares of source and prefix in each output word; and every source word left out in turn.

    Attributes:
        translation: with every head on.
        off: heads that are off for all of it; what is looked at is then what the translation becomes without them, or
            the given translation.
    """

    translation: Translation
    off: frozenset[Head] = frozenset()
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> SourceFindings:
        """See `viz_app.worker.Job.run`."""
        from core.analysis.alti import contributions_of
        from core.analysis.probing import probe_source_words
        from core.model.gates import heads_off

        model, text, translation = real(translator), self.translation.source_text, self.translation
        if self.off and translation.is_given:
            translation = model.translate_given(text, translation.text, off=self.off)
        elif self.off:
            translation = model.translate(text, off=self.off, should_stop=should_stop)
        with heads_off(model.model, self.off):
            contributions = contributions_of(model, translation)
        try:
            probes = probe_source_words(model, text, translation=translation, off=self.off, should_stop=should_stop)
        except AnalysisError as error:  # a sentence of one word: nothing would be left
            return SourceFindings(contributions, None, str(error))
        if not probes.is_complete:
            raise TranslationStoppedError
        return SourceFindings(contributions, probes)


@dataclass(frozen=True, eq=False)
class ReplaceJob:
    """One source word replaced by another; `off` are heads that are off, for `translation` too."""

    translation: Translation
    place: int
    replacement: str
    off: frozenset[Head] = frozenset()
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> SourceProbes:
        """See `viz_app.worker.Job.run`."""
        from core.analysis.probing import probe_source_words

        found = probe_source_words(
            real(translator),
            self.translation.source_text,
            replacement=self.replacement,
            places=[self.place],
            translation=self.translation,
            off=self.off,
            should_stop=should_stop,
        )
        if not found.is_complete:
            raise TranslationStoppedError
        return found
