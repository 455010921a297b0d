"""The questions that a worker's thread answers with a model. No Qt."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from augenmerk.core.maps.measure import MeasureName
from augenmerk.core.maps.measures import MEASURES, MeasuredMaps, measure_maps
from augenmerk.core.maps.model_pass import Pass
from augenmerk.core.maps.roles import read_sample_roles
from augenmerk.core.maps.trace import Trace
from augenmerk.core.translation.result import ExperimentResult, Translation

from ..state.experiment_state import ExperimentRequest, Progress
from ..state.model_info import ModelInfo

if TYPE_CHECKING:
    from augenmerk.core.translation.translator import Translator

JobScope = Literal["load", "experiment", "sentence", "model", "details"]
"""The subject of a job, which decides how long its answer is useful.

Opening a model; computing an experiment; the result of an experiment, until the next result; the
current model, until the next one; optional details of a result, which give way to every other job.
"""
OpenTranslator: TypeAlias = "Translator"
"""The current model. Its module imports torch, which only the worker's thread may load."""
Tell = Callable[[Progress], None]
ShouldStop = Callable[[], bool]


class Job(ABC):
    """A question to the model, answered in the worker's thread.

    Attributes:
        scope: see `JobScope`.
    """

    scope: ClassVar[JobScope] = "sentence"

    @abstractmethod
    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> object:
        """The answer.

        Args:
            translator: the current model, used by this job alone.
            progress: reports the progress, if the job wants to.
            should_stop: call it at least once per sentence. If it returns True, raise
                `JobInterrupted` with the rest of the job, or `TranslationStoppedError` to start
                over: something more urgent waits.

        Raises:
            AugenmerkError: there is no answer; the message gives the reason.
        """


@dataclass(frozen=True)
class TranslationJob(Job):
    """A question about one translation."""

    translation: Translation


class JobInterrupted(Exception):
    """Something more urgent waits.

    Attributes:
        rest: the job that continues from here.
    """

    def __init__(self, rest: Job) -> None:
        super().__init__()
        self.rest = rest


@dataclass(frozen=True, eq=False)
class LoadJob(Job):
    """Opens a model. The worker itself does that, see `InferenceWorker`.

    Attributes:
        path: the checkpoint; None for the bundled model.
        device: see `core.device`.
    """

    path: Path | None
    device: str = "auto"
    scope: ClassVar[JobScope] = "load"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> object:
        """Never called, as there may be no translator yet."""
        raise NotImplementedError


class ModelFreeJob(Job):
    """A job that needs no model."""

    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> object:
        """See `Job.run`."""
        return self.work(progress, should_stop)

    @abstractmethod
    def work(self, progress: Tell, should_stop: ShouldStop) -> object:
        """The answer; arguments and errors as in `Job.run`."""


@dataclass(frozen=True, eq=False)
class ExperimentJob(Job):
    """Computes an experiment and its baseline; see `Translator.compare`.

    The result shown saves work as a draft.
    """

    asked: ExperimentRequest
    scope: ClassVar[JobScope] = "experiment"

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> ExperimentResult:
        """See `Job.run`."""
        known = self.asked.known
        return translator.compare(
            self.asked.experiment,
            original=known.original if known is not None else None,
            own=(known.own or known.original) if known is not None else None,
            drops_misfits=self.asked.drops_misfits,
            draft=known.changed if known is not None else None,  # nearly right while the user types
            should_stop=should_stop,
        )


@dataclass(frozen=True)
class MeasureJob(TranslationJob):
    """Computes the maps of a translation in one measure."""

    measure: MeasureName

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> MeasuredMaps:
        """See `Job.run`."""
        model_pass = Pass.of(translator, self.translation, should_stop)
        maps = {}
        for kind in MEASURES[self.measure].kinds:
            model_pass.check_stop()
            maps[kind] = measure_maps(model_pass, self.measure, kind)
        return MeasuredMaps(self.translation, self.measure, maps)


class TraceJob(TranslationJob):
    """Computes queries and keys of every head for a translation."""

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> Trace:
        """See `Job.run`."""
        from augenmerk.core.maps.capture import trace_translation

        return trace_translation(translator, self.translation)


def describe(translator: OpenTranslator) -> ModelInfo:
    """The facts about an opened model."""
    return ModelInfo(
        translator.name,
        translator.path,
        translator.run_config,
        translator.device,
        translator.num_parameters,
        read_sample_roles(translator.path, translator.run_config.model),
        translator.digest,
        translator.vocabulary_sizes,
        translator.target_codes,
        translator.history,
    )
